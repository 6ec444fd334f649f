"""What Ray has to say stays in its own log files: the terminal is the command's."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# For `ray.init`: output of other processes is not shown, and loggers are left as they are
QUIET = {"log_to_driver": False, "configure_logging": False}


@contextmanager
def silence(ray: Any) -> Iterator[None]:
    """Nothing of Ray's is printed inside.

    What `log_to_driver=False` leaves is what nodes tell of each other, such as one that is lost, which a thread of Ray
    prints by a function of its own; and its loggers, which print warnings where nobody has set up logging.
    """
    worker, logger = ray._private.worker, logging.getLogger("ray")
    before, propagates, nobody = getattr(worker, "print_to_stdstream", None), logger.propagate, logging.NullHandler()
    worker.print_to_stdstream = _print_nothing
    logger.addHandler(nobody)
    logger.propagate = False
    try:
        yield
    finally:
        if before is not None:
            worker.print_to_stdstream = before
        logger.removeHandler(nobody)
        logger.propagate = propagates


def _print_nothing(*what: Any, **how: Any) -> None:
    """Take the place of Ray's function."""
