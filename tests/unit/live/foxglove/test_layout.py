"""The layout names topics, parameters and services that are really there; the gallery's is up to date."""

import json

import sensorium as sn
from sensorium.app import gallery
from sensorium.app.scenario import Scenario
from sensorium.live.foxglove.control import RunControl
from sensorium.record.ros2.step_messages import StepMessages


def panels_in(tree):
    return {tree} if isinstance(tree, str) else panels_in(tree["first"]) | panels_in(tree["second"])


def test_all_that_it_shows_is_sent(env):
    maker, topics = StepMessages(), {"/scene", "/diagnostics"}
    layout = json.loads(sn.live.foxglove_layout(env))
    for _ in env.run(0.2):
        topics |= {one.topic for one in maker.of(env)}
    assert panels_in(layout["layout"]) == set(layout["configById"])
    scene = layout["configById"]["3D!scene"]
    assert set(scene["topics"]) == {"/scene", "/lidar/points"}
    assert set(scene["topics"]) <= topics
    assert scene["followTf"] == "car"
    plotted = {path["value"].split(".")[0] for path in layout["configById"]["Plot!gyro"]["paths"]}
    assert plotted == {"/gyro/data_raw"}
    services = {service.name for service in RunControl(env, sn.live.RunClock(), print).services()}
    called = {panel["serviceName"] for name, panel in layout["configById"].items() if name.startswith("CallService")}
    assert called == services


def test_the_layout_of_the_gallery_is_that_of_its_scenario():
    """Made by `sn.live.foxglove_layout(sn.scenario.Scenario.load(...).environment())`."""
    path = gallery.path_of("yard-drive")
    env = Scenario.load(path).environment()
    assert (path.parent / "foxglove-layout.json").read_text() == sn.live.foxglove_layout(env)
