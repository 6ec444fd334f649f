"""Range images of lidars: limits, values, shares, and what noise, errors and resets make of them, in every mode."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.corruption import Bias, DeadChannels, Dropout, Fault, FaultSchedule
from sensorium.record import load_npz, save_npz
from sensorium.record.ros2.message import range_image

MODES = ["geometric", "relative", "radiometric", "waveform"]
LEAST_M, MOST_M = 1.0, 10.0

# Boxes in a row of directions, too near, within the limits, and beyond; the last direction meets nothing
DISTANCES_M = (0.4, 0.9, 1.1, 4.0, 9.5, 12.0, None)
AZIMUTH_DEG = tuple(np.linspace(-60.0, 60.0, len(DISTANCES_M)))


def scene():
    made = sn.Scene()
    for azimuth_deg, distance_m in zip(AZIMUTH_DEG, DISTANCES_M, strict=True):
        if distance_m is not None:
            turn = sn.Pose.from_euler_deg(yaw=azimuth_deg)
            made.add(sn.shapes.box(0.02, 0.1, 0.4), pose=turn @ sn.Pose((distance_m + 0.01, 0.0, 0.0)))
    return made


def spec(mode="geometric", **options):
    pattern = sn.patterns.Table(
        azimuth_deg=AZIMUTH_DEG, elevation_deg=(0.0,) * len(AZIMUTH_DEG), time_s=(0.0,) * len(AZIMUTH_DEG), rate_hz=10.0
    )
    light = {} if mode == "geometric" else {"detection": None}
    if mode == "waveform":
        light["receiver"] = sn.Receiver(noise_electrons=0.0)
    return sn.Lidar(pattern=pattern, mode=mode, min_range_m=LEAST_M, max_range_m=MOST_M, **(light | options))


def swept(lidar, duration_s=0.1, worlds=None, **attach):
    env = sn.Environment(scene(), sn.worlds.Static(step_s=0.1), worlds=worlds)
    sensor = env.attach(lidar, **attach)
    env.run(duration_s).finish()
    return sensor


def by_hand(range_m, near, far):
    """What an image of true distances shows."""
    distance = np.array([np.inf if d is None else d for d in DISTANCES_M])
    return np.where(distance < LEAST_M, near, np.where(distance > MOST_M, far, range_m))


@pytest.mark.parametrize("motion", ["rolling", "snapshot"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("options", "near", "far", "scale_m"),
    [
        ({"normalize": False}, -10.0, 10.0, 1.0),
        ({"normalize": True}, -1.0, 1.0, 10.0),
        ({"near_value_m": 0.0}, 0.0, 10.0, 1.0),
        ({"far_value_m": 25.0, "normalize": True}, -1.0, 2.5, 10.0),
        ({"near_value_m": 0.5, "far_value_m": -3.0, "normalize": True}, 0.05, -0.3, 10.0),
    ],
)
def test_values_and_shares_in_every_mode(mode, motion, options, near, far, scale_m):
    sensor = swept(spec(mode, motion=motion, **options))
    for scan in (sensor.read(), sensor.truth()):
        image = scan.range_image
        assert (image.near, image.far, image.scale_m) == pytest.approx((near, far, scale_m))
        assert image.values.dtype == np.float32
        assert image.values.shape == scan.range_m.shape
        wanted = by_hand(scan.range_m.reshape(-1) / scale_m, near, far)
        np.testing.assert_allclose(image.values.reshape(-1), wanted, rtol=1e-6)
        np.testing.assert_array_equal(image.valid, scan.valid)
        np.testing.assert_array_equal(scan.valid.reshape(-1), [False, False, True, True, True, False, False])
        meters = np.where(scan.valid, scan.range_m, by_hand(0.0, -np.inf, np.inf).reshape(scan.range_m.shape))
        np.testing.assert_allclose(image.in_meters(), meters, rtol=1e-6)


@pytest.mark.parametrize("noise", [sn.RangeNoise(), sn.RangeNoise(base_m=0.3, dropout=0.2, angle_std_rad=0.01)])
@pytest.mark.parametrize("mode", MODES)
def test_scans_are_otherwise_what_they_are_without_images(mode, noise):
    plain, imaged = swept(spec(mode, noise=noise), 0.5), swept(spec(mode, noise=noise, normalize=True), 0.5)
    for a, b in ((plain.read(), imaged.read()), (plain.truth(), imaged.truth())):
        assert a.range_image is None
        for field in a.FIELDS:
            ours, theirs = getattr(a, field.name), getattr(b, field.name)
            if ours is not None:
                np.testing.assert_array_equal(ours, theirs, err_msg=field.name)


@pytest.mark.parametrize("mode", ["geometric", "relative"])
def test_limits_act_on_ranges_with_noise(mode):
    """Surfaces at 0.9 m and 1.1 m with noise of 0.3 m: either side of the limit, by the noise of the lidar itself."""
    noise = sn.RangeNoise(base_m=0.3)
    wide = sn.Lidar(**(spec(mode, noise=noise).model_dump() | {"min_range_m": 0.0}))
    images, unlimited = [], []
    env = sn.Environment(scene(), sn.worlds.Static(step_s=0.1), worlds=200, seed=4)
    limited = env.attach(spec(mode, noise=noise, normalize=False), name="a")
    env.step()
    images = limited.read().range_image.values.reshape(200, -1)
    env = sn.Environment(scene(), sn.worlds.Static(step_s=0.1), worlds=200, seed=4)
    free = env.attach(wide, name="a")
    env.step()
    unlimited = free.read().range_m.reshape(200, -1)  # 0 where noise takes a range below 0
    for ray in (1, 2):
        near = unlimited[:, ray] < LEAST_M
        assert 0.2 < near.mean() < 0.8
        np.testing.assert_array_equal(images[:, ray] == -MOST_M, near)
        np.testing.assert_array_equal(images[~near, ray], unlimited[~near, ray])


def test_what_drops_out_is_nothing():
    sensor = swept(spec(noise=sn.RangeNoise(dropout=0.5), normalize=True), worlds=400)
    scan = sensor.read()
    image = scan.range_image.values.reshape(400, -1)
    assert 0.4 < (image[:, 3] == 1.0).mean() < 0.6
    assert 0.4 < (image[:, 0] == -1.0).mean() < 0.6  # too near, unless dropped
    assert set(np.unique(image[:, 0])) == {-1.0, 1.0}
    assert (sensor.truth().range_image.values.reshape(400, -1)[:, 3] == np.float32(0.4)).all()


@pytest.mark.parametrize("mode", MODES)
def test_errors_and_faults_take_ranges_out_of_the_limits(mode):
    """A bias of -3.5 m: 4 m becomes 0.5 m, too near; 1.1 m goes below 0; 9.5 m becomes 6 m; +2 m takes 9.5 m beyond."""
    image = swept(spec(mode, errors=(Bias(value=-3.5),), normalize=False)).read().range_image.values.reshape(-1)
    np.testing.assert_array_equal(image[[0, 1, 2, 3, 5, 6]], [-10.0, -10.0, -10.0, -10.0, 10.0, 10.0])
    assert image[4] == pytest.approx(6.0, abs=0.1)
    struck = FaultSchedule(faults=(Fault(Bias(value=2.0), start_s=0.0, end_s=9.0),))
    image = swept(spec(mode, faults=struck, normalize=False)).read().range_image.values.reshape(-1)
    assert image[4] == 10.0
    assert image[3] == pytest.approx(6.0, abs=0.1)
    gone = FaultSchedule(faults=(Fault(Dropout(probability=1.0, fill="nan"), start_s=0.0, end_s=9.0),))
    image = swept(spec(mode, faults=gone, normalize=False)).read().range_image.values.reshape(-1)
    np.testing.assert_array_equal(image, [-10.0, -10.0, 10.0, 10.0, 10.0, 10.0, 10.0])


@pytest.mark.parametrize("returns", ["dual", "all"])
def test_of_several_returns_each_has_its_image(returns):
    """Behind a pane at 0.5 m nothing is too near where something returns; the second return of a ray is nothing."""
    made = sn.Scene()
    glass = sn.ThinGlass()
    upright = sn.Pose.from_euler_deg((0.5, 0.0, 0.0), pitch=90.0)
    made.add(sn.shapes.plane(4.0), pose=upright, material=glass)
    made.add(sn.shapes.box(1.0, 4.0, 4.0), pose=sn.Pose((4.5, 2.0, 0.0)))
    pattern = sn.patterns.Table(azimuth_deg=(-10.0, 10.0), elevation_deg=(0.0, 0.0), time_s=(0.0, 0.0), rate_hz=10.0)
    lidar = sn.Lidar(
        pattern=pattern,
        mode="relative",
        detection=None,
        returns=returns,
        max_depth=2,
        min_range_m=1.0,
        max_range_m=10.0,
        normalize=False,
    )
    env = sn.Environment(made, sn.worlds.Static(step_s=0.1))
    sensor = env.attach(lidar)
    env.step()
    scan = sensor.read()
    image = scan.range_image.values.reshape(scan.range_m.shape[0], 2)
    assert (image[:, 0] == -10.0).all()  # a pane and nothing behind it
    assert image[0, 1] == pytest.approx(4.0 / np.cos(np.radians(10.0)), abs=0.01)
    assert (image[:, 1] != -10.0).all()


def test_slices_and_many_worlds_and_sensors():
    poses = [sn.Pose(), sn.Pose.from_euler_deg(yaw=180.0)]
    sensor = swept(spec(normalize=True), worlds=3, pose=poses)
    image = sensor.read().range_image.values
    assert image.shape == (3, 2, 1, 7)
    np.testing.assert_allclose(image[:, 0, 0], np.broadcast_to([-1, -1, 0.11, 0.4, 0.95, 1, 1], (3, 7)), rtol=1e-5)
    assert (image[:, 1] == 1.0).all()
    pieces = swept(spec(normalize=True, publish="slices"), 0.2).readings()
    np.testing.assert_allclose(pieces[0].range_image.values[0], [-1, -1, 0.11, 0.4, 0.95, 1, 1], rtol=1e-5)


def test_worlds_that_restart_see_nothing():
    env = sn.Environment(scene(), sn.worlds.Static(step_s=0.1), worlds=2)
    sensor = env.attach(spec(normalize=True, timing=sn.Timing(latency_s=0.05)))
    env.run(0.1).finish()
    env.reset(np.array([True, False]))
    env.run(0.1).finish()
    image = sensor.read().range_image.values
    assert (image[0] == 1.0).all()
    assert (image[1] == -1.0).sum() == 2


def test_one_flat_and_voided():
    scan = swept(spec(normalize=True), worlds=2).read()
    assert scan.flat().range_image is None
    np.testing.assert_array_equal(scan.one(1).range_image.values, scan.range_image.values[1])
    voided = scan.without(np.array([True, False])).range_image
    assert (voided.values[0] == 1.0).all()
    np.testing.assert_array_equal(voided.values[1], scan.range_image.values[1])


def test_npz_and_messages_keep_it(tmp_path):
    scan = swept(spec(normalize=True, near_value_m=0.0)).read()
    save_npz(tmp_path / "c.npz", scan)
    back = load_npz(tmp_path / "c.npz").range_image
    np.testing.assert_array_equal(back.values, scan.range_image.values)
    assert (back.near, back.far, back.scale_m) == (0.0, 1.0, 10.0)
    data = range_image(scan, frame_id="lidar").fields["data"].view("<f4")
    np.testing.assert_allclose(data, [-np.inf, -np.inf, 1.1, 4.0, 9.5, np.inf, np.inf], rtol=1e-5)


def test_dead_channels_are_nothing():
    lidar = spec(errors=(DeadChannels(channels=(3,)),), normalize=False)
    assert swept(lidar).read().range_image.values.reshape(-1)[3] == 10.0


def test_values_that_could_be_distances_are_refused():
    with pytest.raises(SpecError, match=r"near_value_m is 2.0 with ranges from 1.0 to 10.0; between these"):
        spec(near_value_m=2.0)
    with pytest.raises(SpecError, match=r"far_value_m is 9.0 with ranges from 1.0 to 10.0; between these"):
        spec(far_value_m=9.0)
