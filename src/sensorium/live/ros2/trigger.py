"""std_srvs/Trigger as CDR: a service without arguments."""

import struct

_LITTLE_ENDIAN = b"\x00\x01\x00\x00"

REQUEST = _LITTLE_ENDIAN + b"\x00"
"""A request has no field; as no structure may be empty, there is one byte."""


def trigger_reply(success: bool, message: str) -> bytes:
    """The bytes of a reply."""
    text = message.encode() + b"\x00"
    return _LITTLE_ENDIAN + struct.pack("<?3xI", success, len(text)) + text


def read_reply(data: bytes) -> tuple[bool, str]:
    """Success and message of a reply."""
    success, length = struct.unpack_from("<?3xI", data, len(_LITTLE_ENDIAN))
    begin = len(_LITTLE_ENDIAN) + 8
    return success, data[begin : begin + length - 1].decode()
