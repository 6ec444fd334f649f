"""Poses: rigid transforms X_AB between right-handed frames, in batches of any shape.

Names follow the monogram notation: `X_AB` is the pose of frame B in frame A, so that `p_A = X_AB.apply(p_B)`
and `X_AC = X_AB @ X_BC`; `p_AB` is the position of B's origin in A; `v_WB`, `w_WB` are the linear and angular
velocity of B relative to W, in the axes of W unless a further suffix says otherwise. Lengths are in meters,
angles in radians; quaternions are w x y z, of unit length, with either sign.

Every operation gives a pose in a batch the same bits as the pose alone.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.core.rotations import (
    CONJUGATE,
    Float,
    cross,
    dot,
    jacobian_inverse_times,
    jacobian_times,
    multiply,
    normalize,
    quaternion_exp,
    quaternion_from_rotation,
    quaternion_log,
    rotate,
    rotation_from_quaternion,
    unit,
)

__all__ = ["Pose", "transport_acceleration", "transport_twist"]

# a matrix whose R^T R is further than this from the identity is refused
_ORTHONORMAL_ATOL = 1e-6


class Pose:
    """An immutable batch of rigid transforms X_AB, position [m] and unit quaternion (w, x, y, z).

    Batches of any shape broadcast against each other by NumPy's rules. Equality and hash compare the stored
    numbers; use `almost_equal` to compare transforms (q and -q are the same rotation).

    >>> X_WB = sn.Pose.from_euler_deg((1.0, 0.0, 0.0), yaw=90.0)
    >>> X_WB.apply([2.0, 0.0, 0.0]).round(6).tolist()  # 2 m ahead of the body, in the world
    [1.0, 2.0, 0.0]
    >>> (X_WB @ X_WB.inverse()).almost_equal(sn.Pose())
    True
    """

    __slots__ = ("_position", "_quaternion", "_rotation")
    __array_ufunc__ = None  # `array @ pose` is an error, not an array of poses

    _position: Float
    _quaternion: Float
    _rotation: Float | None

    def __init__(self, position: ArrayLike = (0, 0, 0), quaternion: ArrayLike = (1, 0, 0, 0)) -> None:
        """Check, normalize and copy the arrays.

        Args:
            position: Origin of B in A [m], shape (*batch, 3).
            quaternion: Rotation R_AB as w x y z, of any finite length but zero, shape (*batch, 4).
        """
        p = _finite("position", position, 3)
        q = normalize(_finite("quaternion", quaternion, 4))
        shape = _broadcast_shape(p.shape[:-1], q.shape[:-1])
        self._position = _frozen(np.array(np.broadcast_to(p, (*shape, 3))))
        self._quaternion = _frozen(np.array(np.broadcast_to(q, (*shape, 4))))
        self._rotation = None

    @classmethod
    def _trusted(cls, position: Float, quaternion: Float) -> Self:
        """Wrap arrays that are already valid: float64, one batch shape, unit quaternions, not shared with a caller."""
        pose = object.__new__(cls)
        pose._position = _frozen(position)
        pose._quaternion = _frozen(quaternion)
        pose._rotation = None
        return pose

    # ---- other ways to make one

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Self:
        """Make poses from homogeneous matrices.

        Args:
            matrix: [R p], shape (*batch, 3, 4), or with the row (0, 0, 0, 1) below it, shape (*batch, 4, 4). R must be
                a rotation to within 1e-6; any other matrix is refused, not repaired.
        """
        m = _finite("matrix", matrix, 4)
        if m.ndim < 2 or m.shape[-2] not in (3, 4):
            raise SpecError(f"matrix has shape {m.shape}; it must be (..., 3, 4) or (..., 4, 4)")
        if m.shape[-2] == 4 and np.any(np.abs(m[..., 3, :] - (0.0, 0.0, 0.0, 1.0)) > _ORTHONORMAL_ATOL):
            raise SpecError(f"matrix has last row {m[..., 3, :].reshape(-1, 4)[0]}; it must be (0, 0, 0, 1)")

        # R^T R = 1 and det R = +1: columns of unit length, at right angles, right-handed
        columns = [m[..., :3, i] for i in range(3)]
        worst = max(
            float(np.max(np.abs(dot(columns[i], columns[j]) - (i == j)), initial=0.0))
            for i in range(3)
            for j in range(i, 3)
        )
        if worst > _ORTHONORMAL_ATOL:
            raise SpecError(f"matrix is off orthonormal by {worst:.3g}; the most is {_ORTHONORMAL_ATOL:g}")
        if np.any(dot(cross(columns[0], columns[1]), columns[2]) < 0.0):
            raise SpecError("matrix has determinant -1, a reflection; it must be a rotation")
        return cls(m[..., :3, 3], quaternion_from_rotation(m[..., :3, :3]))

    @classmethod
    def from_euler_deg(
        cls, position: ArrayLike = (0, 0, 0), roll: ArrayLike = 0, pitch: ArrayLike = 0, yaw: ArrayLike = 0
    ) -> Self:
        """Make poses from angles in degrees, R = Rz(yaw) Ry(pitch) Rx(roll).

        Args:
            position: Origin of B in A [m], shape (*batch, 3).
            roll: About x [deg], shape (*batch,).
            pitch: About y [deg]; positive pitch turns the x axis down, shape (*batch,).
            yaw: About z [deg]; positive yaw turns the x axis left, shape (*batch,).
        """
        angles = [_real(name, a) for name, a in (("roll", roll), ("pitch", pitch), ("yaw", yaw))]
        half_roll, half_pitch, half_yaw = np.broadcast_arrays(*(np.deg2rad(a) / 2.0 for a in angles))
        zero = np.zeros_like(half_roll)
        qx = np.stack([np.cos(half_roll), np.sin(half_roll), zero, zero], axis=-1)
        qy = np.stack([np.cos(half_pitch), zero, np.sin(half_pitch), zero], axis=-1)
        qz = np.stack([np.cos(half_yaw), zero, zero, np.sin(half_yaw)], axis=-1)
        return cls(position, multiply(multiply(qz, qy), qx))

    @classmethod
    def look_at(cls, position: ArrayLike, target: ArrayLike, up: ArrayLike = (0, 0, 1)) -> Self:
        """Make poses at `position` whose x axis points to `target`, with the z axis as near `up` as can be.

        Args:
            position: Origin of B in A [m], shape (*batch, 3).
            target: Point to face [m], shape (*batch, 3).
            up: Any vector not along the line of sight, shape (*batch, 3).
        """
        p, t, u = _finite("position", position, 3), _finite("target", target, 3), _finite("up", up, 3)
        x = t - p
        if np.any(dot(x, x) == 0.0):
            raise SpecError(f"target is {t.tolist()}, the same as position; they must differ")
        x = unit(x)
        if np.any(dot(u, u) == 0.0):
            raise SpecError(f"up is {u.tolist()}; it must not be zero")
        y = cross(unit(u), x)
        if np.any(dot(y, y) < 1e-20):
            raise SpecError(f"up is {u.tolist()}, along the line of sight; it must cross it")
        y = unit(y)
        x, y, z = np.broadcast_arrays(x, y, cross(x, y))
        return cls(p, quaternion_from_rotation(np.stack([x, y, z], axis=-1)))

    @classmethod
    def stack(cls, poses: Sequence["Pose"]) -> Self:
        """Join poses of one batch shape along a new first axis."""
        if not poses:
            raise SpecError("stack was given no poses; it needs at least one")
        shapes = {pose.shape for pose in poses}
        if len(shapes) > 1:
            raise SpecError(f"stack was given poses of shapes {sorted(shapes)}; they must all be one shape")
        return cls._trusted(np.stack([x.position for x in poses]), np.stack([x.quaternion for x in poses]))

    @classmethod
    def exp(cls, rho: ArrayLike, phi: ArrayLike) -> Self:
        """Exponential map: the pose reached by a constant twist, in the moving frame, in unit time.

        Args:
            rho: Linear part [m], shape (*batch, 3).
            phi: Rotation vector [rad], shape (*batch, 3).

        Returns:
            (e^phi^, V rho), with V of `rotations.jacobian_times`.
        """
        rho_, phi_ = _finite("rho", rho, 3), _finite("phi", phi, 3)
        position = jacobian_times(phi_, rho_)
        quaternion = np.array(np.broadcast_to(quaternion_exp(phi_), (*position.shape[:-1], 4)))
        return cls._trusted(position, quaternion)

    # ---- components

    @property
    def position(self) -> Float:
        """Origin of B in A [m], shape (*batch, 3), read-only."""
        return self._position

    @property
    def quaternion(self) -> Float:
        """Rotation R_AB as a unit quaternion w x y z, shape (*batch, 4), read-only."""
        return self._quaternion

    @property
    def rotation(self) -> Float:
        """Rotation matrix R_AB, its columns the axes of B in A, shape (*batch, 3, 3), read-only."""
        if self._rotation is None:
            self._rotation = _frozen(rotation_from_quaternion(self._quaternion))
        return self._rotation

    @property
    def matrix(self) -> Float:
        """The matrix [R p], shape (*batch, 3, 4)."""
        return np.concatenate([self.rotation, self._position[..., None]], axis=-1)

    # ---- batch shape

    @property
    def shape(self) -> tuple[int, ...]:
        """Batch shape; () for a single pose."""
        return self._position.shape[:-1]

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a single Pose has no length")
        return self.shape[0]

    def __getitem__(self, index: Any) -> Self:
        # The closing slice keeps any index, also one with an ellipsis, off the components
        key = (*index, slice(None)) if isinstance(index, tuple) else (index, slice(None))
        return self._trusted(self._position[key], self._quaternion[key])

    def __iter__(self) -> Iterator[Self]:
        return (self[i] for i in range(len(self)))

    def reshape(self, shape: int | Sequence[int]) -> Self:
        """The same poses with another batch shape; one entry may be -1."""
        new = (shape,) if isinstance(shape, int) else tuple(shape)
        position = self._position.reshape(*new, 3)
        return self._trusted(position, self._quaternion.reshape(*position.shape[:-1], 4))

    def broadcast_to(self, shape: int | Sequence[int]) -> Self:
        """The poses repeated to a larger batch shape by NumPy's rules."""
        new = (shape,) if isinstance(shape, int) else tuple(shape)
        if new == self.shape:
            return self
        if _broadcast_shape(self.shape, new) != new:
            raise SpecError(f"a Pose of shape {self.shape} cannot be broadcast to {new}")
        position = np.array(np.broadcast_to(self._position, (*new, 3)))
        return self._trusted(position, np.array(np.broadcast_to(self._quaternion, (*new, 4))))

    # ---- algebra

    def __matmul__(self, other: "Pose") -> Self:
        """Compose: X_AC = X_AB @ X_BC."""
        if not isinstance(other, Pose):
            return NotImplemented
        position = self._position + rotate(self.rotation, other._position)
        quaternion = multiply(self._quaternion, other._quaternion)
        return self._trusted(position, quaternion)

    def inverse(self) -> Self:
        """X_BA from X_AB."""
        position = 0.0 - rotate(np.swapaxes(self.rotation, -1, -2), self._position)
        return self._trusted(position, self._quaternion * CONJUGATE)

    def apply(self, points: ArrayLike) -> Float:
        """Points of B expressed in A: p_A = R_AB p_B + p_AB.

        Args:
            points: p_B [m], shape (*leading, 3); NaN stays NaN. The pose's batch shape broadcasts against
                `leading` by NumPy's rules: for n points in each pose of a batch, use `pose[..., None]`.

        Returns:
            p_A [m], shape (*broadcast of batch and leading, 3).
        """
        return self._position + rotate(self.rotation, _triples("points", points))

    def rotate(self, vectors: ArrayLike) -> Float:
        """Free vectors of B expressed in A: v_A = R_AB v_B. Shapes broadcast as in `apply`."""
        return rotate(self.rotation, _triples("vectors", vectors))

    def log(self) -> tuple[Float, Float]:
        """Logarithm, the inverse of `exp`, by the shorter turn.

        Returns:
            rho: Linear part [m], shape (*batch, 3).
            phi: Rotation vector [rad], |phi| <= pi, shape (*batch, 3).
        """
        phi = quaternion_log(self._quaternion)
        return jacobian_inverse_times(phi, self._position), phi

    def interpolate(self, other: "Pose", s: ArrayLike, screw: bool = False) -> Self:
        """Poses between this one (s = 0) and the other (s = 1), turning the shorter way.

        Args:
            other: The pose at s = 1.
            s: Fraction [1], any shape that broadcasts with the batch shapes; outside [0, 1] it extrapolates.
            screw: Follow one screw motion X0 exp(s log(X0^-1 X1)). Otherwise positions move straight and
                quaternions turn at constant rate, each without regard to the other.
        """
        fraction = _real("s", s)[..., None]
        if screw:
            rho, phi = (self.inverse() @ other).log()
            return self @ Pose.exp(fraction * rho, fraction * phi)
        position = (1.0 - fraction) * self._position + fraction * other._position
        turn = quaternion_log(multiply(self._quaternion * CONJUGATE, other._quaternion))
        return self._trusted(position, multiply(self._quaternion, quaternion_exp(fraction * turn)))

    # ---- comparison, copying, printing

    def almost_equal(self, other: "Pose", atol: float = 1e-9) -> bool:
        """Whether all positions agree within `atol` [m] and all rotations within `atol` [rad]."""
        distance = np.abs(self._position - other._position)
        turn = np.abs(quaternion_log(multiply(self._quaternion * CONJUGATE, other._quaternion)))
        return bool(np.all(distance <= atol) and np.all(turn <= atol))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pose):
            return NotImplemented
        same_position = np.array_equal(self._position, other._position)
        return same_position and np.array_equal(self._quaternion, other._quaternion)

    def __hash__(self) -> int:
        # Adding zero makes -0 and 0, which compare equal, hash equal as well
        return hash((self.shape, (self._position + 0.0).tobytes(), (self._quaternion + 0.0).tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return Pose._trusted, (self._position, self._quaternion)

    def __repr__(self) -> str:
        if self.shape:
            return f"Pose(shape={self.shape})"
        position, quaternion = tuple(self._position.tolist()), tuple(self._quaternion.tolist())
        return f"Pose(position={position}, quaternion={quaternion})"


# ---- motion of points fixed to a moving body


def transport_twist(v_WB: Float, w_WB: Float, r_BS_W: Float) -> Float:
    """Velocity of a point S fixed to a body B.

    Args:
        v_WB: Velocity of B's origin [m/s], shape (*batch, 3).
        w_WB: Angular velocity of B [rad/s], shape (*batch, 3).
        r_BS_W: From B's origin to S, in world axes [m], shape (*batch, 3).

    Returns:
        v_WS = v_WB + w_WB x r [m/s], shape (*batch, 3).
    """
    return v_WB + cross(w_WB, r_BS_W)


def transport_acceleration(a_WB: Float, alpha_WB: Float, w_WB: Float, r_BS_W: Float) -> Float:
    """Acceleration of a point S fixed to a body B.

    Args:
        a_WB: Acceleration of B's origin [m/s^2], shape (*batch, 3).
        alpha_WB: Angular acceleration of B [rad/s^2], shape (*batch, 3).
        w_WB: Angular velocity of B [rad/s], shape (*batch, 3).
        r_BS_W: From B's origin to S, in world axes [m], shape (*batch, 3).

    Returns:
        a_WS = a_WB + alpha_WB x r + w_WB x (w_WB x r) [m/s^2], shape (*batch, 3).
    """
    return a_WB + cross(alpha_WB, r_BS_W) + cross(w_WB, cross(w_WB, r_BS_W))


# ---- checks of user input


def _real(name: str, value: ArrayLike) -> Float:
    try:
        a = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SpecError(f"{name} is {value!r}; it must be an array of numbers") from error
    if not np.all(np.isfinite(a)):
        raise SpecError(f"{name} holds {a[~np.isfinite(a)][0]}; every value must be finite")
    return a


def _triples(name: str, value: ArrayLike, size: int = 3) -> Float:
    a = np.asarray(value, dtype=np.float64)
    if a.ndim == 0 or a.shape[-1] != size:
        raise SpecError(f"{name} has shape {a.shape}; its last axis must have size {size}")
    return a


def _finite(name: str, value: ArrayLike, size: int) -> Float:
    return _triples(name, _real(name, value), size)


def _broadcast_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise SpecError(f"batch shapes {shapes} do not broadcast together") from None


def _frozen(a: Float) -> Float:
    a.setflags(write=False)
    return a
