"""Sensors that sample at instants: ticks of a clock, the ideal sample, the corruption chain."""

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from sensorium.core.clock import Rate, seconds_to_ns
from sensorium.core.errors import SpecError
from sensorium.corruption import Program, State
from sensorium.random import Stream
from sensorium.sensors.common.spec import Capture, Rig, Timing

Float = NDArray[np.float64]


class Voidable(Protocol):
    """Methods of every reading of a sampled sensor."""

    def without(self, mask: NDArray[np.bool_]) -> Self:
        """The same, void in the masked worlds."""


R = TypeVar("R", bound=Voidable)
Gathered = TypeVar("Gathered", bound="SampledReading")

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


class StatelessSignal:
    """Base of signals that remember nothing from sample to sample."""

    def begin(self, time_ns: int) -> None:
        """Measuring starts now."""

    def forget(self) -> None:
        """There is no state."""


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

    @property
    def program(self) -> Program:
        """Its chain, whose parameters may be changed between steps."""
        return self._program

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


XYZ = ("x", "y", "z")


@dataclass(frozen=True)
class Quantity:
    """One quantity of a reading.

    Attributes:
        name: The reading's attribute.
        title: Heading.
        unit: Its unit, as text; "1" for none.
        components: Names of its components; one without a name for a single number.
        kind: float, int or bool.
        has_truth: Whether the truth has another.
        is_plotted: Whether it is plotted over time; derived quantities are not.
        is_inertial: Whether its errors are described by an Allan deviation.
        column: Name of its columns in a table; None is the attribute's name.
    """

    name: str
    title: str
    unit: str = "1"
    components: tuple[str, ...] = ("",)
    kind: type = float
    has_truth: bool = True
    is_plotted: bool = True
    is_inertial: bool = False
    column: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """A name for each component in a table, with its unit: acceleration_x_m_s2.

        A unit that the name has already is not said twice; one that depends on the joint, "rad or m", is not said.
        """
        unit = "" if self.unit == "1" or " or " in self.unit else self.unit.replace("/", "_").replace("²", "2")
        name = self.column or self.name
        stem = name.removesuffix(f"_{unit}") if unit else name
        places = (component.replace(" ", "_") for component in self.components)
        return tuple("_".join(part for part in (stem, place, unit) if part) for place in places)



class SampledReading:
    """One sample of all worlds and sensors.

    Arrays have leading axes of worlds and sensors where the environment has them.
    """

    __slots__ = ("_rig", "_sample")

    def __init__(self, sample: Sample, rig: Rig) -> None:
        self._sample, self._rig = sample, rig

    @property
    def time_ns(self) -> int:
        """When it was taken, by the sensor's clock [ns]."""
        return self._sample.time_ns

    @property
    def valid(self) -> NDArray[np.bool_]:
        """False if a reset broke its interval or voided it before arrival; shape () or the leading axes."""
        return self._shaped(self._sample.valid)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """Its quantities by name, for tables and plots; the same for all readings of one sensor."""
        return ()

    @staticmethod
    def gathered(readings: Sequence[Gathered], rows: int) -> Gathered:
        """Readings of one sensor as one: arrays have axes of readings and of rows, and its time is the last's.

        Args:
            readings: One at least.
            rows: How many rows of each, which are worlds and then sensors.
        """
        samples, several = [reading._sample for reading in readings], copy.copy(readings[-1])
        several._sample = Sample(
            samples[-1].time_ns,
            np.repeat([sample.interval_s for sample in samples], rows)[:, None],
            np.concatenate([sample.x[:rows] for sample in samples]),
            np.concatenate([sample.ideal[:rows] for sample in samples]),
            np.concatenate([sample.valid[:rows] for sample in samples]),
            several._beside(samples, rows),
            len(samples),
        )
        return several

    def without(self, mask: NDArray[np.bool_]) -> Self:
        """The same, void in the masked worlds."""
        other = copy.copy(self)
        valid = self._sample.valid & ~np.repeat(mask, self._rig.sensors)
        other._sample = replace(self._sample, valid=valid)
        return other

    def _beside(self, samples: Sequence[Sample], rows: int) -> Any:
        """Auxiliary data of several samples, for readings that use them."""
        return None

    def _channels(self, first: int, last: int) -> NDArray[np.float64]:
        """Some channels of the sample, with the requested axes, then the channels."""
        return self._shaped(self._sample.x[:, first:last])

    def _channel(self, column: int) -> NDArray[np.float64]:
        """One channel, with the requested axes."""
        return self._shaped(self._sample.x[:, column])

    def _shaped(self, rows: NDArray[Any]) -> NDArray[Any]:
        gathered = self._sample.gathered
        axes = self._rig.axes if gathered is None else (gathered, len(rows) // gathered)
        return rows.reshape((*axes, *rows.shape[1:]))
