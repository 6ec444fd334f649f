"""Scenario files: read, checked against every kind there is, and made as far as that costs little."""

from pathlib import Path

from fuzz.reader import Reader, must_be_finite
from sensorium.app import gallery
from sensorium.app.scenario.scenario import Scenario
from sensorium.core.errors import MissingExtraError, SceneError, SpecError
from sensorium.scene.scene import Scene

# What a file asks for is its author's to answer for: shapes of many faces are not made here
_MOST_SUBDIVISIONS, _MOST_SEGMENTS = 5, 1000

SMALL = """
title: A box and a lidar
duration_s: 0.5
scene:
  objects:
    - {shape: {kind: box, x: 1, y: 2, z: 3}, pose: {position: [5, 0, 0], euler_deg: [0, 0, 30]}, label: box, body: car}
    - &ball {shape: {kind: sphere, radius: 0.5, subdivisions: 2}, material: wood, name: ball}
    - {<<: *ball, name: other}
    - {shape: {kind: heightfield, heights: [[0, 1, 0.5], [0, 0, 1e-3]], size_x: 10, size_y: 10}}
    - {mesh: missing.obj, scale: 0.001}
world:
  kind: kinematic
  step_s: 0.01
  bodies:
    car: {kind: line, start: [0, 0, 1], velocity: [1, 0, 0]}
    drone: {kind: waypoints, times_s: [0, 1], poses: [{}, {position: [1, 0, 1], euler_deg: [0, 0, 9]}]}
  joints: {wheel: {kind: line, start: 0, velocity: 3}}
atmosphere: {kind: fog, visibility_m: 50}
sensors:
  lidar:
    kind: lidar
    body: car
    pattern: {kind: spinning, elevation_deg: [-1, 0, 1], columns: 90, rate_hz: 10}
    max_range_m: 50
  imu: {device: bosch-bmi088, body: car, linear: {noise: {density: 0.001}}}
  encoder: {kind: encoder, joint: wheel, timing: {rate_hz: 100}}
faults:
  - {sensor: imu, start_s: 0.1, end_s: 0.2, corruption: {kind: dropout, probability: 0.5}}
outputs: {mcap: true}
"""


def _read(path: Path) -> None:
    scenario = Scenario.load(path)
    spec = scenario.spec
    must_be_finite(duration_s=spec.duration_s)

    # What moves; then what stands there
    chosen = [world for world in spec.world if not world.missing()]
    with scenario.document.blamed("world"):
        world = chosen[0].make(scenario.files) if chosen else None
    if world is not None:
        world.start(1)
        state = world.state()
        must_be_finite(position=state.X_WB.position, quaternion=state.X_WB.quaternion)
    shapes = [each.shape for each in spec.scene.objects if each.shape is not None]
    if any(getattr(shape, "subdivisions", 0) > _MOST_SUBDIVISIONS for shape in shapes):
        return
    if any(getattr(shape, "segments", 0) > _MOST_SEGMENTS for shape in shapes) or len(shapes) > 100:
        return
    scene = Scene()
    spec.scene.add_to(scene, scenario.files, scenario.document)
    for each in scene.objects:
        must_be_finite(vertices=each.mesh.vertices, position=each.pose.position, quaternion=each.pose.quaternion)


def _seeds(folder: Path) -> list[bytes]:
    shown = [gallery.path_of(name).read_bytes() for name in gallery.names()]
    return [SMALL.encode(), SMALL.replace("    - {mesh: missing.obj, scale: 0.001}\n", "").encode(), *shown]


_WORDS = tuple(
    word.encode()
    for word in (
        *(
            "- ",
            "&a ",
            "*a",
            "<<: *a",
            "!!python/object:os.system ",
            "!x ",
            "? ",
            "| ",
            "> ",
            "---\n",
            "...\n",
            "%YAML 1.1\n",
        ),
        *(
            "kind: ",
            "sensors:",
            "world:",
            "scene:",
            "objects:",
            "shape:",
            "box",
            "sphere",
            "device: ",
            "include: [yard]",
        ),
        *(
            "{kind: mujoco, model: ../x.xml}",
            "{kind: replay, file: input.yaml}",
            "mesh: input.yaml",
            "joined",
            "parts:",
        ),
        *("worlds: 1000000", "subdivisions: ", "quaternion: [0, 0, 0, 0]", "std: ", "pose:", "faults:", "controllers:"),
    )
)

READERS = (
    Reader(
        "scenario",
        ".yaml",
        _read,
        (SpecError, SceneError, MissingExtraError),
        _seeds,
        (
            *("sensorium.app.scenario.document", "sensorium.app.scenario.scenario", "sensorium.app.scenario.sensors"),
            *(f"sensorium.app.scenario.{name}" for name in ("shapes", "worlds", "motions")),
            "sensorium.core.spec",
            *("yaml.scanner", "yaml.parser", "yaml.composer", "yaml.reader"),
        ),
        words=_WORDS,
        says_lines=True,
    ),
)
