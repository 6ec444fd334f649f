import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.corruption import Bias, Chain, Fault, Noise, Quantize, Saturate, Scale


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


def rounded(x, lsb):
    """Multiples of a step, halves away from zero, with NumPy."""
    return lsb * np.where(x >= 0, np.floor(x / lsb + 0.5), np.ceil(x / lsb - 0.5))


def computed(parts, x):
    """A chain of saturations, quantizers and others by the rule, one part after the other, with NumPy.

    A saturation's limits move inward onto the codes of the last quantizer that follows it with nothing but quantizers
    and saturations between; if none follows, of the last one before it.
    """
    for k, part in enumerate(parts):
        if isinstance(part, Bias):
            x = x + part.value
        elif isinstance(part, Scale):
            x = x * (1.0 + part.error)
        elif isinstance(part, Quantize):
            x = rounded(x, part.lsb)
        else:
            after = parts[k + 1 :]
            after = after[: next((i for i, p in enumerate(after) if isinstance(p, Bias | Scale)), len(after))]
            before = parts[:k][::-1]
            before = before[: next((i for i, p in enumerate(before) if isinstance(p, Bias | Scale)), len(before))]
            steps = [p.lsb for p in [*before[::-1], *after] if isinstance(p, Quantize)]
            lo, hi = part.min, part.max
            if steps:
                lo = steps[-1] * np.ceil(lo / steps[-1] - 1e-9)
                hi = steps[-1] * np.floor(hi / steps[-1] + 1e-9)
            x = np.clip(x, lo, hi)
    return x


@pytest.mark.parametrize("seed", range(40))
def test_it_acts_where_it_stands_and_moves_onto_codes_only_next_to_a_quantizer(seed):
    rng = np.random.default_rng(seed)
    make = (
        lambda: Bias(float(rng.uniform(-0.5, 0.5))),
        lambda: Scale(error=float(rng.uniform(-0.3, 0.3))),
        lambda: Quantize(lsb=float(rng.choice([0.07, 0.1, 0.3]))),
        lambda: Saturate(min=float(rng.uniform(-2.0, -0.6)), max=float(rng.uniform(0.6, 2.0))),
    )
    parts = [make[i]() for i in rng.integers(0, 4, rng.integers(2, 7))] + [make[3]()]
    rng.shuffle(parts)
    x = rng.uniform(-4.0, 4.0, 300)
    np.testing.assert_allclose(_applied(Chain(parts), x), computed(parts, x), atol=1e-9)
    cut = int(rng.integers(0, len(parts) + 1))
    nested = Chain([Chain(parts[:cut]), Chain(parts[cut:])])
    np.testing.assert_array_equal(_applied(nested, x), _applied(Chain(parts), x))


def test_what_lies_between_but_does_nothing_does_not_count():
    """A bias of zero, noise that is not there, a part that is off."""
    for between in (Bias(0.0), Noise(), Scale(), Bias(0.3, on=False), Chain(), Fault(Bias(1.0), on=False)):
        chain = Chain([Saturate(min=-0.27, max=0.34), between, Quantize(lsb=0.1)])
        np.testing.assert_allclose(_applied(chain, [-5.0, 5.0]), [-0.2, 0.3], err_msg=repr(between))
    for between in (Bias(0.04), Fault(Bias(0.04))):
        chain = Chain([Saturate(min=-0.27, max=0.34), between, Quantize(lsb=0.1)])
        np.testing.assert_allclose(_applied(chain, [-5.0, 5.0]), [-0.2, 0.4], err_msg=repr(between))


def test_in_a_fault_it_moves_onto_the_codes_next_to_it():
    lossy = Fault(Saturate(min=-0.27, max=0.36))
    np.testing.assert_allclose(_applied(Chain([lossy, Quantize(lsb=0.1)]), [-5.0, 5.0]), [-0.2, 0.3])
    np.testing.assert_allclose(_applied(Chain([lossy, Bias(0.0, std=1e-12), Quantize(lsb=0.1)]), [5.0]), [0.4])
    within = Fault(Chain([Saturate(min=-0.27, max=0.36), Bias(0.01)]))
    np.testing.assert_allclose(_applied(Chain([within, Quantize(lsb=0.1)]), [5.0]), [0.4])

    # A fault that only quantizes or saturates does not part a quantizer from a saturation
    for fault in (Fault(Quantize(lsb=0.3)), Fault(Saturate(max=1.0))):
        chain = Chain([Quantize(lsb=0.1), fault, Saturate(min=-0.27, max=0.34)])
        np.testing.assert_allclose(_applied(chain, [5.0]), [0.3])


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


def test_the_average_at_an_onset_is_of_nothing_before():
    """The sample before the onset of the second fault does not count, and none of the first one's."""
    twice = Fault(Saturate(min=-1.0, max=1.0, check="average"), onsets_per_s=1e8, duration_s=2e-9, fixed_duration=True)
    x = np.where(np.arange(300) % 2 == 0, 5.0, 0.5)[:, None]
    out, state = twice.series(x, times_ns=np.arange(300), state=twice.init((1,), seed=1))
    active = np.array([bool(state.faults.log.at(k)) for k in range(300)])
    onset = active & ~np.append(False, active[:-1])
    assert onset.sum() > 10
    np.testing.assert_array_equal(out[onset], np.minimum(x[onset], 1.0))


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
