"""A small run to look at: a van drives past a wall with a lidar, an IMU with a fault, and a receiver."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.corruption import Fault, FaultSchedule, Stuck


def _yard(*, worlds=None, poses=None, label="wall", rate_hz=200.0, noise=0.05, publish="sweeps", frame="sensor"):
    """An environment that is stepped every 10 ms; the van drives along x at 2 m/s."""
    scene = sn.Scene()
    scene.add(sn.shapes.plane(60.0, 60.0), label="ground")
    scene.add(sn.shapes.box(0.2, 8.0, 3.0), pose=sn.Pose(position=(9.0, 0.0, 1.5)), label=label)
    scene.add(sn.shapes.box(2.0, 1.0, 1.0), body="van", label="car")
    world = sn.worlds.Kinematic({"van": sn.paths.Line(start=(0, 0, 0.5), velocity=(2.0, 0.0, 0.0))}, step_s=0.01)
    env = sn.Environment(scene, world, worlds=worlds, seed=5)
    pattern = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(5, -20, 8)), columns=90, rate_hz=10.0)
    lidar = sn.Lidar(pattern=pattern, max_range_m=40.0, publish=publish, frame=frame)
    mount = sn.Pose(position=(0, 0, 1.0)) if poses is None else poses
    env.attach(lidar, body="van", pose=mount, name="top", hide=("van",))
    imu = sn.Imu(timing=sn.Timing(rate_hz=rate_hz))
    imu.linear.noise.std = noise
    stuck = Fault(Stuck(mode="value", value=7.0), name="stuck", target="linear", channels=(0,), start_s=0.1, end_s=0.15)
    imu.faults = FaultSchedule(faults=(stuck,))
    env.attach(imu, body="van", name="imu")
    env.attach(sn.Gnss(timing=sn.Timing(rate_hz=10.0)), body="van", name="gnss")
    return env


@pytest.fixture
def yard():
    """Makes such environments."""
    return _yard
