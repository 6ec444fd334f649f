"""Watches the head of a cluster: a call to a lost head blocks for a minute, and then Ray ends the process.

So the head's port is probed before each call of Ray, and while waiting for an answer.
"""

import socket
import time
from typing import Any

from sensorium.core.errors import BackendError

# Time limit of an answer, longest silence of the head, and interval of its checks [s]
_ANSWER_S, _SILENT_S, _KNOCK_EVERY_S = 2.0, 10.0, 0.5

_lost = False


def check_head(ray: Any) -> None:
    """Raise BackendError where the head of the cluster that this process has joined does not answer for a while."""
    global _lost
    address, began_s = ray.get_runtime_context().gcs_address, time.monotonic()
    while not _answers(address):
        if time.monotonic() - began_s > _SILENT_S:
            _lost = True
            raise BackendError(
                f"the head of the cluster, {address}, has not answered for {_SILENT_S:g} s: it is lost; what is "
                "complete stays, and the same command goes on with the rest once the cluster runs again"
            )
        time.sleep(_KNOCK_EVERY_S)


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
