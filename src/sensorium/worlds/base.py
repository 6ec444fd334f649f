"""The interface of a world: named bodies and joints, stepped on one clock.

A world may be a physics engine, a recording or a set of paths. It is independent of sensors; the environment reads its
state after each step, for all the worlds that run side by side.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from sensorium.core.clock import MAX_NS, seconds_to_ns
from sensorium.core.errors import SpecError, WorldError
from sensorium.core.frames import Pose
from sensorium.core.rotations import Float
from sensorium.runtime import jit


@dataclass(frozen=True)
class WorldState:
    """All bodies and joints of all worlds at one time; vectors are in world axes.

    Attributes:
        time_ns: Time on the clock that all worlds share [ns].
        X_WB: Pose of each body, shape (worlds, bodies).
        v_WB: Velocity of each body's origin [m/s], shape (worlds, bodies, 3).
        w_WB: Angular velocity of each body [rad/s], shape (worlds, bodies, 3).
        joint_position: [rad or m], shape (worlds, joints).
        joint_velocity: [rad/s or m/s], shape (worlds, joints).
        a_WB: Acceleration of each body's origin, the second derivative of its position [m/s^2], shape
            (worlds, bodies, 3); None if the world does not know it.
        alpha_WB: Angular acceleration of each body [rad/s^2], shape (worlds, bodies, 3), or None.
        gravity_W: Gravity that the world itself applies [m/s^2], shape (3,); or that on each body, shape (worlds,
            bodies, 3), as its mean over the step that ends here; or None.
    """

    time_ns: int
    X_WB: Pose
    v_WB: Float
    w_WB: Float
    joint_position: Float
    joint_velocity: Float
    a_WB: Float | None = None
    alpha_WB: Float | None = None
    gravity_W: Float | None = None

    @cached_property
    def numbers(self) -> Float:
        """All arrays but gravity in one, read-only, as `StateLayout` lays them out: one argument for a kernel.

        Accelerations that are not known are zero in it.
        """
        return self._packed()

    def _packed(self) -> Float:
        vectors = (self.X_WB.position, self.X_WB.quaternion, self.v_WB, self.w_WB)
        nothing = np.zeros(self.v_WB.size)
        unknown = [nothing if array is None else array.ravel() for array in (self.a_WB, self.alpha_WB)]
        joints = (self.joint_position.ravel(), self.joint_velocity.ravel())
        numbers = np.concatenate([*(array.ravel() for array in vectors), *unknown, *joints], dtype=np.float64)
        numbers.setflags(write=False)
        return numbers

    @cached_property
    def address(self) -> int:
        """Address of these numbers in memory."""
        return int(address_of(self.numbers))

    @cached_property
    def worlds(self) -> int:
        """Number of worlds."""
        return len(self.v_WB)

    @cached_property
    def finite(self) -> bool:
        """Whether all these numbers and gravity are finite."""
        gravity = self.gravity_W
        return bool(all_finite(self.numbers)) and (gravity is None or bool(np.isfinite(gravity).all()))

    @cached_property
    def has_accelerations(self) -> bool:
        """Whether the world knows both accelerations."""
        return self.a_WB is not None and self.alpha_WB is not None

    def __getstate__(self) -> dict[str, Any]:
        """State for copying, without the address of the numbers."""
        return {name: value for name, value in self.__dict__.items() if name != "address"}

    def in_place(self, bodies: int, joints: int) -> bool:
        """Whether every array has the shape for this number of bodies and joints."""
        vectors, angles = self.v_WB.shape, self.joint_position.shape
        if len(vectors) != 3 or vectors[1:] != (bodies, 3) or angles != (vectors[0], joints):
            return False
        if self.X_WB.position.shape != vectors or self.X_WB.quaternion.shape != (*vectors[:2], 4):
            return False
        if self.w_WB.shape != vectors or self.joint_velocity.shape != angles:
            return False
        known = [array.shape for array in (self.a_WB, self.alpha_WB) if array is not None]
        if any(shape != vectors for shape in known):
            return False
        return self.gravity_W is None or self.gravity_W.shape in ((3,), vectors)

    def at(self, time_ns: int) -> Self:
        """The same arrays at another time."""
        state = object.__new__(type(self))
        state.__dict__.update(self.__dict__)
        state.__dict__["time_ns"] = time_ns
        return state


class World(Protocol):
    """Bodies and joints that move on their own, `step_ns` at a time.

    A world may also have `slide_joints`, the names of its sliding joints [m]; without it all joints turn [rad]. It may
    also have `later_state`, which returns the same as `state` but computes it on first use: an environment without
    sensors calls that.
    """

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies, in the order of the state's second axis."""

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, in the order of the state's second axis."""

    @property
    def step_ns(self) -> int:
        """Duration of one step [ns]."""

    @property
    def time_ns(self) -> int:
        """The time of the state [ns], 0 after `start`; it never goes back."""

    def start(self, worlds: int) -> None:
        """Run this many worlds side by side, from time 0; the environment calls it before the first step."""

    def step(self) -> None:
        """Move all worlds on by step_ns."""

    def state(self) -> WorldState:
        """The state now."""

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Put the worlds where mask (worlds,) is true back to their initial state; time goes on."""


def check_state(state: WorldState, body_names: tuple[str, ...], joint_names: tuple[str, ...]) -> None:
    """Raise WorldError, naming the body and the quantity, unless all numbers are finite and in place."""
    if not isinstance(state, WorldState):
        raise WorldError(f"the world's state() gave a {type(state).__name__}; it must give a sn.worlds.WorldState")
    if state.in_place(len(body_names), len(joint_names)) and state.finite and state.time_ns <= MAX_NS:
        return
    _check_each(state, body_names, joint_names)


def _check_each(state: WorldState, body_names: tuple[str, ...], joint_names: tuple[str, ...]) -> None:
    """Check every array by itself and raise an error for the first bad one."""
    if state.time_ns > MAX_NS:
        raise WorldError(f"the world's time is {state.time_ns} ns; it must be within 2^63 ns, about 292 years")
    worlds = state.X_WB.shape[0] if state.X_WB.shape else 0
    bodies, joints = (worlds, len(body_names)), (worlds, len(joint_names))

    def quantities() -> Iterator[tuple[str, Float | None, tuple[int, ...], tuple[str, ...]]]:
        yield "position", state.X_WB.position, (*bodies, 3), body_names
        yield "quaternion", state.X_WB.quaternion, (*bodies, 4), body_names
        yield "velocity v_WB", state.v_WB, (*bodies, 3), body_names
        yield "angular velocity w_WB", state.w_WB, (*bodies, 3), body_names
        yield "joint position", state.joint_position, joints, joint_names
        yield "joint velocity", state.joint_velocity, joints, joint_names
        yield _gravity_row(state.gravity_W, bodies, body_names)

        # Last, since a world may compute them only now, from all the others
        yield "acceleration a_WB", state.a_WB, (*bodies, 3), body_names
        yield "angular acceleration alpha_WB", state.alpha_WB, (*bodies, 3), body_names

    for name, values, shape, owners in quantities():
        if values is None:
            continue
        if values.shape != shape:
            raise WorldError(f"the {name} has shape {values.shape}; this world's state must have {shape}")
        if not np.isfinite(values).all():
            at = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
            owner, world = (owners[at[1]], f" in world {at[0]}") if len(at) > 1 else (owners[at[0]], "")
            raise WorldError(f"the {name} of {owner!r}{world} is {values[at]} at {state.time_ns} ns; it must be finite")


def _gravity_row(
    gravity_W: Float | None, bodies: tuple[int, int], body_names: tuple[str, ...]
) -> tuple[str, Float | None, tuple[int, ...], tuple[str, ...]]:
    """The gravity arrays to check: one for all bodies, or one per body."""
    if gravity_W is not None and gravity_W.ndim > 1:
        return "gravity_W", gravity_W, (*bodies, 3), body_names
    return "gravity_W", gravity_W, (3,), ("the world",) * 3


# ---- checks that worlds share


def step_length_ns(step_s: float) -> int:
    """A world's step in whole nanoseconds, from seconds."""
    step_ns = seconds_to_ns(step_s)
    if step_ns < 1:
        raise SpecError(f"step_s is {step_s}; it must be at least one nanosecond")
    return step_ns


def checked_names(kind: str, names: Iterable[str]) -> tuple[str, ...]:
    """Names of bodies or joints, each a string that is not empty."""
    out = tuple(names)
    for name in out:
        if not isinstance(name, str) or not name:
            raise SpecError(f"a {kind} is named {name!r}; a name must be a string that is not empty")
    return out


def checked_slides(slide_joints: Iterable[str], joint_names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the joints that slide, each one of the world's."""
    if isinstance(slide_joints, str):
        raise SpecError(f"slide_joints is the string {slide_joints!r}; it must be a sequence of joint names")
    slides = tuple(slide_joints)
    for name in slides:
        if name not in joint_names:
            raise SpecError(
                f"slide_joints has {name!r}; it must be one of the joints, {', '.join(joint_names) or 'none'}"
            )
    return slides


def slides_of(world: World) -> tuple[str, ...]:
    """Names of a world's joints that slide [m]; all others turn [rad]."""
    return checked_slides(getattr(world, "slide_joints", ()), world.joint_names)


def unread_state_of(world: World) -> Callable[[], WorldState]:
    """The function for states that may never be read: `later_state`, unless a subclass or wrapper overrides `state`."""
    for owner in (world, *type(world).__mro__):
        own = getattr(owner, "__dict__", {})
        if "later_state" in own:
            found: Callable[[], WorldState] = world.later_state  # type: ignore[attr-defined]
            return found
        if "state" in own:
            break
    return world.state


S = TypeVar("S")


def started(made_by_start: S | None) -> S:
    """What a world has once it was started; raises WorldError while it is None."""
    if made_by_start is None:
        raise WorldError("this world was not started; call start(worlds) first")
    return made_by_start


def checked_worlds(worlds: int) -> int:
    """A number of worlds, at least one."""
    if worlds != int(worlds) or worlds < 1:
        raise SpecError(f"worlds is {worlds}; it must be a whole number, 1 or more")
    return int(worlds)


def checked_mask(mask: NDArray[np.bool_], worlds: int) -> NDArray[np.bool_]:
    """A reset mask: bool, one entry per world."""
    m = np.asarray(mask)
    if m.dtype != np.bool_ or m.shape != (worlds,):
        raise SpecError(f"mask is {m.dtype} of shape {m.shape}; it must be bool of shape ({worlds},)")
    return m


@jit.kernel
def all_finite(numbers: Float) -> bool:
    """Whether no number is infinite or not a number; shape (n,). No branches, so that the loop vectorizes."""
    bad = 0
    for number in numbers:
        bad |= number - number != 0.0  # neither gives zero
    return bad == 0


@jit.kernel
def address_of(numbers: Float) -> int:
    """Address of an array in memory, many times faster than `numbers.ctypes.data`."""
    return numbers.ctypes.data
