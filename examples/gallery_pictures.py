"""Draw the pictures of docs/gallery.md, each from a run of its scenario.

    python examples/gallery_pictures.py [NAME ...]

leaves NAME.png of the scenarios named, or of all, in the current folder.
"""

import sys

import numpy as np

import sensorium as sn
from sensorium.app.gallery import path_of
from sensorium.app.scenario import Scenario
from sensorium.qa.demo.pictures import SweepLog
from sensorium.qa.demo.yard import PICTURE_M
from sensorium.view import lidar_plots as draw
from sensorium.view import radar_plots, save_figure
from sensorium.view.depth_image_plots import depth_colors
from sensorium.view.plots import FAINT, INK, PAPER, _draw_top_view, _legend, new_figure


def run(name, also=None):
    """Run a scenario; returns the environment, the sweeps or samples of each sensor, and the truth of the samples."""
    scenario = Scenario.load(path_of(name))
    env = scenario.environment()
    controllers = scenario.controllers(env)
    readings, truths = {sensor: [] for sensor in env.sensors}, {sensor: [] for sensor in env.sensors}
    for _ in env.run(scenario.spec.duration_s):
        for controller in controllers:
            controller.step(env)
        if also is not None:
            also.record(env)
        for sensor, attached in env.sensors.items():
            for arrival in attached.arrivals():
                readings[sensor].append(arrival.reading)
                if not isinstance(arrival.reading, sn.Scan):
                    truths[sensor].append(arrival.truth())
    return env, readings, truths


def over_time(samples, quantity):
    """Times [s] and values of a quantity of readings."""
    return np.array([s.time_ns for s in samples]) * 1e-9, np.array([getattr(s, quantity) for s in samples])


def yard_drive():
    """From above, and the signals of IMU and wheels."""
    log = SweepLog("roof", 4.0)
    _, readings, truths = run("yard-drive", log)
    figure = new_figure(16.0, 7.6)
    figure.get_layout_engine().set(h_pad=0.12)
    left, right = figure.add_gridspec(1, 2, width_ratios=(1.75, 1.0))
    above = figure.add_subplot(left)
    points, label = log.points_W, log.point_label
    _draw_top_view(above, points, label, log.labels, log.path_W, PICTURE_M, pixels=1500)
    draw.heading(above, f"{log.sweeps} sweeps of the lidar from above, by label")
    _legend(figure, label, log.labels, path=True)

    forces, rates, wheels = (figure.add_subplot(row) for row in right.subgridspec(3, 1))
    time_s, force = over_time(readings["imu"], "acceleration")
    true_force = over_time(truths["imu"], "acceleration")[1]
    draw.frame(forces, "IMU: specific force", "", "[m/s²]")
    for axis, (name, color) in enumerate(zip(("forward", "left"), draw.COLORS, strict=False)):
        forces.plot(time_s, force[:, axis], color=color, linewidth=1.4, label=name)
        forces.plot(time_s, true_force[:, axis], color=INK, linewidth=0.8, linestyle=(0, (3, 3)))
    draw.key(forces, where="center right")
    draw.note(forces, "braking", (1.5, -1.1), ha="center", va="top")
    rate = over_time(readings["imu"], "angular_velocity")[1]
    true_rate = over_time(truths["imu"], "angular_velocity")[1]
    draw.frame(rates, "IMU: yaw rate", "", "[°/s]")
    rates.plot(time_s, np.degrees(rate[:, 2]), color=draw.COLORS[2], linewidth=1.4, label="reading")
    rates.plot(time_s, np.degrees(true_rate[:, 2]), color=INK, linewidth=0.8, linestyle=(0, (3, 3)), label="truth")
    draw.key(rates, where="lower right")
    draw.frame(wheels, "Wheel encoders: speed of the rims", "time [s]", "[m/s]")
    for side, color in (("left", draw.COLORS[4]), ("right", draw.COLORS[3])):
        t, velocity = over_time(readings[f"wheel_{side}"][5:], "velocity")  # a speed needs two edges
        wheels.plot(t, 0.33 * velocity, color=color, linewidth=1.4, label=f"rear {side}")
    draw.key(wheels, where="lower right")
    wheels.set_ylim(3.5, 7.0)
    for axes in (forces, rates, wheels):
        axes.set_xlim(0.0, 4.0)
    print(f"{log.sweeps} sweeps, {log.returns['ghost']} ghosts, {log.returns['fog']} returns from fog")
    return figure


def fog_and_mirror():
    """Everything from above by cause, and one sweep as the lidar sees it."""
    _, readings, _ = run("fog-and-mirror")
    scans = readings["lidar"]
    figure = new_figure(13.0, 12.4)
    upper, lower = figure.add_gridspec(2, 1, height_ratios=(3.4, 1.0))
    above, seen = figure.add_subplot(upper), figure.add_subplot(lower)

    # From above, ahead is up: points higher than a curb, of every fourth sweep
    draw.frame(above, "What the lidar reports, from above, by cause", "y [m], left is positive", "x [m]", equal=True)
    clouds = [scan.flat() for scan in scans[::4]]
    points = np.concatenate([cloud.points for cloud in clouds])
    cause = np.concatenate([cloud.cause for cloud in clouds])
    high, air = points[:, 2] > 0.15, cause == sn.Cause.ATMOSPHERE
    for chosen, size, layer in ((high & air, 1.0, 2.0), (high & ~air, 4.0, 3.0)):
        draw.points_by_cause(above, points[chosen, 1], points[chosen, 0], cause[chosen], size=size, layer=layer)
    for x, y, size_x, size_y, yaw, label, options in (
        (7.0, 5.5, 0.04, 4.4, -18.0, "mirror", {"color": "#b48cff", "linewidth": 3.5}),
        (7.0, 0.0, 0.02, 4.0, 0.0, "window", {"color": "#4aa8ff", "linewidth": 2.5}),
        (10.5, -7.5, 8.0, 7.0, 0.0, "fog bank", {"color": FAINT, "linestyle": "--"}),
    ):
        corners = np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0], [1, 1, 0]]) * [size_x / 2, size_y / 2, 0]
        outline = sn.Pose.from_euler_deg((x, y, 0.0), yaw=yaw).apply(corners)
        draw.outline(above, outline[:, 1], outline[:, 0], label=label, zorder=4, **options)
    path = np.concatenate([scan.X_WS.position[:, 0, 0] for scan in scans])
    above.plot(path[:, 1], path[:, 0], color="white", linewidth=2.0)
    draw.sensor(above, *path[-1, 1::-1])
    for words, at, to in (
        ("pillar and crate", (11.0, 2.4), (9.7, 3.9)),
        ("their ghosts,\nbehind the mirror", (5.6, 13.2), (6.9, 11.6)),
        ("seen through\nthe window", (1.0, 13.2), (0.6, 10.5)),
        ("returns from\nthe fog itself", (-1.6, 4.3), (-5.6, 8.3)),
        ("a car in the fog", (-8.6, 4.3), (-7.2, 9.3)),
    ):
        draw.note(above, words, at, to, fontsize=11, ha="center")
    above.set_xlim(13.6, -13.6)
    above.set_ylim(-1.0, 18.0)
    draw.key(above, where="lower left", columns=2)

    # As the lidar sees it
    from matplotlib.colors import to_rgb

    scan = scans[len(scans) // 2]
    draw.frame(seen, "One sweep as the lidar sees it", "azimuth [°], positive to the left", "elevation [°]")
    seen.grid(visible=False)
    picture = np.tile(to_rgb(PAPER), (*scan.cause.shape, 1))
    shade = 1.0 - 0.6 * np.clip(scan.range_m / 22.0, 0.0, 1.0)
    for kind, color in draw.CAUSE_COLORS.items():
        of_it = scan.cause == kind
        picture[of_it] = np.array(to_rgb(color)) * shade[of_it][:, None]
    seen.imshow(picture, extent=(65.0, -65.0, -22.0, 12.0), aspect="auto", interpolation="nearest")
    counts = {kind.name.lower(): int((scan.cause == kind).sum()) for kind in draw.CAUSE_COLORS}
    print("one sweep:", ", ".join(f"{count} {name}" for name, count in counts.items() if count))
    return figure


def waveform_building():
    """The house as points by the number of their return, and the waveforms of three pulses."""
    env, readings, _ = run("waveform-building")
    (scan,) = readings["lidar"]
    labels, returns = env.scene.labels, scan.valid.sum(axis=0)
    figure = new_figure(15.0, 11.0)
    upper, lower = figure.add_gridspec(2, 1, height_ratios=(1.7, 1.0))
    front = figure.add_subplot(upper)
    draw.frame(front, "Returns as seen from the street, by their number in the pulse", "y [m]", "z [m]", equal=True)
    names = ("first", "second", "third", "fourth")
    for number, (name, color) in enumerate(zip(names, ("#6e7f94", *draw.COLORS[1:]), strict=False)):
        points = scan.points[number][scan.valid[number]]
        front.scatter(
            points[:, 1], points[:, 2], 1.2 + 1.5 * (number > 0), color=color, linewidths=0, zorder=2 + number
        )
        front.scatter([], [], 30, color=color, linewidths=0, label=f"{name}: {len(points):,}")
    draw.key(front, where="upper right")
    front.set_xlim(9.5, -9.5)
    front.set_ylim(-0.2, 7.6)

    # Of each kind the pulse with the highest second return
    kinds = {"Bar, window and room": "balcony", "Glass and furniture": "furniture", "Leaves of the shrub": "shrub"}
    for place, (title, label) in zip(lower.subgridspec(1, 3), kinds.items(), strict=True):
        axes = figure.add_subplot(place)
        fits = (scan.label == labels[label]).any(axis=0) & (returns >= 2)
        if label == "balcony":
            fits &= (scan.label == labels["room"]).any(axis=0)
        row, column = np.unravel_index(np.argmax(np.where(fits, returns + 1e5 * scan.intensity[1], -1.0)), fits.shape)
        wave, seen = scan.waveform.samples[row, column] * 1e9, scan.valid[:, row, column]
        ranges, causes = scan.range_m[seen, row, column], scan.cause[seen, row, column]
        draw.frame(axes, title, "range [m]", "received [nW]")
        axes.plot(scan.waveform.range_m, wave, color=draw.COLORS[0], linewidth=1.2)
        heights = np.interp(ranges, scan.waveform.range_m, wave)
        draw.points_by_cause(axes, ranges, heights, causes, size=60, layer=4.0)
        draw.key(axes, where="upper left")
        axes.set_xlim(ranges.min() - 2.0, ranges.max() + 2.0)
        where = scan.points[0, row, column]
        front.plot(where[1], where[2], marker="o", markersize=14, color="white", fillstyle="none", zorder=9)
    counts = ", ".join(f"{int((returns == n).sum()):,} of {n}" for n in range(1, 5))
    print(f"pulses by their number of returns: {counts}")
    return figure


def spacecraft_imu():
    """Gyroscope, accelerometer, magnetometer and sun sensors over time, with the faults as the log has them."""
    env, readings, truths = run("spacecraft-imu")
    figure, axes = draw.canvas(14.5, 10.0, rows=4, share_x=True, height_ratios=(1.25, 1.25, 1.0, 0.9))
    gyro, force, field, sun = axes
    rows = (
        (gyro, "imu", "angular_velocity", "Gyroscope", "[rad/s]", 1.0),
        (force, "imu", "acceleration", "Accelerometer: nothing but the tumble, in free fall", "[m/s²]", 1.0),
        (field, "magnetometer", "magnetic_field", "Magnetometer", "[µT]", 1e6),
    )
    for where, sensor, quantity, title, unit, scale in rows:
        draw.frame(where, title, "", unit)
        time_s, values = over_time(readings[sensor], quantity)
        truth = over_time(truths[sensor], quantity)[1]
        for axis, color in enumerate((*draw.COLORS[:3],)):
            where.plot(time_s, scale * values[:, axis], color=color, linewidth=1.3, label="xyz"[axis])
            where.plot(time_s, scale * truth[:, axis], color=INK, linewidth=0.8, linestyle=(0, (3, 3)))
        low, high = where.get_ylim()
        where.set_ylim(low, high + 0.25 * (high - low))
        draw.key(where, where="upper right", columns=3)
    draw.frame(sun, "Sun sensors: cosine of the angle to the Sun", "time [s]", "[1]")
    for name, color in (("sun_x", draw.COLORS[4]), ("sun_y", draw.COLORS[5])):
        time_s, cosine = over_time(readings[name], "cosine")
        sun.plot(time_s, cosine, color=color, linewidth=1.5, label=f"cell on {name[-1]}")
    lit = max(t.time_ns * 1e-9 for name in ("sun_x", "sun_y") for t in truths[name] if t.visible)
    sun.axvspan(lit, 60.0, color="#30363d", alpha=0.6, linewidth=0)
    draw.note(sun, "in the shadow of the Earth", (0.5 * (lit + 60.0), 0.5), ha="center")
    draw.key(sun, where="upper right", columns=2)

    log = env.sensors["imu"].faults.log
    for event in log:
        struck = force if event.fault == "bias step" else gyro
        start_s, end_s = event.start_ns * 1e-9, event.end_ns * 1e-9
        struck.axvspan(start_s, end_s, color=draw.COLORS[3], alpha=0.2, linewidth=0)
        low, high = struck.get_ylim()
        draw.note(struck, event.fault, (0.5 * (start_s + end_s), low + 0.04 * (high - low)), fontsize=10, ha="center")
    sun.set_xlim(0.0, 60.0)
    print(f"{len(log)} faults; the Sun was last seen after {lit:.1f} s; world by {type(env.world).__name__}")
    return figure


def forest_tof():
    """Points of the camera ahead along its way, from above, and images of all cameras at three times."""
    env, readings, truths = run("forest-tof")
    front, around = readings["front"], readings["around"]
    labels = env.scene.labels
    figure = new_figure(16.0, 9.0)
    left, right = figure.add_gridspec(1, 2, width_ratios=(0.85, 1.0))
    above = figure.add_subplot(left)
    draw.frame(
        above, "Points of the camera ahead, from above, by label", "y [m], left is positive", "x [m]", equal=True
    )
    colors = dict(zip(labels, ("#3a414b", "#d9b382", "#3fb950", "#ff8c42", "#b48cff"), strict=False))
    for name, number in labels.items():
        points = np.concatenate([image.points[image.valid & (image.segmentation == number)] for image in front])
        shown = points[:: max(1, len(points) // 60_000)]
        above.scatter(shown[:, 1], shown[:, 0], s=0.6, color=colors[name], linewidths=0, rasterized=True)
        above.scatter([], [], s=30, color=colors[name], label=name)
    way = np.concatenate([image.X_WS.position[:1, 0, 0] for image in front])
    above.plot(way[:, 1], way[:, 0], color="white", linewidth=2.0, label="way of the drone")
    above.set_xlim(10.5, -10.5)
    above.set_ylim(-2.0, 28.5)

    # Three moments: measured and true ahead, and the zones to the left, right, up and down
    limits = {"near_m": 0.5, "far_m": 7.0}
    rows = right.subgridspec(3, 1)
    for row, moment in enumerate((len(front) // 6, len(front) // 2, 5 * len(front) // 6)):
        letter = "ABC"[row]
        above.scatter(*way[moment, 1::-1], s=60, color="white", zorder=5)
        above.annotate(
            letter, way[moment, 1::-1], xytext=(9, -4), textcoords="offset points", color="white", fontsize=13
        )
        ahead, true, sides = rows[row].subgridspec(1, 3, width_ratios=(1.0, 1.0, 0.8))
        for place, title, image in (
            (ahead, f"{letter}: flexx2 ahead, measured", front[moment]),
            (true, "the truth", truths["front"][moment]),
        ):
            axes = figure.add_subplot(place)
            axes.axis("off")
            draw.heading(axes, title)
            axes.imshow(depth_colors(image.depth_m, image.valid, **limits), interpolation="nearest")
        tick = min(range(len(around)), key=lambda k: abs(around[k].time_ns - front[moment].time_ns))
        zones = sides.subgridspec(2, 2)
        for number, side in enumerate(("left", "right", "up", "down")):
            axes = figure.add_subplot(zones[number])
            axes.axis("off")
            axes.set_title(f"8 x 8 {side}", color=FAINT, fontsize=9, loc="left", pad=2)
            picture = depth_colors(around[tick].range_m[number], around[tick].valid[number], **limits)
            axes.imshow(picture, interpolation="nearest")
    draw.key(above, where="lower left", columns=2)
    pairs = zip(front, truths["front"], strict=True)
    error = np.median(np.abs(np.concatenate([(a.depth_m - b.depth_m)[a.valid & b.valid] for a, b in pairs])))
    print(f"{len(front)} images ahead, {len(around)} around; half of all depths are within {error:.3f} m")
    return figure


class Drive:
    """Keeps the gap and the speeds of a drive behind another car."""

    def __init__(self):
        self.rows = []

    def record(self, env):
        car, lead = (env.world.body_names.index(name) for name in ("car", "lead"))
        place, speed = env.state.X_WB.position[0, :, 0], env.state.v_WB[0, :, 0]
        self.rows.append((env.time_s, place[lead] - place[car] - 4.3, speed[car], speed[lead]))


def adaptive_cruise():
    """Gap and speeds, all detections, and one range-speed map."""
    drive = Drive()
    _, readings, _ = run("adaptive-cruise", drive)
    time_s, gap_m, own, lead = np.array(drive.rows).T
    figure, (gaps, speeds, seen, chart) = draw.canvas(16.0, 9.0, 2, 2, width_ratios=(1.0, 1.1))
    draw.frame(gaps, "Gap", "time [s]", "[m]")
    gaps.plot(time_s, gap_m, color=draw.COLORS[0], linewidth=2.0, label="gap")
    gaps.plot(time_s, 5.0 + 1.6 * own, color=draw.COLORS[2], linewidth=1.0, linestyle="--", label="wanted")
    draw.key(gaps, where="upper right")
    draw.frame(speeds, "Speeds", "time [s]", "[m/s]")
    speeds.plot(time_s, lead, color="#93a4b8", linewidth=2.0, label="car ahead")
    speeds.plot(time_s, own, color=draw.COLORS[0], linewidth=1.4, label="our car")
    draw.key(speeds, where="upper right")
    flat = [reading.flat() for reading in readings["radar"]]
    when_s = np.concatenate([np.full(len(f.range_m), f.time_ns * 1e-9) for f in flat])
    range_m, rate = (np.concatenate([getattr(f, k) for f in flat]) for k in ("range_m", "range_rate_m_s"))
    draw.frame(seen, f"All {len(range_m):,} detections of the radar", "time [s]", "range [m]")
    radar_plots.over_time(figure, seen, when_s, range_m, rate)
    shown = next(reading for reading in readings["radar"] if reading.time_ns > 10_000_000_000)
    radar_plots.range_doppler(figure, chart, shown, title="Range and speed at 10.1 s, as the car ahead brakes")
    draw.key(chart, where="upper right")
    print(f"smallest gap {gap_m.min():.1f} m; {len(range_m):,} detections in {len(flat)} frames")
    return figure


PICTURES = {
    "yard-drive": yard_drive,
    "fog-and-mirror": fog_and_mirror,
    "waveform-building": waveform_building,
    "spacecraft-imu": spacecraft_imu,
    "forest-tof": forest_tof,
    "adaptive-cruise": adaptive_cruise,
}

for name in sys.argv[1:] or PICTURES:
    save_figure(f"{name}.png", PICTURES[name]())
