"""Sheet of a stereo camera: noise and step of random cameras come back, and frames are split."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.recordings.fit.depth_camera import fit_depth_camera, halves
from tests.unit.recordings.measure.test_depth_camera import wall


def test_random_cameras_come_back(tmp_path):
    rng = np.random.default_rng(3)
    for number in range(4):
        noise_px, bits = rng.uniform(0.05, 0.15), int(rng.integers(3, 7))
        recording = wall(rng, noise_px=noise_px, quantum_px=2.0**-bits, frames=4)
        fitted = fit_depth_camera(recording)
        (tmp_path / f"wall{number}.toml").write_text(fitted.text)
        camera = sn.DepthCamera.from_device(tmp_path / f"wall{number}.toml")
        assert (camera.pattern.width, camera.pattern.height) == (320, 240)
        assert camera.pattern.focal_px == pytest.approx((390.0, 390.0))
        stereo, unit = camera.errors
        assert stereo.disparity_std_px == pytest.approx(noise_px, rel=0.08)
        assert stereo.subpixel_bits == bits
        assert stereo.baseline_m == pytest.approx(0.05)
        assert unit.step_m == pytest.approx(0.001)
        assert {pair.figure.quantity for pair in fitted.held_out} >= {"disparity_noise", "disparity_quantum"}
        assert all(pair.ratio == pytest.approx(1.0, abs=0.15) for pair in fitted.held_out)


def test_a_known_device_keeps_its_limits_and_frame_rates_need_frames():
    rng = np.random.default_rng(4)
    recording = wall(rng, noise_px=0.08, quantum_px=1 / 32, frames=3)._replace(device="Intel RealSense D435")
    sheet = fit_depth_camera(recording).sheet
    assert sheet.baseline.maker.value == 50.0
    assert (sheet.max_range.value, sheet.frame_rate.source) == (10.0, "LIST")
    timed = wall(rng, noise_px=0.08, quantum_px=1 / 32, frames=6)
    timed = timed._replace(time_ns=np.arange(6, dtype=np.int64) * 11_111_111)
    assert fit_depth_camera(timed).sheet.number("frame_rate") == pytest.approx(90.0, rel=1e-4)


def test_frames_are_split_and_one_is_not():
    recording = wall(np.random.default_rng(5), noise_px=0.08, quantum_px=1 / 32, frames=5)
    first, second = halves(recording)
    assert (first.time_ns.tolist(), second.time_ns.tolist()) == ([0, 2, 4], [1, 3])
    one = first._replace(codes=first.codes[:1])
    assert halves(one) == (one, None)


def test_disparities_without_a_step_are_refused():
    with pytest.raises(SpecError, match=r"'wall.bag' shows no step of disparities; a sheet needs one"):
        fit_depth_camera(wall(np.random.default_rng(1), noise_px=0.2, quantum_px=1e-5))
