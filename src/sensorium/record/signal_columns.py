"""Readings of sampled sensors as columns of a table: one number a column, its unit in its name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.sensors.barometer import BarometerReading
from sensorium.sensors.cone_reading import ConeReading
from sensorium.sensors.encoder_reading import EncoderReading
from sensorium.sensors.gnss import GnssReading
from sensorium.sensors.inertial_reading import INTEGRALS, InertialReading
from sensorium.sensors.odometer import OdometerReading
from sensorium.sensors.ray_sensor import RayReading
from sensorium.sensors.sampled_reading import SampledReading
from sensorium.sensors.sun_sensor import SunSensorReading

_UNITS = {
    "acceleration": "m_s2",
    "angular_velocity": "rad_s",
    "magnetic_field": "T",
    "delta_velocity": "m_s",
    "delta_angle": "rad",
}


@dataclass(frozen=True)
class Column:
    """One number of each reading.

    Attributes:
        name: What it is, with its unit.
        kind: float, int or bool.
        values: Gives it of a reading, in the shape of the reading's leading axes.
        has_truth: Whether the truth has another.
    """

    name: str
    kind: type
    values: Callable[[Any], NDArray[Any]]
    has_truth: bool = True


def columns_of_reading(reading: SampledReading) -> tuple[Column, ...] | None:
    """The columns of a kind of reading, which are the same for all of one sensor; None for a kind that is not known.

    Positions and velocities of an encoder are in the unit of its joint, rad or m, which is not in their names.
    """
    made = _COLUMNS.get(type(reading))
    return None if made is None else made(reading)


def _number(name: str, attribute: str, kind: type = float, *, has_truth: bool = True) -> Column:
    return Column(name, kind, lambda reading: np.asarray(getattr(reading, attribute)), has_truth)


def _element(name: str, attribute: str, index: int) -> Column:
    return Column(name, float, lambda reading: np.asarray(getattr(reading, attribute)[..., index]))


def _vector(name: str, attribute: str, unit: str) -> tuple[Column, ...]:
    return tuple(_element(f"{name}_{axis}_{unit}", attribute, k) for k, axis in enumerate("xyz"))


def _inertial(reading: InertialReading) -> tuple[Column, ...]:
    layout = reading._layout
    return tuple(
        _element(f"{output}_{'xyz'[axis]}_{_UNITS[output]}", output, k)
        for output in layout.outputs
        for k, axis in enumerate(layout.axes[INTEGRALS.get(output, output)])
    )


def _encoder(reading: EncoderReading) -> tuple[Column, ...]:
    layout = reading._layout
    columns = [_number("position", "position"), _number("velocity", "velocity")]
    if layout.has_bins:
        columns.append(_number("count", "count", int, has_truth=False))
    if layout.has_quadrature:
        columns += [_number(track, track, bool, has_truth=False) for track in "abz"]
    return tuple(columns)


def _gnss(reading: GnssReading) -> tuple[Column, ...]:
    columns = [_number("fix", "fix", bool), *_vector("position", "position", "m")]
    columns += _vector("velocity", "velocity", "m_s")
    if reading._spec.origin is not None:
        columns += [_number(name, name) for name in ("latitude_deg", "longitude_deg", "height_m")]
    if reading._spec.min_sky_fraction is not None:
        columns.append(_number("sky_fraction", "sky_fraction", has_truth=False))
    return tuple(columns)


def _rays(reading: RayReading) -> tuple[Column, ...]:
    """One column a value, numbered along the axes of the sensor's shape: value_3_7_m."""
    unit = "" if reading.unit in ("", "1") else f"_{reading.unit}"

    def column(index: tuple[int, ...]) -> Column:
        name = "_".join(["value", *map(str, index)])
        return Column(name + unit, float, lambda of: np.asarray(of.values[(..., *index)]))

    return tuple(column(index) for index in np.ndindex(reading.shape))


def _cone(reading: ConeReading) -> tuple[Column, ...]:
    """Where nothing is in sight the range is inf, and angles, points and speeds are NaN."""
    angles = ("azimuth", "elevation", "projected_elevation")
    speeds = ("range_rate", "differenced_range_rate", "speed")
    return (
        _number("in_sight", "in_sight", bool),
        _number("range_m", "range_m"),
        *(_number(f"{name}_rad", name) for name in angles),
        *_vector("point", "point", "m"),
        *_vector("point_W", "point_W", "m"),
        *(_number(f"{name}_m_s", name) for name in speeds),
        *(_number(name, name, int) for name in ("verdict", "object_id", "label")),
    )


_COLUMNS: dict[type, Callable[[Any], tuple[Column, ...]]] = {
    InertialReading: _inertial,
    EncoderReading: _encoder,
    OdometerReading: lambda _: (_number("distance_m", "distance"), _number("velocity_m_s", "velocity")),
    GnssReading: _gnss,
    BarometerReading: lambda _: (_number("pressure_Pa", "pressure_Pa"), _number("altitude_m", "altitude_m")),
    SunSensorReading: lambda _: (_number("cosine", "cosine"), _number("visible", "visible", bool, has_truth=False)),
    RayReading: _rays,
    ConeReading: _cone,
}
