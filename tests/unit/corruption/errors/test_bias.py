import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.corruption import Bias


def test_a_known_bias_is_added_to_each_channel():
    bias = Bias((1.0, 2.0, 3.0))
    out, _ = bias.apply([10.0, 10.0, 10.0], time_ns=0, state=bias.init((3,), seed=1))
    np.testing.assert_array_equal(out, [11, 12, 13])


def test_a_drawn_bias_stays_for_the_episode_and_spreads_over_worlds():
    bias = Bias(1.0, std=(0.1, 0.0, 2.0))
    state = bias.init((20_000, 3), seed=1)
    first, state = bias.apply(np.zeros((20_000, 3)), time_ns=0, state=state)
    later, _ = bias.apply(np.zeros((20_000, 3)), time_ns=10**12, state=state)
    np.testing.assert_array_equal(first, later)
    np.testing.assert_allclose(first.mean(axis=0), 1.0, atol=5 * 2.0 / np.sqrt(20_000))
    np.testing.assert_allclose(first.std(axis=0), [0.1, 0, 2], rtol=5 / np.sqrt(40_000))
    assert (first[:, 1] == 1).all()


def test_the_value_may_be_given_by_position_or_name_but_not_negative_spread():
    assert Bias(0.5) == Bias(value=0.5)
    with pytest.raises(SpecError, match=r"std is -0\.1; it must not be negative"):
        Bias(0.0, std=-0.1)


def test_a_bias_of_the_wrong_length_is_called_by_its_name():
    with pytest.raises(SpecError, match=r"Bias\.value has 2 values; it must be one number or 3, one for each channel"):
        Bias((1.0, 2.0)).init((3,), seed=1)
    with pytest.raises(SpecError, match=r"Bias\.std has 2 values"):
        Bias(std=(1.0, 2.0)).init((3,), seed=1)
