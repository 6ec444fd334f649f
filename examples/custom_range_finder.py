"""A single-ray range finder as a ray sensor of one's own: the height of a drone that flies over steps."""

from typing import Literal

import matplotlib.pyplot as plt
import numpy as np

import sensorium as sn
from sensorium.corruption import Quantize, Spikes, White


class RangeFinder(sn.RaySensor):
    """The distance along its x axis; the farthest range where it meets nothing."""

    kind: Literal["range_finder"] = "range_finder"
    timing: sn.Timing = sn.Timing(rate_hz=50.0)
    max_range_m: float = 12.0

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def rays(self) -> sn.patterns.RayTable:
        return sn.patterns.RayTable.at_once([[(1.0, 0.0, 0.0)]])

    def measure(self, hits: sn.RayHits) -> np.ndarray:
        return np.minimum(hits.range_m[:, 0, 0], self.max_range_m)


# Ten steps of 0.4 m, a gap without ground, and a drone that sways in pitch while it flies on at 6 m
scene = sn.Scene()
for k in (0, 1, 2, 3, 4, 5, 7, 8, 9):
    scene.add(sn.shapes.box(3.0, 6.0, 2.0), pose=sn.Pose((3.0 * k, 0.0, 0.4 * k - 1.0)), label=f"step {k}")


def flown(t_s: np.ndarray) -> sn.Pose:
    place = np.stack([2.5 * t_s, 0.0 * t_s, np.full_like(t_s, 6.0)], axis=-1)
    return sn.Pose.from_euler_deg(place, pitch=8.0 * np.sin(2.0 * t_s))


world = sn.worlds.Kinematic({"drone": sn.paths.Function(flown, vectorized=True)}, step_s=0.01)
env = sn.Environment(scene, world, seed=3)
spec = RangeFinder(errors=(White(std=0.03), Spikes(rate_hz=0.5, amplitude=2.0), Quantize(lsb=0.01)))
finder = env.attach(spec, body="drone", pose=sn.Pose.from_euler_deg(pitch=90.0))  # x points down

time_s, measured, true = [], [], []
for _ in env.run(duration_s=11.0):
    for arrival in finder.arrivals():
        time_s.append(arrival.reading.time_ns * 1e-9)
        measured.append(float(arrival.reading.values))
        true.append(float(arrival.truth().values))

figure, axis = plt.subplots(figsize=(12, 6), layout="constrained")
axis.scatter(time_s, measured, c=np.abs(np.subtract(measured, true)), s=14, cmap="plasma", label="measured")
axis.plot(time_s, true, color="0.35", linewidth=1.0, label="truth")
axis.set(xlabel="time [s]", ylabel="range [m]", title="Down from a drone that sways: steps, and a gap where nothing is")
axis.legend()
figure.savefig("custom_range_finder.png", dpi=100)
print(f"{len(measured)} readings, {np.std(np.subtract(measured, true)[np.array(true) < 12.0]):.3f} m off")
