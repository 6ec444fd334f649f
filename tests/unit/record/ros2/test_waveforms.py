"""Kept samples in recordings: every pulse, as other decoders read it."""

from dataclasses import replace

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.record import load_npz
from sensorium.record.ros2 import waveforms as messages
from sensorium.record.ros2.message import Source

KINDS = {6: "<u4", 7: "<f4", 8: "<f8"}


def recording(tmp_path, worlds=None):
    """A run of two sweeps of a lidar that keeps its samples, recorded; its scans and the messages of each topic."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(1.0, 8.0, 8.0), pose=sn.Pose((15.0, 0.0, 0.0)), material=sn.Lambertian(reflectance=0.4))
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.1), worlds=worlds, seed=5)
    pattern = sn.patterns.Raster(
        horizontal_fov_deg=(-40.0, 40.0), vertical_fov_deg=(-5.0, 5.0), width=6, height=3, rate_hz=10.0
    )
    waveform = {"keep": True, "start_s": 10e-9}
    env.attach(sn.Lidar(pattern=pattern, mode="waveform", max_range_m=30.0, waveform=waveform))
    scans, path = [], tmp_path / "run.mcap"
    with sn.record.McapRecorder(path) as recorder, sn.record.CloudRecorder(tmp_path / "npz", format="npz") as clouds:
        for _ in range(2):
            env.step()
            recorder.record(env)
            if worlds is None:
                clouds.record(env)
            scans.append(env.sensors["lidar"].read())
    found = {}
    with path.open("rb") as file:
        for decoded in make_reader(file, decoder_factories=[DecoderFactory()]).iter_decoded_messages():
            found.setdefault(decoded.channel.topic, []).append(decoded.decoded_message)
    return env, scans, found


def records(message):
    """Of a PointCloud2, by what it says of its fields alone."""
    fields = [(f.name, KINDS[f.datatype], (f.count,)) for f in message.fields]
    offsets = [f.offset for f in message.fields]
    kind = np.dtype(
        {"names": [f[0] for f in fields], "formats": [f[1:] for f in fields], "offsets": offsets,
         "itemsize": message.point_step}
    )  # fmt: skip
    return np.frombuffer(bytes(message.data), kind)


def test_every_pulse_of_every_sweep_is_there_bit_for_bit(tmp_path):
    _, scans, found = recording(tmp_path)
    assert len(found["/lidar/waveforms"]) == len(found["/lidar/points"]) == 2
    for scan, message in zip(scans, found["/lidar/waveforms"], strict=True):
        pulses, waveform = records(message), scan.waveform
        assert message.header.frame_id == "lidar"
        assert len(pulses) == 18 > scan.valid.sum() > 0  # with those that nothing came back of
        np.testing.assert_array_equal(pulses["samples"].reshape(waveform.samples.shape), waveform.samples)
        np.testing.assert_array_equal(pulses["ring"].reshape(3, 6), np.arange(3)[:, None] + np.zeros(6))
        np.testing.assert_array_equal(pulses["column"].reshape(3, 6), np.arange(6) + np.zeros((3, 1)))
        np.testing.assert_allclose(pulses["time"].reshape(3, 6), scan.offset_ns * 1e-9, atol=1e-12)
        for name in ("start_s", "resolution_s", "index"):
            assert (pulses[name] == getattr(waveform, name)).all()


def test_worlds_have_their_own(tmp_path):
    _, scans, found = recording(tmp_path, worlds=2)
    for world in range(2):
        pulses = records(found[f"/world_{world}/lidar/waveforms"][1])
        np.testing.assert_array_equal(pulses["samples"].reshape(3, 6, -1), scans[1].waveform.samples[world])
    assert (scans[1].waveform.samples[0] != scans[1].waveform.samples[1]).any()


def test_archives_of_a_recorder_have_them_too(tmp_path):
    _, scans, _ = recording(tmp_path)
    back = load_npz(tmp_path / "npz" / "lidar" / "000001.npz").waveform
    np.testing.assert_array_equal(back.samples, scans[1].waveform.samples)
    assert (back.start_s, back.resolution_s, back.index) == (10e-9, 0.5e-9, scans[1].waveform.index)


def test_more_than_a_message_can_have_is_refused_before_anything_is_packed(tmp_path, monkeypatch):
    env, scans, _ = recording(tmp_path)
    source = Source.of(env.sensors["lidar"], (), ())
    assert len(messages.waveforms(scans[0], source)) == 1
    monkeypatch.setattr(messages, "_MOST_BYTES", 1000)
    with pytest.raises(SpecError, match=r"samples of 18 pulses take .* GB; a message must have less than 4.29 GB"):
        messages.waveforms(scans[0], source)
    assert messages.waveforms(replace(scans[0], waveform=None), source) == []
