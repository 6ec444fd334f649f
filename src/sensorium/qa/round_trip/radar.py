"""Round trip of a radar: one reflector at several places, and its detections."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.core.frames import Pose
from sensorium.devices import Device, RadarSheet
from sensorium.environment import Environment
from sensorium.qa.round_trip.row import Row, stated_row
from sensorium.scene.scene import Scene
from sensorium.scene.shapes import box
from sensorium.sensors.radar.spec import Radar
from sensorium.worlds import Static

# Strong enough to be seen everywhere in the field
_REFLECTOR_M2 = 1e4
_STEPS = 12


def radar_rows(device: Device) -> list[Row]:
    """Field of view and range by where a reflector vanishes; cells, cycle and length of the list."""
    sheet = device.sheet
    assert isinstance(sheet, RadarSheet)
    # The farthest range with a detection, and the nearest without
    spec = Radar.from_device(device.path)
    near_m = 0.3 * spec.farthest_m

    def ahead(range_m: float) -> tuple[float, float, float]:
        return range_m, 0.0, 0.0

    def aside(angle_deg: float) -> tuple[float, float, float]:
        return near_m * np.cos(np.radians(angle_deg)), near_m * np.sin(np.radians(angle_deg)), 0.0

    def above(angle_deg: float) -> tuple[float, float, float]:
        return near_m * np.cos(np.radians(angle_deg)), 0.0, near_m * np.sin(np.radians(angle_deg))

    greatest = _edge(device, ahead, near_m, 1.3 * spec.farthest_m)
    rows = stated_row(device, "max_range", greatest, what="greatest range")
    for name, what, place, field in (
        ("horizontal_fov", "horizontal field", aside, spec.horizontal_fov_deg),
        ("vertical_fov", "vertical field", above, spec.vertical_fov_deg),
    ):
        half = _edge(device, place, 0.0, min(0.75 * field, 89.0))
        rows += stated_row(device, name, (2.0 * half[0], 2.0 * half[1], 2.0 * half[2]), what=what)

    # Parameters of the range-speed map, and its rate
    env, radar = _made(device, [ahead(near_m)], range_doppler=True)
    env.step()
    first = radar.read()
    env.step()
    bandwidth_hz = SPEED_OF_LIGHT_M_S / (2.0 * float(np.diff(first.map_range_m).mean()))
    rows += stated_row(device, "bandwidth", (bandwidth_hz, 0.999 * bandwidth_hz, 1.001 * bandwidth_hz))
    cycle_s = (radar.read().time_ns - first.time_ns) * 1e-9
    rows += stated_row(device, "cycle", (cycle_s, cycle_s - 1e-9, cycle_s + 1e-9))

    # More reflectors than the list has room for
    if sheet.tracks is not None:
        many = round(sheet.number("tracks")) + 16
        env, radar = _made(device, [ahead(10.0 + 2.0 * i / many) for i in range(many)], cfar={"false_alarm": 0.05})
        env.step()
        count = float(radar.read().valid.sum())
        rows += stated_row(device, "tracks", (count, count, count), what="objects")
    return rows


def _edge(
    device: Device, place: Callable[[float], tuple[float, float, float]], inside: float, outside: float
) -> tuple[float, float, float]:
    """Range at which a reflector vanishes, by bisection: the middle between seen and not seen, and both."""
    for _ in range(_STEPS):
        middle = 0.5 * (inside + outside)
        env, radar = _made(device, [place(middle)], chirp={"chirps": 16})
        env.step()
        if (radar.read().object_id == 0).any():
            inside = middle
        else:
            outside = middle
    return 0.5 * (inside + outside), inside, outside


def _made(device: Device, places: list[tuple[float, float, float]], **overrides: Any) -> tuple[Environment, Any]:
    """An environment with reflectors, and a radar of the device whose every step is a reading."""
    scene = Scene()
    for x, y, z in places:
        scene.add(box(1e-4, 1e-4, 1e-4), pose=Pose((x, y, z)), label="reflector")
    spec = Radar.from_device(
        device.path, source="cone", fluctuation="steady", cross_sections={"reflector": _REFLECTOR_M2}, **overrides
    )
    assert spec.timing.rate_hz is not None
    env = Environment(scene, Static(step_s=1.0 / spec.timing.rate_hz), seed=1)
    return env, env.attach(spec)
