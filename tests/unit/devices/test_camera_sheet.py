"""Data sheets of cameras."""

import math

import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.devices import CameraSheet, describe


def test_the_papers_camera_has_its_chip_and_lens():
    camera = sn.Camera.from_device("pointgrey-bumblebee2")
    assert (camera.columns, camera.rows) == (1024, 768)
    assert camera.width_m == pytest.approx(4.762e-3, abs=1e-6)
    assert camera.height_m == pytest.approx(3.571e-3, abs=1e-6)
    assert camera.pupil_radius_m == pytest.approx(3.8e-3 / 4.0)
    assert sn.optics.in_focus_distance(camera.focal_length_m, camera.pupil_distance_m) == pytest.approx(3.0, rel=1e-6)
    assert camera.mosaic == "rggb"


def test_the_emva_report_of_the_imx900_is_one_of_its_own_formulas():
    """Threshold (sqrt(sigma_d^2 + 1 / (12 K^2)) + 1/2) / eta and dynamic range follow from gain, noise and capacity."""
    for name in ("sony-imx900", "sony-imx900-hcg"):
        sheet, camera = describe(name).sheet, sn.Camera.from_device(name)
        K, dark, eta = camera.adc.gain_dn_e, camera.noise.read_noise_e, sheet.number("quantum_efficiency")
        threshold = (math.sqrt(dark**2 + 1.0 / (12.0 * K**2)) + 0.5) / eta
        assert threshold == pytest.approx(sheet.number("threshold_photons"), abs=6e-4)
        assert 10.0 * math.log10(camera.full_well_e) == pytest.approx(sheet.number("snr_max"), abs=6e-3)
        reach = 20.0 * math.log10(camera.full_well_e / eta / threshold)
        assert reach == pytest.approx(sheet.number("dynamic_range"), abs=0.06)
        (band,) = camera.bands
        assert band.filter.at(536e-9) == pytest.approx(eta, rel=1e-3)


def test_one_curve_or_three():
    sheet = describe("sony-imx900").sheet.model_dump(exclude_none=True)
    with pytest.raises(SpecError, match="a camera has one curve, gray, or three"):
        CameraSheet.model_validate(sheet | {"red": sheet["gray"]})


def test_what_the_sheet_does_not_tell_is_named():
    told = describe("pointgrey-bumblebee2").sheet.defaults()
    assert {"noise.prnu", "noise.dsnu_e", "adc.gain_dn_e", "coma", "line_time_s"} <= set(told)
    assert "full_well_e" not in told


def test_dark_current_and_black_level_act():
    sheet = describe("sony-imx900").sheet.model_dump(exclude_none=True)
    more = {
        "dark_current": {"value": 30.0, "unit": "e-/s", "source": "EMVA", "grade": "C"},
        "black_level": {"value": 20.0, "unit": "DN", "source": "EMVA", "grade": "C"},
    }
    camera = sn.Camera.model_validate(CameraSheet.model_validate(sheet | more).specification())
    assert (camera.noise.dark_current_e_s, camera.adc.black_dn) == (30.0, 20.0)
