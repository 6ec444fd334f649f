"""A beam as a bundle of rays: their positions across it, and the share of the power of each.

Positions are in units of the beam's 1/e^2 radius, inside the unit disk, the same at every range since the rays diverge
with the beam. A ray represents a patch of area Delta A, so its share of the power is

    P_i / P = I_i Delta A_i / sum I Delta A,        I = exp(-2 rho^2)

which sums to one: the part of the Gaussian outside the disk, 13.53 %, is spread over the rays inside (VANE, eq. 9, with
the areas that eq. 9 alone leaves out: without them a wall at 86 m would answer 22,271 times weaker than at 6 m instead
of 205.4 times, E-40).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array

# A spiral turned by this angle from point to point covers the disk evenly [rad]
GOLDEN_ANGLE = math.pi * (3.0 - math.sqrt(5.0))

# More rays than this in one pulse are taken for a slip of the pen
MOST_RAYS = 2**22

# Fewest rays that span a beam's cross-section
LEAST_SPAN = 3

# Half the side of a ray's patch, in sides: neighbors on a plane reach each other for every number of rays up to 1024
_HALF_SIDE = 0.6


class BeamRays(NamedTuple):
    """Rays over the cross-section of a beam."""

    u: Array
    """Place along the first axis across the beam, in 1/e^2 radii, shape (rays,)."""
    v: Array
    """Place along the second."""
    weight: Array
    """Share of the power, sums to 1."""


def grid_rays(across: int) -> BeamRays:
    """Rays on a square grid of `across` by `across` cells, without those whose middle is outside the circle.

    As in VANE; 83 across are 5,417 rays, pi / 4 of the square. Row by row, so that neighbors follow each other.
    """
    middle, inside = grid_cells(across)
    v, u = np.meshgrid(middle, middle, indexing="ij")
    return _weighted(u[inside], v[inside])


def grid_cells(across: int) -> tuple[Array, NDArray[np.bool_]]:
    """Middles of the grid's cells along one axis, shape (across,), and the cells inside the circle."""
    if not 1 <= across <= 2048:
        raise SpecError(f"across is {across}; a grid of rays must have 1 to 2048 across")
    middle = (np.arange(across, dtype=np.float64) + 0.5) * (2.0 / across) - 1.0
    return middle, np.square(middle)[:, None] + np.square(middle) <= 1.0


def spiral_rays(count: int) -> BeamRays:
    """Rays on a golden-angle spiral, each for the same area; few rays cover the disk better than a grid does."""
    if not 1 <= count <= MOST_RAYS:
        raise SpecError(f"count is {count}; a spiral must have 1 to {MOST_RAYS} rays")
    number = np.arange(count)
    radius, angle = np.sqrt((number + 0.5) / count), number * GOLDEN_ANGLE
    if count == 1:
        radius = np.zeros(1)  # one ray is the axis
    return _weighted(radius * np.cos(angle), radius * np.sin(angle))


def equal_power_rays(count: int) -> BeamRays:
    """Rays of one power each, on a golden-angle spiral over the whole Gaussian, its tails included.

    Ray i is at the radius within which the share of the power is q = (i + 1/2) / N: 1 - exp(-2 rho^2) = q. Then the
    layout is shifted and stretched until its mean is the axis and its variance along every direction the Gaussian's,
    w^2 / 4: the mean range of a plane is that on the axis, and its spread is right, with any number of rays.

    Args:
        count: 1, the axis alone, or 3 and more.
    """
    if not (count == 1 or LEAST_SPAN <= count <= MOST_RAYS):
        raise SpecError(f"count is {count}; rays of equal power must be 1, or {LEAST_SPAN} to {MOST_RAYS}")
    if count == 1:
        return BeamRays(np.zeros(1), np.zeros(1), np.ones(1))
    number = np.arange(count)
    radius, angle = np.sqrt(-0.5 * np.log1p(-(number + 0.5) / count)), number * GOLDEN_ANGLE
    places = radius * np.stack([np.cos(angle), np.sin(angle)])
    places -= places.mean(axis=1, keepdims=True)
    variance, axes = np.linalg.eigh(places @ places.T / count)
    u, v = (axes * (0.5 / np.sqrt(variance))) @ axes.T @ places
    return BeamRays(u, v, np.full(count, 1.0 / count))


def patch_reach(rays: BeamRays) -> Array:
    """Half extent of the patch of each ray, in 1/e^2 radii, shape (rays,).

    Its area is P_i / I_i with the irradiance I = (2 / pi) exp(-2 rho^2) of a unit of power.
    """
    irradiance = 2.0 / math.pi * np.exp(-2.0 * (np.square(rays.u) + np.square(rays.v)))
    return _HALF_SIDE * np.sqrt(rays.weight / irradiance)


def _weighted(u: Array, v: Array) -> BeamRays:
    """Equal areas, Gaussian profile."""
    irradiance = np.exp(-2.0 * (np.square(u) + np.square(v)))
    return BeamRays(u, v, irradiance / irradiance.sum())
