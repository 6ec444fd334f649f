"""Nodes and weights of numerical integrals."""

import functools

import numpy as np

from sensorium.physics.optics.checks import Array


@functools.cache
def gauss_legendre(count: int) -> tuple[Array, Array]:
    """Nodes and weights of Gauss and Legendre on (-1, 1): sum_i w_i f(x_i) is exact up to degree 2 count - 1.

    Eigenvalues of a matrix: a hundred nodes take ten milliseconds, so they are found once and shared, read-only.

    Args:
        count: How many nodes.

    Returns:
        Nodes and weights, shape (count,) each.
    """
    node, weight = np.polynomial.legendre.leggauss(count)
    node.flags.writeable = weight.flags.writeable = False
    return node, weight
