"""Dropout: share and bursts of lost samples, and what is given instead."""

import numpy as np
import pytest
from scipy import stats

from sensorium.core.errors import SpecError
from sensorium.corruption import Chain, Dropout, Fault


def lose(samples=4000, worlds=50, width=3, seed=5, **fields):
    """A mask of lost samples, (samples, worlds, width)."""
    dropout = Dropout(fill="nan", **fields)
    state = dropout.init((worlds, width), seed=seed)
    out, _ = dropout.series(np.ones((samples, worlds, width)), times_ns=np.arange(samples), state=state)
    return np.isnan(out)


def runs_of(lost):
    """Lengths of the runs of lost samples that begin and end inside, of a mask (samples, series)."""
    lengths = []
    for series in lost.T:
        edges = np.flatnonzero(np.diff(series.astype(np.int8)))
        begins = [e for e in edges if not series[e]]
        ends = [e for e in edges if series[e]]
        if begins and ends and ends[0] < begins[0]:
            ends = ends[1:]
        lengths += [b - a for a, b in zip(begins, ends, strict=False)]
    return np.array(lengths)


def test_single_samples_are_lost_independently():
    lost = lose(probability=0.2)[:, :, 0]
    assert stats.binomtest(int(lost.sum()), lost.size, 0.2).pvalue > 1e-3
    after = lost[1:][lost[:-1]]
    assert stats.binomtest(int(after.sum()), after.size, 0.2).pvalue > 1e-3


@pytest.mark.parametrize(("probability", "length"), [(0.1, 5.0), (0.4, 20.0), (0.05, 1.5)])
def test_bursts_are_geometric_and_their_share_is_the_one_asked_for(probability, length):
    lost = lose(probability=probability, mean_length_samples=length)[:, :, 0]

    # The mean of a two-state chain has variance p (1 - p) (1 + r) / (1 - r) / n, r the correlation of neighbors
    onset = probability / (probability + length * (1.0 - probability))
    stop = (1.0 - onset) / length
    r = 1.0 - onset - stop
    sigma = np.sqrt(probability * (1.0 - probability) * (1.0 + r) / (1.0 - r) / lost.size)
    assert abs(lost.mean() - probability) < 4.0 * sigma

    # Runs: P(k) = stop (1 - stop)^(k - 1)
    runs = runs_of(lost)
    assert runs.mean() == pytest.approx(1.0 / stop, abs=4.0 * np.sqrt(1.0 - stop) / stop / np.sqrt(len(runs)))
    edges = np.unique(stats.geom.ppf(np.linspace(0.0, 1.0, 9)[1:-1], stop)).astype(int)
    observed = np.bincount(np.searchsorted(edges, runs), minlength=len(edges) + 1)
    expected = np.diff(np.concatenate([[0.0], stats.geom.cdf(edges, stop), [1.0]])) * len(runs)
    assert stats.chisquare(observed, expected).pvalue > 1e-3


def test_it_begins_in_its_stationary_law():
    lost = lose(samples=1, worlds=20000, width=1, probability=0.3, mean_length_samples=50.0)
    assert stats.binomtest(int(lost.sum()), lost.size, 0.3).pvalue > 1e-3


def test_channels_are_lost_together_or_each_by_itself():
    together = lose(probability=0.3)
    assert (together == together[..., :1]).all()
    single = lose(samples=20000, worlds=1, width=6, probability=0.3, together=False)[:, 0]
    assert stats.binomtest(int(single.sum()), single.size, 0.3).pvalue > 1e-3
    assert np.abs(np.corrcoef(single.T) - np.eye(6)).max() < 5.0 / np.sqrt(len(single))


def test_what_is_given_instead():
    signal = np.arange(1.0, 401.0)[:, None, None] * np.ones((4, 2))
    lost = lose(samples=400, worlds=4, width=2, probability=0.4, mean_length_samples=3.0)
    for fill in ("zero", "hold"):
        dropout = Dropout(probability=0.4, mean_length_samples=3.0, fill=fill)
        out, _ = dropout.series(signal, times_ns=np.arange(400), state=dropout.init((4, 2), seed=5))
        np.testing.assert_array_equal(out[~lost], signal[~lost])
        if fill == "zero":
            assert not out[lost].any()
            continue

        # The sample before, whatever that was; the first of all passes, there is nothing to hold
        np.testing.assert_array_equal(out[0], signal[0])
        np.testing.assert_array_equal(out[1:][lost[1:]], out[:-1][lost[1:]])


def test_a_fault_holds_the_sample_before_its_onset():
    signal = np.arange(10.0)[:, None]
    lost = Fault(Dropout(probability=0.999999, fill="hold"), start_s=4e-9, end_s=7e-9)
    out, _ = lost.series(signal, times_ns=np.arange(10), state=lost.init((1,), seed=1))
    np.testing.assert_array_equal(out[:, 0], [0, 1, 2, 3, 3, 3, 3, 7, 8, 9])


def test_a_missing_value_is_held_as_such():
    """A ray without a return before a lost sweep has none in it."""
    lost = Fault(Dropout(probability=0.999999, fill="hold"), start_s=2e-9)
    state = lost.init((2,), seed=1)
    given = []
    for k, values in enumerate(([1.0, 4.0], [2.0, np.nan], [3.0, 5.0], [np.nan, 6.0])):
        x = np.array([values])
        state.program.step(x, k, state)
        given.append(x[0])
    np.testing.assert_array_equal(given, [[1.0, 4.0], [2.0, np.nan], [2.0, np.nan], [2.0, np.nan]])


def test_series_apply_and_batches_agree():
    dropout = Dropout(probability=0.3, mean_length_samples=2.0, together=False)
    signal = np.random.default_rng(1).normal(size=(40, 8, 5))
    all_at_once, _ = dropout.series(signal, times_ns=np.arange(40), state=dropout.init((8, 5), seed=2))
    for world in range(8):
        state = dropout.init((5,), seed=2, first_world=world)
        for k in range(40):
            out, state = dropout.apply(signal[k, world], time_ns=k, state=state)
            np.testing.assert_array_equal(out, all_at_once[k, world])


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"probability": 1.5}, "probability"),
        ({"probability": 0.5, "mean_length_samples": 0.5}, "mean_length_samples"),
        ({"probability": 1.0}, "something must arrive"),
        ({"probability": 0.5, "fill": "last"}, "fill"),
    ],
)
def test_bad_data_is_refused(fields, rule):
    with pytest.raises(SpecError, match=rule):
        Dropout(**fields)


def test_it_survives_as_data():
    chain = Chain([Dropout(probability=0.5, fill="nan", mean_length_samples=3, together=False)])
    assert Chain.model_validate(chain.model_dump()) == chain
