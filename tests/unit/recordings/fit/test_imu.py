"""Sheet of an IMU: white noise of random rests comes back, of each axis."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.recordings.fit.imu import fit_imu, halves
from sensorium.recordings.measure.imu import ImuRest, imu_rest
from tests.unit.recordings.measure.test_imu import simulated

RATE_HZ = 100.0


def rest(rng, *, linear, angular, samples=6000, lsb=None):
    triads = {
        "accelerometer": [0.0, 0.0, 9.81] + np.array(linear) * np.sqrt(RATE_HZ) * rng.normal(size=(samples, 3)),
        "gyroscope": np.array(angular) * np.sqrt(RATE_HZ) * rng.normal(size=(samples, 3)),
    }
    return ImuRest("log", RATE_HZ, triads, lsb or {})


def test_densities_of_each_axis_come_back(tmp_path):
    linear, angular = (8e-4, 5e-4, 12e-4), (3e-4, 6e-4, 4e-4)
    lsb = {"accelerometer": np.full(3, 1e-3), "gyroscope": np.full(3, 2e-4)}
    fitted = fit_imu(rest(np.random.default_rng(1), linear=linear, angular=angular, lsb=lsb))
    (tmp_path / "imu.toml").write_text(fitted.text)
    imu = sn.Imu.from_device(tmp_path / "imu.toml")
    assert imu.timing.rate_hz == RATE_HZ
    # Sheets and models have one-sided densities
    assert np.array(imu.linear.noise.density) / np.sqrt(2.0) == pytest.approx(linear, rel=0.08)
    assert np.array(imu.angular.noise.density) / np.sqrt(2.0) == pytest.approx(angular, rel=0.08)
    assert imu.linear.quantization.lsb == pytest.approx((1e-3,) * 3)
    assert len(fitted.held_out) == 6
    assert all(pair.ratio == pytest.approx(1.0, abs=0.12) for pair in fitted.held_out)


def test_the_rest_of_a_log_is_scaled_by_its_calibration():
    recording, truth = simulated(np.random.default_rng(2), poses=20)
    found = imu_rest(recording)
    for name, (_, scale, _, noise) in truth.items():
        assert found.lsb[name] == pytest.approx(scale, rel=5e-3)
        assert found.triads[name].std(axis=0) == pytest.approx(noise * scale, rel=0.1)


def test_a_short_rest_is_not_split():
    short = rest(np.random.default_rng(3), linear=(1e-3,) * 3, angular=(1e-3,) * 3, samples=900)
    assert halves(short) == (short, None)
    first, second = halves(rest(np.random.default_rng(3), linear=(1e-3,) * 3, angular=(1e-3,) * 3, samples=1001))
    assert [len(part.triads["gyroscope"]) for part in (first, second)] == [500, 501]
