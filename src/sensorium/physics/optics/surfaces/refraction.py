"""Directions of light at a smooth interface: Snell's law and the mirror direction, for vectors.

With eta = n1 / n2, c1 = -d.n, c2 = sqrt(1 - eta^2 (1 - c1^2)):    t = eta d + (eta c1 - c2) n,    r = d + 2 c1 n

A negative radicand is total reflection: no light passes.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array, checked, checked_unit
from sensorium.runtime import jit


@jit.inlined
def refracted_cosine(cos_theta: float, eta: float) -> float:
    """Cosine of the angle of refraction for eta = n1 / n2; -1 for total reflection."""
    one = jit.like(eta, 1.0)
    radicand = (one - eta) * (one + eta) + eta * eta * cos_theta * cos_theta
    return math.sqrt(radicand) if radicand >= jit.like(eta, 0.0) else -one


@jit.inlined
def mirrored(dx: float, dy: float, dz: float, nx: float, ny: float, nz: float) -> tuple[float, float, float]:
    """Direction of the mirror ray, d - 2 (d.n) n; the side of the normal does not matter."""
    twice = jit.like(dx, -2.0) * (dx * nx + dy * ny + dz * nz)
    return dx + twice * nx, dy + twice * ny, dz + twice * nz


_refracted_cosine = jit.elementwise(refracted_cosine)


def refract(
    direction: ArrayLike, normal: ArrayLike, *, n_from: ArrayLike, n_to: ArrayLike
) -> tuple[Array, NDArray[np.bool_]]:
    """Refract rays at an interface.

    Args:
        direction: Unit directions of travel d, (*batch, 3).
        normal: Unit normals on the side the light comes from, d.n <= 0, (*batch, 3).
        n_from: Refractive index on that side, (*batch).
        n_to: Refractive index behind the interface, (*batch).

    Returns:
        Unit directions behind the interface (*batch, 3), and where total reflection lets nothing pass (*batch): there
        the direction is NaN.
    """
    d, normals = np.broadcast_arrays(checked_unit("direction", direction), checked_unit("normal", normal))
    eta = checked("n_from", n_from, above=0.0) / checked("n_to", n_to, above=0.0)
    c1 = -np.sum(d * normals, axis=-1)
    if np.any(c1 < 0):
        raise SpecError(f"direction . normal is {-c1.min():g}; the normal must stand on the side the light comes from")
    c2 = _refracted_cosine(np.minimum(c1, 1.0), eta)
    total = c2 < 0
    out = eta[..., None] * d + (eta * c1 - c2)[..., None] * normals
    return np.where(total[..., None], np.nan, out), np.asarray(total)


def reflect(direction: ArrayLike, normal: ArrayLike) -> Array:
    """Mirror directions d - 2 (d.n) n of unit directions at unit normals, (*batch, 3)."""
    d, normals = checked_unit("direction", direction), checked_unit("normal", normal)
    return d - 2.0 * np.sum(d * normals, axis=-1, keepdims=True) * normals
