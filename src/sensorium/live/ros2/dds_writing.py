"""A writer of Cyclone DDS that takes ready CDR.

The Python binding takes typed samples, and a cloud of 131,072 points as a list of numbers would take seconds. Its
writers can be handed bytes, but it holds the interpreter's lock while it writes: 10 to 20 ms for such a cloud, in which
the run stands still. So the library itself is called here, through ctypes, which releases the lock: it takes CDR of the
topic's type (`ddsi_serdata_from_ser_iov`) and writes it (`dds_writecdr`).
"""

import ctypes
from typing import Any

from sensorium.core.errors import RecordError

_DATA = 2  # kind of a sample with data, not only its key


class _Part(ctypes.Structure):
    """A piece of memory, as of writev."""

    _fields_ = (("base", ctypes.c_char_p), ("length", ctypes.c_size_t))


class BytesWriter:
    """Writes messages of one topic."""

    def __init__(self, participant: Any, topic: str, kind: Any, qos: Any) -> None:
        """Announce a topic.

        Args:
            participant: Of the domain.
            topic: Its name in DDS.
            kind: Class of its messages, of `topic_type`.
            qos: Quality of service.
        """
        from cyclonedds.pub import DataWriter
        from cyclonedds.topic import Topic

        self._topic = topic
        self._writer = DataWriter(participant, Topic(participant, topic, kind, qos=qos), qos=qos)
        self._library = _library()
        self._type = ctypes.c_void_p()
        code = self._library.dds_get_entity_sertype(self._writer._ref, ctypes.byref(self._type))
        if code < 0:
            raise RecordError(f"topic {topic} has no type in Cyclone DDS (code {code}); it cannot be written")

    def readers(self) -> int:
        """Number of readers now."""
        count = self._library.dds_get_matched_subscriptions(self._writer._ref, None, 0)
        return max(0, int(count))

    def write(self, data: bytes) -> None:
        """Write CDR with its header of 4 bytes; other threads go on meanwhile."""
        padded = data + bytes(-len(data) % 4)
        part = _Part(padded, len(padded))
        sample = self._library.ddsi_serdata_from_ser_iov(self._type, _DATA, 1, ctypes.byref(part), len(padded))
        if not sample:
            raise RecordError(f"{len(data)} bytes for {self._topic} are no CDR of its type")
        code = self._library.dds_writecdr(self._writer._ref, sample)
        if code < 0:
            raise RecordError(f"{len(data)} bytes for {self._topic} were not written: code {code} of Cyclone DDS")


def _library() -> Any:
    """The library that the binding has loaded, with the types of what is called here."""
    from cyclonedds.internal import DDS

    library = DDS._dll_handle
    entity, pointer, size = ctypes.c_int32, ctypes.c_void_p, ctypes.c_size_t
    library.dds_get_entity_sertype.argtypes = (entity, ctypes.POINTER(pointer))
    library.dds_get_matched_subscriptions.argtypes = (entity, pointer, size)
    library.ddsi_serdata_from_ser_iov.argtypes = (pointer, ctypes.c_int, size, ctypes.POINTER(_Part), size)
    library.ddsi_serdata_from_ser_iov.restype = pointer
    library.dds_writecdr.argtypes = (entity, pointer)
    return library
