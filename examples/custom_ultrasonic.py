"""An ultrasonic ranger as a custom ray sensor: the first echo in a cone, and walls that reflect sound away."""

from typing import Literal

import numpy as np
from pydantic import Field

import sensorium as sn
from sensorium.corruption import Quantize, White
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure


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

# From above at four turns of the wall, and the readings over all of them
figure, (above, ranges) = draw.canvas(14.0, 6.4, 1, 2, width_ratios=(1.0, 1.35))
draw.frame(above, "From above", "x [m]", "y [m]", equal=True)
edge = 4.0 * np.tan(np.radians(sonar.spec.half_angle_deg))
above.fill([0.0, 4.0, 4.0], [0.0, edge, -edge], color=draw.COLORS[0], alpha=0.2, linewidth=0.0)
for turn_deg, color in zip((10, 45, 70, 88), (2, 3, 1, 5), strict=True):
    along = np.array([-np.sin(np.radians(turn_deg)), np.cos(np.radians(turn_deg))])
    ends = np.array([2.01, 0.0]) + np.array([[-1.0], [1.0]]) * along
    above.plot(*ends.T, color=draw.COLORS[color], linewidth=3.0, label=f"the wall, turned by {turn_deg}°")
    ranges.axvline(turn_deg, color=draw.COLORS[color], linewidth=2.0, alpha=0.7)
above.plot(3.0, -0.4, "o", color=draw.COLORS[4], markersize=7, label="a post")
above.plot(0.0, 0.0, "o", color="white", markersize=8)
above.set(xlim=(-0.3, 4.2), ylim=(-1.7, 2.4))
draw.key(above, where="upper left")
draw.frame(ranges, "The first echo", "the wall's turn [°]", "range [m]")
ranges.plot(angle_deg, measured, ".", color=draw.COLORS[1], markersize=7, label="measured")
ranges.plot(angle_deg, true, color=draw.COLORS[0], linewidth=1.2, label="truth")
ranges.set(xlim=(0.0, 90.0), ylim=(0.5, 4.9))
draw.note(ranges, "the wall", (11, 1.65))
draw.note(ranges, "nothing faces the sensor", (46, 4.1))
draw.note(ranges, "the post", (71, 3.1))
draw.note(ranges, "the wall's edge", (87, 0.8), ha="right")
draw.key(ranges, where="upper left", columns=2)
save_figure("custom_ultrasonic.png", figure)
print(f"the wall is lost from {angle_deg[np.argmax(true > 2.6)]:.1f} deg on")
