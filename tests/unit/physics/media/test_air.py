"""Clear air."""

import pytest

from sensorium.physics import media
from sensorium.physics.media.visibility import visibility_extinction


def test_clear_air_takes_little_and_returns_nothing():
    air = media.air().at(905e-9)
    assert air.extinction_per_m == visibility_extinction(23_000.0, 905e-9)
    assert air.extinction_per_m == pytest.approx(8.90e-5 * 2.9957 / 3.912, rel=2e-3)
    assert air.backscatter_per_m_sr == pytest.approx(air.extinction_per_m / 20.0)
    assert air.gamma_probability == 0.0
    assert air.refractive_index == 1.000273
