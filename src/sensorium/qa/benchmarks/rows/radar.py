"""Cost of a radar frame: a street with ten cars, ground included."""

from typing import Literal

import sensorium as sn
from sensorium.qa.benchmarks.timing import Spread, spread

FRAMES = 5
CELLS = "256 ranges x 128 speeds x 8 beams"


def frame_cost(source: Literal["rays", "cone"]) -> Spread:
    """Time of a frame through the public interface [s], with clutter and ways over the ground."""
    scene = sn.Scene()
    scene.add(sn.shapes.plane(400.0), label="road")
    for number in range(10):
        place = sn.Pose((12.0 + 9.0 * number, 4.0 * (number % 3) - 4.0, 0.8))
        scene.add(sn.shapes.box(4.5, 1.8, 1.4), pose=place, label="car")
    env = sn.Environment(scene, sn.worlds.Static({"car": sn.Pose((0.0, 0.0, 0.6))}, step_s=0.05))
    env.attach(sn.Radar(source=source, ground=sn.radar.Ground(multipath=True)), body="car")

    def frames() -> None:
        for _ in range(FRAMES):
            env.step()

    return spread(frames).each(FRAMES)
