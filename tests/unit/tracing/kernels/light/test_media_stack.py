"""Media as a stack: the kernel against the float64 reference in random nests whose faces coincide, and laws by hand."""


import itertools

import numpy as np
import pytest

import sensorium as sn
from sensorium.tracing.reference.ray_tree import ray_tree

MATT = sn.Lambertian(reflectance=0.5)


def nest(seed, most=8):
    """Up to `most` volumes, boxes on a grid so that faces coincide and volumes overlap, with surfaces among them."""
    rng = np.random.default_rng(seed)
    things = []
    for _ in range(rng.integers(1, most + 1)):
        low = rng.integers(-4, 4, 3)
        size = rng.integers(1, 6, 3)
        index = rng.choice([1.0, 1.0, 1.0, 1.33, 1.5])
        medium = sn.media.uniform(refractive_index=index, extinction_per_m=round(rng.uniform(0.0, 0.1), 3))
        material = medium if rng.random() < 0.7 else sn.Dielectric(medium=medium)
        things.append((low, size, material))
    if rng.random() < 0.7:  # one at most: of two surfaces in one place either may be met
        low, size = rng.integers(-3, 5, 3), rng.integers(1, 4, 3)
        things.append((low, size, [MATT, sn.Mirror(reflectance=0.8)][rng.integers(2)]))
    things.append(((-8, -8, -5), (16, 16, 1), MATT))  # a floor
    things.append(((-20, -20, -20), (40, 40, 40), MATT))
    rng.shuffle(things)
    scene = sn.Scene()
    for low, size, material in things:
        center = np.array(low) + np.array(size) / 2
        scene.add(sn.shapes.box(*map(float, size)), pose=sn.Pose(center), material=material)
    return scene, rng


def fire(scene, directions, position, **options):
    x, y, z = np.asarray(directions, np.float64).T
    pattern = sn.patterns.Table(
        azimuth_deg=tuple(np.rad2deg(np.arctan2(y, x))),
        elevation_deg=tuple(np.rad2deg(np.arctan2(z, np.hypot(x, y)))),
        time_s=(0.0,) * len(x),
        rate_hz=10,
    )
    env = sn.Environment(scene, atmosphere=options.pop("atmosphere", None))
    spec = {"pattern": pattern, "mode": "relative", "atmospheric_returns": "off", "detection": None} | options
    lidar = env.attach(sn.Lidar(**spec), pose=sn.Pose(position))
    for _ in env.run(duration_s=0.1):
        pass
    return lidar.read(), pattern.rays().direction_S[0].astype(np.float64)


def differences(reference_caster, seed, rays):
    """How many rays of a nest differ from the reference, and the largest errors of the others."""
    scene, rng = nest(seed)
    position = rng.uniform(-4.3, 4.3, 3)
    scan, rays = fire(
        scene, rng.normal(size=(rays, 3)), position, max_depth=3, returns="all", max_returns=8, max_range_m=100.0
    )
    caster, differ, ranges, intensities = reference_caster(scene), [], [0.0], [0.0]
    for k, direction in enumerate(rays):
        nodes = ray_tree(caster, position, direction, max_depth=3, max_range_m=100.0)
        returned = sorted((n for n in nodes if n.intensity > 0.0), key=lambda node: -node.intensity)
        returned = sorted(returned[:8], key=lambda node: (round(node.opl_m, 3), node.intensity))
        here = np.flatnonzero(scan.valid[:, 0, k])  # paths of one length there and back by two ways in either order
        here = sorted(here, key=lambda j: (round(float(scan.range_m[j, 0, k]), 3), scan.intensity[j, 0, k]))
        if list(scan.object_id[here, 0, k]) != [n.object_id for n in returned]:
            differ.append(k)
            continue
        ranges.append(np.abs(scan.range_m[here, 0, k] - [n.opl_m for n in returned]).max(initial=0.0))
        strong = [n.intensity for n in returned]
        intensities.append(np.abs(scan.intensity[here, 0, k] / strong - 1.0).max(initial=0.0))
    return differ, np.array(ranges), np.array(intensities)


@pytest.mark.parametrize("seed", range(12))
def test_random_nests_agree_with_the_reference(reference_caster, seed):
    differ, ranges, intensities = differences(reference_caster, seed, 60)
    assert len(differ) == 0
    assert ranges.max() < 1e-4  # some 30 units of the last place at 30 m
    assert np.quantile(intensities, 0.98) < 1e-3


def optical_depth(scene, clear, direction, **options):
    """Half the logarithm of what the media of a scene leave of a return, against the same scene without them."""
    dim, bright = (fire(which, [direction], (0, 0, 0), **options)[0] for which in (scene, clear))
    assert dim.valid.all()
    assert bright.valid.all()
    np.testing.assert_allclose(dim.range_m, bright.range_m, rtol=1e-6)
    return -0.5 * np.log(dim.intensity / bright.intensity).item()


def boxes(*things):
    """Boxes (middle, size, material), in this order."""
    scene = sn.Scene()
    for middle, size, material in things:
        scene.add(sn.shapes.box(*size), pose=sn.Pose(middle), material=material)
    return scene


WALL = ((20.5, 0, 0), (1, 40, 40), MATT)


def fog(extinction_per_m, **options):
    return sn.media.uniform(extinction_per_m=extinction_per_m, **options)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("turn_deg", [0.0, 17.0])
def test_banks_side_by_side_hand_over(order, turn_deg):
    """Two banks of 4 m with 0.05 and 0.02 / m: optical depth 0.28, in any order, also where faces are not square."""
    turn, things = sn.Pose.from_euler_deg((0, 0, 0), yaw=turn_deg, pitch=turn_deg / 2), []
    for middle, size, material in (((5, 0, 0), (4, 20, 20), fog(0.05)), ((9, 0, 0), (4, 20, 20), fog(0.02)), WALL):
        things.append((turn @ sn.Pose(middle), size, material))
    scene, clear = sn.Scene(), sn.Scene()
    for number in order:
        pose, size, material = things[number]
        scene.add(sn.shapes.box(*size), pose=pose, material=material)
    clear.add(sn.shapes.box(*WALL[1]), pose=things[2][0], material=MATT)
    direction = turn.apply(np.array([1.0, 0.05, 0.02]))
    length = np.linalg.norm([1.0, 0.05, 0.02])
    assert optical_depth(scene, clear, direction) == pytest.approx(0.28 * length, abs=2e-5)


def test_a_fog_box_on_the_ground_hides_nothing_of_it():
    """The floor of the bank lies in the ground: a lidar at 1.8 m looks 7 degrees down to 14.770 m."""
    ground = (sn.shapes.plane(200.0), sn.Pose(), MATT)
    bank = (sn.shapes.box(40, 40, 4), sn.Pose((10, 0, 2)), sn.media.fog(visibility_m=100.0, gamma_probability=0.0))
    for things in ((ground, bank), (bank, ground)):
        scene = sn.Scene()
        for mesh, pose, material in things:
            scene.add(mesh, pose=pose, material=material)
        scan, _ = fire(scene, [(np.cos(np.deg2rad(7)), 0, -np.sin(np.deg2rad(7)))], (0, 0, 1.8))
        assert scan.range_m.item() == pytest.approx(1.8 / np.sin(np.deg2rad(7)), abs=1e-4)
        assert scan.object_id.item() == things.index(ground)


def test_air_in_a_glass_shell_in_water():
    water, air = sn.media.uniform(refractive_index=1.33), sn.media.uniform()
    scene = boxes(
        ((15, 0, 0), (30, 30, 30), water),
        ((10, 0, 0), (6, 6, 6), sn.Dielectric(refractive_index=1.5)),
        ((10, 0, 0), (4, 4, 4), air),
        WALL,
    )
    sine = np.sin(0.05)  # n sin(theta) stays as it is through faces square to x
    for start, layers in (
        (-1.0, ((1.0, 1), (1.33, 7), (1.5, 1), (1.0, 4), (1.5, 1), (1.33, 7))),
        (10.0, ((1.0, 2), (1.5, 1), (1.33, 7))),
    ):
        scan, _ = fire(scene, [(np.cos(0.05), sine, 0)], (start, 0, 0), max_depth=6, returns="all", max_returns=8)
        wall = scan.valid[:, 0, 0] & (scan.object_id[:, 0, 0] == 3) & (scan.mirror_id[:, 0, 0] < 0)
        by_hand = sum(n * d / np.sqrt(1.0 - (sine / n) ** 2) for n, d in layers)
        assert scan.range_m[wall, 0, 0].item() == pytest.approx(by_hand, rel=1e-6)


@pytest.mark.parametrize("leaves_first", [0, 1])
def test_of_volumes_that_overlap_the_one_entered_last_counts(leaves_first):
    """From 2 to 8 m and from 4 to 10 (or 6) m: the second counts from 4 m until it is left."""
    end = 10.0 if leaves_first else 6.0
    scene = boxes(
        ((5, 0, 0), (6, 20, 20), fog(0.01)), (((4 + end) / 2, 0, 0), (end - 4, 18, 18), fog(0.04)), WALL
    )
    wanted = 0.01 * 2 + 0.04 * (end - 4) + (0.0 if leaves_first else 0.01 * 2)
    assert optical_depth(scene, boxes(WALL), (1, 0, 0)) == pytest.approx(wanted, abs=2e-6)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("inner", [sn.shapes.box(10, 10, 10), sn.shapes.sphere(5.0)], ids=["box", "ball"])
def test_a_sensor_inside_two_volumes(inner, order):
    """The smaller counts until it is left, then the larger, whichever was added first and however they are found."""
    things = [(sn.shapes.box(20, 20, 20), fog(0.05)), (inner, fog(0.02))]
    scene = boxes(WALL)
    for number in order:
        mesh, material = things[number]
        scene.add(mesh, material=material)
    (left,) = sn.RayCaster(scene).cast_all([0, 0, 0], [1, 0.05, 0.02]).range_m[:1]
    ends = 10.0 * np.linalg.norm([1, 0.05, 0.02])
    wanted = 0.02 * left + 0.05 * (ends - left)
    assert optical_depth(scene, boxes(WALL), (1, 0.05, 0.02)) == pytest.approx(wanted, abs=3e-6)


def bank_tangle(seed):
    """Boxes and balls of fog at random, turned, around and before the sensor; and what a ray passes of each by hand."""
    rng, scene, things = np.random.default_rng(seed), boxes(WALL), []
    for _ in range(rng.integers(2, 6)):
        size, middle, turn = rng.uniform(2, 9, 3), rng.uniform(-6, 9, 3), rng.normal(size=4)
        things.append((size, sn.Pose(middle, turn / np.linalg.norm(turn)), round(rng.uniform(0.01, 0.08), 3)))
    for number in rng.permutation(len(things)):
        size, pose, extinction = things[number]
        scene.add(sn.shapes.box(*size), pose=pose, material=fog(extinction))
    return scene, things, rng


@pytest.mark.parametrize("seed", range(25))
def test_tangles_of_banks_by_hand(seed):
    """Extinction along the ray, of the volume entered last: by intervals of boxes in float64."""
    scene, things, rng = bank_tangle(seed)
    direction = np.array([1.0, *rng.uniform(-0.2, 0.2, 2)])
    unit = direction / np.linalg.norm(direction)
    spans = []
    for size, pose, extinction in things:
        o, d = pose.inverse().apply(np.zeros(3)), pose.inverse().apply(unit) - pose.inverse().apply(np.zeros(3))
        a, b = (-size / 2 - o) / d, (size / 2 - o) / d
        enter, leave = np.minimum(a, b).max(), np.maximum(a, b).min()
        if enter < leave and leave > 0:
            rank = enter if enter > 0 else -np.prod(size)  # around the sensor: the smaller further in
            spans.append((enter, leave, rank, extinction))
    end = 20.0 / unit[0]
    cuts = sorted({0.0, end, *(t for span in spans for t in span[:2] if 0.0 < t < end)})
    wanted = 0.0
    for start, stop in itertools.pairwise(cuts):
        middle = (start + stop) / 2
        inside = [span for span in spans if span[0] < middle < span[1]]
        if inside:
            wanted += max(inside, key=lambda span: span[2])[3] * (stop - start)
    assert optical_depth(scene, boxes(WALL), direction) == pytest.approx(wanted, abs=1e-5)


def test_nests_of_any_depth():
    """Thirty shells around the sensor: room is made as it is needed."""
    shells = [((0, 0, 0), (2 * r, 2 * r, 2 * r), fog(0.001 * r)) for r in range(1, 31)]
    scene = boxes(*shells, ((40.5, 0, 0), (1, 90, 90), MATT))
    wanted = sum(0.001 * r for r in range(1, 31))
    assert optical_depth(scene, boxes(((40.5, 0, 0), (1, 90, 90), MATT)), (1, 0, 0)) == pytest.approx(wanted, rel=1e-5)


THIN = [
    sn.media.fog(visibility_m=50.0, gamma_probability=0.0),
    sn.Dielectric(medium=sn.media.fog(visibility_m=50.0, gamma_probability=0.0)),
    sn.media.uniform(extinction_per_m=0.02),
    sn.media.uniform(refractive_index=1.0009, extinction_per_m=0.02),
    sn.Dielectric(refractive_index=1.0),
]


@pytest.mark.parametrize("material", THIN, ids=range(len(THIN)))
@pytest.mark.parametrize("mesh", [sn.shapes.box(4, 20, 20), sn.shapes.sphere(2.0)], ids=["box", "ball"])
def test_a_boundary_that_changes_nothing_is_no_surface(mesh, material):
    """To light of no depth, truth, geometric lidars, depth cameras, cones and radars, however the volume was made."""
    scene = boxes(WALL)
    scene.add(mesh, pose=sn.Pose((6, 0, 0)), material=material)
    for mode in ("geometric", "relative", "radiometric", "waveform"):
        env = sn.Environment(scene)
        pattern = sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=10)
        lidar = env.attach(sn.Lidar(pattern=pattern, mode=mode, **({} if mode == "geometric" else {"detection": None})))
        pinhole = sn.patterns.Pinhole.from_fov(width=8, height=8, horizontal_fov_deg=10.0, rate_hz=10)
        depth = env.attach(sn.DepthCamera(pattern=pinhole, max_range_m=50.0))
        for _ in env.run(duration_s=0.11):
            pass
        assert lidar.truth().range_m.item() == pytest.approx(20.0, abs=1e-4)
        assert lidar.read().range_m.item() == pytest.approx(20.0, abs=0.03)
        assert depth.read().depth_m.min() > 19.9
    assert sn.RayCaster(scene).cast([0, 0, 0], [1, 0, 0]).object_id == 1  # a caster of one's own sees all faces


def test_an_atmosphere_of_water_makes_water_no_surface():
    scene = boxes(((6, 0, 0), (4, 20, 20), sn.media.water(scattering_per_m=0.3)), WALL)
    for atmosphere, seen in ((sn.media.water(), 1), (None, 0)):
        env = sn.Environment(scene, atmosphere=atmosphere)
        pattern = sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=10)
        lidar = env.attach(sn.Lidar(pattern=pattern))
        for _ in env.run(duration_s=0.1):
            pass
        assert lidar.read().object_id.item() == seen


@pytest.mark.parametrize("who", ["lidar", "fog"])
def test_the_medium_around_the_sensor_is_that_of_each_ray_s_own_time(who):
    """A lidar drives into a bank, or the bank drifts over it, in the middle of a sweep."""
    scene, size = sn.Scene(), 40.0
    scene.add(sn.shapes.box(1, 90, 90), pose=sn.Pose((30.5, 0, 0)), material=MATT)
    moves = {"pose": sn.Pose((size / 2 + 1, 0, 0))}
    if who == "fog":
        moves = {"body": who, "pose": sn.Pose((size / 2, 0, 0))}
    scene.add(sn.shapes.box(size, 60, 60), material=fog(0.02), **moves)
    along = sn.paths.Line((0, 0, 0), (20.0, 0, 0)) if who == "lidar" else sn.paths.Line((1, 0, 0), (-20.0, 0, 0))
    world = sn.worlds.Kinematic({who: along}, step_s=0.1)
    env = sn.Environment(scene, world)
    count = 200
    times = tuple(np.arange(count) * 5e-4)
    pattern = sn.patterns.Table(azimuth_deg=(0.0,) * count, elevation_deg=(0.0,) * count, time_s=times, rate_hz=10)
    lidar = env.attach(
        sn.Lidar(pattern=pattern, mode="relative", detection=None, atmospheric_returns="off"),
        body="lidar" if who == "lidar" else None,
    )
    env.step()
    scan, t = lidar.read(), np.array(times)
    x = 20.0 * t if who == "lidar" else np.zeros(count)
    begins = np.full(count, 1.0) if who == "lidar" else 1.0 - 20.0 * t
    in_fog = np.minimum(30.0, begins + size) - np.maximum(x, begins)
    distance = 30.0 - x
    np.testing.assert_allclose(scan.range_m[0], distance, atol=1e-4)
    captured = sn.Beam().captured(distance)
    wanted = 0.5 / np.pi * captured * np.exp(-2 * 0.02 * in_fog)
    np.testing.assert_allclose(scan.intensity[0], wanted, rtol=2e-4)


@pytest.mark.parametrize("through", ["open", "pane", "mirror"])
def test_the_fog_law_counts_from_where_the_medium_was_entered(through):
    """Share and distances of returns from fog behind a pane or a mirror in it are those of open fog."""
    from scipy import stats

    medium = sn.media.fog(visibility_m=30.0, gamma_probability=0.6, gamma_shape=4.0, gamma_scale_m=3.0)
    scene = sn.Scene()
    scene.add(sn.shapes.box(300, 300, 300), material=medium)
    clear = sn.ThinGlass(refractive_index=1.0, thickness_m=0.0)
    if through == "pane":
        scene.add(sn.shapes.plane(200, 200), pose=sn.Pose.from_euler_deg((5, 0, 0), pitch=90), material=clear)
    elif through == "mirror":
        mirror = sn.Mirror(reflectance=1.0, roughness=1e-6)
        scene.add(sn.shapes.plane(200, 200), pose=sn.Pose.from_euler_deg((5, 0, 0), pitch=50), material=mirror)
    rng = np.random.default_rng(0)
    directions = np.array([1.0, 0, 0]) + rng.uniform(-0.05, 0.05, (20000, 3))
    scan, _ = fire(
        scene, directions, (0, 0, 0), atmospheric_returns="strongest", max_depth=2, returns="all", max_returns=4
    )
    air = scan.cause == sn.Cause.ATMOSPHERE
    assert (air.sum(axis=0) <= 1).all()  # one draw a ray and medium
    assert air.any(axis=0).mean() == pytest.approx(0.6, abs=4 * np.sqrt(0.24 / 20000))
    assert stats.kstest(scan.range_m[air], stats.gamma(4.0, scale=3.0).cdf).pvalue > 1e-3
    if through != "open":
        assert (scan.range_m[air] > 6.0).mean() > 0.5  # much of it behind


def test_a_film_thinner_than_the_old_start_offset():
    """0.1 mm of glass: both faces count, and the path in it."""
    scene = boxes(((5, 0, 0), (1e-4, 20, 20), sn.Dielectric(refractive_index=1.5, roughness=1e-6)), WALL)
    scan, _ = fire(scene, [(1, 0.1, 0)], (0, 0, 0), max_depth=2, returns="all", max_returns=8)
    wall = scan.valid[:, 0, 0] & (scan.object_id[:, 0, 0] == 1)
    assert scan.depth[wall, 0, 0].tolist() == [2]
