"""Redrawn worlds: the cost of a reset with other objects, against a step of depth cameras."""

import numpy as np

import sensorium as sn
from sensorium.qa.benchmarks.timing import seconds

WORLDS, SIDE, THINGS = 1024, 64, 20

_RATE_HZ = 20.0


def scattered_worlds(worlds: int = WORLDS, *, side: int = SIDE) -> sn.Environment:
    """Drones that circle in worlds of 12 to 20 objects of three kinds, with depth and labels at every step."""
    ground = sn.Scene()
    ground.add(sn.shapes.plane(60.0), label="ground")
    kinds = [
        sn.SceneObject(sn.shapes.box(1.0, 1.0, 3.0), label="crate"),
        sn.SceneObject(sn.shapes.cylinder(0.4, 4.0, 16), label="trunk"),
        sn.SceneObject(sn.shapes.sphere(0.5, 2), label="ball"),
    ]
    start = sn.ClearZone((0.0, 0.0), 2.0)
    things = sn.Scatter(kinds, (12, THINGS), low=(-15, -15, 0), high=(15, 15, 1), gap_m=0.2, clear=[start])
    scene = sn.SceneBatch.scattered([things], worlds=worlds, seed=1, shared=ground)
    drone = sn.paths.Circle(center=(0.0, 0.0, 1.5), radius=1.0, rate=0.5)
    env = sn.Environment(scene, sn.worlds.Kinematic({"drone": drone}, step_s=1.0 / _RATE_HZ), worlds=worlds)
    pattern = sn.patterns.Pinhole.from_fov(side, side, 87.0, rate_hz=_RATE_HZ)
    env.attach(sn.DepthCamera(pattern=pattern, outputs={"depth", "segmentation"}, max_range_m=50.0), body="drone")
    env.step()
    return env


def cost_of_redraw(worlds: int = WORLDS, *, rounds: int = 15) -> float:
    """Cost of a reset of every tenth world, each with other objects, as a share of a step.

    The step after it, which rebuilds their scenes, counts with its additional time.
    """
    env = scattered_worlds(worlds)
    mask = np.arange(worlds) % 10 == 0
    env.reset(mask)
    env.step()
    shares = []
    for _ in range(rounds):
        plain = seconds(env.step)
        reset = seconds(lambda: env.reset(mask))
        after = seconds(env.step)
        shares.append((reset + max(after - plain, 0.0)) / plain)
    return float(np.median(shares))
