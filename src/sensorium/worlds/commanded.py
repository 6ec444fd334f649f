"""A world whose bodies follow commanded velocities, for closed loops over sensors."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SpecError, WorldError
from sensorium.core.frames import Pose
from sensorium.core.rotations import Float, rotate
from sensorium.worlds.base import WorldState, checked_mask, checked_names, checked_worlds, started, step_length_ns
from sensorium.worlds.state_layout import StateLayout


class Commanded:
    """Bodies that move with the velocities last commanded, each in the body's own axes, without dynamics.

    In a loop of your own::

        world = sn.worlds.Commanded({"car": sn.Pose()}, velocities={"car": (20.0, 0.0, 0.0)})
        for _ in env.run(10.0):
            world.command("car", velocity=(speed, 0.0, 0.0))

    A command holds from the next step until the next command. Over a step a body follows the screw motion of its
    velocities exactly: a car that drives and turns follows an arc. The state has no accelerations; inertial sensors
    differentiate velocities.

    >>> world = sn.worlds.Commanded({"car": sn.Pose()}, step_s=0.5)
    >>> env = sn.Environment(sn.Scene(), world)
    >>> world.command("car", velocity=(2.0, 0.0, 0.0))
    >>> env.step()
    >>> env.state.X_WB.position[0, 0].tolist()
    [1.0, 0.0, 0.0]
    """

    def __init__(
        self,
        poses: Mapping[str, Pose],
        *,
        velocities: Mapping[str, ArrayLike] | None = None,
        step_s: float = 0.01,
    ) -> None:
        """Name the bodies.

        Args:
            poses: X_WB of each at the start: a single pose, or one for each world, shape (worlds,).
            velocities: In its own axes at the start [m/s], of those that do not stand still, shape (3,) or (worlds, 3).
            step_s: Duration of one step [s].
        """
        self._poses = dict(poses)
        for name, pose in self._poses.items():
            if not isinstance(pose, Pose) or len(pose.shape) > 1:
                raise SpecError(f"body {name!r} has {pose!r}; it must be a Pose of shape () or (worlds,)")
        self._velocities = dict(velocities or {})
        for name in self._velocities:
            if name not in self._poses:
                raise SpecError(f"velocities names {name!r}; the bodies are {', '.join(self._poses) or 'none'}")
        self.body_names = checked_names("body", self._poses)
        self.joint_names: tuple[str, ...] = ()
        self.step_ns = step_length_ns(step_s)
        self.time_ns = 0
        self._X_WB: Pose | None = None

    def start(self, worlds: int) -> None:
        """Run this many worlds side by side, from time 0."""
        count = checked_worlds(worlds)
        self.time_ns = 0
        self._layout = StateLayout(count, len(self._poses), 0)
        self._v_B, self._w_B = np.zeros((count, len(self._poses), 3)), np.zeros((count, len(self._poses), 3))
        poses = []
        for i, (name, pose) in enumerate(self._poses.items()):
            if pose.shape not in ((), (count,)):
                raise WorldError(f"the pose of {name!r} has shape {pose.shape}; it must be () or ({count},)")
            poses.append(pose.broadcast_to((count,)))
            if name in self._velocities:
                self._v_B[:, i] = _vectors("velocity", name, self._velocities[name], count)
        position = np.array([pose.position for pose in poses]).reshape(-1, count, 3).swapaxes(0, 1)
        quaternion = np.array([pose.quaternion for pose in poses]).reshape(-1, count, 4).swapaxes(0, 1)
        self._initial = Pose(position, quaternion), self._v_B.copy()
        self._X_WB = self._initial[0]

    def command(
        self, body: str, *, velocity: ArrayLike | None = None, angular_velocity: ArrayLike | None = None
    ) -> None:
        """Command the motion of a body from the next step on; omitted velocities keep their values.

        Args:
            body: Its name.
            velocity: In its own axes [m/s], shape (3,) or (worlds, 3).
            angular_velocity: Likewise [rad/s].
        """
        count = started(self._X_WB).shape[0]
        if body not in self.body_names:
            raise SpecError(f"body is {body!r}; the bodies are {', '.join(self.body_names) or 'none'}")
        i = self.body_names.index(body)
        if velocity is not None:
            self._v_B[:, i] = _vectors("velocity", body, velocity, count)
        if angular_velocity is not None:
            self._w_B[:, i] = _vectors("angular_velocity", body, angular_velocity, count)

    def step(self) -> None:
        """Move all bodies on by step_ns."""
        X_WB, dt = started(self._X_WB), self.step_ns * 1e-9
        self._X_WB = X_WB @ Pose.exp(self._v_B * dt, self._w_B * dt)
        self.time_ns += self.step_ns

    def state(self) -> WorldState:
        """The state now, with the velocities that are commanded."""
        X_WB = started(self._X_WB)
        numbers = np.zeros(self._layout.size)
        position, quaternion, v_WB, w_WB = self._layout.views(numbers)[:4]
        position[...], quaternion[...] = X_WB.position, X_WB.quaternion
        v_WB[...], w_WB[...] = rotate(X_WB.rotation, self._v_B), rotate(X_WB.rotation, self._w_B)
        return self._layout.state(self.time_ns, numbers, accelerations=False)

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Put the worlds where mask (worlds,) is true back to their first poses and velocities; time goes on."""
        X_WB = started(self._X_WB)
        m = checked_mask(mask, X_WB.shape[0])[:, None, None]
        first, v_B = self._initial
        self._X_WB = Pose(np.where(m, first.position, X_WB.position), np.where(m, first.quaternion, X_WB.quaternion))
        self._v_B = np.where(m, v_B, self._v_B)
        self._w_B = np.where(m, 0.0, self._w_B)


def _vectors(what: str, body: str, value: ArrayLike, worlds: int) -> Float:
    """A vector for all worlds, or one for each, finite."""
    array = np.asarray(value, np.float64)
    if array.shape not in ((3,), (worlds, 3)) or not np.isfinite(array).all():
        raise SpecError(f"the {what} of {body!r} is {array.tolist()}; it must be finite, (3,) or ({worlds}, 3)")
    return array
