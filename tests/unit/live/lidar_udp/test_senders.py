"""Which lidars send, and what is refused."""

import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.live.lidar_udp.options import UdpOptions
from sensorium.live.lidar_udp.senders import lidar_senders, ouster_metadata
from tests.unit.live.lidar_udp.rooms import room, small_ouster

KNOWN = {
    "ouster-os0-128": ("ouster", 7502),
    "ouster-os1-64": ("ouster", 7502),
    "velodyne-vlp16": ("velodyne", 2368),
    "velodyne-vls128": ("velodyne", 2368),
    "hesai-xt32": ("hesai", 2368),
    "livox-mid40": ("livox", 60001),
    "livox-mid360": ("livox", 56301),
    "livox-hap": ("livox", 57000),
}


@pytest.mark.parametrize("device", KNOWN)
def test_a_lidar_of_a_data_sheet_is_found_by_its_beams(device):
    (found,) = lidar_senders(room(device=device), UdpOptions())
    assert (found.options.kind, found.ports["lidar"]) == KNOWN[device]
    assert found.latency_ns == found.duration_ns + 50_000_000


def test_the_product_of_an_ouster_follows_from_its_sheet_also_at_another_rate():
    env = room(device="ouster-os0-128", pattern={"columns": 512, "rate_hz": 20.0})
    (found,) = lidar_senders(env, UdpOptions())
    metadata = ouster_metadata(env, found)
    assert metadata["sensor_info"]["prod_line"] == "OS-0-128"
    assert metadata["config_params"]["lidar_mode"] == "512x20"


def options(**fields):
    return UdpOptions(sensors={"top": {"kind": "ouster", **fields}})


def test_what_cannot_be_sent_is_refused():
    env = room(**small_ouster())
    with pytest.raises(SpecError, match="udp has no lidar to send"):
        lidar_senders(env, UdpOptions())
    with pytest.raises(SpecError, match="sensors has 'front'; the environment has 'top'"):
        lidar_senders(env, UdpOptions(sensors={"front": {"kind": "ouster"}}))
    with pytest.raises(SpecError, match=r"latency_s is 0.05; a sweep of lidar 'top' is known after 0.1 s"):
        lidar_senders(env, options(latency_s=0.05))
    with pytest.raises(SpecError, match="imu is 'imu'; it must be one of: none is attached"):
        lidar_senders(env, options(imu="imu"))
    with pytest.raises(SpecError, match="has the beams of no velodyne data sheet; its model must be given"):
        lidar_senders(env, UdpOptions(sensors={"top": {"kind": "velodyne"}}))
    env.attach(sn.Imu(timing={"rate_hz": 100}), name="imu")
    with pytest.raises(SpecError, match="sensors has 'imu', Imu; makers' packets are of lidars"):
        lidar_senders(env, UdpOptions(sensors={"imu": {"kind": "ouster"}}))
    two = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.1))
    for name in ("a", "b"):
        two.attach(sn.Lidar(**small_ouster()), name=name)
    both = {name: {"kind": "ouster"} for name in ("a", "b")}
    with pytest.raises(SpecError, match=r"lidars 'a' and 'b' both send to 127\.0\.0\.1:7502"):
        lidar_senders(two, UdpOptions(sensors=both))
    both["b"] = {"kind": "ouster", "source": "127.0.0.3"}
    assert len(lidar_senders(two, UdpOptions(sensors=both))) == 2
