"""Several worlds as one, such as a simulated robot and traffic on paths."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError, WorldError
from sensorium.core.rotations import Float
from sensorium.worlds.base import World, WorldState, checked_worlds, slides_of, started, step_length_ns
from sensorium.worlds.mujoco.scene import Mount
from sensorium.worlds.state_layout import StateLayout


class Joined:
    """Bodies and joints of several worlds on one clock.

        world = sn.worlds.Joined([sn.worlds.MuJoCo("van.xml"), sn.worlds.Kinematic({"cyclist": path})])

    The parts do not interact: a simulated body does not collide with one on a path. A step is as long as the longest
    step of a part, and the others take several.

    States have accelerations if those of all parts have; otherwise inertial sensors differentiate velocities. Bodies of
    a part without gravity get that of the first part with one gravity for all its bodies.

    >>> robot = sn.worlds.Static({"robot": sn.Pose()}, step_s=0.1)
    >>> traffic = sn.worlds.Kinematic({"lorry": sn.paths.Line(start=(50, 0, 0), velocity=(20, 0, 0))}, step_s=0.1)
    >>> sn.worlds.Joined([robot, traffic]).body_names
    ('robot', 'lorry')
    """

    def __init__(self, parts: Sequence[World], *, step_s: float | None = None) -> None:
        """Join worlds that nothing else steps.

        Args:
            parts: The worlds; names of bodies and of joints must differ between them.
            step_s: Duration of one step [s], a multiple of every part's step; by default the longest of them.
        """
        self.parts: tuple[World, ...] = tuple(parts)
        if not self.parts:
            raise SpecError("parts is empty; it must hold one world or more")
        self.body_names = _different("body", [part.body_names for part in self.parts])
        self.joint_names = _different("joint", [part.joint_names for part in self.parts])
        self.slide_joints = tuple(name for part in self.parts for name in slides_of(part))
        self.step_ns = max(part.step_ns for part in self.parts) if step_s is None else step_length_ns(step_s)
        for number, part in enumerate(self.parts):
            if self.step_ns % part.step_ns:
                raise SpecError(
                    f"parts[{number}] steps by {part.step_ns} ns and all together by {self.step_ns} ns; "
                    "that must be a multiple of it"
                )
        self.time_ns = 0
        self._layout: StateLayout | None = None

        # Position of each part's bodies and joints among all
        self._bodies = _ranges([len(part.body_names) for part in self.parts])
        self._joints = _ranges([len(part.joint_names) for part in self.parts])

    def start(self, worlds: int) -> None:
        """Run this many worlds side by side, from time 0."""
        count = checked_worlds(worlds)
        for part in self.parts:
            part.start(count)
        self.time_ns = 0
        self._layout = StateLayout(count, len(self.body_names), len(self.joint_names))

    def step(self) -> None:
        """Move all parts on by step_ns."""
        started(self._layout)
        for part in self.parts:
            for _ in range(self.step_ns // part.step_ns):
                part.step()
        self.time_ns += self.step_ns

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Put all parts back to their initial state in the worlds where mask (worlds,) is true; time goes on."""
        started(self._layout)
        for part in self.parts:
            part.reset(mask)

    def state(self) -> WorldState:
        """The state now."""
        layout = started(self._layout)
        states = [part.state() for part in self.parts]
        for number, state in enumerate(states):
            if state.time_ns != self.time_ns:
                raise WorldError(
                    f"parts[{number}] is at {state.time_ns} ns and the joined world at {self.time_ns} ns; "
                    "nobody else may step a part"
                )
        known = all(state.has_accelerations for state in states)
        numbers = np.zeros(layout.size)
        *of_bodies, joint_position, joint_velocity = layout.views(numbers)
        for state, bodies, joints in zip(states, self._bodies, self._joints, strict=True):
            arrays = [state.X_WB.position, state.X_WB.quaternion, state.v_WB, state.w_WB]
            if known:
                arrays += [array for array in (state.a_WB, state.alpha_WB) if array is not None]
            for block, array in zip(of_bodies, arrays, strict=False):
                block[:, bodies] = array
            joint_position[:, joints], joint_velocity[:, joints] = state.joint_position, state.joint_velocity
        return layout.state(self.time_ns, numbers, self._gravity(states), accelerations=known)

    def site(self, name: str) -> Mount:
        """Mount of a site of a MuJoCo part: `env.attach(sensor, **world.site("imu"))`."""
        parts: list[Any] = [part for part in self.parts if hasattr(part, "site")]
        if not parts:
            raise SpecError(f"site is {name!r}; none of the joined worlds has sites")
        for part in parts[:-1]:
            try:
                return part.site(name)
            except SpecError:
                continue
        return parts[-1].site(name)

    def _gravity(self, states: list[WorldState]) -> Float | None:
        """Gravity of all bodies if the parts agree, otherwise one per body."""
        told = [state.gravity_W for state in states if state.gravity_W is not None]
        everywhere = [gravity for gravity in told if gravity.ndim == 1]
        if not told:
            return None
        if len(everywhere) == len(told) and all(np.array_equal(a, b) for a, b in pairwise(told)):
            return told[0]
        each = np.zeros((*started(self._layout).shape[:2], 3))
        for number, (state, bodies) in enumerate(zip(states, self._bodies, strict=True)):
            gravity = state.gravity_W
            if gravity is None and not everywhere:
                raise WorldError(
                    f"parts[{number}] applies no gravity and another tells it for its own bodies only; "
                    "such worlds cannot be joined"
                )
            each[:, bodies] = everywhere[0] if gravity is None else gravity
        each.setflags(write=False)
        return each


def _different(kind: str, names: list[tuple[str, ...]]) -> tuple[str, ...]:
    """The names of all parts in sequence, each unique."""
    seen: dict[str, int] = {}
    for number, part in enumerate(names):
        for name in part:
            if name in seen:
                raise SpecError(
                    f"parts[{seen[name]}] and parts[{number}] both have a {kind} {name!r}; names must differ"
                )
            seen[name] = number
    return tuple(seen)


def _ranges(counts: list[int]) -> list[slice]:
    """Consecutive slices of these lengths."""
    ends = np.cumsum([0, *counts]).tolist()
    return [slice(begin, end) for begin, end in pairwise(ends)]
