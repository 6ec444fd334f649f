"""Facts of a run: those known of every run, and those its user adds."""

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sensorium.environment import Environment

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
