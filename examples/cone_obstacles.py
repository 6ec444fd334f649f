"""Ten obstacles in front of a vehicle: points of a cone sensor, and the cost of a reading (the thesis's Table 5)."""

import math
import time

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure
from sensorium.view.cone_plots import Prospect
from sensorium.view.plots import FAINT, INK, new_figure

RATE_HZ = 20.0
FOV_H, FOV_V, RANGE_M = 60.0, 24.0, 26.0


def obstacle(number):
    """A kind of object for each number: a box, a drum, a ball."""
    kinds = (sn.shapes.box(1.2, 1.6, 1.8), sn.shapes.cylinder(0.7, 1.6, 24), sn.shapes.sphere(0.8, 2))
    return kinds[number % 3]


def environment(count, lines, **fields):
    """A number of obstacles that drift about on a yard, and a sensor on the vehicle that approaches them."""
    scene, paths = sn.Scene(), {}
    random = np.random.default_rng(3)
    for number in range(count):
        depth, azimuth = 7.0 + 2.1 * number, math.radians(random.uniform(-36.0, 36.0))
        place = (depth * math.cos(azimuth), depth * math.sin(azimuth), random.uniform(-0.5, 1.0))
        scene.add(obstacle(number), body=f"thing {number}", label=f"thing {number}")
        paths[f"thing {number}"] = sn.paths.Circle(place, radius=0.6, rate=random.uniform(-3.0, 3.0))
    paths["vehicle"] = sn.paths.Line(start=(-2.0, 0.0, 0.3), velocity=(1.0, 0.0, 0.0))
    env = sn.Environment(scene, sn.worlds.Kinematic(paths, step_s=1.0 / RATE_HZ))
    spec = sn.ConeSensor(
        horizontal_fov_deg=FOV_H,
        vertical_fov_deg=FOV_V,
        range_m=RANGE_M,
        lines=lines,
        timing=sn.Timing(rate_hz=RATE_HZ),
        **fields,
    )
    return env, env.attach(spec, body="vehicle")


def reading_ms(count, lines, rounds=25):
    """Added cost of a reading of every object per step, at best [ms]."""
    env, sensor = environment(count, lines, per_object=True)
    times = {True: [], False: []}
    for k in range(2 * rounds + 2):
        sensor.enabled = k % 2 == 0
        env.step()
        begin = time.perf_counter()
        env.step()
        times[sensor.enabled].append(time.perf_counter() - begin)
    return 1e3 * (min(times[True][1:]) - min(times[False][1:]))


# Table 5: the thesis has frames a second of a scene that runs at 56.2 without its sensor
THESIS = {10: (55.2, 53.8, 55.5), 100: (54.4, 52.8, 54.4), 1000: (20.5, 20.6, 20.7)}
COUNTS = (1, 5, 10)
costs = {lines: [reading_ms(count, lines) for count in COUNTS] for lines in (*THESIS, "exact")}
print("Table 5: what a reading costs [ms], and what a frame cost more in the thesis [ms]")
print("lines   1 obstacle      5 obstacles     10 obstacles")
for lines, row in costs.items():
    cells = []
    for k, cost_ms in enumerate(row):
        more_ms = "" if lines == "exact" else f"({1e3 / THESIS[lines][k] - 1e3 / 56.2:.1f})"
        cells.append(f"{cost_ms:.3f} {more_ms}".ljust(16))
    print(f"{lines!s:>5}   {''.join(cells)}")

# The scene after three seconds
env, sensor = environment(10, "exact", per_object=True)
for _ in env.run(3.0):
    pass
reading, objects = sensor.read(), sensor.read().objects
names = {number: name for name, number in env.scene.labels.items()}
azimuth_deg = math.degrees(reading.azimuth)
print(f"\nnearest: {names[int(reading.label)]}, {reading.range_m:.3f} m, {azimuth_deg:+.1f} deg to the left")
for number in objects.nearest_first:
    rate = objects.range_rate[number]
    verdict = "coming" if rate < 0.0 else "going"
    print(f"  {names[int(objects.label[number])]}: {objects.range_m[number]:.2f} m, {rate:+.2f} m/s, {verdict}")

figure = new_figure(16.0, 9.6)
grid = figure.add_gridspec(2, 2, width_ratios=(1.55, 1.0))
title = "Ten obstacles, and the closest point of each in the cone"
yard = Prospect(figure.add_subplot(grid[:, 0]), title, azimuth_deg=-155.0, elevation_deg=42.0)
X_WS = sn.Pose(env.state.X_WB.position[0, -1], env.state.X_WB.quaternion[0, -1])
yard.cone(X_WS, (FOV_H, FOV_V), RANGE_M, draw.COLORS[0])
for number in range(10):
    pose = sn.Pose(env.state.X_WB.position[0, number], env.state.X_WB.quaternion[0, number])
    seen = bool(objects.in_sight[number])
    yard.solid(obstacle(number), pose, draw.COLORS[(1, 2, 5)[number % 3]] if seen else FAINT)
    if seen:
        yard.ray(X_WS.position, objects.point_W[number], bold=number == int(reading.object_id))
yard.sensor(X_WS.position)

# From above, by range and azimuth
above = figure.add_subplot(grid[0, 1])
draw.frame(above, "As a radar's list would have them", "azimuth [°], positive to the left", "range [m]")
for number in objects.nearest_first:
    color = draw.COLORS[3] if objects.range_rate[number] < 0.0 else draw.COLORS[0]
    at = (math.degrees(objects.azimuth[number]), objects.range_m[number])
    above.plot(*at, "o", color=color, markersize=9)

    # Beside the point, or below it where the next is in the way
    near = np.degrees(objects.azimuth) - at[0], objects.range_m - at[1]
    crowded = np.any((near[0] < 0.0) & (near[0] > -14.0) & (np.abs(near[1]) < 2.5) & objects.in_sight)
    draw.note(
        above,
        f"{objects.range_rate[number]:+.2f} m/s",
        (at[0] - 1.2, at[1] + 0.3) if not crowded else (at[0] + 2.0, at[1] - 1.9),
    )
above.plot([], [], "o", color=draw.COLORS[3], label="coming")
above.plot([], [], "o", color=draw.COLORS[0], label="going")
above.set(xlim=(35.0, -42.0), ylim=(0.0, 28.0))
draw.key(above, where="lower right")

cost = figure.add_subplot(grid[1, 1])
draw.frame(cost, "What a reading of every object costs", "obstacles", "[ms]", log="y")
for k, (lines, row) in enumerate(costs.items()):
    name = "exact" if lines == "exact" else f"{lines} lines a face"
    cost.plot(COUNTS, row, "o-", color=draw.COLORS[k], linewidth=2.0, label=name)
cost.plot(COUNTS, [1e3 / fps - 1e3 / 56.2 for fps in THESIS[1000]], "x--", color=INK, label="thesis, 1,000 lines")
cost.set_xticks(COUNTS)
cost.set_ylim(2e-2, 100.0)
draw.key(cost, where="center")
save_figure("cone_obstacles.png", figure)
