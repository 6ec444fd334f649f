"""Energy at surfaces: no material sends out more light than falls on it, and some send out exactly as much."""

import functools

import numpy as np
import pytest

from sensorium.physics import optics
from sensorium.physics.optics.quadrature import gauss_legendre

ANGLES = np.radians([0, 30, 50, 60, 75, 85])
ROUGHNESSES = (0.03, 0.07, 0.2, 0.7)

# An index whose Fresnel reflectance is 1 at every angle, to 1e-11
PERFECT = 1.0 + 1e6j


def legendre(count, low, high):
    node, weight = gauss_legendre(count)
    return low + 0.5 * (high - low) * (node + 1), 0.5 * (high - low) * weight


def direction(cosine, phi):
    sine = np.sqrt(np.maximum(1 - cosine**2, 0))
    return np.stack(np.broadcast_arrays(sine * np.cos(phi), sine * np.sin(phi), cosine), axis=-1)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def source(theta):
    return np.array([np.sin(theta), 0.0, np.cos(theta)])


@functools.cache
def specular_albedo(theta, n, roughness, count=128):
    """int f_s (n.v) dw over the detector's hemisphere, with facets spread as GGX spreads them."""
    alpha2 = 2 * roughness**2
    u, du = legendre(count, 0, 1)
    phi, dphi = legendre(count, 0, np.pi)
    u, phi = np.meshgrid(u, phi, indexing="ij")
    cos_h = np.sqrt((1 - u) / (1 + (alpha2 - 1) * u))
    h = direction(cos_h, phi)
    l = source(theta)  # noqa: E741
    cos_lh = h @ l
    v = unit(2 * cos_lh[..., None] * h - l)
    # dw_v = 4 (l.h) dw_h, and D (n.h) dw_h = du dphi / 2 pi
    f = optics.ggx(l, v, n=n, roughness=roughness)
    density = optics.ggx_distribution(cos_h, roughness=roughness) * cos_h
    value = np.where(cos_lh > 0, f * v[..., 2] * 4 * cos_lh / density, 0.0)
    return 2 * np.einsum("ij,i,j", value, du, dphi) / (2 * np.pi)


def albedo(f, theta, count=40):
    """int f (n.v) dw of a BRDF without narrow lobes."""
    cosine, dc = legendre(count, 0, 1)
    phi, dphi = legendre(count, 0, np.pi)
    v = unit(direction(*np.meshgrid(cosine, phi, indexing="ij")))
    return 2 * np.einsum("ij,i,j", f(source(theta), v) * v[..., 2], dc, dphi)


def layered_albedo(theta, layering, *, n=1.5, roughness, reflectance, diffuse_roughness=0.0):
    """Coat and base apart: the narrow lobe of the coat needs nodes of its own."""
    material = {"n": n, "roughness": roughness, "reflectance": reflectance, "diffuse_roughness": diffuse_roughness}

    def base(l, v):  # noqa: E741
        return optics.two_layer(l, v, **material, layering=layering) - optics.ggx(l, v, n=n, roughness=roughness)

    return specular_albedo(theta, n, roughness) + albedo(base, theta)


def test_a_lambertian_surface_reflects_its_reflectance():
    for theta in ANGLES:
        assert albedo(lambda source, v: optics.oren_nayar(source, v, reflectance=0.6), theta) == pytest.approx(
            0.6, rel=1e-9
        )


@pytest.mark.parametrize(("reflectance", "largest"), [(0.97, 0.996), (0.98, 1.007), (1.0, 1.029)])
def test_oren_nayar_conserves_energy_up_to_a_reflectance_of_097(reflectance, largest):
    """The albedo is largest for grazing light and a deviation of 0.25 rad."""

    def of(theta, sigma):
        rough = {"reflectance": reflectance, "diffuse_roughness": sigma}
        return albedo(lambda source, v: optics.oren_nayar(source, v, **rough), theta)

    angles, sigmas = np.radians([0, 45, 75, 85, 89, 89.999]), (0.0, 0.1, 0.2, 0.24, 0.26, 0.28, 0.35, 0.5, 1.0, 1.5)
    assert max(of(theta, sigma) for theta in angles for sigma in sigmas) == pytest.approx(largest, abs=5e-4)


@pytest.mark.parametrize(("angle", "expected"), [(0, 0.763), (60, 0.742)])
def test_single_scattering_loses_light_between_facets(angle, expected):
    assert specular_albedo(np.radians(angle), PERFECT, 0.3, 320) == pytest.approx(expected, abs=5e-4)


def test_no_rough_mirror_reflects_more_than_all():
    for roughness in ROUGHNESSES:
        for theta in ANGLES:
            assert specular_albedo(theta, PERFECT, roughness) <= 1.0 + 1e-4


def test_a_smooth_mirror_loses_nothing():
    for theta in ANGLES[:4]:
        assert specular_albedo(theta, PERFECT, 0.005) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("roughness", [0.05, 0.3, 0.7])
@pytest.mark.parametrize("angle", [0, 30, 60, 80])
def test_weak_white_furnace(roughness, angle):
    """The facets a beam sees cover its cross-section once: int G_1(l) D (l.h) dw = n.l (Heitz 2014, eq. 15)."""
    theta, alpha2 = np.radians(angle), 2 * roughness**2
    u, du = legendre(400, 0, 1)
    phi, dphi = legendre(400, 0, np.pi)
    u, phi = np.meshgrid(u, phi, indexing="ij")
    cos_h = np.sqrt((1 - u) / (1 + (alpha2 - 1) * u))
    seen = np.maximum(direction(cos_h, phi) @ source(theta), 0.0)
    # D dw_h = du dphi / (2 pi (n.h))
    area = 2 * np.einsum("ij,i,j", seen / cos_h, du, dphi) / (2 * np.pi)
    shown = 1 / (1 + optics.smith_lambda(np.cos(theta), roughness=roughness))
    assert shown * area == pytest.approx(np.cos(theta), rel=3e-3)


@pytest.mark.parametrize(("angle", "expected"), [(0, 0.970), (60, 1.008), (80, 1.164)])
def test_the_published_layering_creates_light(angle, expected):
    material = {"roughness": 0.1 / np.sqrt(2), "reflectance": 0.97}
    assert layered_albedo(np.radians(angle), "agx", **material) == pytest.approx(expected, abs=5e-4)
    assert layered_albedo(np.radians(angle), "two_way", **material) <= 0.89


@pytest.mark.parametrize(
    ("layering", "reflectance", "sigma", "most"),
    [
        ("two_way", 1.0, 0.0, 1.0),
        ("two_way", 0.97, 0.25, 1.0),
        ("plastic", 0.97, 0.0, 1.0),
        ("plastic", 0.97, 0.25, 1.0),
        ("plastic", 1.0, 0.0, 1.0008),  # a white base, and T taken at the surface's normal instead of the facets'
    ],
)
@pytest.mark.parametrize("n", [1.2, 1.5, 2.4])
def test_coats_and_bases_create_no_light(layering, reflectance, sigma, most, n):
    for roughness in ROUGHNESSES:
        for theta in ANGLES:
            material = {"n": n, "roughness": roughness, "reflectance": reflectance, "diffuse_roughness": sigma}
            total = layered_albedo(theta, layering, **material)
            assert 0.0 < total <= most + 1e-6, (roughness, np.degrees(theta))


def test_white_furnace_under_a_smooth_coat():
    """`plastic` counts what goes to and fro: a white base sends back through the coat all that the coat lets in."""
    white = {"n": 1.5, "roughness": 0.0, "reflectance": 1.0, "layering": "plastic"}
    for theta in ANGLES:
        passed = optics.fresnel_transmittance(np.cos(theta), n=1.5)
        assert albedo(lambda source, v: optics.two_layer(source, v, **white), theta) == pytest.approx(passed, rel=1e-4)


@pytest.mark.parametrize("layering", ["two_way", "plastic"])
def test_reciprocity_over_random_directions(layering):
    rng = np.random.default_rng(4)
    l, v = (direction(rng.uniform(0.01, 1, 5000), rng.uniform(0, 2 * np.pi, 5000)) for _ in range(2))  # noqa: E741
    for n in (1.0, 1.33, 1.5, 2.4 + 0.05j):
        material = {"n": n, "roughness": rng.uniform(0.01, 0.7, 5000), "reflectance": rng.uniform(0, 1, 5000),
                    "diffuse_roughness": rng.uniform(0, 1, 5000), "layering": layering}  # fmt: skip
        there, back = optics.two_layer(l, v, **material), optics.two_layer(v, l, **material)
        np.testing.assert_allclose(back, there, rtol=1e-6)
