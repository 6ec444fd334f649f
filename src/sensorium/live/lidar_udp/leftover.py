"""Whole packets of sweeps: what is left of one sweep begins the first packet of the next."""

from typing import Any, Generic, TypeVar

import numpy as np

from sensorium.sensors.lidar.scan import Scan

A = TypeVar("A", bound=tuple[Any, ...])


class Leftover(Generic[A]):
    """Keeps the firings that fill no packet; they are a named tuple of arrays whose first axes agree."""

    def __init__(self, per_packet: int) -> None:
        """Make one; `per_packet` is the number of firings of a packet."""
        self._per_packet = per_packet
        self._left: A | None = None
        self._next_ns = 0

    def whole(self, found: A, scan: Scan) -> A:
        """The firings of all packets that are complete with those of a sweep.

        If sweeps are missing before it, the packet that was begun is lost too.
        """
        kind: Any = type(found)
        follows = scan.start_ns - self._next_ns < (scan.end_ns - scan.start_ns) // 2
        if self._left is not None and follows:
            found = kind._make(np.concatenate(pair) for pair in zip(self._left, found, strict=True))
        whole = len(found[0]) - len(found[0]) % self._per_packet
        self._left, self._next_ns = kind._make(array[whole:] for array in found), scan.end_ns
        taken: A = kind._make(array[:whole] for array in found)
        return taken
