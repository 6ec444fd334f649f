"""Tools of potential theory: derivatives by central differences, and the flux through a sphere."""

import numpy as np
import pytest


@pytest.fixture
def jacobian():
    """Function of a field, points (n, 3) and a step: dF_i/dx_j, shape (n, 3, 3), off by the step's fourth power."""

    def of(field, p, step):
        columns = []
        for k in range(3):
            d = np.zeros(3)
            d[k] = step
            near, far = field(p + d) - field(p - d), field(p + 2 * d) - field(p - 2 * d)
            columns.append((8 * near - far) / (12 * step))
        return np.stack(columns, axis=-1)

    return of


@pytest.fixture
def flux():
    """Function of a field, a center and a radius: the field's flux out of that sphere, by Gauss-Legendre quadrature."""

    def of(field, center, radius):
        z, weight = np.polynomial.legendre.leggauss(60)
        longitude = np.arange(120) * (2 * np.pi / 120)
        flat = np.sqrt(1 - z**2)[:, None]
        n = np.stack(
            [flat * np.cos(longitude), flat * np.sin(longitude), np.broadcast_to(z[:, None], (60, 120))], axis=-1
        )
        outward = np.sum(field(np.asarray(center) + radius * n) * n, axis=-1)
        return float(np.sum(outward * weight[:, None]) * (2 * np.pi / 120) * radius**2)

    return of
