"""One line of a round trip: a stated value of a data sheet, and the value of the simulated device."""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.devices import Device, Quantity

Z = 3.29
"""Standard errors to both sides of a measured value: 99.9 %, since a few hundred lines are compared."""


@dataclass(frozen=True)
class Row:
    """The stated and the measured value, in the unit of the data sheet.

    Attributes:
        device: Name of the device.
        what: Name of the value, as in the sheet.
        stated: Its number.
        measured: The same from the simulated output.
        low: Lower end of the interval around the measured value.
        high: Upper end.
        unit: Of all these.
        grade: Of the stated value.
        rounding: Half of the last digit that the sheet prints, where that matters: its 41.3 is 41.25 to 41.35.
    """

    device: str
    what: str
    stated: float
    measured: float
    low: float
    high: float
    unit: str
    grade: str
    rounding: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether the stated value is in the measured interval as it is printed."""
        return self.low <= self.stated <= self.high

    @property
    def inside(self) -> bool:
        """Whether the stated value, or one that is printed the same way, is in the measured interval."""
        return self.low - self.rounding <= self.stated <= self.high + self.rounding


def in_sheet_unit(
    device: str,
    what: str,
    quantity: Quantity,
    si: float,
    measured: tuple[float, float, float],
    *,
    axis: int = 0,
    rounded: bool = False,
) -> Row:
    """A row in the unit and with the meaning of the sheet.

    Args:
        device: Name of the device.
        what: Name of the value.
        quantity: As the sheet states it.
        si: The same number as the specification takes it.
        measured: The measured value and the ends of its interval, as the specification takes it.
        axis: Which number, where the sheet has several.
        rounded: Whether the sheet rounds; the measured value has more digits than it prints.
    """
    printed = number_of(quantity.value, axis)
    if quantity.unit.startswith("LSB/"):  # the more of them, the smaller
        middle, high, low = (printed * si / one for one in measured)
    else:
        middle, low, high = (printed / si * one for one in measured)
    unit = quantity.unit if quantity.unit != "1" else ""
    return Row(device, what, printed, middle, low, high, unit, quantity.grade, last_digit(printed) if rounded else 0.0)


def stated_row(
    device: Device, name: str, measured: tuple[float, float, float], *, what: str | None = None, rounded: bool = False
) -> list[Row]:
    """The row of a value that has one number, or none where the sheet does not state it.

    Args:
        device: The device.
        name: Of the value in its sheet.
        measured, rounded: As for `in_sheet_unit`.
        what: Its name in the row, by default that in the sheet.
    """
    quantity = getattr(device.sheet, name)
    if quantity is None:
        return []
    stated = device.sheet.number(name)
    return [in_sheet_unit(device.name, what or name, quantity, stated, measured, rounded=rounded)]


def limits(seen: NDArray[np.bool_], range_m: NDArray[np.float64], *, greatest: bool) -> tuple[float, float, float]:
    """Least or greatest range that a sensor sees [m]: between the last target it sees and the first it does not.

    Args:
        seen: Which targets it sees.
        range_m: Where they are [m].
        greatest: Which of the two.

    Returns:
        The middle of the interval, and its ends.
    """
    if greatest:
        low = float(range_m[seen].max())
        high = float(range_m[~seen & (range_m > low)].min())
    else:
        high = float(range_m[seen].min())
        low = float(range_m[~seen & (range_m < high)].max())
    return 0.5 * (low + high), low, high


def seed_of(device: str, part: float = 0.0) -> int:
    """A seed of its own for each device, and for each part of its round trip."""
    return zlib.crc32(f"{device} {part:g}".encode())


def number_of(value: Any, axis: int) -> float:
    """A number, or one of several."""
    return float(value[axis]) if isinstance(value, tuple) else float(value)


def last_digit(value: float) -> float:
    """Half of the last digit that is printed: 41.3 is anything from 41.25 to 41.35, and 40 from 39.5 to 40.5."""
    decimals = f"{value:.10f}".rstrip("0").partition(".")[2]
    return 0.5 * 10.0 ** -len(decimals)
