"""Units of logged signals, and the units in which data sheets give their noise."""

import math

from sensorium.core.errors import SpecError
from sensorium.core.units import DEGREE, FLOOR, ROOT_HOUR, SIGNALS, STANDARD_GRAVITY, plain

_MICRO_G = 1e-6 * STANDARD_GRAVITY

# SI unit and letter -> the data sheet's (name, unit, factor)
_DATA_SHEET = {
    ("rad/s", "N"): (("density", "°/s/√Hz", math.sqrt(2.0) / DEGREE), ("random walk", "°/√h", ROOT_HOUR / DEGREE)),
    ("rad/s", "B"): (("floor", "°/h", FLOOR * 3600.0 / DEGREE),),
    ("rad/s", "K"): (("rate walk", "°/h/√h", 3600.0 * ROOT_HOUR / DEGREE),),
    ("m/s^2", "N"): (("density", "µg/√Hz", math.sqrt(2.0) / _MICRO_G), ("random walk", "m/s/√h", ROOT_HOUR)),
    ("m/s^2", "B"): (("floor", "µg", FLOOR / _MICRO_G),),
    ("m/s^2", "K"): (("rate walk", "µg/√h", ROOT_HOUR / _MICRO_G),),
    ("T", "N"): (("density", "nT/√Hz", math.sqrt(2.0) * 1e9),),
    ("T", "B"): (("floor", "nT", FLOOR * 1e9),),
    ("T", "K"): (("rate walk", "nT/√h", ROOT_HOUR * 1e9),),
}


def is_unit(unit: str) -> bool:
    """Whether `si_unit` accepts it."""
    return plain(unit) in SIGNALS


def si_unit(unit: str) -> tuple[str, float]:
    """The SI unit of the same quantity, and how much of it one of this unit is."""
    known = SIGNALS.get(plain(unit))
    if known is None:
        raise SpecError(f"unit is {unit!r}; it must be one of {', '.join(SIGNALS)}")
    return known


def data_sheet(unit: str, term: str, value: float) -> list[tuple[str, float, str]]:
    """A coefficient of an Allan fit in the form of data sheets.

    A density of data sheets is one-sided, sqrt(2) times the two-sided N (E-19); a random walk is N itself. Their in-run
    bias stability is the floor of the Allan deviation, 0.664 B.

    Args:
        unit: SI unit of the signal.
        term: Letter of the coefficient.
        value: The coefficient, SI.

    Returns:
        Name, value and unit of each form; none for a signal or a letter that data sheets do not give.
    """
    return [(name, value * factor, sheet) for name, sheet, factor in _DATA_SHEET.get((unit, term), ())]
