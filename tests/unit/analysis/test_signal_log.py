"""Even spacing: what is accepted, filled or refused, and with which words."""

import numpy as np
import pytest

from sensorium.analysis import read_log
from sensorium.analysis.signal_log import evenly_spaced
from sensorium.core.errors import SpecError

PERIOD = 0.01
TIME = np.arange(1000) * PERIOD
VALUES = np.stack([TIME, np.sin(TIME)], axis=-1)


def even(time, values=VALUES, *, allow_gaps=False):
    return evenly_spaced(np.asarray(time), np.asarray(values), allow_gaps=allow_gaps, where=lambda k: f"row {k}")


def test_even_times_give_their_rate():
    values, rate, filled = even(TIME)
    assert (rate, filled) == (pytest.approx(100.0, rel=1e-12), 0)
    np.testing.assert_array_equal(values, VALUES)


def test_jitter_below_half_a_period_is_no_gap_and_does_not_move_the_rate():
    jitter = np.random.default_rng(1).uniform(-0.2, 0.2, len(TIME)) * PERIOD
    _, rate, filled = even(TIME + jitter)
    assert (rate, filled) == (pytest.approx(100.0, rel=1e-3), 0)


def test_a_gap_is_refused_with_its_place():
    keep = np.r_[0:400, 405:700, 701:1000]
    with pytest.raises(SpecError) as refused:
        even(TIME[keep], VALUES[keep])
    assert str(refused.value) == (
        "6 samples are missing in 2 gaps, the first of 0.06 s before row 400; the period is 0.01 s; fill them "
        "(--allow-gaps), or give the rate to take samples as they come"
    )


def test_gaps_are_filled_by_straight_lines_on_request():
    keep = np.r_[0:400, 405:700, 701:1000]
    values, rate, filled = even(TIME[keep], VALUES[keep], allow_gaps=True)
    assert (len(values), filled, rate) == (1000, 6, pytest.approx(100.0))
    np.testing.assert_allclose(values[:, 0], TIME, atol=1e-12)
    np.testing.assert_array_equal(values[keep], VALUES[keep])


def test_too_many_gaps_are_refused_all_the_same():
    keep = np.arange(1000)[np.arange(1000) % 8 != 0]
    with pytest.raises(SpecError, match="more than a tenth, too much to fill"):
        even(TIME[keep], VALUES[keep], allow_gaps=True)


@pytest.mark.parametrize("step", [0.0, -0.5])
def test_time_goes_forward(step):
    time = TIME.copy()
    time[500:] += step - PERIOD
    with pytest.raises(SpecError, match=f"time goes by {step:g} s to row 500; it must increase"):
        even(time)


def test_a_rate_that_changes_is_refused():
    slow = np.concatenate([TIME, TIME[-1] + np.arange(1, 1001) * PERIOD * 1.05])
    with pytest.raises(SpecError, match=r"the rate changes from 100 Hz in the first half to 95.* Hz in the second"):
        even(slow, np.zeros((2000, 1)))
    fast = np.concatenate([TIME, TIME[-1] + np.arange(1, 501) * PERIOD * 0.4])
    with pytest.raises(SpecError, match=r"not evenly spaced: 33.4 % of the steps .* the first to row 1000"):
        even(fast, np.zeros((1500, 1)))


def test_times_are_finite_and_enough():
    time = TIME.copy()
    time[3] = np.nan
    with pytest.raises(SpecError, match="time is nan at row 3"):
        even(time)
    with pytest.raises(SpecError, match="the log has 2 rows; a rate needs at least 3"):
        even(TIME[:2], VALUES[:2])


def test_files_and_rates_that_cannot_be(tmp_path):
    with pytest.raises(SpecError, match="it must be a file"):
        read_log(tmp_path / "none.csv")
    with pytest.raises(SpecError, match="it must be a file"):
        read_log(tmp_path)
    file = tmp_path / "log.csv"
    file.write_text("1\n2\n3\n")
    with pytest.raises(SpecError, match=r"rate_hz is 0.0; it must be finite and positive"):
        read_log(file, rate_hz=0.0)
    with pytest.raises(SpecError, match="only an MCAP file has topics"):
        read_log(file, topic="/imu")
