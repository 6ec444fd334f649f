"""A state's numbers in one array, and the state whose arrays are views of it."""

import math
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from sensorium.core.frames import Pose
from sensorium.core.rotations import Float
from sensorium.worlds.base import WorldState
from sensorium.worlds.paths.base import BLOCKS


class Later(Protocol):
    """Computes a state on first use."""

    def numbers(self) -> tuple[Float, int]:
        """The numbers, of which accelerations are zero, and their address; 0 if one is not finite."""

    def fill_accelerations(self, numbers: Float) -> None:
        """Fill the blocks of accelerations."""


class StateLayout:
    """Layout of a state's arrays in one array of numbers: one block per quantity, in sequence.

    Blocks p_WB, q_WB, v_WB, w_WB, a_WB, alpha_WB, each (worlds, bodies, 3 or 4), then joint positions and velocities,
    each (worlds, joints). A world that computes all its numbers at once fills one such array per step.
    """

    def __init__(self, worlds: int, bodies: int, joints: int) -> None:
        """Layout for this many worlds, bodies and joints."""
        sizes = [*((worlds, bodies, end - begin) for begin, end in BLOCKS), (worlds, joints), (worlds, joints)]
        ends = np.cumsum([0, *(math.prod(size) for size in sizes)]).tolist()
        self._blocks = [(slice(a, b), size) for a, b, size in zip(ends, ends[1:], sizes, strict=False)]
        self.shape = (worlds, bodies, joints)
        """Numbers of worlds, bodies and joints."""
        self.size = ends[-1]
        """Length of the array."""

    def view(self, numbers: Float, block: int) -> Float:
        """One of the eight blocks of an array of numbers, in its shape."""
        where, size = self._blocks[block]
        return numbers[where].reshape(size)

    def views(self, numbers: Float) -> list[Float]:
        """All blocks."""
        return [self.view(numbers, block) for block in range(len(self._blocks))]

    def state(
        self,
        time_ns: int,
        numbers: Float | None,
        gravity_W: Float | None = None,
        *,
        accelerations: bool = True,
        later: Later | None = None,
        finite: bool = False,
        address: int | None = None,
    ) -> WorldState:
        """A state of these numbers, (size,), which are read-only from then on because they are shared.

        Args:
            time_ns: Its time [ns].
            numbers: All blocks; None defers them to `later`.
            gravity_W: Gravity that the world applies [m/s^2], shape (3,) or (worlds, bodies, 3), if it does.
            accelerations: Whether they are known; if not, their blocks must be zero.
            later: Computes numbers that are None on first use, since most states are never read, and likewise
                accelerations if they are to be known.
            finite: Whether all numbers and gravity are known to be finite; if not, they are checked.
            address: Address of the numbers, if known.
        """
        # Filled directly: the constructor of a frozen dataclass is slow
        state = object.__new__(PackedState)
        fields = state.__dict__
        fields["time_ns"], fields["gravity_W"] = time_ns, gravity_W
        fields["_layout"], fields["worlds"] = self, self.shape[0]
        if numbers is not None:
            numbers.setflags(write=False)
            fields["numbers"] = numbers
        if later is not None:
            fields["_later"] = later
        if later is None or not accelerations:
            fields["has_accelerations"] = accelerations
        if finite:
            fields["finite"] = True
        if address is not None:
            fields["address"] = address
        if not accelerations:
            fields["a_WB"] = fields["alpha_WB"] = None
        return state


class PackedState(WorldState):
    """A state made of its numbers: each array is a view, created on first use.

    Most states need none: kernels move mounted sensors from the numbers.
    """

    _layout: StateLayout
    _later: Later

    @cached_property
    def numbers(self) -> Float:
        """All arrays but gravity in one; deferred numbers are computed now."""
        fields = self.__dict__
        if "_later" not in fields:  # a changed copy, by dataclasses.replace
            return self._packed()
        numbers, address = self._later.numbers()
        numbers.setflags(write=False)
        if address:
            fields["address"] = address
        else:
            fields["finite"] = False
        return numbers

    @cached_property
    def has_accelerations(self) -> bool:
        """Whether both accelerations are known; deferred ones are computed now."""
        if "_later" not in self.__dict__:  # a changed copy, by dataclasses.replace
            return self.a_WB is not None and self.alpha_WB is not None
        self._later.fill_accelerations(self.numbers)
        return True

    def __getstate__(self) -> dict[str, Any]:
        """State for copying: all its numbers, without their address."""
        _ = self.numbers, self.has_accelerations
        return {name: value for name, value in super().__getstate__().items() if name != "_later"}

    @cached_property
    def X_WB(self) -> Pose:
        """Pose of each body."""
        return Pose._trusted(self._layout.view(self.numbers, 0), self._layout.view(self.numbers, 1))

    @cached_property
    def v_WB(self) -> Float:
        """Velocity of each body."""
        return self._layout.view(self.numbers, 2)

    @cached_property
    def w_WB(self) -> Float:
        """Angular velocity of each body."""
        return self._layout.view(self.numbers, 3)

    @cached_property
    def a_WB(self) -> Float | None:
        """Acceleration of each body."""
        return self._layout.view(self.numbers, 4) if self.has_accelerations else None

    @cached_property
    def alpha_WB(self) -> Float | None:
        """Angular acceleration of each body."""
        return self._layout.view(self.numbers, 5) if self.has_accelerations else None

    @cached_property
    def joint_position(self) -> Float:
        """Position of each joint."""
        return self._layout.view(self.numbers, 6)

    @cached_property
    def joint_velocity(self) -> Float:
        """Velocity of each joint."""
        return self._layout.view(self.numbers, 7)

    def in_place(self, bodies: int, joints: int) -> bool:
        """As in `WorldState`, without checking the arrays where they are views."""
        layout = self.__dict__.get("_layout")  # a changed copy, by dataclasses.replace, has none
        if layout is None:
            return super().in_place(bodies, joints)
        gravity = self.gravity_W
        worlds, own_bodies, own_joints = layout.shape
        in_place = gravity is None or gravity.shape in ((3,), (worlds, own_bodies, 3))
        return in_place and own_bodies == bodies and own_joints == joints
