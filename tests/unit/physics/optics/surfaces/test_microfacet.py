import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensorium.core.errors import SpecError
from sensorium.physics import optics

SQRT2 = np.sqrt(2.0)
COSINES = np.cos(np.radians([0, 30, 60]))


def direction(theta, phi=0.0):
    return np.stack(np.broadcast_arrays(np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)), -1)


@pytest.mark.parametrize(
    ("n", "roughness", "values"),
    [
        (1.5, 0.3, ("0.0176839", "0.00433528", "0.00146103")),
        (1.5, 0.3 / SQRT2, ("0.0353678", "0.00323337", "0.000851969")),
        (1.5 + 7j, 0.3, ("0.394087", "0.0966121", "0.0325591")),
        (1.5 + 7j, 0.3 / SQRT2, ("0.788173", "0.0720560", "0.0189862")),
    ],
)
def test_monostatic_reference_values(printed, n, roughness, values):
    for c, value in zip(COSINES, values, strict=True):
        assert optics.ggx_monostatic(c, n=n, roughness=roughness) == printed(value)
        beam = direction(np.arccos(c))
        assert optics.ggx(beam, beam, n=n, roughness=roughness) * c == printed(value)


def test_reference_values_in_the_mirror_direction(printed):
    for angle, value in ((0, "0.017684"), (30, "0.020588"), (60, "0.063546")):
        theta = np.radians(angle)
        f = optics.ggx(direction(theta), direction(theta, np.pi), n=1.5, roughness=0.3)
        assert f * np.cos(theta) == printed(value)


def test_normal_incidence_has_a_closed_form():
    roughness = np.array([0.01, 0.1, 0.3, 0.7])
    expected = 0.04 / (4 * np.pi * 2 * roughness**2)
    np.testing.assert_allclose(optics.ggx_monostatic(1.0, n=1.5, roughness=roughness), expected, rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.5, 1.0])
def test_facets_cover_the_surface_once(alpha):
    # int D (n.h) dw = 1, over t = tan^2 / alpha^2 mapped to [0, 1)
    node, weight = np.polynomial.legendre.leggauss(64)
    u = 0.5 * (node + 1)
    tan2 = alpha**2 * u / (1 - u)
    c = 1 / np.sqrt(1 + tan2)
    # d(cos) cos = -d(tan^2) / (2 (1 + tan^2)^2), d(tan^2) / du = alpha^2 / (1 - u)^2
    density = optics.ggx_distribution(c, roughness=alpha / SQRT2)
    integral = np.sum(0.5 * weight * np.pi * density / (1 + tan2) ** 2 * alpha**2 / (1 - u) ** 2)
    assert integral == pytest.approx(1.0, rel=1e-10)


def test_masking_is_that_of_lambda():
    c_l, c_v = np.meshgrid(np.linspace(0.05, 1, 12), np.linspace(0.05, 1, 12))
    for roughness in (0.05, 0.3, 0.7):
        total = optics.smith_lambda(c_l, roughness=roughness) + optics.smith_lambda(c_v, roughness=roughness)
        np.testing.assert_allclose(optics.smith_masking(c_l, c_v, roughness=roughness), 1 / (1 + total), rtol=1e-12)
        slope = 2 * roughness**2 * (1 / c_l**2 - 1)
        expected = (np.sqrt(1 + slope) - 1) / 2
        np.testing.assert_allclose(optics.smith_lambda(c_l, roughness=roughness), expected, rtol=1e-9, atol=1e-15)


def test_nothing_hides_on_a_flat_surface_seen_from_above():
    assert optics.smith_masking(1.0, 1.0, roughness=0.3) == 1.0


@given(
    theta_l=st.floats(0.0, 1.55), theta_v=st.floats(0.0, 1.55), phi=st.floats(0.0, 6.3), roughness=st.floats(0.01, 0.7)
)
def test_reciprocity(theta_l, theta_v, phi, roughness):
    l, v = direction(theta_l), direction(theta_v, phi)  # noqa: E741
    there = optics.ggx(l, v, n=1.5 + 0.2j, roughness=roughness)
    assert optics.ggx(v, l, n=1.5 + 0.2j, roughness=roughness) == pytest.approx(there, rel=1e-6)


def test_any_normal_will_do():
    rng = np.random.default_rng(1)
    l, v = direction(rng.uniform(0, 1.5, 20), rng.uniform(0, 6, 20)), direction(rng.uniform(0, 1.5, 20))  # noqa: E741
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    expected = optics.ggx(l, v, n=1.5, roughness=0.3)
    turned = optics.ggx(l @ turn.T, v @ turn.T, n=1.5, roughness=0.3, normal=turn @ [0, 0, 1])
    np.testing.assert_allclose(turned, expected, rtol=1e-9)


def test_nothing_comes_from_below_the_horizon():
    up, down = direction(0.4), direction(2.0)
    for source, detector in ((up, down), (down, up), (down, down), (down, -down)):
        assert optics.ggx(source, detector, n=1.5, roughness=0.3) == 0.0


def test_a_perfect_mirror_has_no_lobe():
    """All its light is in the mirror ray, which is traced on its own."""
    assert np.all(optics.ggx_monostatic([0.0, 0.5, 1.0], n=1.5, roughness=0.0) == 0.0)
    assert optics.ggx(direction(0.5), direction(0.5, np.pi), n=1.5, roughness=0.0) == 0.0


def test_bad_input():
    with pytest.raises(SpecError, match=r"roughness is -0.1; it must be finite and at least 0"):
        optics.ggx_monostatic(1.0, n=1.5, roughness=-0.1)
    with pytest.raises(SpecError, match="cos_u is 0; it must be finite and above 0"):
        optics.smith_lambda(0.0, roughness=0.3)
    with pytest.raises(SpecError, match="to_source has length 2; it must be a unit vector"):
        optics.ggx((0, 0, 2), (0, 0, 1), n=1.5, roughness=0.3)
    with pytest.raises(SpecError, match=r"to_detector has shape \(2,\); its last axis must hold x, y, z"):
        optics.ggx((0, 0, 1), (0, 1), n=1.5, roughness=0.3)
    with pytest.raises(SpecError, match=r"n is -1.5"):
        optics.ggx((0, 0, 1), (0, 0, 1), n=-1.5, roughness=0.3)
