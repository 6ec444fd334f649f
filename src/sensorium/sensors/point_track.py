"""A sensor's point followed from sample to sample, with the world's steps between them."""

import numpy as np
from numpy.typing import NDArray

from sensorium.fields import UniformGravity
from sensorium.frames import Pose
from sensorium.sensors.rig import Rig
from sensorium.worlds.point_motion import PointMotion, PointState

Float = NDArray[np.float64]


class PointTrack:
    """The motion of a point at two instants: now, and at the start of a piece of path that ends now."""

    def __init__(self, rig: Rig, X_SP: Pose) -> None:
        """Follow a point.

        Args:
            rig: Where the sensor sits.
            X_SP: Where the point is in the sensor's frame.
        """
        self._rig = rig
        self._motion = PointMotion(rig.history, rig.body, rig.X_BS @ X_SP)
        rows = rig.worlds * rig.sensors
        self.q0, self.v0 = np.zeros((rows, 4)), np.zeros((rows, 3))
        """q_WP and v_WP [m/s] at the start of the piece, shapes (rows, 4) and (rows, 3)."""
        self.q, self.v, self.w, self.p = (
            np.zeros((rows, 4)),
            np.zeros((rows, 3)),
            np.zeros((rows, 3)),
            np.zeros((rows, 3)),
        )
        """The same now, with the angular velocity [rad/s] and the place [m], in world axes."""
        self.a: Float | None = None
        """Acceleration now [m/s^2], None if the world does not know it."""
        self.gravity = np.zeros((rows, 3))
        """Gravity now [m/s^2]."""
        self._gravity_of: object = None
        self._now_ns: int | None = None

    def forget(self) -> None:
        """Take nothing that was seen before for granted: the world was reset."""
        self._now_ns = None

    def go(self, from_ns: int, to_ns: int) -> None:
        """Move the piece of path to [from, to]."""
        # What was now is usually where the next piece starts
        if self._now_ns != from_ns:
            self._see(from_ns)
        self.q0, self.q = self.q, self.q0
        self.v0, self.v = self.v, self.v0
        self._see(to_ns)

    def _see(self, time_ns: int) -> None:
        state = self._motion.at(time_ns)
        self.q[...] = state.quaternion.reshape(-1, 4)
        self.v[...] = state.velocity.reshape(-1, 3)
        self.w, self.p = state.angular_velocity.reshape(-1, 3), state.position.reshape(-1, 3)
        self.a = None if state.acceleration is None else state.acceleration.reshape(-1, 3)
        self._weigh(state)
        self._now_ns = time_ns

    def _weigh(self, state: PointState) -> None:
        """Gravity: the world's own where it has one, else the environment's field."""
        field = self._rig.gravity
        uniform = state.gravity_W is not None or isinstance(field, UniformGravity)
        source = field if state.gravity_W is None else state.gravity_W
        if not uniform or source is not self._gravity_of:
            self.gravity[...] = self._rig.gravity_at(self.p, state.gravity_W)
            self._gravity_of = source
