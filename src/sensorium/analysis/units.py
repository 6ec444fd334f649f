"""Units of logged signals, and the units in which data sheets give their noise."""

import math
import re

from sensorium.errors import SpecError

STANDARD_GRAVITY = 9.80665
"""[m/s^2]"""

_DEGREE = math.pi / 180.0

# unit -> (SI unit, how much of it)
_UNITS = {
    "rad/s": ("rad/s", 1.0),
    "mrad/s": ("rad/s", 1e-3),
    "deg/s": ("rad/s", _DEGREE),
    "mdeg/s": ("rad/s", 1e-3 * _DEGREE),
    "deg/h": ("rad/s", _DEGREE / 3600.0),
    "m/s^2": ("m/s^2", 1.0),
    "g": ("m/s^2", STANDARD_GRAVITY),
    "mg": ("m/s^2", 1e-3 * STANDARD_GRAVITY),
    "ug": ("m/s^2", 1e-6 * STANDARD_GRAVITY),
    "T": ("T", 1.0),
    "mT": ("T", 1e-3),
    "uT": ("T", 1e-6),
    "nT": ("T", 1e-9),
    "G": ("T", 1e-4),
    "mG": ("T", 1e-7),
}

# Other ways to write them, without spaces
_SPELLINGS = {
    "rads^-1": "rad/s",
    "rad*s^-1": "rad/s",
    "dps": "deg/s",
    "°/s": "deg/s",
    "degs^-1": "deg/s",
    "deg/hr": "deg/h",
    "°/h": "deg/h",
    "°/hr": "deg/h",
    "ms^-2": "m/s^2",
    "m*s^-2": "m/s^2",
    "m/s2": "m/s^2",
    "m/s/s": "m/s^2",
    "m/s²": "m/s^2",
    "gauss": "G",
}

_ROOT_HOUR = 60.0
_FLOOR = math.sqrt(2.0 * math.log(2.0) / math.pi)
_MICRO_G = 1e-6 * STANDARD_GRAVITY

# SI unit and letter -> how data sheets give it: (what it is called, unit, factor)
_DATA_SHEET = {
    ("rad/s", "N"): (("density", "°/s/√Hz", math.sqrt(2.0) / _DEGREE), ("random walk", "°/√h", _ROOT_HOUR / _DEGREE)),
    ("rad/s", "B"): (("floor", "°/h", _FLOOR * 3600.0 / _DEGREE),),
    ("rad/s", "K"): (("rate walk", "°/h/√h", 3600.0 * _ROOT_HOUR / _DEGREE),),
    ("m/s^2", "N"): (("density", "µg/√Hz", math.sqrt(2.0) / _MICRO_G), ("random walk", "m/s/√h", _ROOT_HOUR)),
    ("m/s^2", "B"): (("floor", "µg", _FLOOR / _MICRO_G),),
    ("m/s^2", "K"): (("rate walk", "µg/√h", _ROOT_HOUR / _MICRO_G),),
    ("T", "N"): (("density", "nT/√Hz", math.sqrt(2.0) * 1e9),),
    ("T", "B"): (("floor", "nT", _FLOOR * 1e9),),
    ("T", "K"): (("rate walk", "nT/√h", _ROOT_HOUR * 1e9),),
}


def is_unit(unit: str) -> bool:
    """Whether `si_unit` knows it."""
    return _plain(unit) in _UNITS


def si_unit(unit: str) -> tuple[str, float]:
    """The SI unit of the same quantity, and how much of it one of this unit is."""
    known = _UNITS.get(_plain(unit))
    if known is None:
        raise SpecError(f"unit is {unit!r}; it must be one of {', '.join(_UNITS)}")
    return known


def _plain(unit: str) -> str:
    """A unit as the table spells it."""
    bare = re.sub(r"\s+", "", unit).replace("µ", "u").replace("μ", "u")
    return _SPELLINGS.get(bare, bare)


def data_sheet(unit: str, term: str, value: float) -> list[tuple[str, float, str]]:
    """How data sheets give a coefficient of an Allan fit.

    A density of data sheets is one-sided, sqrt(2) times the two-sided N (E-19); a random walk is N itself. What they
    call in-run bias stability is the floor of the Allan deviation, 0.664 B.

    Args:
        unit: SI unit of the signal.
        term: Letter of the coefficient.
        value: The coefficient, SI.

    Returns:
        Name, value and unit of each form; none for a signal or a letter that data sheets do not give.
    """
    return [(name, value * factor, sheet) for name, sheet, factor in _DATA_SHEET.get((unit, term), ())]
