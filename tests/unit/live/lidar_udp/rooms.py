"""A lidar in a room, and its sweeps."""

from typing import Any

import sensorium as sn


def room(*, step_s: float = 0.05, seed: int = 3, **fields: Any) -> sn.Environment:
    """An environment with one lidar, "top", that drives through a room with a pane of glass."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(24.0, 14.0, 5.0), label="room", material=sn.materials.load("concrete"))
    scene.add(sn.shapes.box(0.02, 6.0, 4.0), pose=sn.Pose(position=(5, 0, 0)), material=sn.materials.load("glass"))
    world = sn.worlds.Kinematic({"car": sn.paths.Line(start=(0, 0, 0), velocity=(1, 0.5, 0))}, step_s=step_s)
    env = sn.Environment(scene, world, seed=seed)
    spec = sn.Lidar.from_device(fields.pop("device"), **fields) if "device" in fields else sn.Lidar(**fields)
    env.attach(spec, body="car", name="top")
    return env


def small_ouster(**fields: Any) -> dict[str, Any]:
    """Fields of a lidar of four channels that an Ouster's packets can tell."""
    pattern = {
        "kind": "spinning",
        "elevation_deg": (12.0, 0.5, -0.5, -12.0),
        "azimuth_offset_deg": (-3.0, -1.0, 1.0, 3.0),
        "origin_offset_m": ((0.0167, 0.0, 0.0),),
        "columns": 512,
        "rate_hz": 10.0,
    }
    return {"pattern": pattern | fields.pop("pattern", {})} | fields


def sweeps(env: sn.Environment, count: int) -> list[sn.Scan]:
    """The first sweeps of the lidar."""
    found: list[sn.Scan] = []
    while len(found) < count:
        env.step()
        found += env.sensors["top"].readings()
    return found
