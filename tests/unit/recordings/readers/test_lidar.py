"""Which lidar sent packets: one, several, mixed, none; and columns against an independent computation."""

import json
import struct

import numpy as np
import pytest

from fuzz import captures
from sensorium.core.errors import SpecError
from sensorium.devices import describe
from sensorium.recordings.opening import open_recording
from sensorium.recordings.packets import hesai, ouster, velodyne
from sensorium.recordings.readers.lidar import read_lidar
from tests.unit.recordings.real import lidar

VLP16, VLS128, XT32 = velodyne.MODELS[0x22], velodyne.MODELS[0xA1], hesai.LAYOUTS[1080]


def vlp16_packets(count: int, *, model=VLP16, mode=0x37, start_us=3_599_990_000, seed=1) -> list[bytes]:
    """Packets of a head that turns by 0.2 deg a firing of 55.296 us."""
    rng = np.random.default_rng(seed)
    groups, _ = velodyne.layout_of(model, mode)
    per = model.firings_per_block
    firing = np.arange(count * groups).reshape(count, groups) * per
    shape = (count, groups * per, model.channels, len(velodyne.RETURNS[mode]))
    fired = velodyne.Firings(
        azimuth=(np.rint(20.0 * firing) % 36000).astype(np.uint16),
        distance=rng.integers(500, 5000, shape).astype(np.uint16),
        reflectivity=rng.integers(0, 256, shape).astype(np.uint8),
    )
    time_us = np.rint(start_us + 55.296 * firing[:, 0]).astype(np.int64) % 3_600_000_000
    data = velodyne.encode(velodyne.packets_of(fired, time_us, model, mode))
    return [data[k : k + 1206] for k in range(0, len(data), 1206)]


def xt32_packets(count: int) -> list[bytes]:
    fired = hesai.firings(np.zeros(count, XT32.dtype), XT32, 0x39)
    counts = (18 * np.arange(count * 4).reshape(count, 4) % 36000).astype(np.uint16)
    fired = fired._replace(azimuth=counts, distance=np.full_like(fired.distance, 700))
    packets = hesai.packets_of(fired, XT32, 0x39, hesai.blank(XT32, 0x39))
    packets["time_us"] = 200 * np.arange(count)
    packets["year"], packets["month"], packets["day"] = 121, 3, 4
    data = hesai.encode(packets)
    return [data[k : k + 1080] for k in range(0, len(data), 1080)]


def capture(path, *streams) -> None:
    """A capture of streams, each as source, ports and payloads, in turn."""
    frames = []
    for source, ports, payloads in streams:
        frames += [captures.ethernet(captures.udp(each, source=source, ports=ports)) for each in payloads]
    path.write_bytes(captures.pcap(frames))


def test_columns_of_a_vlp16_are_those_of_the_packets(tmp_path):
    packets = vlp16_packets(300)
    capture(tmp_path / "a.pcap", ("10.0.0.1", (2368, 2368), packets))
    found = read_lidar(tmp_path / "a.pcap")
    assert (found.device, found.returns, found.range_m.shape) == ("VLP-16", ("strongest",), (7200, 16, 1))
    # The hour ends within: times go on
    np.testing.assert_allclose(found.time_ns - found.time_ns[0], 55_296 * np.arange(7200), atol=1500)
    np.testing.assert_allclose(np.degrees(found.azimuth), 0.2 * np.arange(7200) % 360.0, atol=1e-9)
    np.testing.assert_array_equal(found.turn, np.arange(7200) // 1800)
    for k, block, firing, channel in ((0, 0, 0, 0), (17, 5, 1, 7), (299, 11, 1, 15)):
        at = 100 * block + 4 + 3 * (16 * firing + channel)
        counts, reflectivity = struct.unpack_from("<HB", packets[k], at)
        column = k * 24 + block * 2 + firing
        assert found.range_m[column, channel, 0] == pytest.approx(0.002 * counts, rel=1e-6)
        assert found.reflectivity[column, channel, 0] == reflectivity
    elevation_deg = describe("velodyne-vlp16").specification()["pattern"]["elevation_deg"]
    np.testing.assert_allclose(np.degrees(found.elevation), elevation_deg)
    point = found.points_S()[0, 1]
    assert point[2] == pytest.approx(found.range_m[0, 1, 0] * np.sin(np.radians(1.0)), rel=1e-6)


def test_packets_that_are_lost_leave_times_and_azimuths_as_they_are(tmp_path):
    packets = vlp16_packets(300, start_us=0)
    capture(tmp_path / "a.pcap", ("10.0.0.1", (2368, 2368), packets[:100] + packets[130:]))
    found = read_lidar(tmp_path / "a.pcap")
    columns = np.concatenate([np.arange(2400), np.arange(3120, 7200)])
    np.testing.assert_allclose(found.time_ns, 55_296 * columns, atol=1500)
    np.testing.assert_allclose(np.degrees(found.azimuth), 0.2 * columns % 360.0, atol=1e-9)


def test_columns_of_an_xt32_have_both_returns_in_the_order_of_its_packets(tmp_path):
    capture(tmp_path / "a.pcap", ("10.0.0.1", (2368, 2368), xt32_packets(100)))
    found = read_lidar(tmp_path / "a.pcap")
    assert found.returns == ("strongest", "last")
    np.testing.assert_allclose(np.diff(found.time_ns), 50_000, atol=2)
    np.testing.assert_allclose(found.range_m, 2.8, rtol=1e-6)
    # The stamp is the end of the packet: 5.632 us later its last block fires
    stamp_us = (np.datetime64("2021-03-04") - np.datetime64("1970-01-01")) // np.timedelta64(1, "us")
    assert found.time_ns[3] == stamp_us * 1000 + 5632


def test_a_bag_in_several_files_of_a_folder_is_one_recording(tmp_path):
    kind, packets = "velodyne_msgs/msg/VelodyneScan", vlp16_packets(220)
    (tmp_path / "bag").mkdir()
    (tmp_path / "bag" / "metadata.yaml").write_text("rosbag2_bagfile_information: {}\n")
    for k in range(11):
        message = captures.scan_message(kind, packets[20 * k : 20 * k + 20])
        captures.sqlite_bag(tmp_path / "bag" / f"bag_{k}.db3", kind, [message])
    found = open_recording(tmp_path / "bag")
    capture(tmp_path / "a.pcap", ("10.0.0.1", (2368, 2368), packets))
    expected = read_lidar(tmp_path / "a.pcap")
    assert found.source == "bag"
    for name in ("time_ns", "azimuth", "range_m", "reflectivity"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_packets_of_two_devices_in_one_stream_are_refused(tmp_path):
    mixed = [each for pair in zip(vlp16_packets(50), vlp16_packets(50, model=VLS128), strict=True) for each in pair]
    capture(tmp_path / "a.pcap", ("10.0.0.1", (2368, 2368), mixed))
    with pytest.raises(SpecError, match=r"packets of two devices in one stream, '10.0.0.1:2368 to 2368': VLP-16"):
        read_lidar(tmp_path / "a.pcap")


def test_two_lidars_on_one_port_are_chosen_by_address(tmp_path):
    first, second = ("10.0.0.1", (2368, 2368), vlp16_packets(50)), ("10.0.0.2", (2368, 2368), xt32_packets(40))
    capture(tmp_path / "a.pcap", first, second)
    with pytest.raises(
        SpecError, match=r"several lidars, '10.0.0.1:2368 to 2368: VLP-16', .*; choose one by its stream"
    ):
        read_lidar(tmp_path / "a.pcap")
    assert read_lidar(tmp_path / "a.pcap", stream="10.0.0.2").device == "PandarXT-32"
    assert open_recording(tmp_path / "a.pcap", stream="10.0.0.1").device == "VLP-16"


def test_a_stray_packet_is_left_out_with_a_remark(tmp_path):
    capture(tmp_path / "a.pcap", ("10.0.0.1", (2368, 2368), vlp16_packets(200) + vlp16_packets(1, model=VLS128)))
    found = read_lidar(tmp_path / "a.pcap")
    assert len(found.azimuth) == 200 * 24
    assert found.remarks == ("1 packets of other devices were left out",)


def test_two_return_modes_are_refused(tmp_path):
    capture(tmp_path / "a.pcap", ("10.0.0.1", (2368, 2368), vlp16_packets(9) + vlp16_packets(9, mode=0x39)))
    with pytest.raises(SpecError, match="return modes 0x37, 0x39; record one mode at a time"):
        read_lidar(tmp_path / "a.pcap")


def test_packets_of_another_device_are_refused_with_their_sizes(tmp_path):
    capture(tmp_path / "a.pcap", ("10.0.0.1", (7502, 7502), [bytes(1248)] * 7 + [bytes(48)]))
    with pytest.raises(SpecError, match=r"no packets of a lidar that is known here: 1248 bytes \(7 times\), 48 bytes"):
        read_lidar(tmp_path / "a.pcap")
    capture(tmp_path / "b.pcap", ("10.0.0.1", (2368, 2368), [bytes(1206)]))
    with pytest.raises(SpecError, match="1206 bytes"):
        read_lidar(tmp_path / "b.pcap")


def metadata(**changes) -> dict:
    form = {"columns_per_frame": 512, "columns_per_packet": 16, "pixels_per_column": 4}
    form |= {"udp_profile_lidar": "RNG19_RFL8_SIG16_NIR16_DUAL"}
    made = {"prod_line": "OS-1-4", "data_format": form, "lidar_mode": "512x10"}
    return made | {"beam_altitude_angles": [10, 3, -3, -10], "beam_azimuth_angles": [3, 1, -1, -3]} | changes


def ouster_packets(turns: int) -> list[bytes]:
    profile, n = "RNG19_RFL8_SIG16_NIR16_DUAL", turns * 32
    packets = np.zeros(n, ouster.packet_type(profile, 4, 16))
    column = np.arange(n * 16).reshape(n, 16)
    packets["header"]["kind"], packets["header"]["frame"] = 1, 65_535 + column[:, 0] // 512 & 0xFFFF
    packets["columns"]["time_ns"], packets["columns"]["column"] = 195_312 * column, column % 512
    packets["columns"]["status"] = column != 5
    fields = {"range_mm": (1000 + column)[..., None] + np.arange(4), "range_mm_2": np.full((n, 16, 4), 9000)}
    fields |= {
        "reflectivity": np.full((n, 16, 4), 30),
        "signal": np.full((n, 16, 4), 700),
        "signal_2": np.full((n, 16, 4), 8),
    }
    packets["columns"]["pixels"] = ouster.words_of({**fields, "background": np.full((n, 16, 4), 99)}, profile)
    data = ouster.encode(packets)
    return [data[k : k + len(data) // n] for k in range(0, len(data), len(data) // n)]


def test_columns_of_an_ouster_with_its_metadata(tmp_path):
    capture(tmp_path / "a_1.pcap", ("10.0.0.1", (7502, 7502), ouster_packets(3)))
    with pytest.raises(SpecError, match=r"packets of an Ouster need its metadata \(JSON\)"):
        read_lidar(tmp_path / "a_1.pcap")
    (tmp_path / "a.json").write_text(json.dumps(metadata()))
    found = read_lidar(tmp_path / "a_1.pcap")
    valid = np.delete(np.arange(3 * 512), 5)
    assert (found.device, found.columns_per_turn, found.returns) == ("OS-1-4", 512, ("strongest", "second"))
    np.testing.assert_array_equal(found.time_ns, 195_312 * valid)
    np.testing.assert_array_equal(found.turn, valid // 512)
    np.testing.assert_allclose(found.azimuth, valid % 512 * 2.0 * np.pi / 512)
    np.testing.assert_allclose(found.range_m[:, 2, 0], 1e-3 * (1002 + valid), rtol=1e-6)
    np.testing.assert_allclose(found.range_m[:, :, 1], 9.0, rtol=1e-6)
    assert (found.signal == [700, 8]).all()
    assert (found.background == 99).all()
    # The head turns clockwise: the first beam is 3 deg ahead, to the right
    assert found.directions_S()[0, 0, 1] == pytest.approx(-np.sin(np.radians(3)) * np.cos(np.radians(10)))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"beam_altitude_angles": [1.0]}, "1 altitudes and 4 azimuths are given for 4 pixels"),
        ({"data_format": {"udp_profile_lidar": "RNG99"}}, "udp_profile_lidar is 'RNG99'"),
        ({"data_format": {"columns_per_frame": 10**9}}, "columns_per_frame is 1000000000"),
        ({"data_format": []}, "no metadata of an Ouster sensor"),
    ],
)
def test_metadata_that_are_wrong_are_refused(tmp_path, change, sentence):
    capture(tmp_path / "a.pcap", ("10.0.0.1", (7502, 7502), ouster_packets(1)))
    (tmp_path / "given.json").write_text(json.dumps(metadata(**change)))
    with pytest.raises(SpecError, match=sentence):
        read_lidar(tmp_path / "a.pcap", calibration=tmp_path / "given.json")


@pytest.mark.parametrize("name", ["vlp16", "vls128", "pandar64", "40p", "qt64", "xt32", "os0", "os1", "os1-32"])
def test_recorded_scans_are_whole_turns_at_ten_hertz(name):
    path, calibration = lidar(name)
    found = read_lidar(path, calibration=calibration)
    assert found.rotation_rate() / (2.0 * np.pi) == pytest.approx(10.0, rel=2e-3)
    assert (np.diff(found.time_ns) > 0).all()
    step = np.mod(np.diff(found.azimuth), 2.0 * np.pi)
    assert step.max() < 2.2 * np.median(step)
    assert found.elevation is not None
    assert np.isfinite(found.points_S()).all()
    if "last" in found.returns:
        last = found.range_m[..., found.returns.index("last")]
        other = found.range_m[..., 1 - found.returns.index("last")]
        assert (last >= other)[(last > 0.0) & (other > 0.0)].all()
