"""What `sensorium listen udp` shows of packets, and records."""

import json
import socket

import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.live.lidar_udp.options import UdpOptions
from sensorium.live.lidar_udp.senders import lidar_senders, ouster_metadata, step_work
from sensorium.live.listen.lidar_udp import LidarListening, LidarReceiver, packet_line
from sensorium.live.listen.opening import receiver
from sensorium.recordings.readers.ouster import metadata_of
from sensorium.recordings.readers.pcap import read_pcap
from tests.unit.live.lidar_udp.rooms import room, small_ouster


def packets(env, **options):
    """The first packets of a run, and the lidar that sends them."""
    lidars = lidar_senders(env, UdpOptions(sensors={"top": options} if options else {}))
    found = []
    while not found:
        env.step()
        for work in step_work(env, lidars):
            found += [row.tobytes() for batch in lidars[0].batches(work) for row in batch.payload]
    return found, lidars[0]


@pytest.mark.parametrize(
    ("device", "kind"),
    [
        ("velodyne-vlp16", "VLP-16"),
        ("hesai-xt32", "PandarXT-32"),
        ("livox-mid70", "Livox kind 2"),
        ("livox-mid360", "Livox kind 1"),
    ],
)
def test_packets_are_told_by_their_bytes(device, kind):
    found, _ = packets(room(device=device))
    shown, line = packet_line(found[0], None)
    assert shown == kind
    assert " points" in line
    assert not line.startswith("0 points")


def test_packets_of_an_ouster_need_its_metadata():
    env = room(**small_ouster())
    found, lidar = packets(env, kind="ouster")
    assert packet_line(found[0], None) == ("Ouster?", "frame 0; its metadata tell more, --set metadata=FILE")
    shown = packet_line(found[1], metadata_of(ouster_metadata(env, lidar)))
    assert shown == ("OS-1-4", "64 points, frame 0, columns 16 to 31")


def test_imu_and_position_packets():
    env = room(**small_ouster(), step_s=0.1)
    env.attach(sn.Imu(timing={"rate_hz": 10}), body="car", name="imu")
    found, _ = packets(env, kind="ouster", imu="imu")
    assert packet_line(found[-1], None) == ("Ouster IMU", "acceleration 0.000 0.000 1.000 g")
    moving = room(device="velodyne-vlp16", step_s=0.1)
    moving.attach(sn.Gnss(timing={"rate_hz": 10}, origin=(48.0, 11.0, 0.0)), body="car", name="gnss")
    found, _ = packets(moving, kind="velodyne", gnss="gnss")
    kind, line = packet_line(found[-1], None)
    assert kind == "Velodyne position"
    assert line.startswith("$GPRMC,000000.10,A,4800.0000,N,01100.0001,E")
    assert packet_line(b"hello", None) == ("5 bytes", "")


def test_what_arrives_is_recorded_as_a_capture(tmp_path):
    env = room(**small_ouster())
    found, lidar = packets(env, kind="ouster")
    (tmp_path / "a.json").write_text(json.dumps(ouster_metadata(env, lidar)))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    options = LidarListening(ports=(port,), metadata=str(tmp_path / "a.json"))
    with LidarReceiver(options) as opened, opened.recorder(tmp_path / "a.pcap") as write:
        assert opened.receive(0.01) is None
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            for packet in found[:3]:
                out.sendto(packet, ("127.0.0.1", port))
                received = opened.receive(5.0)
                assert received.payload == packet
                assert received.line.startswith("OS-1-4 64 points, frame 0")
                write(received)
    assert [bytes(payload) for payload in read_pcap(tmp_path / "a.pcap").payloads] == found[:3]


def test_a_port_that_is_taken_is_refused():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
        with pytest.raises(SpecError, match=f"port {port} of 127.0.0.1 cannot be listened on"):
            receiver("udp", {"ports": [port]}).__enter__()
