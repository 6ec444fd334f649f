"""Facts of a run (what is known of every one, and what its user adds), and the table of its faults."""

import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sensorium.core.clock import ns_to_seconds
from sensorium.environment import Environment
from sensorium.sensors.common.attached import AttachedSensor

Facts = Mapping[str, Any]
"""Names and values: text, numbers, paths of files, or sequences of these."""

_PACKAGES = ("sensorium", "numpy", "numba", "embreex", "mujoco", "plotly")


def versions() -> dict[str, str]:
    """Versions of the software of a run."""
    found = {"Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def sensor_rows(env: Environment, readings: Mapping[str, int]) -> list[tuple[str, ...]]:
    """A row for each sensor: its name, kind, place, rate, readings that arrived, and faults that struck.

    Args:
        env: Whose.
        readings: How many arrived of each, by name.
    """
    rows: list[tuple[str, ...]] = []
    for name, sensor in env.sensors.items():
        spec, rig = sensor.spec, sensor.rig
        if rig.joint is not None:
            place = f"joint {env.world.joint_names[rig.joint]}"
        else:
            place = "world" if rig.body is None else f"body {env.world.body_names[rig.body]}"
        pattern = getattr(spec, "pattern", None)
        rate_hz = spec.timing.rate_hz if pattern is None else pattern.rate_hz
        kind = getattr(spec, "kind", type(spec).__name__)
        count = f" × {rig.sensors}" if rig.sensor_axis else ""
        rate = "" if rate_hz is None else f"{rate_hz:g} Hz"
        faults = str(sensor.faults.log.total or "")
        rows.append((name, f"{kind}{count}", place, rate, f"{readings.get(name, 0):,}", faults))
    return rows


def quantity(value: float, unit: str = "") -> str:
    """A number as people read it at a glance: 12.3 M, 4.00 s."""
    for size, word in ((1e9, "G"), (1e6, "M")):
        if abs(value) >= size:
            return f"{value / size:.3g} {word}{unit}"
    return (f"{value:,}" if isinstance(value, int) else f"{value:,.2f}") + (f" {unit}" if unit else "")


# Bars that are drawn; a fault that comes and goes for an hour has more
_MOST_EVENTS = 600


def fault_events(sensors: Iterable[AttachedSensor[Any]], end_ns: int) -> tuple[list[dict[str, Any]], int]:
    """Faults of the first world in order of sensor and onset, and how many more there were.

    Args:
        sensors: Whose.
        end_ns: When the run ended [ns]; a fault still active lasts until then.
    """
    events = []
    for sensor in sensors:
        for event in sensor.faults.log:
            if event.world == sensor.rig.first_world:
                over_ns = end_ns if event.end_ns is None else event.end_ns
                events.append(
                    {
                        "sensor": sensor.name,
                        "fault": event.fault,
                        "from_s": ns_to_seconds(event.start_ns),
                        "to_s": ns_to_seconds(over_ns),
                        "active": event.end_ns is None,
                    }
                )
    return events[:_MOST_EVENTS], max(0, len(events) - _MOST_EVENTS)
