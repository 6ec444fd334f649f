"""`sensorium run` as a user types it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def started(*arguments):
    return [sys.executable, "-m", "sensorium", *map(str, arguments)]


def run(*arguments, folder):
    environment = {**os.environ, "COLUMNS": "160", "NO_COLOR": "1"}
    return subprocess.run(started(*arguments), capture_output=True, text=True, env=environment, cwd=folder, timeout=600)


SMALL = """\
duration_s: 0.2
scene:
  objects:
    - {shape: {kind: box, x: 1, y: 1, z: 1}}
world: {kind: kinematic, bodies: {car: {kind: line, velocity: [1, 0, 0]}}}
sensors:
  gyro: {kind: gyroscope, body: car, timing: {rate_hz: 100}}
outputs: {report: false}
"""

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SMALL.replace("rate_hz", "rat_hz"), "bad.yaml:7: sensors.gyro.timing.rat_hz is 100; did you mean rate_hz?"),
        (SMALL.replace("0.2", ".nan"), "bad.yaml:1: duration_s is nan; it must be"),
        (
            SMALL.replace("shape: {kind: box, x: 1, y: 1, z: 1}", "mesh: gone.stl"),
            "bad.yaml:4: scene.objects[0].mesh is 'gone.stl'",
        ),
        (
            SMALL.replace("shape: {kind: box, x: 1, y: 1, z: 1}", "mesh: ../up.stl"),
            "bad.yaml:4: scene.objects[0].mesh is '../up",
        ),
        (BOMB, "bad.yaml:1: it has more than 100000 values once aliases are written out"),
        (
            SMALL.replace(
                "{kind: kinematic, bodies: {car: {kind: line, velocity: [1, 0, 0]}}}", "{kind: mujoco, model: m.xml}"
            ),
            "bad.yaml:5: world: m.xml, line 1: file of include is '../up.xml', which leaves the folder",
        ),
    ],
    ids=["misspelt", "nan", "missing mesh", "escape", "bomb", "include"],
)
def test_a_bad_scenario_is_one_line_and_exit_code_2_and_nothing_is_written(tmp_path, text, words, command):
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "up.stl").write_text("solid")
    (tmp_path / "up.xml").write_text("<mujoco/>")
    (inside / "m.xml").write_text('<mujoco><include file="../up.xml"/></mujoco>')
    (inside / "bad.yaml").write_text(text)
    done = command("run", "bad.yaml", "--out", "out", folder=inside)
    assert done.returncode == 2
    assert done.stderr.startswith(f"sensorium: {words}")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert sorted(path.name for path in inside.iterdir()) == ["bad.yaml", "m.xml"]


def test_the_scenario_of_the_documentation_runs_and_repeats(tmp_path, command):
    page = (ROOT / "docs" / "scenarios.md").read_text()
    (tmp_path / "turn.yaml").write_text(re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1])
    done = run("run", "turn.yaml", "--out", "results", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    for words in ("steps", "imu", "100 readings", "real time", "report.html", "manifest.json", "run.mcap"):
        assert words in done.stdout
    manifest = json.loads((tmp_path / "results" / "manifest.json").read_text())
    assert manifest["run"]["readings"] == {"top": 10, "imu": 100, "wheel": 50}
    listed = {"manifest.json", *manifest["outputs"], *manifest["views"]}
    results = tmp_path / "results"
    assert listed == {path.relative_to(results).as_posix() for path in results.rglob("*") if path.is_file()}

    again = command("run", "results/manifest.json", "--out", "again", folder=tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr
    assert f"the same: all {len(manifest['outputs'])} files" in again.stdout

    other = command("run", "results/manifest.json", "--out", "other", "--seed", "3", folder=tmp_path)
    assert other.returncode == 2
    assert "would make it another run" in other.stderr


def stopped(folder, number):
    """Start a run of a minute, send it a signal once it has recorded something, and wait for its end."""
    (folder / "s.yaml").write_text(SMALL.replace("0.2", "60"))
    process = subprocess.Popen(
        started("run", "s.yaml", "--out", "out"),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    recording = folder / "out.part" / "run.mcap"
    until = time.monotonic() + 120
    while time.monotonic() < until and not (recording.is_file() and recording.stat().st_size > 20_000):
        time.sleep(0.02)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    return recording, process.returncode, said


@pytest.mark.parametrize(("number", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_and_sigterm_leave_a_recording_that_any_reader_opens(tmp_path, number, expected):
    from mcap.reader import make_reader

    recording, code, said = stopped(tmp_path, number)
    assert code == expected
    assert re.fullmatch(r"sensorium: stopped at [\d.]+ of 60 s; what there is lies in 'out\.part', .*\n", said)
    with recording.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        told = reader.get_summary().statistics
        times_ns = [message.log_time for _, channel, message in reader.iter_messages() if channel.topic == "/clock"]
    assert told.message_count > 100
    step_ns = times_ns[1] - times_ns[0]
    assert times_ns == [step_ns * (k + 1) for k in range(len(times_ns))]
    assert not (tmp_path / "out").exists()


def test_a_killed_run_leaves_no_folder_and_the_next_one_is_whole(tmp_path, command):
    recording, _, _ = stopped(tmp_path, signal.SIGKILL)
    assert recording.stat().st_size > 20_000
    assert not (tmp_path / "out").exists()
    recovered = command("recover", recording, "--out", "saved.mcap", folder=tmp_path)
    assert recovered.returncode == 0, recovered.stderr
    assert "/gyro/" in recovered.stdout
    done = command("run", "s.yaml", "--out", "out", "--set", "duration_s=0.5", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "s.yaml", "saved.mcap"]


def test_a_sweep_prints_its_table_and_goes_on(tmp_path, command):
    (tmp_path / "s.yaml").write_text(SMALL)
    sweep = ("run", "s.yaml", "--sweep", "seed=1,2", "--sweep", "sensors.gyro.noise.std=0,0.1")
    done = command(*sweep, "--out", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "4 runs in out" in done.stdout
    assert "was there" not in done.stdout
    again = command(*sweep, "--out", "out", folder=tmp_path)
    assert again.stdout.count("was there") == 4


def test_names_do_not_steer_the_terminal(tmp_path, command):
    """Sensors and topics are named by whoever made the file."""
    name = r"\e]0;mine\a\e[2J [link=https://x]y"
    (tmp_path / "s.yaml").write_text(f'title: "{name}"\n' + SMALL.replace("gyro:", f'"{name}":'))
    done = command("run", "s.yaml", "--out", "out", folder=tmp_path)
    assert done.returncode == 0
    assert r"\x1b]0;mine\x1b[2J [link=" in done.stdout
    again = command("recover", "out/run.mcap", "--out", "again.mcap", folder=tmp_path)
    assert "/sensor_0_mine__" in again.stdout
    series = command("run", "s.yaml", "--sweep", 'title="a\x1b[2J",b', "--out", "series", folder=tmp_path)
    for text in (done.stdout, done.stderr, again.stdout, series.stdout, series.stderr):
        assert all(line.isprintable() for line in text.split("\n"))


def test_running_out_of_memory_is_one_line(tmp_path, command, monkeypatch):
    from sensorium.environment import Environment

    step = Environment.step

    def hungry(env):
        if env.time_s > 0.1:
            bytearray(1 << 60)
        step(env)

    (tmp_path / "s.yaml").write_text(SMALL)
    monkeypatch.setattr(Environment, "step", hungry)
    done = command("run", "s.yaml", "--out", "out", folder=tmp_path)
    assert done.returncode == 2
    said = r"sensorium: out of memory at 0\.1\d* of 0\.2 s \(MemoryError\); .* 'out\.part', .*\n"
    assert re.fullmatch(said, done.stderr)
    again = command("recover", "out.part/run.mcap", folder=tmp_path)
    assert again.returncode == 0
    assert "/clock" in again.stdout


def test_the_schema_is_printed_and_written(tmp_path, command):
    printed = command("schema", folder=tmp_path)
    assert printed.returncode == 0
    assert json.loads(printed.stdout)["title"] == "Scenario"
    assert command("schema", "--out", "s.json", folder=tmp_path).returncode == 0
    assert (tmp_path / "s.json").read_text() == printed.stdout


def test_a_name_that_is_no_file_gets_a_hint(tmp_path, command):
    done = command("run", "nowhere.yaml", folder=tmp_path)
    assert done.returncode == 2
    assert "there is no such file" in done.stderr
