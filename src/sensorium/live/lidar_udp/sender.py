"""A thread that sends datagrams when they are due."""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Condition, Thread
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.live.lidar_udp.send_kernel import FAILED, IN_KERNEL, REFUSED, send_by_kernel, send_by_python

# How many of the last deviations are kept for percentiles
_KEPT = 1 << 17
_JOIN_S = 1.0


class _Pending(NamedTuple):
    """Datagrams in the order of their times; `row` is the bytes of each, a view of its batch."""

    due_ns: NDArray[np.int64]
    to: NDArray[np.int64]
    address: NDArray[np.int64]
    size: NDArray[np.int64]
    row: list[NDArray[np.uint8]]


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
    """Sends datagrams at their times from one daemon thread, which holds the GIL only between batches."""

    def __init__(self, sockets: Sequence[socket.socket], *, most_bytes: int = 64 << 20, in_kernel: bool = IN_KERNEL) -> None:
        """Start the thread.

        Args:
            sockets: Connected UDP sockets; the caller closes them after `close`.
            most_bytes: Most bytes that wait; beyond it the oldest datagrams are dropped.
            in_kernel: Whether the kernel sends, and not Python.
        """
        self._sockets, self._most_bytes, self._in_kernel = list(sockets), most_bytes, in_kernel
        self._descriptors = np.array([one.fileno() for one in sockets], np.int64)
        empty = np.zeros(0, np.int64)
        self._pending = _Pending(empty, empty, empty, empty, [])
        self._added: list[_Pending] = []
        self._changed, self._closed = Condition(), False
        self._wake = np.zeros(1, np.int64)
        self._sent = self._dropped = self._late = 0
        self._refused = np.zeros(len(self._sockets), bool)
        self._deviation_ns = np.zeros(_KEPT, np.int64)
        self._send(self._pending)  # nothing, so that the kernel is compiled or loaded before the first datagram is due
        self._thread = Thread(target=self._work, name="sensorium-live-udp-sender", daemon=True)
        self._thread.start()

    def submit(self, payload: NDArray[np.uint8], due_ns: NDArray[np.int64], to: int, *, late: int = 0) -> None:
        """Take datagrams; returns at once.

        Args:
            payload: Bytes, shape (n, bytes); must not be changed afterwards.
            due_ns: When each is due, by the monotonic clock [ns], shape (n,).
            to: Number of the socket.
            late: How many of them leave later than they should.
        """
        n = len(payload)
        if not n:
            return
        payload = np.ascontiguousarray(payload)
        address = payload.ctypes.data + payload.strides[0] * np.arange(n, dtype=np.int64)
        size = np.full(n, payload.shape[1], np.int64)
        added = _Pending(due_ns.astype(np.int64), np.full(n, to, np.int64), address, size, list(payload))
        with self._changed:
            self._late += late
            self._added.append(added)
            self._wake[0] = 1
            self._changed.notify()

    def close(self) -> None:
        """Drop what is pending and end the thread."""
        with self._changed:
            self._closed = True
            self._wake[0] = 1
            self._changed.notify()
        self._thread.join(_JOIN_S)

    def pending_until_ns(self) -> int | None:
        """When the last pending datagram is due [ns]; None if none is pending."""
        with self._changed:
            ends = [int(each.due_ns.max()) for each in (self._pending, *self._added) if len(each.due_ns)]
        return max(ends, default=None)

    def counts(self) -> SendCounts:
        """Counts so far."""
        with self._changed:
            return SendCounts(self._sent, self._dropped, self._late)

    def deviations_s(self) -> NDArray[np.float64]:
        """How long after its time each of the last datagrams was sent [s]."""
        with self._changed:
            return 1e-9 * self._deviation_ns[: min(self._sent, _KEPT)]

    def reachable(self) -> int:
        """Sockets whose last datagram was not refused."""
        return int(np.count_nonzero(~self._refused))

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._closed and not self._added and not len(self._pending.due_ns):
                    self._changed.wait()
                if self._closed:
                    self._dropped += len(self._pending.due_ns) + sum(len(each.due_ns) for each in self._added)
                    return
                self._merge()
                self._wake[0] = 0
            handled, sent_ns, outcome = self._send(self._pending)
            with self._changed:
                self._count(self._pending, handled, sent_ns, outcome)
                self._pending = _cut(self._pending, handled)

    def _merge(self) -> None:
        """Put what was added in the order of time, and drop the oldest beyond the bound."""
        if not self._added:
            return
        parts = [self._pending, *self._added]
        self._added = []
        due_ns = np.concatenate([part.due_ns for part in parts])
        order = np.argsort(due_ns, kind="stable")
        rows = [row for part in parts for row in part.row]
        numbers = (np.concatenate([part[k] for part in parts])[order] for k in (1, 2, 3))
        self._pending = _Pending(due_ns[order], *numbers, [rows[k] for k in order.tolist()])
        kept = np.cumsum(self._pending.size[::-1])[::-1] <= self._most_bytes
        if not kept.all():
            first = int(np.argmax(kept)) if kept.any() else len(kept)
            self._dropped += first
            self._pending = _cut(self._pending, first)

    def _send(self, pending: _Pending) -> tuple[int, NDArray[np.int64], NDArray[np.uint8]]:
        n = len(pending.due_ns)
        sent_ns, outcome = np.zeros(n, np.int64), np.zeros(n, np.uint8)
        if self._in_kernel:
            descriptors = self._descriptors[pending.to]
            where = (pending.address, pending.size, descriptors, pending.due_ns)
            return send_by_kernel(*where, sent_ns, outcome, self._wake), sent_ns, outcome
        rows, sockets = [memoryview(row) for row in pending.row], [self._sockets[k] for k in pending.to]
        return send_by_python(rows, sockets, pending.due_ns, sent_ns, outcome, self._wake), sent_ns, outcome

    def _count(self, pending: _Pending, handled: int, sent_ns: NDArray[np.int64], outcome: NDArray[np.uint8]) -> None:
        self._refused[pending.to[:handled]] = outcome[:handled] == REFUSED
        is_sent = outcome[:handled] != FAILED
        self._dropped += int(np.count_nonzero(~is_sent))
        deviation_ns = (sent_ns - pending.due_ns)[:handled][is_sent]
        places = (self._sent + np.arange(len(deviation_ns))) % _KEPT
        self._deviation_ns[places] = deviation_ns
        self._sent += len(deviation_ns)


def _cut(pending: _Pending, first: int) -> _Pending:
    """Pending datagrams from a number on."""
    return _Pending(*(array[first:] for array in pending[:4]), pending.row[first:])
