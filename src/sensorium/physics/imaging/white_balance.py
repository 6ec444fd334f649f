"""White balance: a gain for each band, so that gray surfaces look gray under the present light.

Gains multiply codes after the converter, as devices do. The least of them is 1: a pixel that is saturated in all bands
stays white, where gains below 1 would tint it.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, PositiveFloat

from sensorium.core.spec import Spec
from sensorium.physics.fields.blackbody import spectral_share
from sensorium.physics.imaging.auto_exposure import WHOLE, Region
from sensorium.physics.imaging.bands import Band, band_value


class GrayWorld(Spec):
    """Gains that equalize the means of all bands, from image to image: the scene is assumed gray on average.

    Saturated pixels do not count. Gains start at 1, again at each reset.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["gray_world"] = "gray_world"
    region: Region = WHOLE
    """Part of the image that counts: left, top, right, bottom as shares of it."""
    speed: float = Field(default=0.3, gt=0.0, le=1.0)
    """Share of the error, as a logarithm, that the next image makes up for [1]."""
    max_gain: float = Field(default=4.0, ge=1.0)
    """Most gain of a band [1]."""


class BalanceGains(Spec):
    """Gains that are given."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["gains"] = "gains"
    gains: tuple[PositiveFloat, ...]
    """One for each band [1]."""


class ColorTemperature(Spec):
    """Gains that make a gray surface gray in the light of a black body."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["temperature"] = "temperature"
    temperature_k: float = Field(gt=0.0)
    """Of the black body [K]: 5800 is about the sun's, 2800 a filament's."""


WhiteBalance = Annotated[GrayWorld | BalanceGains | ColorTemperature, Field(discriminator="kind")]
"""Any of the three."""


def temperature_gains(bands: Sequence[Band], temperature_k: float) -> NDArray[np.float64]:
    """Gains of bands [1], shape (bands,), in proportion to 1 / int P F Q lambda dlambda with Planck's spectrum P.

    Electrons are photons that count, so the power of each wavelength is weighted by the wavelength.

    Args:
        bands: Of the camera.
        temperature_k: Of the black body [K].
    """
    photons = np.array([band_value(lambda w: spectral_share(w, temperature_k) * w, band) for band in bands])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(photons.max() / photons)


def next_balance(
    gray: GrayWorld, shares: NDArray[np.float32], band: NDArray[np.intp], gains: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Gains of the next image [1], shape (bands,).

    Args:
        gray: Speed and limit.
        shares: Metered pixels before white balance, as shares of full scale.
        band: Which band each is of, in the same shape.
        gains: Of this image.
    """
    counts = shares.ravel() < 1.0
    number = np.bincount(band.ravel()[counts], minlength=len(gains))
    total = np.bincount(band.ravel()[counts], weights=shares.ravel()[counts], minlength=len(gains))
    if not number.all() or not total.any():
        return gains  # saturated or black: no usable pixels
    mean = total / number
    with np.errstate(divide="ignore"):
        wanted = np.minimum(mean.max() / mean, gray.max_gain)
    return np.asarray(gains * (wanted / gains) ** gray.speed)
