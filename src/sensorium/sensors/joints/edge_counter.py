"""Counting edges: a position becomes bins, and the times at which it enters them become a speed."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit, worker_pool
from sensorium.sensors.common.sampled import Signal

Float = NDArray[np.float64]
Int = NDArray[np.int64]

# Channels: the position that errors act on, and the three that are read out
INPUT, VELOCITY, POSITION, COUNT = range(4)

# A position this close below a bin's edge [bins] is on it: 0.7 / 0.1 is 6.999999999999999
ON_EDGE = 1e-9

# Whole numbers beyond this are not exact in the channel of the count
_MOST_BINS = 2.0**53

# Rows that one thread does together, apart from others' in memory; fewer blocks are not worth a second thread
_BLOCK_ROWS = 512
_SERIAL_BLOCKS = 16

# Rules for a position outside its range
_FREE, _WRAP, _CLAMP = range(3)
_KINDS = {"free": _FREE, "wrap": _WRAP, "clamp": _CLAMP}

# State of a row: integers and floats
_STAGE, _BIN, _TOTAL, _LINE, _SEEN_NS, _EDGE_NS, _WHOLE = range(7)
_SPEED, _INPUT_BEFORE, _READ_BEFORE, _EDGE_AGO_NS, _REAL = range(5)

# Stages of a row: no sample yet, a position but no edge yet, an edge
_FRESH, _WAITS, _RUNS = range(3)


@dataclass(frozen=True)
class Span:
    """Range of a counted position: `wrap` keeps it in [lo, hi), `clamp` in [lo, hi], `free` does nothing."""

    kind: Literal["free", "wrap", "clamp"]
    lo: float = 0.0
    hi: float = 0.0
    bins: int = 0
    """Number of bins of a range that wraps; 0 without bins."""


@dataclass(frozen=True)
class Speed:
    """Estimation of speed from the times of edges."""

    interpolated: bool = False
    """Take the instant at which a straight line between samples crosses the edge, not the sample after it."""
    decay: bool = False
    """While no edge comes the speed is at most one bin over the time since the last; without bins that is 0."""
    timeout_s: float | None = None
    """Without an edge for longer than this the speed is 0."""


EdgeRules = tuple[int, float, float, int, Float, bool, bool, float]
"""How `count_edges` bins positions and estimates speeds; a plain tuple, which Numba recognizes faster than a named one.

Kind, lower and upper end of the range; how many bins a range that wraps has; width of a bin in each row, 0 for none;
whether edges are interpolated between samples; whether the speed falls while no edge comes, and when it ends [ns].
"""


class EdgeCounter:
    """A position and velocity read through bins: signal and readout of encoders and odometers.

    Errors act on the channel INPUT. Then u_b = width floor(u / width), kept in the range. At a sample with another
    reading the speed is v = (u_k - u_e) / (t_k - t_e) from the edge before, by the shorter way round if the range
    wraps, which is right while |du| < W / 2 from sample to sample. It is 0 before the second edge; until the next one
    it is held, or at most width / (t - t_e), or 0 after a time-out, as `Speed` says (physics.md 7). A lost sample gives
    no information on edges: the speed does not decay there. With interpolated edges both times and places are those of
    the bins' borders, so that a constant speed is exact, and crossing one border to and fro gives speed 0.
    """

    columns = 4

    def __init__(
        self,
        inner: Signal,
        *,
        width: Float,
        span: Span,
        speed: Speed,
        stamp_ns: Callable[[int], int],
    ) -> None:
        """Start counting.

        Args:
            inner: Gives position and velocity, two channels.
            width: Width of a bin in each row, 0 for none, shape (rows,).
            span: Range of the reading.
            speed: Estimation of speed.
            stamp_ns: The sensor's own clock, which measures the time between edges.
        """
        rows = len(width)
        self._inner, self._stamp_ns = inner, stamp_ns
        self._rows, self._blocks = rows, -(-rows // _BLOCK_ROWS)
        timeout_ns = math.inf if speed.timeout_s is None else speed.timeout_s * 1e9
        self._whole = np.zeros((rows, _WHOLE), np.int64)
        self._real = np.zeros((rows, _REAL))
        self._rules: EdgeRules = (
            _KINDS[span.kind],
            float(span.lo),
            float(span.hi),
            span.bins,
            np.ascontiguousarray(width, np.float64),
            speed.interpolated,
            speed.decay,
            timeout_ns,
        )

    def begin(self, time_ns: int) -> None:
        """Measuring starts now; edges of before are forgotten."""
        self._inner.begin(time_ns)
        self.restart(np.ones(self._rows, np.bool_))

    def forget(self) -> None:
        """Some worlds were reset."""
        self._inner.forget()

    def sample(self, time_ns: int, out: Float) -> None:
        """Exact position and velocity; `read` computes the rest."""
        self._inner.sample(time_ns, out)

    def read(self, time_ns: int, x: Float, ideal: Float) -> None:
        """Bin the sample and estimate its speed; bring the ideal position into its range and count it."""
        given = (self._stamp_ns(time_ns), x, ideal, self._rules, self._whole, self._real)
        worker_pool.run(count_edges, self._blocks, *given, serial_below=_SERIAL_BLOCKS)

    def restart(self, rows: NDArray[np.bool_]) -> None:
        """Forget the masked rows' edges; their counters start again at the position they see first."""
        self._whole[rows] = 0
        self._real[rows] = 0.0


# ---- kernels


@jit.function
def bin_of(u: float, width: float) -> float:
    """Floor(u / width), a whole number."""
    return min(max(math.floor(u / width + ON_EDGE), -_MOST_BINS), _MOST_BINS)


@jit.function
def in_range(u: float, kind: int, lo: float, hi: float) -> float:
    """A position without bins in its range."""
    if kind == _FREE:
        return u
    if kind == _CLAMP:
        return min(max(u, lo), hi)
    out = u - (hi - lo) * math.floor((u - lo) / (hi - lo))
    return out if lo <= out < hi else lo  # rounding may take it to the upper end, which is the lower


@jit.function
def bin_in_range(u: float, kind: int, lo: float, hi: float, bins: int, width: float) -> tuple[int, float]:
    """The bin of a position, unwrapped, and the position of its lower edge in the range.

    A range that clamps ends on the outermost bins whose edges are within it, so that every reading belongs to a bin.
    """
    k = int(bin_of(u, width))
    if kind == _FREE:
        return k, k * width
    lowest = math.ceil(lo / width - ON_EDGE)
    if kind == _WRAP:
        return k, (lowest + (k - lowest) % bins) * width
    k = min(max(k, lowest), math.floor(hi / width + ON_EDGE))
    return k, min(max(k * width, lo), hi)


@jit.kernel
def count_edges(
    first: int,
    step: int,
    count: int,
    time_ns: int,
    x: Float,
    ideal: Float,
    rules: EdgeRules,
    whole: Int,
    real: Float,
) -> None:
    """Position in bins, speed from edges and count of corrupted samples, from INPUT.

    Args:
        first: First block of rows.
        step: From block to block.
        count: Number of blocks.
        time_ns: Of the sample [ns].
        x: Channels, float64 (rows, 4).
        ideal: Those of the exact sample: position without bins and its count are filled in, from INPUT.
        rules: How to.
        whole: Integer state of the rows, int64.
        real: State of the rows, float64.
    """
    kind, lo, hi, bins, widths, interpolated, decay, timeout_ns = rules
    for block in range(first, count, step):
        for row in range(block * _BLOCK_ROWS, min((block + 1) * _BLOCK_ROWS, len(x))):
            u, width = x[row, INPUT], widths[row]
            exact = ideal[row, INPUT]
            ideal[row, POSITION] = in_range(exact, kind, lo, hi)
            ideal[row, COUNT] = bin_in_range(exact, kind, lo, hi, bins, width)[0] if width > 0.0 else 0.0
            stage, edge = whole[row, _STAGE], False

            # A sample removed by a fault gives no information; the last values are held
            position = math.nan
            if math.isfinite(u):
                k = 0
                if width > 0.0:
                    k, position = bin_in_range(u, kind, lo, hi, bins, width)
                else:
                    position = in_range(u, kind, lo, hi)

                # Distance since the sample before, the shorter way round
                bins_moved, moved = 0, 0.0
                if stage == _FRESH:
                    whole[row, _STAGE], whole[row, _TOTAL] = _WAITS, k
                elif width > 0.0:
                    bins_moved = k - whole[row, _BIN]
                    if kind == _WRAP:
                        bins_moved = (bins_moved + bins // 2) % bins - bins // 2
                    whole[row, _TOTAL] += bins_moved
                    moved = bins_moved * width
                else:
                    moved = position - real[row, _READ_BEFORE]
                    if kind == _WRAP:
                        moved -= (hi - lo) * math.floor(moved / (hi - lo) + 0.5)

                edge = moved != 0.0
                if edge:
                    # Between bins the line last crossed is the lower edge of the new one going up, the upper going down
                    ago_ns = 0.0
                    if interpolated:
                        upper = 0 if bins_moved > 0 else 1
                        before, line = real[row, _INPUT_BEFORE], (k + upper) * width
                        share = (line - before) / (u - before) if u != before else 1.0
                        ago_ns = (1.0 - min(max(share, 0.0), 1.0)) * max(time_ns - whole[row, _SEEN_NS], 0)
                        moved = (whole[row, _TOTAL] + upper - whole[row, _LINE]) * width
                        whole[row, _LINE] = whole[row, _TOTAL] + upper
                    elapsed_ns = (time_ns - whole[row, _EDGE_NS]) - ago_ns + real[row, _EDGE_AGO_NS]
                    if stage == _RUNS and elapsed_ns > 0.0:  # else the clock was set back, or two edges have one time
                        real[row, _SPEED] = moved / (elapsed_ns * 1e-9)
                    whole[row, _STAGE], whole[row, _EDGE_NS], real[row, _EDGE_AGO_NS] = _RUNS, time_ns, ago_ns
                whole[row, _BIN], whole[row, _SEEN_NS] = k, time_ns
                real[row, _INPUT_BEFORE], real[row, _READ_BEFORE] = u, position

            # Until an edge comes the speed is held or decays; after a clock was set back the elapsed time is unknown
            if not edge and stage == _RUNS:
                waited_ns = (time_ns - whole[row, _EDGE_NS]) + real[row, _EDGE_AGO_NS]
                if decay and waited_ns > 0.0 and math.isfinite(u):
                    most = width / (waited_ns * 1e-9)
                    real[row, _SPEED] = min(max(real[row, _SPEED], -most), most)
                if waited_ns > timeout_ns:
                    real[row, _SPEED] = 0.0
            x[row, POSITION], x[row, VELOCITY], x[row, COUNT] = position, real[row, _SPEED], whole[row, _TOTAL]
