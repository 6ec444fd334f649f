"""An ultrasonic ranger as a ray sensor of one's own: the first echo in a cone, and walls that send sound elsewhere."""

from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
from pydantic import Field

import sensorium as sn
from sensorium.corruption import Quantize, White


class Ultrasonic(sn.RaySensor):
    """The nearest surface in a cone that faces the sensor; smooth ones send sound away unless they nearly do."""

    kind: Literal["ultrasonic"] = "ultrasonic"
    half_angle_deg: float = Field(default=15.0, gt=0.0, lt=90.0)
    facing_deg: float = Field(default=12.0, gt=0.0, le=90.0)
    """How far a surface may turn from a ray and still send an echo back [deg]."""
    timing: sn.Timing = sn.Timing(rate_hz=20.0)
    max_range_m: float = 4.0

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def rays(self) -> sn.patterns.RayTable:
        # A spiral that covers the cone evenly: equal steps in the cosine, turned by the golden angle
        k = np.arange(400)
        cosine = 1.0 - (1.0 - np.cos(np.radians(self.half_angle_deg))) * (k + 0.5) / len(k)
        angle, sine = np.pi * (3.0 - np.sqrt(5.0)) * k, np.sqrt(1.0 - cosine**2)
        return sn.patterns.RayTable.at_once(np.stack([cosine, sine * np.cos(angle), sine * np.sin(angle)], -1)[None])

    def measure(self, hits: sn.RayHits) -> np.ndarray:
        echo = hits.cos_incidence >= np.cos(np.radians(self.facing_deg))
        return np.where(echo, hits.range_m, self.max_range_m).min(axis=(1, 2))


# A wall that turns about an upright axis 2 m ahead, and one thin post beside the axis of the cone, 3 m ahead
scene = sn.Scene()
scene.add(sn.shapes.box(0.02, 2.0, 3.0), body="wall")
scene.add(sn.shapes.cylinder(0.03, 3.0), pose=sn.Pose((3.0, -0.4, 0.0)))
turning = sn.paths.Spin(position=(2.01, 0, 0), axis=(0, 0, 1), rate=np.radians(9.0))
env = sn.Environment(scene, sn.worlds.Kinematic({"wall": turning}, step_s=0.05), seed=2)
sonar = env.attach(Ultrasonic(errors=(White(std=0.004), Quantize(lsb=0.003))))

rows = [(9.0 * env.time_s, sonar.read().values, sonar.truth().values) for _ in env.run(duration_s=10.0)]
angle_deg, measured, true = np.array(rows).T
figure, axis = plt.subplots(figsize=(12, 6), layout="constrained")
axis.scatter(angle_deg, measured, c=measured, cmap="viridis", s=18, label="measured")
axis.plot(angle_deg, true, color="0.35", linewidth=1.0, label="truth")
axis.set(
    xlabel="the wall's turn [deg]", ylabel="range [m]", title="A wall lost beyond 27 deg, a post behind it, its edge"
)
axis.legend()
figure.savefig("custom_ultrasonic.png", dpi=100)
print(f"the wall is lost from {angle_deg[np.argmax(true > 2.6)]:.1f} deg on")
