"""What recorders make of a radar: messages that any reader decodes, and a table."""

import csv

import numpy as np
import pytest

import sensorium as sn
from sensorium.record.ros2.radar import DETECTION

CHIRP = sn.radar.Chirp(bandwidth_hz=149.896229e6, ramp_s=60e-6, samples=64, chirps=32)


@pytest.fixture
def env():
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(0.4, subdivisions=1), pose=sn.Pose((30.0, 6.0, 0.0)), label="ball")
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.05), seed=1)
    spec = sn.Radar(chirp=CHIRP, source="cone", range_doppler=True, cross_sections={"ball": 10.0}, fluctuation="steady")
    env.attach(spec, name="radar")
    return env


def test_a_recording_has_the_detections_and_the_map(env, tmp_path):
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    with sn.record.McapRecorder(tmp_path / "run.mcap") as recorder:
        for _ in env.run(0.1):
            recorder.record(env)
    found = {"/radar/detections": [], "/radar/range_doppler": []}
    with (tmp_path / "run.mcap").open("rb") as file:
        for _, channel, _, message in make_reader(file, decoder_factories=[DecoderFactory()]).iter_decoded_messages():
            if channel.topic in found:
                found[channel.topic].append(message)
    assert [len(messages) for messages in found.values()] == [2, 2]
    reading, cloud, picture = (
        env.sensors["radar"].read(),
        found["/radar/detections"][1],
        found["/radar/range_doppler"][1],
    )
    assert [field.name for field in cloud.fields] == list(DETECTION.names)
    rows = np.frombuffer(bytes(cloud.data), DETECTION)
    np.testing.assert_allclose(rows["range"], reading.flat().range_m, rtol=1e-6)
    np.testing.assert_allclose(np.stack([rows[k] for k in "xyz"], axis=-1), reading.flat().points, atol=1e-5)
    np.testing.assert_allclose(rows["power"], 10 * np.log10(reading.flat().power_W / 1e-3), rtol=1e-5)
    assert rows["object_id"][0] == 0
    assert (picture.height, picture.width, picture.encoding) == (32, 64, "32FC1")
    level = np.frombuffer(bytes(picture.data), "<f4").reshape(32, 64)
    np.testing.assert_allclose(level[::-1], 10 * np.log10(reading.map_W / 1e-3), rtol=1e-5)


def test_a_table_has_a_row_for_each_detection(env, tmp_path):
    readings = []
    with sn.record.SignalRecorder(tmp_path) as recorder:
        for _ in env.run(0.15):
            recorder.record(env)
            readings += env.sensors["radar"].readings()
    rows = list(csv.DictReader((tmp_path / "radar.csv").open()))
    assert len(rows) == sum(int(reading.valid.sum()) for reading in readings) > 0
    first = readings[0].flat()
    assert float(rows[0]["range_m"]) == first.range_m[0]
    assert float(rows[0]["range_rate_m_s"]) == first.range_rate_m_s[0]
    assert (int(rows[0]["truth_object_id"]), int(rows[0]["truth_cause"])) == (0, sn.EchoCause.OBJECT)


def test_the_report_shows_detections_and_the_map(env, tmp_path):
    with sn.view.Report(tmp_path / "report.html") as report:
        for _ in env.run(0.2):
            report.record(env)
    page = (tmp_path / "report.html").read_text()
    assert "Detections of the run" in page
    assert "Range-speed map of the frame" in page
    assert "there is no plot" not in page
