"""VectorNav messages against published ones, and against bytes that the test packs itself."""

import struct

import numpy as np
import pytest

from sensorium.live.talkers.formats import vectornav
from sensorium.live.talkers.formats.checksums import crc_16
from tests.unit.live.talkers.formats.cases import in_pieces

RNG = np.random.default_rng(100)

# The manual's example of yaw, pitch and roll (UM001), and a sentence that a VN-200 sent
MANUAL = bytes.fromhex("FA 01 08 00 93 50 2E 42 83 3E F1 3F 48 B5 04 BB 92 88")
RECORDED = (
    b"$VNIMU,-00.0350,+00.4222,-00.6643,-00.015,+00.019,+09.948,+00.002066,-00.008442,-00.044656,+20.7,+084.322*66\r\n"
)


def test_the_manuals_example():
    fields = vectornav.decode(MANUAL)
    assert fields["yaw_pitch_roll_deg"] == pytest.approx((43.578686, 1.8847202, -0.0020249654))
    assert vectornav.encode(fields) == MANUAL


def test_a_recorded_sentence():
    imu = vectornav.decode_vnimu(RECORDED)
    assert imu == ((-0.035, 0.4222, -0.6643), (-0.015, 0.019, 9.948), (0.002066, -0.008442, -0.044656), 20.7, 84.322)
    assert vectornav.encode_vnimu(imu) == RECORDED


def test_fields_are_in_the_order_of_their_bits():
    rate, force, sums = (1.0, 2.0, 3.0), (4.0, 5.0, -9.75), (0.25, *range(6))
    message = vectornav.encode(
        {"acceleration": force, "interval_delta_theta_velocity": sums, "time_startup_ns": 7, "angular_rate": rate}
    )
    body = struct.pack("<BHQ3f3f7f", 1, 0b1001_0010_0001, 7, *rate, *force, *sums)
    assert message == b"\xfa" + body + struct.pack(">H", crc_16(body))


def test_lengths_of_the_fields():
    # UM001; together 198 bytes
    lengths = [dtype.itemsize for _, dtype in vectornav.FIELDS]
    assert lengths == [8, 8, 8, 12, 16, 12, 24, 12, 12, 24, 20, 28, 2, 4, 8]


def test_any_fields_are_read_back():
    for _ in range(100):
        fields = {}
        for name, dtype in vectornav.FIELDS:
            if RNG.random() < 0.5:
                numbers = RNG.integers(0, 200, dtype.shape)
                fields[name] = tuple(numbers.tolist()) if dtype.shape else int(numbers)
        assert vectornav.decode(vectornav.encode(fields)) == fields


def test_a_stream_in_any_pieces_with_noise_gives_the_messages():
    messages = [MANUAL, RECORDED, vectornav.encode({"acceleration": (0.0, 0.0, -9.8)})] * 8
    data = b"\xfa\xfa\x01$" + b"\xfa\x02$VN".join(messages)
    found, rest = in_pieces(vectornav.split_stream, data, RNG, 40)
    more, _ = vectornav.split_stream(rest + b"\0" * 400)
    assert found + more == messages


def test_broken_messages_are_refused():
    for _ in range(50):
        broken = bytearray(MANUAL)
        broken[RNG.integers(len(broken))] ^= 1 << int(RNG.integers(8))
        assert vectornav.decode(bytes(broken)) is None
    for line in (RECORDED.replace(b"948", b"949"), b"", b"$VNIMU*5A", b"$VNYPR,1,2,3*00"):
        assert vectornav.decode_vnimu(line) is None
