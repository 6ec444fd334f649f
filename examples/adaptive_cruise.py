"""A car keeps its distance by its radar alone: the car ahead brakes, goes, stops and goes again."""

import numpy as np

import sensorium as sn
from sensorium.app.controllers import AdaptiveCruise, SpeedProfile
from sensorium.view import lidar_plots as draw
from sensorium.view import radar_plots, save_figure

DURATION_S = 40.0

# A road, the car ahead, one in the next lane, and fixed objects
scene = sn.Scene()
car = sn.shapes.box(4.5, 1.8, 1.4)
seat = sn.Pose((2.25, 0.0, 0.8))
scene.add(sn.shapes.plane(2400.0, 60.0), pose=sn.Pose((1000.0, 0.0, 0.0)), label="road")
scene.add(car, pose=seat, body="lead", label="car", name="lead")
scene.add(car, pose=seat, body="neighbor", label="car", name="neighbor")
scene.add(car, pose=sn.Pose((180.0, -6.0, 0.8)), label="car", name="parked")
scene.add(sn.shapes.box(0.4, 16.0, 1.2), pose=sn.Pose((300.0, 0.0, 6.5)), material=sn.Mirror(reflectance=0.9))

# All move as commanded
world = sn.worlds.Commanded(
    {"car": sn.Pose(), "lead": sn.Pose((70.0, 0.0, 0.0)), "neighbor": sn.Pose((20.0, 3.6, 0.0))},
    velocities={"car": (27.0, 0.0, 0.0), "lead": (25.0, 0.0, 0.0), "neighbor": (22.0, 0.0, 0.0)},
    step_s=0.05,
)
env = sn.Environment(scene, world, seed=5)
radar = env.attach(
    sn.Radar(
        timing=sn.Timing(rate_hz=10.0),
        chirp=sn.radar.Chirp(bandwidth_hz=150e6, ramp_s=24e-6, samples=128, chirps=128),
        horizontal_fov_deg=36.0,
        vertical_fov_deg=12.0,
        antennas=16,
        spacing=0.7,
        ray_spacing_deg=0.6,
        ground=sn.radar.Ground(multipath=True, roughness_m=0.001),
        cfar=sn.radar.Cfar(over="rank"),
        range_doppler=True,
    ),
    body="car",
    pose=sn.Pose((4.3, 0.0, 0.6)),
    hide=("car",),
)

# The controller reads the radar after each step, and commands the car's speed for the next
cruise = AdaptiveCruise(body="car", radar="radar", set_speed_m_s=31.0).start(env)
profile = SpeedProfile(
    body="lead", speeds=((0, 25), (7, 25), (11, 12), (15, 12), (20, 26), (24, 26), (30, 0), (33, 0), (40, 16))
)
lead = profile.start(env)

time_s, true_gap_m, speeds, found, shown = [], [], [], [], None
for _ in env.run(DURATION_S):
    cruise.step(env)
    lead.step(env)
    state = env.state
    time_s.append(env.time_s)
    true_gap_m.append(state.X_WB.position[0, 1, 0] - state.X_WB.position[0, 0, 0] - 4.3)
    speeds.append(state.v_WB[0, :2, 0])
    if radar.fresh:
        reading = radar.read().flat()
        rows = np.full(len(reading.range_m), env.time_s), reading.range_m, reading.range_rate_m_s, reading.cause
        found.append(np.column_stack(rows))
        if shown is None and env.time_s > 9.5:
            shown = radar.read()
time_s, true_gap_m, speeds, found = np.array(time_s), np.array(true_gap_m), np.array(speeds), np.concatenate(found)
gap_m = np.array(cruise.log.gap_m)

# The drive: gap, speeds, detections, and one map while the car ahead brakes
figure, (gaps, speed, seen, chart) = draw.canvas(15.0, 9.0, 2, 2, width_ratios=(1.0, 1.1))
draw.frame(gaps, "Gap", "time [s]", "[m]")
gaps.plot(time_s, true_gap_m, color="#93a4b8", linewidth=2.0, label="true")
gaps.plot(time_s, gap_m, color=draw.COLORS[1], linewidth=1.0, label="followed by radar")
gaps.plot(time_s, 5.0 + 1.6 * speeds[:, 0], color=draw.COLORS[2], linewidth=1.0, linestyle="--", label="wanted")
draw.key(gaps, where="upper right")
draw.frame(speed, "Speeds", "time [s]", "[m/s]")
speed.plot(time_s, speeds[:, 1], color="#93a4b8", linewidth=2.0, label="car ahead")
speed.plot(time_s, speeds[:, 0], color=draw.COLORS[0], linewidth=1.4, label="our car")
draw.key(speed, where="upper right")
draw.frame(seen, f"All {len(found):,} detections", "time [s]", "range [m]")
radar_plots.over_time(figure, seen, found[:, 0], found[:, 1], found[:, 2])
radar_plots.range_doppler(
    figure, chart, shown, title=f"Range and speed at {shown.time_ns * 1e-9:.1f} s, as the car ahead brakes"
)
draw.key(chart, where="upper right")
save_figure("adaptive_cruise.png", figure)

followed = np.isfinite(gap_m)
error_m = np.median(np.abs(gap_m - true_gap_m)[followed])
objects = (found[:, 3] == sn.EchoCause.OBJECT).mean()
print(f"smallest gap {true_gap_m.min():.1f} m; the car ahead is followed {100.0 * followed.mean():.0f} % of the time")
print(f"gap by radar off by {error_m:.2f} m in the median; {100.0 * objects:.0f} % of detections are objects")
