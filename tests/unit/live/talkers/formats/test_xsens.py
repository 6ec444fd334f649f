"""Xsens messages against packets of a real device, and against bytes that the test packs itself."""

import struct

import numpy as np
import pytest

from sensorium.live.talkers.formats import xsens
from tests.unit.live.talkers.formats.cases import in_pieces

RNG = np.random.default_rng(36)

# Payloads of an MTi-300 and the values that Xsens' own MT Manager showed for them
# (github.com/Scottapotamas/xsens-mti, packet examples 1 and 4)
PAYLOADS = [
    (
        "1020 02 A655 1060 04 0057472E 2010 10 3F7F7DC4 BC10107D 3BA15770 BD7EC656 4020 0C BDA21AF8 BE2A8E96 411D27A2"
        "4010 0C B94FC800 B9DA2400 3CC92880 4030 0C 3C02C89C 3C35F6C8 3CDB0C00 8020 0C BBB17D81 BB963200 3C01E841"
        "8030 10 3F800000 B6E33001 B6C04000 37264800 C020 0C BE999C24 3FB61B56 3F166AEB 3010 04 000186DE"
        "E020 04 00400003",
        {
            "packet_counter": 42581,
            "sample_time_fine": 5719854,
            "quaternion_wxyz": (0.99801278, -0.00879299, 0.00492375, -0.06220087),
            "acceleration": (-0.07915300, -0.16655955, 9.82217598),
            "delta_velocity": (-0.00019816, -0.00041607, 0.02455544),
            "free_acceleration": (0.00798240, 0.01110620, 0.02673912),
            "rate_of_turn": (-0.00541657, -0.00458360, 0.00792891),
            "delta_quaternion_wxyz": (1.0, -0.00000677, -0.00000573, 0.00000991),
            "magnetic_field": (-0.30001938, 1.42270923, 0.58756894),
            "pressure_Pa": 100062,
            "status_word": 0b10000000000000000000011,
        },
    ),
    (
        "1020 02 918D 1060 04 01363FA6 2010 10 3F35E042 3F31CD15 BD9F49DB BDA938CF 4020 0C BD635A90 411D08D4 3E5FAA50"
        "4010 0C B9116800 3CC90100 3A0F7D00 4030 0C BC3B2980 3C35FC00 3CA46E00 8020 0C 3CAEA241 BB56D800 BAD5AC01"
        "8030 10 3F800000 37DF8801 B6898000 B608C000 C020 0C BEFBFBF2 3F33C485 BFA0A2C1 0810 04 42168000"
        "3010 04 000186E1 E020 04 00400003",
        {
            "packet_counter": 37261,
            "sample_time_fine": 20332454,
            "quaternion_wxyz": (0.71045315, 0.69453555, -0.07777759, -0.08262789),
            "acceleration": (-0.05550629, 9.81465530, 0.21842313),
            "delta_velocity": (-0.00013867, 0.02453661, 0.00054736),
            "free_acceleration": (-0.01142347, 0.01110744, 0.02007198),
            "rate_of_turn": (0.02131760, -0.00327826, -0.00163019),
            "delta_quaternion_wxyz": (1.0, 0.00002665, -0.00000410, -0.00000204),
            "magnetic_field": (-0.49215657, 0.70221740, -1.25496686),
            "temperature_C": 37.625,
            "pressure_Pa": 100065,
            "status_word": 0b10000000000000000000011,
        },
    ),
]


def framed(payload: bytes) -> bytes:
    body = b"\xff\x36" + bytes((len(payload),)) + payload
    return b"\xfa" + body + bytes((256 - sum(body) % 256,))


@pytest.mark.parametrize(("payload", "shown"), PAYLOADS)
def test_a_real_devices_packets(payload, shown):
    message = framed(bytes.fromhex(payload))
    items = xsens.decode(message)
    assert list(items) == list(shown)
    for name, value in shown.items():
        assert items[name] == pytest.approx(value, abs=5.1e-9, rel=1e-7), name
    assert xsens.encode(items) == message


def test_numbers_are_big_endian():
    message = xsens.encode({"packet_counter": 258, "acceleration": (1.0, 2.0, -3.0)})
    assert message == framed(struct.pack(">HBHHB3f", 0x1020, 2, 258, 0x4020, 12, 1.0, 2.0, -3.0))


def test_unknown_items_are_left_out_and_long_messages_have_a_long_length():
    payload = struct.pack(">HB250x", 0x7777, 250) + struct.pack(">HBH", 0x1020, 2, 9)
    body = b"\xff\x36\xff" + struct.pack(">H", len(payload)) + payload
    message = b"\xfa" + body + bytes((-sum(body) % 256,))
    assert xsens.decode(message) == {"packet_counter": 9}
    assert xsens.split_stream(b"\xfa" + message + message[:5]) == ([message], message[:5])


def test_a_stream_in_any_pieces_with_noise_gives_the_messages():
    messages = [framed(bytes.fromhex(payload)) for payload, _ in PAYLOADS] * 5
    data = b"\x00\xfa\x01" + b"\xfa\xff\x36\x02\x00".join(messages)
    assert in_pieces(xsens.split_stream, data, RNG, 70)[0] == messages


def test_broken_messages_are_refused():
    message = framed(bytes.fromhex(PAYLOADS[0][0]))
    for _ in range(50):
        broken = bytearray(message)
        broken[RNG.integers(len(broken))] ^= 1 << int(RNG.integers(8))
        assert xsens.decode(bytes(broken)) is None
    assert xsens.decode(b"") is None
    assert xsens.decode(framed(b"\x10\x20\x03\x00\x00")) is None
