"""A body that drives by the clock: speeds over time."""

from itertools import pairwise
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from sensorium.app.controllers.base import ControllerSpec, commanded_world
from sensorium.environment import Environment
from sensorium.worlds import Commanded


class SpeedProfile(ControllerSpec):
    """Commands a body's speed along its x axis, evenly between the rows of a table, and its last one after that."""

    kind: Literal["speed_profile"] = "speed_profile"
    body: str
    """Which body, one that takes commands."""
    speeds: Annotated[tuple[tuple[float, float], ...], Field(min_length=1)]
    """Rows of time [s] and speed [m/s]."""

    @model_validator(mode="after")
    def _rising(self) -> "SpeedProfile":
        times = [time for time, _ in self.speeds]
        if any(late <= early for early, late in pairwise(times)):
            raise ValueError(f"speeds has times {times}; they must rise")
        return self

    def start(self, env: Environment) -> "SpeedProfileControl":
        """Put it to work; the body has its speed from the first step on."""
        control = SpeedProfileControl(self, commanded_world(env, self.body))
        control.step(env)
        return control


class SpeedProfileControl:
    """A running speed profile, the same in all worlds."""

    def __init__(self, spec: SpeedProfile, world: Commanded) -> None:
        self._body, self._world = spec.body, world
        self._time_s, self._speed = np.array(spec.speeds).T

    def step(self, env: Environment) -> None:
        """Command the speed of now."""
        speed = float(np.interp(env.time_s, self._time_s, self._speed))
        self._world.command(self._body, velocity=(speed, 0.0, 0.0))
