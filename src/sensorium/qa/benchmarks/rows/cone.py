"""Cone sensors: the cost of a reading per step, over obstacles and lines, as in Table 5 of the thesis."""

from typing import Literal

import numpy as np

import sensorium as sn
from sensorium.qa.benchmarks.timing import Spread, seconds
from sensorium.sensors.common.attached import AttachedSensor

RATE_HZ = 50.0
BODIES = 10


def keystone() -> sn.Mesh:
    """A box in perspective: six flat faces whose sides are not parallel, so that all of their lines are looked at."""
    box = sn.shapes.box(1.0, 1.0, 1.0)
    return sn.Mesh(box.vertices / (1.0 + box.vertices @ (0.2, 0.1, 0.15))[:, None], box.faces)


def obstacles(
    count: int, lines: int | Literal["exact"], *, per_object: bool = False, keystones: bool = False
) -> tuple[sn.Environment, AttachedSensor[sn.ConeReading]]:
    """Boxes of 1 m, or keystones, that drive about in the cone on ten bodies, and a sensor before them.

    Ten are all in the cone; of a thousand, spread over a wider field, many are not.
    """
    random = np.random.default_rng(5)
    scene, mesh = sn.Scene(), keystone() if keystones else sn.shapes.box(1.0, 1.0, 1.0)
    field = 1.0 if count <= BODIES else 2.0
    for number in range(count):
        depth = random.uniform(8.0, 40.0) * field
        place = (depth, *(depth * random.uniform(-0.35, 0.35, 2) * field))
        scene.add(mesh, pose=sn.Pose.from_euler_deg(place, yaw=random.uniform(0, 360)), body=f"car {number % BODIES}")
    paths = {
        f"car {k}": sn.paths.Line(start=(0.0, 0.0, 0.0), velocity=(0.1, 0.02 * k - 0.1, 0.0))
        for k in range(min(count, BODIES))
    }
    env = sn.Environment(scene, sn.worlds.Kinematic(paths, step_s=1.0 / RATE_HZ))
    spec = sn.ConeSensor(
        horizontal_fov_deg=60.0,
        vertical_fov_deg=60.0,
        range_m=100.0,
        lines=lines,
        per_object=per_object,
        timing=sn.Timing(rate_hz=RATE_HZ),
    )
    return env, env.attach(spec)


def reading_cost(
    count: int, lines: int | Literal["exact"], *, per_object: bool = False, keystones: bool = False, rounds: int = 60
) -> Spread:
    """Time of a reading [s]: that of a step less that of a step with the sensor off, in turn."""
    env, sensor = obstacles(count, lines, per_object=per_object, keystones=keystones)
    costs = []
    env.step()
    for _ in range(rounds):
        sensor.enabled = True
        env.step()
        with_it = seconds(env.step)
        sensor.enabled = False
        costs.append((with_it, seconds(env.step)))
    on, off = np.array(costs).T
    return Spread(float(on.min() - off.min()), float(np.median(on) - np.median(off)))
