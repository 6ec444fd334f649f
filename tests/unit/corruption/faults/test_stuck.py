"""Stuck: the six modes of the memo, and when the present value is taken."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.corruption import Chain, Fault, Quantize, Saturate, Stuck

RAMP = np.linspace(-4.0, 4.0, 9)[:, None] * np.array([1.0, 2.0, -1.0])
TIMES_NS = np.arange(9) * 1_000_000


def run(corruption, signals=RAMP):
    out, _ = corruption.series(signals, times_ns=TIMES_NS[: len(signals)], state=corruption.init((3,), seed=1))
    return out


def test_each_mode_gives_the_value_of_the_table():
    limits = Saturate(min=(-3.0, -2.0, -1.0), max=(3.0, 2.0, 1.0))
    expected = {
        "off": [0.0, 0.0, 0.0],
        "on": [3.0, 2.0, 1.0],
        "max": [3.0, 2.0, 1.0],
        "min": [-3.0, -2.0, -1.0],
        "present": [-3.0, -2.0, 1.0],  # the first sample (-4, -8, 4), then saturated
    }
    for mode, value in expected.items():
        np.testing.assert_array_equal(run(Chain([Stuck(mode=mode), limits])), np.tile(value, (9, 1)), err_msg=mode)


def test_a_saturation_of_one_side_is_enough_for_that_side():
    np.testing.assert_array_equal(run(Chain([Stuck(mode="max"), Saturate(max=2.0)])), np.full((9, 3), 2.0))
    np.testing.assert_array_equal(run(Chain([Stuck(mode="min"), Saturate(min=-2.0)])), np.full((9, 3), -2.0))
    both = Chain([Stuck(mode="max"), Saturate(min=-2.0), Saturate(max=3.0)])
    np.testing.assert_array_equal(run(both), np.full((9, 3), 3.0))


def test_no_value_at_the_onset_is_held_too():
    stuck = Stuck(mode="present")
    state = stuck.init((2,), seed=1)
    given = []
    for k, values in enumerate(([1.0, np.nan], [2.0, 5.0], [np.nan, 6.0])):
        x = np.array([values])
        state.program.step(x, k, state)
        given.append(x[0])
    np.testing.assert_array_equal(given, [[1.0, np.nan]] * 3)


def test_a_set_value_is_one_for_all_channels_or_one_for_each():
    np.testing.assert_array_equal(run(Stuck(mode="value", value=1.5)), np.full((9, 3), 1.5))
    np.testing.assert_array_equal(run(Stuck(mode="value", value=(1, 2, 3))), np.tile([1.0, 2.0, 3.0], (9, 1)))


def test_limits_given_here_go_before_those_of_the_chain():
    chain = Chain([Stuck(mode="max", max=0.5), Saturate(min=-3.0, max=3.0)])
    np.testing.assert_array_equal(run(chain), np.full((9, 3), 0.5))


def test_off_may_be_no_value_and_passes_quantizer_and_saturation_as_such():
    for off in ("nan", float("nan")):
        chain = Chain([Stuck(mode="off", off_value=off), Quantize(lsb=0.1, carry_error=True), Saturate(min=-1, max=1)])
        assert np.isnan(run(chain)).all()
    assert Stuck(mode="off", off_value=float("nan")).off_value == "nan"


def test_what_was_rounded_off_before_a_missing_value_is_carried_past_it():
    """A NaN must not stay in the quantizer's memory."""
    missing = Fault(Stuck(mode="off", off_value="nan"), start_s=0.003, end_s=0.005)
    out = run(Chain([missing, Quantize(lsb=1.0, carry_error=True)]), np.full((9, 3), 0.25))
    assert np.isnan(out[3:5]).all()
    assert np.isfinite(out[5:]).all()
    assert out[~np.isnan(out)].sum() == pytest.approx(3 * round(7 * 0.25), abs=1e-12)


def test_only_some_channels_are_stuck():
    out = run(Stuck(mode="value", value=9.0, channels=(2, 0)))
    np.testing.assert_array_equal(out[:, 1], RAMP[:, 1])
    np.testing.assert_array_equal(out[:, [0, 2]], 9.0)


def test_present_is_latched_anew_at_every_onset():
    once = Fault(Stuck(mode="present"), start_s=0.002, end_s=0.004)
    again = Fault(Stuck(mode="present"), start_s=0.006)
    out = run(Chain([once, again]))
    held = RAMP.copy()
    held[2:4], held[6:] = RAMP[2], RAMP[6]
    np.testing.assert_array_equal(out, held)

    # The same by one fault that comes and goes by itself
    chain = Fault(Stuck(mode="present"), onsets_per_s=300.0, duration_s=0.002)
    signal = np.arange(2000.0)[:, None]
    times_ns = np.arange(2000) * 1_000_000
    out, state = chain.series(signal, times_ns=times_ns, state=chain.init((1,), seed=3))
    log = state.faults.log
    active = np.array([bool(log.at(time_ns)) for time_ns in times_ns.tolist()])
    onset = active & ~np.append(False, active[:-1])
    latest = np.maximum.accumulate(np.where(onset, np.arange(2000), 0))
    assert onset.sum() > 100
    np.testing.assert_array_equal(out[:, 0], np.where(active, signal[latest, 0], signal[:, 0]))


def test_a_restart_latches_anew():
    stuck = Stuck(mode="present")
    state = stuck.init((2, 1), seed=1)
    _, state = stuck.apply([[1.0], [2.0]], time_ns=0, state=state)
    state.program.restart(state, np.array([False, True]))
    out, _ = stuck.apply([[5.0], [6.0]], time_ns=1, state=state)
    np.testing.assert_array_equal(out, [[1.0], [6.0]])


def test_the_memos_way_is_the_same():
    np.testing.assert_array_equal(run(Saturate.stuck_at(0.7)), run(Stuck(mode="value", value=0.7)))


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"mode": "value"}, "a value must be given"),
        ({"mode": "off", "value": 1.0}, "a value must be given"),
        ({"mode": "wild"}, "mode"),
        ({"mode": "off", "off_value": float("inf")}, "off_value"),
        ({"mode": "off", "channels": (-1,)}, "channels"),
    ],
)
def test_bad_data_is_refused(fields, rule):
    with pytest.raises(SpecError, match=rule):
        Stuck(**fields)


def test_what_only_shows_with_a_signal_is_refused_then():
    with pytest.raises(SpecError, match="without limits; give max"):
        Stuck(mode="on").init((3,), seed=1)
    for mode, limits in (("max", Saturate(min=-1.0)), ("on", Saturate(min=-1.0)), ("min", Saturate(max=1.0))):
        side = "min" if mode == "min" else "max"
        with pytest.raises(SpecError, match=f"mode is {mode!r} and the chain's saturation has no {side}; give it one"):
            Chain([Stuck(mode=mode), limits]).init((3,), seed=1)
    with pytest.raises(SpecError, match="mode is 'max' and the chain's saturation is off; switch it on, or give max"):
        Chain([Stuck(mode="max"), Saturate(min=-1.0, max=1.0, on=False)]).init((3,), seed=1)
    with pytest.raises(SpecError, match="channels has 3; it must be from 0 to 2"):
        Stuck(mode="off", channels=(3,)).init((3,), seed=1)
    with pytest.raises(SpecError, match="channels is empty"):
        Stuck(mode="off", channels=()).init((3,), seed=1)
    with pytest.raises(SpecError, match=r"Stuck\.value has 2 values"):
        Stuck(mode="value", value=(1.0, 2.0)).init((3,), seed=1)


def test_it_survives_as_data():
    chain = Chain([Stuck(mode="off", off_value="nan", channels=(1,)), Stuck(mode="value", value=(1.0, 2.0, 3.0))])
    assert Chain.model_validate(chain.model_dump()) == chain
    assert Chain.model_validate_json(chain.model_dump_json()) == chain
