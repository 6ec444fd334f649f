"""States of a MuJoCo simulation, computed on first use.

After a step the engine's own poses and velocities belong to its beginning. Computing those of its end takes as long as
a step of a small model; accelerations need another solution of the dynamics, as long as a step of any model. Without
sensors neither is needed.
"""

import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import WorldError
from sensorium.core.rotations import Float
from sensorium.runtime import jit
from sensorium.worlds.mujoco.motion import read_state
from sensorium.worlds.paths.base import ALPHA, A

# Poses and velocities below this are finite; the engine restarts a world if a value exceeds 1e10
_MODERATE = 1e30


class Engine(NamedTuple):
    """Data that all states of a world share."""

    mujoco: Any
    """The engine's package."""
    model: Any
    """`mujoco.MjModel`."""
    option: Any
    """Its `opt`."""
    copy: Any
    """`mujoco.MjData` for the computation."""
    lock: threading.Lock
    """Lock of that data."""
    places: NDArray[np.int64]
    """Addresses of its arrays, for `read_state`."""
    joints_at: NDArray[np.int64]
    """Indices of the joints in positions and velocities, (2, joints)."""
    what: int
    """Kept parts of a state, of `mujoco.mjtState`: for accelerations everything that the next step depends on."""
    size: int
    """Of a state's numbers."""
    body_names: tuple[str, ...]
    """Names of the bodies, for messages."""


class LaterState:
    """Computes the numbers of one state, and then their accelerations, each on first use.

    It keeps all inputs except the model, which is used as it is at the time of the computation; gravity is that of the
    state's own time.
    """

    __slots__ = ("_engine", "_flags", "_gravity_W", "kept")

    def __init__(self, engine: Engine, kept: Float, gravity_W: Float, flags: int) -> None:
        """Keep the inputs.

        Args:
            engine: The model and its working data.
            kept: State of each world, by `mj_getState`, (worlds, size).
            gravity_W: Gravity that acts [m/s^2], (3,).
            flags: `disableflags` of the model's options.
        """
        self._engine, self.kept, self._gravity_W, self._flags = engine, kept, gravity_W, flags

    def numbers(self) -> tuple[Float, int]:
        """Poses and motions as `StateLayout` has them, without accelerations; their address, 0 if one is not finite."""
        engine, worlds, numbers, address = self._engine, len(self.kept), np.empty(self._engine.size), -1
        mujoco, model, copy = engine.mujoco, engine.model, engine.copy
        with engine.lock:
            for world, kept in enumerate(self.kept):
                mujoco.mj_setState(model, copy, kept, engine.what)
                mujoco.mj_kinematics(model, copy)
                mujoco.mj_comPos(model, copy)
                mujoco.mj_comVel(model, copy)
                at = read_state(world, worlds, engine.places, engine.joints_at, self._gravity_W, False, numbers)
                address = at if address else 0
        return numbers, address

    def fill_accelerations(self, numbers: Float) -> None:
        """Fill the accelerations of these numbers."""
        engine, worlds = self._engine, len(self.kept)
        mujoco, model, copy, option = engine.mujoco, engine.model, engine.copy, engine.option
        with engine.lock:
            gravity_now, flags_now = option.gravity.copy(), option.disableflags
            option.gravity, option.disableflags = self._gravity_W, self._flags
            numbers.setflags(write=True)
            try:
                finite = True
                for world, kept in enumerate(self.kept):
                    mujoco.mj_setState(model, copy, kept, engine.what)
                    mujoco.mj_forwardSkip(model, copy, 0, 1)  # no stage skipped but the sensors
                    mujoco.mj_rnePostConstraint(model, copy)
                    at = read_state(world, worlds, engine.places, engine.joints_at, self._gravity_W, True, numbers)
                    finite = finite and at != 0
            finally:
                numbers.setflags(write=False)
                option.gravity, option.disableflags = gravity_now, flags_now
        if not finite:
            self._explain(numbers)

    def _explain(self, numbers: Float) -> None:
        """Raise, naming the first body whose acceleration is not finite."""
        names = self._engine.body_names
        every_body = len(self.kept) * len(names)
        bad = ~np.isfinite(numbers[A * every_body : (ALPHA + 3) * every_body])
        world, body = divmod(int(np.argmax(bad)) // 3 % every_body, len(names))
        raise WorldError(f"the acceleration of body {names[body]!r} in world {world} is not finite; it must be")


@jit.kernel
def is_moderate(kept: Float) -> bool:
    """Whether all numbers of a kept state (worlds, size) are so small that poses are finite; without branches."""
    bad = 0
    for world in range(kept.shape[0]):
        for k in range(kept.shape[1]):
            bad |= not abs(kept[world, k]) < _MODERATE
    return bad == 0
