"""Dead channels and blocked sectors: parts of a scan or an image without data."""

from collections.abc import Iterable
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from sensorium.core.errors import SpecError
from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.op import COLUMN, OPTION, PARAMETERS, STATE, WIDTH, Float, Int, Op, Start, operation
from sensorium.corruption.engine.parameters import Channels, Reading, some_channels
from sensorium.runtime import jit

DEAD = 20

Count = Annotated[int, Field(ge=1)]
Shape = tuple[Count, Count]
"""Channels and columns of a scan, rows and columns of an image; values are in row-major order."""
Range = tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]]
"""Half-open range."""

_EDGE_DEG = 1e-9


class DeadChannels(Corruption):
    """x' = `value` on the channels that are dead, known ones or some drawn once per episode (and world, and sensor).

    Each drawn channel is dead with probability `share`, independently. With a shape, a channel is a whole row of the
    scan: a laser that never answers. Without, it is one number of the signal: a dead pixel, or an axis.
    """

    kind: Literal["dead_channels"] = "dead_channels"
    channels: Channels | None = None
    """Numbers of the dead channels."""
    share: float | None = Field(default=None, ge=0.0, le=1.0)
    """Probability of each channel to be dead [1], instead."""
    shape: Shape | None = None
    """Channels and columns of a scan; None takes every number of the signal as a channel."""
    value: Reading = 0.0
    """Value of a dead channel [unit]: 0 is no return, "nan" no value."""

    @model_validator(mode="after")
    def _rules(self) -> "DeadChannels":
        if (self.channels is None) == (self.share is None):
            raise ValueError(f"channels is {self.channels} and share is {self.share}; exactly one must be given")
        return self

    def operations(self, layout: Layout) -> list[Op]:
        """Stretches of known channels; drawn ones are state."""
        rows, columns = (layout.width, 1) if self.shape is None else _checked(self.shape, layout.width)
        if self.channels is not None:
            dead = some_channels("channels", self.channels, rows)
            return [_stretches(self.value, ((row * columns, (row + 1) * columns) for row in dead))]
        assert self.share is not None
        share = self.share

        def start(begin: Start) -> Float:
            dead = begin.uniform(1)[:, :rows] < share
            return np.repeat(dead, columns, axis=1)[:, None, :].astype(np.float64)

        return [Op(DEAD, np.array([float(self.value)]), options=(1, 0), slots=1, start=start)]


class BlockedSector(Corruption):
    """x' = `value` in a part of a scan or an image: mud on a window, a bracket in front of it.

    The part is the rows and columns given, both half-open, or the columns of an azimuth range of a full turn. Column j
    of n looks at azimuth start +- 360 j / n, as `patterns.Spinning` turns: clockwise from 0 by default.
    Azimuths are right-handed about z, 0 forward; a range goes counterclockwise from its first to its second number, and
    may pass 180.
    """

    kind: Literal["blocked_sector"] = "blocked_sector"
    shape: Shape
    """Channels and columns of the scan, or rows and columns of the image."""
    rows: Range | None = None
    """Half-open range of rows; None for all."""
    columns: Range | None = None
    """Half-open range of columns; None for all."""
    azimuth_deg: tuple[float, float] | None = None
    """Right and left edge of the sector [deg], both blocked, instead of columns."""
    start_azimuth_deg: float = 0.0
    """Azimuth of column 0 [deg]."""
    direction: Literal["clockwise", "counterclockwise"] = "clockwise"
    """Turning sense seen from above."""
    value: Reading = 0.0
    """Value of blocked rays or pixels [unit]: 0 is no return, "nan" no value."""

    @model_validator(mode="after")
    def _rules(self) -> "BlockedSector":
        for name, span, count in (("rows", self.rows, self.shape[0]), ("columns", self.columns, self.shape[1])):
            if span is not None and not span[0] < span[1] <= count:
                raise ValueError(f"{name} is {span}; it must go up and end at {count} at most, as the shape says")
        if self.columns is not None and self.azimuth_deg is not None:
            raise ValueError("columns and azimuth_deg are given; they say the same, give one or the other")
        return self

    def blocked_columns(self) -> tuple[int, ...]:
        """Numbers of the columns in the sector."""
        count = self.shape[1]
        if self.azimuth_deg is None:
            return tuple(range(*(self.columns or (0, count))))
        turn = -1.0 if self.direction == "clockwise" else 1.0
        azimuth_deg = self.start_azimuth_deg + turn * 360.0 * np.arange(count) / count
        right, left = self.azimuth_deg
        span_deg = 360.0 if left - right >= 360.0 else (left - right) % 360.0

        # Rounding must not free a column that looks along an edge
        inside = (azimuth_deg - right + _EDGE_DEG) % 360.0 <= span_deg + 2.0 * _EDGE_DEG
        return tuple(int(j) for j in np.flatnonzero(inside))

    def operations(self, layout: Layout) -> list[Op]:
        """Stretches of neighboring columns, row by row."""
        _, columns = _checked(self.shape, layout.width)
        blocked = np.zeros(columns + 2, np.int64)
        blocked[1 + np.array(self.blocked_columns(), np.int64)] = 1
        edges = np.flatnonzero(np.diff(blocked)).reshape(-1, 2)
        rows = range(*(self.rows or (0, self.shape[0])))
        return [_stretches(self.value, ((r * columns + a, r * columns + b) for r in rows for a, b in edges))]


def _checked(shape: Shape, width: int) -> Shape:
    """The shape, if it has as many numbers as the signal."""
    if shape[0] * shape[1] != width:
        raise SpecError(f"shape is {shape}; its product must be the {width} channels of the signal")
    return shape


def _stretches(value: float | str, stretches: Iterable[tuple[int, int]]) -> Op:
    """An operation that overwrites stretches of the signal, given as half-open ranges."""
    edges = [float(edge) for stretch in stretches for edge in stretch]
    return Op(DEAD, np.array([float(value), *edges]), options=(0, len(edges) // 2))


@operation(DEAD)
@jit.function
def dead(ops: Int, o: int, par: Float, x: Float, state: Float, first: int, last: int) -> None:
    """X = value where it is dead."""
    column, width, p, s = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS], ops[o, STATE]
    drawn, stretches = ops[o, OPTION], ops[o, OPTION + 1]
    for row in range(first, last):
        for k in range(stretches):
            for i in range(int(par[p + 1 + 2 * k]), int(par[p + 2 + 2 * k])):
                x[row, column + i] = par[p]
        if drawn:
            for i in range(width):
                if state[row, s + i] > 0.0:
                    x[row, column + i] = par[p]
