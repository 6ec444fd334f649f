"""Light of one lidar in the receiver of another: arrival times and strength.

A lidar fires at t_f and listens. A pulse that another fired at t_a and that reaches it over a path of optical length l
arrives at t_a + l / c; the lidar takes it for its own and reports the range

    r = c (t_a + l / c - t_f) / (2 n)

for an index n that its ranges are calibrated for. Two paths count (Popko, Gaylord and Valenta, "Geometric approximation
model of inter-lidar interference", Optical Engineering 59 (2020), who leave out the strength of the light):

- straight from the other's window, where each lies in the other's beam or field of view: of a Gaussian beam of radius w
  a receiver of area A, at the distance rho from its axis, catches the share 2 A / (pi w^2) exp(-2 rho^2 / w^2);
- by way of a surface that the other lights up within the receiver's field of view. A matt surface sends as much of
  the other's light as of its own to a receiver, so the strength is that of the receiver's own return from there, times
  the ratio of the two lidars' power.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.physics.optics.checks import Array, checked
from sensorium.runtime import jit


@jit.inlined
def apparent(delay_s: float, index: float) -> float:
    """C t / (2 n) [m]: the range that a delay [s] since a lidar's own pulse is taken for."""
    return SPEED_OF_LIGHT_M_S * delay_s / (2.0 * index)


@jit.inlined
def share_of_beam(area_m2: float, radius_m: float, offset_m: float) -> float:
    """2 A / (pi w^2) exp(-2 rho^2 / w^2) [1]."""
    w2 = radius_m * radius_m
    return 2.0 * area_m2 / (math.pi * w2) * math.exp(-2.0 * offset_m * offset_m / w2)


_apparent, _share = jit.elementwise(apparent), jit.elementwise(share_of_beam)


def apparent_range(
    fired_s: ArrayLike, *, other_fired_s: ArrayLike, optical_path_m: ArrayLike, index: ArrayLike = 1.0
) -> Array:
    """Range [m] at which a lidar shows another's pulse; below 0 where that came before its own was fired.

    Args:
        fired_s: When the lidar fired [s].
        other_fired_s: When the other did [s].
        optical_path_m: From the other's window to the lidar, sum of n d [m], >= 0.
        index: That ranges of the lidar are calibrated for.
    """
    path_s = checked("optical_path_m", optical_path_m, at_least=0.0) / SPEED_OF_LIGHT_M_S
    delay_s = checked("other_fired_s", other_fired_s) + path_s - checked("fired_s", fired_s)
    return np.asarray(_apparent(delay_s, checked("index", index, above=0.0)))


def direct_share(area_m2: ArrayLike, *, beam_radius_m: ArrayLike, offset_m: ArrayLike = 0.0) -> Array:
    """Share of a Gaussian beam's power that falls into a small receiver [1].

    Args:
        area_m2: Of the receiver [m^2], small against the beam, >= 0.
        beam_radius_m: 1/e^2 radius of the beam there [m], above 0.
        offset_m: Of the receiver from the beam's axis [m].
    """
    return np.asarray(
        _share(
            checked("area_m2", area_m2, at_least=0.0),
            checked("beam_radius_m", beam_radius_m, above=0.0),
            checked("offset_m", offset_m),
        )
    )
