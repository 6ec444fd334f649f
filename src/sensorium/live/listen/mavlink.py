"""MAVLink messages, as an autopilot's software in the loop would receive them."""

from typing import ClassVar

from sensorium.live.listen.devices import StreamListening, StreamReceiver, line_of


class MavlinkListening(StreamListening):
    """Where MAVLink comes from."""

    source: str = "tcp:4560"
    """tcp:[HOST:]PORT to connect to, udp:[HOST:]PORT to listen at, or the path of a serial port."""


class MavlinkReceiver(StreamReceiver):
    """Messages of MAVLink's common set, in both versions."""

    suffix: ClassVar[str] = ".mavlink"

    def __init__(self, options: MavlinkListening) -> None:
        """Take the options; nothing is opened yet."""
        from pymavlink.dialects.v20 import common

        super().__init__(options)
        self._mav = common.MAVLink(None)
        self._mav.robust_parsing = True
        self._decoder = common.MAVLink(None)

    def _split(self, data: bytes) -> tuple[list[bytes], bytes]:
        # The parser keeps the rest itself
        parsed = self._mav.parse_buffer(data) or ()
        return [bytes(one.get_msgbuf()) for one in parsed if one.get_type() != "BAD_DATA"], b""

    def _described(self, message: bytes) -> tuple[str, str]:
        parsed = self._decoder.decode(bytearray(message))
        return parsed.get_type(), line_of({name: getattr(parsed, name) for name in parsed.get_fieldnames()})
