"""A sensor's point followed from sample to sample, with the world's steps between them."""

import numpy as np
from numpy.typing import NDArray

from sensorium.core.frames import Pose
from sensorium.physics.fields import UniformGravity
from sensorium.sensors.common.rig import Rig
from sensorium.worlds.history import Bracket
from sensorium.worlds.point_motion import PointMotion, PointState, gravity_on

Float = NDArray[np.float64]


class Instant:
    """The motion of a point at one time, in world axes; rows are worlds and then sensors."""

    def __init__(self, motion: PointMotion, now_ns: int) -> None:
        """Copy a motion at any time within the history."""
        self.motion = motion

        # A motion fills the same arrays at every time
        self.numbers = motion.numbers
        """All of it in one array, as `move_points` fills it."""
        self.state: PointState = motion.at(now_ns)
        """The same with axes of worlds and sensors, and None for unknown quantities."""
        self.p, self.q = self.state.position.reshape(-1, 3), self.state.quaternion.reshape(-1, 4)
        """Place p_WP [m] and q_WP, shapes (rows, 3) and (rows, 4)."""
        self.time_ns: int | None = None
        """Its time [ns], None if it is no longer to be trusted."""

    @property
    def a(self) -> Float | None:
        """Acceleration [m/s^2], shape (rows, 3); None if the world does not provide it."""
        return None if self.state.acceleration is None else self.state.acceleration.reshape(-1, 3)


class PointTrack:
    """The motion of a point at two instants: now, and at the start of a piece of path that ends now."""

    def __init__(self, rig: Rig, X_SP: Pose) -> None:
        """Follow a point.

        Args:
            rig: Mount of the sensor.
            X_SP: Where the point is in the sensor's frame.
        """
        self._rig = rig
        X_BP, known_ns = rig.X_BS @ X_SP, rig.history.newest.time_ns
        self.start, self.now = (Instant(PointMotion(rig.history, rig.body, X_BP), known_ns) for _ in range(2))
        self.mounts = self.now.motion.mounts
        """Bodies and mounts, as passed to `move_points`."""
        self.gravity = np.zeros((rig.worlds * rig.sensors, 3))
        """Gravity over the piece of path, taken midway [m/s^2], shape (rows, 3)."""
        self._gravity_of: object = None
        self._field_varies = self._varies = not isinstance(rig.gravity, UniformGravity)

    def forget(self) -> None:
        """Discard all cached motion: the world was reset."""
        self.now.time_ns = None

    def go(self, from_ns: int, to_ns: int, around: Bracket, *, moved: bool) -> None:
        """Turn to the piece of path [from, to], and to the gravity over it; `sense` moves the point to its end.

        Args:
            from_ns: Its start [ns].
            to_ns: Its end.
            around: The states around its end.
            moved: Whether the point is to be at the end when this returns, for fields that depend on the place.
        """
        # The present end is usually the start of the next piece
        before = self.now
        if before.time_ns != from_ns:
            before.motion.at(from_ns, acceleration=False)
        now = self.now = self.start
        self.start, now.time_ns = before, to_ns

        # Gravity: the world's own where it has one, else the environment's field
        own_W = gravity_on(around[0], around[1], self._rig.body)
        self._varies = own_W is None and self._field_varies
        if moved or self._varies:
            now.motion.at(to_ns, acceleration=False)
        source: object = self._rig.gravity if own_W is None else own_W
        if self._varies or source is not self._gravity_of:
            midway = 0.5 * (before.state.position + now.state.position)
            self.gravity[...] = self._rig.gravity_at(midway, own_W).reshape(-1, 3)
            self._gravity_of = source

    def gravity_now(self) -> Float:
        """Gravity at the end of the piece of path [m/s^2], shape (rows, 3)."""
        return self._rig.gravity_at(self.now.p, None) if self._varies else self.gravity
