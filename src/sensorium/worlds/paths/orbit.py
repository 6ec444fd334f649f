"""Free fall around a planet, with torque-free rotation."""

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.core.rotations import (
    Float,
    cross,
    dot,
    multiply,
    normalize,
    quaternion_exp,
    rotate,
    rotation_from_quaternion,
)
from sensorium.physics.fields.gravity import EARTH_MU_M3_S2
from sensorium.worlds.paths.base import Motion, Path, parameter, times

# Newton's method gains digits quadratically: eccentricities up to 0.99 take less than this
_ITERATIONS = 60


class Orbit(Path):
    """A closed Kepler orbit about a point mass at the world's origin, and the torque-free rotation of a symmetric body.

    Position and velocity follow from those at t = 0 by Lagrange's f and g (Schaub and Junkins, Analytical Mechanics of
    Space Systems, section 9.6). A body whose moments of inertia about its x and y axes are equal precesses about its
    constant angular momentum h and spins about its own z axis, both at constant rates:

        R(t) = exp(h t / I) R(0) exp(z (1 - J / I) w_z t),      h = R(0) (I w_x, I w_y, J w_z)

    with I about x and y and J about z. Gravity gradient, drag and the planet's oblateness are neglected.
    """

    def __init__(
        self,
        position: ArrayLike,
        velocity: ArrayLike,
        *,
        mu: float = EARTH_MU_M3_S2,
        quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        rate: ArrayLike = (0.0, 0.0, 0.0),
        inertia_ratio: float = 1.0,
    ) -> None:
        """Keep the orbit.

        Args:
            position: At t = 0, other than the origin [m], shape (*batch, 3).
            velocity: At t = 0, below escape velocity [m/s], shape (*batch, 3).
            mu: Gravitational constant times the planet's mass [m^3/s^2]; by default the Earth's.
            quaternion: Of the body at t = 0, w x y z, shape (*batch, 4).
            rate: Angular velocity at t = 0, in body axes [rad/s], shape (*batch, 3).
            inertia_ratio: Moment of inertia about the body's z axis over that about its x and y axes, J / I, from 0 (a
                rod) to 2 (a disc); at 1 the body turns about an axis that stays.
        """
        self._r0, self._v0 = parameter("position", position, 3), parameter("velocity", velocity, 3)
        self._q0, self._rate = normalize(parameter("quaternion", quaternion, 4)), parameter("rate", rate, 3)
        if not mu > 0.0:
            raise SpecError(f"mu is {mu}; it must be positive")
        if not 0.0 <= inertia_ratio <= 2.0:
            raise SpecError(f"inertia_ratio is {inertia_ratio}; it must be between 0, a rod, and 2, a disc")
        self._mu, self._ratio = float(mu), float(inertia_ratio)
        self._radius = np.sqrt(dot(self._r0, self._r0))
        if not np.all(self._radius > 0.0):
            raise SpecError("position is (0, 0, 0), where the planet is; it must be another")
        over_axis = 2.0 / self._radius - dot(self._v0, self._v0) / self._mu
        if not np.all(over_axis > 0.0):
            fastest = np.sqrt(2.0 * self._mu / self._radius)
            raise SpecError(
                f"velocity leaves for good; a closed orbit must be slower than {np.min(fastest):g} m/s there"
            )
        self._axis = 1.0 / over_axis
        self._mean_motion = np.sqrt(self._mu / self._axis**3)

        # Part that rotates about the angular momentum, in the world, and part that rotates about the axis of symmetry
        R0 = rotation_from_quaternion(self._q0)
        self._precession_W = rotate(R0, self._rate * np.array([1.0, 1.0, self._ratio]))
        self._spin_B = self._rate * np.array([0.0, 0.0, 1.0 - self._ratio])

    @property
    def period_s(self) -> Float:
        """Time of one revolution [s], shape (*batch,)."""
        return 2.0 * np.pi / self._mean_motion

    def pose(self, t_s: ArrayLike) -> Pose:
        """X_WB at the times t_s [s]."""
        return self.motion(t_s).pose

    def motion(self, t_s: ArrayLike) -> Motion:
        """X_WB with its derivatives at the times t_s [s]."""
        t = times(t_s)
        p, v = self._fall(t)
        q = multiply(quaternion_exp(self._precession_W * t[..., None]), self._q0)
        q = normalize(multiply(q, quaternion_exp(self._spin_B * t[..., None])))
        spin_W = rotate(rotation_from_quaternion(q), self._spin_B)
        w = self._precession_W + spin_W
        a = -self._mu * p / dot(p, p)[..., None] ** 1.5
        shape = np.broadcast_shapes(p.shape, w.shape)
        pose = Pose(np.broadcast_to(p, shape), np.broadcast_to(q, (*shape[:-1], 4)))
        alpha = cross(np.broadcast_to(self._precession_W, shape), np.broadcast_to(spin_W, shape))
        return Motion(pose, *(np.array(np.broadcast_to(each, shape)) for each in (v, w, a, alpha)))

    def _fall(self, t: Float) -> tuple[Float, Float]:
        """Position and velocity at the times [s]."""
        r, a, n = self._radius, self._axis, self._mean_motion
        t = np.mod(t, 2.0 * np.pi / n)
        swing = dot(self._r0, self._v0) / np.sqrt(self._mu * a)

        # Kepler's equation for the change of the eccentric anomaly since t = 0
        E = n * t
        for _ in range(_ITERATIONS):
            off = E - (1.0 - r / a) * np.sin(E) + swing * (1.0 - np.cos(E)) - n * t
            slope = 1.0 - (1.0 - r / a) * np.cos(E) + swing * np.sin(E)
            change = np.clip(off / slope, -1.0, 1.0)
            E = E - change
            if np.all(np.abs(change) < 1e-15 * (1.0 + np.abs(E))):
                break

        now = a * (1.0 - (1.0 - r / a) * np.cos(E) + swing * np.sin(E))
        f, g = 1.0 - a / r * (1.0 - np.cos(E)), t + (np.sin(E) - E) / n
        f_dot, g_dot = -np.sqrt(self._mu * a) / (now * r) * np.sin(E), 1.0 - a / now * (1.0 - np.cos(E))
        r0, v0 = self._r0, self._v0
        return f[..., None] * r0 + g[..., None] * v0, f_dot[..., None] * r0 + g_dot[..., None] * v0
