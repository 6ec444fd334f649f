"""A table of rays about to be fired from a rig: what every ray sensor prepares before its kernel runs."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.frames import Pose
from sensorium.patterns import RayTable
from sensorium.rotations import dot
from sensorium.sensors.rig import Rig
from sensorium.trace.packet import BLOCK
from sensorium.trace.placement import BodyMotion, PlacedScenes
from sensorium.trace.sweep import Heads, RayTables

# The sensor turns at most this far between two of its poses [rad]: the kernel interpolates between them, which is then
# wrong by less than 3e-8 rad. Only a sensor that turns faster than the most knots can follow is off by more.
_TURN_BETWEEN_KNOTS = 0.015
_MOST_KNOTS = 8192


class Shot(NamedTuple):
    """Rays, mounts and scene for one interval."""

    rays: RayTables
    heads: Heads
    placed: PlacedScenes
    blocks: int
    """Blocks of rays over all heads."""
    knot_ns: NDArray[np.int64]
    X_WS: Pose
    """True poses of the sensors at the knots, batch shape (knots, worlds, sensors)."""
    bodies: BodyMotion
    """How the bodies moved, to place them once more when the world has gone on."""


class Firing:
    """Prepares ray tables for a rig; keeps what stays the same from sweep to sweep."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig
        self._table: RayTable | None = None
        self._flat: RayTables | None = None
        self._instant: bool | None = None

    def prepare(self, table: RayTable, start_ns: int, end_ns: int) -> Shot:
        """Everything a kernel needs to fire the table.

        Args:
            table: Rays; their times count from the start.
            start_ns: Start of the interval [ns].
            end_ns: Its end, after the last ray; equal to the start to fire all rays at once.
        """
        rig, tracer = self._rig, self._rig.tracer
        rays = self._flattened(table, start_ns == end_ns)
        knot_ns = self._knots(start_ns, end_ns)
        dense = rig.poses(_with_midpoints(knot_ns))
        X_WS = dense[::2]
        placed = tracer.place(start_ns, end_ns, X_WS.position[0, :, 0])

        # Where the heads are, counted from each world's anchor
        relative = dense.matrix.copy()
        relative[..., 3] -= placed.anchor[None, :, None, :]
        heads = rig.worlds * rig.sensors
        length_ns = max(end_ns - start_ns, 1)
        voided = (tracer.history.valid_from_ns.astype(np.float64) - start_ns) / length_ns
        return Shot(
            rays=rays,
            heads=Heads(
                matrix=relative.transpose(1, 2, 0, 3, 4).reshape(heads, -1, 12).astype(np.float32),
                time=((knot_ns - start_ns) / length_ns).astype(np.float32),
                world=np.repeat(np.arange(rig.worlds, dtype=np.int32), rig.sensors),
                start=np.repeat(np.clip(voided, 0.0, 2.0), rig.sensors).astype(np.float32),
            ),
            placed=placed,
            blocks=heads * -(-rays.x.size // BLOCK),
            knot_ns=knot_ns,
            X_WS=X_WS,
            bodies=placed.motion,
        )

    def repeat(self, shot: Shot) -> None:
        """Put the bodies back where they were for a shot, so that it can be fired again."""
        shot.placed.place(*shot.bodies)
        self._rig.tracer.forget_placement()

    def _flattened(self, table: RayTable, instant: bool) -> RayTables:
        """The table as the kernel reads it; kept as long as the same table comes."""
        if self._flat is None or table is not self._table or instant != self._instant:
            directions = table.direction_S.reshape(-1, 3)
            time = np.zeros(len(directions)) if instant else table.time_ns.reshape(-1) / table.duration_ns
            none = np.zeros((0, 3), np.float32)
            self._table, self._instant = table, instant
            self._flat = RayTables(
                x=np.array(directions[:, 0]),
                y=np.array(directions[:, 1]),
                z=np.array(directions[:, 2]),
                time=time.astype(np.float32),
                origin=none if table.origin_S is None else np.array(table.origin_S.reshape(-1, 3)),
            )
        return self._flat

    def _knots(self, start_ns: int, end_ns: int) -> NDArray[np.int64]:
        """Times [ns] to take the sensor's pose at: every state inside, and more where it turns far between them."""
        history, body = self._rig.history, self._rig.body
        times_ns = history.times_within(start_ns, end_ns)
        if body is None or len(times_ns) == 1:
            return times_ns[:1]
        X_WB = history.poses(times_ns, body)
        p, q = X_WB.position, X_WB.quaternion
        if (p == p[0]).all() and (q == q[0]).all():
            return times_ns[:1]
        turn = 2.0 * np.arccos(np.minimum(np.abs(dot(q[1:], q[:-1])), 1.0)).max()
        pieces = min(math.ceil(turn / _TURN_BETWEEN_KNOTS), _MOST_KNOTS // len(times_ns))
        if pieces <= 1:
            return times_ns
        part = np.arange(pieces) * np.diff(times_ns)[:, None] // pieces
        return np.unique(np.append((times_ns[:-1, None] + part).reshape(-1), end_ns))


def _with_midpoints(times_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The times, and the middle of each pair of neighbours."""
    dense = np.empty(2 * len(times_ns) - 1, np.int64)
    dense[::2] = times_ns
    dense[1::2] = times_ns[:-1] + np.diff(times_ns) // 2
    return dense
