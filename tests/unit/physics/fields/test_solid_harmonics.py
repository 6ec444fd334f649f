"""Solid harmonics against SciPy's Legendre functions, and their slopes against differences and the dipole."""

import math

import numpy as np
import pytest
from scipy.special import lpmv

from sensorium.physics.fields import MagneticDipole
from sensorium.physics.fields.solid_harmonics import from_schmidt, packed, slopes, summed
from sensorium.runtime import worker_pool

RADIUS = 2.0


def points(seed, count):
    p = np.random.default_rng(seed).normal(size=(count, 3))
    return p / np.linalg.norm(p, axis=1, keepdims=True) * np.linspace(1.8, 6.0, count)[:, None]


def random_coefficients(seed, degree, sets=1):
    g, h = np.random.default_rng(seed).normal(size=(2, sets, degree + 1, degree + 1))
    return np.stack([from_schmidt(np.tril(a), np.tril(b)) for a, b in zip(g, h, strict=True)])


def test_each_harmonic_is_what_it_is_defined_as():
    degree, p = 14, points(1, 30)
    r, longitude = np.linalg.norm(p, axis=1), np.arctan2(p[:, 1], p[:, 0])
    n, m = np.tril_indices(degree + 1)
    one = np.zeros((len(n), degree + 1, degree + 1), complex)
    one[np.arange(len(n)), n, m] = 1.0

    # SciPy's functions carry the phase (-1)^m
    legendre = np.array([(-1) ** j * lpmv(j, i, p[:, 2] / r) for i, j in zip(n, m, strict=True)]).T
    size = (RADIUS / r[:, None]) ** (n + 1) * legendre
    scale = np.abs(size).max(axis=0)
    np.testing.assert_allclose(
        summed(packed(one), p, RADIUS) / scale, size * np.cos(m * longitude[:, None]) / scale, atol=1e-12
    )
    # Re(-i S) is the sine
    np.testing.assert_allclose(
        summed(packed(-1j * one), p, RADIUS) / scale, size * np.sin(m * longitude[:, None]) / scale, atol=1e-12
    )


def test_schmidt_functions_have_their_mean_square():
    # Over the sphere the mean of (P_nm cos m lambda)^2 is 1 / (2n + 1)
    z, weight = np.polynomial.legendre.leggauss(20)
    longitude = np.arange(40) * (2 * math.pi / 40)
    flat = np.sqrt(1 - z**2)[:, None]
    sphere = np.stack([flat * np.cos(longitude), flat * np.sin(longitude), np.broadcast_to(z[:, None], (20, 40))], -1)
    for n in range(1, 8):
        for m in range(n + 1):
            g, h = np.zeros((2, 8, 8))
            g[n, m] = 1.0
            values = summed(packed(from_schmidt(g, h)[None]), sphere.reshape(-1, 3), 1.0).reshape(20, 40)
            assert np.sum(values**2 * weight[:, None]) / 80 == pytest.approx(1 / (2 * n + 1), rel=1e-12)


def test_slopes_are_derivatives(jacobian):
    c, p = random_coefficients(2, 12, sets=3), points(3, 25)
    rows = packed(c)
    exact = summed(packed(np.concatenate([slopes(one) for one in c])), p, RADIUS).reshape(-1, 3, 3) / RADIUS
    differences = jacobian(lambda q: summed(rows, q, RADIUS), p, 1e-3)
    np.testing.assert_allclose(exact, differences, atol=1e-7 * np.abs(exact).max())


def test_second_slopes_are_symmetric_and_without_trace():
    first = slopes(random_coefficients(4, 12)[0])
    second = np.stack([slopes(one) for one in first])
    # The sine of order 0 is 0, whatever stands before it
    second[..., 0].imag = 0.0
    np.testing.assert_allclose(second, second.swapaxes(0, 1), atol=1e-12 * np.abs(second).max())
    # Laplace's equation, coefficient by coefficient
    np.testing.assert_allclose(np.einsum("iinm->nm", second), 0.0, atol=1e-12 * np.abs(second).max())


def test_degree_one_is_a_dipole():
    g, h = np.zeros((2, 2, 2))
    g[1], h[1, 1] = [0.3, -1.2], 0.5
    B = -slopes(from_schmidt(g, h))
    p = points(5, 30)
    moment = np.array([g[1, 1], h[1, 1], g[1, 0]]) * RADIUS**3 / 1e-7
    np.testing.assert_allclose(summed(packed(B), p, RADIUS), MagneticDipole(moment=moment).at(p), atol=1e-12)


def test_there_is_no_special_place_at_the_poles():
    rows = packed(slopes(random_coefficients(6, 12)[0]))
    at, beside = summed(rows, np.array([[0, 0, 3.0], [1e-9, -1e-9, 3.0]]), RADIUS)
    np.testing.assert_allclose(at, beside, atol=1e-7 * np.abs(at).max())


def test_the_bytes_do_not_depend_on_threads_or_on_the_batch():
    rows, p = packed(random_coefficients(7, 12, sets=6)), points(8, 1000)
    before = worker_pool.get_threads()
    try:
        worker_pool.set_threads(1)
        alone = summed(rows, p, RADIUS)
        worker_pool.set_threads(3)
        np.testing.assert_array_equal(summed(rows, p, RADIUS), alone)
    finally:
        worker_pool.set_threads(before)
    np.testing.assert_array_equal(summed(rows, p[100:101], RADIUS)[0], alone[100])
    assert summed(rows, np.empty((0, 3)), RADIUS).shape == (0, 6)
