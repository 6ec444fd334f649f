"""`sensorium devices`: the list, a sheet, its picture and its round trip, as a user runs them."""

import os
import subprocess
import sys

import pytest
from PIL import Image

from sensorium.devices import names

OWN = """
kind = "encoder"
maker = "Me"
model = "One"
description = "made at home"
[sources]
BENCH = "my own bench"
[resolution]
value = 100
unit = "counts/rev"
means = "counts"
source = "BENCH"
grade = "A"
"""


def run(*arguments, **variables):
    command = [sys.executable, "-m", "sensorium", "devices", *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1", **variables}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)


def test_all_devices_are_listed_by_kind(command):
    done = command("devices")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    kinds = [line for line in lines if not line.startswith("  ")]
    assert kinds == ["camera", "depth_camera", "encoder", "imu", "lidar", "magnetometer", "radar"]
    assert sorted(line.split()[0] for line in lines if line.startswith("  ")) == list(names())


def test_one_kind_alone(command):
    done = command("devices", "--kind", "imu")
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == list(names("imu"))


@pytest.mark.parametrize("name", ["livox-mid40", "vectornav-vn100", "delphi-esr-long"])
def test_a_sheet_is_printed_with_its_sources_and_drawn(name, tmp_path, command):
    done = command("devices", name, "--out", tmp_path / "pictures", encoding="ascii")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{name}: ")
    assert "the model's defaults stand in: " in done.stdout
    assert "grades: " in done.stdout
    assert [file.name for file in (tmp_path / "pictures").iterdir()] == [f"{name}.png"]
    picture = Image.open(tmp_path / "pictures" / f"{name}.png").convert("RGB")
    assert len(picture.getcolors(picture.width * picture.height)) > 100


def test_a_device_of_ones_own_and_its_round_trip(tmp_path, command):
    (tmp_path / "one.toml").write_text(OWN)
    done = run("one", "--round-trip", SENSORIUM_DEVICES=str(tmp_path), PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "one: Me One, made at home" in done.stdout
    assert "99 to 101" in done.stdout
    assert command("devices", tmp_path / "one.toml", "--round-trip", encoding="ascii").stdout == done.stdout
    assert "nothing to draw" in command("devices", "one", "--folder", tmp_path, "--out", tmp_path / "none").stdout
    assert not (tmp_path / "none").exists()


def test_a_wrong_name_is_one_clear_line(command):
    done = command("devices", "ouster-os1")
    assert done.returncode == 2
    expected = "sensorium: device is 'ouster-os1'; the library has no such name; did you mean ouster-os1-128"
    assert done.stderr.startswith(expected)
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [("--round-trip",), ("--out", "pictures"), ("livox-mid40", "--kind", "imu")])
def test_options_that_have_nothing_to_act_on_are_refused(arguments, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    done = command("devices", *arguments)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert not any(tmp_path.iterdir())
