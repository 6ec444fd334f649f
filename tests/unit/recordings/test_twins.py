"""One table: each kind of recording has a twin, or a reason why it has none."""

from pathlib import Path

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.devices import describe
from sensorium.recordings.compare.page import page
from sensorium.recordings.opening import KINDS, open_recording
from sensorium.recordings.readers.radar_cube import RadarCube
from sensorium.recordings.readers.rinex import Observations
from sensorium.recordings.twins import TWINS, Twin, compare_recording, fit_recording, twin_of
from tests.unit.recordings.fit.test_radar import listed
from tests.unit.recordings.measure.test_imu_truth import simulated
from tests.unit.recordings.real import real


def test_every_kind_of_recording_is_in_the_table():
    assert len(TWINS) == len(KINDS)
    for twin in TWINS.values():
        if isinstance(twin, Twin):
            assert hasattr(sn, twin.sensor)


@pytest.mark.parametrize(
    ("kind", "says"),
    [(Observations, "reports positions, and has no code noise"), (RadarCube, "raw samples have no scale in watts")],
)
def test_kinds_without_a_twin_say_why(kind, says):
    recording = kind(*[Path("file") if name == "path" else None for name in kind._fields])
    for use in (fit_recording, lambda each: compare_recording(each, describe("delphi-esr-mid"))):
        with pytest.raises(SpecError, match=f"'file' can be measured, not fitted or compared: .*{says}"):
            use(recording)


def test_an_imu_with_truth_is_fitted_to_its_rest(tmp_path):
    trial = simulated(np.random.default_rng(2), noise=0.004, bias=np.zeros(3), motion_s=1.0)
    (tmp_path / "imu.toml").write_text(fit_recording(trial).text)
    imu = sn.Imu.from_device(tmp_path / "imu.toml")
    assert np.array(imu.angular.noise.density) == pytest.approx(np.sqrt(2.0 / 200.0) * 0.004, rel=0.15)
    assert compare_recording(trial, describe(tmp_path / "imu.toml")).count("differs") == 0


def test_the_page_has_a_picture_and_the_figures_of_a_radar(tmp_path):
    detections = listed(np.random.default_rng(1), speed_noise=0.03, azimuth_noise=0.01, count=200)
    (tmp_path / "radar.toml").write_text(fit_recording(detections).text)
    text = page(compare_recording(detections, describe(tmp_path / "radar.toml"))).decode()
    assert "ARS548: real beside simulated" in text
    assert text.count("data:image/png;base64,") == 1
    for quantity in ("own_speed", "doppler_noise.head_on", "azimuth_noise"):
        assert quantity in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "least"),
    [
        ("depth_realsense_d435/single_depth_color_640x480.bag", 7),
        ("camera_emva1288", 11),
        ("waveform_riegl/100429_152240_2535pt_UTM.las", 6),
        ("radar_continental/ars548/1708578204_202447652_detection.yaml", 5),
        ("radar_continental/srr520/1708578209_45566935_near_detection.yaml", 7),
        ("imu_xsens_imutk", 6),
    ],
)
def test_twins_of_real_devices(place, least, tmp_path):
    recording = open_recording(real(place))
    path = tmp_path / "twin.toml"
    path.write_text(fit_recording(recording).text)
    sensor = getattr(sn, twin_of(recording).sensor).from_device("twin", folder=tmp_path)
    assert sensor.kind == describe(path).kind
    found = compare_recording(recording, describe(path))
    assert "held out" in found.remarks[0]
    assert [row for row in found.rows if row.verdict == "differs"] == []
    assert found.count("agrees") >= least
