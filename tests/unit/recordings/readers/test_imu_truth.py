"""HDF5 logs with truth: refused by name without h5py; with it, read as written and refused in one sentence."""

import sys

import numpy as np
import pytest

from sensorium.core.errors import MissingExtraError, SpecError
from sensorium.recordings.readers.imu_truth import read_imu_truth


def test_without_h5py_the_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtraError, match="HDF5 files need h5py; pip install h5py"):
        read_imu_truth(tmp_path / "a.hdf5")


def arrays(count=50):
    rng = np.random.default_rng(1)
    quaternion = rng.normal(size=(count, 4))
    made = {name: rng.normal(size=(count, 3)) for name in ("imu_gyr", "imu_acc", "imu_mag")}
    made["opt_quat"] = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
    made["opt_quat"][7] = np.nan
    return made | {"movement": rng.random(count) < 0.5}


def write(path, content, rate_hz=100.0):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file.attrs["sampling_rate"] = rate_hz
        for name, values in content.items():
            file.create_dataset(name, data=values, compression="gzip")
    return path


def test_values_come_as_written(tmp_path):
    content = arrays()
    found = read_imu_truth(write(tmp_path / "a.hdf5", content))
    np.testing.assert_array_equal(found.gyroscope, content["imu_gyr"])
    np.testing.assert_allclose(found.magnetometer, 1e-6 * content["imu_mag"])
    np.testing.assert_allclose(found.orientation, content["opt_quat"])
    np.testing.assert_array_equal(found.moving, content["movement"])
    assert np.isnan(found.orientation[7]).all()


def test_other_shapes_and_numbers_are_refused(tmp_path):
    good = arrays()
    for k, (content, rate_hz, says) in enumerate(
        (
            (good | {"imu_gyr": good["imu_gyr"][:, :2]}, 100.0, "'imu_gyr' of .* it must have"),
            (good | {"imu_acc": np.full((50, 3), np.inf)}, 100.0, "'imu_acc' of .* no number below"),
            ({name: values for name, values in good.items() if name != "movement"}, 100.0, "cannot be read: KeyError"),
            (good, -1.0, "sampling_rate of .* is -1.0"),
        )
    ):
        with pytest.raises(SpecError, match=says):
            read_imu_truth(write(tmp_path / f"{k}.hdf5", content, rate_hz))
    pytest.importorskip("h5py")
    (tmp_path / "b.hdf5").write_bytes(b"no HDF5")
    with pytest.raises(SpecError, match="is no HDF5 file"):
        read_imu_truth(tmp_path / "b.hdf5")
    data = write(tmp_path / "c.hdf5", good).read_bytes()
    (tmp_path / "c.hdf5").write_bytes(data[: len(data) // 2])
    with pytest.raises(SpecError):
        read_imu_truth(tmp_path / "c.hdf5")
