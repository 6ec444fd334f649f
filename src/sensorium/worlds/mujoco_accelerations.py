"""Accelerations of a MuJoCo simulation, worked out when somebody asks for them.

They cost as much as a step: the engine solves the dynamics once more, at the end of the step. Most sensors need none.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.errors import WorldError
from sensorium.paths.closed import ALPHA, A
from sensorium.rotations import Float
from sensorium.worlds.mujoco_motion import read_state


class Engine(NamedTuple):
    """What all states of a world share."""

    model: Any
    """`mujoco.MjModel`."""
    option: Any
    """Its `opt`."""
    copy: Any
    """`mujoco.MjData` to work on."""
    places: NDArray[np.int64]
    """Where its arrays lie, for `read_state`."""
    joints_at: NDArray[np.int64]
    """Where the joints are among positions and velocities, (2, joints)."""
    what: int
    """All parts of a state that the next step depends on, of `mujoco.mjtState`."""
    body_names: tuple[str, ...]
    """Names of the bodies, for messages."""


class LaterAccelerations:
    """Fills the accelerations of one state: call it, once, when they are needed.

    It keeps all that the dynamics depend on but for the model, which is taken as it is when this is called; gravity
    alone is that of the state's own time.
    """

    __slots__ = ("_engine", "_flags", "_gravity_W", "_kept", "_numbers")

    def __init__(self, engine: "Engine", kept: Float, gravity_W: Float, numbers: Float) -> None:
        """Take what they are worked out from.

        Args:
            engine: The model, and what to work on.
            kept: State of each world, by `mj_getState`, (worlds, size).
            gravity_W: Gravity that acts [m/s^2], (3,).
            numbers: As `StateLayout` has them; nobody else may write to it.
        """
        self._engine, self._kept, self._gravity_W, self._numbers = engine, kept, gravity_W, numbers
        self._flags = engine.option.disableflags

    def __call__(self) -> None:
        """Fill them."""
        import mujoco

        engine, worlds = self._engine, len(self._kept)
        model, copy, option = engine.model, engine.copy, engine.option
        gravity_now, flags_now = option.gravity.copy(), option.disableflags
        option.gravity, option.disableflags = self._gravity_W, self._flags
        self._numbers.setflags(write=True)
        try:
            finite = True
            for world, kept in enumerate(self._kept):
                mujoco.mj_setState(model, copy, kept, engine.what)
                mujoco.mj_forwardSkip(model, copy, 0, 1)  # no stage skipped but the sensors
                mujoco.mj_rnePostConstraint(model, copy)
                at = read_state(world, worlds, engine.places, engine.joints_at, self._gravity_W, True, self._numbers)
                finite = finite and at != 0
        finally:
            self._numbers.setflags(write=False)
            option.gravity, option.disableflags = gravity_now, flags_now
        if not finite:
            self._explain()

    def _explain(self) -> None:
        """Raise, naming the first body whose acceleration is not finite."""
        names = self._engine.body_names
        every_body = len(self._kept) * len(names)
        bad = ~np.isfinite(self._numbers[A * every_body : (ALPHA + 3) * every_body])
        world, body = divmod(int(np.argmax(bad)) // 3 % every_body, len(names))
        raise WorldError(f"the acceleration of body {names[body]!r} in world {world} is not finite; it must be")
