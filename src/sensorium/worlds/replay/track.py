"""The recorded motion of one body: poses at some times, and interpolation between them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.clock import MAX_NS, NS_PER_S
from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.core.rotations import CONJUGATE, Float, multiply, quaternion_exp, quaternion_log

# Times nearer than this to the first or the last still count as recorded: half a nanosecond
NEAR_S = 0.5e-9


class Track:
    """Recorded poses of a body.

    Between the times positions are linear, quaternions use slerp along the shorter arc, and velocities are linear.
    Before the first time and after the last the body is at rest.

    Velocities that were not recorded are slopes of the parabola through each pose and its two neighbors, at the ends
    through the nearest three: with slopes s before and after and spacings h, v_k = (h_k s_k-1 + h_k-1 s_k) / (h_k-1 +
    h_k), and 2 s_0 - v_1 at the start. Slopes of rotations are rotation vectors over time, in world axes. The error is
    of second order in the spacing.
    """

    def __init__(
        self,
        times_s: ArrayLike,
        poses: Pose | Sequence[Pose],
        v_WB: ArrayLike | None = None,
        w_WB: ArrayLike | None = None,
    ) -> None:
        """Keep a recording.

        Args:
            times_s: Times [s], increasing, shape (n,).
            poses: X_WB at each time, n poses or one Pose of shape (n,).
            v_WB: Velocity of the body's origin in world axes [m/s], shape (n, 3); None takes differences.
            w_WB: Angular velocity in world axes [rad/s], shape (n, 3); None takes differences.
        """
        t = recorded_times(times_s)
        stacked = poses if isinstance(poses, Pose) else Pose.stack(list(poses))
        if stacked.shape != t.shape:
            raise SpecError(f"poses have shape {stacked.shape}; it must be {t.shape}, one for each time")
        self.times_s = t
        self.poses = stacked
        position, quaternion = stacked.position, stacked.quaternion

        # Rotation vector of each segment, in world axes, and the slopes of both
        self._turn = quaternion_log(multiply(quaternion[1:], quaternion[:-1] * CONJUGATE))
        spacing = np.diff(t)[:, None]
        self.v_WB = slopes(changes(position), spacing) if v_WB is None else recorded("v_WB", v_WB, t, 3)
        self.w_WB = slopes(self._turn, spacing) if w_WB is None else recorded("w_WB", w_WB, t, 3)
        for array in (self.times_s, self.v_WB, self.w_WB):
            array.setflags(write=False)

    def at(self, t_s: Float) -> tuple[Float, Float, Float, Float]:
        """Position, quaternion, v_WB and w_WB at times t_s [s], (m,), in arrays (m, 3 or 4)."""
        t = self.times_s
        if len(t) == 1:
            still = np.zeros((len(t_s), 3))
            return still + self.poses.position, np.tile(self.poses.quaternion, (len(t_s), 1)), still, still
        k = np.clip(np.searchsorted(t, t_s, side="right") - 1, 0, len(t) - 2)
        s = np.clip((t_s - t[k]) / (t[k + 1] - t[k]), 0.0, 1.0)[:, None]
        position, quaternion = self.poses.position, self.poses.quaternion
        moving = ((t_s > t[0] - NEAR_S) & (t_s < t[-1] + NEAR_S))[:, None]
        return (
            (1.0 - s) * position[k] + s * position[k + 1],
            multiply(quaternion_exp(s * self._turn[k]), quaternion[k]),
            np.where(moving, (1.0 - s) * self.v_WB[k] + s * self.v_WB[k + 1], 0.0),
            np.where(moving, (1.0 - s) * self.w_WB[k] + s * self.w_WB[k + 1], 0.0),
        )


def recorded_times(times_s: ArrayLike) -> Float:
    """Times of a recording [s], (n,): finite, increasing, at least one."""
    t = np.array(times_s, dtype=np.float64)
    if t.ndim != 1 or len(t) == 0:
        raise SpecError(f"times_s has shape {t.shape}; it must be (n,) with at least one time")
    if not np.isfinite(t).all():
        raise SpecError(f"times_s holds {t[~np.isfinite(t)][0]}; every time must be finite")
    if np.abs(t).max() * NS_PER_S > MAX_NS:
        rule = "every time must be within 2^63 nanoseconds, about 292 years"
        raise SpecError(f"times_s holds {t[np.abs(t).argmax()]}; {rule}")
    back = np.flatnonzero(np.diff(t) <= 0.0)
    if back.size:
        k = int(back[0]) + 1
        raise SpecError(f"times_s[{k}] is {t[k]} after {t[k - 1]}; times must increase")
    return t


def recorded(name: str, values: ArrayLike, t: Float, *width: int) -> Float:
    """Recorded numbers at n times t, (n, *width), all finite."""
    array = np.array(values, dtype=np.float64)
    if array.shape != (len(t), *width):
        raise SpecError(f"{name} has shape {array.shape}; it must be {(len(t), *width)}")
    if not np.isfinite(array).all():
        k = int(np.argwhere(~np.isfinite(array))[0, 0])
        raise SpecError(f"{name}[{k}] is {array[k].tolist()}; it must be finite")
    return array


def changes(values: Float) -> Float:
    """Differences of consecutive values (n, ...); infinite where undefined."""
    with np.errstate(over="ignore"):
        return np.diff(values, axis=0)


def slopes(values: Float, spacing: Float) -> Float:
    """Slopes (n, k) at n samples, from the changes (n - 1, k) of the segments between and their lengths (n - 1, 1)."""
    with np.errstate(over="ignore", invalid="ignore"):  # reported below
        found = _parabolas(values / spacing, spacing)
    if not np.isfinite(found).all():
        k = int(np.argwhere(~np.isfinite(found))[0, 0])
        raise SpecError(f"what was recorded near time {k} changes too fast for a velocity; it must be finite")
    return found


def _parabolas(between: Float, spacing: Float) -> Float:
    """Slopes at samples, each of the parabola through it and its neighbors."""
    if len(between) < 2:
        return np.repeat(between, 2, axis=0) if len(between) else np.zeros((1, between.shape[1]))
    before, after = spacing[:-1], spacing[1:]
    inner = (after * between[:-1] + before * between[1:]) / (before + after)
    return np.concatenate([2.0 * between[:1] - inner[:1], inner, 2.0 * between[-1:] - inner[-1:]])


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
