from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.runtime import worker_pool
from sensorium.scene.layout import layout
from sensorium.tracing.placement import motion
from sensorium.tracing.placement.scenes import PlacedScenes
from sensorium.tracing.placement.world_arrays import WorldArrays

NEAR = np.zeros((1, 3))


def still(bodies, worlds=1, knots=1):
    """Positions and quaternions of bodies that stand at the origin."""
    quaternions = np.zeros((knots, worlds, bodies, 4))
    quaternions[..., 0] = 1.0
    return np.zeros((knots, worlds, bodies, 3)), quaternions


def scene_of(*bodies, mesh=None):
    scene = sn.Scene()
    for body in bodies:
        scene.add(sn.shapes.box(1, 1, 1) if mesh is None else mesh, body=body)
    return scene


def placed_scenes(scene, names, worlds=1, hidden=()):
    return PlacedScenes(layout(scene, worlds), worlds, names, hidden)


def columns_of(placed, world):
    """(kind, objects) of each instance array of a world."""
    t = placed.tables
    return [
        (int(t.kind[a]), t.columns[t.column_first[a] :][: t.column_count[a]].tolist())
        for a in range(t.first[world], t.first[world + 1])
    ]


def test_objects_are_grouped_by_motion_and_mask():
    scene = scene_of(None, "still", "flying", None, "hidden", "spinning", "flying")
    names = ("flying", "hidden", "spinning", "still")
    placed = placed_scenes(scene, names, hidden=[frozenset({"hidden"})])
    positions, quaternions = still(4, knots=3)
    positions[:, 0, 0, 0] = [0, 1, 2]
    half = np.sqrt(0.5)
    quaternions[:, 0, 2] = [[1, 0, 0, 0], [half, 0, 0, half], [0, 0, 0, 1]]
    placed.place(positions, quaternions, NEAR)
    assert columns_of(placed, 0) == [
        (motion.FIXED, [0, 3]),
        (motion.PLACED, [1]),
        (motion.PLACED, [4]),
        (motion.AFFINE, [2, 6]),
        (motion.QUATERNION, [5]),
    ]


def test_every_object_of_a_world_is_in_one_array_and_absent_ones_in_none():
    assets = [sn.shapes.box(1, 1, 1), sn.shapes.sphere(1.0, subdivisions=1)]
    index = np.array([[0, 1, -1, 0], [-1, -1, -1, -1], [1, 1, 1, -1]])
    shared = sn.Scene()
    shared.add(sn.shapes.plane(10.0))
    batch = sn.SceneBatch(assets, index, sn.Pose(), body=("a", None, "b", "a"), shared=shared)
    placed = placed_scenes(batch, ("a", "b"), worlds=3)
    placed.place(*still(2, worlds=3), np.zeros((3, 3)))
    for world in range(3):
        seen = sorted(column for _, columns in columns_of(placed, world) for column in columns)
        assert seen == [0, *(1 + np.flatnonzero(index[world] >= 0))]


def test_an_array_of_one_object_shows_that_object_s_mesh():
    """Embree ignores the index buffer of an array of one item: with several meshes at hand the wrong one would show."""
    scene = sn.Scene()
    sizes = {"still": 1.0, "flying": 2.0, "spinning": 3.0, None: 4.0, "hideable": 5.0}
    for body, size in sizes.items():
        scene.add(sn.shapes.box(size, size, size), body=body, pose=sn.Pose((0, 0, 20.0)) if body is None else sn.Pose())
    caster = sn.RayCaster(scene)
    x = {"still": 10.0, "flying": 20.0, "spinning": 30.0, "hideable": 40.0}
    knots = {name: sn.Pose(np.tile([at, 0.0, 0.0], (2, 1))) for name, at in x.items()}
    knots["flying"] = sn.Pose([[20.0, 0, 0], [20.0, 0, 1.0]])
    knots["spinning"] = sn.Pose.from_euler_deg([[30.0, 0, 0]] * 2, yaw=[0, 90])
    caster.move(knots)
    for name, at in x.items():
        top = caster.cast([at, 0, 10.0], [0, 0, -1], hide=() if name == "hideable" else ("hideable",))
        assert top.range_m == pytest.approx(10 - sizes[name] / 2, abs=1e-5)
    assert caster.cast([0, 0, 30.0], [0, 0, -1]).range_m == pytest.approx(8.0, abs=1e-5)


def test_a_hidden_body_hides_from_those_who_asked_only():
    count = 30
    names = tuple(f"b{i:02d}" for i in range(count))
    scene = scene_of(*names, mesh=sn.shapes.box(0.5, 1, 1))
    scene.add(sn.shapes.box(1, 50, 50), pose=sn.Pose((count + 1.5, 0, 0)))
    caster = sn.RayCaster(scene)
    caster.place({name: sn.Pose((i + 1.0, 0, 0)) for i, name in enumerate(names)})
    for hidden in range(count, -1, -5):
        # hiding the nearest ones, the next is seen; from the far side nothing has changed
        expected = hidden + 0.75 if hidden < count else count + 1.0
        assert caster.cast([0, 0, 0], [1, 0, 0], hide=names[:hidden]).range_m == pytest.approx(expected, abs=1e-5)
        back = caster.cast([count + 0.9, 0, 0], [-1, 0, 0], hide=names[: min(hidden, count - 1)])
        assert back.object_id == count - 1
    above = np.stack([np.arange(count) + 1.0, np.zeros(count), np.full(count, 5.0)], axis=-1)
    for i in (0, 13, 29):
        row = caster.cast(above, [0, 0, -1], hide=names[i : i + 1])
        np.testing.assert_array_equal(np.flatnonzero(~row.hit), [i])


def test_only_28_groups_of_bodies_can_be_hidden():
    names = tuple(f"b{i:02d}" for i in range(32))
    scene = scene_of(*names)
    each = [frozenset({name}) for name in names]
    placed_scenes(scene, names, hidden=each[:28])
    with pytest.raises(SpecError, match=r"32 groups of bodies are hidden.*at most 28"):
        placed_scenes(scene, names, hidden=each)
    # hidden together they are one
    placed = placed_scenes(scene, names, hidden=[frozenset(names)])
    assert bin(placed.mask_without(()) ^ placed.mask_without(names)).count("1") == 1


def test_a_robot_of_many_links_hides_itself():
    names = tuple(f"link{i}" for i in range(60))
    scene = scene_of(*names)
    scene.add(sn.shapes.plane(50.0), pose=sn.Pose((0, 0, -4)))
    caster = sn.RayCaster(scene)
    assert caster.cast([0, 0, 5.0], [0, 0, -1], hide=names).object_id == 60
    assert caster.cast([0, 0, 5.0], [0, 0, -1], hide=names[:20]).object_id in range(20, 60)
    assert caster.cast([0, 0, 5.0], [0, 0, -1]).object_id in range(60)


def test_a_refused_hide_leaves_the_caster_as_it_was():
    names = tuple(f"b{i:02d}" for i in range(33))
    caster = sn.RayCaster(scene_of(*names))
    down = ([0, 0, 5.0], [0, 0, -1])
    caster.cast(*down, hide=names[:30])
    with pytest.raises(SpecError, match="nobody"):
        caster.cast(*down, hide=("nobody",))
    assert caster.cast(*down, hide=names[:32]).object_id == 32


def test_masks():
    placed = placed_scenes(
        scene_of("a", "b", "c"), ("a", "b", "c"), hidden=[frozenset("c"), frozenset("a"), frozenset("ac")]
    )
    everything = placed.mask_without(())
    bits = {name: everything ^ placed.mask_without((name,)) for name in ("a", "c")}
    assert all(bin(bit).count("1") == 1 and bit != 1 for bit in bits.values())  # bit 0 is for everything else
    assert placed.mask_without(("a", "c")) == everything ^ (bits["a"] | bits["c"])
    assert placed.can_hide(frozenset("ac"))
    assert placed.can_hide(frozenset())
    assert not placed.can_hide(frozenset("ab"))


@pytest.mark.parametrize(
    ("names", "hidden", "message"), [(("a",), (), "body 'b'"), (("a", "b"), [frozenset("z")], "hide names body 'z'")]
)
def test_bodies_the_world_lacks(names, hidden, message):
    with pytest.raises(SpecError, match=message):
        placed_scenes(scene_of("a", "b"), names, hidden=hidden)


def test_anchors_lie_on_the_grid_cell_around_the_rays():
    near = np.random.default_rng(0).uniform(-1e5, 1e5, (1000, 3))
    anchor = PlacedScenes.on_grid(near)
    np.testing.assert_array_equal(anchor % 64.0, 0.0)
    assert np.abs(anchor - near).max() <= 32.0
    assert not np.signbit(PlacedScenes.on_grid(np.full((1, 3), -1.0))).any()  # one zero, not two


def test_moving_rebuilds_nothing():
    placed = placed_scenes(scene_of(None, "a", "b"), ("a", "b"))
    positions, quaternions = still(2, knots=2)
    positions[1, 0, 0] = [1.0, 0, 0]
    placed.place(positions, quaternions, NEAR)
    before = placed.tables
    for k in range(5):
        placed.place(positions + 7.0 * k, quaternions, NEAR + 100.0 * k)
        assert placed.tables is before  # same scenes, same arrays, same buffers


def test_only_a_world_whose_kinds_change_is_rebuilt(monkeypatch):
    placed = placed_scenes(scene_of("a"), ("a",), worlds=3)
    positions, quaternions = still(1, worlds=3, knots=2)
    near = np.zeros((3, 3))
    placed.place(positions, quaternions, near)
    made, make = [], placed.arrays.make

    def noted(worlds, *given):
        made.append(worlds.tolist())
        return make(worlds, *given)

    monkeypatch.setattr(placed.arrays, "make", noted)
    positions[1, 1, 0] = [1.0, 0, 0]
    placed.place(positions, quaternions, near)
    assert made == [[1]]
    assert [columns_of(placed, w)[0][0] for w in range(3)] == [motion.PLACED, motion.AFFINE, motion.PLACED]


def test_bodies_change_their_kind_back_and_forth_and_stay_in_place():
    scene = scene_of("a", mesh=sn.shapes.sphere(1.0))
    scene.add(sn.shapes.plane(100.0), pose=sn.Pose((0, 0, -50.0)))
    caster = sn.RayCaster(scene)
    rng = np.random.default_rng(0)
    for _ in range(40):
        turn, fly, x = rng.choice([0.0, 0.5, 4.0, 90.0]), rng.choice([0.0, 3.0]), rng.uniform(-40, 40)
        knots = int(rng.integers(2, 6))
        along = np.linspace(0, 1, knots)
        caster.move({"a": sn.Pose.from_euler_deg(along[:, None] * [fly, 0, 0] + [x, 0, 0], yaw=along * turn)})
        t = rng.uniform()
        hit = caster.cast([x + fly * np.float32(t), 0, 10.0], [0, 0, -1], time=t)
        assert hit.range_m == pytest.approx(9.0, abs=2e-3)  # the sphere's sag
        assert hit.object_id == 0
        assert caster.cast([x, 5.0, 10.0], [0, 0, -1], time=t).range_m == pytest.approx(60.0, abs=1e-4)


def test_the_bodies_radius_reaches_its_farthest_point():
    scene = sn.Scene()
    far = sn.shapes.box(1, 1, 1).transformed(sn.Pose((100.0, 0, 0)))  # modeled far from its own origin
    scene.add(far, pose=sn.Pose((0, 0, 3.0)), body="boom")
    scene.add(sn.shapes.box(1, 1, 1), body="boom")
    placed = placed_scenes(scene, ("boom", "idle"))
    farthest = np.linalg.norm(far.vertices + [0, 0, 3.0], axis=1).max()
    boom, idle = placed._body_radius_m[0]
    assert farthest <= boom < farthest * 1.02
    assert idle == 0.0


@pytest.mark.parametrize(
    ("owner", "step"), [(WorldArrays, "make"), (WorldArrays, "ensure_traceable"), (worker_pool, "share")]
)
@pytest.mark.parametrize("after", [False, True])
def test_what_a_signal_broke_off_is_placed_anew(monkeypatch, owner, step, after):
    """A handler of a signal may raise before or after any of the steps by which scenes are placed."""
    scene = scene_of("moves")
    scene.add(sn.shapes.box(1, 20, 20), pose=sn.Pose((10.5, 0, 0)))
    worlds, there, along = 3, sn.Pose((0, 5, 0)), sn.Pose(np.array([[0, 5, 0], [0, 6, 0.0]]))
    caster = sn.RayCaster(scene, worlds=worlds)

    def seen():
        wall, body = (caster.cast([0, 0, 0], way, worlds=np.arange(worlds)).range_m for way in ([1, 0, 0], [0, 1, 0]))
        return wall.tolist(), body.tolist()

    caster.place({"moves": there})
    wanted = ([10.0] * worlds, [4.5] * worlds)
    assert seen() == wanted
    work = getattr(owner, step)

    def broken_off(*given, **options):
        if after:
            work(*given, **options)
        raise KeyboardInterrupt

    for ways in ((along, there), (along, along)):
        with monkeypatch.context() as broken:
            broken.setattr(owner, step, broken_off)
            (caster.move if ways[0] is along else caster.place)({"moves": ways[0]})
            with pytest.raises(KeyboardInterrupt):
                seen()
        (caster.move if ways[1] is along else caster.place)({"moves": ways[1]})
        assert seen() == wanted
        caster.place({"moves": there})
        assert seen() == wanted


def test_fog_on_a_body_that_somebody_hides_is_no_wall_to_the_others():
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 9, 9), pose=sn.Pose((8.5, 0, 0)))
    scene.add(sn.shapes.box(1, 4, 4), body="cloud", material=sn.media.fog(visibility_m=50.0))
    scene.add(sn.shapes.box(1, 1, 1), pose=sn.Pose((0, 3, 0)), body="cloud")
    names, hidden = ("cloud",), [frozenset({"cloud"})]
    masks = {}
    for others_hide in (False, True):
        placed = placed_scenes(scene, names, hidden=hidden if others_hide else ())
        positions, quaternions = still(1)
        placed.place(positions, quaternions, NEAR)
        t = placed.tables
        for mask in (placed.mask_without((), air=False), placed.mask_without(())):
            shown = [
                int(t.columns[t.column_first[a] + i])
                for a in range(len(t.mask))
                if t.mask[a] & np.uint32(mask)
                for i in range(t.column_count[a])
            ]
            masks.setdefault(others_hide, []).append(sorted(shown))
    assert masks[True] == masks[False] == [[0, 2], [0, 1, 2]]
    for air in (False, True):  # and who hides the body sees neither the box on it nor the fog
        mask = np.uint32(placed.mask_without(("cloud",), air=air))
        assert [int(t.columns[t.column_first[a]]) for a in range(len(t.mask)) if t.mask[a] & mask] == [0]


def test_light_sees_surfaces_and_volumes_apart():
    """Each object is in one of the two masks of light, whoever else hides what, and in none where it is hidden."""
    media = [None, sn.media.fog(visibility_m=50.0), sn.Dielectric(refractive_index=1.5)]
    names = ("a", "b", "c", "d")
    rng = np.random.default_rng(0)
    for _ in range(20):
        scene, kinds = sn.Scene(), []
        for name in (*names, None):
            for kind in rng.integers(0, 3, rng.integers(0, 4)):
                scene.add(sn.shapes.box(1, 1, 1), body=name, material=media[kind])
                kinds.append((name, kind))
        if not kinds:
            continue
        hidden = [frozenset(rng.choice(names, rng.integers(1, 4), replace=False).tolist()) for _ in range(3)]
        placed = placed_scenes(scene, names, hidden=hidden)
        placed.place(*still(len(names)), NEAR)
        t = placed.tables
        for hide in (frozenset(), *hidden):
            for mask, wanted in zip(placed.masks_of_light(hide), ((0,), (1, 2)), strict=True):
                shown = [
                    int(t.columns[t.column_first[a] + i])
                    for a in range(len(t.mask))
                    if t.mask[a] & mask
                    for i in range(t.column_count[a])
                ]
                expected = [n for n, (name, kind) in enumerate(kinds) if kind in wanted and name not in hide]
                assert sorted(shown) == expected


def test_fog_costs_bits_only_where_hidden_bodies_carry_it():
    robots = tuple(f"robot{k}" for k in range(20))
    scene, fog = scene_of(*robots), sn.media.fog(visibility_m=50.0)
    scene.add(sn.shapes.box(9, 9, 9), material=fog)  # in the world, which nobody hides
    each_its_own = [frozenset({name}) for name in robots]
    placed_scenes(scene, robots, hidden=each_its_own)
    for name in robots[:11]:
        scene.add(sn.shapes.box(1, 1, 1), body=name, material=fog)
    with pytest.raises(SpecError, match=r"20 groups of bodies .* and 11 of them carry fog or the like; at most 28 may"):
        placed_scenes(scene, robots, hidden=each_its_own)


def test_casts_of_several_threads_may_hide_different_bodies():
    names = tuple(f"b{k}" for k in range(6))
    scene = sn.Scene()
    for k, name in enumerate(names):
        scene.add(sn.shapes.box(1, 4, 4), body=name, pose=sn.Pose((5.0 + 2.0 * k, 0, 0)))
    caster, rays = sn.RayCaster(scene), np.zeros((600, 3))

    def nearest(hidden):
        ranges = [caster.cast(rays, [1, 0, 0], hide=names[:hidden]).range_m for _ in range(10)]
        return np.unique(ranges).tolist()

    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            caster = sn.RayCaster(scene)
            hidden = [0, 3, 1, 5, 2, 4, 3, 0]
            assert list(pool.map(nearest, hidden)) == [[4.5 + 2.0 * k] for k in hidden]


def test_what_is_drawn_after_a_placement_was_broken_off_is_where_it_belongs(monkeypatch):
    """A drawn camera looks at scenes that a lidar was placing, in another cell of the grid, when a signal raised."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 900, 900), pose=sn.Pose((300.5, 0, 0)))
    world = sn.worlds.Kinematic({"car": sn.paths.Line((0, 0, 0), velocity=(400, 0, 0))}, step_s=0.1)
    env = sn.Environment(scene, world, worlds=2)
    ray = sn.patterns.Table(azimuth_deg=(0,), elevation_deg=(0,), time_s=(0,), rate_hz=5)
    lidar = env.attach(sn.Lidar(pattern=ray, motion="snapshot"), body="car")
    eye = sn.DepthCamera(pattern=sn.patterns.Pinhole.from_fov(16, 16, 60.0, rate_hz=10), max_range_m=500.0)
    camera = env.attach(eye, body="car", name="eye")

    share = worker_pool.share

    def broken_off(kernel, *given):
        if kernel is motion.place_shared:
            raise TimeoutError
        share(kernel, *given)

    env.step()
    with monkeypatch.context() as broken:
        broken.setattr(worker_pool, "share", broken_off)
        broken_steps = 0
        for _ in range(4):
            try:
                env.step()
            except TimeoutError:
                broken_steps += 1
    assert broken_steps
    for _ in range(2):
        env.step()
        np.testing.assert_allclose(camera.read().depth_m[:, 8, 8], 300.0 - 40.0 * round(env.time_s * 10), rtol=1e-4)
    assert lidar.read().valid.all()
