"""Names of files after sensors, and folders that are made."""

import errno
import os
import re
import string
from pathlib import Path

import pytest

from sensorium.core.errors import SpecError
from sensorium.record.sensor_files import file_stem, made_folder


def test_a_folder_is_made_with_all_above_it_and_may_be_there_already(tmp_path):
    wanted = tmp_path / "runs" / "7" / "left"
    assert made_folder(str(wanted)) == wanted
    assert wanted.is_dir()
    (wanted / "kept.csv").write_text("kept")
    assert made_folder(wanted) == wanted
    assert (wanted / "kept.csv").read_text() == "kept"


def test_a_folder_may_be_told_relative_to_the_present_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert made_folder("runs/a") == Path("runs/a")
    assert (tmp_path / "runs" / "a").is_dir()


@pytest.mark.parametrize(
    ("below", "why"), [("taken", errno.EEXIST), ("taken/deeper", errno.ENOTDIR), ("x" * 300, errno.ENAMETOOLONG)]
)
def test_what_cannot_be_a_folder_is_told_with_its_name_and_why(tmp_path, below, why):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(SpecError) as told:
        made_folder(tmp_path / below)
    assert str(told.value) == f"folder is {str(tmp_path / below)!r}, which cannot be made: {os.strerror(why)}"
    assert (tmp_path / "taken").read_text() == "a file"


@pytest.mark.parametrize(
    ("sensor", "stem"),
    [
        ("front_lidar-2.left", "front_lidar-2.left"),
        ("robot/arm/imu", "robot_arm_imu"),
        ("a\\b:c*d?e", "a_b_c_d_e"),
        ("two  spaces", "two__spaces"),
        ("Höhe µ", "H_he__"),
        ("line\nbreak\0", "line_break_"),
        ("../../etc/passwd", "_.._etc_passwd"),
        (".hidden", "hidden"),
        ("last.dot.", "last.dot"),
        ("con", "_con"),
        ("Nul.csv", "_Nul.csv"),
        ("console", "console"),
        ("...", "_"),
        (".", "_"),
        ("", "_"),
        ("/", "_"),
    ],
)
def test_what_no_file_may_be_called_becomes_an_underscore(sensor, stem):
    """One for each character, and no file is hidden, leads elsewhere or is without a name."""
    assert file_stem(sensor, ()) == stem


def test_letters_digits_and_three_signs_stay_and_nothing_else_does():
    kept = set(string.ascii_letters + string.digits + "_-.")
    for code in range(1, 0x500):
        character = chr(code)
        assert file_stem(f"a{character}b", ()) == (f"a{character}b" if character in kept else "a_b")


def test_two_sensors_do_not_share_a_file():
    rule = "sensor 'left imu' would have the file 'left_imu', which another has; rename one of them"
    with pytest.raises(SpecError, match=f"^{re.escape(rule)}$"):
        file_stem("left imu", {"left_imu"})
    assert file_stem("left imu", {"left imu", "left_im", "left_imu2"}) == "left_imu"
    with pytest.raises(SpecError, match=r"^sensor '\.\.' would have the file '_'"):
        file_stem("..", ["_"])


def test_names_that_differ_in_case_alone_are_one_file_on_some_systems():
    with pytest.raises(SpecError, match="'lidar' would have the file 'lidar', which another has"):
        file_stem("lidar", ("Lidar",))


def test_a_folder_that_no_path_may_be_called_is_refused():
    with pytest.raises(SpecError, match="which cannot be made: embedded null"):
        made_folder("a\0b")
