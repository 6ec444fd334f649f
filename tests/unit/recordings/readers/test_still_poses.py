"""Logs of still poses: read as written, and what is refused."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.recordings.readers.still_poses import is_still_poses, read_still_poses

TABLE = np.column_stack([0.03 + 0.01 * np.arange(200), np.random.default_rng(1).integers(30000, 35000, (200, 3))])


def write(folder, accelerometer=TABLE, gyroscope=TABLE, names=("xsens_acc.mat", "xsens_gyro.mat")):
    for name, table in zip(names, (accelerometer, gyroscope), strict=True):
        np.savetxt(folder / name, table, fmt="%16.7e")
    return folder


def test_values_and_times_come_as_written(tmp_path):
    found = read_still_poses(write(tmp_path))
    np.testing.assert_allclose(found.accelerometer, TABLE[:, 1:])
    np.testing.assert_allclose(found.time_s, TABLE[:, 0] - 0.03, atol=1e-6)
    assert found.rate_hz == pytest.approx(100.0, rel=1e-4)
    assert is_still_poses(tmp_path)
    one = read_still_poses(tmp_path / "xsens_gyro.mat")
    np.testing.assert_array_equal(one.gyroscope, found.gyroscope)


def test_what_does_not_belong_together_is_refused(tmp_path):
    late = TABLE + np.array([0.02, 0, 0, 0])
    back = TABLE.copy()
    back[7, 0] = back[3, 0]
    for k, (tables, says) in enumerate(
        (
            ((TABLE, late), "have other times"),
            ((TABLE, TABLE[:-1]), "have other times"),
            ((back, back), "do not rise at row 8"),
            ((TABLE[:50], TABLE[:50]), "has 50 rows; it must have at least 100"),
            ((TABLE * 1e300, TABLE), "it must have at least 100, of finite numbers"),
        )
    ):
        folder = tmp_path / str(k)
        folder.mkdir()
        with pytest.raises(SpecError, match=says):
            read_still_poses(write(folder, *tables))


def test_missing_and_doubled_logs_are_named(tmp_path):
    write(tmp_path)
    (tmp_path / "second_acc.txt").write_text("1 2 3 4\n")
    assert not is_still_poses(tmp_path)
    with pytest.raises(SpecError, match="has 2 files with 'acc' in their names; there must be one"):
        read_still_poses(tmp_path)
    (tmp_path / "second_acc.txt").unlink()
    (tmp_path / "xsens_gyro.mat").write_text("no numbers here\n")
    with pytest.raises(SpecError):
        read_still_poses(tmp_path)


def test_gravity_is_that_of_the_earth(tmp_path):
    with pytest.raises(SpecError, match=r"gravity is 1\.62; on Earth"):
        read_still_poses(write(tmp_path), gravity_m_s2=1.62)
