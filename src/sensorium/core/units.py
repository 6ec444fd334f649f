"""Units of measured signals and their factors to SI, shared by logs and data sheets."""

import math
import re

STANDARD_GRAVITY = 9.80665
"""[m/s^2]"""

DEGREE = math.pi / 180.0
"""[rad]"""

ROOT_HOUR = 60.0
"""[sqrt(s)]"""

FLOOR = math.sqrt(2.0 * math.log(2.0) / math.pi)
"""Level of an Allan plot over the coefficient B of bias instability, 0.664282 (IEEE 952)."""

SIGNALS = {
    "rad/s": ("rad/s", 1.0),
    "mrad/s": ("rad/s", 1e-3),
    "deg/s": ("rad/s", DEGREE),
    "mdeg/s": ("rad/s", 1e-3 * DEGREE),
    "deg/h": ("rad/s", DEGREE / 3600.0),
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
    "uG": ("T", 1e-10),
}
"""Unit of a signal -> SI unit of the same quantity, and how much of it one of this unit is."""

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


def plain(unit: str) -> str:
    """A unit as the tables spell it."""
    bare = re.sub(r"\s+", "", unit).replace("µ", "u").replace("μ", "u")
    return _SPELLINGS.get(bare, bare)
