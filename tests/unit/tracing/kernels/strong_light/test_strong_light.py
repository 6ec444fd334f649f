"""Which of all returns a lidar reports: settled after the kernel it is what the kernel itself would have reported."""

import numpy as np
import pytest

import sensorium as sn

FIELDS = ("range_m", "points", "intensity", "cause", "depth", "mirror_id", "object_id", "face_id", "label")
PATTERN = sn.patterns.Spinning(
    elevation_deg=tuple(np.linspace(10, -20, 8)), columns=128, rate_hz=10, origin_offset_m=((0.1, 0.02, 0.03),)
)
UNREACHED = sn.Saturation(level=1e12, trigger=1.0)


def showroom():
    """A closed room with a mirror, a pane and a fog bank."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(20, 16, 6), label="room", material=sn.Lambertian(reflectance=0.6))
    mirror = sn.Pose.from_euler_deg((6, 3, 0), yaw=25)
    scene.add(sn.shapes.box(0.1, 4, 3), pose=mirror, material=sn.Mirror(reflectance=0.9), label="mirror")
    scene.add(sn.shapes.plane(4, 3), pose=sn.Pose.from_euler_deg((4, -3, 0), pitch=80), material=sn.ThinGlass())
    return scene


def scan_of(mode="relative", **fields):
    path = sn.paths.Function(lambda t: sn.Pose.from_euler_deg(np.multiply.outer(t, (3.0, 1.0, 0.0)), yaw=40 * t))
    world = sn.worlds.Kinematic({"robot": path}, step_s=0.05)
    env = sn.Environment(showroom(), world, atmosphere=sn.media.fog(visibility_m=30.0), seed=4)
    spec = sn.Lidar(**({"pattern": PATTERN, "mode": mode, "max_depth": 1, "max_range_m": 60.0} | fields))
    lidar = env.attach(spec, body="robot")
    for _ in env.run(0.1):
        pass
    return lidar.read()


@pytest.mark.parametrize("returns", ["strongest", "first", "last", "dual", "all"])
@pytest.mark.parametrize("atmospheric_returns", ["strongest", "priority"])
def test_the_rules_are_those_of_the_kernel(returns, atmospheric_returns):
    for frame in ("sensor", "world"):
        fields = {"returns": returns, "atmospheric_returns": atmospheric_returns, "frame": frame, "min_range_m": 0.5}
        kernel, settled = scan_of(**fields), scan_of(saturation=UNREACHED, **fields)
        assert len(np.unique(kernel.cause)) >= (2 if returns == "first" else 3)
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(settled, name), getattr(kernel, name), err_msg=name)


@pytest.mark.parametrize("mode", ["relative", "radiometric"])
def test_one_return_keeps_its_noise(mode):
    # Rays without ghosts have the draws of their first return in any case
    fields = {"max_depth": 0, "noise": sn.RangeNoise(base_m=0.02, slope=1e-3, angle_std_rad=1e-3, dropout=0.1)}
    fields |= {"atmospheric_returns": "off", "returns": "first"}
    kernel, settled = scan_of(mode, **fields), scan_of(mode, saturation=UNREACHED, **fields)
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(settled, name), getattr(kernel, name), err_msg=name)
    assert 0.05 < (~kernel.valid).mean() < 0.4
