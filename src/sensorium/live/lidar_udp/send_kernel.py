"""Sends datagrams at given times without Python: a kernel that runs as long as its sender is open.

A thread that waits for the GIL is late by as long as the operating system lets another thread, which holds it, wait.
The kernel therefore never returns to Python in between: datagrams are handed to it through arrays.
"""

import heapq
import socket
import sys
import time
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.runtime.worker_pool import atomics

IN_KERNEL = sys.platform != "win32"
"""Whether the system has the calls that the kernel makes; `send_by_python` does the same elsewhere."""

# While nothing is due, it is looked this often for new datagrams [ns]
_SLICE_NS = 1_000_000
_FLAGS = np.int32(getattr(socket, "MSG_DONTWAIT", 0) | getattr(socket, "MSG_NOSIGNAL", 0))
_send = types.ExternalFunction("send", types.intp(types.int32, types.intp, types.intp, types.int32))
_sleep = types.ExternalFunction("nanosleep", types.int32(types.intp, types.intp))

PENDING, SENT, REFUSED, FAILED = 0, 1, 2, 3
"""State of a datagram: waits; sent; sent, after the socket reported an earlier one as not received; not sent."""

ADDED, STOP = 0, 1
"""Places in `control`: number of datagrams handed over so far, and whether to end."""


class Slots(NamedTuple):
    """Datagrams that are handed over; number n has place n modulo the length of the arrays.

    Attributes:
        address: Address of the bytes, int64.
        size: Number of bytes, int64.
        descriptor: File descriptor of the socket, which is connected, int64.
        due_ns: When to send, by the monotonic clock [ns], int64.
        sent_ns: When it was sent [ns], int64.
        outcome: PENDING, SENT, REFUSED or FAILED, int64.
    """

    address: NDArray[np.int64]
    size: NDArray[np.int64]
    descriptor: NDArray[np.int64]
    due_ns: NDArray[np.int64]
    sent_ns: NDArray[np.int64]
    outcome: NDArray[np.int64]


@jit.function
def _earlier(slots: Any, a: int, b: int) -> Any:
    """Whether a datagram comes before another one: by time, then by number."""
    length = len(slots.due_ns)
    first, second = slots.due_ns[a % length], slots.due_ns[b % length]
    return first < second or (first == second and a < b)


@jit.function
def _push(slots: Any, heap: Any, count: Any, number: Any) -> None:
    """Put a datagram into a binary heap of `count`."""
    at = count
    heap[at] = number
    while at > 0 and _earlier(slots, heap[at], heap[(at - 1) // 2]):
        parent = (at - 1) // 2
        heap[at], heap[parent] = heap[parent], heap[at]
        at = parent


@jit.function
def _pop(slots: Any, heap: Any, count: Any) -> None:
    """Take the first datagram out of a binary heap of `count`."""
    last, at = count - 1, 0
    heap[0] = heap[last]
    while 2 * at + 1 < last:
        child = 2 * at + 1
        if child + 1 < last and _earlier(slots, heap[child + 1], heap[child]):
            child += 1
        if not _earlier(slots, heap[child], heap[at]):
            return
        heap[at], heap[child] = heap[child], heap[at]
        at = child


@jit.kernel
def send_by_kernel(slots: Any, control: Any) -> None:
    """Send datagrams as they are due, until `control[STOP]` is set.

    A socket that is connected reports with the next call that an earlier datagram was refused, and then does not send;
    so it is called once more.

    Args:
        slots: A `Slots`.
        control: int64 (2,): ADDED and STOP.
    """
    length, where = len(slots.due_ns), control.ctypes.data
    clock, pause, heap = jit.zeros(2, np.int64), jit.zeros(2, np.int64), jit.zeros(length, np.int64)
    taken, count = np.int64(0), np.int64(0)
    while atomics.load(where + 8 * STOP) == 0:
        added = atomics.load(where)
        while taken < added:
            _push(slots, heap, count, taken)
            taken += 1
            count += 1
        now_ns, wait_ns = atomics.now_ns(clock), np.int64(_SLICE_NS)
        if count > 0:
            wait_ns = min(wait_ns, slots.due_ns[heap[0] % length] - now_ns)
        if count == 0 or wait_ns > 0:
            pause[1] = wait_ns
            _sleep(pause.ctypes.data, 0)
            continue
        k = heap[0] % length
        _pop(slots, heap, count)
        count -= 1
        outcome = SENT
        if _send(np.int32(slots.descriptor[k]), slots.address[k], slots.size[k], _FLAGS) < 0:
            again = _send(np.int32(slots.descriptor[k]), slots.address[k], slots.size[k], _FLAGS)
            outcome = FAILED if again < 0 else REFUSED
        slots.sent_ns[k] = now_ns
        atomics.store(slots.outcome.ctypes.data + 8 * k, outcome)


def send_by_python(
    slots: Slots, control: NDArray[np.int64], rows: list[NDArray[np.uint8] | None], sockets: dict[int, socket.socket]
) -> None:
    """The same in Python, which waits for the GIL like any thread.

    Args:
        slots: As above.
        control: As above.
        rows: Bytes of each slot.
        sockets: By file descriptor.
    """
    length, heap, taken = len(slots.due_ns), list[tuple[int, int]](), 0
    while not control[STOP]:
        while taken < control[ADDED]:
            heapq.heappush(heap, (int(slots.due_ns[taken % length]), taken))
            taken += 1
        now_ns = time.monotonic_ns()
        if not heap or heap[0][0] > now_ns:
            time.sleep(1e-9 * min(_SLICE_NS, heap[0][0] - now_ns if heap else _SLICE_NS))
            continue
        k = heapq.heappop(heap)[1] % length
        payload, to = rows[k], sockets[int(slots.descriptor[k])]
        assert payload is not None
        slots.sent_ns[k] = now_ns
        slots.outcome[k] = _sent_once(payload.tobytes(), to)


def _sent_once(payload: bytes, to: socket.socket) -> int:
    for outcome in (SENT, REFUSED):
        try:
            to.send(payload)
            return outcome
        except OSError:
            pass
    return FAILED
