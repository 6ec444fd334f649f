"""Which readings become files, and where: shown with readings that are plain numbers."""

import errno
import os
import re
import string
from pathlib import Path

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.record.reading_files import ReadingFiles, file_stem, made_folder
from sensorium.sensors.inertial.reading import InertialReading


class Stamps(ReadingFiles[InertialReading]):
    """Writes the time of each reading, once for each world and sensor."""

    def _save(self, sensor, reading, folders, number):
        for folder in folders:
            (folder / f"{number}.txt").write_text(str(reading.time_ns))


def environment(worlds=None, first_world=0):
    world = sn.worlds.Static({"car": sn.Pose()}, step_s=0.01)
    env = sn.Environment(sn.Scene(), world, worlds=worlds, first_world=first_world)
    env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=100.0)), body="car", name="a/b")
    env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=50.0)), body="car", pose=[sn.Pose(), sn.Pose()], name="pair")
    env.attach(sn.Barometer(timing=sn.Timing(rate_hz=100.0)), body="car")
    return env


def recorded(env, folder, seconds=0.06, **options):
    with Stamps(InertialReading, folder, **{"every": 1, "sensors": None, **options}) as recorder:
        for _ in env.run(seconds):
            recorder.record(env)
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*.txt")}


def test_every_so_manyth_reading_of_the_kind_is_written_and_numbered_by_the_reading(tmp_path):
    found = recorded(environment(), tmp_path, every=2)
    assert found == {
        *(f"a_b/{number}.txt" for number in (0, 2, 4)),
        *(f"pair_{k}/{number}.txt" for k in (0, 1) for number in (0, 2)),
    }
    assert [int((tmp_path / f"a_b/{number}.txt").read_text()) for number in (0, 2, 4)] == [10**7, 3 * 10**7, 5 * 10**7]


def test_each_world_has_its_folder(tmp_path):
    found = recorded(environment(worlds=2, first_world=7), tmp_path, 0.02, sensors=("pair",))
    assert found == {f"world_{world}/pair_{k}/0.txt" for world in (7, 8) for k in (0, 1)}


def test_what_is_asked_for_must_be_there(tmp_path):
    with pytest.raises(SpecError, match="no sensor is named 'c'; there are a/b, pair, barometer"):
        recorded(environment(), tmp_path, sensors=("c",))
    with pytest.raises(SpecError, match="every is 0"):
        recorded(environment(), tmp_path, every=0)
    with pytest.raises(SpecError, match="sensors is the string 'pair'"):
        recorded(environment(), tmp_path, sensors="pair")


def test_a_closed_recorder_says_so(tmp_path):
    env = environment()
    recorder = Stamps(InertialReading, tmp_path, every=np.int64(1), sensors=None)
    recorder.close()
    with pytest.raises(SpecError, match="is closed"):
        recorder.record(env)


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
