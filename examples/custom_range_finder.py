"""A single-ray range finder as a custom ray sensor: the height of a drone that flies over steps."""

from typing import Literal

import numpy as np

import sensorium as sn
from sensorium.corruption import Quantize, Spikes, White
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure


class RangeFinder(sn.RaySensor):
    """The distance along its x axis; the farthest range without a hit."""

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

time_s, measured, true, ends = [], [], [], []
for _ in env.run(duration_s=11.0):
    for arrival in finder.arrivals():
        time_s.append(arrival.reading.time_ns * 1e-9)
        measured.append(float(arrival.reading.values))
        true.append(float(arrival.truth().values))
        ends.append((env.state.X_WB[0, 0] @ finder.rig.X_BS[0]).apply((true[-1], 0.0, 0.0)))

# From the side: every seventh ray; and the readings
figure, (side, ranges) = draw.canvas(12.0, 9.0, 2, 1, height_ratios=(1.2, 1.0))
draw.frame(side, "A drone that sways, over steps and a gap", "x [m]", "z [m]", equal=True)
for k in (0, 1, 2, 3, 4, 5, 7, 8, 9):
    side.bar(3.0 * k, 2.0, 3.0, 0.4 * k - 2.0, color="#6b7888", edgecolor="#b3bfcb", linewidth=0.8)
drone, time_s, measured, true = flown(np.array(time_s)).position, *map(np.array, (time_s, measured, true))
for begin, end in list(zip(drone, ends, strict=True))[::7]:
    side.plot(*np.stack([begin, end])[:, [0, 2]].T, color=draw.COLORS[1], linewidth=0.8, alpha=0.7)
side.plot(drone[:, 0], drone[:, 2], color=draw.COLORS[0], linewidth=2.0, label="the drone")
side.plot([], [], color=draw.COLORS[1], label="its ray")
side.set(xlim=(-2.0, 29.0), ylim=(-2.5, 7.5))
draw.key(side, where="upper left", columns=2)
draw.frame(ranges, "What the range finder reads", "time [s]", "range [m]")
ranges.plot(time_s, measured, ".", color=draw.COLORS[1], markersize=4, label="measured: noise, steps of 1 cm, spikes")
ranges.plot(time_s, true, color=draw.COLORS[0], linewidth=1.2, label="truth; 12 m where there is nothing")
draw.key(ranges, where="upper left")
save_figure("custom_range_finder.png", figure)
print(f"{len(measured)} readings, {np.std((measured - true)[true < 12.0]):.3f} m off")
