"""Range walk: a strong pulse passes a fixed threshold early, and a saturated receiver cannot measure how early.

A Gaussian pulse of amplitude A passes the trigger T on its leading edge sigma sqrt(2 ln(A / T)) before its peak, with
sigma = t_p / 2.35482 for the duration t_p (full width at half maximum). A device measures the amplitude and takes the
time back. A receiver that saturates at the level L shows L for all that is stronger, so that the correction stops
there and this much remains of the range:

    dr = -(c / 2 n) sigma (sqrt(2 ln(A / T)) - sqrt(2 ln(L / T)))        for A > L, else 0

The edge up to the trigger is taken to be that of the pulse: T < L, and saturation does not change the pulse below its
level. Ringing and recovery after a strong pulse are left out. Walk error of leading-edge discriminators: Palojarvi,
Ruotsalainen and Kostamovaara, "A 250-MHz BiCMOS receiver channel with leading edge timing discriminator for a pulsed
time-of-flight laser rangefinder", IEEE J. Solid-State Circuits 40 (2005).
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array, checked
from sensorium.physics.optics.detection.pulse import FWHM_SIGMAS
from sensorium.runtime import jit


@jit.inlined
def sigmas_early(amplitude: float, level: float, trigger: float) -> float:
    """Lead of a pulse of this amplitude at the trigger over one of the level, in its deviations; >= 0."""
    if amplitude <= level:
        return 0.0
    return math.sqrt(2.0 * math.log(amplitude / trigger)) - math.sqrt(2.0 * math.log(level / trigger))


def walk_scale_m(duration_s: float, index: float = 1.0) -> float:
    """Range of one deviation of a Gaussian pulse [m]: c sigma / (2 n)."""
    return SPEED_OF_LIGHT_M_S * duration_s / (2.0 * FWHM_SIGMAS * index)


_early = jit.elementwise(sigmas_early)


def range_walk(amplitude: ArrayLike, *, level: float, trigger: float, duration_s: float, index: float = 1.0) -> Array:
    """Range error of a saturated pulse [m]; 0 up to the level, and negative beyond.

    Args:
        amplitude: Of the pulse as it arrives, in any unit, >= 0.
        level: Where the receiver saturates, in the same unit, above the trigger.
        trigger: Level at which the leading edge is timed, above 0.
        duration_s: Full width at half maximum [s], above 0.
        index: Refractive index that ranges are calibrated for.
    """
    height = checked("amplitude", amplitude, at_least=0.0)
    duration, n = checked("duration_s", duration_s, above=0.0), checked("index", index, above=0.0)
    if not 0.0 < trigger < level:
        raise SpecError(f"trigger is {trigger} and level {level}; the trigger must be above 0 and below the level")
    return -walk_scale_m(float(duration), float(n)) * np.asarray(_early(height, float(level), float(trigger)))
