"""The base of controllers: a specification, and a running controller that is called after each step."""

import abc
from typing import Any, Protocol

from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec
from sensorium.environment import Environment
from sensorium.worlds import Commanded


class Controller(Protocol):
    """A running controller."""

    def step(self, env: Environment) -> None:
        """Read the sensors after the last step, and command the world for the next."""


class ControllerSpec(Spec, abc.ABC):
    """Specification of a controller. A package adds its own kind as a subclass with a `kind` of its own."""

    @abc.abstractmethod
    def start(self, env: Environment) -> Controller:
        """Put it to work in an environment, whose sensors are attached."""


def commanded_world(env: Environment, body: str) -> Commanded:
    """The world that takes commands for a body, which may be one of several joined."""
    worlds: tuple[Any, ...] = getattr(env.world, "parts", (env.world,))
    for world in worlds:
        if isinstance(world, Commanded) and body in world.body_names:
            return world
    known = [name for world in worlds if isinstance(world, Commanded) for name in world.body_names]
    raise SpecError(f"body is {body!r}; bodies that take commands are {', '.join(known) or 'none'}")
