"""Simulated Ouster packets as Ouster's own SDK receives and decodes them."""

import json
import socket
import threading

import numpy as np
import pytest

import sensorium as sn
from sensorium.live.lidar_udp.options import UdpOptions
from sensorium.live.lidar_udp.senders import lidar_senders, ouster_metadata
from tests.system.live.makers import finished, python_with, receiver, yard

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def python(request):
    return python_with(request, "ouster-sdk==1.0.1")


def free_ports(count):
    """Ports that nobody listens on."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def received(tmp_path, python, env, frames, **options):
    """What the SDK decoded of a run, and the scans by frame id."""
    lidar_port, imu_port = free_ports(2)
    given = {"top": {"kind": "ouster", "lidar_port": lidar_port, "imu_port": imu_port, **options}}
    metadata = ouster_metadata(env, lidar_senders(env, UdpOptions(sensors=given))[0])
    (tmp_path / "metadata.json").write_text(json.dumps(metadata))
    env.run(duration_s=0.1).finish()  # kernels are loaded before time counts
    sink, scans, lidar = sn.live.open_sink("udp", sensors=given), {}, env.sensors["top"]
    rate_hz = lidar.spec.pattern.rate_hz
    with receiver(python, "ouster_receiver.py", tmp_path / "metadata.json", frames, tmp_path / "out.npz") as process:
        for _ in env.run(duration_s=(frames + 4) / rate_hz, live=[sink], realtime=0.3):
            for scan in lidar.readings():
                scans[round(scan.start_ns * rate_hz * 1e-9)] = scan
        finished(process)
    return np.load(tmp_path / "out.npz"), scans, sink


CASES = {
    "single": ({}, {}),
    "dual": ({"returns": "all", "max_returns": 2, "max_depth": 1}, {}),
    "low data rate": ({}, {"profile": "RNG15_RFL8_NIR8"}),
    "legacy": ({}, {"profile": "LEGACY"}),
    "begins behind": ({"pattern": {"start_azimuth_deg": 180.0}}, {}),
}


@pytest.mark.parametrize("case", CASES)
def test_points_are_those_of_the_scan(case, tmp_path, python):
    fields, options = CASES[case]
    env = yard("ouster-os1-128", imu=True, **fields)
    found, scans, sink = received(tmp_path, python, env, 4, imu="imu", **options)
    assert len(found["frame"]) == 4
    assert found["wrong"] == 0
    assert sink.state().dropped == 0
    columns = 0
    for k, frame in enumerate(found["frame"].tolist()[1:], 1):
        if case == "begins behind":
            # An Ouster's frame begins at column 0: the second half of one sweep and the first of the next
            half = 512
            parts = scans[frame - 1].points[:, half:], scans[frame].points[:, :half]
            points = np.concatenate(parts, axis=1)
            valid = np.concatenate([scans[frame - 1].valid[:, half:], scans[frame].valid[:, :half]], axis=1)
        else:
            scan = scans[frame]
            points, valid = scan.points.reshape(-1, 128, 1024, 3), scan.valid.reshape(-1, 128, 1024)
            if case == "dual":
                strong = scan.intensity.argmax(axis=0)[None]
                points, valid = np.take_along_axis(points, strong[..., None], 0), valid.any(axis=0)[None]
            points, valid = points[0], valid[0]
        decoded = found["xyz"][k]
        there = found["there"][k] & np.ones((128, 1), bool)  # a busy machine may overflow the receiver's buffer
        columns += there[0].sum()
        assert np.array_equal(found["range"][k] > 0, valid & there)
        valid = valid & there
        distance = np.linalg.norm(decoded - points, axis=-1)[valid]
        assert distance.max() < (0.0045 if case == "low data rate" else 0.001)
    if case == "dual":
        seconds = [np.sort(scans[f].range_m, axis=0)[0] > 0.0 for f in found["frame"].tolist()]
        seconds = [second & there for second, there in zip(seconds, found["there"], strict=True)]
        assert all(np.array_equal(found["range_2"][k] > 0, second) for k, second in enumerate(seconds))
        assert seconds[0].any()
    assert columns > 0.8 * 3 * 1024
    assert found["imu"].shape[0] > 20
    assert np.allclose(found["imu"][:, 1], 1.0, atol=0.01)
    assert np.allclose(found["imu"][:, 2], 0.0, atol=1e-3)


def test_metadata_are_read_over_http(python):
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(("127.0.0.7", 80))
        except OSError:
            pytest.skip("port 80, which the SDK asks at, cannot be bound here")
    env = yard("ouster-os1-128")
    env.run(duration_s=0.1).finish()
    (port,) = free_ports(1)
    sink = sn.live.open_sink("udp", sensors={"top": {"kind": "ouster", "lidar_port": port, "http": "127.0.0.7:80"}})
    steps = env.run(duration_s=60.0, live=[sink], realtime=0.1)
    next(steps)
    with receiver(python, "ouster_http_client.py", "127.0.0.7") as process:
        answer, errors = process.communicate(timeout=60)
    steps.close()
    assert json.loads(answer or "null") == ["OS-1-128", 128, 1024, port, "v3.0.1"], errors[-2000:]


def test_a_receiver_that_is_killed_and_started_again_goes_on(tmp_path, python):
    env = yard("ouster-os1-128")
    env.run(duration_s=0.1).finish()
    lidar_port, imu_port = free_ports(2)
    given = {"top": {"kind": "ouster", "lidar_port": lidar_port, "imu_port": imu_port}}
    metadata = tmp_path / "metadata.json"
    metadata.write_text(json.dumps(ouster_metadata(env, lidar_senders(env, UdpOptions(sensors=given))[0])))
    sink = sn.live.open_sink("udp", sensors=given)
    steps = env.run(duration_s=600.0, live=[sink], realtime=0.5)
    next(steps)
    with receiver(python, "ouster_receiver.py", metadata, 100, tmp_path / "never.npz") as process:
        for _ in range(20):
            next(steps)
        process.kill()
    with receiver(python, "ouster_receiver.py", metadata, 2, tmp_path / "out.npz") as process:
        while process.poll() is None:
            next(steps)
        finished(process)
    steps.close()
    assert len(np.load(tmp_path / "out.npz")["frame"]) == 2
    assert not [each.name for each in threading.enumerate() if each.name.startswith("sensorium-live")]
