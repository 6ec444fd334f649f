"""Errors of one quantity: noise, further corruptions, faults, quantization, saturation, in this order."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.corruption import (
    Bias,
    Chain,
    Fault,
    FaultSchedule,
    Noise,
    Program,
    Quantize,
    Saturate,
    Scale,
    Stuck,
    White,
)
from sensorium.sensors.common.error_group import ErrorGroup, channel_parts


def read(group, x, faults=()):
    schedule = FaultSchedule(faults=faults)
    place = {"target": "range", "column": 1, "group": 2}
    parts = group.channel_parts(width=2, period_s=0.1, faults=schedule, **place)
    program = Program(parts, columns=4, period_s=0.1)
    out = np.array([x], float)
    clock = schedule.begin(seed=0, name="x")
    program.step(out, 0, program.init((4,), seed=0, name="x"), clock.at(0) if faults else None)
    return out[0].tolist()


def test_parts_act_in_their_order_on_their_own_channels():
    """(3 + 1) 1.5 is 6; doubled by the fault 12; in steps of 5 it is 10, and at most 9 leaves 5."""
    group = ErrorGroup(
        noise={"bias": 1.0}, extra=(Scale(error=0.5),), quantization={"lsb": 5.0}, saturation={"min": -9.0, "max": 9.0}
    )
    assert read(group, [3.0, 3.0, 3.0, 3.0]) == [3.0, 5.0, 5.0, 3.0]
    assert read(group, [3.0, 3.0, -7.0, 3.0], (Fault(Scale(error=1.0)),)) == [3.0, 5.0, -5.0, 3.0]
    group.saturation.on = False
    assert read(group, [3.0, 3.0, 3.0, 3.0], (Fault(Scale(error=1.0)),)) == [3.0, 10.0, 10.0, 3.0]


def test_without_fields_nothing_is_wrong():
    assert read(ErrorGroup(), [1.0, 2.0, 3.0, 4.0]) == [1.0, 2.0, 3.0, 4.0]


def test_bits_beside_a_saturation_that_is_off_say_so():
    group = ErrorGroup(quantization={"bits": 8}, saturation={"min": -1.0, "max": 1.0, "on": False})
    with pytest.raises(
        SpecError, match="bits is 8 and the chain's saturation is off; switch it on, or give min and max"
    ):
        read(group, [0.0] * 4)


MS = 1_000_000
SIGNAL = np.random.default_rng(2).normal(size=(40, 6, 2))


def parts_of(before=(), after=(), *, faults=(), target="range", width=2, period_s=1e-3, **options):
    schedule = FaultSchedule(faults=faults)
    return channel_parts(before, after, width=width, period_s=period_s, faults=schedule, target=target, **options)


def corrupted(parts, signals, *, faults=(), columns=2):
    """Samples (samples, rows, columns) a millisecond apart, rows being worlds."""
    program = Program(parts, columns=columns, period_s=1e-3)
    state = program.init((signals.shape[1], columns), seed=5, name="x")
    clock = FaultSchedule(faults=faults).begin(signals.shape[1], seed=5, name="x")
    out = signals.copy()
    for k, x in enumerate(out):
        program.step(x, k * MS, state, clock.at(k * MS) if faults else None)
    return out


def test_corruptions_come_first_then_faults_then_the_converter():
    """12 + 1 is 13, which steps of 10 make 10; doubled by the fault it is 26, and 30."""
    faults = (Fault(Scale(error=1.0), start_s=0.001),)
    parts = parts_of([Bias(1.0)], [Quantize(lsb=10.0)], faults=faults, width=1)
    assert [part.fault for part in parts] == [-1, 0, -1]
    out = corrupted(parts, np.full((2, 1, 1), 12.0), faults=faults, columns=1)
    assert out.ravel().tolist() == [10.0, 30.0]


def test_without_faults_it_is_one_chain_to_the_last_byte():
    before, after = [Scale(error=0.1), Noise(density=0.02, walk=0.1)], [Quantize(bits=6), Saturate(min=-1.0, max=1.0)]
    chain = Chain([*before, *after])
    state = chain.init(SIGNAL.shape[1:], seed=5, name="x", period_s=1e-3)
    expected, _ = chain.series(SIGNAL, times_ns=np.arange(len(SIGNAL)) * MS, state=state)
    np.testing.assert_array_equal(corrupted(parts_of(before, after), SIGNAL), expected)
    assert len(np.unique(expected)) > 20


@pytest.mark.parametrize("where", ["after", "before"])
def test_bits_divide_the_limits_of_the_saturation_on_whichever_side_of_the_faults_it_stands(where):
    limits, bits = Saturate(min=-1.0, max=1.0), Quantize(bits=2)
    parts = parts_of([], [bits, limits]) if where == "after" else parts_of([limits], [bits])
    codes = np.unique(corrupted(parts, 3.0 * SIGNAL))
    np.testing.assert_allclose(codes, [-1.0, -1 / 3, 1 / 3, 1.0], atol=1e-15)


def test_a_saturation_ends_on_codes():
    out = corrupted(parts_of([], [Quantize(lsb=0.4), Saturate(min=-1.0, max=1.0)]), 9.0 * SIGNAL)
    np.testing.assert_allclose([out.min(), out.max()], [-0.8, 0.8])


@pytest.mark.parametrize("where", ["after", "before"])
def test_faults_know_the_limits_of_the_chain(where):
    limits = Saturate(min=-1.0, max=(2.0, 3.0))
    chain = {"before": (), "after": ()} | {where: [limits]}
    for mode, stuck_at in (("max", [2.0, 3.0]), ("min", [-1.0, -1.0])):
        _, fault, _ = parts_of(faults=(Fault(Stuck(mode=mode)),), **chain)
        (op,) = fault.ops
        assert op.parameters.tolist() == stuck_at


def test_a_fault_that_cuts_off_ends_on_codes_of_the_converter():
    """Limits of 1 are moved inward onto codes, 0.8: so the converter after it changes nothing."""
    _, fault, _ = parts_of([], [Quantize(lsb=0.4)], faults=(Fault(Saturate(min=-1.0, max=1.0)),))
    (op,) = fault.ops
    np.testing.assert_allclose(op.parameters, [[-0.8, -0.8], [0.8, 0.8]])


def test_faults_of_other_channels_are_left_out():
    faults = (Fault(Bias(1.0), target="range"), Fault(Bias(2.0), target="angles"), Fault(Bias(4.0)))
    for target, numbers in (("range", [0, 2]), ("angles", [1, 2]), ("range_rate", [2])):
        parts = parts_of(faults=faults, target=target)
        assert [part.fault for part in parts[1:-1]] == numbers
        moved = corrupted(parts, SIGNAL, faults=faults) - SIGNAL
        np.testing.assert_allclose(moved, sum((1.0, 2.0, 4.0)[number] for number in numbers))


def test_only_the_channels_that_are_meant_change():
    faults = (Fault(Scale(error=1.0)),)
    parts = parts_of([Bias((1.0, 2.0))], [Quantize(lsb=0.5)], faults=faults, column=1)
    assert {(part.column, part.width) for part in parts} == {(1, 2)}
    signals = np.random.default_rng(3).normal(size=(1, 3, 4))
    out = corrupted(parts, signals, faults=faults, columns=4)
    np.testing.assert_array_equal(out[..., [0, 3]], signals[..., [0, 3]])
    expected = 2.0 * (signals[..., 1:3] + (1.0, 2.0))
    np.testing.assert_allclose(out[..., 1:3], np.rint(2.0 * expected) / 2.0)


def test_groups_have_random_numbers_of_their_own_before_and_after_and_in_faults():
    def noise(group, **place):
        chosen = {"before": (), "after": (), "faults": ()} | place
        return corrupted(parts_of(group=group, **chosen), np.zeros((3, 4, 2)), faults=chosen["faults"])

    white = White(std=1.0)
    for place in ({"before": [white]}, {"after": [white]}, {"faults": (Fault(white),)}):
        np.testing.assert_array_equal(noise(3, **place), noise(3, **place))
        assert (noise(3, **place) != noise(4, **place)).all()


def test_densities_are_told_the_time_between_samples():
    """White noise of a density d at the rate f has the standard deviation d sqrt(f / 2)."""
    for period_s in (1e-3, 0.25e-3):
        out = corrupted(parts_of([Noise(density=0.1)], period_s=period_s), np.zeros((100, 50, 2)))
        assert out.std() == pytest.approx(0.1 * np.sqrt(0.5 / period_s), rel=4.0 / np.sqrt(2 * out.size))


def test_with_nothing_to_do_nothing_is_done():
    assert not Program(parts_of(), columns=2).acts
    assert Program(parts_of([Bias(1.0)]), columns=2).acts


@pytest.mark.parametrize(
    ("before", "after", "faults", "says"),
    [
        ([], [Quantize(bits=8)], (), "bits is 8 without limits; give min and max, or a saturation in the same chain"),
        (
            [],
            [Quantize(lsb=3.0), Saturate(min=1.0, max=2.0)],
            (),
            "min is 1 and max is 2; there must be a code between",
        ),
        ([Bias((1.0, 2.0, 3.0))], [], (), "value has 3 values; it must be one number or 2"),
        ([], [], (Fault(Stuck(mode="max")),), r"faults.faults\[0\]: mode is 'max' without limits; give max"),
        ([], [], (Fault(Bias(1.0), channels=(2,)),), r"faults.faults\[0\]: channels"),
        ([], [Saturate(min=2.0, max=2.0), Quantize(bits=3)], (), "the lower limit must be below the upper"),
    ],
)
def test_what_does_not_go_together_is_told(before, after, faults, says):
    with pytest.raises(SpecError, match=says):
        parts_of(before, after, faults=faults)


@pytest.mark.parametrize("period_s", [0.0, -1.0, np.inf, np.nan])
def test_the_time_between_samples_must_be_one(period_s):
    with pytest.raises(SpecError, match=f"period_s is {period_s:g}; it must be positive and finite"):
        parts_of(period_s=period_s)
