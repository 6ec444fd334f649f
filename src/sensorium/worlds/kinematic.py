"""A world whose bodies and joints follow paths, without dynamics."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from sensorium.core.clock import NS_PER_S
from sensorium.core.errors import SpecError, WorldError
from sensorium.runtime import worker_pool
from sensorium.runtime.recycling import Pool
from sensorium.worlds.base import (
    WorldState,
    address_of,
    checked_mask,
    checked_names,
    checked_slides,
    checked_worlds,
    started,
    step_length_ns,
)
from sensorium.worlds.paths import JointPath, Path
from sensorium.worlds.paths.base import JOINT_PARAMETERS, OPEN, PARAMETERS, closed_form
from sensorium.worlds.paths.evaluate import evaluate
from sensorium.worlds.state_layout import StateLayout

# The calling thread evaluates fewer paths than this alone: each takes some 50 ns, sharing them with an awake thread
# some microseconds
_SERIAL_PATHS = 160

M = TypeVar("M", covariant=True)


class Kinematic:
    """Bodies on paths X_WB(t) and joints on paths q(t), exact at every step.

    Each world has its own path time t, the clock's time since the start or since its last reset. A path with
    batch shape (worlds,) gives each world its own motion.

    >>> car, wheel = sn.paths.Line(start=(0, 0, 0), velocity=(5, 0, 0)), sn.paths.JointLine(0.0, 16.0)
    >>> world = sn.worlds.Kinematic({"car": car}, {"wheel": wheel}, step_s=0.5)
    >>> env = sn.Environment(sn.Scene(), world)
    >>> env.step()
    >>> env.state.X_WB.position[0, 0].tolist(), env.state.joint_position[0].tolist()
    ([2.5, 0.0, 0.0], [8.0])
    """

    def __init__(
        self,
        bodies: Mapping[str, Path],
        joints: Mapping[str, JointPath] | None = None,
        step_s: float = 0.01,
        *,
        slide_joints: Iterable[str] = (),
    ) -> None:
        """Name the bodies and joints.

        Args:
            bodies: A path for each body.
            joints: A path for each joint.
            step_s: Duration of one step [s].
            slide_joints: Names of the joints that slide [m]; all others turn [rad].
        """
        for name, path in bodies.items():
            if not isinstance(path, Path):
                raise SpecError(f"body {name!r} follows {path!r}; it must follow a path of sn.paths")
        for name, joint in (joints or {}).items():
            if not isinstance(joint, JointPath):
                raise SpecError(f"joint {name!r} follows {joint!r}; it must follow a joint path of sn.paths")
        self.body_names = checked_names("body", bodies)
        self.joint_names = checked_names("joint", joints or {})
        self.slide_joints = checked_slides(slide_joints, self.joint_names)
        self.step_ns = step_length_ns(step_s)
        self.time_ns = 0
        self._bodies = dict(bodies)
        self._joints = dict(joints or {})
        self._path_start_ns: NDArray[np.int64] | None = None
        self._together = True
        self._state: WorldState | None = None

    def start(self, worlds: int) -> None:
        """Run this many worlds side by side, from time 0."""
        count = checked_worlds(worlds)
        self.time_ns = 0
        self._path_start_ns = np.zeros(count, dtype=np.int64)
        self._path_s = np.zeros(count)  # path time of each world [s]
        self._together = True
        self._state = None
        self._layout = StateLayout(count, len(self._bodies), len(self._joints))
        self._buffers = _no_buffers()
        self._broken = np.zeros(1, np.bool_)

        # A path with the wrong batch shape is an error here, not at the first step
        self._closed_bodies = _gathered("body", self._bodies, count, PARAMETERS)
        self._closed_joints = _gathered("joint", self._joints, count, JOINT_PARAMETERS)
        self._serial_below = -(-_SERIAL_PATHS // max(len(self._bodies) + len(self._joints), 1))
        self.state()

    def step(self) -> None:
        """Move all worlds on by step_ns."""
        started(self._path_start_ns)
        self.time_ns += self.step_ns
        self._state = None

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Restart the paths at their t = 0 in the worlds where mask (worlds,) is true; time goes on."""
        path_start_ns = started(self._path_start_ns)
        path_start_ns[checked_mask(mask, len(path_start_ns))] = self.time_ns
        self._together = False
        self._state = None

    def state(self) -> WorldState:
        """The state now; computed once per step."""
        if self._state is None:
            self._state = self._evaluate()
        return self._state

    def __getstate__(self) -> dict[str, Any]:
        """State for copying; a copy prepares its own kernels."""
        return {**self.__dict__, "_buffers": _no_buffers()}

    def _set_path_times(self) -> None:
        """Write the present path time of each world for the kernel."""
        # Until a reset all have the clock's time
        path_start_ns = started(self._path_start_ns)
        if self._together:
            self._path_s.fill(float(self.time_ns) / NS_PER_S)
        else:
            np.divide(self.time_ns - path_start_ns, NS_PER_S, out=self._path_s)

    def _evaluate(self) -> WorldState:
        """The state now."""
        self._set_path_times()
        numbers, address, fill = self._free_buffer()
        self._broken[0] = False
        worlds = len(self._path_s)
        if worlds < self._serial_below:
            worker_pool.run(fill, worlds, serial_below=self._serial_below)
        else:
            worker_pool.share(fill, worlds)
        if self._closed_bodies.others or self._closed_joints.others:
            numbers.setflags(write=True)
            self._ask_others(self._path_s.copy(), numbers)  # the caller keeps these
            return self._layout.state(self.time_ns, numbers)
        return self._layout.state(self.time_ns, numbers, finite=not self._broken[0], address=address)

    def _free_buffer(self) -> "_StateBuffer":
        """A state buffer that is not in use, or a new one."""
        buffer = self._buffers.free()
        if buffer is not None:
            return buffer
        numbers, bodies, joints = np.empty(self._layout.size), self._closed_bodies, self._closed_joints
        closed = (self._path_s, bodies.kinds, bodies.parameters, joints.kinds, joints.parameters, numbers, self._broken)
        if self._buffers.is_full:  # a user who keeps many states needs no prepared kernel
            return _StateBuffer(numbers, None, lambda first, step, count: evaluate(first, step, count, *closed))
        return self._buffers.add(
            _StateBuffer(numbers, address_of(numbers), worker_pool.Prepared(evaluate, *closed)), (numbers,)
        )

    def _ask_others(self, t_s: NDArray[np.float64], numbers: NDArray[np.float64]) -> None:
        """Fill in the bodies and joints whose paths have no closed form."""
        position, quaternion, v_WB, w_WB, a_WB, alpha_WB, joint_position, joint_velocity = self._layout.views(numbers)
        for i in self._closed_bodies.others:
            name = self.body_names[i]
            motion = _ask("body", name, self._bodies[name], t_s)
            _check_shape("body", name, motion.pose.shape, len(t_s))
            position[:, i], quaternion[:, i] = motion.pose.position, motion.pose.quaternion
            v_WB[:, i], w_WB[:, i] = motion.v_WB, motion.w_WB
            a_WB[:, i], alpha_WB[:, i] = motion.a_WB, motion.alpha_WB
        for i in self._closed_joints.others:
            name = self.joint_names[i]
            q, qd = _ask("joint", name, self._joints[name], t_s)
            _check_shape("joint", name, q.shape, len(t_s))
            joint_position[:, i], joint_velocity[:, i] = q, qd


class _StateBuffer(NamedTuple):
    """All numbers of a state, and the kernel that fills them in."""

    numbers: NDArray[np.float64]
    address: int | None
    fill: Callable[[int, int, int], None]


def _no_buffers() -> Pool[_StateBuffer]:
    """A pool of state buffers. The buffer and its kernel's arguments refer to the numbers."""
    return Pool(holders=2)


class _Closed(NamedTuple):
    """The paths of all bodies, or of all joints, as the kernel takes them."""

    kinds: NDArray[np.int64]
    """OPEN where a path has no closed form."""
    parameters: NDArray[np.float64]
    """Rows (worlds, paths, parameters), or (1, ...) if all worlds have the same."""
    others: tuple[int, ...]
    """Which paths have no closed form."""


def _gathered(what: str, named: Mapping[str, Path] | Mapping[str, JointPath], worlds: int, size: int) -> _Closed:
    """Collect kinds and rows of parameters, each `size` long, of the paths that have them."""
    forms = [closed_form(path) for path in named.values()]
    for name, form in zip(named, forms, strict=True):
        if form is not None and form[1].shape[:-1] not in ((), (1,)):
            _check_shape(what, name, form[1].shape[:-1], worlds)
    alike = all(form is None or form[1].ndim == 1 for form in forms)
    parameters = np.zeros((1 if alike else worlds, len(forms), size))
    for i, form in enumerate(forms):
        if form is not None:
            parameters[:, i] = form[1]
    kinds = np.array([OPEN if form is None else form[0] for form in forms], np.int64)
    return _Closed(kinds, parameters, tuple(i for i, form in enumerate(forms) if form is None))


class _Moving(Protocol[M]):
    """Common interface of body paths and joint paths."""

    def motion(self, t_s: NDArray[np.float64]) -> M: ...


def _ask(kind: str, name: str, path: _Moving[M], t_s: NDArray[np.float64]) -> M:
    """The path's motion; an error of the path names its body or joint."""
    try:
        return path.motion(t_s)
    except ValueError as error:
        raise WorldError(f"the path of {kind} {name!r} fails for {len(t_s)} worlds: {error}") from error


def _check_shape(kind: str, name: str, shape: tuple[int, ...], worlds: int) -> None:
    if shape != (worlds,):
        raise WorldError(f"the path of {kind} {name!r} has shape {shape}; it must be () or ({worlds},)")
