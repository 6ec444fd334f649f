"""When a spinning lidar fires, and at which azimuths: periods, jitter, and the grid of columns."""

import numpy as np
from numpy.typing import NDArray

from sensorium.recordings.measure.intervals import NORMAL_95, Estimate, standard_deviation
from sensorium.recordings.measurement import Figure
from sensorium.recordings.scans import FULL_TURN, LidarRecording

# A step this many times the median is a gap: columns are missing
_GAP = 1.5

# Intervals that share a stamp are correlated, and so are speeds of a head over some columns
_LAGS = 50

# Azimuths that differ by less are equal but for rounding
_EQUAL_RAD = 1e-9


def timing_figures(recording: LidarRecording) -> list[Figure]:
    """Firing period, jitter of columns, rotation rate, azimuth step and its jitter, and whether azimuths repeat."""
    figures = _period_figures(recording)
    steps = np.mod(np.diff(recording.azimuth), FULL_TURN)
    steps = steps[steps < _GAP * np.median(steps)] if len(steps) else steps
    if len(steps) >= 2:
        spread = standard_deviation(steps, lags=_LAGS)
        half = NORMAL_95 * spread.value / len(steps)  # the sum telescopes: its error is that of two ends
        mean = float(steps.mean())
        figures.append(Figure("azimuth.step", mean, "rad", mean - half, mean + half, len(steps)))
        figures.append(Figure("azimuth.step_jitter", *_spread(spread), len(steps)))
    repeat = azimuth_offsets(recording)
    if len(repeat) >= 2 and len(steps) >= 2:
        spread = standard_deviation(repeat, lags=_LAGS)
        figures.append(Figure("azimuth.repeat", *_spread(spread), len(repeat)))
    return figures


def _spread(found: Estimate) -> tuple[float, str, float, float]:
    if found.value < _EQUAL_RAD:
        return 0.0, "rad", 0.0, 0.0
    return found.value, "rad", found.low, found.high


def _period_figures(recording: LidarRecording) -> list[Figure]:
    """Periods between stamps that the device wrote.

    The period is the sum of the intervals over the columns in them. An interval's error is that of its two stamps, and
    the sum over a run without a gap has two ends as well: the error is that of one interval, whatever its length. A
    head whose columns are fixed in azimuth fires as it turns: what its turns scatter by beyond that is added.
    """
    at = np.flatnonzero(recording.is_stamped)
    columns, elapsed = np.diff(at), np.diff(recording.time_ns[at]).astype(np.float64)
    if len(at) < 3:
        return []
    usual = float(np.median(elapsed / columns))
    good = (elapsed > 0.0) & (elapsed < _GAP * usual * columns)
    if good.sum() < 2:
        return []
    runs = 1 + int(np.count_nonzero(np.diff(good.astype(np.int8)) > 0))
    total, count = elapsed[good].sum(), int(columns[good].sum())
    period_s = 1e-9 * total / count
    off_s = 1e-9 * (elapsed[good] - columns[good] * 1e9 * period_s)
    jitter = standard_deviation(off_s, lags=_LAGS)
    half = NORMAL_95 * float(np.hypot(jitter.value * np.sqrt(runs) / count, _wander_s(recording, good, jitter.value)))
    rate_hz = recording.rotation_rate() / FULL_TURN
    turns = count * period_s * rate_hz
    spread = half / period_s * rate_hz + NORMAL_95 * _azimuth_noise(recording) * np.sqrt(2.0) / max(turns, 1e-9)
    return [
        Figure("firing_period", period_s, "s", period_s - half, period_s + half, int(good.sum())),
        Figure("column_jitter", jitter.value, "s", jitter.low, jitter.high, int(good.sum())),
        Figure("rotation_rate", rate_hz, "Hz", rate_hz - spread, rate_hz + spread, int(good.sum())),
    ]


def _wander_s(recording: LidarRecording, good: NDArray[np.bool_], jitter_s: float) -> float:
    """Standard error of the period by scatter of whole turns beyond that of their stamps [s]; 0 for one turn.

    Args:
        recording: Of several turns.
        good: Whether each interval between two stamps has no gap.
        jitter_s: Standard deviation of an interval [s].
    """
    at = np.flatnonzero(recording.is_stamped)
    turn = recording.turn[at[:-1]][good]
    columns = np.bincount(turn, np.diff(at)[good])
    elapsed_s = 1e-9 * np.bincount(turn, np.diff(recording.time_ns[at])[good])
    whole = columns > 0.9 * columns.max()
    if not recording.columns_per_turn or np.count_nonzero(whole) < 2:
        return 0.0
    periods_s, stamps_s = elapsed_s[whole] / columns[whole], jitter_s / columns[whole].mean()
    return float(np.sqrt(max(periods_s.var(ddof=1) - stamps_s**2, 0.0) / np.count_nonzero(whole)))


def _azimuth_noise(recording: LidarRecording) -> float:
    """Spread of a column's azimuth about even rotation [turns], from second differences."""
    second = np.diff(np.mod(np.diff(recording.azimuth), FULL_TURN))
    return float(1.4826 * np.median(np.abs(second)) / np.sqrt(6.0) / FULL_TURN) if len(second) else 0.0


def azimuth_offsets(recording: LidarRecording) -> NDArray[np.float64]:
    """From each column of a turn to the nearest one of the next turn [rad]; all 0 where columns are fixed."""
    found = []
    for number in range(int(recording.turn[-1]) if len(recording.turn) else 0):
        mine = recording.azimuth[recording.turn == number]
        following = np.sort(recording.azimuth[recording.turn == number + 1])
        if len(following) < len(mine) // 2 or len(following) < 2:
            continue
        found.append(following[nearest(following, mine)] - mine)
    offsets = np.concatenate(found) if found else np.zeros(0)
    step = float(np.median(np.mod(np.diff(recording.azimuth), FULL_TURN))) if len(offsets) else 0.0
    return offsets[np.abs(offsets) <= step]


def nearest(ordered: NDArray[np.float64], wanted: NDArray[np.float64]) -> NDArray[np.intp]:
    """Index of the nearest value in an ordered array of 2 or more, for each wanted one."""
    after = np.clip(np.searchsorted(ordered, wanted), 1, len(ordered) - 1)
    return after - (wanted - ordered[after - 1] < ordered[after] - wanted)
