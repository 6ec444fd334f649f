"""IMU beside truth: noise, bias, tilt and drift of simulated motion, and of a real trial."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sensorium.core.errors import SpecError
from sensorium.recordings.measure.imu_truth import measure_imu_truth
from sensorium.recordings.readers.imu_truth import TruthRecording, read_imu_truth
from tests.unit.recordings.real import real

RATE_HZ = 200.0


def simulated(rng, *, noise, bias, scale_error=0.0, tilt=0.0, rest_s=12.0, motion_s=40.0):
    """Rest, then a motion about changing axes, by SciPy's rotations."""
    rest, count = int(rest_s * RATE_HZ), int((rest_s + motion_s) * RATE_HZ)
    t = np.arange(count)[:, None] / RATE_HZ
    rates = np.where(np.arange(count)[:, None] < rest, 0.0, np.sin(t * np.array([0.7, 1.1, 0.4]) + [0, 1, 2]))
    attitude, turns = [Rotation.random(random_state=3)], Rotation.from_rotvec(rates / RATE_HZ)
    for k in range(count - 1):
        attitude.append(attitude[-1] * turns[k])
    truth = Rotation.concatenate(attitude)
    # The rate of a sample is that of the turn from it to the next: midway, half a sample later
    sampled = np.concatenate([rates[:1], 0.5 * (rates[1:] + rates[:-1])])
    force = (Rotation.from_rotvec([tilt, 0, 0]) * truth.inv()).apply([0, 0, 9.81])
    gyroscope = (1.0 + scale_error) * sampled + bias + noise * rng.normal(size=(count, 3))
    quaternion = truth.as_quat()[:, [3, 0, 1, 2]]
    moving = np.arange(count) >= rest
    others = (force + 0.02 * rng.normal(size=(count, 3)), 1e-6 * rng.normal(size=(count, 3)))
    return TruthRecording(Path("trial.hdf5"), RATE_HZ, gyroscope, *others, quaternion, moving)


def test_noise_bias_and_tilt_come_back():
    rng = np.random.default_rng(2)
    bias = np.array([0.01, -0.02, 0.005])
    found = measure_imu_truth(simulated(rng, noise=0.004, bias=bias, tilt=0.02))
    for figure, value in zip(found.of("gyroscope.bias"), bias, strict=True):
        assert figure.low - 2e-4 <= value <= figure.high + 2e-4
    for figure in found.of("gyroscope.white_noise"):
        assert figure.value == pytest.approx(0.004 / np.sqrt(RATE_HZ), rel=0.1)
    tilt = found.figure("accelerometer.tilt_error")
    assert tilt.value == pytest.approx(0.02, rel=0.05)


def test_drift_is_that_of_noise_or_of_a_wrong_scale():
    rng = np.random.default_rng(3)
    where = "over 5 s in motion"
    quiet = measure_imu_truth(simulated(rng, noise=0.004, bias=np.zeros(3))).figure("gyroscope.drift", where)
    assert quiet.value < 4.0 * 0.004 / np.sqrt(RATE_HZ) * np.sqrt(3 * 5.0)
    wrong = measure_imu_truth(simulated(rng, noise=0.004, bias=np.zeros(3), scale_error=0.02))
    assert wrong.figure("gyroscope.drift", where).value > 5.0 * quiet.value


def test_a_gap_of_the_truth_and_a_log_without_rest():
    rng = np.random.default_rng(4)
    recording = simulated(rng, noise=0.004, bias=np.zeros(3))
    recording.orientation[3000:3300] = np.nan
    assert np.isfinite(measure_imu_truth(recording).figure("gyroscope.drift", "over 5 s in motion").value)
    with pytest.raises(SpecError, match="has no rest"):
        measure_imu_truth(recording._replace(moving=np.ones(len(recording.moving), bool)))
    with pytest.raises(SpecError, match=r"longest rest of 'trial.hdf5' has 1.0 s"):
        measure_imu_truth(recording._replace(moving=np.arange(len(recording.moving)) >= 600))


def test_a_trial_of_broad():
    pytest.importorskip("h5py")
    found = measure_imu_truth(read_imu_truth(real("imu_broad/10_undisturbed_slow_translation_A.hdf5")))
    assert found.figure("gyroscope.bias", "axis z").value == pytest.approx(2.06e-3, abs=1e-4)
    assert found.figure("accelerometer.tilt_error").value < 0.01
    assert found.figure("gyroscope.drift", "over 5 s in motion").value == pytest.approx(5.3e-3, abs=1e-3)
