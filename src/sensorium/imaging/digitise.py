"""From electrons to the numbers of an image: gain, converter, gamma, rounding.

    codes = round(K g_j e + DN_0), clipped to the converter
    DN = round(DN_max x^gamma), x the share of full scale, 0..1

Data is brought to 0..1 before gamma, which the paper leaves out (E-37): only there does gamma = 0.5 brighten shadows.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.errors import SpecError

Codes = NDArray[Any]
"""uint8 or uint16."""


def digitised(
    electrons: NDArray[np.float32],
    *,
    gain: ArrayLike,
    full_well_e: float,
    bits: int,
    gamma: float = 1.0,
    adc_bits: int | None = None,
    gain_dn_e: float | None = None,
    black_dn: float = 0.0,
) -> tuple[Codes, Codes | None]:
    """Image, and the converter's codes where there is one.

    Args:
        electrons: Collected by each pixel and band, shape (*batch, bands).
        gain: Of each band, or of each pixel and band [1].
        full_well_e: Electrons that give full scale at gain 1.
        bits: Of the image; 8 or fewer give uint8, up to 16 uint16.
        gamma: Exponent on data in 0..1.
        adc_bits: Of a converter that rounds before gamma; None rounds once, at the end.
        gain_dn_e: System gain K of the converter [DN/e-]; None brings the full well to full scale.
        black_dn: Code DN_0 of darkness.
    """
    if not 1 <= bits <= 16:
        raise SpecError(f"bits is {bits}; an image has 1 to 16")
    full = float(2**bits - 1)
    gains = np.asarray(gain, np.float32)
    codes: Codes | None = None
    if adc_bits is None:
        share = electrons * (gains / np.float32(full_well_e))
    else:
        top = float(2**adc_bits - 1)
        K = (top - black_dn) / full_well_e if gain_dn_e is None else gain_dn_e
        counted = np.rint(np.clip(electrons * (np.float32(K) * gains) + np.float32(black_dn), 0.0, top))
        codes = counted.astype(_type(adc_bits))
        if gamma == 1.0 and adc_bits == bits and black_dn == 0.0:
            return codes, codes
        share = (counted - np.float32(black_dn)) / np.float32(top - black_dn)
    share = np.clip(share, 0.0, 1.0)
    if gamma != 1.0:
        share = share ** np.float32(gamma)
    return np.rint(share * np.float32(full)).astype(_type(bits)), codes


def _type(bits: int) -> type[np.uint8] | type[np.uint16]:
    return np.uint8 if bits <= 8 else np.uint16
