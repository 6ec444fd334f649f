"""Ouster packets of a sweep, decoded by the reader of recordings."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.live.lidar_udp.options import OusterUdp
from sensorium.live.lidar_udp.ouster import OusterPackets
from sensorium.recordings.packets import ouster
from sensorium.recordings.packets.crc64 import crc64
from tests.unit.live.lidar_udp.rooms import room, small_ouster, sweeps


def made(scan, spec, **options):
    """Packets of a sweep, their fields by name, and the batch."""
    maker = OusterPackets(spec, OusterUdp(**options), name="top")
    (batch,) = maker.sweep(scan)
    kind = ouster.packet_type(maker.profile, 4, 16)
    packets = ouster.decode(batch.payload.tobytes(), kind)
    return packets, ouster.fields_of(packets["columns"]["pixels"], maker.profile), batch


@pytest.mark.parametrize("profile", [None, "RNG15_RFL8_NIR8", "LEGACY"])
def test_pixels_have_the_ranges_and_times_of_the_scan(profile):
    env = room(**small_ouster(timing={"clock_offset_s": 0.25}))
    scan = sweeps(env, 2)[1]
    packets, fields, batch = made(scan, env.sensors["top"].spec, profile=profile)
    step = 8 if profile == "RNG15_RFL8_NIR8" else 1
    expected = np.rint((scan.range_m.astype(np.float64) + 0.0167) * 1e3 / step) * step
    # Halves of a millimeter may be rounded either way in float32
    assert np.abs(fields["range_mm"].reshape(512, 4).T - expected * (scan.range_m > 0)).max() <= step
    assert (expected * (scan.range_m > 0) != fields["range_mm"].reshape(512, 4).T).mean() < 0.01
    columns = packets["columns"].reshape(-1)
    np.testing.assert_array_equal(columns["time_ns"], scan.ray_time_ns[0])
    np.testing.assert_array_equal(columns["column"], np.arange(512))
    np.testing.assert_array_equal(batch.fired_ns, scan.start_ns + scan.offset_ns[0, 15::16])
    frame = columns["frame"] if profile == "LEGACY" else packets["header"]["frame"]
    assert set(frame.tolist()) == {1}
    if profile != "LEGACY":
        assert (columns["status"] == 1).all()
        assert (packets["header"]["kind"] == 1).all()
        rows = batch.payload
        np.testing.assert_array_equal(packets["footer"]["crc"], crc64(np.ascontiguousarray(rows[:, :-8])))


def test_dual_profile_has_the_stronger_return_first():
    env = room(**small_ouster(mode="relative", returns="all", max_returns=2, max_depth=1, detection=None))
    scan = sweeps(env, 1)[0]
    _, fields, _ = made(scan, env.sensors["top"].spec)
    strength = np.where(scan.valid, scan.intensity, -1.0)
    order = np.argsort(-strength, axis=0, kind="stable")
    expected = np.take_along_axis(np.where(scan.valid, np.rint(scan.range_m * 1e3 + 16.7), 0), order, axis=0)
    for k, name in enumerate(("range_mm", "range_mm_2")):
        assert np.abs(fields[name].reshape(512, 4).T - expected[k]).max() <= 1
    assert (fields["range_mm_2"] > 0).any()


def test_a_sweep_that_begins_behind_ends_in_the_next_frame():
    env = room(**small_ouster(pattern={"start_azimuth_deg": 180.0}))
    packets, _, _ = made(sweeps(env, 2)[1], env.sensors["top"].spec)
    assert packets["header"]["frame"].tolist() == 16 * [1] + 16 * [2]
    assert packets["columns"]["column"].reshape(-1)[[0, 255, 256, 511]].tolist() == [256, 511, 0, 255]


def test_signal_falls_with_the_square_of_range_and_near_infrared_follows_ambient_light():
    env = room(**small_ouster())
    scan = sweeps(env, 1)[0]
    _, fields, _ = made(scan, env.sensors["top"].spec, signal_at_10_m=500.0)
    signal, range_m = fields["signal"].reshape(512, 4).T, scan.range_m.astype(np.float64)
    np.testing.assert_allclose(signal, np.minimum(np.rint(500.0 * (10.0 / range_m) ** 2), 65535), atol=1)


def test_imu_samples_are_in_g_and_degrees():
    env = room(**small_ouster())
    imu = env.attach(sn.Imu(timing={"rate_hz": 20}), body="car", name="imu")
    env.step()
    maker = OusterPackets(env.sensors["top"].spec, OusterUdp(), name="top")
    (batch,) = maker.sample(imu.read(), 50_000_000)
    packet = ouster.decode(batch.payload.tobytes(), ouster.IMU_PACKET)[0]
    np.testing.assert_allclose(packet["acceleration_g"], imu.read().acceleration / 9.80665, rtol=1e-6)
    np.testing.assert_allclose(packet["rate_deg_s"], np.degrees(imu.read().angular_velocity), atol=1e-6)
    assert packet["gyroscope_ns"] == imu.read().time_ns
    assert batch.fired_ns.tolist() == [50_000_000]


@pytest.mark.parametrize(
    ("pattern", "options", "sentence"),
    [
        ({"columns": 500}, {}, "has 500x10 columns and Hz"),
        ({"direction": "counterclockwise"}, {}, "must turn clockwise"),
        ({"time_offset_s": (0.0, 1e-6, 2e-6, 3e-6)}, {}, "must fire at once"),
        ({"origin_offset_m": ((0.0, 0.01, 0.0),)}, {}, "must be one radius"),
        ({"start_azimuth_deg": 1.0}, {}, "must be a multiple of a packet's 11.25 degrees"),
        ({}, {"profile": "RNG15_RFL8_NIR8_DUAL"}, "has one return"),
        ({}, {"near_ir_full_scale_w": 1e-9}, "measures no ambient light"),
    ],
)
def test_what_packets_cannot_tell_is_refused(pattern, options, sentence):
    with pytest.raises(SpecError, match=sentence):
        OusterPackets(sn.Lidar(**small_ouster(pattern=pattern)), OusterUdp(**options), name="top")
