"""Watches the head of a cluster: a call to a lost head blocks for a minute, and then Ray ends the process.

So the head's port is probed before each call of Ray, and while waiting for an answer. A head may still die within a
call; `watched` probes it beside the calls, and ends the process before Ray does, with a line of ours.
"""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sensorium.core.errors import BackendError

# Time limit of an answer, longest silence of the head, and interval of its checks [s]
_ANSWER_S, _SILENT_S, _KNOCK_EVERY_S = 2.0, 10.0, 0.5

# Silence after which a process is ended that waits in a call of Ray, which ends it after 60 s itself [s]
_BLOCKED_S = 35.0

_lost = False


def check_head(ray: Any) -> None:
    """Raise BackendError where the head of the cluster that this process has joined does not answer for a while."""
    global _lost
    address, began_s = ray.get_runtime_context().gcs_address, time.monotonic()
    while not _answers(address):
        if time.monotonic() - began_s > _SILENT_S:
            _lost = True
            raise BackendError(_sentence(address, _SILENT_S))
        time.sleep(_KNOCK_EVERY_S)


@contextmanager
def watched(ray: Any) -> Iterator[None]:
    """Inside, a head that is lost while this process waits in a call of Ray ends the process: exit code 2, one line."""
    address, over = ray.get_runtime_context().gcs_address, threading.Event()
    thread = threading.Thread(target=_watch, args=(address, over), name="sensorium-head", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()


def _watch(address: str, over: threading.Event) -> None:
    heard_s = time.monotonic()
    while not over.wait(_SILENT_S / 4):
        if _lost:
            return
        if _answers(address):
            heard_s = time.monotonic()
        elif time.monotonic() - heard_s > _BLOCKED_S:
            os.write(2, f"sensorium: {_sentence(address, _BLOCKED_S)}\n".encode())
            os._exit(2)


def _sentence(address: str, silent_s: float) -> str:
    return (
        f"the head of the cluster, {address}, has not answered for {silent_s:g} s: it is lost; what is "
        "complete stays, and the same command goes on with the rest once the cluster runs again"
    )


def is_lost() -> bool:
    """Whether the head was found lost; then no further call to the cluster is made."""
    return _lost


def forget() -> None:
    """Another cluster has another head."""
    global _lost
    _lost = False


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=_ANSWER_S).close()
    except OSError:
        return False
    return True
