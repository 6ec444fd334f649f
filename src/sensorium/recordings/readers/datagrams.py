"""Datagrams of a recording, whatever container they came in."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError

MOST_BYTES = 1 << 33
"""The largest file of packets that is read at once."""


class Datagrams(NamedTuple):
    """Payloads of n packets in the order of the file.

    Attributes:
        source: Name of the file.
        time_ns: When each was captured, by the recording computer's clock [ns], shape (n,).
        stream: Number of the stream that each belongs to, shape (n,).
        streams: Name of each stream: address and port, or topic.
        payloads: Bytes of each.
        remarks: Sentences on what was left out, as a last packet that was cut off.
    """

    source: str
    time_ns: NDArray[np.int64]
    stream: NDArray[np.int64]
    streams: tuple[str, ...]
    payloads: list[bytes | memoryview]
    remarks: tuple[str, ...] = ()

    def chosen(self, name: str | None) -> "Datagrams":
        """Datagrams of the streams whose name contains a text; all for None.

        Args:
            name: Part of a stream's name, as an address, a port or a topic.
        """
        if name is None:
            return self
        kept = [number for number, each in enumerate(self.streams) if name in each]
        if not kept:
            raise SpecError(f"stream is {name!r}; {self.source!r} has {listed(self.streams)}")
        is_kept = np.isin(self.stream, kept)
        payloads = [self.payloads[k] for k in np.flatnonzero(is_kept)]
        return self._replace(time_ns=self.time_ns[is_kept], stream=self.stream[is_kept], payloads=payloads)


def joined(parts: list[Datagrams], source: str) -> Datagrams:
    """Datagrams of several files, one after the other; streams of one name are one."""
    names = {name: number for number, name in enumerate(dict.fromkeys(each for part in parts for each in part.streams))}
    numbers = [np.array([names[each] for each in part.streams], np.int64)[part.stream] for part in parts]
    return Datagrams(
        source,
        np.concatenate([part.time_ns for part in parts]),
        np.concatenate(numbers),
        tuple(names),
        [payload for part in parts for payload in part.payloads],
        tuple(dict.fromkeys(remark for part in parts for remark in part.remarks)),
    )


def listed(names: tuple[str, ...] | list[str]) -> str:
    """Names between commas, the first ten of them."""
    shown = ", ".join(repr(name) for name in names[:10])
    return f"{shown} and {len(names) - 10} more" if len(names) > 10 else shown or "none"
