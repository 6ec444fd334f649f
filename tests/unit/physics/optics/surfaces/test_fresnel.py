import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensorium.core.errors import SpecError
from sensorium.physics import optics


def cosine(degrees):
    return np.cos(np.radians(degrees))


# index, angle [deg], R_s, R_p, R, T from vacuum
TABLE = [
    (1.5, 0, "0.040000", "0.040000", "0.040000", "0.960000"),
    (1.5, 30, "0.057796", "0.025249", "0.041523", "0.958477"),
    (1.5, 60, "0.176571", "0.001802", "0.089187", "0.910813"),
    (1.5, 80, "0.538595", "0.236814", "0.387704", "0.612296"),
    (1.5 + 7j, 0, "0.891403", "0.891403", "0.891403", "0.108597"),
    (1.5 + 7j, 60, "0.944512", "0.800630", "0.872571", "0.127429"),
    (1.33, 60, "0.113898", "0.004353", "0.059126", "0.940874"),
]


@pytest.mark.parametrize(("n", "angle", "r_s", "r_p", "r", "t"), TABLE)
def test_reference_values(printed, n, angle, r_s, r_p, r, t):
    s, p = optics.fresnel_polarized(cosine(angle), n=n)
    assert s == printed(r_s)
    assert p == printed(r_p)
    assert optics.fresnel(cosine(angle), n=n) == printed(r)
    assert optics.fresnel_transmittance(cosine(angle), n=n) == printed(t)


def amplitudes(c1, n1, n2):
    """Born & Wolf with complex numbers, as a second opinion."""
    c2 = np.sqrt(1 - (n1 / n2) ** 2 * (1 - c1**2) + 0j)
    c2 = np.where((n2 * c2).imag < 0, -c2, c2)
    r_s = (n1 * c1 - n2 * c2) / (n1 * c1 + n2 * c2)
    r_p = (n2 * c1 - n1 * c2) / (n2 * c1 + n1 * c2)
    return abs(r_s) ** 2, abs(r_p) ** 2


@given(
    cos=st.floats(0.0, 1.0),
    n1=st.floats(1.0, 2.0),
    n2=st.floats(0.05, 5.0),
    k2=st.one_of(st.just(0.0), st.floats(1e-6, 10.0)),
)
def test_agrees_with_complex_amplitudes(cos, n1, n2, k2):
    if abs(n2 - n1) < 1e-3:
        n2 = n1 + 1e-3
    s, p = amplitudes(cos, n1, n2 + 1j * k2)
    ours_s, ours_p = optics.fresnel_polarized(cos, n=n2 + 1j * k2, n_outside=n1)
    # Just at the critical angle reflectance rises like a square root, and rounding with it
    assert ours_s == pytest.approx(s, rel=1e-6, abs=1e-7)
    assert ours_p == pytest.approx(p, rel=1e-6, abs=1e-7)
    assert 0.0 <= ours_s <= 1.0 + 1e-12
    assert 0.0 <= ours_p <= 1.0 + 1e-12


def test_normal_incidence_has_a_closed_form():
    n, k = np.meshgrid(np.linspace(0.1, 4, 9), np.linspace(0, 8, 9))
    expected = ((n - 1) ** 2 + k**2) / ((n + 1) ** 2 + k**2)
    np.testing.assert_allclose(optics.fresnel(1.0, n=n + 1j * k), expected, rtol=1e-12)


def test_grazing_light_is_all_reflected():
    np.testing.assert_allclose(optics.fresnel(0.0, n=[1.33, 1.5, 1.5 + 7j, 0.2 + 3j]), 1.0, rtol=1e-12)


def test_no_p_polarized_light_returns_at_brewsters_angle():
    angle = np.degrees(np.arctan(1.5))
    assert angle == pytest.approx(56.3099, abs=5e-5)
    assert optics.fresnel_polarized(cosine(angle), n=1.5)[1] == pytest.approx(0.0, abs=1e-15)


def test_from_glass_to_air(printed):
    assert optics.fresnel(cosine(30), n=1.0, n_outside=1.5) == printed("0.055190")
    critical = np.degrees(np.arcsin(1 / 1.5))
    assert critical == pytest.approx(41.8103, abs=5e-5)
    beyond = np.linspace(critical + 1e-9, 90, 50)
    assert np.all(optics.fresnel(cosine(beyond), n=1.0, n_outside=1.5) == 1.0)
    assert optics.fresnel(cosine(critical - 0.01), n=1.0, n_outside=1.5) < 1.0


def test_an_interface_of_equal_media_is_none():
    assert np.all(optics.fresnel(np.linspace(0, 1, 11), n=1.0) == 0.0)
    assert np.all(optics.fresnel(np.linspace(0, 1, 11), n=1.33, n_outside=1.33) == 0.0)


def test_air_is_nearly_no_interface():
    # R = (n - 1)^2 / 4 to first order: a difference of nearly equal numbers unless computed with care
    n = 1.000273
    assert optics.fresnel(1.0, n=n) == pytest.approx(((n - 1) / (n + 1)) ** 2, rel=1e-10)


def test_internal_diffuse_reflectance(printed):
    assert optics.internal_diffuse_reflectance(1.5) == printed("0.596346")
    assert optics.internal_diffuse_reflectance(1.0) == pytest.approx(0.0, abs=1e-12)
    # Straight: the reflectance seen from inside, over the cosine-weighted hemisphere
    for n in (1.1, 1.33, 1.5, 2.5):
        critical = np.sqrt(1 - 1 / n**2)
        node, weight = np.polynomial.legendre.leggauss(200)
        # substitute c = critical + (1 - critical) t^2 against the square root at the critical angle
        t = 0.5 * (node + 1)
        c = critical + (1 - critical) * t**2
        inner = np.sum(0.5 * weight * optics.fresnel(c, n=1.0, n_outside=n) * 2 * c * (1 - critical) * 2 * t)
        assert optics.internal_diffuse_reflectance(n) == pytest.approx(critical**2 + inner, rel=1e-8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cos_theta": 1.5, "n": 1.5}, r"cos_theta is 1.5; the cosine of an angle of incidence lies in \[0, 1\]"),
        ({"cos_theta": -0.5, "n": 1.5}, "cos_theta is -0.5"),
        ({"cos_theta": np.nan, "n": 1.5}, "cos_theta is nan; it must be finite"),
        ({"cos_theta": 1.0, "n": 0.0}, "n is 0; it must be finite and above 0"),
        ({"cos_theta": 1.0, "n": [1.5, -2.0]}, "n is -2; it must be finite and above 0"),
        ({"cos_theta": 1.0, "n": 1.5 - 1j}, r"n \(imaginary part\) is -1; it must be finite and at least 0"),
        ({"cos_theta": 1.0, "n": 1.5, "n_outside": 0.0}, "n_outside is 0; it must be finite and above 0"),
        ({"cos_theta": 1.0, "n": 1.5, "n_outside": 1.5 + 1j}, "n_outside is complex; it must be real"),
        ({"cos_theta": "steep", "n": 1.5}, "cos_theta is 'steep'; it must be a number"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(SpecError, match=message):
        optics.fresnel(**arguments)
    with pytest.raises(SpecError, match=message):
        optics.fresnel_polarized(**arguments)


def test_a_body_thinner_than_its_surroundings_has_no_internal_reflectance():
    with pytest.raises(SpecError, match=r"n is 0.9; it must be finite and at least 1"):
        optics.internal_diffuse_reflectance(0.9)
