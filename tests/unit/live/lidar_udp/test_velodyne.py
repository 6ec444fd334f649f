"""Velodyne packets of sweeps, decoded by the reader of recordings."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.live.lidar_udp.velodyne import VelodynePackets
from sensorium.recordings.packets import velodyne
from sensorium.recordings.readers.velodyne import velodyne_recording
from tests.unit.live.lidar_udp.rooms import room, sweeps


@pytest.mark.parametrize("device", [model.sheet for model in velodyne.MODELS.values()])
@pytest.mark.parametrize("returns", ["strongest", "all"])
def test_columns_have_the_ranges_and_times_of_the_scans(device, returns):
    fields = {"returns": "all", "max_returns": 2, "max_depth": 1} if returns == "all" else {}
    env = room(device=device, **fields)
    scans = sweeps(env, 3)
    model = next(each for each in velodyne.MODELS.values() if each.sheet == device)
    maker = VelodynePackets(env.sensors["top"].spec, model.name, epoch_s=0.0, name="top")
    batches = [batch for scan in scans for batch in maker.sweep(scan)]
    data = np.concatenate([batch.payload for batch in batches])
    recording = velodyne_recording(velodyne.decode(data.tobytes()), "live")

    # Firings go on from sweep to sweep: all are there but those of the packet that is not complete
    groups, _ = velodyne.layout_of(model, maker.mode)
    per_packet = groups * model.firings_per_block
    total = sum(scan.range_m.shape[-1] for scan in scans)
    assert len(data) == total // per_packet
    assert len(recording.time_ns) == len(data) * per_packet
    shape = (-1, *scans[0].offset_ns.shape)
    range_m = np.concatenate([scan.range_m.reshape(shape) for scan in scans], axis=-1)[..., : len(recording.time_ns)]
    found = recording.range_m.transpose(2, 1, 0)
    if returns == "all":
        np.testing.assert_allclose(found[0], range_m.max(axis=0), atol=0.51 * model.range_unit_m)
        several = (range_m > 0.0).all(axis=0)
        assert several.any()
        np.testing.assert_allclose(found[1][several], range_m.min(axis=0)[several], atol=0.51 * model.range_unit_m)
    else:
        np.testing.assert_allclose(found[0], range_m[0], atol=0.51 * model.range_unit_m)
    times = np.concatenate([scan.ray_time_ns.reshape(shape)[0].min(axis=0) for scan in scans])[: len(found[0, 0])]
    assert np.abs(recording.time_ns - times).max() < 3000
    azimuth = np.concatenate([np.arange(scan.range_m.shape[-1]) / scan.range_m.shape[-1] for scan in scans])
    apart = np.mod(recording.azimuth / (2 * np.pi) - azimuth[: len(times)] + 0.5, 1.0) - 0.5
    assert np.abs(apart).max() * 360.0 < 0.011


def test_a_lost_sweep_drops_the_packet_that_was_begun():
    env = room(device="velodyne-vlp16")
    scans = sweeps(env, 3)
    spec = env.sensors["top"].spec
    maker = VelodynePackets(spec, "VLP-16", epoch_s=0.0, name="top")
    (first,), (third,) = maker.sweep(scans[0]), maker.sweep(scans[2])
    assert len(first.fired_ns) == len(third.fired_ns) == 1808 // 24
    assert third.fired_ns[0] > scans[2].start_ns


def test_returns_that_a_velodyne_does_not_have_and_other_channels_are_refused():
    with pytest.raises(SpecError, match="has returns 'first'"):
        VelodynePackets(sn.Lidar.from_device("velodyne-vlp16", returns="first"), "VLP-16", epoch_s=0.0, name="top")
    with pytest.raises(SpecError, match="has 16 channels; a VLS-128 must have 128"):
        VelodynePackets(sn.Lidar.from_device("velodyne-vlp16"), "VLS-128", epoch_s=0.0, name="top")
    with pytest.raises(SpecError, match="has no full turns"):
        VelodynePackets(sn.Lidar.from_device("livox-mid40"), "VLP-16", epoch_s=0.0, name="top")
