"""Units of data sheets, and the conventions behind their numbers, converted to the numbers of specifications.

A number of a data sheet needs two conversions. Its unit is arithmetic: `converted(140.0, "ug/sqrt(Hz)", ...)`. Its
meaning is a convention that the sheet must name: 0.2 mrad may be a full or a half angle, to 1/e^2 or to half power.
"""

import math
from collections.abc import Sequence

from sensorium.core.errors import SpecError
from sensorium.core.units import DEGREE, FLOOR, ROOT_HOUR, SIGNALS, plain

Number = float | tuple[float, ...]

_UNITS = {
    **SIGNALS,
    "1": ("1", 1.0),
    "%": ("1", 1e-2),
    "mm/m": ("1", 1e-3),
    "counts/rev": ("1", 1.0),
    "e-": ("e-", 1.0),
    "e-/s": ("e-/s", 1.0),
    "DN": ("DN", 1.0),
    "DN/e-": ("DN/e-", 1.0),
    "dB": ("dB", 1.0),
    "px": ("px", 1.0),
    "dBi": ("dBi", 1.0),
    "m": ("m", 1.0),
    "cm": ("m", 1e-2),
    "mm": ("m", 1e-3),
    "um": ("m", 1e-6),
    "nm": ("m", 1e-9),
    "1/m": ("1/m", 1.0),
    "m/s": ("m/s", 1.0),
    "s": ("s", 1.0),
    "ms": ("s", 1e-3),
    "us": ("s", 1e-6),
    "ns": ("s", 1e-9),
    "Hz": ("Hz", 1.0),
    "kHz": ("Hz", 1e3),
    "MHz": ("Hz", 1e6),
    "GHz": ("Hz", 1e9),
    "1/s": ("Hz", 1.0),
    "rpm": ("Hz", 1.0 / 60.0),
    "rad": ("rad", 1.0),
    "mrad": ("rad", 1e-3),
    "deg": ("rad", DEGREE),
    # A walk is the density of a rate, integrated: 1 deg/sqrt(h) is 1/60 deg/sqrt(s), that is deg/s/sqrt(Hz)
    "deg/sqrt(h)": ("rad/s/sqrt(Hz)", DEGREE / ROOT_HOUR),
    "m/s/sqrt(h)": ("m/s^2/sqrt(Hz)", 1.0 / ROOT_HOUR),
}

# Derived units: a density, or codes of a converter per unit
_DENSITY, _CODES = "/sqrt(Hz)", "LSB/"

_FWHM_TO_E2 = math.sqrt(2.0 / math.log(2.0))
"""Full width at 1/e^2 over that at half power of a Gaussian beam, 1.69864: exp(-2 r^2 / w^2) = 1/2 at r = 0.5887 w."""

DIVERGENCE = {
    "full": 0.5,
    "full 1/e^2": 0.5,
    "half 1/e^2": 1.0,
    "full FWHM": 0.5 * _FWHM_TO_E2,
}
"""Beam divergence -> 1/e^2 half angle. Where a sheet does not say to which level, ISO 11146 is taken at its word: its
widths of second moments are those to 1/e^2 for a Gaussian beam."""

WIDTH = {"diameter": 0.5, "diameter 1/e^2": 0.5, "radius 1/e^2": 1.0, "diameter FWHM": 0.5 * _FWHM_TO_E2}
"""Size of a beam where it leaves -> 1/e^2 radius."""

DENSITY = {"one-sided": 1.0, "two-sided": math.sqrt(2.0)}
"""Spectral density -> one-sided density: half the frequencies carry all the power (physics.md E-19)."""

STABILITY = {"allan floor": 1.0 / FLOOR, "coefficient B": 1.0}
"""In-run bias stability -> coefficient B of IEEE 952: data sheets give the lowest point of an Allan plot, 0.664 B."""

SPREAD = {"1 sigma": 1.0, "2 sigma": 0.5, "3 sigma": 1.0 / 3.0, "limits": 1.0 / math.sqrt(3.0)}
"""Error -> standard deviation. Limits without a coverage are taken as a uniform distribution between them, whose
standard deviation is a / sqrt(3) (GUM, JCGM 100:2008, 4.3.7). That is no noise of a shot: a lidar's "+-3 cm typical
accuracy" bounds errors of every cause, and is only stated."""

SENSE = {"counterclockwise": 1.0, "clockwise": -1.0}
"""Angle seen from above -> right-handed angle about z up."""

COUNTS = {"counts": 1.0, "periods": 4.0}
"""Resolution of an encoder -> edges a turn: a period of the tracks A and B has four."""


def converted(value: float | Sequence[float], unit: str, wanted: str) -> Number:
    """A number of a data sheet, or several, in the unit that is wanted.

    Args:
        value: As printed.
        unit: As printed; "LSB/g" and the like give the size of a code.
        wanted: SI unit, or "deg" if specifications take degrees.
    """
    si, factor, inverse = _si(unit)
    if wanted == "deg":
        wanted, factor = "rad", 1.0 if unit == "deg" else factor / DEGREE
    if si != wanted:
        raise SpecError(f"unit is {unit!r}; it must be one of {wanted}, such as {_like(wanted)}")

    def one(number: float) -> float:
        if inverse and number == 0.0:
            raise SpecError(f"value is {number} {unit}; codes for each unit must not be zero")
        return factor / number if inverse else factor * number

    return one(value) if isinstance(value, int | float) else tuple(one(number) for number in value)


def scaled(number: Number, factor: float) -> Number:
    """A number, or each of several, times a factor."""
    return tuple(factor * one for one in number) if isinstance(number, tuple) else factor * number


def _si(unit: str) -> tuple[str, float, bool]:
    """SI unit of a unit, how much of it one is, and whether a number counts how many make one."""
    bare = plain(unit)
    if bare in _UNITS:
        return *_UNITS[bare], False
    if bare.endswith(_DENSITY) and plain(bare.removesuffix(_DENSITY)) in SIGNALS:
        si, factor = SIGNALS[plain(bare.removesuffix(_DENSITY))]
        return si + _DENSITY, factor, False
    counted = plain(bare.removeprefix(_CODES).strip("()"))
    if bare.startswith(_CODES) and counted in SIGNALS:
        return *SIGNALS[counted], True
    known = ", ".join([*_UNITS, "and of signals X: X/sqrt(Hz), LSB/X"])
    raise SpecError(f"unit is {unit!r}; it must be one of {known}")


def _like(wanted: str) -> str:
    """Some units of the same quantity."""
    if wanted.endswith(_DENSITY):
        si = wanted.removesuffix(_DENSITY)
        return ", ".join(f"{unit}{_DENSITY}" for unit, (of, _) in SIGNALS.items() if of == si)
    return ", ".join(unit for unit, (of, _) in _UNITS.items() if of == wanted)
