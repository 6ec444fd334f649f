"""A chain compiled to the kernel's arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.clock import NS_PER_S
from sensorium.core.errors import SpecError
from sensorium.corruption.engine import op as layout
from sensorium.corruption.engine.custom import run_custom
from sensorium.corruption.engine.kernel import BLOCK_ROWS, kernel_of
from sensorium.corruption.engine.op import Op, Start, rare_operations, runs
from sensorium.corruption.engine.parameters import some_channels
from sensorium.corruption.engine.state import NEVER, State
from sensorium.random import Stream
from sensorium.random.philox import MAX_WORLDS
from sensorium.runtime import worker_pool

if TYPE_CHECKING:
    from sensorium.corruption.faults.fault import Fault

Float = NDArray[np.float64]

_NO_FAULTS = np.zeros((1, 1, 1), np.uint8)
_NO_ONSETS = np.zeros((1, 1, 1), np.int64)

# The calling thread runs a program alone below this number of operations on numbers, about 3 ns each: to wake
# another thread and to wait for it may cost 0.1 ms or more
_ALONE = 2**17


@dataclass(frozen=True)
class Part:
    """Operations on some neighboring channels of a program's signal.

    Attributes:
        ops: In order.
        column: First channel.
        width: Number of channels.
        group: Number that keeps the randomness of parts apart.
        fault: Number of the fault that switches these operations, -1 for none.
    """

    ops: Sequence[Op]
    column: int
    width: int
    group: int = 0
    fault: int = -1


class Program:
    """Operations over the channels of a signal, as the kernel's arrays.

    It switches the faults in its chains itself; `step` gets the active faults of a sensor's schedule, which parts name
    by number.
    """

    def __init__(self, parts: Sequence[Part], *, columns: int, period_s: float | None = None) -> None:
        """Lay out the operations.

        Args:
            parts: In the order they are run.
            columns: Number of channels of the signal.
            period_s: Nominal time between samples [s].
        """
        self.columns = columns
        self.period_ns = 0 if period_s is None else round(period_s * NS_PER_S)
        self._starts: list[tuple[Op, int, int, int]] = []
        self.outside = max((part.fault for part in parts), default=-1) + 1
        """Number of faults of a sensor's schedule, which `step` is given."""
        faults: list[Fault] = []
        rows, parameters, size, slots = [], [np.zeros(0)], 0, 0
        repeats: dict[tuple[int, int], int] = {}
        for part in parts:
            if not 0 <= part.group < layout.MAX_GROUPS:
                raise SpecError(f"group is {part.group}; it must be 0 to {layout.MAX_GROUPS - 1}")
            for op in part.ops:
                # Operations of one kind in one group are numbered in their order
                repeat = repeats.get((part.group, op.kind), 0)
                repeats[part.group, op.kind] = repeat + 1
                if repeat >= layout.MAX_REPEATS:
                    raise SpecError(
                        f"a chain has more than {layout.MAX_REPEATS} corruptions of one kind; that is its limit"
                    )
                _check_kind(op)
                if not op.on:
                    continue
                if op.reads is not None and sum(op.reads) > columns:
                    first, last = op.reads[0], sum(op.reads) - 1
                    raise SpecError(
                        f"source_column is {first} with channels up to {last}; the signal has {columns} of them"
                    )
                stage = layout.stage(part.group, op.kind, repeat)
                fault = part.fault
                if op.switch is not None:
                    fault = self.outside + _number(op.switch, faults)

                # Its parameters, and which channels are its own
                own = np.ravel(op.parameters)
                marks = np.zeros(0)
                if op.channels is not None:
                    marks = np.zeros(part.width)
                    marks[list(some_channels("channels", op.channels, part.width))] = 1.0
                channels = size + own.size if marks.size else -1
                row = [op.kind, part.column, part.width, size, slots, op.slots, stage, fault, op.idle, channels]
                rows.append(row + list(op.options) + [0] * (layout.OPTIONS - len(op.options)))
                parameters += [own, marks]
                size += own.size + marks.size
                self._starts.append((op, slots, part.width, stage))
                slots += op.slots * part.width
        self.ops = np.array(rows, np.int64).reshape(-1, layout.ROW)
        self.parameters = np.concatenate([*parameters, np.zeros(1)])
        self.slots = slots
        self._width = int(self.ops[:, layout.WIDTH].sum())  # of all operations together, 0 if there are none
        kinds = self.ops[:, layout.KIND]
        self._has_rare = bool(((kinds > layout.LAST_COMMON) & (kinds != layout.CUSTOM)).any())
        self._kernel = kernel_of(rare_operations(set(kinds.tolist())))
        self._custom = np.flatnonzero(kinds == layout.CUSTOM).tolist()
        self._needs_onsets = any(op.since_onset for op, *_ in self._starts)
        self.faults = tuple(faults)
        """Faults in its chains."""

    @property
    def acts(self) -> bool:
        """Whether it changes a signal: a program without operations need not be stepped."""
        return self._width > 0

    @classmethod
    def of(cls, ops: Sequence[Op], *, width: int, period_s: float | None) -> Program:
        """A program of one list of operations over all channels."""
        return cls([Part(ops, 0, width)], columns=width, period_s=period_s)

    def init(self, shape: tuple[int, ...], *, seed: int, name: str, first_world: int = 0) -> State:
        """The state before the first sample of a signal of this shape."""
        if len(shape) > 3 or any(n < 1 for n in shape):
            raise SpecError(
                f"shape is {shape}; it must be (channels,), (worlds, channels) or (worlds, sensors, channels)"
            )
        if (shape[-1] if shape else 1) != self.columns:
            raise SpecError(f"shape is {shape}; its last number must be {self.columns}, the channels of the program")
        worlds, sensors = (shape[0] if len(shape) > 1 else 1), (shape[1] if len(shape) > 2 else 1)
        if sensors > layout.MAX_SENSORS:
            raise SpecError(f"{sensors} sensors share one state; {layout.MAX_SENSORS} at most may")
        most = 1 << layout.SENSOR_SHIFT
        if sensors > 1 and self.columns > most:
            raise SpecError(f"{sensors} sensors of {self.columns} channels share one state; they may have {most} each")
        if not 0 <= first_world <= MAX_WORLDS - worlds:
            raise SpecError(f"first_world is {first_world}; with {worlds} worlds it must be 0 to {MAX_WORLDS - worlds}")

        # World and sensor of each row, as the counter has them
        rows = np.arange(worlds * sensors, dtype=np.int64)
        ids = np.stack([first_world + rows // sensors, (rows % sensors) << layout.SENSOR_SHIFT])
        clock = np.zeros((1, layout.CLOCK), np.int64)
        stream = Stream(seed, name)
        clock[0, layout.PERIOD_NS] = self.period_ns
        clock[0, layout.KEY_0], clock[0, layout.KEY_1] = stream.key
        state = State(
            program=self,
            shape=shape,
            stream=stream,
            values=np.zeros((len(rows), max(self.slots, 1))),
            ids=np.ascontiguousarray(ids),
            worlds=worlds,
            sensors=sensors,
            first_world=first_world,
            clock=clock,
        )
        if self.faults:
            # The schedule knows the parts of a program, so it is loaded when first needed
            from sensorium.corruption.faults.fault import FaultSchedule

            schedule = FaultSchedule(faults=self.faults)
            state.faults = schedule.begin(worlds, sensors, seed=seed, name=name, first_world=first_world)
        self.restart(state, np.ones(worlds, np.bool_))
        return state

    def restart(self, state: State, mask: NDArray[np.bool_]) -> None:
        """Reset the masked worlds to an initial state, in place; each start draws other numbers."""
        rows = np.repeat(mask, state.sensors)
        for op, offset, width, stage in self._starts:
            if not op.slots:
                continue
            values = (
                np.full((len(rows), op.slots, width), np.nan) if op.idle else np.zeros((len(rows), op.slots, width))
            )
            if op.start is not None:
                start = Start(state.stream, stage, state.tick, state.worlds, state.sensors, state.first_world, width)
                values = op.start(start)
            state.values[rows, offset : offset + op.slots * width] = values.reshape(len(rows), -1)[rows]
        if state.faults is not None and state.time_ns != NEVER:
            state.faults.reset(mask, state.time_ns)

    def series(self, signals: Float, times_ns: NDArray[np.int64], state: State) -> tuple[Float, State]:
        """Corrupt samples (samples, *shape) in order; the arguments are not changed."""
        if times_ns.ndim != 1 or (times_ns.size and times_ns.dtype.kind not in "iu"):
            rule = "they must be whole numbers in one row"
            raise SpecError(f"times are of type {times_ns.dtype} and shape {times_ns.shape}; {rule}")
        self._check(signals, (len(times_ns), *state.shape))
        after = state.copy()
        x = np.array(signals, np.float64, order="C").reshape(len(times_ns), state.ids.shape[1], self.columns)
        if not len(times_ns):
            return x.reshape(signals.shape), after

        # A row of numbers a sample: its tick, its time, the time since the one before, and the key
        clock = np.zeros((len(times_ns), layout.CLOCK), np.int64)
        clock[:, layout.TICK] = state.tick + np.arange(len(times_ns))
        clock[:, layout.TIME_NS] = times_ns
        clock[0, layout.ELAPSED_NS] = state.elapsed_ns(int(times_ns[0]))
        clock[1:, layout.ELAPSED_NS] = np.diff(times_ns)
        clock[:, layout.PERIOD_NS] = self.period_ns
        clock[:, layout.KEY_0], clock[:, layout.KEY_1] = state.stream.key
        if (clock[1:, layout.ELAPSED_NS] <= 0).any():
            late = int(np.argmax(clock[1:, layout.ELAPSED_NS] <= 0)) + 1
            raise SpecError(f"time {late} is {times_ns[late]} ns after {times_ns[late - 1]} ns; times must increase")
        faults, onsets = _NO_FAULTS, _NO_ONSETS
        if after.faults is not None and self._needs_onsets:
            faults, onsets = after.faults.series_with_onsets(times_ns)
        elif after.faults is not None:
            faults = after.faults.series(times_ns)
        self._run(x, clock, after, faults, onsets)
        after.tick, after.time_ns = state.tick + len(times_ns), int(times_ns[-1])
        return x.reshape(signals.shape), after

    def sample(self, signal: Float, time_ns: int, state: State) -> tuple[Float, State]:
        """Corrupt one sample of the state's shape, as a series of one; the arguments are not changed."""
        if not isinstance(time_ns, int | np.integer):
            raise SpecError(f"time_ns is {time_ns!r}; it must be a whole number")
        self._check(signal, state.shape)
        after = state.copy()
        x = np.array(signal, np.float64, order="C").reshape(1, state.ids.shape[1], self.columns)
        self.step(x[0], int(time_ns), after)
        return x.reshape(signal.shape), after

    def step(
        self,
        x: Float,
        time_ns: int,
        state: State,
        faults: NDArray[np.uint8] | None = None,
        onsets_ns: NDArray[np.int64] | None = None,
    ) -> None:
        """Corrupt one sample and the state in place, as sensors do.

        Args:
            x: Signal, shape (rows, columns); rows are worlds and then sensors.
            time_ns: When it was sampled [ns], later than the one before.
            state: From `init`.
            faults: Which faults of the sensor's schedule are active, uint8, shape (rows, faults).
            onsets_ns: When those that are active set in [ns], likewise; needed where a fault is a drift or the like,
                which counts from its onset.
        """
        elapsed_ns = state.elapsed_ns(time_ns)
        if self.acts:
            active, onsets = _NO_FAULTS if faults is None else faults[None], _NO_ONSETS
            if self._needs_onsets and self.outside:
                if onsets_ns is None:
                    raise SpecError("a fault counts from its onset; onsets_ns must be given with those that are active")
                onsets = onsets_ns[None]
            if state.faults is not None:
                active = self._with_own_faults(active, state.faults.at(time_ns))
                if self._needs_onsets:
                    onsets = self._with_own_faults(onsets, state.faults.onsets_ns)
            clock = state.clock
            clock[0, layout.TICK] = state.tick
            clock[0, layout.TIME_NS] = time_ns
            clock[0, layout.ELAPSED_NS] = elapsed_ns
            self._run(x[None], clock, state, active, onsets)
        state.tick += 1
        state.time_ns = time_ns

    def _check(self, signals: Float, shape: tuple[int, ...]) -> None:
        """Raise unless the signals have this shape, every value is finite, and no fault is switched from outside."""
        if self.outside:
            raise SpecError("a sensor's fault schedule switches parts of this program; it must be run by `step`")
        if signals.shape != shape:
            raise SpecError(f"the signal has shape {signals.shape}; it must have {shape}, as the state was started")
        finite = np.isfinite(signals)
        if not finite.all():
            at = tuple(int(i) for i in np.argwhere(~finite)[0])
            raise SpecError(f"the signal is {signals[at]} at {at}; every value must be finite")

    def _with_own_faults(self, outside: NDArray[Any], own: NDArray[Any]) -> NDArray[Any]:
        """Numbers of the faults of a sensor's schedule, and of those in its chains, of one sample."""
        return np.concatenate([outside[:, :, : self.outside], own[None]], axis=2) if self.outside else own[None]

    def can_hold(self, column: int) -> bool:
        """Whether operations on the part that begins at a channel may give values of older samples."""
        starts = zip(self.ops, self._starts, strict=True)
        return any(start[0].holds and row[layout.COLUMN] == column for row, start in starts)

    def held(
        self, state: State, column: int, faults: NDArray[np.uint8] | None = None
    ) -> list[NDArray[np.bool_] | None]:
        """Mask of values that operations took from an older sample at the last step.

        Args:
            state: After the step.
            column: First channel of the part.
            faults: Which faults of the sensor's schedule were active then.

        Returns:
            For each operation of the part that may hold values, in order, a mask of shape (rows, width); None where the
            fault that switches it was not active.
        """
        masks: list[NDArray[np.bool_] | None] = []
        for row, (op, offset, width, _) in zip(self.ops, self._starts, strict=True):
            if not op.holds or row[layout.COLUMN] != column:
                continue
            fault = int(row[layout.FAULT])
            if faults is not None and 0 <= fault < self.outside and not faults[:, fault].any():
                masks.append(None)
                continue
            last = offset + (op.slots - 1) * width
            mask = state.values[:, last : last + width] == 1.0
            if op.channels is not None:
                mask &= np.isin(np.arange(width), op.channels)
            masks.append(mask)
        return masks

    def _run(
        self,
        x: Float,
        clock: NDArray[np.int64],
        state: State,
        faults: NDArray[np.uint8],
        onsets: NDArray[np.int64],
        stretch: slice | None = None,
    ) -> None:
        """Run the operations, or a range of them, over samples."""
        if stretch is None and self._custom:
            self._run_between_custom(x, clock, state, faults, onsets)
            return
        ops = self.ops if stretch is None else self.ops[stretch]
        if len(ops):
            samples, rows = x.shape[:2]
            blocks = -(-rows // BLOCK_ROWS)
            worker_pool.run(
                self._kernel,
                blocks,
                onsets if self._has_rare else None,
                ops,
                self.parameters,
                x,
                state.values,
                state.ids,
                faults,
                clock,
                serial_below=blocks + 1 if samples * rows * self._width < _ALONE else 2,
            )

    def _run_between_custom(
        self,
        x: Float,
        clock: NDArray[np.int64],
        state: State,
        faults: NDArray[np.uint8],
        onsets: NDArray[np.int64],
    ) -> None:
        """Run ranges of operations in the kernel, and those between them in Python, sample by sample."""
        for t in range(len(x)):
            now = faults[t : t + 1] if len(faults) > 1 else faults
            since = onsets[t : t + 1] if len(onsets) > 1 else onsets
            begin = 0
            for number in [*self._custom, len(self.ops)]:
                self._run(x[t : t + 1], clock[t : t + 1], state, now, since, slice(begin, number))
                if number < len(self.ops):
                    op, offset, width, stage = self._starts[number]
                    run_custom(op, self.ops[number], offset, width, stage, x[t], clock[t], state, now[0])
                begin = number + 1


def _check_kind(op: Op) -> None:
    """Raise if nothing runs an operation."""
    if not runs(op.kind):
        rule = "it must be one of those that sensorium.corruption.operation registered"
        raise SpecError(f"an operation has the kind {op.kind}; {rule}")
    if (op.kind == layout.CUSTOM) != (op.act is not None):
        raise SpecError(f"an operation of the kind {op.kind} has act {op.act}; kind CUSTOM must have one, and no other")
    if len(op.options) > layout.OPTIONS:
        raise SpecError(f"an operation has {len(op.options)} options; it must have {layout.OPTIONS} at most")


def _number(fault: Fault, faults: list[Fault]) -> int:
    """Index of a fault in the list, to which a new one is appended; compared by identity, since two may be equal."""
    for number, known in enumerate(faults):
        if known is fault:
            return number
    faults.append(fault)
    return len(faults) - 1
