"""Waiting for tasks of a cluster, without waiting for a cluster that is lost."""

import time
from collections.abc import Sequence
from typing import Any

from sensorium.runtime.cluster.head import check_head

# Interval at which the head is checked [s]
_LOOK_EVERY_S = 2.0


def first_done(ray: Any, asked: Sequence[Any], *, within_s: float | None = None) -> Any:
    """The first of some references that is done, or None after so long [s].

    Raises:
        BackendError: The head of the cluster is lost.
    """
    end_s = None if within_s is None else time.monotonic() + within_s
    while True:
        left_s = _LOOK_EVERY_S if end_s is None else min(_LOOK_EVERY_S, max(0.0, end_s - time.monotonic()))
        done, _ = ray.wait(list(asked), num_returns=1, timeout=left_s)
        if done:
            return done[0]
        if end_s is not None and time.monotonic() >= end_s:
            return None
        check_head(ray)


def answer(ray: Any, asked: Any) -> Any:
    """The result of a reference; raises the task's error, or an error of Ray."""
    first_done(ray, [asked])
    return ray.get(asked)


def reason(error: BaseException) -> str:
    """Ray's stated cause, in one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else f"{text[:150]} ... {text[-145:]}"
