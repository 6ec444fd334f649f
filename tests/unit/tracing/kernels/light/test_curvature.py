"""Ghosts of curved mirrors: against the closed form of a convex mirror, and the kernel against the reference tree."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.scene import curvature as of_scene
from sensorium.scene.layout import layout
from sensorium.tracing.kernels.light.curvature import curvature_tables
from sensorium.tracing.reference.ray_tree import ray_tree

WALL = sn.Lambertian(reflectance=0.5)
CHROME = sn.Mirror(reflectance=0.9)
BEAM = {"detector_radius_m": 0.01, "exit_radius_m": 0.01, "half_divergence_rad": 1.5e-3}


def table(directions, time_s=None):
    """A pattern of these directions."""
    x, y, z = np.asarray(directions, np.float64).T
    return sn.patterns.Table(
        azimuth_deg=tuple(np.rad2deg(np.arctan2(y, x))),
        elevation_deg=tuple(np.rad2deg(np.arctan2(z, np.hypot(x, y)))),
        time_s=tuple(np.zeros(len(x)) if time_s is None else time_s),
        rate_hz=10,
    )


def fire(scene, pattern, *, world=None, atmosphere=None, **options):
    env = sn.Environment(scene, *([] if world is None else [world]), atmosphere=atmosphere, seed=1)
    spec = {"pattern": pattern, "mode": "relative", "max_depth": 1, "returns": "all", "max_returns": 8}
    spec["detection"] = None  # ghosts are told however weak
    lidar = env.attach(sn.Lidar(**spec | options))
    for _ in env.run(duration_s=0.1):
        pass
    return lidar.read()


def ghosts(scan):
    """Range and intensity of the ghost of each ray at depth 1; nan where it has none."""
    ghost = scan.valid[:, 0] & (scan.depth[:, 0] == 1) & (scan.cause[:, 0] == sn.Cause.REFLECTION)
    assert (ghost.sum(axis=0) <= 1).all()
    return tuple(np.where(ghost, column[:, 0], 0.0).sum(axis=0) for column in (scan.range_m, scan.intensity))


def uncurved(mesh):
    """The same facets, taken for plane mirrors."""
    flat = np.zeros((len(mesh.faces), 6))
    return sn.Mesh(mesh.vertices, mesh.faces, face_properties={"curvature_tensor": flat})


def towards_ball(count, center, reach, seed=0):
    """Random directions from the origin that pass a point at less than some distance."""
    rng = np.random.default_rng(seed)
    center = np.asarray(center, np.float64)
    across = np.linalg.svd(center[None] / np.linalg.norm(center))[2][1:]
    distance, turn = reach * np.sqrt(rng.uniform(0, 1, count)), rng.uniform(0, 2 * np.pi, count)
    return center + distance[:, None] * (np.cos(turn)[:, None] * across[0] + np.sin(turn)[:, None] * across[1])


def test_a_chrome_sphere_of_30_cm_at_5_m():
    """Walls behind the sensor and beside it, against z_eff = |det((z1 + s) + z1 s dC)|^(1/2) of a convex mirror."""
    center, radius = np.array([5.0, 0.0, 0.0]), 0.3
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(radius, subdivisions=7), pose=sn.Pose(center), material=CHROME)
    scene.add(sn.shapes.box(16, 14, 12), pose=sn.Pose((1.0, 0.7, -0.4)), material=WALL)
    pattern = table(towards_ball(400, center, 0.27))
    range_m, intensity = ghosts(fire(scene, pattern))
    seen = range_m > 0
    assert seen.sum() > 300

    # Where rays meet the true sphere, and how
    d = pattern.rays().direction_S[0].astype(np.float64)
    z1 = d @ center - np.sqrt((d @ center) ** 2 - center @ center + radius**2)
    normal = (z1[:, None] * d - center) / radius
    cosine = -np.einsum("ri,ri->r", d, normal)
    onward = d + 2 * cosine[:, None] * normal
    low, high = np.array([-7.0, -6.3, -6.4]), np.array([9.0, 7.7, 5.6])
    to_walls = np.where(onward > 0, high - z1[:, None] * d, low - z1[:, None] * d) / onward
    on_wall = np.abs(np.take_along_axis(onward, to_walls.argmin(axis=1)[:, None], axis=1))[:, 0]

    # Facets are tilted by up to 0.3 degrees, which moves ghosts a little: their own way is taken for s
    inside = seen & (np.sort(to_walls, axis=1)[:, 1] > to_walls.min(axis=1) + 0.5)  # not near an edge of the room
    s = range_m - z1
    np.testing.assert_allclose(s[inside], to_walls.min(axis=1)[inside], rtol=0.05)
    z = sn.optics.mirrored_distance(z1, s, cos_theta=cosine, along_per_m=1 / radius, across_per_m=1 / radius)
    kappa = 0.9 * 1.0  # the beam opens a thousandfold, beside which the mirror's roughness is nothing
    expected = kappa**2 * 0.5 / np.pi * on_wall * sn.optics.captured_fraction(z, **BEAM)
    assert z[inside].min() > 150.0  # a flat mirror's ghost would count 10 to 20 m
    np.testing.assert_allclose(intensity[inside], expected[inside], rtol=0.02)
    assert np.abs(np.median(intensity[inside] / expected[inside]) - 1.0) < 2e-3


def shapes(rng):
    """A curved thing of random shape and size, about a meter."""
    size = rng.uniform(0.3, 0.9, 3)
    ball = sn.shapes.ellipsoid(*size, subdivisions=3)
    kinds = [
        sn.shapes.sphere(size[0], subdivisions=3),
        ball,
        sn.shapes.cylinder(size[0], 2 * size[1], 32),
        sn.shapes.capsule(size[0] / 2, size[1], 24),
        sn.Mesh(ball.vertices, ball.faces[:, ::-1]),  # seen from outside, hollow
        sn.shapes.heightfield(0.2 * np.square(np.linspace(-1, 1, 12))[:, None] * np.linspace(-1, 1, 12), 1.5, 1.5),
        sn.shapes.box(*size),
    ]
    return kinds[rng.integers(len(kinds))]


MATERIALS = [
    sn.Mirror(reflectance=0.9),
    sn.Mirror(reflectance=0.7, roughness=3e-3),
    sn.TwoLayer(refractive_index=1.2, extinction_coefficient=7.0, roughness=0.02, reflectance=0.0),
    sn.TwoLayer(refractive_index=1.5, roughness=2e-3, reflectance=0.4),
    sn.TwoLayer(refractive_index=1.5, roughness=0.3, reflectance=0.4),
    sn.Dielectric(refractive_index=1.5),
    sn.ThinGlass(),
    WALL,
]
VARIANTS = [
    {},
    {"round_trip": False},
    {"divergence": "agx"},
    {"max_depth": 5, "floor": 1e-5},
    {"beam": sn.Beam(half_divergence_rad=(3e-3, 1e-3), detector_offset_m=0.005)},
]


@pytest.mark.parametrize("seed", range(len(VARIANTS)))
def test_the_kernel_against_the_reference_on_random_curved_scenes(seed):
    """Rays over several curved and flat mirrors, panes and bodies of glass, in water and in air."""
    rng = np.random.default_rng(seed)
    scene, placed = sn.Scene(), [(np.zeros(3), 0.5)]
    scene.add(sn.shapes.box(16, 14, 12), pose=sn.Pose.from_euler_deg((0.4, 0.2, -0.3), 5, 8, 11), material=WALL)
    water = sn.media.uniform(refractive_index=1.33, extinction_per_m=0.02) if seed % 2 else None
    while len(placed) < 22:
        mesh, center = shapes(rng), rng.uniform(-5, 5, 3) * (1, 0.9, 0.7)
        if all(np.linalg.norm(center - other) > mesh.radius + r for other, r in placed):
            placed.append((center, mesh.radius))
            material = MATERIALS[len(placed) % len(MATERIALS)]
            scene.add(mesh, pose=sn.Pose(center, rng.normal(size=4)), material=material)
    at = np.array([center for center, _ in placed[1:]])
    pattern = table(at[rng.integers(len(at), size=200)] + rng.normal(0, 0.25, (200, 3)))
    options = {"max_depth": 3} | VARIANTS[seed]
    scan = fire(scene, pattern, atmosphere=water, calibrated_index=1.0, **options)

    tree = {k: v for k, v in options.items() if k in ("max_depth", "round_trip", "divergence", "floor")}
    if "beam" in options:
        tree |= {k: getattr(options["beam"], k) for k in ("half_divergence_rad", "detector_offset_m")}
    caster, differ, errors, bent = sn.RayCaster(scene), 0, [], 0
    for k, direction in enumerate(pattern.rays().direction_S[0].astype(np.float64)):
        nodes = ray_tree(caster, (0, 0, 0), direction, atmosphere=water, **tree)
        returned = sorted((n for n in nodes if n.intensity > 0), key=lambda node: -node.intensity)
        returned = sorted(returned[:8], key=lambda node: node.opl_m)
        here = scan.valid[:, 0, k]
        if list(scan.object_id[here, 0, k]) != [n.object_id for n in returned]:
            differ += 1  # an edge, a critical angle, the floor, or two returns of the same strength
            continue
        np.testing.assert_allclose(scan.range_m[here, 0, k], [n.opl_m for n in returned], rtol=2e-5)
        diffuse = np.array([scene.objects[n.object_id].material is WALL for n in returned])
        errors += list((scan.intensity[here, 0, k] / [n.intensity for n in returned] - 1.0)[diffuse])
        bent += sum(abs(n.spread_m / n.z_m - 1.0) > 0.01 for n in returned)
    assert differ <= 6
    assert bent > 60
    assert len(errors) > 200
    assert np.abs(errors).max() < 1e-3


def test_mirrors_that_turn_while_the_sweep_lasts():
    """A stretched ball on a body that spins: each ray meets the curvature that is turned its way when it fires."""
    scene = sn.Scene()
    scene.add(sn.shapes.ellipsoid(0.4, 0.8, 1.2), body="ball", material=CHROME)
    scene.add(sn.shapes.box(20, 20, 20), material=WALL)
    path = sn.paths.Spin(position=(4, 0, 0), axis=(0.3, 0.2, 1), rate=6.0)
    times = np.arange(100) * 1e-3
    directions = towards_ball(100, (4, 0, 0), 0.3)
    scan = fire(scene, table(directions, times), world=sn.worlds.Kinematic({"ball": path}, step_s=0.005), returns="all")
    caster, compared = sn.RayCaster(scene), []
    for k, time_s in enumerate(times):
        caster.place({"ball": path.pose(time_s)})
        unit = directions[k] / np.linalg.norm(directions[k])
        node = next((n for n in ray_tree(caster, (0, 0, 0), unit, max_depth=1) if n.number == 1), None)
        here = scan.valid[:, 0, k] & (scan.depth[:, 0, k] == 1)
        if node is not None and here.sum() == 1 and abs(scan.range_m[here, 0, k][0] - node.opl_m) < 0.01:
            compared.append(scan.intensity[here, 0, k][0] / node.intensity - 1.0)
    assert len(compared) > 60
    assert np.abs(compared).max() < 5e-3  # the motion is followed to 20 um


@pytest.mark.parametrize("mode", ["relative", "radiometric", "waveform"])
def test_every_mode_weakens_by_the_solid_angle(mode):
    """Against the same facets as plane mirrors: what is captured falls from A(z) to A(z_eff)."""
    center, radius = np.array([5.0, 0.0, 0.0]), 1.0
    ball, seen = sn.shapes.sphere(radius, subdivisions=5), []
    pattern = table(towards_ball(40, center, 0.5, seed=4))
    quiet = {"noise_electrons": 0.0, "peak_power_W": 1e6}
    options = {} if mode == "relative" else {"receiver": sn.Receiver(**quiet)}
    if mode == "waveform":
        options |= {"waveform": {"shot_noise": False}}
    for mesh in (ball, uncurved(ball)):
        scene = sn.Scene()
        scene.add(mesh, pose=sn.Pose(center), material=sn.Mirror(reflectance=0.9, roughness=1e-6))
        scene.add(sn.shapes.box(0.1, 80, 80), pose=sn.Pose((-4.0, 0, 0)), material=WALL)
        seen.append(ghosts(fire(scene, pattern, mode=mode, **options)))
    (range_m, bent), (_, plain) = seen
    both = (bent > 0) & (plain > 0)
    assert both.sum() > 20
    d = pattern.rays().direction_S[0].astype(np.float64)
    z1 = d @ center - np.sqrt((d @ center) ** 2 - center @ center + radius**2)
    cosine = -np.einsum("ri,ri->r", d, (z1[:, None] * d - center) / radius)
    z = sn.optics.mirrored_distance(z1, range_m - z1, cos_theta=cosine, along_per_m=1.0, across_per_m=1.0)
    expected = np.square(range_m / z)
    if mode == "relative":
        expected = sn.optics.captured_fraction(z, **BEAM) / sn.optics.captured_fraction(range_m, **BEAM)
    # A pulse has rays of its own, which facets spread over the wall
    tolerance = 0.25 if mode == "waveform" else 0.02
    np.testing.assert_allclose((bent / plain)[both], expected[both], rtol=tolerance)


def test_a_hollow_mirror_gives_no_more_than_the_beam_has():
    """A wall that passes through the image of the sensor: strong, finite, and no more than all that is captured."""
    bowl = sn.shapes.sphere(2.0, subdivisions=6)
    half = bowl.faces[bowl.vertices[bowl.faces].mean(axis=1)[:, 0] > 1.2]
    seen = []
    for distance in np.linspace(-1.0, 1.5, 26):  # of the wall from the center of the bowl
        scene = sn.Scene()
        scene.add(sn.Mesh(bowl.vertices, half[:, ::-1]), pose=sn.Pose((0.3, 0, 0)), material=CHROME)
        pose = sn.Pose((distance + 0.3, 1.5, 0))
        scene.add(sn.shapes.box(0.01, 2.8, 4), pose=pose, material=WALL)
        _, intensity = ghosts(fire(scene, table(towards_ball(60, (2.3, -0.5, 0), 0.1))))
        assert np.isfinite(intensity).all()
        seen.append(intensity.max())
    most = 0.9**2 * 0.5 / np.pi * float(sn.optics.captured_fraction(0.0, **BEAM))
    assert 0.3 * most < max(seen) <= most


def test_a_rough_mirror_that_opens_the_beam_keeps_more_of_it_inside():
    """Tilts of facets are nothing beside what the ball does: kappa counts with the beam as the mirror opened it."""
    center, seen = np.array([5.0, 0.0, 0.0]), {}
    for roughness in (1e-6, 5e-3):
        for bent in (True, False):
            ball = sn.shapes.sphere(0.3, subdivisions=5)
            scene = sn.Scene()
            metal = sn.Mirror(reflectance=0.9, roughness=roughness)
            scene.add(ball if bent else uncurved(ball), pose=sn.Pose(center), material=metal)
            scene.add(sn.shapes.box(0.1, 80, 80), pose=sn.Pose((-4.0, 0, 0)), material=WALL)
            seen[roughness, bent] = ghosts(fire(scene, table(towards_ball(50, center, 0.1))))[1]
    some = seen[1e-6, True] > 0
    assert some.sum() > 30
    assert (seen[5e-3, False] / seen[1e-6, False])[some].max() < 1e-3
    opened = np.tan(1.5e-3 / 2) ** 2 * (1 + 2 * 4.7 / 0.3) ** 2
    kappa = opened / (float(sn.optics.squared_alpha(5e-3)) + opened)
    np.testing.assert_allclose((seen[5e-3, True] / seen[1e-6, True])[some], kappa**2, rtol=0.02)


def test_air_before_and_behind_a_curved_mirror():
    """Fog that answers behind a ball is as weak as what the ball shows of a wall there; before it, as ever."""
    fog, seen = (
        sn.media.uniform(backscatter_per_m_sr=1e-3, gamma_probability=1.0, gamma_shape=3.0, gamma_scale_m=2.0),
        [],
    )
    ball = sn.shapes.sphere(1.0, subdivisions=5)
    for mesh in (ball, uncurved(ball)):
        scene = sn.Scene()
        scene.add(mesh, pose=sn.Pose((4.0, 0, 0)), material=CHROME)
        seen.append(fire(scene, table(towards_ball(400, (4.0, 0, 0), 0.6)), atmosphere=fog))
    bent, plain = seen
    behind = (bent.depth == 1) & (bent.cause == sn.Cause.ATMOSPHERE)
    before = (bent.depth == 0) & (bent.cause == sn.Cause.ATMOSPHERE)
    assert behind.sum() > 50
    assert before.sum() > 5
    assert (bent.range_m == plain.range_m).all()
    np.testing.assert_array_equal(bent.intensity[before], plain.intensity[before])
    z1, s = 3.0, bent.range_m[behind] - 3.0
    most = sn.optics.mirrored_distance(z1, s, along_per_m=1.0, across_per_m=1.0)
    expected = sn.optics.captured_fraction(most, **BEAM) / sn.optics.captured_fraction(bent.range_m[behind], **BEAM)
    np.testing.assert_allclose(bent.intensity[behind] / plain.intensity[behind], expected, rtol=0.25)


def test_flat_things_and_those_that_do_not_mirror_have_no_table():
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 1, 1), material=CHROME)
    scene.add(sn.shapes.sphere(1.0), material=WALL)
    scene.add(sn.shapes.sphere(1.0))
    first, values = curvature_tables(layout(scene, 1))
    assert (first == -1).all()
    assert values.shape == (0, 6)
    ball = sn.shapes.sphere(2.0, subdivisions=1)
    for material in (CHROME, WALL, sn.ThinGlass()):
        scene.add(ball, material=material)
    first, values = curvature_tables(layout(scene, 1))
    assert first.tolist() == [[-1, -1, -1, 0, -1, 0]]
    assert values.shape == (len(ball.faces), 6)


def test_nobody_works_out_what_nobody_asks_for(monkeypatch):
    def refuse(mesh):
        raise AssertionError("curvature was worked out")

    monkeypatch.setattr(of_scene, "face_curvature", refuse)
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(1.0), pose=sn.Pose((5, 0, 0)), material=CHROME)
    assert fire(scene, table([(1, 0, 0)]), max_depth=0).valid.any()
    with pytest.raises(AssertionError, match="worked out"):
        fire(scene, table([(1, 0, 0)]), max_depth=1)
