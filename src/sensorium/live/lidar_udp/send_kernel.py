"""Sends datagrams at given times without Python: a kernel that sleeps and sends while other threads hold the GIL."""

import socket
import sys
import time
from typing import Any

import numpy as np
from numba import types

from sensorium.runtime import jit
from sensorium.runtime.worker_pool import atomics

IN_KERNEL = sys.platform != "win32"
"""Whether the system has the calls that the kernel makes; `send_by_python` does the same elsewhere."""

# The kernel looks this often whether it shall return [ns]
_SLICE_NS = 1_000_000
_FLAGS = np.int32(getattr(socket, "MSG_DONTWAIT", 0) | getattr(socket, "MSG_NOSIGNAL", 0))
_send = types.ExternalFunction("send", types.intp(types.int32, types.intp, types.intp, types.int32))
_sleep = types.ExternalFunction("nanosleep", types.int32(types.intp, types.intp))

SENT, REFUSED, FAILED = 1, 2, 3
"""Outcome of a datagram: sent; sent, after the socket reported that nobody received an earlier one; not sent."""


@jit.kernel
def send_by_kernel(address: Any, size: Any, descriptor: Any, due_ns: Any, sent_ns: Any, outcome: Any, wake: Any) -> Any:
    """Send datagrams in order, each when it is due, until all are sent or `wake` is set.

    A socket that is connected reports with the next call that an earlier datagram was refused, and then does not send;
    so it is called once more.

    Args:
        address: Address of each datagram's bytes, int64 (n,).
        size: Number of its bytes, int64 (n,).
        descriptor: File descriptor of its socket, connected, int64 (n,).
        due_ns: When it is due, by the monotonic clock [ns], rising, int64 (n,).
        sent_ns: Receives when it was sent [ns], int64 (n,).
        outcome: Receives SENT, REFUSED or FAILED, uint8 (n,).
        wake: Not zero to return, int64 (1,); read between datagrams and once a millisecond.

    Returns:
        Number of datagrams that were handled.
    """
    clock, pause = jit.zeros(2, np.int64), jit.zeros(2, np.int64)
    for k in range(len(due_ns)):
        now_ns = atomics.now_ns(clock)
        while now_ns < due_ns[k]:
            if atomics.load(wake.ctypes.data) != 0:
                return k
            pause[1] = min(due_ns[k] - now_ns, np.int64(_SLICE_NS))
            _sleep(pause.ctypes.data, 0)
            now_ns = atomics.now_ns(clock)
        sent_ns[k] = now_ns
        outcome[k] = SENT
        if _send(np.int32(descriptor[k]), address[k], size[k], _FLAGS) < 0:
            again = _send(np.int32(descriptor[k]), address[k], size[k], _FLAGS)
            outcome[k] = FAILED if again < 0 else REFUSED
    return len(due_ns)


def send_by_python(
    payloads: list[memoryview], sockets: list[socket.socket], due_ns: Any, sent_ns: Any, outcome: Any, wake: Any
) -> int:
    """The same in Python; between the datagrams it waits for the GIL like any thread."""
    for k, (payload, to) in enumerate(zip(payloads, sockets, strict=True)):
        while (left_ns := due_ns[k] - time.monotonic_ns()) > 0:
            if wake[0]:
                return k
            time.sleep(1e-9 * min(left_ns, _SLICE_NS))
        sent_ns[k] = time.monotonic_ns()
        outcome[k] = _sent_once(payload, to)
    return len(payloads)


def _sent_once(payload: memoryview, to: socket.socket) -> int:
    for outcome in (SENT, REFUSED):
        try:
            to.send(payload)
            return outcome
        except OSError:
            pass
    return FAILED
