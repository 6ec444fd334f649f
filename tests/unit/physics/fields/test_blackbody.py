"""Planck's law as shares: normalized, peaked where Wien says, its sum the integral of its density."""

import numpy as np
import pytest
from scipy.integrate import quad

from sensorium.physics.fields.blackbody import share_below, spectral_share

T = 5772.0


def test_all_power_lies_somewhere():
    assert share_below(1e-4, T) == pytest.approx(1.0, abs=3e-5)
    assert share_below(1e-2, T) == pytest.approx(1.0, abs=1e-9)
    assert share_below(1e-7, T) < 1e-7


@pytest.mark.parametrize(("low_m", "high_m"), [(3e-7, 4e-7), (8e-7, 1e-6), (1e-6, 1e-5)])
def test_the_sum_is_the_integral_of_the_density(low_m, high_m):
    integral, _ = quad(spectral_share, low_m, high_m, args=(T,), epsabs=0.0, epsrel=1e-12)
    assert share_below(high_m, T) - share_below(low_m, T) == pytest.approx(integral, rel=1e-10)


def test_density_is_plancks_law():
    # pi B_lambda / (sigma T^4) written out with CODATA's sigma, at 905 nm
    planck, light, boltzmann, sigma = 6.62607015e-34, 299_792_458.0, 1.380649e-23, 5.670374419e-8
    wavelength_m = 905e-9
    x = planck * light / (wavelength_m * boltzmann * T)
    exitance = 2.0 * np.pi * planck * light**2 / wavelength_m**5 / np.expm1(x)
    assert spectral_share(wavelength_m, T) == pytest.approx(exitance / (sigma * T**4), rel=1e-9)


@pytest.mark.parametrize("temperature_k", [300.0, 3000.0, 5772.0])
def test_the_peak_obeys_wien(temperature_k):
    peak_m = 2.897771955e-3 / temperature_k
    peak = spectral_share(peak_m, temperature_k)
    assert peak > spectral_share(0.999 * peak_m, temperature_k)
    assert peak > spectral_share(1.001 * peak_m, temperature_k)


def test_a_quarter_of_the_power_lies_below_the_wien_peak():
    assert share_below(2.897771955e-3 / T, T) == pytest.approx(0.2500, abs=2e-4)
