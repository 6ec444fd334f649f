"""Checksums against published values and their own definitions."""

import numpy as np

from sensorium.live.talkers.formats.checksums import crc_16, fletcher_checksum, negative_sum, xor_checksum

RNG = np.random.default_rng(29)


def test_xor_of_a_published_sentence():
    assert xor_checksum(b"GPGLL,5057.970,N,00146.110,E,142451,A") == 0x27


def test_crc_16_of_the_usual_check_string():
    assert crc_16(b"123456789") == 0x31C3


def test_crc_16_of_a_message_with_its_crc_is_zero_and_any_flipped_bit_shows():
    for length in (1, 2, 17, 200):
        data = RNG.integers(0, 256, length).astype(np.uint8).tobytes()
        whole = bytearray(data + crc_16(data).to_bytes(2, "big"))
        assert crc_16(whole) == 0
        whole[RNG.integers(len(whole))] ^= 1 << int(RNG.integers(8))
        assert crc_16(whole) != 0


def test_fletcher_is_the_two_cumulative_sums():
    for length in (1, 5, 92):
        data = RNG.integers(0, 256, length)
        a = np.cumsum(data)
        assert fletcher_checksum(data.astype(np.uint8).tobytes()) == bytes((int(a[-1]) % 256, int(a.sum()) % 256))


def test_negative_sum_makes_the_sum_zero():
    assert negative_sum(bytes.fromhex("FF3000")) == 0xD1  # GoToConfig of Xsens, as its documentation prints it
    data = RNG.integers(0, 256, 99).astype(np.uint8).tobytes()
    assert (sum(data) + negative_sum(data)) % 256 == 0
