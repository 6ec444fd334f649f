"""Errors and faults of a lidar's ranges, run by the corruption layer."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.rotations import Float, rotate
from sensorium.corruption import Corruption, Program
from sensorium.corruption.faults.fault import FaultSchedule
from sensorium.patterns.base import RayTable
from sensorium.sensors.common.error_group import channel_parts
from sensorium.sensors.common.held import Arrays, Held
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.lidar.scan import Cause, Light, Scan
from sensorium.worlds.interpolation import interpolated

# Name of a lidar's ranges in faults
TARGET = "range"

# Arrays of a scan and of its light that move with the returns
_OF_SCAN = tuple(field.name for field in Scan.FIELDS if not field.of_light)
_OF_LIGHT = tuple(field.name for field in Scan.FIELDS if field.of_light)


class ScanErrors:
    """A chain over the ranges of whole sweeps.

    A ray without a return is NaN: noise leaves it NaN. A corruption that holds a value holds the whole return that it
    belongs to, or the absence of one; a corruption that sets a value, such as a stuck range, makes a return also where
    there was none. A return that the chain moves beyond the range limits is void.
    """

    def __init__(
        self,
        rig: Rig,
        rays: int,
        returns: int,
        period_s: float,
        limits_m: tuple[float, float],
        errors: Sequence[Corruption],
        faults: FaultSchedule,
        channel_bias_m: Float | None = None,
    ) -> None:
        """Start the chain.

        Args:
            rig: Mount of the lidar.
            rays: Number of rays per sweep.
            returns: Number of returns per ray.
            period_s: Time between sweeps [s].
            limits_m: Least and greatest range that is reported [m].
            errors: Corruptions of every sweep.
            faults: Scheduled corruptions; they run after the errors.
            channel_bias_m: Added before the errors [m], shape (worlds x sensors, channels); None for none.
        """
        self._channel_bias_m = channel_bias_m
        self._rig, self._rays, self._returns = rig, rays, returns
        self._least_m, self._most_m = np.array(limits_m, np.float32)
        self.too_near: NDArray[np.bool_] = np.zeros((), np.bool_)
        """Mask of the last sweep's returns that ended below the least range, in the shape of its ranges."""
        parts = channel_parts(errors, width=rays, period_s=period_s, faults=faults, target=TARGET)
        self.program = Program(parts, columns=rays, period_s=period_s)
        """Its chain, whose parameters may be changed between steps."""
        self._state = self.program.init(
            (rig.worlds, rig.sensors * returns, rays),
            seed=rig.seed,
            name=f"{rig.name}/range",
            first_world=rig.first_world,
        )
        self._held, self._sweep = Held(self.program), 0
        self._samples: dict[int, NDArray[np.float32]] = {}

    def restart(self, mask: NDArray[np.bool_]) -> None:
        """Restart the masked worlds."""
        self.program.restart(self._state, mask)

    def apply(self, scan: Scan, table: RayTable) -> Scan:
        """Corrupt one sweep."""
        rows = self._rig.worlds * self._rig.sensors * self._returns
        valid = scan.valid.reshape(rows, self._rays)
        x = np.where(valid, scan.range_m.reshape(rows, self._rays).astype(np.float64), np.nan)
        if self._channel_bias_m is not None:
            organized = x.reshape(len(self._channel_bias_m), self._returns, *table.shape)
            organized += self._channel_bias_m[:, None, :, None]
        active = onsets_ns = None
        if self._rig.faults is not None:
            active = np.repeat(self._rig.faults.at(scan.end_ns), self._returns, axis=0)
            onsets_ns = np.repeat(self._rig.faults.onsets_ns, self._returns, axis=0)
        self.program.step(x, scan.end_ns, self._state, active, onsets_ns)
        if not self._held.possible:
            return self._reported(scan, table, x, None, None)

        # The returns that these values belong to
        self._sweep += 1
        current = self._belongings(scan, table)
        of = self._held.with_held(self._state, active, current)
        older = of["sweep"] != self._sweep
        if scan.waveform is not None:
            samples = self._samples_of(of["sweep"], scan.waveform.samples)
            scan = replace(scan, waveform=replace(scan.waveform, samples=samples))
        if not older.any():
            return self._reported(scan, table, x, None, None)
        return self._reported(_with_returns(scan, of), table, x, of["direction"], older)

    def _reported(
        self,
        scan: Scan,
        table: RayTable,
        x: Float,
        direction_S: NDArray[Any] | None,
        older: NDArray[np.bool_] | None,
    ) -> Scan:
        """Returns at the ranges that the chain gives.

        Args:
            scan: The returns that the ranges belong to.
            table: The sweep's rays.
            x: Ranges, NaN for none [m], shape (rows, rays).
            direction_S: Directions of the rays that the returns belong to, shape (rows, rays, 3); None is the table's.
            older: Mask of returns from older sweeps, shape (rows, rays); None for none.
        """
        shape, valid = scan.range_m.shape, scan.valid
        range_m = x.reshape(shape)

        # Compare in float32, as written
        reported_m = range_m.astype(np.float32)
        inside = (reported_m > 0.0) & (reported_m >= self._least_m) & (reported_m <= self._most_m)
        kept = valid & (inside | (reported_m == scan.range_m))
        made = inside & ~valid
        self.too_near = valid & ~kept & (reported_m < self._least_m) & (reported_m != 0.0)  # 0 is no return
        change_m = np.where(kept, range_m - scan.range_m, 0.0)
        R_WS, p_WS = (None, None) if scan.frame == "sensor" else self._poses(scan, table)
        along = table.direction_S if direction_S is None else direction_S.reshape(*shape, 3)
        along = self._turned(R_WS, along.astype(np.float64))
        points = scan.points + change_m[..., None] * along
        placed = made
        if older is not None and R_WS is not None:
            placed = made | (older.reshape(shape) & kept)  # in the world they follow the sensor's present pose
        if placed.any():
            origin = np.zeros((*table.shape, 3)) if table.origin_S is None else table.origin_S.astype(np.float64)
            origin = self._turned(R_WS, origin)
            if p_WS is not None:
                origin = origin + self._organized(p_WS)
            points = np.where(placed[..., None], origin + range_m[..., None] * along, points)
        told_m, light = (scan.range_m + change_m).astype(np.float32), scan.light
        if made.any():
            told_m = np.where(made, reported_m, told_m)
            if light is not None:
                light = replace(light, cause=np.where(made, np.uint8(Cause.FAULT), light.cause))
        moved = replace(scan, range_m=told_m, points=points.astype(scan.points.dtype), light=light)
        return moved.voided(~kept & ~made)

    def _belongings(self, scan: Scan, table: RayTable) -> Arrays:
        """Arrays that move with the returns of a sweep, each (rows, rays, ...)."""
        rows = self._rig.worlds * self._rig.sensors * self._returns
        arrays = {name: getattr(scan, name) for name in _OF_SCAN}
        if scan.light is not None:
            arrays |= {name: getattr(scan.light, name) for name in _OF_LIGHT}
        size = scan.range_m.ndim
        found = {
            name: array.reshape(rows, self._rays, *array.shape[size:])
            for name, array in arrays.items()
            if array is not None
        }
        found["sweep"] = np.broadcast_to(np.int64(self._sweep), (rows, self._rays))
        found["direction"] = np.broadcast_to(table.direction_S.reshape(-1, 3), (rows, self._rays, 3))
        return found

    def _samples_of(self, sweep: NDArray[np.int64], samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """Waveforms of the pulses that the returns belong to, of the shape of the samples."""
        heads = self._rig.worlds * self._rig.sensors
        of_pulse = sweep.reshape(heads, self._returns, self._rays)[:, 0]
        self._samples[self._sweep] = samples.reshape(heads, self._rays, -1)
        needed = {self._sweep, *self._held.distinct("sweep")}
        self._samples = {number: kept for number, kept in self._samples.items() if number in needed}
        out = self._samples[self._sweep]
        for number in np.unique(of_pulse):
            if number != self._sweep:
                out = np.where((of_pulse == number)[..., None], self._samples[int(number)], out)
        return out.reshape(samples.shape)

    def _poses(self, scan: Scan, table: RayTable) -> tuple[Float, Float]:
        """Rotations and places of the sensors at each ray, shape (channels, columns, worlds, sensors, ...)."""
        # Rays share firing times: rotate once per time
        if len(scan.knot_ns) == 1:
            X_WS, place = scan.X_WS, np.zeros(table.shape, np.intp)
        else:
            distinct, place = np.unique(scan.start_ns + scan.offset_ns, return_inverse=True)
            X_WS, place = interpolated(scan.knot_ns, scan.X_WS, distinct), place.reshape(table.shape)
        return X_WS.rotation[place], X_WS.position[place]

    def _turned(self, R_WS: Float | None, vectors_S: Float) -> Float:
        """Vectors of rays in the frame of the points, in the shape of the points or to broadcast to it.

        Args:
            R_WS: From `_poses`; None for points in the sensor's frame.
            vectors_S: Of the rays, shape (channels, columns, 3), or of returns, in the shape of the points.
        """
        if R_WS is None:
            return vectors_S
        if vectors_S.shape[:-1] == R_WS.shape[:2]:
            turned = np.einsum("hcwsij,hcj->wshci", R_WS, vectors_S)
            return self._rig.squeeze(turned if self._returns == 1 else turned[:, :, None])
        return rotate(self._organized(R_WS), vectors_S)

    def _organized(self, of_rays: Float) -> Float:
        """Axes (channels, columns, worlds, sensors, ...) reordered as in readings, with one of returns."""
        array = np.moveaxis(of_rays, (0, 1), (2, 3))
        return self._rig.squeeze(array if self._returns == 1 else array[:, :, None])


def _with_returns(scan: Scan, of: Arrays) -> Scan:
    """The scan with other returns."""
    shape = scan.range_m.shape

    def organized(name: str) -> NDArray[Any] | None:
        return of[name].reshape(*shape, *of[name].shape[2:]) if name in of else None

    light = None if scan.light is None else Light(**{name: organized(name) for name in _OF_LIGHT})  # type: ignore[arg-type]
    return replace(scan, light=light, **{name: organized(name) for name in _OF_SCAN})  # type: ignore[arg-type]
