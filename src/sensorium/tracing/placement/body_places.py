"""Poses or motion of a caster's bodies, as `place` and `move` last set them."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.tracing.placement.motion import MAX_SEGMENTS


class BodyMotion(NamedTuple):
    """Poses of all bodies at knots evenly spaced over an interval, one knot for an instant."""

    positions: NDArray[np.float64]  # p_WB [m], (knots, worlds, bodies, 3)
    quaternions: NDArray[np.float64]  # (knots, worlds, bodies, 4)


class BodyPlaces:
    """Poses of bodies by name; at the world's origin until they are given.

    `motion` is a new object after each change.
    """

    def __init__(self, bodies: tuple[str, ...], worlds: int) -> None:
        self.bodies = bodies
        quaternions = np.zeros((1, worlds, len(bodies), 4))
        quaternions[..., 0] = 1.0
        self.motion = BodyMotion(np.zeros((1, worlds, len(bodies), 3)), quaternions)

    def move(self, knots: Mapping[str, Pose]) -> None:
        """Set poses of some bodies; the others keep their last.

        Args:
            knots: For each body its poses X_WB, batch shape (knots,) or (knots, worlds); see `RayCaster.move`.
        """
        for name in knots:
            if name not in self.bodies:
                raise SpecError(f"no object of the scene is on body {name!r}; the bodies are {', '.join(self.bodies)}")
        counts = {len(pose) for pose in knots.values()} - {1}
        if len(counts) > 1:
            raise SpecError(f"bodies have different numbers of knots {sorted(counts)}; they must be equal")
        count = counts.pop() if counts else 1
        if count > MAX_SEGMENTS + 1:
            raise SpecError(f"a body has {count} knots; at most {MAX_SEGMENTS + 1} fit into one interval")
        positions = np.repeat(self.motion.positions[-1:], count, axis=0)
        quaternions = np.repeat(self.motion.quaternions[-1:], count, axis=0)
        for name, pose in knots.items():
            body = self.bodies.index(name)
            column = pose if len(pose.shape) == 2 else pose.reshape((*pose.shape, 1))
            positions[:, :, body] = column.position
            quaternions[:, :, body] = column.quaternion
        self.motion = BodyMotion(positions, quaternions)

    def pose_at(self, body: str | None, world: int, time: float) -> Pose:
        """X_WB of a body in a world, at a fraction of the interval; that of the world itself for None."""
        if body is None:
            return Pose()
        column = self.bodies.index(body)
        knots = Pose(self.motion.positions[:, world, column], self.motion.quaternions[:, world, column])
        place = time * (len(knots) - 1)
        before = max(min(int(place), len(knots) - 2), 0)
        return knots[before].interpolate(knots[min(before + 1, len(knots) - 1)], place - before)

    def put(self, positions: NDArray[np.float64], quaternions: NDArray[np.float64]) -> None:
        """Set all bodies at once, as arrays of `BodyMotion`; nothing changes if they are equal to the present ones."""
        same = np.array_equal(positions, self.motion.positions) and np.array_equal(quaternions, self.motion.quaternions)
        if not same:
            self.motion = BodyMotion(np.array(positions, order="C"), np.array(quaternions, order="C"))
