"""Ouster packets against bytes that the test packs itself, and against recorded bytes."""

import struct

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.recordings.packets import ouster
from sensorium.recordings.readers.ouster import imu_samples, read_metadata
from sensorium.recordings.readers.pcap import read_pcap
from tests.unit.recordings.real import lidar, real

RNG = np.random.default_rng(28)
CONFIGURABLE = [profile for profile in ouster.PROFILES if profile != ouster.LEGACY]


def packed_pixel(profile: str, v: dict[str, int]) -> bytes:
    """One pixel by struct, independent of the description."""
    if profile == "LEGACY":
        return struct.pack(
            "<IBBHHH", v["range_mm"] | v["flags"] << 28, v["reflectivity"], 0, v["signal"], v["background"], 0
        )
    if profile == "RNG19_RFL8_SIG16_NIR16":
        return struct.pack(
            "<IBBHHH", v["range_mm"] | v["flags"] << 19, v["reflectivity"], 0, v["signal"], v["background"], 0
        )
    if profile == "RNG19_RFL8_SIG16_NIR16_DUAL":
        words = [v["range_mm"] | v["flags"] << 19 | v["reflectivity"] << 24]
        words += [v["range_mm_2"] | v["flags_2"] << 19 | v["reflectivity_2"] << 24]
        return struct.pack("<IIHHHH", *words, v["signal"], v["signal_2"], v["background"], 0)
    low = struct.pack("<HBB", v["range_mm"] >> 3 | v["flags"] << 15, v["reflectivity"], v["background"] >> 4)
    if profile == "RNG15_RFL8_NIR8":
        return low
    return low + struct.pack("<HBB", v["range_mm_2"] >> 3 | v["flags_2"] << 15, v["reflectivity_2"], 0)


def drawn(profile: str, shape: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Random values of all fields that are not spare."""
    return {
        name: RNG.integers(0, 1 << bits.length, shape, dtype=np.uint32) << np.uint32(bits.dropped)
        for name, bits in ouster.PROFILES[profile].items()
        if not name.startswith("spare")
    }


@pytest.mark.parametrize("profile", ouster.PROFILES)
def test_pixels_are_those_that_struct_packs(profile):
    fields = drawn(profile, (7, 5))
    words = ouster.words_of(fields, profile)
    for at in np.ndindex(7, 5):
        assert words[at].astype("<u4").tobytes() == packed_pixel(profile, {k: int(v[at]) for k, v in fields.items()})
    for name, values in ouster.fields_of(words, profile).items():
        np.testing.assert_array_equal(values, fields.get(name, 0))


@pytest.mark.parametrize("profile", ouster.PROFILES)
def test_fields_together_are_every_bit_of_a_pixel(profile):
    words = RNG.integers(0, 1 << 32, (50, 1 + max(b.word for b in ouster.PROFILES[profile].values())), dtype=np.uint32)
    np.testing.assert_array_equal(ouster.words_of(ouster.fields_of(words, profile), profile), words)


@pytest.mark.parametrize("profile", CONFIGURABLE)
def test_a_packet_is_header_columns_and_footer(profile):
    fields = drawn(profile, (16, 8))
    kind = ouster.packet_type(profile, 8, 16)
    packets = np.zeros(1, kind)
    packets["header"]["kind"], packets["header"]["frame"] = 1, 770
    packets["header"]["session_and_serial"] = np.arange(8)
    packets["columns"]["time_ns"], packets["columns"]["column"] = 10**15 + np.arange(16), np.arange(32, 48)
    packets["columns"]["status"], packets["columns"]["pixels"] = 1, ouster.words_of(fields, profile)
    data = ouster.encode(packets)
    expected = struct.pack("<HH8s20x", 1, 770, bytes(range(8)))
    for k in range(16):
        expected += struct.pack("<QHH", 10**15 + k, 32 + k, 1)
        expected += b"".join(packed_pixel(profile, {n: int(v[k, c]) for n, v in fields.items()}) for c in range(8))
    assert data == expected + bytes(32)
    assert ouster.encode(ouster.decode(data, kind)) == data


def test_a_value_that_does_not_fit_is_refused():
    with pytest.raises(SpecError, match="range_mm is up to 524288; RNG19_RFL8_SIG16_NIR16 has 19 bits for it"):
        ouster.words_of({"range_mm": np.array([1 << 19])}, "RNG19_RFL8_SIG16_NIR16")
    with pytest.raises(SpecError, match="field is 'color'"):
        ouster.words_of({"color": np.array([1])}, "RNG15_RFL8_NIR8")
    with pytest.raises(SpecError, match="udp_profile_lidar is 'RNG99'"):
        ouster.packet_type("RNG99", 128, 16)
    with pytest.raises(SpecError, match="columns of 100000 pixels"):
        ouster.packet_type("LEGACY", 100_000, 16)


@pytest.mark.parametrize("name", ["os0", "os1", "os1-32"])
def test_recorded_bytes_decoded_and_encoded_again_are_identical(name):
    path, _ = lidar(name)
    stem = {"os0": "OS-0-128-U1", "os1": "OS-1-128", "os1-32": "OS-1-32-G"}[name]
    version = "v2.1.1" if name == "os1-32" else "v2.3.0"
    metadata = read_metadata(real(f"lidar_ouster/{stem}_{version}_1024x10.json"))
    kind = metadata.packet_type()
    payloads = [payload for payload in read_pcap(path).payloads if len(payload) == kind.itemsize]
    data = b"".join(payloads)
    packets = ouster.decode(data, kind)
    again = packets.copy()
    again["columns"]["pixels"] = 0
    again["columns"]["pixels"] = ouster.words_of(
        ouster.fields_of(packets["columns"]["pixels"], metadata.profile), metadata.profile
    )
    assert ouster.encode(again) == data
    assert len(payloads) == {"os0": 64, "os1": 192, "os1-32": 64}[name]


def test_recorded_imu_packets_measure_gravity_in_a_vehicle_and_are_encoded_again():
    found = read_pcap(lidar("os1")[0])
    payloads = [payload for payload in found.payloads if len(payload) == 48]
    data = b"".join(payloads)
    assert ouster.encode(ouster.decode(data, ouster.IMU_PACKET)) == data
    samples = imu_samples(found)
    assert len(samples.time_ns) == len(payloads) == 30
    assert np.linalg.norm(samples.acceleration, axis=1).mean() == pytest.approx(9.8, abs=1.5)
    assert np.median(np.diff(samples.time_ns)) == pytest.approx(10e6, rel=0.05)
