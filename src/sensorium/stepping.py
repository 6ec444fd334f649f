"""The steps of an environment's run, for a loop."""

import sys
import warnings
from collections.abc import Generator, Iterator


class SteppedRun(Iterator[None]):
    """Steps of a run; each turn of a `for` loop takes one, and `finish()` takes all that are left.

    A run that is dropped before its first step did nothing, and warns of it (RuntimeWarning), as Python does of a
    coroutine that was never awaited.
    """

    def __init__(self, steps: Generator[None], call: str) -> None:
        """Take the steps.

        Args:
            steps: Takes one step at each turn; files that it opened are closed when it ends or is dropped.
            call: The call that began the run, for the warning.
        """
        self._steps, self._call = steps, call
        self._begun = False

    def __next__(self) -> None:
        """Take one step."""
        self._begun = True
        next(self._steps)

    def finish(self) -> None:
        """Take all steps that are left."""
        for _ in self:
            pass

    def close(self) -> None:
        """End the run now; its viewer is closed."""
        self._begun = True
        self._steps.close()

    def __del__(self) -> None:
        """Warn of a run that never began."""
        if not self._begun and not sys.is_finalizing():
            warnings.warn(
                f"{self._call} was never iterated, so it did nothing; loop over it, or call its finish()",
                RuntimeWarning,
                stacklevel=2,
            )
