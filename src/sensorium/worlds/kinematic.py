"""A world whose bodies and joints follow paths, without dynamics."""

from collections.abc import Mapping
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from sensorium.clock import NS_PER_S
from sensorium.errors import SpecError, WorldError
from sensorium.frames import Pose
from sensorium.paths import JointPath, Path
from sensorium.worlds.base import WorldState, checked_mask, checked_names, checked_worlds, step_length_ns

M = TypeVar("M", covariant=True)


class Kinematic:
    """Bodies on paths X_WB(t) and joints on paths q(t), exact at every step.

    Each world has its own path time t, the clock's time since the start or since its last reset. A path with
    batch shape (worlds,) gives each world its own motion.
    """

    def __init__(
        self,
        bodies: Mapping[str, Path],
        joints: Mapping[str, JointPath] | None = None,
        step_s: float = 0.01,
    ) -> None:
        """Name the bodies and joints.

        Args:
            bodies: A path for each body.
            joints: A path for each joint.
            step_s: How far one step goes [s].
        """
        for name, path in bodies.items():
            if not isinstance(path, Path):
                raise SpecError(f"body {name!r} follows {path!r}; it must follow a path of sn.paths")
        for name, joint in (joints or {}).items():
            if not isinstance(joint, JointPath):
                raise SpecError(f"joint {name!r} follows {joint!r}; it must follow a joint path of sn.paths")
        self.body_names = checked_names("body", bodies)
        self.joint_names = checked_names("joint", joints or {})
        self.step_ns = step_length_ns(step_s)
        self.time_ns = 0
        self._bodies = tuple(bodies.values())
        self._joints = tuple((joints or {}).values())
        self._path_start_ns: NDArray[np.int64] | None = None
        self._state: WorldState | None = None

    def start(self, worlds: int) -> None:
        """Run this many worlds side by side, from time 0."""
        self.time_ns = 0
        self._path_start_ns = np.zeros(checked_worlds(worlds), dtype=np.int64)
        self._state = None
        self.state()  # a path with the wrong batch shape is an error here, not at the first step

    def step(self) -> None:
        """Move all worlds on by step_ns."""
        self._started()
        self.time_ns += self.step_ns
        self._state = None

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Restart the paths at their t = 0 in the worlds where mask (worlds,) is true; time goes on."""
        path_start_ns = self._started()
        path_start_ns[checked_mask(mask, len(path_start_ns))] = self.time_ns
        self._state = None

    def state(self) -> WorldState:
        """The state now; worked out once a step."""
        if self._state is None:
            self._state = self._evaluate((self.time_ns - self._started()) / NS_PER_S)
        return self._state

    def _evaluate(self, t_s: NDArray[np.float64]) -> WorldState:
        """The state at path times t_s [s], shape (worlds,)."""
        worlds, bodies, joints = len(t_s), len(self._bodies), len(self._joints)
        position, quaternion = np.zeros((worlds, bodies, 3)), np.zeros((worlds, bodies, 4))
        v_WB, w_WB, a_WB, alpha_WB = np.zeros((4, worlds, bodies, 3))
        for i, path in enumerate(self._bodies):
            motion = _ask("body", self.body_names[i], path, t_s)
            _check_shape("body", self.body_names[i], motion.pose.shape, worlds)
            position[:, i], quaternion[:, i] = motion.pose.position, motion.pose.quaternion
            v_WB[:, i], w_WB[:, i] = motion.v_WB, motion.w_WB
            a_WB[:, i], alpha_WB[:, i] = motion.a_WB, motion.alpha_WB

        joint_position, joint_velocity = np.zeros((2, worlds, joints))
        for i, joint in enumerate(self._joints):
            q, qd = _ask("joint", self.joint_names[i], joint, t_s)
            _check_shape("joint", self.joint_names[i], q.shape, worlds)
            joint_position[:, i], joint_velocity[:, i] = q, qd

        # The state is handed to many; nobody may write into it
        for array in (v_WB, w_WB, a_WB, alpha_WB, joint_position, joint_velocity):
            array.setflags(write=False)
        X_WB = Pose._trusted(position, quaternion)
        return WorldState(self.time_ns, X_WB, v_WB, w_WB, joint_position, joint_velocity, a_WB, alpha_WB)

    def _started(self) -> NDArray[np.int64]:
        """Clock time at which each world's paths began [ns], shape (worlds,)."""
        if self._path_start_ns is None:
            raise WorldError("this world was not started; call start(worlds) first")
        return self._path_start_ns


class _Moving(Protocol[M]):
    """What body paths and joint paths have in common."""

    def motion(self, t_s: NDArray[np.float64]) -> M: ...


def _ask(kind: str, name: str, path: _Moving[M], t_s: NDArray[np.float64]) -> M:
    """The path's motion; an error of the path says whose path it is."""
    try:
        return path.motion(t_s)
    except ValueError as error:
        raise WorldError(f"the path of {kind} {name!r} fails for {len(t_s)} worlds: {error}") from error


def _check_shape(kind: str, name: str, shape: tuple[int, ...], worlds: int) -> None:
    if shape != (worlds,):
        raise WorldError(f"the path of {kind} {name!r} has shape {shape}; it must be () or ({worlds},)")
