"""Which kind a file is, and the folder of recordings."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.recordings.measure import lidar as lidar_measure
from sensorium.recordings.measurement import load_measurement
from sensorium.recordings.opening import kind_of, measure_recording, recordings_folder
from tests.unit.recordings.measure.scenes import room
from tests.unit.recordings.real import lidar, real

# Device, noise of one range [mm] with the part it may differ by, quantum [mm], least separation [m], firing period [us]
FIRST_FIGURES = {
    "vlp16": ("VLP-16", 8.4, 0.2, 2.0, 1.19, 55.296),
    "vls128": ("VLS-128", 10.2, 0.2, 4.0, None, 55.277),
    "pandar64": ("Pandar64", 10.4, 0.25, 4.0, 0.844, 55.56),
    "40p": ("Pandar40P", 8.2, 0.3, 4.0, 0.812, 55.56),
    "qt64": ("PandarQT64", 11.7, 0.2, 4.0, 0.66, 166.517),
    "xt32": ("PandarXT-32", 4.3, 0.3, 4.0, 0.404, 50.004),
}


def test_a_folder_and_a_file_of_another_kind_are_refused(tmp_path):
    (tmp_path / "a.txt").write_text("not a recording")
    for path in (tmp_path, tmp_path / "a.txt"):
        with pytest.raises(SpecError, match="it is none of"):
            kind_of(path)
    with pytest.raises(SpecError, match="cannot be read"):
        kind_of(tmp_path / "none")


def test_of_a_long_recording_the_first_turns_are_measured(monkeypatch):
    monkeypatch.setattr(lidar_measure, "MOST_RAYS", 16 * 600 * 3 + 100)
    found = lidar_measure.measure_lidar(room(rng=np.random.default_rng(1), turns=6, columns=600, is_locked=True))
    assert found.remarks[0] == "the first 3 of 6 turns are measured"
    assert found.figure("quantum").samples == 16 * 600 * 3
    assert found.figure("firing_period").samples == 3599


def test_the_folder_is_that_of_the_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("SENSORIUM_RECORDINGS", str(tmp_path))
    assert recordings_folder() == tmp_path
    monkeypatch.delenv("SENSORIUM_RECORDINGS")
    assert recordings_folder().parts[-2:] == ("shared", "recordings")


@pytest.mark.parametrize("name", FIRST_FIGURES)
def test_recorded_devices_measure_as_the_first_figures_say(name):
    device, noise_mm, part, quantum_mm, separation_m, period_us = FIRST_FIGURES[name]
    path, calibration = lidar(name)
    found = measure_recording(path, calibration=calibration)
    assert found.device == device
    assert 1e3 * found.figure("noise").value == pytest.approx(noise_mm, rel=part)
    assert 1e3 * found.figure("quantum").value == pytest.approx(quantum_mm)
    assert 1e6 * found.figure("firing_period").value == pytest.approx(period_us, abs=0.001)
    if separation_m is not None:
        # The first figure is the smallest one
        least = found.figure("separation.least")
        assert least.low <= separation_m <= least.high
        assert least.value == pytest.approx(separation_m, rel=0.08)
    assert ("still" in found.remarks[-1]) == (name != "vls128")


OTHERS = {
    "camera_emva1288": ("camera", "quantum_efficiency"),
    "depth_realsense_d435/single_depth_color_640x480.bag": ("depth_camera", "disparity_quantum"),
    "waveform_riegl/100429_152240_2535pt_UTM.las": ("waveform", "pulse.fwhm"),
    "imu_xsens_imutk": ("imu", "accelerometer.scale"),
    "gnss_static_mosaic/base.obs": ("gnss", "code_noise.at_45_dbhz"),
    "radar_continental/ars548/1708578204_202447652_detection.yaml": ("radar", "doppler_noise"),
    "radar_ti_openradar/doppler_example.npy": ("radar", "adc_noise"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_recordings_other_than_of_lidars_are_told_apart(name, tmp_path):
    kind, quantity = OTHERS[name]
    found = measure_recording(real(name))
    assert found.kind == kind
    assert found.of(quantity)
    found.save(tmp_path / "found.json")
    assert load_measurement(tmp_path / "found.json").figures == found.figures


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"stream": "7502"}, "stream is '7502'; an image set has no use for it"),
        ({"gravity_m_s2": 9.8}, "gravity_m_s2 is '9.8'; an image set has no use for it"),
    ],
)
def test_options_without_a_use_are_refused(tmp_path, options, says):
    (tmp_path / "EMVA1288_Data.txt").write_text("v 3.0\n")
    with pytest.raises(SpecError, match=says):
        measure_recording(tmp_path, **options)
