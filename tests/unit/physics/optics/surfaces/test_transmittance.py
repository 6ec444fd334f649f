import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import optics
from sensorium.physics.optics.surfaces.transmittance import attenuation


def test_reference_values(printed):
    """Fog of 200 m visibility (5 % remain), a target at 50 m."""
    extinction = -np.log(0.05) / 200.0
    assert extinction == printed("0.0149787")
    assert optics.transmittance(200.0, extinction_per_m=extinction) == pytest.approx(0.05, rel=1e-12)
    assert optics.two_way_transmittance(50.0, extinction_per_m=extinction) == printed("0.223607")


def test_segments_multiply():
    parts = np.array([3.0, 20.0, 0.5])
    whole = optics.transmittance(parts.sum(), extinction_per_m=0.02)
    assert np.prod(optics.transmittance(parts, extinction_per_m=0.02)) == pytest.approx(whole, rel=1e-12)


def test_clear_air_takes_nothing():
    assert optics.two_way_transmittance(1e6, extinction_per_m=0.0) == 1.0


def test_the_scalar_is_the_exponential_in_both_types():
    assert attenuation(0.5) == np.exp(-0.5)
    assert attenuation(np.float32(0.5)) == pytest.approx(np.exp(-0.5), rel=3e-7)
    assert attenuation(np.float32(0.0)) == 1.0
    assert attenuation(np.float32(200.0)) == 0.0


def test_bad_input():
    with pytest.raises(SpecError, match=r"extinction_per_m is -0.1; it must be finite and at least 0"):
        optics.transmittance(1.0, extinction_per_m=-0.1)
    with pytest.raises(SpecError, match="distance_m is -1; it must be finite and at least 0"):
        optics.two_way_transmittance(-1.0, extinction_per_m=0.1)
