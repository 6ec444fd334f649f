"""Materials at millimeter waves."""

import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import radio


def test_concrete_at_77_GHz():
    """5.24 and 0.0462 x 77^0.7822 = 1.3816 S/m over 2 pi f eps_0."""
    found = radio.permittivity("concrete", frequency_hz=77e9)
    assert found.real == 5.24
    assert found.imag == pytest.approx(-0.3225, abs=1e-3)


def test_reflectance_of_glass_and_metal():
    assert radio.normal_reflectance(4.0) == pytest.approx(1.0 / 9.0)
    metal = radio.normal_reflectance(radio.permittivity("metal", frequency_hz=77e9))
    assert 0.99 < metal < 1.0


def test_what_the_table_does_not_know_is_refused():
    with pytest.raises(SpecError, match="material is 'cheese'"):
        radio.permittivity("cheese", frequency_hz=77e9)
    with pytest.raises(SpecError, match="frequency_hz is 3e"):
        radio.permittivity("wood", frequency_hz=3e11)
    with pytest.raises(SpecError, match="imaginary part"):
        radio.normal_reflectance(4.0 + 1.0j)
