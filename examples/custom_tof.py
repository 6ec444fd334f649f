"""A time-of-flight sensor with 8 x 8 zones as a custom ray sensor, looking at a person in a corridor."""

from typing import Literal

import numpy as np
from pydantic import Field

import sensorium as sn
from sensorium.corruption import Dropout, Quantize, White
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

ZONES, RAYS = 8, 4  # zones a side, and rays a side of each zone


class ZoneTof(sn.RaySensor):
    """Each zone reports the mean distance of its rays, weighted by the light that comes back, cos / r^2."""

    kind: Literal["zone_tof"] = "zone_tof"
    fov_deg: float = Field(default=45.0, gt=0.0, lt=180.0)
    timing: sn.Timing = sn.Timing(rate_hz=15.0)
    max_range_m: float = 4.0

    @property
    def shape(self) -> tuple[int, ...]:
        return (ZONES, ZONES)

    def rays(self) -> sn.patterns.RayTable:
        side = ZONES * RAYS
        return sn.patterns.Pinhole.from_fov(side, side, self.fov_deg, rate_hz=1.0).rays()

    def measure(self, hits: sn.RayHits) -> np.ndarray:
        # Rays without a hit have no weight; a zone without any return reports the farthest range
        power = np.where(hits.hit, hits.cos_incidence / np.maximum(hits.range_m, 1e-3) ** 2, 0.0)
        meters = np.where(hits.hit, hits.range_m, 0.0)
        in_zones = (-1, ZONES, RAYS, ZONES, RAYS)
        total, weighted = (array.reshape(in_zones).sum(axis=(2, 4)) for array in (power, power * meters))
        return np.where(total > 0.0, weighted / np.maximum(total, 1e-12), self.max_range_m)


scene = sn.Scene()
scene.add(sn.shapes.plane(40.0), label="floor")
for side in (-1.0, 1.0):
    scene.add(sn.shapes.box(20.0, 0.1, 3.0), pose=sn.Pose((0.0, side, 1.5)), label="wall")
scene.add(sn.shapes.capsule(0.25, 1.2), body="person", label="person")
world = sn.worlds.Kinematic({"person": sn.paths.Line((3.5, 0.6, 0.85), velocity=(-1.0, -0.4, 0.0))}, step_s=0.02)
env = sn.Environment(scene, world, seed=1)
noisy = ZoneTof(errors=(White(std=0.02), Quantize(lsb=0.001), Dropout(probability=0.01, together=False, fill="zero")))
tof = env.attach(noisy, pose=sn.Pose((0.0, 0.0, 1.2)))

# The corridor from above, the measurement, and the truth
figure, axes = draw.canvas(14.0, 9.6, 3, 4, height_ratios=(0.75, 1.0, 1.0))
edge = 4.4 * np.tan(np.radians(0.5 * noisy.fov_deg))
for column in range(4):
    for _ in env.run(duration_s=0.6):
        pass
    above, *pictures = axes[column::4]
    draw.frame(above, f"{env.time_s:.1f} s, from above", "x [m]", "y [m]", equal=True)
    above.fill([0.0, 4.4, 4.4], [0.0, edge, -edge], color=draw.COLORS[0], alpha=0.25, linewidth=0.0)
    above.hlines([-0.95, 0.95], -0.2, 4.4, color="#d9b382", linewidth=4.0)
    turn = np.linspace(0.0, 2.0 * np.pi, 60)
    x, y, _ = env.state.X_WB.position[0, 0]
    above.fill(x + 0.25 * np.cos(turn), y + 0.25 * np.sin(turn), color=draw.COLORS[1])
    above.plot(0.0, 0.0, "o", color="white", markersize=6)
    above.set(xlim=(-0.2, 4.4), ylim=(-1.2, 1.2))
    for axis, reading, name in zip(pictures, (tof.read(), tof.truth()), ("Measured", "Truth"), strict=True):
        shown = axis.imshow(reading.values, vmin=0.0, vmax=4.0, cmap="turbo_r", interpolation="nearest")
        draw.frame(axis, name, "", "", equal=True)
        axis.set(xticks=[], yticks=[])
        if column == 3:
            draw.color_scale(figure, axis, shown, "distance [m]")
    print(f"{env.time_s:.1f} s: nearest zone {tof.truth().values.min():.2f} m")
save_figure("custom_tof.png", figure)
