"""The motion of sensors mounted on a body, at any instant of the history.

Between two states the body's position is linear, its quaternion uses slerp, and its velocities and accelerations, in
world axes, are linear. A point S fixed to the body at r = R_WB p_BS moves as

    v_WS = v_WB + w x r,    w_WS = w,    a_WS = a_WB + alpha x r + w x (w x r).

At a state's own time nothing is interpolated. Elsewhere the errors are of second order in the time between states. If
each body has its own gravity, a mean over the step, acceleration less gravity is interpolated linearly.
"""

from dataclasses import dataclass

import numpy as np

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.core.rotations import Float
from sensorium.runtime import jit, worker_pool
from sensorium.worlds.base import WorldState
from sensorium.worlds.history import History
from sensorium.worlds.interpolation import slerp
from sensorium.worlds.paths.base import ALPHA, BLOCKS, ROW, A, P, Q, V, W

# with fewer worlds than this the calling thread does all of them: at a state's own time, and between two
_SERIAL_AT, _SERIAL_BETWEEN = 2048, 512

# A point's motion is laid out like a body's, with the velocity's rest in place of the angular acceleration, the last
REST = ALPHA

SCRATCH = 8
"""Vectors that `move_world` works with."""


# Plain tuples, since kernels are called for every sample: Numba takes longest to recognize named ones

StatesAround = tuple[Float, Float, float]
"""`WorldState.numbers` of the states before (or at) and after an instant, and the fraction of the way between them; 0
takes the state before as it is."""

Mounts = tuple[int, int, Float]
"""Sensors on one body: bodies per world; the body, below zero for the world itself, on which nothing moves; and p_BS
and q_BS side by side, shape (sensors, 7)."""


@dataclass(slots=True)
class PointState:
    """Motion of all sensors in all worlds at one time; vectors in world axes.

    Attributes:
        time_ns: The instant [ns].
        position: p_WS [m], shape (worlds, sensors, 3).
        quaternion: q_WS, w x y z, shape (worlds, sensors, 4).
        velocity: v_WS [m/s], shape (worlds, sensors, 3).
        angular_velocity: w_WS [rad/s], shape (worlds, sensors, 3).
        velocity_rest: Rounding remainder of the velocity [m/s], shape (worlds, sensors, 3). At 7 km/s float64 is good
            to 1e-12 m/s, which over a microsecond would be noise of 1e-6 m/s^2; the difference of two velocities with
            their remainders has none.
        acceleration: a_WS, the second derivative of the position [m/s^2], shape (worlds, sensors, 3); None if the world
            does not know its bodies' accelerations, or if they were not requested.
        gravity_W: Gravity that the world applies [m/s^2], shape (3,), between two states that of the earlier; or that
            on the body over the step of the instant, shape (worlds, 1, 3); or None.
    """

    time_ns: int
    position: Float
    quaternion: Float
    velocity: Float
    angular_velocity: Float
    velocity_rest: Float
    acceleration: Float | None
    gravity_W: Float | None


class PointMotion:
    """Sensors mounted on one body, followed through the history."""

    def __init__(self, history: History, body: int | None, X_BS: Pose) -> None:
        """Mount the sensors.

        Args:
            history: Of the world.
            body: Index of the body; None is the world itself, where nothing moves.
            X_BS: Pose of each sensor on the body, shape (sensors,).
        """
        if len(X_BS.shape) != 1:
            raise SpecError(f"X_BS has shape {X_BS.shape}; it must have one axis, of sensors")
        if body is not None and not 0 <= body < history.bodies:
            raise SpecError(f"body is {body}; it must be None or an index below {history.bodies}")
        self._history, self._body = history, body
        poses = np.concatenate([X_BS.position, X_BS.quaternion], axis=-1)
        self.mounts: Mounts = (history.bodies, -1 if body is None else body, poses)
        """The sensors, as passed to `move_points`."""
        count = history.worlds * len(X_BS)
        self._out = np.zeros(ROW * count)
        p, q, v, w, self._acceleration, rest = (
            self._out[begin * count : end * count].reshape(history.worlds, len(X_BS), end - begin)
            for begin, end in BLOCKS
        )
        if body is None:
            p[...], q[...] = X_BS.position, X_BS.quaternion
        self._state = PointState(0, p, q, v, w, rest, self._acceleration, None)

    @property
    def numbers(self) -> Float:
        """Buffer of the motion, as `move_points` fills it; the arrays of every `PointState` are views of it."""
        return self._out

    def at(self, time_ns: int, *, acceleration: bool = True) -> PointState:
        """The motion at an instant that the history covers.

        Args:
            time_ns: The instant [ns].
            acceleration: Whether to compute accelerations, which some worlds do on first use only; if not, that of the
                motion is None.

        Returns:
            The same object with the same arrays at every call: copy what must outlast the next one.
        """
        before, after, fraction = self._history.bracket(time_ns)
        state, states = self._state, (before.numbers, after.numbers, fraction)
        state.time_ns, state.gravity_W = time_ns, gravity_on(before, after, self._body)
        known = acceleration and (self._body is None or (before.has_accelerations and after.has_accelerations))
        state.acceleration = self._acceleration if known else None
        serial = _SERIAL_BETWEEN if fraction else _SERIAL_AT
        worker_pool.run(move_points, self._history.worlds, states, self.mounts, self._out, serial_below=serial)

        # If each body has its own gravity, acceleration less gravity was interpolated linearly
        own_W, step_W = before.gravity_W, state.gravity_W
        if fraction and state.acceleration is not None and step_W is not None and own_W is not None and own_W.ndim > 1:
            self._acceleration += (1.0 - fraction) * (step_W - own_W[:, self._body, None])
        return state


def gravity_on(before: WorldState, after: WorldState, body: int | None) -> Float | None:
    """The world's own gravity between two states [m/s^2], as `PointState` has it; None if the world applies none.

    Off all bodies it is None where each body has its own.
    """
    if after.gravity_W is None or after.gravity_W.ndim == 1:
        return before.gravity_W
    return None if body is None else after.gravity_W[:, body, None]


@jit.function
def _between(before: Float, after: Float, at: int, s: float, out: Float) -> None:
    """Three numbers that start at `at`, a fraction s of the way, into out."""
    for k in range(3):
        out[k] = before[at + k] + s * (after[at + k] - before[at + k]) if s > 0.0 else before[at + k]


@jit.function
def _rotate(q: Float, v: Float, out: Float) -> None:
    """R(q) v into out."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    a, b, c = v[0], v[1], v[2]
    out[0] = (1.0 - 2.0 * (y * y + z * z)) * a + 2.0 * (x * y - w * z) * b + 2.0 * (x * z + w * y) * c
    out[1] = 2.0 * (x * y + w * z) * a + (1.0 - 2.0 * (x * x + z * z)) * b + 2.0 * (y * z - w * x) * c
    out[2] = 2.0 * (x * z - w * y) * a + 2.0 * (y * z + w * x) * b + (1.0 - 2.0 * (x * x + y * y)) * c


@jit.function
def _add_cross(a: Float, b: Float, out: Float) -> None:
    """Add a x b to out."""
    out[0] += a[1] * b[2] - a[2] * b[1]
    out[1] += a[2] * b[0] - a[0] * b[2]
    out[2] += a[0] * b[1] - a[1] * b[0]


@jit.function
def move_world(world: int, worlds: int, states: StatesAround, mounts: Mounts, out: Float, scratch: Float) -> None:
    """Fill the motion of the sensors in one world, as `move_points` does for many; scratch is (SCRATCH, 4)."""
    before, after, s = states
    bodies, body, X_BS = mounts
    if body < 0:
        return
    every_body, sensors = worlds * bodies, X_BS.shape[0]
    points = worlds * sensors
    p_WB, v_WB, w_WB, a_WB, alpha_WB = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    q_WB, r, around = scratch[5], scratch[6], scratch[7]

    # The body
    index = world * bodies + body
    _between(before, after, P * every_body + 3 * index, s, p_WB)
    _between(before, after, V * every_body + 3 * index, s, v_WB)
    _between(before, after, W * every_body + 3 * index, s, w_WB)
    _between(before, after, A * every_body + 3 * index, s, a_WB)
    _between(before, after, ALPHA * every_body + 3 * index, s, alpha_WB)
    at = Q * every_body + 4 * index
    if s > 0.0:
        slerp(before[at : at + 4], after[at : at + 4], s, q_WB)
    else:
        for k in range(4):
            q_WB[k] = before[at + k]

    # What rides on it
    for sensor in range(sensors):
        point, mount = world * sensors + sensor, X_BS[sensor]
        _rotate(q_WB, mount, r)
        p_WS, q_WS = out[P * points + 3 * point :], out[Q * points + 4 * point :]
        v_WS, w_WS, a_WS, rest = (
            out[V * points + 3 * point :],
            out[W * points + 3 * point :],
            out[A * points + 3 * point :],
            out[REST * points + 3 * point :],
        )
        around[0] = around[1] = around[2] = 0.0
        _add_cross(w_WB, r, around)
        for k in range(3):
            p_WS[k] = p_WB[k] + r[k]
            v_WS[k] = v_WB[k] + around[k]
            at = V * every_body + 3 * index + k
            rest[k] = (before[at] - v_WS[k]) + (s * (after[at] - before[at]) + around[k])
            w_WS[k] = w_WB[k]
            a_WS[k] = a_WB[k]
        _add_cross(alpha_WB, r, a_WS)
        _add_cross(w_WB, around, a_WS)

        # q_WB q_BS
        w, x, y, z = q_WB[0], q_WB[1], q_WB[2], q_WB[3]
        d, a, b, c = mount[3], mount[4], mount[5], mount[6]
        q_WS[0] = w * d - x * a - y * b - z * c
        q_WS[1] = w * a + x * d + y * c - z * b
        q_WS[2] = w * b - x * c + y * d + z * a
        q_WS[3] = w * c + x * b - y * a + z * d


@jit.kernel
def move_points(first: int, step: int, count: int, states: StatesAround, mounts: Mounts, out: Float) -> None:
    """Fill the motion of the sensors in the worlds first, first + step, ...

    Args:
        first, step, count: Share of the worlds.
        states: Around the instant.
        mounts: The sensors.
        out: Filled with blocks p_WS, q_WS, v_WS, w_WS, a_WS and the rest of v_WS, each (worlds, sensors, 3 or 4), one
            behind the other.
    """
    scratch = np.empty((SCRATCH, 4))
    for world in range(first, count, step):
        move_world(world, count, states, mounts, out, scratch)
