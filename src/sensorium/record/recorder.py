"""What all recorders, reports and viewers of a run have in common."""

import abc
from types import TracebackType
from typing import Self

from sensorium.environment import Environment


class Recorder(abc.ABC):
    """Is shown an environment after each step, and keeps or writes what its sensors reported; closed by `with`."""

    @abc.abstractmethod
    def record(self, env: Environment) -> None:
        """Take the environment's last step."""

    @abc.abstractmethod
    def close(self) -> None:
        """The run is over; nothing can be recorded after."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
