"""The base of ray patterns: directions, firing times and origins of one sweep, in the sensor frame S."""

import abc
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Self

import numpy as np
import numpy.typing as npt
from pydantic import ConfigDict, Field

from sensorium.core.clock import NS_PER_S
from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec

Float64 = npt.NDArray[np.float64]

# Sweeps per second: one sweep lasts between a microsecond and eleven days, so nanoseconds fit.
SweepRate = Annotated[float, Field(ge=1e-6, le=1e6)]

# One sweep of more rays than this is taken for a slip of the pen.
MAX_RAYS = 2**26


@dataclass(frozen=True, eq=False)
class RayTable:
    """The rays of one sweep. Arrays are read-only; neighbors in a row are neighbors in space.

    Attributes:
        direction_S: Unit directions in the sensor frame S [1], float32, shape (rows, columns, 3).
        offset_ns: Firing time since the sweep began [ns], in [0, duration_ns), int64, shape (rows, columns).
        origin_S: Where each ray starts in S [m], float32, shape (rows, columns, 3); None when all start at 0.
        duration_ns: Length of one sweep [ns], rounded down.
    """

    direction_S: npt.NDArray[np.float32]
    offset_ns: npt.NDArray[np.int64]
    origin_S: npt.NDArray[np.float32] | None
    duration_ns: int

    def __post_init__(self) -> None:
        shape = self.offset_ns.shape
        if len(shape) != 2 or 0 in shape:
            raise SpecError(f"offset_ns has shape {shape}; it must be (rows, columns) with at least one ray")

        # The arrays are shared by every reader of a cached table, so each is checked once and then closed.
        expected = {
            "direction_S": (np.float32, (*shape, 3)),
            "offset_ns": (np.int64, shape),
            "origin_S": (np.float32, (*shape, 3)),
        }
        for name, (dtype, wanted) in expected.items():
            array = getattr(self, name)
            if array is None and name == "origin_S":
                continue
            if array.dtype != dtype or array.shape != wanted:
                raise SpecError(f"{name} is {array.dtype} {array.shape}; it must be {np.dtype(dtype)} {wanted}")
            if not np.isfinite(array).all():
                raise SpecError(f"{name} has a value that is not finite")
            closed = np.array(array, order="C")
            closed.flags.writeable = False
            object.__setattr__(self, name, closed)

        # Unit length to float32 rounding; times inside the sweep.
        squared = np.einsum("...i,...i->...", self.direction_S, self.direction_S, dtype=np.float64)
        worst = float(np.abs(squared - 1.0).max())
        if worst > 1e-6:
            raise SpecError(f"direction_S has a squared length off 1 by {worst}; it must hold unit vectors")
        first, last = int(self.offset_ns.min()), int(self.offset_ns.max())
        if first < 0 or last >= self.duration_ns:
            raise SpecError(f"offset_ns runs from {first} to {last}; it must stay in [0, {self.duration_ns})")

    @classmethod
    def at_once(cls, direction_S: npt.ArrayLike, origin_S: npt.ArrayLike | None = None) -> Self:
        """Rays that are fired together, for custom sensors.

        Args:
            direction_S: Directions of any length but zero, shape (rows, columns, 3).
            origin_S: Where they start [m], shape (rows, columns, 3); None is the sensor's own origin.
        """
        direction = np.asarray(direction_S, np.float64)
        if direction.ndim != 3 or direction.shape[-1] != 3:
            raise SpecError(f"direction_S has shape {direction.shape}; it must be (rows, columns, 3)")
        length = np.linalg.norm(direction, axis=-1, keepdims=True)
        if not (length > 0.0).all():
            raise SpecError("direction_S has a vector of length zero; a ray needs a direction")
        origin = None if origin_S is None else np.asarray(origin_S, np.float32)
        return cls((direction / length).astype(np.float32), np.zeros(direction.shape[:2], np.int64), origin, 1)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.offset_ns.shape
        return rows, columns


class AbstractPattern(Spec, abc.ABC):
    """Directions and times of rays: a frozen specification that makes one `RayTable` per sweep."""

    model_config = ConfigDict(frozen=True)

    @property
    @abc.abstractmethod
    def cycle(self) -> int:
        """Number of sweeps after which the pattern repeats exactly; 1 when every sweep is the same."""

    @abc.abstractmethod
    def rays(self, sweep: int = 0) -> RayTable:
        """Rays of sweep number `sweep` (0, 1, ...); cached, so that equal sweeps give the same object."""


class AbstractSteadyPattern(AbstractPattern):
    """A pattern whose sweeps are all the same."""

    @property
    def cycle(self) -> int:
        """Every sweep is the same."""
        return 1

    def rays(self, sweep: int = 0) -> RayTable:
        """Rays of one sweep, the same for every sweep."""
        checked_sweep(sweep, 1)
        return self._table()

    @abc.abstractmethod
    def _table(self) -> RayTable:
        """The rays, cached."""


def exact(value: float) -> Fraction:
    """The decimal number a float was written as, so that 0.1 s means one tenth and rates do not drift."""
    return Fraction(str(value))


def sweep_duration_ns(rate_hz: float) -> int:
    """Length of one sweep [ns], rounded down: no sweep is shorter, however its start and end are rounded."""
    return math.floor(NS_PER_S / exact(rate_hz))


def checked_sweep(sweep: int, cycle: int) -> int:
    """Place of a sweep inside the cycle; a negative number raises `SpecError`."""
    if sweep < 0:
        raise SpecError(f"sweep is {sweep}; sweeps count from 0")
    return int(sweep) % cycle


def check_ray_count(rays: int) -> None:
    """Refuse a sweep too large to be meant."""
    if rays > MAX_RAYS:
        raise ValueError(f"one sweep has {rays} rays; at most {MAX_RAYS} are allowed")


def spread_deg(start_deg: float, end_deg: float, count: int) -> Float64:
    """Angles from `start_deg` to `end_deg` [deg], shape (count,).

    Both ends are fired, step (end - start) / (count - 1), except over a full turn: there the end is the start
    again and is left out, step (end - start) / count, or the seam would fire twice. One angle is the middle.
    """
    if count == 1:
        return np.array([0.5 * (start_deg + end_deg)])
    step_deg = (end_deg - start_deg) / intervals(start_deg, end_deg, count)
    return start_deg + step_deg * np.arange(count, dtype=np.float64)


def intervals(start_deg: float, end_deg: float, count: int) -> int:
    """Steps that `count` angles make of a span: one less than angles, or as many over a full turn."""
    return count if is_full_turn(end_deg - start_deg) else count - 1


def is_full_turn(span_deg: float) -> bool:
    """Whether a span [deg] closes on itself, to a billionth of a degree."""
    return abs(abs(span_deg) - 360.0) < 1e-9


def directions(azimuth_rad: Float64, elevation_rad: Float64) -> Float64:
    """Unit vectors (cos a cos e, sin a cos e, sin e) [1], shape (*broadcast, 3)."""
    azimuth, elevation = np.broadcast_arrays(azimuth_rad, elevation_rad)
    flat = np.cos(elevation)
    return np.stack([np.cos(azimuth) * flat, np.sin(azimuth) * flat, np.sin(elevation)], axis=-1)


def ray_table(direction_S: Float64, time_s: Float64, *, rate_hz: float, origin_S: Float64 | None = None) -> RayTable:
    """Round float64 rays to the stored types, once.

    Args:
        direction_S: Unit directions [1], shape (rows, columns, 3).
        time_s: Firing time since the start of the sweep [s], shape (rows, columns).
        rate_hz: Sweeps per second [Hz].
        origin_S: Ray origins [m], shape (rows, columns, 3), or None.
    """
    duration_ns = sweep_duration_ns(rate_hz)
    offset_ns = np.rint(time_s * NS_PER_S).astype(np.int64)

    # The last nanosecond of a sweep may round into the next one.
    offset_ns = np.minimum(offset_ns, duration_ns - 1)
    origin = None if origin_S is None else origin_S.astype(np.float32)
    return RayTable(direction_S.astype(np.float32), offset_ns, origin, duration_ns)
