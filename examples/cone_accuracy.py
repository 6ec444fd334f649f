"""A cone sensor measures the thesis's obstacle: Tables 2 and 3 with their numbers, and the positions of the lines."""

import math

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure
from sensorium.view.cone_plots import Prospect
from sensorium.view.plots import FAINT, INK, new_figure

# The thesis's obstacle has half extents 0.5, 0.5 and 1e-5: its front is at 0.99999 m
OBSTACLE = sn.shapes.box(2e-5, 1.0, 1.0)
CONE = {"horizontal_fov_deg": 90.0, "vertical_fov_deg": 90.0, "range_m": 20.0}


def reading(mesh, pose, **fields):
    """One reading of a mesh at rest in front of the sensor."""
    scene = sn.Scene()
    scene.add(mesh, pose=pose)
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.05))
    sensor = env.attach(sn.ConeSensor(**(CONE | fields)))
    env.step()
    return sensor.read()


# --- Table 2 ----------------------------------------------------------------------------------------------------------


def elevation_in_single(lines):
    """Elevation of the nearest line, the lower of two, in float32 as in the thesis's engine [deg]."""
    single = np.float32
    line = single(-0.5) + single(1.0) / single(lines - 1) * single((lines - 1) // 2)
    return single(math.atan(single(abs(line) / single(0.99999)))) * single(57.29578)


PRINTED = {2: (1.118025, 26.56528), 3: (0.99999, 0.0), 10: (1.001532, 3.179862), 100: (1.000003, 0.2893734)}
PRINTED |= {1000: (0.99999, 0.02867683)}
print("Table 2: a face of 1 m x 1 m at 0.99999 m")
print("lines   range [m]   thesis     elevation [deg]  in single precision  thesis       tan(e)")
for lines in (*PRINTED, "exact"):
    found = reading(OBSTACLE, sn.Pose((1.0, 0.0, 0.0)), lines=lines)
    range_m, elevation_deg = float(found.range_m), abs(math.degrees(found.elevation))
    printed = "".ljust(24) if lines == "exact" else f"{PRINTED[lines][0]:<10.7g} {PRINTED[lines][1]:<13.7g}"
    thesis_range, thesis_elevation = printed[:11], printed[11:]
    single = "" if lines == "exact" else f"{elevation_in_single(lines):.7g}"
    print(
        f"{lines!s:>5}   {range_m:.7f}   {thesis_range}{elevation_deg:<15.7f}  {single:<19}  {thesis_elevation}"
        f"{math.tan(math.radians(elevation_deg)):.9f}"
    )

# --- Table 3 ----------------------------------------------------------------------------------------------------------

print("\nTable 3: the worst angle error at 10 m by eq. 4.1, and the error there")
print("lines   eq. 4.1 [deg]  thesis    measured [deg]")
for lines, printed in ((2, "2.862"), (10, "0.318"), (100, "0.0289"), (1000, "0.00287")):
    bound_deg = math.degrees(sn.cone.worst_angle_error(1.0, lines, 10.0))
    found = reading(sn.shapes.box(2.0, 1.0, 1.0), sn.Pose((11.0, 0.0, 0.0)), lines=lines)
    print(f"{lines:>5}   {bound_deg:<13.7f}  {printed:<8}  {abs(math.degrees(found.elevation)):.7f}")

# --- (5, 0, 7) --------------------------------------------------------------------------------------------------------

# In the thesis x is right, y up and z forward; here x is forward, y left and z up
turned = sn.Pose.from_euler_deg((7.0, -5.0, 0.0), yaw=-math.degrees(math.atan2(5.0, 7.0)))
found = reading(OBSTACLE, turned, lines=1000)
print("\nAn obstacle at (5, 0, 7), turned towards the sensor, 1,000 lines")
print(f"range      {found.range_m:.5f} m       thesis 8.60233 (to the middle of the box: {math.sqrt(74.0):.5f})")
print(f"azimuth    {-math.degrees(found.azimuth):.5f} deg   thesis 35.53765, to the right")
print(f"projected  {abs(math.degrees(found.projected_elevation)):.7f} deg  thesis 0.004096, eq. 3.8: atan(y / z)")
print(f"elevation  {abs(math.degrees(found.elevation)):.7f} deg")


# --- pictures ---------------------------------------------------------------------------------------------------------


def lines_of(mesh, pose, count):
    """The lines over a mesh's faces, each as two points, shape (lines, 2, 3)."""
    quads = sn.cone.recovered_quads(mesh.vertices, mesh.faces)
    found = []
    for corners in pose.apply(mesh.vertices[quads.corners]):
        for k in range(count):
            x, y, z, dx, dy, dz = sn.cone.quad_line(corners, k, count)
            found.append([(x, y, z), (x + dx, y + dy, z + dz)])
    return np.array(found)


figure = new_figure(16.0, 10.0)
grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 1.5), height_ratios=(1.2, 1.0))

# Lines on an object, as in Figure 2: quads of a box, and the side of a cylinder, whose ends are lone triangles
things = Prospect(figure.add_subplot(grid[0, 0]), "10 lines a face", azimuth_deg=-62.0, elevation_deg=24.0)
for mesh, place, color in (
    (sn.shapes.box(1.0, 1.0, 1.0), sn.Pose((-0.7, 0.0, 0.0)), draw.COLORS[0]),
    (sn.shapes.cylinder(0.5, 1.0, 12), sn.Pose((0.9, 0.0, 0.0)), draw.COLORS[1]),
):
    things.solid(mesh, place, color, opacity=0.08)
    things.lines(lines_of(mesh, place, 10), color)

# The cone, a box in it and one half beside it, and the rays to the closest points
spec = {"horizontal_fov_deg": 46.0, "vertical_fov_deg": 30.0, "range_m": 8.0}
placed = [
    (sn.shapes.box(1.0, 1.0, 1.0), sn.Pose.from_euler_deg((5.2, 0.4, -0.3), yaw=30.0, roll=12.0)),
    (sn.shapes.box(1.4, 1.4, 1.0), sn.Pose.from_euler_deg((5.4, -2.7, 0.2), yaw=65.0)),
    (sn.shapes.sphere(0.5, 3), sn.Pose((6.8, 1.9, 0.7))),
]
scene = sn.Scene()
for mesh, place in placed:
    scene.add(mesh, pose=place)
env = sn.Environment(scene, sn.worlds.Static(step_s=0.05))
sensor = env.attach(sn.ConeSensor(**spec, lines=12, per_object=True))
env.step()
objects, nearest = sensor.read().objects, int(sensor.read().object_id)
ahead = Prospect(
    figure.add_subplot(grid[0, 1]),
    "The cone, 12 lines a face, the closest points",
    azimuth_deg=-66.0,
    elevation_deg=28.0,
)
ahead.cone(sn.Pose(), (46.0, 30.0), 8.0, draw.COLORS[0])
for number, (mesh, place) in enumerate(placed):
    color = draw.COLORS[1 + number]
    ahead.solid(mesh, place, color, opacity=0.1)
    if number < 2:
        ahead.lines(lines_of(mesh, place, 12), color)
    ahead.ray((0.0, 0.0, 0.0), objects.point[number], bold=number == nearest)
ahead.sensor((0.0, 0.0, 0.0))

# How lines lead to the truth
error = figure.add_subplot(grid[1, :])
draw.frame(error, "Elevation of a face straight ahead, which should be 0", "lines a face", "error [°]", log="xy")
counts = np.unique(np.geomspace(2, 2000, 120).astype(int))
for (distance, color), name in zip(((1.0, 0), (10.0, 1)), ("1 m", "10 m"), strict=True):
    bound_deg = [math.degrees(sn.cone.worst_angle_error(1.0, int(count), distance)) for count in counts]
    error.plot(counts, bound_deg, color=draw.COLORS[color], linewidth=1.2, label=f"eq. 4.1 at {name}")
    even = [int(count) for count in counts if count % 2 == 0][::4]
    pose = sn.Pose((distance + 0.5, 0.0, 0.0))
    seen = [abs(math.degrees(reading(sn.shapes.box(1, 1, 1), pose, lines=count).elevation)) for count in even]
    error.plot(even, seen, "o", color=draw.COLORS[color], markersize=5, label=f"measured at {name}")
numbers = [count for count in PRINTED if count != 3]
error.plot(numbers, [PRINTED[n][1] for n in numbers], "x", color=INK, markersize=11, markeredgewidth=2, label="Table 2")
draw.note(error, "an odd number of lines has one in the middle, and no error", (2.0, 2.5e-3), color=FAINT)
draw.key(error, where="upper right", columns=3)
save_figure("cone_accuracy.png", figure)
