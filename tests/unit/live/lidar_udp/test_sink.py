"""Runs whose lidar sends packets to sockets of the test."""

import socket
import threading
import time

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.live.lidar_udp.options import OusterUdp
from sensorium.live.lidar_udp.ouster import OusterPackets
from tests.unit.live.lidar_udp.rooms import room, small_ouster


def listener(address="127.0.0.1", port=0):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    one.bind((address, port))
    one.settimeout(0.5)
    return one


def threads():
    """Threads of sinks that still run."""
    return [each.name for each in threading.enumerate() if each.name.startswith("sensorium-live")]


def drained(one):
    found = []
    try:
        while True:
            found.append(one.recv(65535))
    except TimeoutError:
        return found


def expected(scans, spec):
    maker = OusterPackets(spec, OusterUdp(), name="top")
    return [row.tobytes() for scan in scans for row in maker.sweep(scan)[0].payload]


@pytest.mark.parametrize("realtime", [4.0, False], ids=["paced", "as fast as possible"])
def test_packets_of_a_run_arrive_at_every_address(realtime):
    env = room(**small_ouster())
    with listener() as here, listener("127.0.0.5", here.getsockname()[1]) as there:
        given = {"kind": "ouster", "lidar_port": here.getsockname()[1], "to": ["127.0.0.1", "127.0.0.5"]}
        sink, scans = sn.live.open_sink("udp", sensors={"top": given}), []
        for _ in env.run(duration_s=0.5, realtime=realtime, live=[sink]):
            scans += env.sensors["top"].readings()
        state = sink.state()
        packets = expected(scans, env.sensors["top"].spec)
        assert drained(here) == packets
        assert drained(there) == packets
    assert len(scans) == 5
    assert (state.sent, state.dropped) == (2 * 5 * 32, 0)
    assert not threads()


def test_faults_and_lost_sweeps_reach_the_bytes():
    env = room(**small_ouster(timing={"loss": 0.5}))
    with listener() as here:
        given = {"kind": "ouster", "lidar_port": here.getsockname()[1], "faults": {"dropped": 0.2, "doubled": 0.2}}
        sink, scans = sn.live.open_sink("udp", sensors={"top": given}), []
        for _ in env.run(duration_s=1.0, realtime=4.0, live=[sink]):
            scans += env.sensors["top"].readings()
        found, packets = drained(here), expected(scans, env.sensors["top"].spec)
    assert 0 < len(scans) < 10
    assert set(found) < set(packets)
    assert len(set(found)) < len(found)
    assert sink.state().dropped == len(packets) - len(set(found))


def test_an_absent_receiver_slows_nothing_and_the_sockets_close():
    env = room(**small_ouster())
    with listener() as gone:
        port = gone.getsockname()[1]
    sink = sn.live.open_sink("udp", sensors={"top": {"kind": "ouster", "lidar_port": port}})
    begun = time.monotonic()
    env.run(duration_s=0.5, realtime=2.0, live=[sink]).finish()
    assert time.monotonic() - begun < 10.0
    assert sink.state().sent == 5 * 32


def test_http_answers_and_moves_the_destination():
    from http.client import HTTPConnection
    from json import dumps, loads

    env = room(**small_ouster())
    with listener() as first, listener() as second:
        given = {"kind": "ouster", "lidar_port": first.getsockname()[1], "http": "127.0.0.1:0"}
        sink = sn.live.open_sink("udp", sensors={"top": given})
        steps = env.run(duration_s=0.6, realtime=2.0, live=[sink])
        for k, _ in enumerate(steps):
            if k == 3:
                connection = HTTPConnection(*sink.http_addresses[0], timeout=5.0)

                def asked(method, path, body=None, connection=connection):
                    connection.request(method, path, None if body is None else dumps(body))
                    answer = connection.getresponse()
                    return answer.status, loads(answer.read())

                status, config = asked("GET", "/api/v1/sensor/config")
                assert status == 200
                assert config["udp_port_lidar"] == first.getsockname()[1]
                there = {"udp_dest": "127.0.0.1", "udp_port_lidar": second.getsockname()[1]}
                assert asked("POST", "/api/v1/sensor/config", there)[0] == 200
                assert asked("POST", "/api/v1/sensor/config", {"udp_dest": "192.0.2.1"})[0] == 400
                assert asked("POST", "/api/v1/sensor/config", {"lidar_mode": "2048x10"})[0] == 400
                assert asked("POST", "/api/v1/sensor/config", {"udp_port_imu": 0})[0] == 400
                assert asked("GET", "/api/v1/sensor/config")[1]["udp_port_lidar"] == second.getsockname()[1]
        one, other = drained(first), drained(second)
    assert one
    assert other
    assert len(one) + len(other) == 6 * 32
    assert not threads()


def test_errors_at_the_start_leave_nothing_open():
    env = room(**small_ouster())
    sink = sn.live.open_sink("udp", sensors={"top": {"kind": "ouster", "source": "10.255.255.1"}})
    with pytest.raises(SpecError, match=r"from 10\.255\.255\.1 cannot be sent"):
        env.run(duration_s=0.5, live=[sink]).finish()
    assert not threads()


def test_deviations_count_from_firing_time_and_latency():
    env = room(**small_ouster())
    with listener() as here:
        sink = sn.live.open_sink("udp", sensors={"top": {"kind": "ouster", "lidar_port": here.getsockname()[1]}})
        env.run(duration_s=0.4, realtime=0.5, live=[sink]).finish()
    deviation_s = sink.sender.deviations_s()
    assert len(deviation_s) == 4 * 32
    assert (deviation_s >= 0.0).all()
    assert np.median(deviation_s) < 0.5
