"""A smooth path through given poses."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.core.rotations import CONJUGATE, Float, dot, multiply
from sensorium.worlds.paths.base import Motion, Path, times

# so that a path, its velocities and accelerations can be computed from them
_LARGEST_COEFFICIENT = 1e150

# between waypoints the spline of quaternions must keep a length in this range: at zero it has no direction
_QUATERNION_LENGTHS = (1 / 3, 3.0)


class Waypoints(Path):
    """Cubic splines through poses, starting and ending at rest.

    Position is a cubic spline in each coordinate. Rotation is a cubic spline in the four components of the
    quaternion, their signs chosen for the shorter turns, then normalized; turning all poses by one rotation,
    on either side, turns the path with them. Both have continuous velocity and acceleration between the first
    time and the last; before and after, the body stands still at the first and the last pose.

    >>> way = sn.paths.Waypoints([0.0, 2.0], [sn.Pose((0, 0, 0)), sn.Pose((4, 0, 0))])
    >>> env = sn.Environment(sn.Scene(), sn.worlds.Kinematic({"arm": way}, step_s=1.0))
    >>> env.step()
    >>> env.state.X_WB.position[0, 0].round(6).tolist()
    [2.0, 0.0, 0.0]
    """

    def __init__(self, times_s: ArrayLike, poses: Pose | Sequence[Pose]) -> None:
        """Fit the splines.

        Args:
            times_s: At least two times [s], increasing, shape (n,).
            poses: The pose at each time, n poses or one Pose of shape (n, *batch).
        """
        stacked = poses if isinstance(poses, Pose) else Pose.stack(poses)
        knots = np.array(times_s, dtype=np.float64)
        if knots.ndim != 1 or len(knots) < 2 or not np.isfinite(knots).all() or np.any(np.diff(knots) <= 0.0):
            raise SpecError(f"times_s is {knots.tolist()}; it must be two or more finite, increasing times")
        if stacked.shape[:1] != knots.shape:
            raise SpecError(f"poses have shape {stacked.shape}; the first axis must match {len(knots)} times")
        self._knots = knots
        self._batch = stacked.shape[1:]

        # Of q and -q take the one nearer to the waypoint before
        quaternion = np.array(stacked.quaternion)
        for k in range(1, len(knots)):
            nearer = dot(quaternion[k], quaternion[k - 1])[..., None] >= 0.0
            quaternion[k] = np.where(nearer, quaternion[k], -quaternion[k])

        # Position and quaternion in one spline of seven components: coefficients (4, n - 1, *batch, 7)
        from scipy.interpolate import CubicSpline

        values = np.concatenate([stacked.position, quaternion], axis=-1)
        try:
            with np.errstate(all="ignore"):
                coefficients = np.array(CubicSpline(knots, values, axis=0, bc_type="clamped").c, dtype=np.float64)
        except ValueError:  # scipy's word for numbers that are not finite on the way
            coefficients = np.array(np.inf)
        if not (np.abs(coefficients) < _LARGEST_COEFFICIENT).all():
            raise SpecError("waypoints lie too far apart for their times; the path between them must stay finite")
        self._coefficients = coefficients
        self._index = tuple(np.indices(self._batch, sparse=True))
        self._check_rotation()

    def pose(self, t_s: ArrayLike) -> Pose:
        """X_WB at the times t_s [s]."""
        c, u, _ = self._segments(times(t_s))
        s = ((c[0] * u + c[1]) * u + c[2]) * u + c[3]
        return Pose._trusted(s[..., :3].copy(), s[..., 3:] / _length(s[..., 3:]))

    def motion(self, t_s: ArrayLike) -> Motion:
        """X_WB and its derivatives, in closed form."""
        c, u, moving = self._segments(times(t_s))
        s = ((c[0] * u + c[1]) * u + c[2]) * u + c[3]
        ds = ((3.0 * c[0] * u + 2.0 * c[1]) * u + c[2]) * moving
        dds = (6.0 * c[0] * u + 2.0 * c[1]) * moving

        # q = s / n with n = |s|, so w = 2 q' q* = 2 vec(s' q*) / n and w' = 2 vec(s'' q*) / n - 2 (n' / n) w
        n = _length(s[..., 3:])
        q = s[..., 3:] / n
        back = q * CONJUGATE
        w_WB = 2.0 * multiply(ds[..., 3:], back)[..., 1:] / n
        growth = dot(q, ds[..., 3:])[..., None] / n
        alpha_WB = 2.0 * multiply(dds[..., 3:], back)[..., 1:] / n - 2.0 * growth * w_WB
        return Motion(Pose._trusted(s[..., :3].copy(), q), ds[..., :3], w_WB, dds[..., :3], alpha_WB)

    def _segments(self, t: Float) -> tuple[Float, Float, Float]:
        """Coefficients (4, *shape, 7), time into the segment, and 1 between the ends or 0 outside them."""
        inside = np.clip(t, self._knots[0], self._knots[-1])
        segment = np.clip(np.searchsorted(self._knots, inside, side="right") - 1, 0, len(self._knots) - 2)
        into = np.asarray(inside - self._knots[segment])[..., None]
        moving = np.asarray(inside == t, dtype=np.float64)[..., None]
        key: tuple[Any, ...] = (slice(None), segment, *self._index)
        return self._coefficients[key], into, moving

    def _check_rotation(self) -> None:
        """Refuse waypoints between which the spline of quaternions swings so far that it may meet zero."""
        # 129 samples a segment: by Markov's inequality a cubic below 3 moves less than 0.22 from a sample
        c = self._coefficients[..., 3:]
        duration = np.diff(self._knots).reshape(-1, *(1,) * len(self._batch), 1)
        shortest, longest = np.ones(c.shape[1:-1]), np.ones(c.shape[1:-1])
        for fraction in np.linspace(0.0, 1.0, 129):
            u = fraction * duration
            length = _length(((c[0] * u + c[1]) * u + c[2]) * u + c[3])[..., 0]
            shortest, longest = np.minimum(shortest, length), np.maximum(longest, length)
        bad = (shortest < _QUATERNION_LENGTHS[0]) | (longest > _QUATERNION_LENGTHS[1])
        if bad.any():
            k = int(np.argwhere(bad)[0, 0])
            raise SpecError(f"poses {k} and {k + 1} turn too far for a smooth path; put a waypoint between")


def _length(q: Float) -> Float:
    return np.sqrt(dot(q, q))[..., None]
