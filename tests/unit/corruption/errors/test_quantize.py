import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensorium.core.errors import SpecError
from sensorium.corruption import Chain, Quantize, Saturate
from sensorium.corruption.engine.base import Layout

ROUNDINGS = ["floor", "ceil", "round", "to_zero", "from_zero"]


def _applied(model, signal):
    return model.apply(signal, time_ns=0, state=model.init(np.shape(signal), seed=1))[0]


@pytest.mark.parametrize(
    ("rounding", "expected"),
    [
        ("floor", [-0.3, -0.2, -0.2, -0.1, 0.0, 0.0, 0.1, 0.1, 0.2]),
        ("ceil", [-0.2, -0.1, -0.1, 0.0, 0.0, 0.1, 0.2, 0.2, 0.3]),
        ("round", [-0.3, -0.2, -0.1, -0.1, 0.0, 0.1, 0.1, 0.2, 0.3]),
        ("to_zero", [-0.2, -0.1, -0.1, 0.0, 0.0, 0.0, 0.1, 0.1, 0.2]),
        ("from_zero", [-0.3, -0.2, -0.2, -0.1, 0.0, 0.1, 0.2, 0.2, 0.3]),
    ],
)
def test_values_between_codes_go_where_they_are_told(rounding, expected):
    x = [-0.25, -0.151, -0.12, -0.05, 0.0, 0.05, 0.12, 0.151, 0.25]
    out = _applied(Quantize(lsb=0.1, rounding=rounding), x)
    np.testing.assert_allclose(out, expected, atol=1e-15)


def test_the_memos_example():
    # physics.md 9: a = 1.234 becomes 1.2 rounded down in magnitude, also below zero
    np.testing.assert_allclose(_applied(Quantize(lsb=0.1, rounding="to_zero"), [1.234, -1.234]), [1.2, -1.2])


@pytest.mark.parametrize(("code", "lsb"), [("full_span", 0.133333), ("twos_complement", 0.125)])
def test_four_bits_divide_plus_minus_one(code, lsb):
    model = Quantize(bits=4, min=-1.0, max=1.0, code=code)
    assert model.grid(Layout(1)).lsb[0] == pytest.approx(lsb, abs=5e-7)
    codes = np.unique(_applied(model, np.linspace(-3, 3, 20_001)))
    assert len(codes) == 16
    np.testing.assert_allclose(np.diff(codes), lsb, atol=5e-7)
    assert codes[0] == -1.0
    assert codes[-1] == (1.0 if code == "full_span" else 1.0 - 0.125)
    assert (0.0 in codes) == (code == "twos_complement")


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_one_bit_gives_exactly_the_limits(rounding):
    # Two levels are one bit, not two (physics.md E-28)
    out = _applied(Quantize(bits=1, min=-0.1, max=0.3, rounding=rounding), np.linspace(-1, 1, 1001))
    assert set(out) == {-0.1, 0.3}


@pytest.mark.parametrize("bits", [2, 3, 12])
def test_bits_make_two_to_their_power_levels(bits):
    assert len(np.unique(_applied(Quantize(bits=bits, min=-1.0, max=3.0), np.linspace(-2, 4, 60_001)))) == 2**bits


def test_rounding_errs_uniformly_and_floor_half_a_step_low():
    x = np.random.default_rng(1).uniform(-50, 50, 200_000)
    error = _applied(Quantize(lsb=0.7), x) - x
    assert np.abs(error).max() <= 0.35 + 1e-12
    assert error.var() == pytest.approx(0.7**2 / 12, rel=0.01)
    assert error.mean() == pytest.approx(0.0, abs=5 * 0.7 / np.sqrt(12 * 200_000))
    error = _applied(Quantize(lsb=0.7, rounding="floor"), x) - x
    assert error.mean() == pytest.approx(-0.35, abs=5 * 0.7 / np.sqrt(12 * 200_000))


def test_to_zero_leaves_a_dead_zone_two_steps_wide():
    x = np.linspace(-0.3, 0.3, 60_001)
    out = _applied(Quantize(lsb=0.1, rounding="to_zero"), x)
    width = (out == 0).mean() * 0.6
    assert width == pytest.approx(0.2, abs=1e-4)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize(
    "scale", [{"lsb": 0.1}, {"bits": 12, "min": -1.0, "max": 1.3}, {"bits": 5, "min": 3, "max": 4}]
)
def test_codes_are_fixed_points(scale, rounding):
    model = Quantize(rounding=rounding, **scale)
    once = _applied(model, np.random.default_rng(1).uniform(-2, 5, 20_000))
    np.testing.assert_array_equal(_applied(model, once), once)


def test_to_zero_never_changes_the_sign_where_zero_is_no_code():
    x = np.linspace(-1, 1, 2001)
    out = _applied(Quantize(bits=4, min=-1.0, max=1.0, rounding="to_zero"), x)
    assert (out * x >= 0).all()
    inside = np.abs(x) > 1 / 15
    assert (np.abs(out[inside]) <= np.abs(x[inside]) + 1e-12).all()


@settings(deadline=None, max_examples=60)
@given(
    low=st.floats(-10, 9),
    span=st.floats(0.5, 10),
    lsb=st.floats(0.003, 0.4),
    bits=st.integers(1, 14),
    by_bits=st.booleans(),
    code=st.sampled_from(["full_span", "twos_complement"]),
    rounding=st.sampled_from(ROUNDINGS),
)
def test_saturation_and_quantization_commute_and_only_codes_come_out(low, span, lsb, bits, by_bits, code, rounding):
    # R13: limits are moved inward onto codes when the chain is started
    saturate = Saturate(min=low, max=low + span)
    quantize = Quantize(bits=bits, code=code, rounding=rounding) if by_bits else Quantize(lsb=lsb, rounding=rounding)
    x = np.random.default_rng(0).uniform(low - 2, low + span + 2, 500)
    before, after = _applied(Chain([saturate, quantize]), x), _applied(Chain([quantize, saturate]), x)
    np.testing.assert_array_equal(before, after)
    assert before.min() >= low - 1e-9
    assert before.max() <= low + span + 1e-9

    # Every output is a code of the quantizer
    np.testing.assert_array_equal(_applied(Chain([quantize, saturate]), before), before)


def test_a_carried_error_makes_the_mean_over_time_exact():
    for rounding in ROUNDINGS:
        model = Quantize(lsb=0.1, carry_error=True, rounding=rounding)
        x = np.full((10_000, 2), [0.0123, -0.3456])
        out, _ = model.series(x, times_ns=np.arange(10_000), state=model.init((2,), seed=1))
        np.testing.assert_allclose(out.mean(axis=0), x[0], atol=0.1 / 10_000 + 1e-12)
        np.testing.assert_allclose(out / 0.1, np.rint(out / 0.1), atol=1e-9)


def test_carried_errors_do_not_wind_up_beyond_the_last_code():
    model = Quantize(bits=8, min=-1.0, max=1.0, carry_error=True)
    x = np.concatenate([np.full((100, 1), 5.0), np.full((100, 1), 0.1)])
    out, _ = model.series(x, times_ns=np.arange(200), state=model.init((1,), seed=1))
    assert (out[:100] == 1).all()
    assert np.abs(out[100:] - 0.1).max() < 2 / 255


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"lsb": 0.1, "bits": 3}, "lsb is 0.1 and bits is 3; only one of them can be given"),
        ({"lsb": 0.0}, "lsb is 0; it must be positive"),
        ({"lsb": (0.1, -0.1)}, "lsb is -0.1; it must be positive"),
        ({"bits": 0}, "Quantize.bits is 0; it must be greater than or equal to 1"),
        ({"bits": 53}, "Quantize.bits is 53"),
        ({"bits": 2.5}, "Quantize.bits is 2.5"),
        ({"bits": 4, "min": 0.0}, "both must be given, or neither"),
        ({"bits": 4, "min": 1.0, "max": 0.0}, "min is 1 and max is 0; min must be below max"),
        ({"lsb": 0.1, "min": -1.0, "max": 1.0}, "without bits"),
        ({"lsb": 0.1, "rounding": "up"}, "Quantize.rounding is 'up'"),
    ],
)
def test_what_is_no_quantizer_is_refused(fields, message):
    with pytest.raises(SpecError, match=message):
        Quantize(**fields)


def test_without_step_or_bits_every_value_passes():
    np.testing.assert_array_equal(_applied(Quantize(), [0.123, -4.56]), [0.123, -4.56])


def test_bits_without_limits_or_with_empty_ones_are_refused_at_the_start():
    with pytest.raises(SpecError, match="bits is 4 without limits; give min and max, or a saturation"):
        Chain([Quantize(bits=4)]).init((3,), seed=1)
    with pytest.raises(
        SpecError, match="bits is 4 and the chain's saturation is off; switch it on, or give min and max"
    ):
        Chain([Quantize(bits=4), Saturate(min=-1.0, max=1.0, on=False)]).init((3,), seed=1)
    with pytest.raises(SpecError, match="bits is 4 and the chain's saturation has no min; give it one"):
        Chain([Quantize(bits=4), Saturate(max=1.0)]).init((3,), seed=1)
    with pytest.raises(SpecError, match="the lower limit must be below the upper"):
        Chain([Quantize(bits=4), Saturate.stuck_at(1.0)]).init((3,), seed=1)
