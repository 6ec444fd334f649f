"""Livox packets of sweeps: points in millimeters, in the order of time."""

import zlib

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.live.lidar_udp.livox import LivoxPackets
from sensorium.recordings.packets import livox
from tests.unit.live.lidar_udp.rooms import room, sweeps


@pytest.mark.parametrize("model", livox.MODELS.values(), ids=lambda model: model.name)
def test_points_are_those_of_the_scans_in_order_of_time(model):
    env = room(device=model.sheet, mode="geometric")
    scans = sweeps(env, 2)
    maker = LivoxPackets(env.sensors["top"].spec, model.name, name="top")
    batches = [batch for scan in scans for batch in maker.sweep(scan)]
    data = np.concatenate([batch.payload for batch in batches])
    layout = livox.layout_of(data[0].tobytes())
    assert layout is not None
    assert layout.protocol == model.protocol
    assert layout.returns == 1
    packets = livox.decode(data.tobytes(), layout)
    expected, times = [], []
    for scan in scans:
        order = np.argsort(scan.offset_ns.T.reshape(-1), kind="stable")
        expected.append(np.rint(1e3 * scan.points).transpose(1, 0, 2).reshape(-1, 3)[order])
        times.append((scan.start_ns + scan.offset_ns.T.reshape(-1))[order])
    points, time_ns = np.concatenate(expected), np.concatenate(times)
    found = np.stack([packets["data"][axis] for axis in ("x_mm", "y_mm", "z_mm")], axis=-1).reshape(-1, 3)
    assert len(found) == len(points) // layout.points * layout.points
    np.testing.assert_array_equal(found, points[: len(found)])
    np.testing.assert_array_equal(packets["head"]["time_ns"], time_ns[: len(found) : layout.points])
    fired_ns = np.concatenate([batch.fired_ns for batch in batches])
    np.testing.assert_array_equal(fired_ns, time_ns[layout.points - 1 : len(found) : layout.points])
    if model.protocol == 2:
        assert packets["head"]["crc"].tolist() == [zlib.crc32(row[28:].tobytes()) for row in data]
        np.testing.assert_array_equal(packets["head"]["count"], np.arange(len(packets)))
        assert (packets["head"]["length"] == data.shape[1]).all()


@pytest.mark.parametrize(("returns", "kind"), [("dual", 4), ("all", 7)])
def test_packets_of_several_returns(returns, kind):
    env = room(device="livox-avia", returns=returns, max_depth=1)
    scan = sweeps(env, 1)[0]
    (batch,) = LivoxPackets(env.sensors["top"].spec, "Avia", name="top").sweep(scan)
    packets = livox.decode(batch.payload.tobytes(), livox.LAYOUTS[1, kind])
    found = np.stack([packets["data"][axis] for axis in ("x_mm", "y_mm", "z_mm")], axis=-1)
    count = scan.range_m.shape[0]
    points = (
        np.rint(1e3 * np.where(scan.valid[..., None], scan.points, 0.0)).transpose(2, 1, 0, 3).reshape(-1, count, 3)
    )
    np.testing.assert_array_equal(found.reshape(-1, count, 3), points[: found.shape[0] * found.shape[1]])


@pytest.mark.parametrize(("model", "kind"), [("Avia", (1, 6)), ("Mid-360", (2, 0))])
def test_imu_samples_are_in_g_and_radians(model, kind):
    env = room(device=livox.MODELS[model].sheet, mode="geometric")
    imu = env.attach(sn.Imu(timing={"rate_hz": 20}), body="car", name="imu")
    env.step()
    (batch,) = LivoxPackets(env.sensors["top"].spec, model, name="top").sample(imu.read(), 7)
    packet = livox.decode(batch.payload.tobytes(), livox.LAYOUTS[kind])[0]
    np.testing.assert_allclose(packet["data"]["acceleration_g"][0], imu.read().acceleration / 9.80665, rtol=1e-6)
    np.testing.assert_allclose(packet["data"]["rate_rad_s"][0], imu.read().angular_velocity, atol=1e-6)


def test_what_packets_cannot_tell_is_refused():
    with pytest.raises(SpecError, match="has 3 returns; packets of a Mid-70 have 2"):
        LivoxPackets(sn.Lidar.from_device("livox-mid70", returns="all"), "Mid-70", name="top")
    with pytest.raises(SpecError, match="has frame 'world'"):
        LivoxPackets(sn.Lidar.from_device("livox-mid70", frame="world"), "Mid-70", name="top")
