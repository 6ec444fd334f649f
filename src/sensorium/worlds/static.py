"""A world in which nothing moves."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError, WorldError
from sensorium.core.frames import Pose
from sensorium.worlds.base import WorldState, checked_mask, checked_names, checked_worlds, started, step_length_ns
from sensorium.worlds.state_layout import StateLayout


class Static:
    """Bodies that stay at given poses, on a clock that runs.

    >>> world = sn.worlds.Static({"mast": sn.Pose((0, 0, 3))}, step_s=0.1)
    >>> env = sn.Environment(sn.Scene(), world)
    >>> env.step()
    >>> env.time_s, env.state.X_WB.position[0, 0].tolist()
    (0.1, [0.0, 0.0, 3.0])
    """

    def __init__(self, poses: Mapping[str, Pose] | None = None, step_s: float = 0.01) -> None:
        """Name the bodies.

        Args:
            poses: X_WB of each body: a single pose, or one for each world, shape (worlds,).
            step_s: Duration of one step [s].
        """
        self._poses = dict(poses or {})
        for name, pose in self._poses.items():
            if not isinstance(pose, Pose) or len(pose.shape) > 1:
                raise SpecError(f"body {name!r} has {pose!r}; it must be a Pose of shape () or (worlds,)")
        self.body_names = checked_names("body", self._poses)
        self.joint_names: tuple[str, ...] = ()
        self.step_ns = step_length_ns(step_s)
        self.time_ns = 0
        self._initial: WorldState | None = None

    def start(self, worlds: int) -> None:
        """Run this many worlds side by side, from time 0."""
        count = checked_worlds(worlds)
        layout = StateLayout(count, len(self._poses), 0)
        numbers = np.zeros(layout.size)
        position, quaternion = layout.views(numbers)[:2]
        for i, (name, pose) in enumerate(self._poses.items()):
            if pose.shape not in ((), (count,)):
                raise WorldError(f"the pose of {name!r} has shape {pose.shape}; it must be () or ({count},)")
            position[:, i], quaternion[:, i] = pose.position, pose.quaternion
        self._initial = layout.state(0, numbers)
        self.time_ns = 0

    def step(self) -> None:
        """Let step_ns pass."""
        started(self._initial)
        self.time_ns += self.step_ns

    def state(self) -> WorldState:
        """The state now: the same at all times."""
        return started(self._initial).at(self.time_ns)

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Check the mask (worlds,); nothing changes."""
        checked_mask(mask, started(self._initial).X_WB.shape[0])
