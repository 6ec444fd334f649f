"""Removes the echoes found in a frame, to search for those that they mask (CLEAN).

The side lobes of an echo are in the training cells of its neighbors and raise their thresholds, and a weaker echo
among them may have no peak of its own. Without a window they fall by 1 / (pi x)^2 only, -13 dB at the first: an echo 20
dB below another is lost up to 20 cells away. A main lobe of many cells, Blackman and Harris' with eight, does the same
to an ordered statistic if training cells are few, at the ends of a row.

So the models of all echoes found so far are subtracted from the cells of the frame, peaks are searched in the residual,
with thresholds from the residual, and each new echo is fitted together with the others. Thresholds follow the noise as
before: if models fit, the rate of false alarms is `false_alarm`.

Ref: Hogbom 1974, Aperture synthesis with a non-regular distribution of interferometer baselines; Tsao and Steinberg
1988, Reduction of sidelobe and speckle artifacts in microwave imaging: the CLEAN technique.
"""

import math
from collections.abc import Iterable

import numpy as np

from sensorium.physics.radio.echo_list import AROUND, LEFT
from sensorium.physics.radio.spreading import Scatterers, add_scatterers
from sensorium.physics.radio.windows import main_lobe, point_spread, window_terms
from sensorium.runtime import jit

# Power over its threshold from which on an echo may hide others
_HIDING = 10.0

CLEANINGS = 3
"""Searches of a frame without the echoes that were found before, at most."""


def side_lobes_hide(axes: Iterable[tuple[str, int]]) -> bool:
    """Whether side lobes hide echoes that are looked for, beyond the cells around an echo that are searched anyway.

    Of the windows here only the rectangular one has such lobes: -21 dB between 3 and 4 cells, the next -42 dB.

    Args:
        axes: Window and number of samples of each.
    """
    for window, count in axes:
        x = np.arange(AROUND + 0.5, 0.5 * count, 0.125)
        if (point_spread(window, x, count=count) ** 2 > LEFT).any():
            return True
    return False


def scalloping(axes: Iterable[tuple[str, int]]) -> float:
    """Least share of an echo's power that its strongest cell has, W(1/2)^2 along all axes [1].

    Args:
        axes: Window and number of samples of each.
    """
    return float(np.prod([point_spread(window, 0.5, count=count) ** 2 for window, count in axes if count > 1]))


def main_lobe_hides(window: str, *, count: int, spare: int) -> bool:
    """Whether the main lobe of an echo alone raises the threshold of another as far away as training cells reach.

    It fills two cells for each from its middle to its first zero, at most.

    Args:
        window: Along the range.
        count: Samples that it runs over.
        spare: Fewest training cells above the rank: as many may be strong.
    """
    return 2 * main_lobe(window_terms(window, count=count)) > spare


@jit.function
def hiding_echoes(echoes, kept):
    """Places and amplitudes of the echoes that may hide others: 10 dB over their thresholds, as noise never is.

    Noise that crossed its threshold stays in the frame. Taken away, it would lower the thresholds around it, and noise
    would cross these more often than `false_alarm` says.
    """
    place, amplitude, count = np.empty((kept, 4)), np.empty(kept, np.complex128), 0
    for i in range(kept):
        size = echoes.amplitude[i].real ** 2 + echoes.amplitude[i].imag ** 2
        if size > _HIDING * echoes.limit[i]:
            place[count], amplitude[count] = echoes.place[i], echoes.amplitude[i]
            count += 1
    return place[:count], amplitude[:count]


@jit.function
def add_echoes(real, imaginary, grid, migration, place, amplitude):
    """Add the models of echoes to the cells of a frame; of amplitudes with the other sign, take them away.

    Args:
        real: Of the cells, (row beams, beams, speeds, ranges).
        imaginary: Likewise.
        grid: Of the frame.
        migration: Range cells that an echo moves by within the frame, for each cell of its speed.
        place: Of the echoes in cells, of any turn, (n, 4).
        amplitude: Complex, (n,).
    """
    count = amplitude.size
    cell, parts = np.empty((count, 4)), np.empty((count, 2), np.float32)
    for i in range(count):
        a = amplitude[i]
        for axis in range(4):
            turns = math.floor(place[i, axis] / grid.counts[axis] + 0.5)
            cell[i, axis] = place[i, axis] - turns * grid.counts[axis]
            a = -a if turns * (grid.counts[axis] - 1) % 2 else a
        parts[i, 0], parts[i, 1] = a.real, a.imag
    none, every = np.zeros(count, np.bool_), np.ones(count, np.bool_)
    scatterers = Scatterers(np.array([0, count]), cell, parts, migration * cell[:, 2], none, every)
    add_scatterers(real, imaginary, scatterers, 0, count, grid)
