"""Errors and faults of scans: what the corruption layer does to a lidar's ranges."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sensorium.corruption import Chain, Corruption, Part, Program
from sensorium.corruption.base import Layout
from sensorium.corruption.faults import FaultSchedule
from sensorium.patterns.base import RayTable
from sensorium.sensors.rig import Rig
from sensorium.sensors.scan import Scan
from sensorium.worlds.interpolation import interpolated

# What faults call a lidar's ranges by
TARGET = "range"


class ScanErrors:
    """A chain over the ranges of whole sweeps; it changes and voids returns, and makes none.

    A return that it takes out of the limits of range is void.
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
    ) -> None:
        """Start the chain.

        Args:
            rig: Where the lidar sits.
            rays: Number of rays of a sweep.
            returns: Number of returns a ray.
            period_s: Time between sweeps [s].
            limits_m: Least and greatest range that is reported [m].
            errors: Corruptions of every sweep.
            faults: Scheduled ones; they come after the errors.
        """
        self._rig, self._rays, self._returns = rig, rays, returns
        self._least_m, self._most_m = np.array(limits_m, np.float32)
        self.too_near: NDArray[np.bool_] = np.zeros((), np.bool_)
        """Where returns of the last sweep were taken below the least range, in the shape of its ranges."""
        layout = Layout(rays, period_s)
        parts = [Part(Chain(errors).compiled(layout), 0, rays)]
        parts += faults.parts(layout, target=TARGET)
        self._program = Program(parts, columns=rays, period_s=period_s)
        self._state = self._program.init(
            (rig.worlds, rig.sensors * returns, rays),
            seed=rig.seed,
            name=f"{rig.name}/range",
            first_world=rig.first_world,
        )

    def restart(self, mask: NDArray[np.bool_]) -> None:
        """Restart the masked worlds."""
        self._program.restart(self._state, mask)

    def apply(self, scan: Scan, table: RayTable) -> Scan:
        """Corrupt one sweep."""
        x = scan.range_m.astype(np.float64).reshape(-1, self._rays)
        active = None
        if self._rig.faults is not None:
            active = np.repeat(self._rig.faults.at(scan.end_ns), self._returns, axis=0)
        self._program.step(x, scan.end_ns, self._state, active)
        range_m = x.reshape(scan.range_m.shape)

        # What is written counts, in float32
        reported_m = range_m.astype(np.float32)
        inside = (reported_m > 0.0) & (reported_m >= self._least_m) & (reported_m <= self._most_m)
        lost = scan.valid & ~inside & (reported_m != scan.range_m)
        self.too_near = lost & (reported_m < self._least_m) & (reported_m != 0.0)  # 0 is no return
        change_m = np.where(scan.valid & ~lost, range_m - scan.range_m, 0.0)
        moved = replace(
            scan,
            range_m=(scan.range_m + change_m).astype(np.float32),
            points=(scan.points + change_m[..., None] * self._directions(scan, table)).astype(scan.points.dtype),
        )
        return moved.voided(lost)

    def _directions(self, scan: Scan, table: RayTable) -> NDArray[np.float64]:
        """Unit vectors of the rays in the frame of the points, in the shape of the points or to broadcast to it."""
        direction_S = table.direction_S.astype(np.float64)
        if scan.frame == "sensor":
            return direction_S

        # Rays share firing times: turn by each once
        if len(scan.knot_ns) == 1:
            R_WS = scan.X_WS.rotation
            place = np.zeros(direction_S.shape[:-1], np.intp)
        else:
            distinct, place = np.unique(scan.start_ns + scan.offset_ns, return_inverse=True)
            R_WS = interpolated(scan.knot_ns, scan.X_WS, distinct).rotation
        turned = np.einsum("hcwsij,hcj->wshci", R_WS[place.reshape(direction_S.shape[:-1])], direction_S)
        turned = turned if self._returns == 1 else turned[:, :, None]
        return self._rig.squeeze(turned)
