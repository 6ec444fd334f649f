"""Returns from beyond the unambiguous range, as users meet them."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError

PATTERN = sn.patterns.Spinning(elevation_deg=(4.0, 0.0, -4.0), columns=60, rate_hz=10)


def rooms():
    """A low screen nearby in front, and a big room all around."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(300, 200, 400), label="room", material=sn.Lambertian(reflectance=0.8))
    matt = sn.Lambertian(reflectance=0.3)
    scene.add(sn.shapes.box(0.2, 8, 8), pose=sn.Pose((10, 0, 0)), label="screen", material=matt)
    return scene


def scan_of(scene, env_options=None, **fields):
    path = sn.paths.Function(lambda t: sn.Pose.from_euler_deg(np.multiply.outer(t, (20.0, 5.0, 0.0)), yaw=30 * t))
    env = sn.Environment(scene, sn.worlds.Kinematic({"car": path}, step_s=0.05), seed=2, **(env_options or {}))
    spec = sn.Lidar(**({"pattern": PATTERN, "mode": "relative", "max_range_m": 400.0} | fields))
    lidar = env.attach(spec, body="car")
    for _ in env.run(0.2):
        pass
    return lidar.read()


@pytest.mark.parametrize("frame", ["sensor", "world"])
@pytest.mark.parametrize("rate_hz", [3.1e6, 2.2e6, 9.7e5])
def test_ranges_fold_and_points_follow(frame, rate_hz):
    plain = scan_of(rooms(), frame=frame)
    unambiguous_m = 299_792_458.0 / 2.0 / rate_hz
    limits = {"min_range_m": 1.0, "max_range_m": 0.95 * unambiguous_m}
    scan = scan_of(rooms(), frame=frame, repetition=sn.PulseRepetition(rate_hz=rate_hz, reach_m=400.0), **limits)
    told_m = np.mod(plain.range_m.astype(np.float64), unambiguous_m)
    seen = (told_m >= 1.0) & (told_m <= 0.95 * unambiguous_m)
    np.testing.assert_array_equal(scan.valid, seen)
    np.testing.assert_allclose(scan.range_m[seen], told_m[seen], atol=1e-4)
    far = seen & (plain.range_m > unambiguous_m)
    assert far.any()
    np.testing.assert_array_equal(scan.cause == sn.Cause.FOLDED, far)
    np.testing.assert_array_equal(scan.cause == sn.Cause.SURFACE, seen & ~far)
    np.testing.assert_array_equal(scan.object_id[seen], plain.object_id[seen])
    np.testing.assert_array_equal(scan.intensity[seen], plain.intensity[seen])
    origin = scan.pose(scan.start_ns + scan.offset_ns).position if frame == "world" else 0.0
    along = (plain.points - origin) / plain.range_m[..., None]
    np.testing.assert_allclose(scan.points[seen], (origin + scan.range_m[..., None] * along)[seen], atol=2e-4)


def test_truth_stays_where_it_is():
    env = sn.Environment(rooms())
    repetition = sn.PulseRepetition(rate_hz=3e6, reach_m=400.0)
    lidar = env.attach(sn.Lidar(pattern=PATTERN, mode="relative", max_range_m=40.0, repetition=repetition))
    for _ in env.run(0.1):
        pass
    truth = lidar.truth()
    assert (lidar.read().cause == sn.Cause.FOLDED).any()
    assert truth.range_m.max() < 40.0


def test_the_calibrated_index_counts():
    # Ranges are times over the index that the lidar assumes, and so is the unambiguous one
    fields = {"calibrated_index": 1.2, "max_range_m": 40.0}
    plain = scan_of(rooms(), **(fields | {"max_range_m": 400.0}))
    scan = scan_of(rooms(), repetition=sn.PulseRepetition(rate_hz=3e6, reach_m=400.0), **fields)
    told_m = np.mod(plain.range_m.astype(np.float64), 299_792_458.0 / 6e6 / 1.2)
    np.testing.assert_allclose(scan.range_m[scan.valid], told_m[scan.valid], atol=1e-4)


def test_rules_act_on_ranges_as_they_are_told():
    # A pane is seen at 10 m, and through it a wall that folds to nearer than that
    ahead = sn.patterns.Table(azimuth_deg=(0,), elevation_deg=(0,), time_s=(0,), rate_hz=10)
    scene = sn.Scene()
    scene.add(sn.shapes.plane(6, 6), pose=sn.Pose.from_euler_deg((10, 0, 0), pitch=75), material=sn.ThinGlass())
    scene.add(sn.shapes.box(1, 40, 40), pose=sn.Pose((55.5, 0, 0)), material=sn.Lambertian(reflectance=0.9))
    near = {}
    for returns in ("first", "last"):
        env = sn.Environment(scene)
        spec = sn.Lidar(
            pattern=ahead,
            mode="relative",
            max_depth=2,
            returns=returns,
            max_range_m=49.0,
            detection=None,
            repetition=sn.PulseRepetition(rate_hz=3e6, reach_m=200.0),
        )
        lidar = env.attach(spec)
        for _ in env.run(0.1):
            pass
        scan = lidar.read()
        near[returns] = float(scan.range_m[0, 0]), int(scan.cause[0, 0])
    # The wall's path is 55 m and that in the pane; the pane itself sends back its glint
    assert near["first"][1] == sn.Cause.FOLDED
    assert near["first"][0] == pytest.approx(55.0 - 299_792_458.0 / 6e6, abs=0.05)
    assert near["last"][0] == pytest.approx(10.0, abs=0.01)


def test_false_alarms_lie_within_the_window():
    receiver = sn.Receiver(peak_power_W=1e-6, false_alarm_probability=0.4)
    pattern = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(-10, 10, 16)), columns=200, rate_hz=10)
    repetition = sn.PulseRepetition(rate_hz=3e6, reach_m=400.0)
    fields = {"pattern": pattern, "mode": "radiometric", "receiver": receiver, "min_range_m": 5.0, "max_range_m": 45.0}
    scan = scan_of(rooms(), repetition=repetition, **fields)
    false = scan.cause == sn.Cause.FALSE_ALARM
    assert false.mean() == pytest.approx(0.4, abs=0.04)
    told = np.sort(scan.range_m[false])
    uniform = 5.0 + 40.0 * (np.arange(len(told)) + 0.5) / len(told)
    assert abs(told - uniform).max() < 40.0 * 1.63 / np.sqrt(len(told))  # Kolmogorov-Smirnov, 1 %


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: sn.PulseRepetition(rate_hz=1e6, reach_m=100.0),
            r"reach_m is 100\.0 and rate_hz 1000000\.0; the reach must be beyond the unambiguous range, 149\.896 m",
        ),
        (
            lambda: sn.Lidar(
                pattern=PATTERN, mode="relative", repetition=sn.PulseRepetition(rate_hz=1e6, reach_m=500.0)
            ),
            r"max_range_m is 1000\.0 and repetition\.rate_hz 1000000\.0; the range must not exceed the unambiguous",
        ),
    ],
)
def test_refusals(make, message):
    with pytest.raises(SpecError, match=message):
        make()
