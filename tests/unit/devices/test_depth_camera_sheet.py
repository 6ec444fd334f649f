"""Data sheets of depth cameras."""

import math

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.devices import DepthCameraSheet, describe, names
from sensorium.physics.imaging.depth_errors import phase_std, signal_electrons, stereo_std
from sensorium.view.depth_noise_plots import depth_noise_plot, noise_of


@pytest.mark.parametrize("name", names("depth_camera"))
def test_every_sheet_makes_a_camera(name):
    camera = sn.DepthCamera.from_device(name)
    sheet = describe(name).sheet
    assert (camera.pattern.width, camera.pattern.height) == (sheet.number("columns"), sheet.number("rows"))
    assert camera.max_range_m == sheet.number("max_range")
    assert str(describe(name)).startswith(name)


def test_the_d455_is_two_eyes_with_a_search_of_126_pixels():
    camera = sn.DepthCamera.from_device("intel-realsense-d455")
    stereo, rounding = camera.errors
    assert (stereo.baseline_m, stereo.subpixel_bits, stereo.max_disparity_px) == (0.095, 5, 126.0)
    assert rounding.step_m == 1e-3
    fov = math.degrees(2.0 * math.atan(424.0 / camera.pattern.focal_px[0]))
    assert fov == pytest.approx(88.97, abs=0.01)
    law = stereo_std(4.0, focal_px=431.657, baseline_m=0.095, disparity_std_px=stereo.disparity_std_px)
    assert law / 4.0 < describe("intel-realsense-d455").sheet.number("depth_accuracy")


def test_the_azure_kinect_has_its_stated_noise_on_the_darkest_surface_at_the_greatest_range():
    for name in names("depth_camera"):
        if not name.startswith("microsoft-azure"):
            continue
        camera = sn.DepthCamera.from_device(name)
        error = camera.errors[0]
        signal = signal_electrons(camera.max_range_m, signal_e=error.signal_e, reflectance=0.15)
        assert phase_std(signal, modulation_hz=error.modulation_hz) == pytest.approx(0.017, rel=1e-9)
        assert error.ambiguity_m > camera.max_range_m


def test_the_vl53l5cx_has_its_63_degrees_across_the_diagonal():
    """45 degrees a side; a preset of 90 x 90 elsewhere is wrong (devices.md 4.4)."""
    camera = sn.DepthCamera.from_device("st-vl53l5cx")
    corner = camera.pattern.rays().direction_S[0, 0].astype(float)
    edge = 4.0 / 3.5  # from the middle of the corner zone to its corner
    half = math.degrees(math.atan(edge * np.hypot(corner[1], corner[2]) / corner[0]))
    assert 2.0 * half == pytest.approx(60.7, abs=0.1)  # 63 is stated: a little more than flat zones give
    assert sn.DepthCamera.from_device("microsoft-kinect-v1").errors == ()


def test_what_the_sheet_does_not_tell_is_named():
    assert "errors.disparity_std_px" in describe("intel-realsense-d435").sheet.defaults()
    assert "errors.disparity_std_px" not in describe("intel-realsense-d455").sheet.defaults()
    assert "errors" in describe("microsoft-kinect-v2").sheet.defaults()


def test_incomplete_sheets_are_refused():
    sheet = describe("intel-realsense-d455").sheet.model_dump(exclude_none=True)
    for name, told in (("baseline", "baseline is missing"), ("columns", "columns is missing")):
        with pytest.raises(SpecError, match=told):
            DepthCameraSheet.model_validate({key: value for key, value in sheet.items() if key != name})
    without = {key: value for key, value in sheet.items() if key not in ("focal_length", "horizontal_fov")}
    with pytest.raises(SpecError, match="focal_length and horizontal_fov are missing"):
        DepthCameraSheet.model_validate(without)
    kinect = describe("microsoft-azure-kinect-nfov").sheet.model_dump(exclude_none=True)
    with pytest.raises(SpecError, match="noise by signal needs range_noise"):
        DepthCameraSheet.model_validate({key: value for key, value in kinect.items() if key != "modulation"})


def test_overrides_change_what_they_name():
    camera = sn.DepthCamera.from_device("intel-realsense-d455", max_range_m=6.0, outputs={"depth", "segmentation"})
    assert camera.max_range_m == 6.0
    assert camera.errors[0].baseline_m == 0.095


def test_the_picture_of_noise_is_that_of_the_laws():
    camera = sn.DepthCamera.from_device("intel-realsense-d455")
    z = np.array([1.0, 4.0])
    rounded = np.hypot(0.09, 1.0 / 32.0 / math.sqrt(12.0))
    law = z**2 * rounded / (431.657 * 0.095)
    np.testing.assert_allclose(noise_of(camera, z), np.hypot(law, 1e-3 / math.sqrt(12.0)), rtol=1e-12)
    bright, dark = (noise_of(sn.DepthCamera.from_device("microsoft-azure-kinect-nfov"), z, rho) for rho in (0.8, 0.2))
    np.testing.assert_allclose(dark / bright, 2.0, rtol=0.02)
    figure = depth_noise_plot({"d455": camera}, title="noise")
    assert figure.axes
    with pytest.raises(SpecError, match="no camera is given"):
        depth_noise_plot({}, title="noise")
