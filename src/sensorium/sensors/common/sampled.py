"""Sensors that sample at instants: ticks of a clock, the ideal sample, the corruption chain."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from sensorium.core.clock import Rate, seconds_to_ns
from sensorium.core.errors import SpecError
from sensorium.corruption import Program, State
from sensorium.random import Stream
from sensorium.sensors.common.rig import Rig
from sensorium.sensors.common.spec import Capture
from sensorium.sensors.common.timing import Timing

Float = NDArray[np.float64]


class Voidable(Protocol):
    """Methods of every reading of a sampled sensor."""

    def without(self, mask: NDArray[np.bool_]) -> Self:
        """The same, void in the masked worlds."""


R = TypeVar("R", bound=Voidable)

# Stage of the counter for the sampling jitter; the stages of the chain are in another stream
_JITTER = 0


@dataclass(slots=True)
class Sample:
    """One sample of all worlds and sensors, as it leaves the chain or as it entered it.

    Attributes:
        time_ns: Time stamp of the reading [ns].
        interval_s: Time since the sample before [s]; of several samples that of each row, shape (rows, 1).
        x: Channels, shape (rows, columns); rows are worlds and then sensors.
        ideal: The same before the chain.
        valid: Whether each row measured its whole interval, shape (rows,).
        auxiliary: Results of the signal besides its channels, such as visible objects.
        gathered: How many samples these are, one behind the other; None for the usual one.
    """

    time_ns: int
    interval_s: Any
    x: Float
    ideal: Float
    valid: NDArray[np.bool_]
    auxiliary: Any = None
    gathered: int | None = None


class Signal(Protocol):
    """The ideal signal of a sensor."""

    columns: int
    """Number of channels."""

    def begin(self, time_ns: int) -> None:
        """Measuring starts now; earlier motion is ignored."""

    def forget(self) -> None:
        """Some worlds were reset: discard all remembered motion."""

    def sample(self, time_ns: int, out: Float) -> object:
        """The ideal sample at a time after the one before, shape (rows, columns), into out.

        Returns:
            Auxiliary data of the reading; usually None.
        """


class Readout(Protocol):
    """Processing of the corrupted sample before it is published; owns its state."""

    def read(self, time_ns: int, x: Float, ideal: Float) -> None:
        """Work on the sample in place, shape (rows, columns), and on the ideal one where its signal left work."""

    def restart(self, rows: NDArray[np.bool_]) -> None:
        """Discard the state of the masked rows, shape (rows,)."""


class SampledModel(Generic[R]):
    """The model of a sampled sensor."""

    def __init__(
        self,
        rig: Rig,
        timing: Timing,
        signal: Signal,
        program: Program,
        publish: Callable[[Sample], R],
        *,
        lose: Callable[[Float], None] | None = None,
        readout: Readout | None = None,
        hold: Callable[[State, NDArray[np.uint8] | None, Any], Any] | None = None,
        looks_back: bool,
    ) -> None:
        """Start the clock and the chain.

        Args:
            rig: Mount of the sensor.
            timing: Its clock; the rate must be set.
            signal: Its ideal signal.
            program: Its chain.
            publish: Makes a reading.
            lose: Sets to NaN, in place, values of the ideal sample (rows, columns) that the sensor cannot measure,
                before the chain: noise leaves them NaN, and a fault may hold or replace them.
            readout: Further work on the corrupted sample, such as an encoder's counting.
            hold: Gives the auxiliary data of a reading from the chain's state, the active faults and the signal's
                auxiliary data: if a fault holds older values, the data that belong to those.
            looks_back: Whether the signal needs the world's states since the sample before.
        """
        self._rig, self._timing, self._signal, self._program, self._publish = rig, timing, signal, program, publish
        self._rate = Rate(required_rate_hz(timing), seconds_to_ns(timing.phase_s))
        self._lose, self._readout, self._hold, self._acts = lose, readout, hold, program.acts
        self._looks_back = looks_back
        self._state = program.init(
            (rig.worlds, rig.sensors, program.columns), seed=rig.seed, name=rig.name, first_world=rig.first_world
        )
        self._jitter = Stream(rig.seed, f"{rig.name}/timing") if timing.jitter_s else None
        self._began_ns: int | None = None
        self._before_ns = 0
        self._next, self._next_ns = 0, 0
        self._shape = (rig.worlds * rig.sensors, program.columns)
        self._always = np.ones(rig.worlds * rig.sensors, np.bool_)
        self._always.setflags(write=False)

    def captures(self, after_ns: int, upto_ns: int, since_ns: int) -> Iterator[Capture[R]]:
        """Samples taken after one time and up to another; each must be processed before the next is taken."""
        if self._began_ns != since_ns:
            self._began_ns = self._before_ns = since_ns
            self._signal.begin(since_ns)
            self._plan(self._rate.first_after(since_ns))
        while self._next_ns <= upto_ns:
            tick, at_ns = self._next, self._next_ns
            if self._jitter is None:
                self._next, self._next_ns = tick + 1, self._rate.time_ns(tick + 1)
            else:
                self._plan(tick + 1)
            if at_ns > self._before_ns:
                yield self._capture(tick, at_ns)

    def due_ns(self, now_ns: int) -> int:
        """Time of the next planned sample."""
        return self._next_ns

    def needs_from_ns(self, now_ns: int) -> int:
        """The sample before, if the signal is a difference; else the present."""
        return self._before_ns if self._looks_back and self._before_ns < now_ns else now_ns

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Restart the chain in the masked worlds."""
        self._signal.forget()
        self._program.restart(self._state, mask)
        if self._readout is not None:
            self._readout.restart(np.repeat(mask, self._rig.sensors))

    def voided(self, capture: Capture[R], mask: NDArray[np.bool_]) -> Capture[R]:
        """A pending reading, void in the worlds that restarted."""
        reading, truth = capture.reading, capture.truth
        return Capture(capture.time_ns, reading.without(mask), lambda: truth().without(mask), capture.tick)

    def _capture(self, tick: int, at_ns: int) -> Capture[R]:
        rig, before_ns = self._rig, self._before_ns
        ideal = np.empty(self._shape)
        auxiliary = self._signal.sample(at_ns, ideal)
        x = ideal.copy()
        if self._lose is not None:
            self._lose(x)
        active = onsets_ns = None
        if rig.faults is not None:
            active, onsets_ns = rig.faults.at(at_ns), rig.faults.onsets_ns
        if self._acts:
            self._program.step(x, at_ns, self._state, active, onsets_ns)
        read = auxiliary if self._hold is None else self._hold(self._state, active, auxiliary)
        if self._readout is not None:
            self._readout.read(at_ns, x, ideal)

        # A row is void if its world restarted within its measuring interval
        from_ns, valid = before_ns if self._looks_back else at_ns, self._always
        if rig.history.restarted_ns > from_ns:
            valid = ~np.repeat(rig.history.valid_from_ns > from_ns, rig.sensors)
        self._before_ns = at_ns
        stamp_ns = at_ns if rig.keeps_time else rig.stamp_ns(at_ns)
        sample = Sample(stamp_ns, (at_ns - before_ns) * 1e-9, x, ideal, valid, read)
        return Capture(at_ns, self._publish(sample), partial(self._truth, at_ns, sample, auxiliary), tick)

    def _truth(self, at_ns: int, sample: Sample, auxiliary: object) -> R:
        """The reading without errors of the sample taken at this time [ns], with the signal's auxiliary data."""
        return self._publish(replace(sample, time_ns=at_ns, x=sample.ideal, auxiliary=auxiliary))

    def _plan(self, tick: int) -> None:
        """Plan the next sample: the time of a tick, moved by the jitter."""
        self._next, self._next_ns = tick, self._rate.time_ns(tick)
        if self._jitter is not None:
            normal = self._jitter.normal(_JITTER, 0, tick, elements=1)[0, 0]
            self._next_ns += int(self._timing.shifts_ns(normal, self._rate.period_ns))


def required_rate_hz(timing: Timing) -> float:
    """The rate of a sensor that has none of its own."""
    if timing.rate_hz is None:
        raise SpecError("timing.rate_hz is None; a sensor that samples must have a rate")
    return timing.rate_hz
