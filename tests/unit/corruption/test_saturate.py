import numpy as np
import pytest

from sensorium.corruption import Bias, Chain, Quantize, Saturate
from sensorium.errors import SpecError


def _applied(model, signal):
    return model.apply(signal, time_ns=0, state=model.init(np.shape(signal), seed=1))[0]


def test_each_channel_has_its_own_lower_and_upper_limit():
    # R16, R17: the memo's example
    model = Saturate(min=(-1, -1, -0.9), max=(1, 1, 1))
    np.testing.assert_array_equal(_applied(model, [-2.0, 0.5, -2.0]), [-1, 0.5, -0.9])
    np.testing.assert_array_equal(_applied(model, [2.0, -0.5, 0.95]), [1, -0.5, 0.95])


def test_clamping_first_lets_the_output_leave_the_range_and_clamping_last_does_not():
    # physics.md E-18: clip 16, bias 0.5
    limits, bias = Saturate(min=-16.0, max=16.0), Bias(0.5)
    assert _applied(Chain([limits, bias]), [20.0])[0] == 16.5
    assert _applied(Chain([bias, limits]), [20.0])[0] == 16.0
    assert _applied(Chain([limits, bias, limits]), [20.0])[0] == 16.0


def test_limits_between_codes_move_inward():
    chain = Chain([Quantize(lsb=0.1), Saturate(min=-0.27, max=0.34)])
    np.testing.assert_allclose(_applied(chain, [-5.0, 5.0, 0.3]), [-0.2, 0.3, 0.3])


def test_limits_that_are_codes_up_to_rounding_stay():
    # 3 * 0.1 is not the float 0.3
    np.testing.assert_allclose(
        _applied(Chain([Quantize(lsb=0.1), Saturate(min=-0.3, max=0.3)]), [-9.0, 9.0]), [-0.3, 0.3]
    )


def test_a_stuck_sensor_is_one_whose_limits_are_equal():
    # R18
    np.testing.assert_array_equal(_applied(Saturate.stuck_at((1.0, 2.0)), [9.0, -9.0]), [1, 2])
    assert Saturate.stuck_at(3.0) == Saturate(min=3.0, max=3.0)


def test_the_average_over_the_step_can_saturate_what_the_instant_does_not():
    # R19: mean of 3 and 0.5 is above 1
    model = Saturate(min=-1.0, max=1.0, check="average")
    x = np.array([[0.5], [3.0], [0.5], [0.5], [-4.0], [0.5], [0.6]])
    out, _ = model.series(x, times_ns=np.arange(7), state=model.init((1,), seed=1))
    np.testing.assert_array_equal(out[:, 0], [0.5, 1, 1, 0.5, -1, -1, 0.6])
    instant, _ = (again := Saturate(min=-1.0, max=1.0)).series(x, times_ns=np.arange(7), state=again.init((1,), seed=1))
    np.testing.assert_array_equal(instant[:, 0], [0.5, 1, 0.5, 0.5, -1, 0.5, 0.6])


def test_a_limit_that_is_not_given_is_none():
    np.testing.assert_array_equal(_applied(Saturate(min=0.0), [-9.0, 9.0]), [0, 9])
    np.testing.assert_array_equal(_applied(Saturate(max=0.0), [-9.0, 9.0]), [-9, 0])
    np.testing.assert_array_equal(_applied(Saturate(), [-9.0, 9.0]), [-9, 9])
    np.testing.assert_allclose(_applied(Chain([Quantize(lsb=0.1), Saturate(max=0.34)]), [-9.03, 9.0]), [-9.0, 0.3])


def test_limits_must_be_in_order_and_as_many():
    with pytest.raises(SpecError, match="min is 2 and max is 1; min must not be above max"):
        Saturate(min=(0.0, 2.0), max=1.0)
    with pytest.raises(SpecError, match="as many values, or one"):
        Saturate(min=(0.0, 2.0), max=(3.0, 3.0, 3.0))
    with pytest.raises(SpecError, match="min has 2 values; it must be one number or 3"):
        Saturate(min=(0.0, 2.0), max=3.0).init((3,), seed=1)
