"""Beams of several rays: edges against closed forms, float64 and waveform mode; all else as with a single ray."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.physics import optics
from sensorium.runtime.worker_pool import get_threads

AHEAD = sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=10)
MATT = sn.Lambertian(reflectance=0.5)
WIDE = {"half_divergence_rad": 3e-3, "exit_radius_m": 0.01}
NEAR_M = 20.0
RADIUS_M = 0.01 + NEAR_M * np.tan(3e-3)


def behind_an_edge(step_m, distance_m, angle_rad=0.0):
    """A plate at 20 m whose straight edge is off the axis by a distance, and a wall a step behind it."""
    scene, turn = sn.Scene(), np.rad2deg(angle_rad)
    middle = distance_m + 2.0  # the plate covers what is farther along the edge's normal than the distance
    at = (NEAR_M + 0.005, middle * np.cos(angle_rad), middle * np.sin(angle_rad))
    plate = sn.Pose.from_euler_deg(at, roll=turn)
    scene.add(sn.shapes.box(0.01, 4.0, 4.0), pose=plate, material=MATT, label="plate")
    scene.add(sn.shapes.box(1.0, 40, 40), pose=sn.Pose((NEAR_M + step_m + 0.5, 0, 0)), material=MATT, label="wall")
    return scene


def fire(scene, rays, *, mode="relative", pattern=AHEAD, environment=None, beam=None, **fields):
    env = sn.Environment(scene, seed=3, **{"atmosphere": sn.media.vacuum()} | (environment or {}))
    beam = sn.Beam(**WIDE | {"rays": rays} | (beam or {}))
    fields = {"returns": "all", "detection": None} | fields
    lidar = env.attach(sn.Lidar(pattern=pattern, mode=mode, beam=beam, **fields))
    for _ in env.run(duration_s=0.1):
        pass
    return lidar.read()


def returns_of(scan):
    seen = scan.valid[:, 0, 0]
    return scan.range_m[seen, 0, 0].astype(float), scan.intensity[seen, 0, 0].astype(float), scan.cause[seen, 0, 0]


def random_edges(count, seed):
    rng = np.random.default_rng(seed)
    return zip(rng.uniform(-0.9, 0.9, count) * RADIUS_M, rng.uniform(0.0, 2.0 * np.pi, count), strict=True)


def test_an_edge_shares_the_beam_by_the_error_function():
    """Two returns where plate and wall are farther apart than 0.75 m, with the powers of erfc(sqrt(2) x / w) / 2."""
    whole = [returns_of(fire(behind_an_edge(3.0, x), 1))[1].item() for x in (-1.0, 1.0)]  # all on the plate, none
    errors = []
    for distance, angle in random_edges(25, 0):
        ranges, power, causes = returns_of(fire(behind_an_edge(3.0, distance, angle), 1000))
        share = optics.share_beyond_edge(distance, radius_m=RADIUS_M)
        np.testing.assert_allclose(ranges, [NEAR_M, NEAR_M + 3.0], rtol=1e-5)
        assert (causes == sn.Cause.SURFACE).all()
        errors += [power[0] / whole[0] - share, power[1] / whole[1] - (1.0 - share)]
    print(f"share of the beam, 1000 rays: rms error {np.sqrt(np.mean(np.square(errors))):.4f}")
    assert np.abs(errors).max() < 0.015
    assert np.sqrt(np.mean(np.square(errors))) < 0.005


def test_a_step_nearer_than_the_separation_is_one_mixed_return_at_the_centroid():
    whole = [returns_of(fire(behind_an_edge(0.4, x), 1))[1].item() for x in (-1.0, 1.0)]
    for rays, close_m in ((19, 0.05), (1000, 0.005)):
        for distance, angle in random_edges(15, 1):
            ranges, power, causes = returns_of(fire(behind_an_edge(0.4, distance, angle), rays))
            assert len(ranges) == 1
            assert causes[0] == sn.Cause.MIXED
            share = optics.share_beyond_edge(distance, radius_m=RADIUS_M)
            near, far = share * whole[0], (1.0 - share) * whole[1]
            assert ranges[0] == pytest.approx(NEAR_M + 0.4 * far / (near + far), abs=close_m)
            assert power[0] == pytest.approx(near + far, rel=0.005)


@pytest.mark.parametrize("separation_m", [0.3, 0.5])
def test_the_separation_decides_between_one_return_and_two(separation_m):
    scan = fire(behind_an_edge(0.4, 0.0), 19, beam={"separation_m": separation_m})
    ranges, _, causes = returns_of(scan)
    assert len(ranges) == (2 if separation_m < 0.4 else 1)
    assert (causes == (sn.Cause.SURFACE if separation_m < 0.4 else sn.Cause.MIXED)).all()


@pytest.mark.parametrize("rays", [3, 19, 61])
def test_the_kernel_agrees_with_the_same_sum_over_rays_in_float64(rays):
    """Random edges, orientations and steps; ranges and powers of every return."""
    layout, rng = optics.equal_power_rays(rays), np.random.default_rng(rays)
    beam = sn.Beam(**WIDE)
    slope, one, two = np.tan(3e-3), 0, 0
    along = 1.0 / np.sqrt(1.0 + slope**2 * (layout.u**2 + layout.v**2))
    for distance, angle in random_edges(30, 2):
        step_m = rng.choice([0.2, 0.5, 0.7, 0.9, 4.0])
        # The beam's axes are to the left, y, and up, z
        place = np.cos(angle) * layout.u + np.sin(angle) * layout.v
        on_plate = place * RADIUS_M > distance
        depth = np.where(on_plate, NEAR_M, NEAR_M + step_m)
        path = depth / along
        power = layout.weight * 0.5 / np.pi * along * beam.captured(path)
        expected = optics.merged_returns(path, power, separation_m=beam.least_separation_m)
        ranges, powers, _ = returns_of(fire(behind_an_edge(step_m, distance, angle), rays))
        np.testing.assert_allclose(ranges, expected[0], rtol=1e-6)
        np.testing.assert_allclose(powers, expected[1], rtol=1e-4)
        one, two = one + (len(ranges) == 1), two + (len(ranges) == 2)
    assert one > 5
    assert two > 3


@pytest.mark.parametrize("mode", ["relative", "radiometric"])
def test_waveform_mode_sees_the_same_edges(mode):
    """Another implementation: rays into a histogram, and a detector. Its rays leave out the Gaussian's tails."""
    receiver = sn.Receiver(length_m=0.1, width_m=0.1, half_field_rad=8e-3, noise_electrons=0.0)
    waveform = sn.waveform.Waveform(
        rays={"kind": "spiral", "count": 2000}, detector={"kind": "centroid"}, shot_noise=False, resolution_s=0.25e-9
    )
    watts = {"receiver": receiver, "max_range_m": 60.0}
    own = watts if mode == "radiometric" else {"max_range_m": 60.0}
    for step_m in (0.3, 3.0):
        for distance, angle in random_edges(6, 4):
            scene = behind_an_edge(step_m, distance, angle)
            found = returns_of(fire(scene, 500, mode=mode, **own))
            other = returns_of(fire(scene, 1, mode="waveform", waveform=waveform, **watts))
            assert len(found[0]) == len(other[0]) == (1 if step_m < 0.75 else 2)
            np.testing.assert_allclose(found[0], other[0], atol=0.02)
            np.testing.assert_allclose(found[1] / found[1].sum(), other[1] / other[1].sum(), atol=0.05)


def test_ground_at_a_flat_angle_is_one_return_of_a_surface():
    """Its light is drawn out over meters, more than is separated, without a gap; and the mean stays where it was."""
    scene = sn.Scene()
    scene.add(sn.shapes.plane(400.0, 400.0), pose=sn.Pose((0, 0, -1.8)), material=MATT)
    down = -np.rad2deg(np.arcsin(1.8 / np.array([5.0, 20.0, 50.0])))
    pattern = sn.patterns.Spinning(elevation_deg=tuple(down), columns=90, rate_hz=10)
    for rays in (3, 19, 200):
        scan = fire(scene, rays, pattern=pattern, beam={"half_divergence_rad": 1.5e-3})
        assert scan.valid[0].all()
        assert not scan.valid[1:].any()
        assert (scan.cause[0] == sn.Cause.SURFACE).all()
        np.testing.assert_allclose(scan.range_m[0].mean(axis=1), [5.0, 20.0, 50.0], rtol=4e-3)


FIELDS = ("range_m", "cause", "object_id", "label", "depth", "mirror_id")
NOISE = sn.RangeNoise(base_m=0.02, slope=1e-3, bias_m=0.1, angle_std_rad=2e-3, dropout=0.1)


def moving(rays, *, mode="relative", pattern=None, **fields):
    """A narrow beam in a room whose walls turn and shift while the lidar moves: no edge but at its corners."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(60, 60, 60), body="room", material=MATT, label="room")
    room = sn.paths.Circle(center=(0.0, 0.0, 0.0), radius=2.0, rate=2.0)
    drive = sn.paths.Line((1.0, 2.0, 0.5), (6.0, -3.0, 1.0))
    world = sn.worlds.Kinematic({"room": room, "car": drive}, step_s=0.02)
    pattern = pattern or sn.patterns.Spinning(elevation_deg=(-8.0, 0.0, 7.0), columns=120, rate_hz=10)
    env = sn.Environment(scene, world, worlds=2, seed=5, sun=sn.fields.Sun(elevation_deg=40.0))
    mounts = [sn.Pose((0.3, 0.0, 0.2)), sn.Pose.from_euler_deg((0.0, 1.0, 0.0), yaw=30.0, pitch=10.0)]
    narrow = {} if mode == "radiometric" and rays == 1 else {"exit_radius_m": 0.002}  # where it acts
    lidar = env.attach(
        sn.Lidar(
            pattern=pattern,
            mode=mode,
            noise=NOISE,
            beam=sn.Beam(half_divergence_rad=2e-4, rays=rays, **narrow),
            **fields,
        ),
        body="car",
        pose=mounts,
    )
    for _ in env.run(duration_s=0.21):
        pass
    return lidar.read(), lidar.truth()


@pytest.mark.parametrize("fields", [{}, {"mode": "radiometric", "frame": "world"}, {"returns": "dual", "max_depth": 2}])
def test_where_nothing_has_an_edge_a_beam_reads_what_its_ray_reads(fields):
    """Noise, jitter, dropout, motion, worlds, mounts and frames are of the beam, drawn as for a single ray."""
    (one, truth), (many, same) = moving(1, **fields), moving(19, **fields)
    assert same.range_m.tobytes() == truth.range_m.tobytes()
    pure = many.cause != sn.Cause.MIXED  # of a corner of the room
    assert pure.mean() > 0.95
    assert (one.valid == many.valid).mean() > 0.999
    assert 0.02 < 1.0 - one.valid.mean() < 0.6
    both = one.valid & many.valid & pure
    np.testing.assert_allclose(many.range_m[both], one.range_m[both], atol=2e-3)
    np.testing.assert_allclose(many.points[both], one.points[both], atol=2e-3)
    np.testing.assert_allclose(many.intensity[both], one.intensity[both], rtol=2e-3)
    assert (many.object_id[both] == one.object_id[both]).all()
    if one.ambient is not None:
        np.testing.assert_allclose(many.ambient[both], one.ambient[both], rtol=1e-2)


def test_rays_with_start_points_of_their_own():
    """A spinning head whose rays leave 0.2 m from its axis."""
    pattern = sn.patterns.Spinning(
        elevation_deg=(-8.0, 0.0, 7.0), columns=120, rate_hz=10, origin_offset_m=((0.2, 0.1, 0.0),)
    )
    one, many = moving(1, pattern=pattern)[0], moving(19, pattern=pattern)[0]
    both = one.valid & many.valid & (many.cause == sn.Cause.SURFACE)
    assert both.mean() > 0.8
    np.testing.assert_allclose(many.points[both], one.points[both], atol=2e-3)


ALARMS = sn.Receiver(false_alarm_probability=0.2)


@pytest.mark.parametrize("options", [{"publish": "slices"}, {"mode": "radiometric", "receiver": ALARMS}])
def test_slices_and_beams_before_a_reset(options):
    """A world that restarts in the middle of a sweep loses the beams before, and gives no false alarms for them."""
    scans = []
    for rays in (1, 19):
        scene = sn.Scene()
        scene.add(sn.shapes.box(30, 30, 30), material=MATT)
        world = sn.worlds.Kinematic({"car": sn.paths.Line((0, 0, 0), (2, 0, 0))}, step_s=0.02)
        env = sn.Environment(scene, world, worlds=2, seed=1)
        pattern = sn.patterns.Spinning(elevation_deg=(-3.0, 4.0), columns=200, rate_hz=10)
        spec = {"mode": "relative", "beam": sn.Beam(half_divergence_rad=1e-4, rays=rays), "detection": None}
        lidar = env.attach(sn.Lidar(pattern=pattern, **spec | options), body="car")
        for number in range(5):
            env.step()
            if number == 2:
                env.reset(np.array([False, True]))
        scans.append(lidar.read())
    one, many = scans
    assert one.valid[1].any()
    np.testing.assert_array_equal(one.valid, many.valid)
    np.testing.assert_allclose(one.range_m, many.range_m, atol=5e-3)  # a beam on a corner of the room
    if "mode" in options:
        assert one.valid[1].mean() == pytest.approx(0.4, abs=0.05)


def test_bytes_are_the_same_on_any_number_of_threads():
    before, scans = get_threads(), []
    try:
        for threads in (1, 2, 3):
            sn.set_threads(threads)
            scans.append(moving(19, returns="dual", max_depth=1)[0])
    finally:
        sn.set_threads(before)
    for scan in scans[1:]:
        for field in (*FIELDS, "intensity", "points"):
            assert getattr(scan, field).tobytes() == getattr(scans[0], field).tobytes(), field


def test_a_beam_in_fog_has_one_return_of_the_air_drawn_as_for_a_ray():
    fog = {"atmosphere": sn.media.fog(visibility_m=40.0)}
    pattern = sn.patterns.Spinning(elevation_deg=(0.0, 5.0), columns=1000, rate_hz=10)
    scans = [fire(sn.Scene(), rays, pattern=pattern, environment=fog) for rays in (1, 19)]
    assert scans[0].valid[0].mean() > 0.1
    assert not scans[1].valid[1:].any()
    np.testing.assert_array_equal(scans[0].valid, scans[1].valid)
    np.testing.assert_allclose(scans[1].range_m, scans[0].range_m, rtol=1e-6)
    np.testing.assert_allclose(scans[1].intensity, scans[0].intensity, rtol=1e-5)
    assert (scans[1].cause[0][scans[1].valid[0]] == sn.Cause.ATMOSPHERE).all()


def test_a_plate_before_half_of_a_beam_takes_half_of_the_air_behind_it():
    fog = {"atmosphere": sn.media.fog(visibility_m=40.0)}
    pattern = sn.patterns.Table(
        azimuth_deg=(0.0,) * 400, elevation_deg=(0.0,) * 400, time_s=tuple(np.arange(400) * 2e-4), rate_hz=10
    )
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.01, 4.0, 4.0), pose=sn.Pose((3.0, 2.0, 0.0)), material=MATT)
    free = fire(sn.Scene(), 200, pattern=pattern, environment=fog)
    half = fire(scene, 200, pattern=pattern, environment=fog)
    behind = free.valid[0] & (free.range_m[0] > 3.0 + 0.75)
    assert behind.sum() > 20
    np.testing.assert_allclose(half.intensity[1][behind], 0.5 * free.intensity[0][behind], rtol=0.02)
    np.testing.assert_allclose(half.range_m[1][behind], free.range_m[0][behind], rtol=1e-6)
    before = free.valid[0] & (free.range_m[0] < 3.0 - 0.75)
    np.testing.assert_allclose(half.intensity[0][before], free.intensity[0][before], rtol=1e-5)


def test_ghosts_of_an_edge_are_mixed_too():
    """A mirror turns the beam to an edge: the path's length decides, and the ghost says its mirror."""
    scene = sn.Scene()
    glass = sn.Pose.from_euler_deg((10.0, 0.0, 0.0), yaw=45.0)
    scene.add(sn.shapes.box(0.001, 4.0, 4.0), pose=glass, material=sn.Mirror(reflectance=0.9))
    scene.add(sn.shapes.box(4.0, 0.01, 4.0), pose=sn.Pose((12.0, -10.0, 0.0)), material=MATT)
    wall = sn.Pose((10.0, -10.55, 0.0))
    scene.add(sn.shapes.box(20.0, 0.01, 20.0), pose=wall, material=MATT)
    scan = fire(scene, 61, max_depth=1, returns="strongest")
    assert scan.cause[0, 0] == sn.Cause.MIXED
    assert scan.mirror_id[0, 0] == 0
    assert 20.1 < scan.range_m[0, 0] < 20.4
    scan = fire(scene, 61, max_depth=1, returns="all", beam={"separation_m": 0.2})
    assert (scan.cause[1:, 0, 0] == sn.Cause.REFLECTION).all()  # after the mirror's own face
    np.testing.assert_allclose(scan.range_m[1:, 0, 0], [19.995, 20.545], atol=2e-3)
