"""Pulses of one lidar in the receiver of another, as users meet them."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.runtime import worker_pool

C = 299_792_458.0
WALL_M = 20.0
LOCKED = sn.Crosstalk(clock_spread_s=0.0)


def stare(*time_s, azimuth_deg=0.0):
    """Rays straight ahead, fired at these times."""
    return sn.patterns.Table(
        azimuth_deg=(azimuth_deg,) * len(time_s), elevation_deg=(0.0,) * len(time_s), time_s=time_s, rate_hz=10
    )


def before_a_wall():
    scene = sn.Scene()
    wall = sn.shapes.box(1, 60, 60)
    scene.add(wall, pose=sn.Pose((WALL_M + 0.5, 0, 0)), material=sn.Lambertian(reflectance=0.5), label="wall")
    return scene


def pair(own, other, pose=None, scene=None, sweeps=1, **env):
    """Readings of a lidar beside another."""
    env = sn.Environment(before_a_wall() if scene is None else scene, seed=11, **env)
    first = env.attach(own, name="own")
    env.attach(other, name="other", pose=sn.Pose((0.0, 0.3, 0.0)) if pose is None else pose)
    read = []
    for _ in env.run(0.1 * sweeps):
        read += first.readings()
    return read if sweeps > 1 else read[0]


def lidar(pattern, **fields):
    fields = {"pattern": pattern, "mode": "relative", "max_range_m": 120.0} | fields
    if fields["mode"] == "radiometric" or "crosstalk" in fields:  # else no receiver is asked
        fields = {"receiver": sn.Receiver(half_field_rad=0.05)} | fields
    return sn.Lidar(**fields)


@pytest.mark.parametrize("mode", ["relative", "radiometric"])
@pytest.mark.parametrize("frame", ["sensor", "world"])
def test_a_spot_that_another_lights_up_is_told_by_when_it_arrives(mode, frame):
    rng = np.random.default_rng(6)
    for _ in range(4):
        late_s, along_m, beside_m = round(rng.uniform(-1e-8, 4e-7) + 1e-8, 9), rng.uniform(-3, 3), rng.uniform(0.1, 0.6)
        own = lidar(stare(1e-8), mode=mode, frame=frame, crosstalk=LOCKED, returns="all")
        scan = pair(own, lidar(stare(late_s)), pose=sn.Pose((along_m, beside_m, 0.0)))
        path_m = WALL_M - along_m + np.hypot(WALL_M, beside_m)
        told_m = C * (late_s - 1e-8 + path_m / C) / 2.0
        if told_m - WALL_M < 0.75:
            continue  # one return with the lidar's own
        crossed = scan.cause[:, 0, 0] == sn.Cause.CROSSTALK
        assert crossed.tolist() == [False, True, False]
        tolerance = 1e-3 if mode == "relative" else 0.05
        assert scan.range_m[1, 0, 0] == pytest.approx(told_m, abs=tolerance)
        assert scan.intensity[1, 0, 0] == pytest.approx(scan.intensity[0, 0, 0], rel=1e-5)
        assert scan.label[1, 0, 0] == scan.label[0, 0, 0] == 1
        np.testing.assert_allclose(scan.points[1, 0, 0], [scan.range_m[1, 0, 0], 0, 0], atol=1e-5)


def test_a_stronger_lidar_is_heard_louder_and_wins():
    loud = sn.Receiver(peak_power_W=300.0, efficiency=0.5)
    own = lidar(stare(0.0), mode="radiometric", crosstalk=LOCKED, noise=sn.RangeNoise())
    alone, scan = pair(own, lidar(stare(0.05))), pair(own, lidar(stare(2e-7), mode="radiometric", receiver=loud))
    assert alone.cause.item() == sn.Cause.SURFACE
    assert scan.cause.item() == sn.Cause.CROSSTALK
    assert scan.intensity.item() / alone.intensity.item() == pytest.approx(4.0 * np.sqrt(0.5 / 0.7), rel=1e-5)


def test_air_takes_its_share_of_the_others_way():
    fog = sn.media.uniform(extinction_per_m=0.02)
    own = lidar(stare(0.0), crosstalk=LOCKED, returns="all")
    scan = pair(own, lidar(stare(2e-7)), pose=sn.Pose((8.0, 0.2, 0.0)), atmosphere=fog)
    ratio = scan.intensity[1, 0, 0] / scan.intensity[0, 0, 0]
    assert ratio == pytest.approx(np.exp(0.02 * 8.0), rel=1e-4)


def test_a_window_that_is_looked_into_blinds():
    offset_m, away_m = 0.007, 9.0
    facing = sn.Pose.from_euler_deg((away_m, offset_m, 0.0), yaw=180.0)
    own = lidar(stare(0.0), crosstalk=LOCKED)
    scan = pair(own, lidar(stare(1e-7)), pose=facing)
    assert scan.cause.item() == sn.Cause.CROSSTALK
    assert scan.object_id.item() == -1
    assert scan.range_m.item() == pytest.approx(C * 1e-7 / 2.0 + away_m / 2.0, abs=1e-3)
    beam = own.beam
    w = beam.exit_radius_m + away_m * np.tan(beam.half_divergence_rad)
    share = 2.0 * beam.detector_radius_m**2 / w**2 * np.exp(-2.0 * offset_m**2 / w**2)
    assert scan.intensity.item() == pytest.approx(share * 2.0 / np.pi / np.tan(beam.half_divergence_rad) ** 2, rel=1e-5)

    # In watts, of the other's power
    watts = pair(own.model_copy(update={"mode": "radiometric"}), lidar(stare(1e-7)), pose=facing)
    assert watts.intensity.item() == pytest.approx(75.0 * 0.7 * share, rel=1e-5)

    # Not through a screen, nor past the beam
    screened = before_a_wall()
    screened.add(sn.shapes.box(0.1, 1, 1), pose=sn.Pose((5, 0, 0)), material=sn.Lambertian(reflectance=0.5))
    assert pair(own, lidar(stare(1e-7)), pose=facing, scene=screened).cause.item() == sn.Cause.SURFACE
    aside = sn.Pose.from_euler_deg((away_m, 0.2, 0.0), yaw=180.0)
    assert pair(own, lidar(stare(1e-7)), pose=aside).cause.item() == sn.Cause.SURFACE


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (lidar(stare(2e-7), beam=sn.Beam(wavelength_m=1550e-9)), "another wavelength"),
        (lidar(stare(2e-7), mode="geometric"), "no light"),
        (lidar(stare(2e-7), motion="snapshot"), "no firing times"),
        (lidar(stare(2e-7, azimuth_deg=30.0)), "another spot"),
        (lidar(stare(2e-6)), "too late"),
    ],
)
def test_who_is_not_heard(other, why):
    assert pair(lidar(stare(0.0), crosstalk=LOCKED, returns="all"), other).valid.sum() == 1, why


def test_a_filter_lets_neighboring_wavelengths_through():
    for apart_m, heard in ((4.9e-9, 2), (5.1e-9, 1)):
        other = lidar(stare(2e-7), beam=sn.Beam(wavelength_m=905e-9 + apart_m))
        assert pair(lidar(stare(0.0), crosstalk=LOCKED, returns="all"), other).valid.sum() == heard


def test_who_is_switched_off_is_not_heard_and_lidars_of_one_rig_hear_each_other():
    env = sn.Environment(before_a_wall())
    own = env.attach(lidar(stare(0.0), crosstalk=LOCKED, returns="all"), name="own")
    other = env.attach(lidar(stare(2e-7)), name="other", pose=sn.Pose((0.0, 0.3, 0.0)))
    counts = []
    for number, _ in enumerate(env.run(0.4)):
        other.enabled = number % 20 < 10
        counts += [int(scan.valid.sum()) for scan in own.readings()]
    assert counts == [2, 1, 2, 1]

    env = sn.Environment(before_a_wall(), worlds=2)
    poses = [sn.Pose(), sn.Pose((-30.0, 0.3, 0.0))]
    both = env.attach(lidar(stare(0.0), crosstalk=LOCKED, returns="all"), pose=poses)
    for _ in env.run(0.1):
        pass
    scan = both.read()
    crossed = scan.cause == sn.Cause.CROSSTALK
    assert crossed.sum(axis=(2, 3, 4)).tolist() == [[1, 1], [1, 1]]
    half_m = (WALL_M + 30.0 + np.hypot(WALL_M, 0.3)) / 2.0, (WALL_M + np.hypot(WALL_M + 30.0, 0.3)) / 2.0
    np.testing.assert_allclose(scan.range_m[crossed].reshape(2, 2), [half_m, half_m], atol=1e-3)


def test_free_clocks_spread_it_evenly_over_the_ranges_that_a_receiver_listens_to():
    # The other is late by up to 2 us either way, and 240 m take 1.6 us: so often, and at any range alike
    rays = stare(*(i * 1e-4 for i in range(400)))
    own = lidar(rays, returns="all", max_range_m=240.0, crosstalk={"clock_spread_s": 4e-6})
    other = lidar(rays)
    scans = pair(own, other, sweeps=60)
    told = np.array([scan.range_m[1, 0, 0] for scan in scans if scan.cause[1, 0, 0] == sn.Cause.CROSSTALK])
    told = np.append(told, [scan.range_m[0, 0, 0] for scan in scans if scan.cause[0, 0, 0] == sn.Cause.CROSSTALK])
    share = 2.0 * 240.0 / C / 4e-6
    assert len(scans) == 60
    assert len(told) / 60 == pytest.approx(share, abs=4.0 * np.sqrt(share * (1 - share) / 60))
    uniform = 240.0 * (np.arange(len(told)) + 0.5) / len(told)
    assert abs(np.sort(told) - uniform).max() < 240.0 * 1.63 / np.sqrt(len(told))

    # One draw a sweep: all rays of it are late alike
    one = next(scan for scan in scans if (scan.cause == sn.Cause.CROSSTALK).any())
    assert np.ptp(one.range_m[one.cause == sn.Cause.CROSSTALK]) < 1e-3


def test_readings_repeat_on_any_number_of_threads_and_in_any_batch():
    pattern = sn.patterns.Spinning(elevation_deg=(0.0, 3.0), columns=360, rate_hz=10)
    spec = lidar(pattern, crosstalk={"clock_spread_s": 1e-4}, receiver=sn.Receiver(half_field_rad=0.3))

    def sweeps(**options):
        return [scan.range_m for scan in pair(spec, lidar(pattern), sweeps=3, **options)]

    before = worker_pool.get_threads()
    try:
        worker_pool.set_threads(1)
        one = sweeps(worlds=3)
        worker_pool.set_threads(2)
        two = sweeps(worlds=3)
    finally:
        worker_pool.set_threads(before)
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(np.array(one)[:, 2], sweeps(first_world=2))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"publish": "slices"}, "crosstalk is given with publish 'slices'; it acts on whole sweeps"),
        ({"motion": "snapshot"}, "crosstalk is given with motion 'snapshot'; a snapshot has no firing times"),
    ],
)
def test_refusals(fields, message):
    with pytest.raises(SpecError, match=message):
        lidar(stare(0.0), crosstalk=LOCKED, **fields)
