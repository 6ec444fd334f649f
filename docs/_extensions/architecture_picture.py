"""Draws docs/images/architecture.svg: the layers of the package and the three data paths.

python docs/_extensions/architecture_picture.py
"""

from pathlib import Path
from xml.sax.saxutils import escape

TARGET = Path(__file__).parents[1] / "images" / "architecture.svg"

WIDTH, ROW, GAP, TOP = 1120, 34, 8, 56
LEFT = 40

# From the lowest layer up: the parts of a row do not import each other
LAYERS = [
    ("core", "errors, units, time, frames, specifications"),
    ("files  ·  runtime  ·  random", "bounded reading; kernels, threads, clusters; Philox"),
    ("devices  ·  corruption  ·  analysis", "data sheets; errors and faults; noise from logs"),
    ("physics", "optics, radio, media, fields, cone, imaging, materials"),
    ("scene  ·  worlds.paths", "meshes, formats, objects, parts; motions"),
    ("worlds  ·  patterns", "what moves; where rays go and when"),
    ("tracing", "Embree, placement, kernels, ray caster"),
    ("sensors", "specification, model, readings: one kind a folder"),
    ("environment", "joins scene, world and sensors"),
    ("record  ·  view", "files; pictures, reports, viewers"),
    ("recordings", "real sensors: packets, readers, measurement"),
    ("live", "sinks that send a run to other programs"),
    ("app  ·  qa", "scenarios, gallery, commands; laws, benchmarks"),
]

PATHS = [
    (
        "Lidar to MCAP",
        "#1f6feb",
        ["worlds", "history", "tracing.placement", "sweep kernel", "sensors.lidar: Scan", "record.mcap"],
    ),
    (
        "Depth image",
        "#2da44e",
        ["worlds", "history", "tracing.placement", "depth kernel", "sensors.depth_camera: DepthImage", "your program"],
    ),
    (
        "IMU to CSV",
        "#bf5700",
        [
            "worlds",
            "history",
            "point motion",
            "corruption program",
            "sensors.inertial: InertialReading",
            "record.signals",
        ],
    ),
]


def text(
    x: float,
    y: float,
    words: str,
    size: int = 14,
    weight: str = "normal",
    color: str = "#1f2328",
    anchor: str = "start",
) -> str:
    """Words at a place."""
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" font-weight="{weight}" fill="{color}" '
        f'text-anchor="{anchor}">{escape(words)}</text>'
    )


def box(x: float, y: float, width: float, height: float, fill: str, edge: str) -> str:
    """A box with round corners."""
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" stroke="{edge}" '
        'stroke-width="1.2"/>'
    )


def drawn() -> str:
    """The picture as SVG."""
    parts = [text(LEFT, 34, "Layers: a row imports from the rows below it, never from those above", 16, "bold")]
    for number, (name, told) in enumerate(reversed(LAYERS)):
        y = TOP + number * (ROW + GAP)
        parts.append(box(LEFT, y, WIDTH - 2 * LEFT, ROW, "#f6f8fa", "#8c959f"))
        parts.append(text(LEFT + 14, y + 22, name, 14, "bold"))
        parts.append(text(LEFT + 360, y + 22, told, 13, color="#57606a"))
    y = TOP + len(LAYERS) * (ROW + GAP) + 40
    parts.append(text(LEFT, y - 8, "Three data paths, from the state of a world to what a user holds", 16, "bold"))
    step = (WIDTH - 2 * LEFT - 120) / 6
    for name, color, stations in PATHS:
        parts.append(text(LEFT, y + 34, name, 14, "bold", color))
        for k, station in enumerate(stations):
            x = LEFT + 120 + k * step
            parts.append(box(x, y + 10, step - 18, 44, "#ffffff", color))
            first, _, second = station.partition(": ")
            middle = x + (step - 18) / 2
            if second:
                parts.append(text(middle, y + 28, first, 11, anchor="middle"))
                parts.append(text(middle, y + 44, second, 12, "bold", anchor="middle"))
            else:
                parts.append(text(middle, y + 36, first, 12, anchor="middle"))
            if k:
                parts.append(
                    f'<path d="M{x - 17} {y + 32} h12" stroke="{color}" stroke-width="2" marker-end="url(#tip)"/>'
                )
        y += 70
    tip = (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="5" markerHeight="5" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#57606a"/></marker></defs>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 10}" '
        f'font-family="system-ui, sans-serif"><rect width="{WIDTH}" height="{y + 10}" fill="#ffffff"/>'
        f"{tip}{''.join(parts)}</svg>\n"
    )


if __name__ == "__main__":
    TARGET.write_text(drawn())
