import os
import subprocess
import sys

import pytest

import sensorium


def run(*arguments, **variables):
    """Run the command line as a user would."""
    command = [sys.executable, "-m", "sensorium", *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", **variables}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)


def test_help_names_the_commands():
    done = run("--help")
    assert done.returncode == 0
    assert "demo" in done.stdout
    assert "bench" in done.stdout


def test_version():
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"sensorium {sensorium.__version__}\n")


def test_an_unknown_command_is_a_usage_error():
    assert run("dmeo").returncode == 2


@pytest.mark.parametrize("under", ["", "below"])
def test_a_file_in_place_of_the_folder_is_one_clear_line(tmp_path, under):
    taken = tmp_path / "taken"
    taken.write_text("mine")
    done = run("demo", "--out", taken / under)
    assert done.returncode == 2
    assert done.stderr.startswith("sensorium: --out is ")
    assert done.stderr.count("\n") == 1
    assert taken.read_text() == "mine"


def test_too_short_a_drive_is_one_clear_line(tmp_path):
    done = run("demo", "--out", tmp_path, "--seconds", "0.01")
    assert done.returncode == 2
    assert "sensorium: seconds is 0.01; it must be finite and at least 0.1" in done.stderr


def test_the_demo_writes_into_a_folder_that_exists_and_says_so(tmp_path):
    (tmp_path / "other.txt").write_text("stays")
    done = run("demo", "--out", tmp_path, "--seconds", "0.1", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {"other.txt", "overview.png", "top_view.png", "range_image.png", "cloud.ply"}
    for word in ("real-time factor", "ground", "cloud.ply", "million rays per second"):
        assert word in done.stdout


def test_the_command_line_starts_without_the_slow_packages():
    slow = ("numba", "matplotlib", "trimesh", "scipy")
    code = f"import sys, sensorium.cli; print([name for name in {slow} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
