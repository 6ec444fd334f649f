"""A medium of given numbers, and vacuum."""

import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import media
from sensorium.physics.media import MediumParameters


def test_the_numbers_come_back():
    medium = media.uniform(
        refractive_index=1.2,
        extinction_per_m=0.3,
        backscatter_per_m_sr=0.01,
        gamma_shape=2.0,
        gamma_scale_m=3.0,
        gamma_probability=0.5,
    )
    assert medium.at(905e-9) == MediumParameters(1.2, 0.3, 0.01, 2.0, 3.0, 0.5)


def test_extinction_may_be_a_spectrum():
    medium = media.uniform(extinction_per_m=((900e-9, 0.2), (1000e-9, 0.4)))
    assert medium.at(950e-9).extinction_per_m == pytest.approx(0.3)


def test_vacuum_does_nothing():
    vacuum = media.vacuum().at(905e-9)
    assert (vacuum.refractive_index, vacuum.extinction_per_m, vacuum.backscatter_per_m_sr) == (1.0, 0.0, 0.0)
    assert vacuum.gamma_probability == 0.0


def test_negative_attenuation_is_refused():
    with pytest.raises(SpecError, match=r"extinction_per_m is -0.1; it must be greater than or equal to 0"):
        media.uniform(extinction_per_m=-0.1)
    with pytest.raises(SpecError, match=r"a value is -0.1; it must not be negative"):
        media.uniform(extinction_per_m=((900e-9, 0.2), (1000e-9, -0.1)))
