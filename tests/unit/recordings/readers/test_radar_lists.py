"""Radar lists: fields as written, as PyYAML reads them too; what is refused."""

import numpy as np
import pytest
import yaml

from sensorium.core.errors import SpecError
from sensorium.recordings.readers.radar_lists import is_radar_list, read_radar_list
from tests.unit.recordings.real import real

HEAD = "header:\n  stamp:\n    sec: 17\n    nanosec: 5\n  frame_id: radar\norigin_pos:\n  x: 3.8\n"
HEAD += "v_ambiguous: 21.4454\n"


def item(**fields):
    lines = [f"{key}: {value}" for key, value in fields.items()]
    return "  - " + "\n    ".join(lines) + "\n"


ONE = item(range=4.5, azimuth_angle=-0.25, range_rate="1.5e-05", invalid_azimuth="false")


def test_fields_come_as_pyyaml_reads_them(tmp_path):
    rng = np.random.default_rng(1)
    text = HEAD + "detections:\n" + "".join(
        item(
            range=f"{rng.uniform(1, 99):.6g}",
            azimuth_angle=f"{rng.normal():.6g}",
            range_rate=f"{rng.normal():.6g}",
            invalid_azimuth=rng.choice(["true", "false"]),
        )
        for _ in range(40)
    )
    (tmp_path / "a.yaml").write_text(text)
    found, wanted = read_radar_list(tmp_path / "a.yaml"), yaml.safe_load(text)
    assert is_radar_list(text.encode())
    assert found.head == {"v_ambiguous": 21.4454}
    for name, values in found.fields.items():
        np.testing.assert_array_equal(values, [float(each[name]) for each in wanted["detections"]])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HEAD, "has no detections"),
        (HEAD + "objects:\n" + ONE, "has no detections"),
        (HEAD + "detections: []\n", "has no detections"),
        (HEAD + "detections:\n" + ONE.replace("range: 4.5", "range: far"), "it must be a field of a detection"),
        (HEAD + "detections:\n" + ONE.replace("4.5", ".inf"), "with a finite number"),
        (HEAD + "detections:\n" + ONE.replace("4.5", "1e400"), "with a finite number"),
        (HEAD + "detections:\n" + ONE.replace("    azimuth", "      azimuth"), "it must be a field of a detection"),
        (HEAD + "detections:\n" + ONE.replace("azimuth_angle", "range"), "it must be a field of a detection"),
        (HEAD + "detections:\n" + ONE.replace("azimuth_angle", "azimut"), "have no 'azimuth_angle'"),
        (HEAD + "detections:\n" + ONE + ONE.replace("invalid_azimuth", "rcs"), "detection 1 .* differs .* 'invalid_az"),
        (HEAD + "detections:\n  - *a\n", "it must be 'key: value'"),
        ("nothing\n", "it must be 'key: value'"),
    ],
)
def test_what_is_no_list_is_refused_in_one_sentence(tmp_path, text, says):
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(SpecError, match=says):
        read_radar_list(tmp_path / "a.yaml")


def test_bytes_and_missing_files_are_refused(tmp_path):
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError, match="not text in UTF-8"):
        read_radar_list(tmp_path / "a.yaml")
    with pytest.raises(SpecError, match="cannot be read: No such file"):
        read_radar_list(tmp_path / "b.yaml")


def test_the_lists_of_the_recordings():
    folder = real("radar_continental")
    found = read_radar_list(next((folder / "ars548").glob("*detection.yaml")))
    assert (found.device, len(found.fields["range"])) == ("ARS548", 308)
    found = read_radar_list(next((folder / "srr520").glob("*near_detection.yaml")))
    assert (found.device, len(found.fields["range"])) == ("SRR520", 194)
