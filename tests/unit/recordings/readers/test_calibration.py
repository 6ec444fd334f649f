"""Angles of sheets and of calibration files."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.recordings.readers.calibration import beams_of_sheet, read_angles

CSV = "Laser id,Elevation,Azimuth\n" + "".join(f"{k},{20 - k},{0.5 * k}\n" for k in range(1, 5))
YAML = "lasers:\n" + "".join(
    f"- {{laser_id: {k}, rot_correction: {0.01 * k}, vert_correction: {0.02 * k}, dist_correction: 0.0}}\n"
    for k in range(4)
)


def test_offsets_of_sheets_count_in_the_direction_of_rotation():
    beams = beams_of_sheet("velodyne-vls128")
    # The driver subtracts the correction of -6.354 deg from an azimuth that runs clockwise
    assert np.degrees(beams.azimuth_offset[0]) == pytest.approx(6.354)
    assert np.degrees(beams_of_sheet("hesai-pandar64").azimuth_offset[0]) == pytest.approx(-1.042)
    assert beams_of_sheet("velodyne-vlp16").time_s[1] == pytest.approx(2.304e-6)


def test_csv_and_yaml(tmp_path):
    (tmp_path / "a.csv").write_text(CSV)
    elevation, azimuth = read_angles(tmp_path / "a.csv", 4)
    np.testing.assert_allclose(np.degrees(elevation), [19, 18, 17, 16])
    np.testing.assert_allclose(np.degrees(azimuth), [0.5, 1.0, 1.5, 2.0])
    (tmp_path / "a.yaml").write_text(YAML)
    elevation, azimuth = read_angles(tmp_path / "a.yaml", 4)
    np.testing.assert_allclose(elevation, [0.0, 0.02, 0.04, 0.06])
    np.testing.assert_allclose(azimuth, [0.0, -0.01, -0.02, -0.03])


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.csv", CSV, "with 4 channels; the recording has 16"),
        ("a.csv", "", "with 0 channels"),
        ("a.csv", "1,nan,0\n", "must be finite"),
        ("a.csv", "1,abc,0\n", "no table of angles"),
        ("a.yaml", "lasers: [&a 1, *a]", "with 0 channels"),
        ("a.yaml", "- 1", "no table of angles"),
        ("a.yaml", "{" * 200_000, "with 0 channels"),
        ("a.yaml", "- {laser_id: 0, vert_correction: 1e, rot_correction: 0}", "no table of angles"),
    ],
)
def test_what_is_no_calibration_is_refused(tmp_path, name, text, sentence):
    (tmp_path / name).write_text(text)
    with pytest.raises(SpecError, match=sentence):
        read_angles(tmp_path / name, 16 if text == CSV else 1)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(SpecError, match="cannot be read"):
        read_angles(tmp_path / "none.csv", 16)
