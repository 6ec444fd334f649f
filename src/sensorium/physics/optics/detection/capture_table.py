"""The captured power of a beam as a table that kernels read in float32.

The table holds g(v) = A / (1 - v)^2 over v = z / (z + z0). A falls as 1 / z^2, so g is smooth from z = 0 to infinity,
and straight lines between few points do: 257 for a detector on the beam's axis.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.physics.optics.beam import CaptureModel, captured_fraction, captured_share
from sensorium.physics.optics.checks import Array
from sensorium.runtime import jit

# Straight lines may err by this much of A (of a millionth of its maximum, where less is captured)
_ERROR = 3e-5
_FLOOR = 1e-6
_FEWEST, _MOST = 256, 65536


class CaptureTable(NamedTuple):
    """Captured power over distance."""

    values: NDArray[np.float32]
    """A / (1 - v)^2 at even steps of v = z / (z + z0) from 0 to 1."""
    inverse_z0: float
    """1 / z0 [1/m]."""


@jit.inlined
def captured_from_table(table: NDArray[np.float32], z: float, inverse_z0: float) -> float:
    """Share A [1] of the power caught at the reduced path length z [m] >= 0; 0 at infinity."""
    one = jit.like(z, 1.0)
    rest = one / (one + z * inverse_z0)
    at = (one - rest) * jit.like(z, table.size - 1)
    below = min(np.int32(at), np.int32(table.size - 2))
    low, high = table[np.uint32(below)], table[np.uint32(below) + np.uint32(1)]
    return min((low + (high - low) * (at - jit.like(z, below))) * rest * rest, one)


def capture_table(
    *,
    detector_radius_m: float,
    detector_offset_m: float = 0.0,
    exit_radius_m: float,
    half_divergence_rad: float,
    half_divergence_y_rad: float | None = None,
    model: CaptureModel = "exact",
) -> CaptureTable:
    """Tabulate `captured_fraction` of one beam, for any distance; arguments as there, half divergences above 0.

    Read in float32, the table is within 1e-4 of A, or of a millionth of its maximum where less is captured.
    """
    y_rad = half_divergence_rad if half_divergence_y_rad is None else half_divergence_y_rad
    captured_fraction(  # checks all arguments
        0.0,
        detector_radius_m=detector_radius_m,
        detector_offset_m=detector_offset_m,
        exit_radius_m=exit_radius_m,
        half_divergence_rad=half_divergence_rad,
        half_divergence_y_rad=y_rad,
        model=model,
    )
    if min(half_divergence_rad, y_rad) <= 0:
        raise SpecError(f"half_divergence_rad is {min(half_divergence_rad, y_rad)}; for a table it must be above 0")
    tan_x, tan_y = math.tan(half_divergence_rad), math.tan(y_rad)

    # z0 is where the beam has grown by the lengths that matter; eq. (21) is steepest where w is the offset
    by_offset = model == "agx" and detector_offset_m > 0
    size = exit_radius_m + detector_offset_m + (0.0 if by_offset else detector_radius_m)
    z0 = size / math.sqrt(tan_x * tan_y)
    far = 2.0 * (detector_radius_m / size) ** 2 / (1.0 if model == "exact" else -math.expm1(-2.0))

    R, r_D = np.asarray(detector_radius_m), np.asarray(detector_offset_m)

    def smooth(v: Array) -> Array:
        near = v < 1.0
        rest = np.where(near, 1.0 - v, 1.0)
        z = z0 * v / rest
        share = captured_share(exit_radius_m + z * tan_x, exit_radius_m + z * tan_y, R, r_D, model)
        return np.where(near, share / rest**2, far)

    return CaptureTable(_refined(smooth).astype(np.float32), 1.0 / z0)


def _refined(smooth: Callable[[Array], Array]) -> Array:
    """Values at even steps of v over [0, 1], halved until linear interpolation reproduces the values halfway."""
    steps = _FEWEST
    values = smooth(np.linspace(0.0, 1.0, steps + 1))
    while True:
        halfway = (np.arange(steps) + 0.5) / steps
        between = smooth(halfway)
        fall = np.square(1.0 - halfway)
        captured, error = between * fall, np.abs(0.5 * (values[1:] + values[:-1]) - between) * fall
        if np.all(error <= _ERROR * np.maximum(captured, _FLOOR * captured.max())):
            return values
        if steps >= _MOST:
            raise SpecError(
                f"the captured power needs over {_MOST} points; the beam's lengths or angles differ too much"
            )
        joined = np.empty(2 * steps + 1)
        joined[::2], joined[1::2] = values, between
        values, steps = joined, 2 * steps
