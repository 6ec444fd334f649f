"""Range ambiguity: a return that arrives after the next pulse was sent is attributed to that pulse.

Pulses are sent every 1 / f seconds. Light returns from the range r after 2 n r / c, so the pulse of a return is known
up to the unambiguous range R_u = c / (2 n f) only; for farther targets a receiver that counts from its last pulse
reports

    r mod R_u

The zone floor(r / R_u) counts the pulses between ("multiple time around"). How airborne scanners sort zones out again:
Rieger and Ullrich, "Resolving range ambiguities in high-repetition rate airborne light detection and ranging
applications", J. Applied Remote Sensing 6 (2012).
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.physics.optics.checks import Array, checked
from sensorium.runtime import jit


@jit.inlined
def folded(range_m: float, unambiguous_m: float) -> float:
    """Range since the last pulse [m], in [0, unambiguous_m)."""
    return range_m - unambiguous_m * math.floor(range_m / unambiguous_m)


def unambiguous_range(rate_hz: ArrayLike, *, index: ArrayLike = 1.0) -> Array:
    """R_u = c / (2 n f) [m] of pulses at a rate f [Hz] above 0, where ranges are calibrated for an index n."""
    return SPEED_OF_LIGHT_M_S / (2.0 * checked("index", index, above=0.0) * checked("rate_hz", rate_hz, above=0.0))


def folded_range(range_m: ArrayLike, *, unambiguous_m: ArrayLike) -> Array:
    """The range reported for a range [m] >= 0 by a lidar of this unambiguous range [m] above 0: the remainder."""
    return np.mod(checked("range_m", range_m, at_least=0.0), checked("unambiguous_m", unambiguous_m, above=0.0))
