"""The recorded motion of one joint: positions at some times, and interpolation between them."""

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.rotations import Float
from sensorium.worlds.replay.track import NEAR_S, changes, recorded, recorded_times, slopes


class JointTrack:
    """Recorded positions of a joint.

    As in `Track`: linear between the times, also for velocities; at rest before the first time and after the last;
    velocities that were not recorded are slopes of parabolas, with errors of second order in the spacing. Positions
    accumulate over whole turns: a jump by a turn makes the joint run back within that segment.
    """

    def __init__(self, times_s: ArrayLike, position: ArrayLike, velocity: ArrayLike | None = None) -> None:
        """Keep a recording.

        Args:
            times_s: Times [s], increasing, shape (n,).
            position: [rad or m], shape (n,).
            velocity: [rad/s or m/s], shape (n,); None takes differences.
        """
        self.times_s = t = recorded_times(times_s)
        self.position = recorded("position", position, t)
        spacing = np.diff(t)[:, None]
        moved = changes(self.position)[:, None]
        self.velocity = slopes(moved, spacing)[:, 0] if velocity is None else recorded("velocity", velocity, t)
        for array in (self.times_s, self.position, self.velocity):
            array.setflags(write=False)

    @classmethod
    def unwound(cls, times_s: ArrayLike, position: ArrayLike, velocity: ArrayLike) -> "JointTrack":
        """Unwrap readings of an encoder that restarts at each turn, by the recorded velocities.

        Each segment is the change of the reading plus the number of turns that brings it nearest to the mean velocity
        times the time. Continuous readings stay unchanged, but for rounding, if velocity and position agree to half a
        turn. The joint's velocity is the slope of the result: an encoder's own velocity lags, and is 0 at first.
        """
        t = recorded_times(times_s)
        read, v = recorded("position", position, t), recorded("velocity", velocity, t)
        with np.errstate(over="ignore", invalid="ignore"):  # non-finite numbers are refused below
            expected = (0.5 * v[:-1] + 0.5 * v[1:]) * np.diff(t)
            turns = np.cumsum(np.rint((expected - changes(read)) / (2.0 * np.pi)))
            unwound = read + 2.0 * np.pi * np.concatenate([[0.0], turns])
        return cls(t, unwound)

    def at(self, t_s: Float) -> tuple[Float, Float]:
        """Position and velocity at times t_s [s], (m,) each."""
        t = self.times_s
        moving = (t_s > t[0] - NEAR_S) & (t_s < t[-1] + NEAR_S) & (len(t) > 1)
        velocity = np.where(moving, np.interp(t_s, t, self.velocity), 0.0)
        return np.interp(t_s, t, self.position), velocity
