"""Captures that the test writes itself: both formats, both byte orders, fragments, and broken ones."""

import random
import struct

import numpy as np
import pytest

from fuzz import captures
from sensorium.core.errors import SpecError
from sensorium.recordings.readers.pcap import read_pcap

RNG = random.Random(28)
PAYLOADS = [RNG.randbytes(size) for size in (1, 48, 512, 1206, 9000)]


def read(tmp_path, data: bytes):
    path = tmp_path / "capture.pcap"
    path.write_bytes(data)
    return read_pcap(path)


def contents(found) -> list[bytes]:
    return [bytes(payload) for payload in found.payloads]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nano", [False, True])
def test_payloads_and_times_of_a_pcap(tmp_path, order, nano):
    frames = [captures.ethernet(captures.udp(each)) for each in PAYLOADS]
    found = read(tmp_path, captures.pcap(frames, order=order, nano=nano))
    assert contents(found) == PAYLOADS
    np.testing.assert_array_equal(np.diff(found.time_ns), 1_000_000)
    assert found.time_ns[0] == 1_700_000_000 * 10**9
    assert found.streams == ("192.168.1.201:2368 to 2368",)
    assert found.remarks == ()


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("resolution", [6, 9])
def test_payloads_and_times_of_a_pcapng(tmp_path, order, resolution):
    frames = [captures.ethernet(captures.udp(each)) for each in PAYLOADS]
    found = read(tmp_path, captures.pcapng(frames, order=order, resolution=resolution))
    assert contents(found) == PAYLOADS
    np.testing.assert_array_equal(found.time_ns, 1_700_000_000 * 10**9 + np.arange(5) * 1_000_000)
    assert contents(read(tmp_path, captures.pcapng(frames, order=order, simple=True))) == PAYLOADS


@pytest.mark.parametrize(
    ("link", "framed"),
    [
        (0, lambda packet: b"\2\0\0\0" + packet),
        (1, lambda packet: captures.ethernet(packet, vlan=True)),
        (101, lambda packet: packet),
        (113, lambda packet: bytes(14) + struct.pack(">H", 0x0800) + packet),
        (276, lambda packet: struct.pack(">H", 0x0800) + bytes(18) + packet),
    ],
    ids=["null", "vlan", "raw", "linux", "linux 2"],
)
def test_link_layers(tmp_path, link, framed):
    found = read(tmp_path, captures.pcap([framed(captures.udp(each)) for each in PAYLOADS], link=link))
    assert contents(found) == PAYLOADS


def test_fragments_in_any_order_are_joined(tmp_path):
    rng = random.Random(3)
    for _ in range(20):
        parts = [
            part
            for k, each in enumerate(PAYLOADS)
            for part in captures.fragments(each, rng.choice([64, 1480]), number=k)
        ]
        rng.shuffle(parts)
        found = read(tmp_path, captures.pcap([captures.ethernet(part) for part in parts]))
        assert sorted(contents(found)) == sorted(PAYLOADS)


def test_fragments_of_ipv6_are_joined(tmp_path):
    body = captures.udp_datagram(PAYLOADS[-1])
    parts = [
        captures.ipv6(body[k : k + 1448], fragment=(9, k, k + 1448 < len(body))) for k in range(0, len(body), 1448)
    ]
    found = read(tmp_path, captures.pcap([captures.ethernet(part) for part in parts]))
    assert contents(found) == [PAYLOADS[-1]]
    whole = read(tmp_path, captures.pcap([captures.ethernet(captures.ipv6(body))]))
    assert contents(whole) == [PAYLOADS[-1]]
    assert whole.streams == ("fe80::1:2368 to 2368",)


def test_a_missing_fragment_is_stated(tmp_path):
    parts = captures.fragments(PAYLOADS[-1], 1480, number=1)[:-1] + captures.fragments(PAYLOADS[2], 256, number=2)
    found = read(tmp_path, captures.pcap([captures.ethernet(part) for part in parts]))
    assert contents(found) == [PAYLOADS[2]]
    assert found.remarks == ("1 fragmented datagrams were left out: fragments are missing",)


def test_a_number_that_is_used_again_begins_a_new_datagram(tmp_path):
    lost, whole = (captures.fragments(each, 1480, number=1) for each in (PAYLOADS[-1], PAYLOADS[-1][::-1]))
    found = read(tmp_path, captures.pcap([captures.ethernet(part) for part in [*lost[:3], *whole]]))
    assert contents(found) == [PAYLOADS[-1][::-1]]


def test_other_traffic_is_skipped(tmp_path):
    other = [b"", bytes(60), captures.ethernet(b"\x45" + bytes(30)), bytes(12) + b"\x08\x06" + bytes(28)]
    frames = [*other, captures.ethernet(captures.udp(PAYLOADS[1])), captures.ethernet(b"\x6f" + bytes(60))]
    assert contents(read(tmp_path, captures.pcap(frames))) == [PAYLOADS[1]]


@pytest.mark.parametrize("written", [captures.pcap, captures.pcapng])
def test_a_capture_that_was_cut_off_gives_its_whole_packets(tmp_path, written):
    frames = [captures.ethernet(captures.udp(each)) for each in PAYLOADS]
    data = written(frames)
    for cut in (1, 20, 5000):
        found = read(tmp_path, data[:-cut])
        assert contents(found) == PAYLOADS[:-1]
        assert "was cut off" in found.remarks[0]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is no pcap or pcapng file"),
        (b"\x89PNG", "it begins with 89504e47"),
        (captures.pcap([])[:10], "ends within the header"),
        (captures.pcap([b"x"], link=105), "a link of type 105"),
        (captures.pcapng([])[:8] + b"abcd" + bytes(20), "without a byte order"),
        (
            captures.pcapng([captures.ethernet(captures.udp(b"abc"))])[:28] + struct.pack("<II", 6, 13),
            "a block of 13 bytes",
        ),
        (captures.pcapng([])[:28] + struct.pack("<8I", 6, 32, 5, 0, 0, 0, 0, 32), "a packet of interface 5"),
    ],
)
def test_what_is_no_capture_is_refused_in_a_sentence(tmp_path, data, sentence):
    if "13 bytes" in sentence:
        data += bytes(40)
    with pytest.raises(SpecError, match=sentence) as refused:
        read(tmp_path, data)
    assert "\n" not in str(refused.value)


def test_packets_cut_by_a_capture_limit_are_refused(tmp_path):
    frame = captures.ethernet(captures.udp(PAYLOADS[3]))
    data = captures.pcap([])
    data += struct.pack("<IIII", 1, 0, 96, len(frame)) + frame[:96]
    with pytest.raises(SpecError, match="96 of 1248 bytes of a frame; capture whole packets"):
        read(tmp_path, data)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path in (tmp_path / "none.pcap", tmp_path):
        with pytest.raises(SpecError, match="cannot be read"):
            read_pcap(path)


def test_streams_are_chosen_by_a_part_of_their_name(tmp_path):
    frames = [
        captures.ethernet(captures.udp(b"a", source="10.0.0.1")),
        captures.ethernet(captures.udp(b"b", ports=(1, 77))),
    ]
    found = read(tmp_path, captures.pcap(frames))
    assert contents(found.chosen("10.0.0.1")) == [b"a"]
    assert contents(found.chosen("to 77")) == [b"b"]
    assert contents(found.chosen(None)) == [b"a", b"b"]
    with pytest.raises(SpecError, match=r"stream is '9999'; 'capture.pcap' has '10.0.0.1:2368 to 2368', "):
        found.chosen("9999")
