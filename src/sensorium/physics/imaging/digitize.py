"""From electrons to the numbers of an image: gain, converter, gamma, rounding.

    codes = round(K g_j e + DN_0), clipped to the converter
    DN = round(DN_max (w_j x)^gamma), x the share of full scale and w_j x at most 1

Data is brought to 0..1 before gamma, which the paper leaves out (E-37): only there does gamma = 0.5 brighten shadows.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SpecError

Codes = NDArray[Any]
"""uint8 or uint16."""


def digitized(
    electrons: NDArray[np.float32],
    *,
    gain: ArrayLike,
    full_well_e: float,
    bits: int,
    gamma: float = 1.0,
    adc_bits: int | None = None,
    gain_dn_e: float | None = None,
    black_dn: float = 0.0,
    balance: ArrayLike | None = None,
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
        balance: Gain w of white balance after the converter, of each band or of each pixel and band [1]; None is 1.
    """
    if not 1 <= bits <= 16:
        raise SpecError(f"bits is {bits}; an image has 1 to 16")
    full = float(2**bits - 1)
    codes: Codes | None = None
    if adc_bits is None:
        share = _share(electrons, gain, full_well_e)
    else:
        counted = _counted(electrons, gain, full_well_e, adc_bits, gain_dn_e, black_dn)
        codes = counted.astype(_type(adc_bits))
        if gamma == 1.0 and adc_bits == bits and black_dn == 0.0 and balance is None:
            return codes, codes
        share = _share_of_codes(counted, adc_bits, black_dn)
    if balance is not None:
        share = np.clip(share, 0.0, 1.0) * np.asarray(balance, np.float32)
    share = np.clip(share, 0.0, 1.0)
    if gamma != 1.0:
        share = share ** np.float32(gamma)
    return np.rint(share * np.float32(full)).astype(_type(bits)), codes


def share_of_full_scale(
    electrons: NDArray[np.float32],
    *,
    gain: ArrayLike,
    full_well_e: float,
    adc_bits: int | None = None,
    gain_dn_e: float | None = None,
    black_dn: float = 0.0,
) -> NDArray[np.float32]:
    """Input of the automatic controls: data in 0..1 before white balance and gamma; arguments as in `digitized`."""
    if adc_bits is None:
        share = _share(electrons, gain, full_well_e)
    else:
        counted = _counted(electrons, gain, full_well_e, adc_bits, gain_dn_e, black_dn)
        share = _share_of_codes(counted, adc_bits, black_dn)
    return np.clip(share, 0.0, 1.0)


def _share(electrons: NDArray[np.float32], gain: ArrayLike, full_well_e: float) -> NDArray[np.float32]:
    """Of full scale without a converter."""
    return electrons * (np.asarray(gain, np.float32) / np.float32(full_well_e))


def _counted(
    electrons: NDArray[np.float32],
    gain: ArrayLike,
    full_well_e: float,
    adc_bits: int,
    gain_dn_e: float | None,
    black_dn: float,
) -> NDArray[np.float32]:
    """Codes of the converter, as floats."""
    top = float(2**adc_bits - 1)
    K = (top - black_dn) / full_well_e if gain_dn_e is None else gain_dn_e
    gains = np.asarray(gain, np.float32)
    return np.rint(np.clip(electrons * (np.float32(K) * gains) + np.float32(black_dn), 0.0, top))


def _share_of_codes(counted: NDArray[np.float32], adc_bits: int, black_dn: float) -> NDArray[np.float32]:
    """Of the codes above darkness; those below are negative."""
    return (counted - np.float32(black_dn)) / np.float32(float(2**adc_bits - 1) - black_dn)


def _type(bits: int) -> type[np.uint8] | type[np.uint16]:
    return np.uint8 if bits <= 8 else np.uint16
