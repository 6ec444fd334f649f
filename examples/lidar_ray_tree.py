"""One ray's tree: a pane splits the ray, a mirror deflects it, water refracts it; and the heap of its nodes."""

import numpy as np
from scipy.spatial import ConvexHull

import sensorium as sn
from sensorium.tracing.reference.ray_tree import ray_tree
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure
from sensorium.view.plots import INK, PAPER

GRID = "#21262d"
DEPTH = 3
PLACES = {
    "pane": (3.35, 0.85),
    "steel": (1.0, 2.9),
    "mirror": (7.25, -0.55),
    "water": (4.1, -3.25),
    "ball": (4.6, -2.7),
}
PLACES |= {"wall": (9.75, 2.8), "far wall": (0.1, 4.45)}
scene = sn.Scene()
matt = sn.Lambertian(reflectance=0.5)


def board(x: float, y: float, facing_deg: float, length: float, material: object, name: str) -> None:
    """An upright board whose front passes through a point and faces a direction."""
    back = 0.03 * np.array([np.cos(np.radians(facing_deg)), np.sin(np.radians(facing_deg))])
    pose = sn.Pose.from_euler_deg((x - back[0], y - back[1], 0.0), yaw=facing_deg)
    scene.add(sn.shapes.box(0.06, length, 2.0), pose=pose, material=material, name=name)


# The pane, a sheet of glass; its reflection hits a steel plate, its transmission a mirror and then a tank
edge = 0.8 * np.array([np.sin(np.radians(35.0)), np.cos(np.radians(35.0))])
corners = [(3 + s * edge[0], s * edge[1], z) for s, z in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
scene.add(sn.Mesh(corners, [(0, 1, 2), (0, 2, 3)]), material=sn.ThinGlass(), name="pane")
polished = sn.TwoLayer(refractive_index=2.954, extinction_coefficient=3.593, roughness=2e-4, reflectance=0.0)
board(3 - 3 * 0.342, 3 * 0.940, -32.0, 1.1, polished, "steel")
board(7.0, 0.0, -150.0, 1.0, sn.Mirror(reflectance=0.9), "mirror")
board(9.5, 2.9, 180.0, 2.0, matt, "wall")
board(4.75, 4.3, -90.0, 9.4, matt, "far wall")
tank = sn.Dielectric(medium=sn.media.water())
scene.add(sn.shapes.box(3.0, 1.8, 2.0), pose=sn.Pose(position=(5.5, -2.5, 0)), material=tank, name="water")
scene.add(sn.shapes.sphere(0.35), pose=sn.Pose(position=(5.6, -2.75, 0)), material=matt, name="ball")
names = {k: thing.name for k, thing in enumerate(scene.objects)}

nodes = ray_tree(sn.RayCaster(scene), (0, 0, 0), (1, 0, 0), max_depth=DEPTH)

# The lidar follows the same ray, and puts every return on the line it was sent along
environment = sn.Environment(scene)
one_ray = sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=10)
spec = sn.Lidar(pattern=one_ray, mode="relative", detection=None, max_depth=DEPTH, returns="all", max_returns=8)
lidar = environment.attach(spec)
for _ in environment.run(duration_s=0.1):
    pass
scan = lidar.read().flat()
for node in sorted(nodes, key=lambda node: node.opl_m):
    if node.intensity > 0.0:
        k = np.argmin(np.abs(scan.range_m - node.opl_m))
        print(f"node {node.number:2d}, {names[node.object_id]}: tree {node.opl_m:.4f} m {node.intensity:.4e},", end=" ")
        print(f"lidar {scan.range_m[k]:.4f} m {scan.intensity[k]:.4e}")

def tree_in_scene(axes, nodes):
    """A ray's tree from above: its segments, thinner with less light in them, and the numbers of their ends."""
    for node in nodes:
        line = np.stack([node.origin, node.point])
        axes.plot(line[:, 0], line[:, 1], color=_way_color(node.number), linewidth=_width(node), zorder=3)
        if node.object_id >= 0:
            _numbered(axes, node.point[0], node.point[1], node.number, size=150)


def heap(axes, nodes, names, *, depth):
    """The tree as the heap it is kept in: node i over its reflection 2 i + 1 and its transmission 2 i + 2.

    There are `depth` rows below the first; empty places are shown as such.
    """
    by_number = {node.number: node for node in nodes}
    for number in range(2 ** (depth + 1) - 1):
        x, y = _place(number)
        node = by_number.get(number)
        if number:
            above = _place((number - 1) // 2)
            color, width = (GRID, 1.0) if node is None else (_way_color(number), _width(node))
            axes.plot([above[0], x], [above[1], y], color=color, linewidth=width, zorder=1)
        if node is None:
            axes.scatter([x], [y], 60, facecolor=PAPER, edgecolor=GRID, zorder=2)
            continue
        _numbered(axes, x, y, number, size=260)
        text = f"{names[node.object_id]}\n{node.opl_m:.2f} m\n{node.intensity:.1e}"
        backing = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.5}
        axes.text(x, y - 0.17, text, color=INK, fontsize=9, ha="center", va="top", zorder=3, bbox=backing)
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(-depth - 0.75, 0.35)
    axes.set_axis_off()


def _place(number):
    """Position of a node in the drawn heap: rows go down, each as wide as the first."""
    row = (number + 1).bit_length() - 1
    return (number + 1 - 2**row + 0.5) / 2**row, -float(row)


def _way_color(number):
    """Color of the way into a node: odd ones are reflections, even ones transmissions."""
    cause = sn.Cause.SURFACE if number == 0 else sn.Cause.REFLECTION if number % 2 else sn.Cause.TRANSMISSION
    return "#e6edf3" if cause == sn.Cause.SURFACE else draw.CAUSE_COLORS[cause]


def _width(node):
    """Line width for the remaining light: a point less for each power of a hundred."""
    return max(0.8, 3.0 + 0.5 * float(np.log10(max(node.gain, 1e-12))))


def _numbered(axes, x, y, number, *, size):
    axes.scatter([x], [y], size, color=_way_color(number), edgecolor=PAPER, zorder=4)
    axes.text(
        x, y, str(number), color=PAPER, fontsize=9, fontweight="bold", ha="center", va="center_baseline", zorder=5
    )


figure, (view, tree) = draw.canvas(16.0, 5.2, columns=2, width_ratios=(1.6, 1.0))
draw.frame(view, "One ray and what becomes of it, from above", "x [m]", "y [m]", equal=True)
shades = {"mirror": "#4aa8ff", "water": "#1f4e79", "steel": "#b3bfcb"}
view.plot([3 - edge[0], 3 + edge[0]], [-edge[1], edge[1]], color="#4aa8ff", linewidth=4.0, alpha=0.6)
for thing in scene.objects[1:]:
    outline = thing.pose.apply(thing.mesh.vertices)[:, :2]
    around = outline[ConvexHull(outline).vertices]
    view.fill(*around.T, color=shades.get(thing.name, "#6b7888"), alpha=0.85, zorder=1, linewidth=1.5)
for name, place in PLACES.items():
    draw.note(view, name, place, color="#b3bfcb")
tree_in_scene(view, nodes)
view.axhline(0.0, color="#6e7681", linewidth=0.8, linestyle=":", zorder=0)
draw.points_by_cause(view, scan.points[:, 0], scan.points[:, 1], scan.cause, size=45, layer=3.5)
draw.sensor(view, 0.0, 0.0)
view.set_xlim(-0.6, 16.5)
view.set_ylim(-3.8, 4.8)
draw.key(view, where="lower right", title="where the lidar puts its returns")
draw.heading(tree, "Its heap: node i, reflection 2i + 1, transmission 2i + 2")
heap(tree, nodes, names, depth=DEPTH)
save_figure("lidar_ray_tree.png", figure)
