"""A state's numbers in one array, and the views that make a state of them."""

import math

import numpy as np

from sensorium.frames import Pose
from sensorium.paths.closed import BLOCKS
from sensorium.rotations import Float
from sensorium.worlds.base import WorldState


class StateLayout:
    """Where a state's arrays lie in one array of numbers: one block a quantity, one behind the other.

    Blocks p_WB, q_WB, v_WB, w_WB, a_WB, alpha_WB, each (worlds, bodies, 3 or 4), then joint positions and velocities,
    each (worlds, joints). A world that works out all its numbers at once fills one such array a step.
    """

    def __init__(self, worlds: int, bodies: int, joints: int) -> None:
        """Lay out this many worlds of as many bodies and joints."""
        sizes = [*((worlds, bodies, end - begin) for begin, end in BLOCKS), (worlds, joints), (worlds, joints)]
        ends = np.cumsum([0, *(math.prod(size) for size in sizes)]).tolist()
        self._blocks = [(slice(a, b), size) for a, b, size in zip(ends, ends[1:], sizes, strict=False)]
        self.size = ends[-1]
        """How many numbers there are."""

    def views(self, numbers: Float) -> list[Float]:
        """The eight blocks of an array of numbers, each in its shape."""
        return [numbers[block].reshape(size) for block, size in self._blocks]

    def state(
        self, time_ns: int, numbers: Float, gravity_W: Float | None = None, *, accelerations: bool = True
    ) -> WorldState:
        """A state of these numbers, (size,), which nobody can change from then on: it is handed to many.

        Args:
            time_ns: Its time [ns].
            numbers: All blocks.
            gravity_W: Gravity that the world applies [m/s^2], shape (3,), if it does.
            accelerations: Whether they are known; if not, their blocks must be zero.
        """
        numbers.setflags(write=False)
        p, q, v_WB, w_WB, a_WB, alpha_WB, joint_position, joint_velocity = self.views(numbers)

        # Filled by hand: a frozen dataclass takes its time over each field
        state = object.__new__(WorldState)
        state.__dict__.update(
            time_ns=time_ns,
            X_WB=Pose._trusted(p, q),
            v_WB=v_WB,
            w_WB=w_WB,
            joint_position=joint_position,
            joint_velocity=joint_velocity,
            a_WB=a_WB if accelerations else None,
            alpha_WB=alpha_WB if accelerations else None,
            gravity_W=gravity_W,
            numbers=numbers,
        )
        return state
