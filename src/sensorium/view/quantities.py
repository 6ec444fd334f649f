"""What readings of sampled sensors hold: their quantities, units and components."""

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

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Quantity:
    """One quantity of a reading.

    Attributes:
        name: The reading's attribute.
        title: What it is, for a heading.
        unit: Its unit, as text.
        components: Names of its components; one without a name for a single number.
        is_inertial: Whether its errors are told by an Allan deviation.
    """

    name: str
    title: str
    unit: str
    components: tuple[str, ...] = ("",)
    is_inertial: bool = False


_INERTIAL = {
    "acceleration": ("Specific force", "m/s²"),
    "angular_velocity": ("Angular velocity", "rad/s"),
    "magnetic_field": ("Magnetic field", "T"),
    "delta_velocity": ("Velocity increment", "m/s"),
    "delta_angle": ("Angle increment", "rad"),
}

# Lines of a ray sensor's own values that a picture can still show
_MOST_VALUES = 16

_ENU = ("east", "north", "up")
_OTHERS: dict[type, tuple[Quantity, ...]] = {
    EncoderReading: (Quantity("position", "Position", "rad or m"), Quantity("velocity", "Speed", "rad/s or m/s")),
    OdometerReading: (Quantity("distance", "Distance", "m"), Quantity("velocity", "Speed", "m/s")),
    GnssReading: (Quantity("position", "Position", "m", _ENU), Quantity("velocity", "Velocity", "m/s", _ENU)),
    BarometerReading: (Quantity("pressure_Pa", "Pressure", "Pa"),),
    SunSensorReading: (Quantity("cosine", "Cosine of the Sun's angle", "1"),),
    ConeReading: (
        Quantity("range_m", "Range", "m"),
        Quantity("azimuth", "Azimuth", "rad"),
        Quantity("elevation", "Elevation", "rad"),
        Quantity("range_rate", "Range rate", "m/s"),
        Quantity("differenced_range_rate", "Range rate by differences", "m/s"),
    ),
}


def quantities_of(reading: Any) -> tuple[Quantity, ...]:
    """Quantities of a reading; none for a kind that is not known."""
    if isinstance(reading, InertialReading):
        layout = reading._layout
        found = []
        for name in layout.outputs:
            axes = tuple("xyz"[axis] for axis in layout.axes[INTEGRALS.get(name, name)])
            found.append(Quantity(name, *_INERTIAL[name], axes, name not in INTEGRALS))
        return tuple(found)
    if isinstance(reading, RayReading) and len(components := _numbered(reading.shape)) <= _MOST_VALUES:
        return (Quantity("values", "Values", reading.unit, components),)
    return _OTHERS.get(type(reading), ())


def _numbered(shape: tuple[int, ...]) -> tuple[str, ...]:
    """A name for each value of a table: its place."""
    return tuple(" ".join(map(str, index)) for index in np.ndindex(shape))


def values_of(reading: SampledReading, quantities: tuple[Quantity, ...], rows: int) -> Float:
    """All components side by side of the first rows (sensors of the first world), shape (rows, components).

    Rows that are not valid are NaN, and so are ranges of nothing, which are infinite.
    """
    valid = np.reshape(reading.valid, -1)[:rows]
    columns = [
        np.reshape(getattr(reading, quantity.name), (-1, len(quantity.components)))[:rows] for quantity in quantities
    ]
    side_by_side = columns[0] if len(columns) == 1 else np.concatenate(columns, axis=1)
    shown = valid[:, None] & ~np.isinf(side_by_side)
    return side_by_side if shown.all() else np.where(shown, side_by_side, np.nan)
