"""Capture files of a run, read as recordings of real devices are."""

import numpy as np

import sensorium as sn
from sensorium.recordings.readers.lidar import read_lidar
from sensorium.recordings.readers.pcap import read_pcap
from tests.unit.live.lidar_udp.rooms import room, small_ouster


def test_an_ouster_is_read_with_the_metadata_beside(tmp_path):
    env = room(**small_ouster())
    env.attach(sn.Imu(timing={"rate_hz": 100}), body="car", name="imu")
    given = {"top": {"kind": "ouster", "imu": "imu"}}
    sink, scans = sn.live.open_sink("pcap", path=str(tmp_path / "a.pcap"), sensors=given), []
    for _ in env.run(duration_s=0.5, live=[sink]):
        scans += env.sensors["top"].readings()
    assert (tmp_path / "a.json").is_file()
    assert sink.state().sent == 5 * 32 + 50
    found = read_lidar(tmp_path / "a.pcap", stream="to 7502")
    assert found.device == "OS-1-4"
    assert found.range_m.shape == (5 * 512, 4, 1)
    range_m = np.concatenate([scan.range_m for scan in scans], axis=1).T
    np.testing.assert_allclose(found.range_m[..., 0], (range_m + 0.0167) * (range_m > 0), atol=6e-4)
    datagrams = read_pcap(tmp_path / "a.pcap")
    assert (np.diff(datagrams.time_ns) >= 0).all()
    assert datagrams.time_ns[0] // 1_000_000_000 == 946_684_800


def test_a_velodyne_is_read_without(tmp_path):
    env = room(device="velodyne-vlp16")
    sink = sn.live.open_sink("pcap", path=str(tmp_path / "a.pcap"))
    env.run(duration_s=0.3, live=[sink]).finish()
    found = read_lidar(tmp_path / "a.pcap")
    assert found.device == "VLP-16"
    assert len(found.time_ns) == 3 * 1808 // 24 * 24
    assert list(tmp_path.iterdir()) == [tmp_path / "a.pcap"]


def test_two_ousters_have_metadata_each(tmp_path):
    env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.1))
    for name in ("a", "b"):
        env.attach(sn.Lidar(**small_ouster()), name=name)
    given = {"a": {"kind": "ouster"}, "b": {"kind": "ouster", "lidar_port": 7602}}
    sink = sn.live.open_sink("pcap", path=str(tmp_path / "run.pcap"), sensors=given)
    env.run(duration_s=0.2, live=[sink]).finish()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["run.pcap", "run_a.json", "run_b.json"]
