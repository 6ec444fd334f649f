"""A time-of-flight sensor with 8 x 8 zones as a ray sensor of one's own, looking at a person in a corridor."""

from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
from pydantic import Field

import sensorium as sn
from sensorium.corruption import Dropout, Quantize, White

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
        # Rays that meet nothing weigh nothing; a zone without any return reports the farthest range
        power = np.where(hits.hit, hits.cos_incidence / np.maximum(hits.range_m, 1e-3) ** 2, 0.0)
        metres = np.where(hits.hit, hits.range_m, 0.0)
        in_zones = (-1, ZONES, RAYS, ZONES, RAYS)
        total, weighted = (array.reshape(in_zones).sum(axis=(2, 4)) for array in (power, power * metres))
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

figure, rows = plt.subplots(2, 4, figsize=(14, 7.2), layout="constrained")
for column in range(4):
    for _ in env.run(duration_s=0.6):
        pass
    for axis, reading, name in zip(rows[:, column], (tof.read(), tof.truth()), ("measured", "truth"), strict=True):
        picture = axis.imshow(reading.values, vmin=0.0, vmax=4.0, cmap="viridis_r", interpolation="nearest")
        axis.set(title=f"{name}, {env.time_s:.1f} s", xticks=[], yticks=[])
    print(f"{env.time_s:.1f} s: nearest zone {tof.truth().values.min():.2f} m")
figure.colorbar(picture, ax=rows, label="distance [m]")
figure.savefig("custom_tof.png", dpi=100)
