import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import optics
from sensorium.physics.optics.detection.range_ambiguity import folded


def test_a_return_is_counted_from_the_last_pulse_that_left():
    rng = np.random.default_rng(3)
    for _ in range(50):
        rate_hz, index, range_m = rng.uniform(1e4, 1e7), rng.uniform(1.0, 1.4), rng.uniform(0.0, 1e4)
        back_s = 2.0 * index * range_m / 299_792_458.0
        left_s = np.arange(0.0, back_s + 1.0 / rate_hz, 1.0 / rate_hz)
        since_s = back_s - left_s[left_s <= back_s].max()
        unambiguous_m = optics.unambiguous_range(rate_hz, index=index)
        expected = since_s * 299_792_458.0 / 2.0 / index
        assert float(optics.folded_range(range_m, unambiguous_m=unambiguous_m)) == pytest.approx(expected, abs=1e-6)
        assert folded(range_m, float(unambiguous_m)) == pytest.approx(expected, abs=1e-6)


def test_bad_input():
    with pytest.raises(SpecError, match="rate_hz is 0; it must be finite and above 0"):
        optics.unambiguous_range(0.0)
    with pytest.raises(SpecError, match="range_m is -1; it must be finite and at least 0"):
        optics.folded_range(-1.0, unambiguous_m=10.0)
