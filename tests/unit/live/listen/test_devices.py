"""Both ends: what talkers send is what `sensorium listen` shows and records."""

import socket

import pytest

import sensorium as sn
from sensorium.live.listen.opening import receiver
from tests.unit.live.talkers.rig import vehicle


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.mark.parametrize(
    ("name", "kinds", "per_second", "suffix"),
    [
        ("nmea", {"RMC", "VTG", "GGA", "GSA", "ZDA"}, 25, ".nmea"),
        ("ubx", {"NAV-TIMEGPS", "NAV-PVT", "NAV-DOP", "NAV-SAT", "NAV-EOE"}, 25, ".ubx"),
        ("vectornav", {"binary 1"}, 50, ".vn"),
        ("xsens", {"MTData2"}, 50, ".xbus"),
        ("mavlink", {"HIL_SENSOR", "HIL_GPS"}, 55, ".mavlink"),
    ],
)
def test_every_message_is_received_shown_and_recorded(name, kinds, per_second, suffix, tmp_path):
    if name == "mavlink":
        pytest.importorskip("pymavlink")
    port = free_port()
    env, sink = vehicle(imu_hz=50.0), sn.live.open_sink(name, port=f"udp:{port}")
    listening = receiver(name, {"source": f"udp:{port}"})
    assert listening.suffix == suffix
    path = tmp_path / f"received{suffix}"
    with listening, listening.recorder(path) as write:
        env.run(1.0, live=[sink]).finish()
        found = []
        while (one := listening.receive(0.3)) is not None:
            write(one)
            found.append(one)
    assert len(found) == sink.state().sent == per_second
    assert {one.kind for one in found} == kinds
    assert path.read_bytes() == b"".join(one.payload for one in found)
    for one in found:
        assert one.line.startswith(f"{one.kind} ")
        assert "\n" not in one.line


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    from sensorium.core.errors import RecordError

    listening = receiver("nmea", {"source": "udp:1"})
    with pytest.raises(RecordError, match="cannot be written"), listening.recorder(tmp_path / "no" / "x.nmea"):
        pass
