"""Overflow: the two's complement wrap of codes, against whole numbers in NumPy."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.corruption import Bias, Chain, Fault, Overflow, Quantize, Saturate


def applied(model, signal):
    return model.apply(signal, time_ns=0, state=model.init(np.shape(signal), seed=1))[0]


def codes(values, lsb, origin, rounding):
    """Numbers of the codes that values become, with NumPy."""
    y = (np.asarray(values) - origin) / lsb
    if rounding == "floor":
        return np.floor(y + 1e-9)
    if rounding == "ceil":
        return np.ceil(y - 1e-9)
    return np.where(values >= 0, np.floor(y + 0.5), np.ceil(y - 0.5))


@pytest.mark.parametrize("rounding", ["floor", "ceil", "round"])
@pytest.mark.parametrize("code", ["twos_complement", "full_span"])
@pytest.mark.parametrize("bits", [1, 3, 8, 12])
def test_a_converter_of_n_bits_wraps_as_its_register_does(rounding, code, bits):
    """k' = ((k + 2^(N-1)) mod 2^N) - 2^(N-1) for codes that count from the middle, in whole numbers."""
    lo, hi = -1.3, 1.3
    lsb = (hi - lo) / (2**bits if code == "twos_complement" else 2**bits - 1)
    x = np.random.default_rng(bits).uniform(-9.0, 9.0, 4000)
    chain = Chain([Overflow(), Quantize(bits=bits, code=code, min=lo, max=hi, rounding=rounding)])
    k = codes(x, lsb, lo, rounding).astype(np.int64) - 2 ** (bits - 1)
    wrapped = (k + 2 ** (bits - 1)) % 2**bits
    out = applied(chain, x)
    np.testing.assert_allclose(out, lo + lsb * wrapped, atol=1e-12)
    assert len(np.unique(np.rint((out - lo) / lsb))) == min(2**bits, len(np.unique(wrapped)))


def test_a_register_of_sixteen_bits_is_numpys_int16():
    x = np.random.default_rng(0).uniform(-4e5, 4e5, 5000)
    chain = Chain([Overflow(), Quantize(bits=16, code="twos_complement", min=-32768.0, max=32768.0, rounding="floor")])
    np.testing.assert_array_equal(applied(chain, x), np.floor(x).astype(np.int64).astype(np.int16))


@pytest.mark.parametrize("rounding", ["to_zero", "from_zero"])
def test_roundings_by_sign_wrap_by_the_code_that_they_give(rounding):
    x = np.random.default_rng(1).uniform(-20.0, 20.0, 4000)
    chain = Chain([Overflow(), Quantize(lsb=0.5, rounding=rounding), Saturate(min=-4.0, max=3.5)])
    size = np.floor(np.abs(x) / 0.5 + 1e-9) if rounding == "to_zero" else np.ceil(np.abs(x) / 0.5 - 1e-9)
    k = (np.sign(x) * size).astype(np.int64)
    np.testing.assert_allclose(applied(chain, x), 0.5 * ((k + 8) % 16 - 8), atol=1e-12)


def test_limits_of_the_saturation_are_the_range_for_a_step_too():
    """Codes of 0.4 within +-1 are -0.8 to 0.8, five of them."""
    chain = Chain([Overflow(), Quantize(lsb=0.4), Saturate(min=-1.0, max=1.0)])
    np.testing.assert_allclose(applied(chain, [0.8, 1.1, 1.6, -1.1, 2.0]), [0.8, -0.8, -0.4, 0.8, 0.0], atol=1e-12)


def test_away_from_a_quantizer_the_range_is_continuous():
    x = np.random.default_rng(2).uniform(-50.0, 50.0, 3000)
    expected = -2.0 + np.mod(x + 2.0, 5.0)
    np.testing.assert_allclose(applied(Overflow(min=-2.0, max=3.0), x), expected, atol=1e-12)
    np.testing.assert_allclose(applied(Chain([Overflow(), Saturate(min=-2.0, max=3.0)]), x), expected, atol=1e-12)
    biased = Chain([Overflow(min=-2.0, max=3.0), Bias(0.25), Quantize(lsb=0.5)])
    y = expected + 0.25
    rounded = 0.5 * np.where(y >= 0, np.floor(y / 0.5 + 0.5), np.ceil(y / 0.5 - 0.5))
    np.testing.assert_allclose(applied(biased, x), rounded, atol=1e-12)


def test_what_is_within_the_range_stays_to_the_last_bit():
    x = np.random.default_rng(3).uniform(-2.0, 3.0, 1000)
    np.testing.assert_array_equal(applied(Overflow(min=-2.0, max=3.0), x), x)


def test_the_upper_limit_is_the_lower_one():
    edge = np.nextafter(-2.0, -3.0)
    out = applied(Overflow(min=-2.0, max=3.0), [3.0, -2.0, edge, 8.0])
    assert out[[0, 1, 3]].tolist() == [-2.0, -2.0, -2.0]
    assert -2.0 <= out[2] < 3.0


def test_a_fault_makes_a_saturating_converter_wrap():
    """Before and after it the converter saturates, as healthy ones do."""
    chain = Chain([Fault(Overflow(), start_s=0.002, end_s=0.004), Quantize(bits=8), Saturate(min=0.0, max=255.0)])
    out, _ = chain.series(np.full((6, 1), 300.0), times_ns=np.arange(6) * 1_000_000, state=chain.init((1,), seed=0))
    assert out[:, 0].tolist() == [255.0, 255.0, 44.0, 44.0, 255.0, 255.0]


def test_each_channel_has_its_own_range_and_a_missing_value_passes():
    model = Overflow(min=(0.0, -1.0), max=(1.0, 1.0))
    state = model.init((2,), seed=0)
    x = np.array([[2.25, np.nan]])
    state.program.step(x, 0, state)
    assert x[0, 0] == 0.25
    assert np.isnan(x[0, 1])


@pytest.mark.parametrize(
    ("model", "rule"),
    [
        (lambda: Overflow(min=1.0), "both must be given, or neither"),
        (lambda: Overflow(min=1.0, max=1.0), "min must be below max"),
        (lambda: Overflow().init((1,), seed=0), "Overflow is given without limits; give min and max, or a saturation"),
        (
            lambda: Chain([Overflow(), Saturate(max=1.0)]).init((1,), seed=0),
            "Overflow is given and the chain's saturation has no min",
        ),
    ],
)
def test_what_has_no_range_is_refused(model, rule):
    with pytest.raises(SpecError, match=rule):
        model()


def test_it_survives_as_data():
    chain = Chain([Overflow(min=(0.0, -1.0), max=1.0), Overflow()])
    assert Chain.model_validate(chain.model_dump()) == chain
