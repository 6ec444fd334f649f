"""A simulated IMU at rest: its twin agrees, a noisier one does not."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.devices import describe
from sensorium.recordings.compare.imu import compare_imu
from sensorium.recordings.fit.imu import fit_imu
from tests.unit.recordings.compare.changed import changed_sheet, verdicts
from tests.unit.recordings.fit.test_imu import rest


@pytest.fixture(scope="module")
def recorded():
    return rest(np.random.default_rng(5), linear=(8e-4, 5e-4, 12e-4), angular=(3e-4, 6e-4, 4e-4))


def test_a_twin_agrees_and_a_noisier_accelerometer_differs(recorded, tmp_path):
    text = fit_imu(recorded).text
    found = compare_imu(recorded, describe(changed_sheet(tmp_path, text)))
    assert "half of the rest of this recording; these were held out" in found.remarks[0]
    assert (found.count("agrees"), found.count("differs")) == (6, 0)
    other = verdicts(compare_imu(recorded, describe(changed_sheet(tmp_path, text, linear__density=1.5))))
    assert other == {"accelerometer.white_noise": {"differs"}, "gyroscope.white_noise": {"agrees"}}


def test_a_device_without_a_gyroscope_is_refused(recorded, tmp_path):
    path = changed_sheet(tmp_path, fit_imu(recorded).text)
    path.write_text(path.read_text().split("[angular.density]")[0])
    with pytest.raises(SpecError, match="device 'changed' has no gyroscope; 'log' has one"):
        compare_imu(recorded, describe(path))
