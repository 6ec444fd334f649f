"""Ready-made bands: red, green and blue of a color chip, a panchromatic one, and the far infrared.

The colors are estimates of the curves that makers of interline CCDs with Bayer filters print, filter and quantum
efficiency in one; replace them with those of the chip at hand.
"""

from sensorium.physics.imaging.bands import Band
from sensorium.physics.optics.spectra import Spectrum

_NM = (400.0, 425.0, 450.0, 475.0, 500.0, 525.0, 550.0, 575.0, 600.0, 625.0, 650.0, 675.0, 700.0)
_RED = (0.02, 0.02, 0.01, 0.01, 0.02, 0.03, 0.04, 0.12, 0.34, 0.37, 0.34, 0.30, 0.26)
_GREEN = (0.02, 0.03, 0.06, 0.15, 0.33, 0.44, 0.43, 0.32, 0.15, 0.06, 0.04, 0.04, 0.05)
_BLUE = (0.22, 0.35, 0.42, 0.40, 0.26, 0.12, 0.05, 0.03, 0.02, 0.02, 0.02, 0.02, 0.03)
_GRAY = (0.28, 0.36, 0.42, 0.46, 0.49, 0.50, 0.49, 0.46, 0.42, 0.38, 0.34, 0.30, 0.26)


def rgb() -> tuple[Band, Band, Band]:
    """Red, green and blue of a color chip behind a filter that ends at 700 nm."""
    return _band("red", _RED), _band("green", _GREEN), _band("blue", _BLUE)


def panchromatic() -> tuple[Band]:
    """One band over all visible light."""
    return (_band("gray", _GRAY),)


def far_infrared() -> tuple[Band]:
    """8 to 14 um, thermal emission of surfaces."""
    return (Band(name="thermal", filter=Spectrum(wavelength_m=(8e-6, 14e-6), value=(1.0, 1.0)), thermal=True),)


def _band(name: str, value: tuple[float, ...]) -> Band:
    return Band(name=name, filter=Spectrum(wavelength_m=tuple(nm * 1e-9 for nm in _NM), value=value))
