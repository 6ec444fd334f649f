"""Hesai packets of sweeps, decoded by the formula of its manuals and by the reader of recordings."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.live.lidar_udp.hesai import HesaiPackets
from sensorium.recordings.packets import hesai
from sensorium.recordings.readers.hesai import hesai_recording
from tests.unit.live.lidar_udp.rooms import room, sweeps

MODELS = {"hesai-xt32": "PandarXT-32", "hesai-pandar64": "Pandar64"}


@pytest.mark.parametrize("device", MODELS)
@pytest.mark.parametrize("returns", ["strongest", "last", "first", "all"])
def test_columns_have_the_points_and_times_of_the_scans(device, returns):
    fields = {"returns": "all", "max_returns": 2, "max_depth": 1} if returns == "all" else {"returns": returns}
    env = room(device=device, **fields)
    scans, spec = sweeps(env, 2), env.sensors["top"].spec
    maker = HesaiPackets(spec, MODELS[device], epoch_s=946_684_800.0, name="top")
    batches = [batch for scan in scans for batch in maker.sweep(scan)]
    packets = hesai.decode(np.concatenate([batch.payload for batch in batches]).tobytes(), maker.layout)
    assert hesai.is_marked(packets, maker.layout).all()
    np.testing.assert_array_equal(packets["sequence"], np.arange(len(packets)))
    recording = hesai_recording(packets, maker.layout, "live")
    count, rays = len(recording.time_ns), scans[0].offset_ns.shape
    fired_ns = np.concatenate([scan.ray_time_ns.reshape(-1, *rays)[0].min(axis=0) for scan in scans])[:count]
    assert np.abs(recording.time_ns - 946_684_800_000_000_000 - fired_ns).max() < 3000
    assert recording.returns == (("strongest", "last") if device == "hesai-xt32" else ("last", "strongest")) or (
        returns != "all"
    )

    # x = r cos e sin a, y = r cos e cos a, with the azimuth of each channel's own time; beams begin at the origin
    points = np.concatenate([scan.points.reshape(-1, *rays, 3) for scan in scans], axis=2)[:, :, :count]
    range_m = np.concatenate([scan.range_m.reshape(-1, *rays) for scan in scans], axis=2)[:, :, :count]
    which = recording.returns.index("last") if returns == "all" else 0
    chosen = range_m.argmax(axis=0)[None] if returns == "all" else np.zeros((1, *range_m.shape[1:]), int)
    points = np.take_along_axis(points, chosen[..., None], axis=0)[0]
    pattern = spec.pattern
    turn_deg = 360.0 * pattern.rate_hz * np.array(pattern.time_offset_s)[:, None]
    azimuth = np.radians(
        np.degrees(recording.azimuth)[None]
        + turn_deg
        - np.array(pattern.azimuth_offset_deg or np.zeros(rays[0]))[:, None]
    )
    r, e = recording.range_m[:, :, which].T, np.radians(pattern.elevation_deg)[:, None]
    decoded = np.stack([r * np.cos(e) * np.sin(azimuth), r * np.cos(e) * np.cos(azimuth), r * np.sin(e)], axis=-1)
    near = (r > 0.0) & (pattern.origin_offset_m is None)
    assert near.any()
    assert (np.linalg.norm(decoded - points, axis=-1) < 0.0021 + 0.0001 * r)[near].all()


def test_other_channels_are_refused():
    env = room(device="velodyne-vlp16")
    with pytest.raises(SpecError, match="has 16 channels; a PandarXT-32 must have 32"):
        HesaiPackets(env.sensors["top"].spec, "PandarXT-32", epoch_s=0.0, name="top")
