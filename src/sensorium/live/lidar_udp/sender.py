"""A thread that sends datagrams when they are due."""

import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock, Thread

import numpy as np
from numpy.typing import NDArray

from sensorium.live.lidar_udp.send_kernel import (
    ADDED,
    FAILED,
    IN_KERNEL,
    PENDING,
    REFUSED,
    STOP,
    Slots,
    send_by_kernel,
    send_by_python,
)

# How many of the last deviations are kept for percentiles
_KEPT = 1 << 17
_JOIN_S = 1.0


@dataclass(frozen=True)
class SendCounts:
    """What a sender did.

    Attributes:
        sent: Datagrams handed to the network.
        dropped: Datagrams that were not: too many were pending, or the system refused them.
        late: Datagrams that left later than they should, since they were submitted too late.
    """

    sent: int
    dropped: int
    late: int


class PacketSender:
    """Sends datagrams at their times from one daemon thread, which does not need the GIL."""

    def __init__(self, sockets: Sequence[socket.socket], *, most: int = 8192, in_kernel: bool = IN_KERNEL) -> None:
        """Start the thread.

        Args:
            sockets: Connected UDP sockets; the caller closes them after `close`.
            most: Most datagrams that wait; more are dropped.
            in_kernel: Whether the kernel sends, and not Python.
        """
        self._sockets, self._in_kernel = list(sockets), in_kernel
        self._slots = Slots(*(np.zeros(most, np.int64) for _ in Slots._fields))
        self._slots.outcome[:] = FAILED
        self._rows: list[NDArray[np.uint8] | None] = [None] * most
        self._to, self._due_ns = np.zeros(most, np.int64), np.zeros(most, np.int64)
        self._control = np.zeros(2, np.int64)
        self._lock, self._counted, self._closed = Lock(), 0, False
        self._sent = self._dropped = self._late = 0
        self._refused = np.zeros(len(self._sockets), bool)
        self._deviation_ns = np.zeros(_KEPT, np.int64)
        self._compile()
        self._thread = Thread(target=self._work, name="sensorium-live-udp-sender", daemon=True)
        self._thread.start()

    def submit(
        self,
        payload: NDArray[np.uint8],
        due_ns: NDArray[np.int64],
        to: int,
        *,
        leave_ns: NDArray[np.int64] | None = None,
    ) -> None:
        """Take datagrams; returns at once.

        Args:
            payload: Bytes, shape (n, bytes); must not be changed afterwards.
            due_ns: When each is due, by the monotonic clock [ns], shape (n,); deviations count from it.
            to: Number of the socket.
            leave_ns: When each shall leave [ns], if this is later; None for when it is due.
        """
        payload = np.ascontiguousarray(payload)
        leave_ns = due_ns if leave_ns is None else leave_ns
        with self._lock:
            self._count()
            slots, most, first = self._slots, len(self._rows), int(self._control[ADDED])
            room = most - (first - self._counted)
            n = min(len(payload), room)
            self._dropped += len(payload) - n
            self._late += int(np.count_nonzero(leave_ns > due_ns))
            for k in range(n):
                self._rows[(first + k) % most] = payload[k]
            places = (first + np.arange(n)) % most
            slots.address[places] = payload.ctypes.data + payload.strides[0] * np.arange(n)
            slots.size[places] = payload.shape[1]
            slots.descriptor[places] = self._sockets[to].fileno()
            slots.due_ns[places] = leave_ns[:n]
            self._due_ns[places] = due_ns[:n]
            slots.outcome[places] = PENDING
            self._to[places] = to
            self._control[ADDED] = first + n

    def close(self) -> None:
        """Drop what is pending and end the thread."""
        self._control[STOP] = 1
        self._thread.join(_JOIN_S)
        with self._lock:
            if not self._closed:
                self._closed = True
                self._count()
                self._dropped += int(self._control[ADDED]) - self._counted

    def pending_until_ns(self) -> int | None:
        """When the last pending datagram is due [ns]; None if none is pending."""
        with self._lock:
            waiting = self._slots.due_ns[self._slots.outcome == PENDING]
        return int(waiting.max()) if len(waiting) else None

    def counts(self) -> SendCounts:
        """Counts so far."""
        with self._lock:
            self._count()
            return SendCounts(self._sent, self._dropped, self._late)

    def deviations_s(self) -> NDArray[np.float64]:
        """How long after its time each of the last datagrams was sent [s]."""
        with self._lock:
            self._count()
            kept = self._deviation_ns[: min(self._sent, _KEPT)].astype(np.float64)
            return kept * 1e-9

    def reachable(self) -> int:
        """Sockets whose last datagram was not refused."""
        with self._lock:
            self._count()
            return int(np.count_nonzero(~self._refused))

    def _work(self) -> None:
        _ask_for_priority()
        if self._in_kernel:
            send_by_kernel(self._slots, self._control)
        else:
            sockets = {one.fileno(): one for one in self._sockets}
            send_by_python(self._slots, self._control, self._rows, sockets)

    def _compile(self) -> None:
        """Compile or load the kernel before the first datagram is due."""
        if self._in_kernel:
            send_by_kernel(self._slots, np.array([0, 1]))

    def _count(self) -> None:
        """Count the datagrams that were sent since, in the order in which they were submitted."""
        most, added = len(self._rows), int(self._control[ADDED])
        places = np.arange(self._counted, added) % most
        waiting = self._slots.outcome[places] == PENDING
        places = places[: int(np.argmax(waiting)) if waiting.any() else len(places)]
        self._counted += len(places)
        outcome = self._slots.outcome[places]
        self._refused[self._to[places]] = outcome == REFUSED
        is_sent = outcome != FAILED
        self._dropped += int(np.count_nonzero(~is_sent))
        deviation_ns = (self._slots.sent_ns - self._due_ns)[places[is_sent]]
        self._deviation_ns[(self._sent + np.arange(len(deviation_ns))) % _KEPT] = deviation_ns
        self._sent += len(deviation_ns)


def _ask_for_priority() -> None:
    """Let the calling thread, which mostly sleeps, run before others when it wakes, where the system permits it."""
    with suppress(AttributeError, OSError):  # not on Linux; without the capability CAP_SYS_NICE
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
