"""Our single-ray lidars against MuJoCo's own rangefinders, on every kind of geom, with everything moving."""

import mujoco
import numpy as np
import pytest

import sensorium as sn

STEP_S = 0.01
SAG_M = 5e-4
SITES = 400

# Shapes stand around the head, 4 to 45 m away; what has a freejoint drifts and turns
ASSETS = """
<mesh name="wedge" vertex="0 0 0  6 0 0  0 5 0  0 0 7  4 4 5" face="0 2 1  0 1 3  0 3 2  1 2 4  1 4 3  2 3 4"/>
<hfield name="hills" nrow="9" ncol="7" size="10 8 3 0.5" elevation="{hills}"/>
"""
FLAT = {
    "floor": '<geom name="floor" type="plane" size="0 0 1" pos="0 0 -4" quat="1 0.02 0.01 0"/>',
    "poster": '<geom name="poster" type="plane" size="6 4 1" pos="-20 5 3" quat="0.7 0.1 0.7 0"/>',
    "hills": '<geom name="hills" type="hfield" hfield="hills" pos="25 -20 -3" quat="1 0.1 0 0.3"/>',
    "wall": '<body pos="-30 -15 0" quat="9 1 1 4"><freejoint/><geom name="wall" type="box" size="1 9 7"/></body>',
    "wedge": '<body pos="8 14 0"><freejoint/><geom name="wedge" type="mesh" mesh="wedge" quat="1 1 0 0.2"/></body>',
    "far": '<body pos="42 12 4"><freejoint/><geom name="far" type="box" size="2 9 9"/></body>',
}
ROUND = {
    "ball": '<body pos="-8 9 3"><freejoint/><geom name="ball" type="sphere" size="2.5"/></body>',
    "pill": '<body pos="2 -12 1" quat="1 1 0 0"><freejoint/><geom name="pill" type="capsule" size="2 4"/></body>',
    "egg": '<body pos="15 1 2"><freejoint/><geom name="egg" type="ellipsoid" size="2 3 4"/></body>',
    "can": '<body pos="-12 -9 0" quat="1 0.3 0.2 0"><freejoint/><geom name="can" type="cylinder" size="2 3"/></body>',
}


def depth(name, p):
    """How deep points of a geom's frame (n, 3) lie inside its true surface [m]; for the egg at most so deep."""
    if name == "ball":
        return 2.5 - np.linalg.norm(p, axis=-1)
    if name == "pill":
        return 2.0 - np.linalg.norm(p - np.clip(p, (0, 0, -4), (0, 0, 4)), axis=-1)
    if name == "egg":
        return 4.0 * (1 - np.linalg.norm(p / (2, 3, 4), axis=-1))
    return np.minimum(2.0 - np.hypot(p[:, 0], p[:, 1]), 3.0 - np.abs(p[:, 2]))


def model():
    """The shapes, and a head that swings on two hinges with rangefinders on all sides."""
    rng = np.random.default_rng(7)
    hills = " ".join(f"{height:.3f}" for height in rng.uniform(0, 1, 63))
    quaternions = rng.normal(size=(SITES, 4))
    places = rng.uniform(-0.3, 0.3, (SITES, 3))
    sites = "".join(
        f'<site name="s{i}" pos="{" ".join(map(str, p))}" quat="{" ".join(map(str, q))}"/>'
        for i, (p, q) in enumerate(zip(places, quaternions, strict=True))
    )
    head = f"""<body name="head"><joint axis="0 0.2 1"/><joint axis="1 0 0.1"/><joint type="slide" axis="1 1 0.3"/>
        <geom name="head" type="sphere" size="0.1"/>{sites}</body>"""
    sensors = "".join(f'<rangefinder site="s{i}"/>' for i in range(SITES))
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{STEP_S}" gravity="0 0 0"><flag contact="disable"/></option>
        <asset>{ASSETS.format(hills=hills)}</asset>
        <worldbody>{"".join(FLAT.values())}{"".join(ROUND.values())}{head}</worldbody>
        <sensor>{sensors}</sensor></mujoco>"""
    )


@pytest.fixture(scope="module")
def both():
    """Distances by the engine and by us, of all rays that fire at the same times, and what both hit."""
    engine_model = model()
    data = mujoco.MjData(engine_model)
    rng = np.random.default_rng(8)
    data.qvel[:] = rng.uniform(-2, 2, engine_model.nv)
    env = sn.Environment.from_mujoco(engine_model, data, sag_m=SAG_M)
    ray = sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=1 / STEP_S)

    # A rangefinder looks along its site's z, a lidar's ray 0 along its x
    mounts = [env.world.site(f"s{i}") for i in range(SITES)]
    forward = sn.Pose(quaternion=(np.sqrt(0.5), 0, -np.sqrt(0.5), 0))
    lidar = env.attach(
        sn.Lidar(pattern=ray, max_range_m=50.0), body="head", pose=[m["pose"] @ forward for m in mounts], hide=["head"]
    )
    rows = []
    for _ in range(12):
        said = mujoco.MjData(engine_model)
        said.qpos[:], said.qvel[:] = data.qpos, data.qvel
        mujoco.mj_forward(engine_model, said)
        hit = np.array([struck(engine_model, said, f"s{i}") for i in range(SITES)])
        now_ns = env.time_ns
        env.step()
        scan = lidar.read()
        assert scan.start_ns == now_ns
        rows.append((said, said.sensordata.copy(), hit, scan.range_m.reshape(-1), scan.object_id.reshape(-1)))
    return env, engine_model, rows


def struck(engine_model, data, site):
    """Number of the geom that the engine's ray meets, -1 for none."""
    geom = np.full(1, -1, np.int32)
    at = data.site(site)
    head = engine_model.body("head").id
    mujoco.mj_ray(
        m=engine_model, d=data, pnt=at.xpos, vec=at.xmat.reshape(3, 3)[:, 2].copy(), geomgroup=None, flg_static=1,
        bodyexclude=head, geomid=geom, normal=None,
    )  # fmt: skip
    return geom[0]


def compared(both, names):
    """Differences ours - engine's [m] of rays within 50 m that hit these geoms by our account."""
    env, engine_model, rows = both
    for said, theirs, hit, ours, object_id in rows:
        known = np.array([o.name for o in env.scene.objects] + [""])[object_id]
        struck_names = np.array([engine_model.geom(i).name for i in range(engine_model.ngeom)] + [""])[hit]
        chosen = np.isin(known, names) & (theirs > 0) & (theirs < 50)
        yield (
            said,
            known[chosen],
            struck_names[chosen],
            ours[chosen].astype(float) - theirs[chosen],
            np.flatnonzero(chosen),
        )


@pytest.mark.parametrize("name", FLAT)
def test_flat_geoms_to_twenty_micrometers(both, name):
    differences = []
    for _, _, struck_name, difference, _ in compared(both, [name]):
        differences.append(difference[struck_name == name])
        # What the engine hits before is the rim of something round, which facets cut short
        assert np.isin(struck_name[struck_name != name], list(ROUND)).all()
    differences = np.concatenate(differences)
    assert len(differences) >= 20, "too few rays to tell"
    worst_m = np.abs(differences).max()
    assert worst_m < 2e-5, f"{worst_m:.1e} m"


@pytest.mark.parametrize("name", ROUND)
def test_round_geoms_to_the_bound_of_their_facets(both, name):
    count = 0
    for said, _, struck_name, difference, at in compared(both, [name]):
        assert (struck_name == name).all()
        assert (difference > -2e-5).all()

        # Our point, in the geom's frame, lies inside the true surface by no more than the bound
        geom = said.geom(name)
        sites = [said.site(f"s{i}") for i in at]
        reach = said.sensordata[at] + difference
        points = np.array([s.xpos + r * s.xmat.reshape(3, 3)[:, 2] for s, r in zip(sites, reach, strict=True)])
        inside = depth(name, (points.reshape(-1, 3) - geom.xpos) @ geom.xmat.reshape(3, 3))
        assert (np.abs(inside) < SAG_M + 2e-5).all()
        count += len(at)
    assert count >= 20, "too few rays to tell"


def test_both_see_the_same_things(both):
    env, engine_model, rows = both
    known = np.array([o.name for o in env.scene.objects] + [""])
    struck_names = np.array([engine_model.geom(i).name for i in range(engine_model.ngeom)] + [""])
    near = [theirs < 49.9 for _, theirs, *_ in rows]
    same = [(known[o] == struck_names[h])[n] for n, (_, _, h, _, o) in zip(near, rows, strict=True)]
    assert np.mean(np.concatenate(same)) > 0.999
