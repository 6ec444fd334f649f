"""The base of all recorders, reports and viewers of a run."""

import abc
from types import TracebackType
from typing import Self

from sensorium.environment import Environment
from sensorium.runtime.interrupts import TerminationExits


class Recorder(abc.ABC):
    """Called with an environment after each step; keeps or writes the readings; closed by `with`.

    Inside `with`, SIGTERM without a handler raises SystemExit(143), so that files are closed then too.
    """

    _termination: TerminationExits | None = None

    @abc.abstractmethod
    def record(self, env: Environment) -> None:
        """Take the environment's last step."""

    @abc.abstractmethod
    def close(self) -> None:
        """Ends the recording; nothing can be recorded after."""

    def __enter__(self) -> Self:
        self._termination = TerminationExits().__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self.close()
        finally:
            if self._termination is not None:
                self._termination.__exit__(kind, error, traceback)
