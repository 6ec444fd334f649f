"""User-defined corruptions: a function of the sample in NumPy, in a chain with those of the library."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from sensorium.core.clock import NS_PER_S
from sensorium.core.errors import SpecError
from sensorium.corruption.engine import op as kinds
from sensorium.corruption.engine.base import Corruption, Float, Layout
from sensorium.corruption.engine.op import CUSTOM, Moment, Op, Start

if TYPE_CHECKING:
    from sensorium.corruption.engine.state import State


class CustomCorruption(Corruption):
    """Base of user-defined corruptions: a subclass has a `kind`, its fields, and `corrupted`.

    It works in chains, in faults and in every sensor like those of the library: the same seed gives the same bytes,
    worlds are independent, and a fault switches it row by row. It runs in Python, some 30 us a sample; an error that is
    a mixture of those that exist is faster as a subclass of `Corruption` whose `operations` are theirs. In scenario
    files it is known by its kind if an entry point of the group `sensorium.corruptions` announces it.

    >>> from typing import Literal
    >>> class Rectified(sn.corruption.CustomCorruption):
    ...     kind: Literal["rectified"] = "rectified"
    ...     def corrupted(self, x, state, moment):
    ...         return np.abs(x)
    >>> model = Rectified()
    >>> model.apply([-1.0, 2.0], time_ns=0, state=model.init((2,), seed=0))[0].tolist()
    [1.0, 2.0]
    """

    slots: ClassVar[int] = 0
    """State numbers per channel."""

    @abstractmethod
    def corrupted(self, x: Float, state: Float, moment: Moment) -> Float:
        """The channels after it, shape (rows, channels); a function of its arguments and the fields alone.

        Args:
            x: The channels before it; rows are worlds and then sensors. NaN where a value is missing.
            state: Shape (rows, slots, channels), to be changed in place. NaN at the first sample, after a reset, and at
                each onset of a fault that switches it.
            moment: When it is, and random numbers for every row and channel.
        """

    def operations(self, layout: Layout) -> list[Op]:
        """One call of `corrupted`."""
        return [Op(CUSTOM, slots=self.slots, forgets=True, act=self.corrupted)]


def run_custom(
    op: Op,
    row: NDArray[np.int64],
    offset: int,
    width: int,
    stage: int,
    x: Float,
    clock: NDArray[np.int64],
    state: State,
    faults: NDArray[np.uint8],
) -> None:
    """Run one operation in Python, on one sample, in place.

    Args:
        op: The operation.
        row: Its row of numbers.
        offset: First number of its state.
        width: Number of its channels.
        stage: Of its random numbers.
        x: The sample, shape (rows, columns).
        clock: Tick and times of the sample.
        state: Of the program.
        faults: Which faults are active, shape (rows, faults).
    """
    assert op.act is not None
    rows, fault, column = len(x), row[kinds.FAULT], row[kinds.COLUMN]
    active = np.ones(rows, np.bool_) if fault < 0 else faults[:, fault] > 0
    values = state.values[:, offset : offset + op.slots * width]
    if op.idle != kinds.KEEPS:
        values[~active] = np.nan
    if not active.any():
        return
    own = values.reshape(rows, op.slots, width).copy()
    tick = int(clock[kinds.TICK])
    start = Start(state.stream, stage, tick, state.worlds, state.sensors, state.first_world, width)
    moment = Moment(int(clock[kinds.TIME_NS]), int(clock[kinds.ELAPSED_NS]) / NS_PER_S, start)
    out = np.asarray(op.act(x[:, column : column + width].copy(), own, moment), np.float64)
    if out.shape != (rows, width):
        raise SpecError(f"a corruption of one's own gave shape {out.shape}; it must be {(rows, width)}, rows first")
    changed = np.broadcast_to(active[:, None], out.shape)
    if op.channels is not None:
        changed = changed & np.isin(np.arange(width), op.channels)
    np.copyto(x[:, column : column + width], out, where=changed)
    values[active] = own.reshape(rows, -1)[active]
