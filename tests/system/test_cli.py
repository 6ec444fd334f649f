import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import sensorium
from sensorium.app import cli


def run(*arguments, **variables):
    """Run the command line as a user would."""
    command = [sys.executable, "-m", "sensorium", *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", **variables}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)


def test_help_names_the_commands(command):
    done = command("--help")
    assert done.returncode == 0
    assert "demo" in done.stdout
    assert "allan" in done.stdout
    assert "bench" in done.stdout
    assert "view" in done.stdout


def test_version():
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"sensorium {sensorium.__version__}\n")


def test_a_warning_is_one_line_as_errors_are(monkeypatch, capsys):
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr(cli, "app", lambda: warnings.warn("sensor 'eye' is in no table", stacklevel=1))
    cli.main()
    assert capsys.readouterr().err == "sensorium: sensor 'eye' is in no table\n"


def test_an_unknown_command_is_a_usage_error(command):
    assert command("dmeo").returncode == 2


@pytest.mark.parametrize("under", ["", "below"])
def test_a_file_in_place_of_the_folder_is_one_clear_line(tmp_path, under, command):
    taken = tmp_path / "taken"
    taken.write_text("mine")
    done = command("demo", "--out", taken / under)
    assert done.returncode == 2
    assert done.stderr.startswith("sensorium: --out is ")
    assert done.stderr.count("\n") == 1
    assert taken.read_text() == "mine"


def test_too_short_a_drive_is_one_clear_line(tmp_path, command):
    done = command("demo", "--out", tmp_path, "--seconds", "0.01")
    assert done.returncode == 2
    assert "sensorium: --seconds is 0.01; it must be finite and at least 0.1" in done.stderr


def test_the_demo_leaves_a_run_and_pictures_and_says_so(tmp_path):
    done = run("demo", "--out", tmp_path, "--seconds", "0.2", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    names = {file.name for file in tmp_path.iterdir()}
    drawn = {"overview.png", "top_view.png", "range_image.png", "cloud.ply"}
    assert names == {"report.html", "run.mcap", "manifest.json", "signals", "clouds", *drawn}
    for word in ("real-time factor", "ground", "cloud.ply", "million rays per second", "report.html"):
        assert word in done.stdout


def test_the_demo_leaves_a_folder_alone_that_holds_something_else(tmp_path, command):
    (tmp_path / "other.txt").write_text("stays")
    done = command("demo", "--out", tmp_path, "--seconds", "0.2")
    assert done.returncode == 2
    assert "which holds files that are no run" in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["other.txt"]


def test_the_demo_does_not_replace_the_run_of_another_scenario(tmp_path, command):
    (tmp_path / "small.yaml").write_text("duration_s: 0.1\noutputs: {mcap: false, report: false}\n")
    assert command("run", tmp_path / "small.yaml", "--out", tmp_path / "mine").returncode == 0
    done = command("demo", "--out", tmp_path / "mine")
    assert done.returncode == 2
    assert "which holds the run of another scenario" in done.stderr
    assert (tmp_path / "mine" / "manifest.json").is_file()


def test_the_command_line_starts_without_the_slow_packages():
    slow = ("numba", "matplotlib", "trimesh", "scipy")
    code = f"import sys, sensorium.app.cli; print([name for name in {slow} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.fixture(scope="module")
def gyroscope_log(tmp_path_factory):
    """Ten minutes of a gyroscope in degrees a second, at 50 Hz."""
    rng = np.random.default_rng(1)
    rates = 0.02 * rng.standard_normal((30_000, 3)) + 2e-5 * rng.standard_normal((30_000, 3)).cumsum(axis=0)
    file = tmp_path_factory.mktemp("log") / "still.csv"
    table = np.column_stack([np.arange(30_000) * 0.02, rates])
    np.savetxt(file, table, delimiter=",", fmt="%.9g", header="t [s],gx [deg/s],gy [deg/s],gz [deg/s]", comments="")
    return file


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_allan_finds_the_noise_of_a_log(gyroscope_log, tmp_path, encoding, command):
    done = command("allan", gyroscope_log, "--out", tmp_path / "new", encoding=encoding)
    assert done.returncode == 0, done.stderr
    assert {file.name for file in (tmp_path / "new").iterdir()} == {"allan.png", "allan.json"}
    fit = sensorium.analysis.AllanFit.load(tmp_path / "new" / "allan.json")
    assert (fit.channels, fit.units) == (("gx", "gy", "gz"), ("rad/s",) * 3)
    assert pytest.approx(np.radians(0.02) / np.sqrt(50), rel=0.02) == fit.N
    for word in ("30,000 samples at 50 Hz, 600.0 s", "gz", "95 % interval", "allan.json", "random walk"):
        assert word in done.stdout
    assert ("°/√h" if encoding == "utf-8" else "deg/sqrt(h)") in done.stdout


def test_allan_takes_columns_units_rate_and_terms(gyroscope_log, tmp_path, command):
    arguments = ("--columns", "gz,2", "--unit", "rad/s,mg", "--rate", "100", "--terms", "QNK", "--fit-from", "0.02")
    done = command("allan", gyroscope_log, "--out", tmp_path, *arguments, "--fit-to", "60")
    assert done.returncode == 0, done.stderr
    fit = sensorium.analysis.AllanFit.load(tmp_path / "allan.json")
    assert (fit.channels, fit.units, fit.terms) == (("gz", "gx"), ("rad/s", "m/s^2"), "QNK")
    assert pytest.approx([0.002, 0.002 * 9.80665e-3], rel=0.1) == fit.N
    assert fit.allan.rate_hz == 100.0
    assert fit.fit_range_s[0] >= 0.02
    assert fit.fit_range_s[1] <= 60.0


def test_allan_refuses_a_log_with_a_gap_in_one_clear_line(gyroscope_log, tmp_path, command):
    lines = gyroscope_log.read_text().splitlines(keepends=True)
    log = tmp_path / "gap.csv"
    log.write_text("".join(lines[:1000] + lines[1005:]))
    done = command("allan", log, "--out", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("sensorium: 5 samples are missing in 1 gaps, the first of 0.12 s before row 1000")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "allan.json").exists()
    filled = command("allan", log, "--out", tmp_path, "--allow-gaps")
    assert filled.returncode == 0, filled.stderr
    assert "5 samples that were missing" in filled.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv"], "log is 'none.csv'; it must be a file"),
        (["{log}", "--terms", "X"], "terms is 'X'; it must be letters of 'QNBKR'"),
        (["{log}", "--unit", "parsec"], "unit is 'parsec'; it must be one of"),
        (["{log}", "--columns", "ax"], "column is 'ax'; it must be a number up to 4 or one of"),
        (["{log}", "--rate", "0"], "rate_hz is 0.0; it must be finite and positive"),
        (["{log}", "--fit-from", "100"], "averaging times an octave apart"),
    ],
)
def test_allan_says_what_is_wrong_in_one_line(gyroscope_log, tmp_path, arguments, message, command):
    done = command("allan", *(a.format(log=gyroscope_log) for a in arguments), "--out", tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_viewing_what_does_not_exist_is_one_clear_line(tmp_path, command):
    done = command("view", tmp_path / "none.mcap")
    assert done.returncode == 2
    assert done.stderr.startswith("sensorium: FILE is ")
    assert done.stderr.count("\n") == 1


def test_a_cloud_is_saved_for_rerun(tmp_path, command):
    pytest.importorskip("rerun")
    sensorium.record.save_ply_points(tmp_path / "cloud.ply", np.ones((3, 3), np.float32))
    done = command("view", tmp_path / "cloud.ply", "--save", tmp_path / "cloud.rrd")
    assert (done.returncode, done.stdout.strip()) == (0, f"wrote {tmp_path / 'cloud.rrd'}")
    assert (tmp_path / "cloud.rrd").read_bytes().startswith(b"RRF")
