"""Disparity noise and quantum: recovered from planes of known noise, and of a real D435."""

from pathlib import Path

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.recordings.measure.depth_camera import disparity_quantum, measure_depth_camera
from sensorium.recordings.readers.realsense import DepthRecording, read_realsense
from tests.unit.recordings.real import real

FOCAL_PX, BASELINE_M, UNIT_M = 390.0, 0.05, 0.001


def wall(rng, *, noise_px, quantum_px, frames=2, depth_m=(0.6, 3.0)):
    """A slanted wall by NumPy: disparity is a plane over pixels, with white noise, rounded to quanta and then to mm."""
    near, far = FOCAL_PX * BASELINE_M / depth_m[0], FOCAL_PX * BASELINE_M / depth_m[1]
    height, width = 240, 320
    plane = np.linspace(near, far, width)[None, :] + np.linspace(0.0, rng.uniform(0, 2), height)[:, None]
    disparity = plane + noise_px * rng.normal(size=(frames, height, width))
    disparity = np.rint(disparity / quantum_px) * quantum_px
    codes = np.rint(FOCAL_PX * BASELINE_M / disparity / UNIT_M).astype(np.uint16)
    times = np.arange(frames, dtype=np.int64)
    return DepthRecording(Path("wall.bag"), "", "", codes, times, UNIT_M, FOCAL_PX, BASELINE_M)


def test_noise_and_quantum_of_random_cameras_come_back():
    rng = np.random.default_rng(7)
    covered = total = 0
    for _ in range(10):
        noise, quantum = rng.uniform(0.05, 0.15), 1.0 / rng.choice([8, 16, 32, 64])
        truth = np.hypot(noise, quantum / np.sqrt(12.0))
        found = measure_depth_camera(wall(rng, noise_px=noise, quantum_px=quantum))
        for name in ("disparity_noise", "disparity_noise.frame_to_frame"):
            figure = found.figure(name)
            assert figure.value == pytest.approx(truth, rel=0.08)
        figure = found.figure("disparity_quantum")
        assert figure.value == pytest.approx(quantum, rel=2e-3)
        total += 1
        covered += figure.low <= quantum <= figure.high
        assert abs(found.figure("disparity_noise.next_pixel").value) < 0.1
        assert found.figure("valid_share").value == 1.0
    assert covered >= total - 2


def test_disparities_without_a_quantum_have_none():
    recording = wall(np.random.default_rng(1), noise_px=0.2, quantum_px=1e-5)
    assert disparity_quantum(recording) is None
    assert any("quantum is not measured" in remark for remark in measure_depth_camera(recording).remarks)


def test_one_frame_and_frames_of_holes():
    rng = np.random.default_rng(2)
    one = measure_depth_camera(wall(rng, noise_px=0.1, quantum_px=1 / 32, frames=1))
    assert any("one frame only" in remark for remark in one.remarks)
    holes = wall(rng, noise_px=0.1, quantum_px=1 / 32)
    holes.codes[:, ::10, ::10] = 0
    with pytest.raises(SpecError, match="has 0 windows of 21 px without a hole"):
        measure_depth_camera(holes)


def test_the_d435_has_eight_hundredths_of_a_pixel_and_five_bits():
    path = real("depth_realsense_d435/single_depth_color_640x480.bag")
    found = measure_depth_camera(read_realsense(path))
    assert found.figure("disparity_noise").value == pytest.approx(0.0788, abs=0.001)
    quantum = found.figure("disparity_quantum")
    assert quantum.low <= 1 / 32 <= quantum.high
    for figure in found.of("disparity_noise.by_depth")[:5]:
        assert 0.07 < figure.value < 0.105
