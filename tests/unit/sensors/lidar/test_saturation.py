"""Receivers that saturate, as users meet them."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError

RANGES_M = (4.0, 9.0, 20.0, 35.0)


def targets():
    """Four retroreflecting sheets straight ahead of four rays, and what each ray meets last is a wall."""
    scene = sn.Scene()
    for i, range_m in enumerate(RANGES_M):
        pose = sn.Pose.from_euler_deg((0, 0, 0), yaw=40.0 * i) @ sn.Pose((range_m + 0.5, 0, 0))
        scene.add(sn.shapes.box(1, 2, 2), pose=pose, material=sn.Retroreflector(coefficient=50.0), label=f"sheet {i}")
    return scene


PATTERN = sn.patterns.Table(
    azimuth_deg=(0, 40, 80, 120), elevation_deg=(0,) * 4, time_s=(0.0, 0.01, 0.02, 0.03), rate_hz=10
)


def scan_of(scene, **fields):
    env = sn.Environment(scene, seed=7)
    lidar = env.attach(sn.Lidar(**({"pattern": PATTERN, "mode": "relative", "max_range_m": 100.0} | fields)))
    for _ in env.run(0.1):
        pass
    return lidar.read()


@pytest.mark.parametrize("mode", ["relative", "radiometric"])
@pytest.mark.parametrize("frame", ["sensor", "world"])
def test_strong_returns_are_clipped_and_walk_by_the_law(mode, frame):
    rng, whole = np.random.default_rng(8), scan_of(targets(), mode=mode, frame=frame)
    for _ in range(3):
        order = np.sort(whole.intensity[0])
        level = float(np.sqrt(order[1] * order[2]))  # two of the four are stronger
        trigger, pulse_s = level * rng.uniform(0.01, 0.5), rng.uniform(2e-9, 1e-8)
        saturation = sn.Saturation(level=level, trigger=trigger)
        scan = scan_of(targets(), mode=mode, frame=frame, saturation=saturation, beam=sn.Beam(pulse_s=pulse_s))
        reference = scan_of(targets(), mode=mode, frame=frame, beam=sn.Beam(pulse_s=pulse_s))
        power = reference.intensity.astype(np.float64)
        early = np.sqrt(2 * np.log(np.maximum(power, level) / trigger)) - np.sqrt(2 * np.log(level / trigger))
        walk_m = -299_792_458.0 / 2.0 * pulse_s / 2.3548200450309493 * early
        np.testing.assert_allclose(scan.range_m - reference.range_m, walk_m, atol=5e-6)
        np.testing.assert_allclose(scan.intensity, np.minimum(reference.intensity, level), rtol=1e-6)
        np.testing.assert_array_equal(scan.cause == sn.Cause.SATURATED, power > level)
        np.testing.assert_array_equal(scan.object_id, reference.object_id)
        along = PATTERN.rays().direction_S.astype(np.float64)
        np.testing.assert_allclose(scan.points, scan.range_m[..., None] * along, atol=1e-5)


def test_a_level_that_nothing_reaches_changes_nothing():
    # Two returns of a ray are the strongest and the air, as without
    fields = {"returns": "dual", "max_depth": 2, "noise": sn.RangeNoise(base_m=0.02, dropout=0.2)}
    plain = scan_of(targets(), **fields)
    scan = scan_of(targets(), saturation=sn.Saturation(level=1e9, trigger=1.0), **fields)
    for name in ("range_m", "points", "intensity", "cause", "object_id", "face_id", "label", "depth", "mirror_id"):
        np.testing.assert_array_equal(getattr(scan, name), getattr(plain, name))


def test_what_walks_out_of_the_limits_is_lost():
    whole = scan_of(targets())
    level = float(whole.intensity[0, 0]) / 100.0
    scan = scan_of(targets(), min_range_m=4.0 - 1e-3, saturation=sn.Saturation(level=level, trigger=level / 10.0))
    assert whole.valid[0, 0]
    assert not scan.valid[0, 0]
    assert scan.range_m[0, 0] == 0.0


def test_bad_numbers():
    with pytest.raises(SpecError, match=r"trigger is 2\.0 and level 1\.0; the trigger must be below the level"):
        sn.Saturation(level=1.0, trigger=2.0)
