"""A sensor's point followed from sample to sample, with the world's steps between them."""

import numpy as np
from numpy.typing import NDArray

from sensorium.fields import UniformGravity
from sensorium.frames import Pose
from sensorium.sensors.rig import Rig
from sensorium.worlds.point_motion import PointMotion, PointState

Float = NDArray[np.float64]


class Instant:
    """The motion of a point at one time, in world axes; rows are worlds and then sensors."""

    def __init__(self, motion: PointMotion, now_ns: int) -> None:
        """Take a motion of its own, at any time that the history knows."""
        self._motion = motion

        # A motion fills the same arrays at every time
        self.state: PointState = motion.at(now_ns)
        """The same, with axes of worlds and sensors, and what may be unknown."""
        self.p, self.q = self.state.position.reshape(-1, 3), self.state.quaternion.reshape(-1, 4)
        """Place p_WP [m] and q_WP, shapes (rows, 3) and (rows, 4)."""
        self.v, self.w = self.state.velocity.reshape(-1, 3), self.state.angular_velocity.reshape(-1, 3)
        """Velocity [m/s] and angular velocity [rad/s], each (rows, 3)."""
        self.v_rest = self.state.velocity_rest.reshape(-1, 3)
        """What rounding took from the velocity [m/s], shape (rows, 3)."""
        self.time_ns: int | None = None
        """Its time [ns], None if it is no longer to be trusted."""

    @property
    def a(self) -> Float | None:
        """Acceleration [m/s^2], shape (rows, 3); None if the world does not know it."""
        return None if self.state.acceleration is None else self.state.acceleration.reshape(-1, 3)

    def see(self, time_ns: int) -> None:
        """Look at another time."""
        self._motion.at(time_ns)
        self.time_ns = time_ns


class PointTrack:
    """The motion of a point at two instants: now, and at the start of a piece of path that ends now."""

    def __init__(self, rig: Rig, X_SP: Pose) -> None:
        """Follow a point.

        Args:
            rig: Where the sensor sits.
            X_SP: Where the point is in the sensor's frame.
        """
        self._rig = rig
        X_BP, known_ns = rig.X_BS @ X_SP, rig.history.newest.time_ns
        self.start, self.now = (Instant(PointMotion(rig.history, rig.body, X_BP), known_ns) for _ in range(2))
        self.gravity = np.zeros((rig.worlds * rig.sensors, 3))
        """Gravity over the piece of path, taken midway [m/s^2], shape (rows, 3)."""
        self._gravity_of: object = None

    def forget(self) -> None:
        """Take nothing that was seen before for granted: the world was reset."""
        self.now.time_ns = None

    def go(self, from_ns: int, to_ns: int) -> None:
        """Move the piece of path to [from, to]."""
        # What was now is usually where the next piece starts
        if self.now.time_ns != from_ns:
            self.now.see(from_ns)
        self.start, self.now = self.now, self.start
        self.now.see(to_ns)
        self._weigh()

    def gravity_now(self) -> Float:
        """Gravity at the end of the piece of path [m/s^2], shape (rows, 3)."""
        return self._rig.gravity_at(self.now.p, None) if self._varies else self.gravity

    def _weigh(self) -> None:
        """Gravity: the world's own where it has one, else the environment's field."""
        field, own_W = self._rig.gravity, self.now.state.gravity_W
        source = field if own_W is None else own_W
        if self._varies or source is not self._gravity_of:
            midway = 0.5 * (self.start.state.position + self.now.state.position)
            self.gravity[...] = self._rig.gravity_at(midway, own_W).reshape(-1, 3)
            self._gravity_of = source

    @property
    def _varies(self) -> bool:
        """Whether gravity is another at another place."""
        return self.now.state.gravity_W is None and not isinstance(self._rig.gravity, UniformGravity)
