"""Any bytes may come on a line: no decoder raises, and none keeps more than its longest message."""

import numpy as np
import pytest

from sensorium.live.talkers.ardupilot import decode_servo_output
from sensorium.live.talkers.formats import nmea, ubx, vectornav, xsens
from tests.unit.live.talkers.formats.cases import random_fix

RNG = np.random.default_rng(99)
LONGEST = 4096

WHOLE = {
    nmea: lambda: b"".join(nmea.encode_fix(random_fix(RNG))),
    ubx: lambda: b"".join(ubx.encode_fix(random_fix(RNG), sky=[(0.0, 90.0)] * 4)),
    vectornav: lambda: vectornav.encode({"acceleration": (1.0, 2.0, 3.0), "status": 5}) + b"$VNIMU,1,2*00\r\n",
    xsens: lambda: xsens.encode({"acceleration": (1.0, 2.0, 3.0), "packet_counter": 5}),
}


def damaged(data: bytes) -> bytes:
    """Some bytes changed, left out, doubled or added."""
    numbers = bytearray(data)
    for _ in range(RNG.integers(1, 6)):
        at = int(RNG.integers(len(numbers)))
        match RNG.integers(4):
            case 0:
                numbers[at] = RNG.integers(256)
            case 1:
                del numbers[at : at + int(RNG.integers(1, 9))]
            case 2:
                numbers[at:at] = numbers[at : at + 20]
            case 3:
                numbers[at:at] = RNG.integers(0, 256, 20).astype(np.uint8).tobytes()
        numbers = numbers or bytearray(b"$")
    return bytes(numbers)


@pytest.mark.parametrize("format_", WHOLE, ids=lambda one: one.__name__.rpartition(".")[2])
def test_any_bytes(format_):
    rest = b""
    for _ in range(300):
        data = damaged(WHOLE[format_]()) if RNG.random() < 0.7 else RNG.integers(0, 256, 300).astype(np.uint8).tobytes()
        messages, rest = format_.split_stream(rest + data)
        assert len(rest) <= LONGEST
        for message in messages:
            format_.decode(message)
            if format_ is vectornav:
                vectornav.decode_vnimu(message)
        format_.decode(data)


def test_any_datagram_to_the_ardupilot_port():
    for _ in range(300):
        head = b"\x1a\x48" if RNG.random() < 0.5 else b""
        decode_servo_output(head + RNG.integers(0, 256, int(RNG.integers(0, 80))).astype(np.uint8).tobytes())


@pytest.mark.parametrize("format_", WHOLE, ids=lambda one: one.__name__.rpartition(".")[2])
def test_a_good_message_after_any_bytes_is_found(format_):
    good = {
        nmea: b"$GPGLL,5057.970,N,00146.110,E,142451,A*27\r\n",
        ubx: ubx.encode("NAV-EOE", iTOW=7),
        vectornav: vectornav.encode({"acceleration": (1.0, 2.0, 3.0)}),
        xsens: xsens.encode({"packet_counter": 5}),
    }[format_]
    for _ in range(100):
        junk = RNG.integers(0, 256, int(RNG.integers(0, 100))).astype(np.uint8).tobytes()
        messages, _ = format_.split_stream(junk + good + bytes(LONGEST) + b"\n")
        assert [one for one in messages if one.strip() == good.strip()]
