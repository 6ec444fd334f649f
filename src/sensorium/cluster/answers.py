"""Waiting for what a cluster does, without waiting for a cluster that is gone.

A process whose head is lost is ended by Ray itself, a minute later and without a word of ours. So whoever waits here
looks now and then whether the head still answers.
"""

import socket
import time
from collections.abc import Sequence
from typing import Any

from sensorium.errors import BackendError

# How often is looked, how long an answer may take, and how long the head may be silent [s]
_LOOK_EVERY_S, _ANSWER_S, _SILENT_S = 2.0, 2.0, 10.0


def first_done(ray: Any, asked: Sequence[Any], *, within_s: float | None = None) -> Any:
    """The first of some references that is done, or None after so long [s].

    Raises:
        BackendError: The head of the cluster is lost.
    """
    began_s = heard_s = time.monotonic()
    while True:
        now_s = time.monotonic()
        left_s = _LOOK_EVERY_S if within_s is None else min(_LOOK_EVERY_S, max(0.0, began_s + within_s - now_s))
        done, _ = ray.wait(list(asked), num_returns=1, timeout=left_s)
        if done:
            return done[0]
        if within_s is not None and time.monotonic() - began_s >= within_s:
            return None
        address = ray.get_runtime_context().gcs_address
        if _answers(address):
            heard_s = time.monotonic()
        elif time.monotonic() - heard_s > _SILENT_S:
            raise BackendError(
                f"the head of the cluster, {address}, has not answered for {_SILENT_S:g} s: it is lost; what is "
                "complete stays, and the same command goes on with the rest once the cluster runs again"
            )


def answer(ray: Any, asked: Any) -> Any:
    """What a reference stands for; raises what the task raised, or an error of Ray."""
    first_done(ray, [asked])
    return ray.get(asked)


def reason(error: BaseException) -> str:
    """What Ray gives as the cause, in one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else f"{text[:150]} ... {text[-145:]}"


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=_ANSWER_S).close()
    except OSError:
        return False
    return True
