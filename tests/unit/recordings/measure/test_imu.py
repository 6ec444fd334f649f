"""IMU from still poses: intervals cover the truth of random IMUs, and the figures of a real one."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sensorium.core.errors import SpecError
from sensorium.recordings.measure.imu import measure_imu
from sensorium.recordings.measure.imu_calibration import calibrate_accelerometer, still_poses
from sensorium.recordings.readers.still_poses import InertialRecording, read_still_poses
from tests.unit.recordings.real import real

RATE_HZ, GRAVITY = 100.0, 9.81


def triangular(angles):
    """T of Tedaldi et al."""
    yz, zy, zx, *others = angles
    xz, xy, yx = others or (0.0, 0.0, 0.0)
    return np.array([[1, -yz, zy], [xz, 1, -zx], [-xy, yx, 1]])


def simulated(rng, *, poses=36, rest_s=12.0):
    """A log by SciPy's rotations, with its truth."""
    truth = {
        "accelerometer": (rng.uniform(-300, 300, 3), rng.uniform(0.002, 0.003, 3), rng.normal(0, 0.01, 3), 3.0),
        "gyroscope": (rng.uniform(-300, 300, 3), rng.uniform(2e-4, 3e-4, 3), rng.normal(0, 0.01, 6), 8.0),
    }
    attitude, force, rates = Rotation.random(random_state=int(rng.integers(1 << 31))), [], []
    for k in range(poses):
        still = int((rest_s if k == 0 else rng.uniform(2.0, 4.0)) * RATE_HZ)
        force.append(np.tile(attitude.inv().apply([0, 0, GRAVITY]), (still, 1)))
        rates.append(np.zeros((still, 3)))
        # A turn about a fixed axis of the IMU, with a rate that begins and ends at 0
        turn = Rotation.random(random_state=int(rng.integers(1 << 31))).as_rotvec()
        steps = int(rng.uniform(1, 2) * RATE_HZ)
        share = (1 - np.cos(2 * np.pi * (np.arange(steps) + 0.5) / steps)) / steps
        rates.append(turn * share[:, None] * RATE_HZ)
        along = attitude * Rotation.from_rotvec(turn * np.cumsum(share)[:, None])
        force.append(along.inv().apply([0, 0, GRAVITY]) + rng.normal(0, 0.5, (steps, 3)))
        attitude = along[-1]
    signals = {"accelerometer": np.concatenate(force), "gyroscope": np.concatenate(rates)}
    raw = {}
    for name, (bias, scale, angles, noise) in truth.items():
        matrix = triangular(angles) @ np.diag(scale)
        exact = np.linalg.solve(matrix, signals[name].T).T + bias
        raw[name] = exact + noise * rng.normal(size=exact.shape)
    count = len(raw["gyroscope"])
    recording = InertialRecording(
        Path("log"), np.arange(count) / RATE_HZ, RATE_HZ, raw["accelerometer"], raw["gyroscope"], GRAVITY
    )
    return recording, truth


def test_figures_of_random_imus_are_covered_by_their_intervals():
    rng = np.random.default_rng(8)
    covered, total = 0, 0
    for _ in range(5):
        recording, truth = simulated(rng)
        found = measure_imu(recording)
        for name, (bias, scale, angles, noise) in truth.items():
            for quantity, values in (("bias", bias), ("scale", scale), ("misalignment", angles)):
                for figure, value in zip(found.of(f"{name}.{quantity}"), values, strict=True):
                    total += 1
                    covered += figure.low <= value <= figure.high
                    if quantity == "scale":
                        assert figure.value == pytest.approx(value, rel=2e-3)
            for figure, one in zip(found.of(f"{name}.white_noise"), scale, strict=True):
                assert figure.value == pytest.approx(noise * one / np.sqrt(RATE_HZ), rel=0.12)
        assert any("36 still poses" in remark for remark in found.remarks)
    assert covered / total > 0.88, f"{covered} of {total}"


def test_a_perfect_accelerometer_comes_back_exactly():
    rng = np.random.default_rng(2)
    f = Rotation.random(20, random_state=3).apply([0, 0, GRAVITY])
    matrix = triangular([0.01, -0.02, 0.005]) @ np.diag([0.5, 0.6, 0.7])
    means = np.linalg.solve(matrix, f.T).T + rng.normal(size=3)
    found = calibrate_accelerometer(means, GRAVITY)
    np.testing.assert_allclose(found.matrix(), matrix, atol=1e-9)
    assert found.residual < 1e-9


def test_logs_that_cannot_calibrate_are_refused():
    rng = np.random.default_rng(4)
    recording, _ = simulated(rng, poses=5)
    with pytest.raises(SpecError, match="has 5 still poses; a calibration takes 12"):
        measure_imu(recording)
    flat = np.column_stack([rng.normal(size=(30, 2)), np.zeros(30)])
    with pytest.raises(SpecError, match="must differ in direction"):
        calibrate_accelerometer(9.81 * flat / np.linalg.norm(flat, axis=1, keepdims=True), 9.81)
    moving = rng.normal(size=(3000, 3)) * np.where(np.arange(3000) < 400, 60.0, 1.0)[:, None]
    with pytest.raises(SpecError, match="must rest for 5 s at first"):
        still_poses(moving, moving, 100.0)


def test_the_xsens_of_imu_tk():
    found = measure_imu(read_still_poses(real("imu_xsens_imutk"), gravity_m_s2=9.81744))
    assert any(remark.startswith("38 still poses") for remark in found.remarks)
    biases = [figure.value for figure in found.of("accelerometer.bias")]
    np.testing.assert_allclose(biases, [33124, 33275, 32364], atol=1.0)
    scales = [figure.value for figure in found.of("gyroscope.scale")]
    np.testing.assert_allclose(scales, [2.092e-4, 2.099e-4, 2.095e-4], rtol=2e-3)
    densities = [figure.value / 9.80665e-6 for figure in found.of("accelerometer.white_noise")]
    assert all(80.0 < each < 105.0 for each in densities)  # micro g / sqrt(Hz)
