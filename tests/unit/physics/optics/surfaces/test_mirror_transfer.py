import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import optics

DELTA = 1.5e-3


def share(alpha, theta=0.0, delta=DELTA):
    c = np.cos(theta)
    kappa = optics.mirror_transfer(c, n=1.5, roughness=alpha / np.sqrt(2), half_angle_rad=delta)
    return kappa / optics.fresnel(c, n=1.5)


@pytest.mark.parametrize(
    ("alpha", "value"),
    [(1e-4, "0.982533"), (1e-3, "0.360000"), (1e-2, "5.59354e-3"), (0.4243, "3.12446e-6")],
)
def test_reference_values(printed, alpha, value):
    assert share(alpha) == printed(value)


def cone_integral(alpha, theta, delta):
    """Light of a mirror of R = 1 inside a cone about the mirror direction: int f_s (n.v) dw, by quadrature."""
    source = np.array([np.sin(theta), 0.0, np.cos(theta)])
    mirror = source * [-1, 1, 1]
    side, up = np.array([0.0, 1.0, 0.0]), np.cross(mirror, [0.0, 1.0, 0.0])
    node, weight = np.polynomial.legendre.leggauss(200)
    # squared radius of the cone's disc, fine near its center
    r = delta * (0.5 * (node + 1)) ** 2
    phi = (np.arange(128) + 0.5) * 2 * np.pi / 128
    r, phi = np.meshgrid(r, phi, indexing="ij")
    v = np.cos(r)[..., None] * mirror + np.sin(r)[..., None] * (
        np.cos(phi)[..., None] * side + np.sin(phi)[..., None] * up
    )
    v /= np.linalg.norm(v, axis=-1, keepdims=True)
    f = optics.ggx(source, v, n=1.0 + 1e6j, roughness=alpha / np.sqrt(2))
    dr = weight * 0.5 * delta * 2 * (0.5 * (node + 1))
    return np.sum(np.mean(f * v[..., 2] * np.sin(r), axis=1) * 2 * np.pi * dr)


@pytest.mark.parametrize("alpha", [1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize(("angle", "within"), [(0, 1e-3), (60, 0.06)])
def test_it_is_the_light_inside_the_cone(alpha, angle, within):
    theta = np.radians(angle)
    assert cone_integral(alpha, theta, DELTA) == pytest.approx(share(alpha, theta), rel=within)


def test_limits():
    # A mirror passes on all it reflects; a rough surface f_s cos(theta) times the cone's solid angle
    assert optics.mirror_transfer(0.5, n=1.5, roughness=0.0, half_angle_rad=DELTA) == optics.fresnel(0.5, n=1.5)
    assert optics.mirror_transfer(1.0, n=1.5, roughness=0.0, half_angle_rad=0.0) == pytest.approx(0.04)
    assert optics.mirror_transfer(1.0, n=1.5, roughness=0.3, half_angle_rad=0.0) == 0.0
    rough = optics.ggx_monostatic(1.0, n=1.5, roughness=0.3) * np.pi * DELTA**2
    assert optics.mirror_transfer(1.0, n=1.5, roughness=0.3, half_angle_rad=DELTA) == pytest.approx(rough, rel=1e-5)


def test_it_never_exceeds_the_reflectance():
    c, roughness = np.meshgrid(np.linspace(0, 1, 20), np.logspace(-6, 0, 20))
    kappa = optics.mirror_transfer(c, n=1.5, roughness=roughness, half_angle_rad=DELTA)
    assert np.all(kappa >= 0)
    assert np.all(kappa <= optics.fresnel(c, n=1.5))


def test_bad_input():
    with pytest.raises(SpecError, match="half_angle_rad is -1; it must be finite and at least 0"):
        optics.mirror_transfer(1.0, n=1.5, roughness=0.1, half_angle_rad=-1)
    with pytest.raises(SpecError, match=r"roughness is -0.1"):
        optics.mirror_transfer(1.0, n=1.5, roughness=-0.1, half_angle_rad=DELTA)
