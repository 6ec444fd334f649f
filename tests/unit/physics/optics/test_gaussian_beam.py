import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import optics

# The beam of VANE's example
BEAM = {"aperture_radius_m": 0.0125, "divergence_rad": 0.01}
WAIST = float(optics.waist_radius(905e-9, divergence_rad=0.01))
LIGHT = {"wavelength_m": 905e-9, "waist_radius_m": WAIST}


def test_reference_values(printed):
    assert optics.virtual_focus(0.0125, divergence_rad=0.01) == printed("2.49998")
    assert optics.spot_diameter(6.0, **BEAM) == printed("0.0850")
    assert optics.spot_diameter(86.0, **BEAM) == printed("0.8850")
    assert optics.rays_across(0.01, range_m=80.0, **BEAM) == 83
    assert printed("57.61") == WAIST * 1e6
    assert optics.rayleigh_range(905e-9, waist_radius_m=WAIST) * 1e3 == printed("11.52")


def test_from_the_virtual_focus_the_gaussian_radius_is_the_geometric_one(printed):
    """E-38: as printed, with the half angle's waist and z from the aperture, it would be 6 cm."""
    from_focus = 6.0 + optics.virtual_focus(0.0125, divergence_rad=0.01)
    assert optics.gaussian_radius(from_focus, **LIGHT) * 100 == printed("4.2500")
    assert optics.gaussian_radius(from_focus, **LIGHT) == pytest.approx(optics.spot_diameter(6.0, **BEAM) / 2, rel=1e-4)
    printed_waist = WAIST / 2
    assert optics.gaussian_radius(6.0, wavelength_m=905e-9, waist_radius_m=printed_waist) * 100 == printed("6.00")


@pytest.mark.parametrize("z_m", [0.0, 0.01, 8.5, 88.5])
def test_the_power_is_the_same_at_every_distance(z_m):
    w = float(optics.gaussian_radius(z_m, **LIGHT))
    rho, step = np.linspace(0.0, 6.0 * w, 20001, retstep=True)
    irradiance = optics.gaussian_irradiance(rho, z_m, power_W=3.0, **LIGHT)
    assert np.sum(irradiance * 2.0 * np.pi * rho) * step == pytest.approx(3.0, rel=1e-6)


def test_the_peak_falls_with_the_square_of_z_over_the_rayleigh_range(printed):
    """E-39, and the irradiances of E-40: 108.4 times weaker from the focus, 205.4 from the aperture."""
    at = [optics.gaussian_irradiance(0.0, z, power_W=1.0, **LIGHT) for z in (8.5, 88.5, 6.0, 86.0)]
    assert at[0] / at[1] == printed("108.4")
    assert at[2] / at[3] == printed("205.4")


def test_a_beam_without_width_at_its_aperture_starts_at_its_focus():
    assert optics.virtual_focus(0.0, divergence_rad=0.01) == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: optics.virtual_focus(0.01, divergence_rad=0.0), "divergence_rad is 0; it must be finite and above 0"),
        (lambda: optics.spot_diameter(-1.0, **BEAM), "range_m is -1; it must be finite and at least 0"),
        (lambda: optics.rays_across(0.0, range_m=80.0, **BEAM), "spacing_m is 0; it must be finite and above 0"),
        (lambda: optics.gaussian_radius(1.0, wavelength_m=905e-9, waist_radius_m=0.0), "waist_radius_m is 0"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(SpecError, match=message):
        call()


def test_share_beyond_an_edge_is_the_integral_of_the_profile():
    x = np.linspace(-6.0, 6.0, 240_001)
    profile = np.sqrt(2.0 / np.pi) / 1.7 * np.exp(-2.0 * (x / 1.7) ** 2)  # over the other axis already
    for distance in (-1.5, -0.2, 0.0, 0.4, 2.5):
        expected = np.sum(profile[x > distance]) * (x[1] - x[0])
        assert optics.share_beyond_edge(distance, radius_m=1.7) == pytest.approx(expected, abs=2e-5)
    with pytest.raises(SpecError, match="radius_m is 0; it must be"):
        optics.share_beyond_edge(0.1, radius_m=0.0)
