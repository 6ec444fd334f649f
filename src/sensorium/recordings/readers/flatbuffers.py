"""Tables of FlatBuffers, read by hand: each offset is checked against the buffer's end.

The format is defined in flatbuffers.dev, Internals: a table begins with the distance to its vtable,
which has the place of each field; vectors and strings begin with their length.
"""

import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Table(NamedTuple):
    """A table in a buffer; a field that is missing has its default, or is empty.

    Attributes:
        data: The whole buffer.
        at: Where the table begins.
    """

    data: memoryview
    at: int

    def _place(self, slot: int) -> int:
        """Where a field is; 0 if the table has none of this number."""
        vtable = self.at - struct.unpack_from("<i", self.data, self.at)[0]
        if vtable < 0:
            raise ValueError("a table's fields are before the buffer")
        (size,) = struct.unpack_from("<H", self.data, vtable)
        if 4 + 2 * slot + 2 > size:
            return 0
        (offset,) = struct.unpack_from("<H", self.data, vtable + 4 + 2 * slot)
        return self.at + offset if offset else 0

    def number(self, slot: int, form: str, default: int = 0) -> int:
        """A number of a `struct` format."""
        place = self._place(slot)
        return int(struct.unpack_from("<" + form, self.data, place)[0]) if place else default

    def _vector(self, slot: int, item_bytes: int) -> tuple[int, int]:
        """Where the items of a vector begin, and how many there are."""
        place = self._place(slot)
        if not place:
            return 0, 0
        start = place + struct.unpack_from("<I", self.data, place)[0]
        (count,) = struct.unpack_from("<I", self.data, start)
        if start + 4 + count * item_bytes > len(self.data):
            raise ValueError(f"a vector has {count} items of {item_bytes} bytes beyond the buffer's end")
        return start + 4, count

    def octets(self, slot: int) -> memoryview:
        """Bytes of a vector or a string."""
        start, count = self._vector(slot, 1)
        return self.data[start : start + count]

    def array(self, slot: int, dtype: str) -> NDArray[np.generic]:
        """A vector of numbers."""
        kind = np.dtype(dtype)
        start, count = self._vector(slot, kind.itemsize)
        return np.frombuffer(self.data, kind, count, start) if count else np.zeros(0, kind)

    def tables(self, slot: int) -> list["Table"]:
        """A vector of tables."""
        start, count = self._vector(slot, 4)
        offsets = struct.unpack_from(f"<{count}I", self.data, start)
        return [Table(self.data, start + 4 * k + offset) for k, offset in enumerate(offsets)]


def root(data: memoryview, at: int = 0) -> tuple[Table, int]:
    """The table of a buffer that begins with its size at a place, and where the buffer ends."""
    size, offset = struct.unpack_from("<II", data, at)
    end = at + 4 + size
    if end > len(data):
        raise ValueError(f"a buffer of {size} bytes begins where {len(data) - at - 4} are left")
    return Table(data[at + 4 : end], offset), end
