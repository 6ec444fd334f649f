"""A layout for Foxglove that shows all that an environment sends."""

import json
from typing import Any

from sensorium.environment import Environment
from sensorium.record.ros2.message import Source
from sensorium.sensors.camera.camera import Camera
from sensorium.sensors.depth_camera.depth_camera import DepthCamera
from sensorium.sensors.inertial.imu import Imu
from sensorium.sensors.inertial.triads import Accelerometer, Gyroscope
from sensorium.sensors.lidar.lidar import Lidar
from sensorium.sensors.radar.spec import Radar

_PLOTTED = ("linear_acceleration", "angular_velocity")


def foxglove_layout(env: Environment) -> str:
    """A layout as the text of a JSON file: scene and clouds on the left; plots, images, parameters on the right.

    Foxglove imports it as a file (Layouts, Import from file). Of several worlds it shows the first.

    Args:
        env: The environment, with its sensors.
    """
    sources = [Source.of(sensor, env.world.body_names, env.world.joint_names) for sensor in env.sensors.values()]
    panels: dict[str, Any] = {"3D!scene": _scene(env, sources), "Parameters!run": {"title": "Sensors and pace"}}
    panels["DiagnosticSummary!faults"] = {"topicToRender": "/diagnostics", "sortByLevel": True}
    for source in sources:
        name = source.name
        if isinstance(source.spec, Imu | Accelerometer | Gyroscope):
            panels[f"Plot!{name}"] = _plot(source)
        elif isinstance(source.spec, Camera):
            panels[f"Image!{name}"] = {"imageMode": {"imageTopic": source.topic(0, "image_raw")}}
        elif isinstance(source.spec, DepthCamera):
            panels[f"Image!{name}"] = {"imageMode": {"imageTopic": source.topic(0, "depth")}}
    for service in ("pause", "resume", "step", "reset"):
        panels[f"CallService!{service}"] = _button(service)
    side = [name for name in panels if name.startswith(("Plot!", "Image!"))]
    controls = _tree("row", [name for name in panels if name.startswith("CallService!")])
    right = _tree("column", [*side, "Parameters!run", "DiagnosticSummary!faults", controls])
    tree = {"direction": "row", "first": "3D!scene", "second": right, "splitPercentage": 62}
    layout = {"configById": panels, "globalVariables": {}, "userNodes": {}, "layout": tree}
    return json.dumps(layout, indent=2) + "\n"


def _scene(env: Environment, sources: list[Source]) -> dict[str, Any]:
    """The panel of the scene: clouds colored by their labels, entities, frames; the camera follows the first body."""
    topics: dict[str, Any] = {"/scene": {"visible": True}}
    for source in sources:
        if isinstance(source.spec, Lidar):
            colors = {"colorField": "label", "colorMode": "colormap", "colorMap": "turbo"}
            topics[source.topic(0, "points")] = {"visible": True, "pointSize": 2, **colors}
        elif isinstance(source.spec, Radar):
            topics[source.topic(0, "detections")] = {"visible": True, "pointSize": 6}
    root = sources[0].roots[0] if sources else "world"
    followed = root.removesuffix("world") + env.world.body_names[0] if env.world.body_names else root
    camera = {"distance": 45, "phi": 55, "thetaOffset": 110, "perspective": True, "fovy": 45, "near": 0.5, "far": 5000}
    return {
        "cameraState": camera,
        "followMode": "follow-position",
        "followTf": followed,
        "fixedFrame": root,
        "scene": {"transforms": {"showLabel": False, "axisScale": 0.5}},
        "topics": topics,
    }


def _plot(source: Source) -> dict[str, Any]:
    fields = {Accelerometer: _PLOTTED[:1], Gyroscope: _PLOTTED[1:]}.get(type(source.spec), _PLOTTED)
    topic = source.topic(0, "data_raw")
    how = {"enabled": True, "timestampMethod": "receiveTime"}
    names = [(field, axis) for field in fields for axis in "xyz"]
    paths = [{"value": f"{topic}.{field}.{axis}", "label": f"{field} {axis}", **how} for field, axis in names]
    return {"title": source.name, "paths": paths, "xAxisVal": "timestamp", "followingViewWidth": 10, "showLegend": True}


def _button(service: str) -> dict[str, Any]:
    name = f"/sensorium/{service}"
    return {"serviceName": name, "requestPayload": "{}", "layout": "horizontal", "buttonText": service}


def _tree(direction: str, names: list[Any]) -> Any:
    """Panels beside each other, or below each other, of equal size."""
    if len(names) == 1:
        return names[0]
    rest = _tree(direction, names[1:])
    return {"direction": direction, "first": names[0], "second": rest, "splitPercentage": round(100 / len(names), 1)}
