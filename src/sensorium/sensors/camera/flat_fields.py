"""Images of an evenly lit chip, as the converter of a camera gives them: the pixels' model without a scene."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.physics.imaging.digitize import digitized
from sensorium.physics.imaging.pixel_noise import FixedPattern, PixelNoise, fixed_pattern, noisy_electrons
from sensorium.random import Stream
from sensorium.sensors.camera.camera import Adc


class FlatFields:
    """An evenly lit chip, whose pixels keep their pattern from image to image."""

    def __init__(
        self, noise: PixelNoise, adc: Adc, *, full_well_e: float, shape: tuple[int, ...], stream: Stream
    ) -> None:
        """Draw the pattern.

        Args:
            noise: Figures of the pixels.
            adc: The converter.
            full_well_e: Most electrons a pixel holds.
            shape: Of the images.
            stream: Where random numbers come from.
        """
        self._noise, self._adc, self._full_well_e = noise, adc, full_well_e
        self._shape, self._stream = shape, stream
        self._pattern: FixedPattern = fixed_pattern(noise, stream, values=int(np.prod(shape)))

    def codes(self, electrons: float, *, exposure_s: float, tick: int) -> NDArray[Any]:
        """Codes of one image.

        Args:
            electrons: Mean number from light on each pixel.
            exposure_s: Time that dark current flows [s].
            tick: Number of the image, which keys its noise.
        """
        if not 0.0 <= electrons < np.inf:
            raise SpecError(f"electrons is {electrons}; it must be finite and at least 0")
        e = np.full(self._shape, electrons, np.float32)
        noisy_electrons(
            e,
            self._noise,
            self._pattern,
            exposure_s=exposure_s,
            full_well_e=self._full_well_e,
            key=self._stream.key,
            tick=tick,
        )
        _, codes = digitized(
            e[..., None],
            gain=(1.0,),
            full_well_e=self._full_well_e,
            bits=self._adc.bits,
            adc_bits=self._adc.bits,
            gain_dn_e=self._adc.gain_dn_e,
            black_dn=self._adc.black_dn,
        )
        assert codes is not None
        return codes[..., 0]
