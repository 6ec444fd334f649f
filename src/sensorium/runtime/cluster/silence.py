"""Keeps Ray's messages in its own log files and off the terminal."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# For `ray.init`: output of other processes is not shown, and loggers are left as they are
QUIET = {"log_to_driver": False, "configure_logging": False}


@contextmanager
def silence(ray: Any) -> Iterator[None]:
    """Context manager: Ray prints nothing inside.

    `log_to_driver=False` still leaves messages of nodes about each other, such as a lost one, which a thread of Ray
    prints by a function of its own; and Ray's loggers, which print warnings if logging is not set up.
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
    """Replaces Ray's function."""
