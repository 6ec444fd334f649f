"""Runs: folders that are whole, runs that repeat, and series."""

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from sensorium.app.scenario import Scenario
from sensorium.app.scenario.manifest import Manifest, hashed
from sensorium.app.scenario.run import repeat, run
from sensorium.app.scenario.sweep import cases, sweep
from sensorium.core.errors import OutOfMemoryError, SpecError, StoppedError
from sensorium.record.mcap.recover import recover

TEXT = """\
title: Turning
seed: 5
duration_s: 0.5
world: {kind: replay, file: way.csv, step_s: 0.01}
sensors:
  gyro: {kind: gyroscope, body: car, noise: {std: 0.01}, timing: {rate_hz: 100}}
outputs: {report: false, signals: csv}
"""

WAY = "time_s,body,x,y,z,qw,qx,qy,qz\n0,car,0,0,0,1,0,0,0\n1,car,1,0,0,0.9,0,0,0.43589\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turn.yaml").write_text(TEXT)
    (tmp_path / "way.csv").write_text(WAY)
    return tmp_path


def load(folder, **values):
    return Scenario.load(folder / "turn.yaml", values)


def test_a_run_leaves_a_folder_with_its_manifest(folder):
    told = []
    done = run(load(folder), folder / "out", progress=lambda simulated_s, real_s: told.append((simulated_s, real_s)))
    assert {path.name for path in (folder / "out").iterdir()} == {"manifest.json", "run.mcap", "signals"}
    assert {path.name for path in folder.iterdir()} == {"turn.yaml", "way.csv", "out"}
    assert [round(simulated_s, 9) for simulated_s, _ in told] == [round(0.01 * n, 9) for n in range(1, 51)]
    manifest = json.loads((folder / "out" / "manifest.json").read_text())
    assert manifest["scenario"]["seed"] == 5
    assert list(manifest["inputs"]) == ["way.csv"]
    assert set(manifest["outputs"]) == {"run.mcap", "signals/gyro.csv"}
    assert manifest["versions"]["sensorium"]
    assert manifest["run"]["steps"] == 50
    assert manifest["run"]["readings"] == {"gyro": 50}
    assert Manifest.load(folder / "out" / "manifest.json") == done.manifest


def test_a_run_repeated_from_its_manifest_gives_the_same_hashes(folder):
    run(load(folder, seed=9), folder / "out")
    (folder / "turn.yaml").unlink()  # all that counts is in the manifest
    done, different = repeat(folder / "out" / "manifest.json", folder / "again")
    assert different == []
    assert done.manifest.outputs == Manifest.load(folder / "out" / "manifest.json").outputs
    assert done.manifest.scenario["seed"] == 9


def test_another_seed_gives_other_hashes(folder):
    first = run(load(folder, seed=1), folder / "a").manifest.outputs
    second = run(load(folder, seed=2), folder / "b").manifest.outputs
    assert all(first[name] != second[name] for name in first)


def test_a_run_is_not_repeated_from_other_files(folder):
    run(load(folder), folder / "out")
    (folder / "way.csv").write_text(WAY.replace("1,car,1", "1,car,2"))
    with pytest.raises(SpecError, match=r"manifest\.json: way\.csv changed since the run"):
        repeat(folder / "out" / "manifest.json", folder / "again")
    (folder / "way.csv").unlink()
    with pytest.raises(SpecError, match="there is no such file"):
        repeat(folder / "out" / "manifest.json", folder / "again")
    assert not (folder / "again").exists()


def test_the_same_run_is_not_done_twice(folder):
    run(load(folder), folder / "out")
    stamp = (folder / "out" / "run.mcap").stat().st_mtime_ns
    again = run(load(folder), folder / "out")
    assert again.done_before
    assert (folder / "out" / "run.mcap").stat().st_mtime_ns == stamp
    assert not run(load(folder), folder / "out", force=True).done_before


def test_a_run_that_is_no_longer_whole_is_not_taken_for_one(folder):
    run(load(folder), folder / "out")
    (folder / "out" / "run.mcap").unlink()
    with pytest.raises(SpecError, match=r"whose run lacks 'run\.mcap' by now; do it again with --force"):
        run(load(folder), folder / "out")
    assert not run(load(folder), folder / "out", force=True).done_before


def test_another_run_does_not_take_the_place_of_one_unless_it_is_told_to(folder):
    run(load(folder, seed=1), folder / "out")
    with pytest.raises(SpecError, match="which holds another run"):
        run(load(folder, seed=2), folder / "out")
    assert Manifest.load(folder / "out" / "manifest.json").scenario["seed"] == 1
    run(load(folder, seed=2), folder / "out", force=True)
    assert Manifest.load(folder / "out" / "manifest.json").scenario["seed"] == 2
    assert not list(folder.glob("out.*"))


@pytest.mark.parametrize("where", ["hashed", "_put_in_place"])
def test_a_run_that_is_killed_while_its_files_are_hashed_begins_again(folder, monkeypatch, where):
    class Killed(BaseException):
        pass

    def kill(*_):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(f"sensorium.app.scenario.run.{where}", kill)
        with pytest.raises(Killed):
            run(load(folder), folder / "out")
    assert (folder / "out.part").exists()
    run(load(folder), folder / "out")
    assert run(load(folder), folder / "out").done_before
    assert not list(folder.glob("out.*"))
    assert not list(folder.glob("out/.*"))


def test_nothing_of_somebody_else_is_touched(folder):
    (folder / "mine").mkdir()
    (folder / "mine" / "work.txt").write_text("dear")
    with pytest.raises(SpecError, match="which holds files that are no run"):
        run(load(folder), folder / "mine", force=True)
    (folder / "out.part").mkdir()
    (folder / "out.part" / "work.txt").write_text("dear")
    with pytest.raises(SpecError, match="exists and is not ours"):
        run(load(folder), folder / "out")
    with pytest.raises(SpecError, match="a file; it must be a folder"):
        run(load(folder), folder / "way.csv")
    with pytest.raises(SpecError, match=r"characters, which cannot be looked at: File name too long"):
        run(load(folder), folder / ("x" * 300))
    assert (folder / "mine" / "work.txt").read_text() == (folder / "out.part" / "work.txt").read_text() == "dear"


@pytest.mark.parametrize("name", ["out.old", "out.scene", "out.part"])
def test_folders_beside_the_results_that_a_user_made_are_left_alone(folder, name):
    run(load(folder, seed=1), folder / "out")
    (folder / name).mkdir()
    (folder / name / "work.txt").write_text("dear")
    values = {"seed": 2, "scene": {"parts": 2}} if name == "out.scene" else {"seed": 2}
    with pytest.raises(SpecError, match=rf"{name}' exists and is not ours"):
        run(load(folder, **values), folder / "out", force=True)
    assert (folder / name / "work.txt").read_text() == "dear"
    assert Manifest.load(folder / "out" / "manifest.json").scenario["seed"] == 1
    assert not list(folder.glob(".*"))


def test_a_file_of_the_user_in_the_results_is_not_replaced_with_them(folder):
    run(load(folder), folder / "out", force=True)
    for place in ("notes.txt", "signals/notes.txt"):
        notes = folder / "out" / place
        notes.write_text("dear")
        with pytest.raises(SpecError, match=f"holds '{place}', which no run wrote"):
            run(load(folder), folder / "out", force=True)
        assert notes.read_text() == "dear"
        notes.unlink()
    (folder / "out" / "picture.png").touch()
    run(load(folder), folder / "out", force=True, added=["picture.png"])
    assert not (folder / "out" / "picture.png").exists()


def test_files_that_come_while_a_run_is_replaced_are_kept(folder):
    run(load(folder, seed=1), folder / "out")
    late = folder / "out" / "late.txt"
    run(load(folder, seed=2), folder / "out", force=True, progress=lambda *_: late.write_text("dear"))
    assert (folder / "out.old" / "late.txt").read_text() == "dear"
    assert Manifest.load(folder / "out" / "manifest.json").scenario["seed"] == 2


SLOW = """
import sys
from pathlib import Path
from sensorium.app.scenario import Scenario
from sensorium.app.scenario.run import run

def wait(simulated_s, real_s):
    if 0.195 < simulated_s < 0.205:
        print("half", flush=True)
        sys.stdin.readline()

run(Scenario.load(Path(sys.argv[1]) / "turn.yaml"), Path(sys.argv[1]) / "out", force=True, progress=wait)
"""


@pytest.mark.parametrize("again", [False, True])
def test_the_second_of_two_processes_is_told_which_one_writes_the_folder(folder, again):
    if again:
        run(load(folder, seed=1), folder / "out")
    command = [sys.executable, "-c", SLOW, str(folder)]
    first = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert first.stdout.readline() == "half\n"
    second = subprocess.run(
        [sys.executable, "-m", "sensorium", "run", "turn.yaml", "--out", "out", "--force"],
        **{"cwd": folder, "capture_output": True, "text": True, "check": False},
    )
    assert second.returncode == 2
    said = rf"sensorium: --out is '.*/out', which process {first.pid} on \S+ is writing; .*\n"
    assert re.fullmatch(said, second.stderr)
    first.communicate("\n")
    assert first.returncode == 0
    manifest = Manifest.load(folder / "out" / "manifest.json")
    assert manifest.outputs == hashed(folder / "out", ["manifest.json"])
    assert {path.name for path in folder.iterdir()} == {"turn.yaml", "way.csv", "out"}


def test_two_series_do_not_share_a_folder(folder):
    series = cases(lambda values: load(folder, **values), {"seed": [1, 2]})
    runs = sweep(series, folder / "out")
    next(runs)
    with pytest.raises(SpecError, match=f"which process {os.getpid()} on"):
        sweep(series, folder / "out")
    runs.close()
    assert [done.done_before for done in sweep(series, folder / "out")] == [True, False]
    assert not list(folder.glob(".*"))


def test_the_folder_is_looked_at_before_anything_is_made(folder, monkeypatch):
    """Making an environment may compile for a minute, and a scene in parts starts processes."""
    scenario = load(folder)
    monkeypatch.setattr(scenario, "environment", lambda *_: pytest.fail("the environment was made first"))
    with pytest.raises(SpecError, match="a file; it must be a folder"):
        run(scenario, folder / "way.csv")


def test_a_run_that_is_cut_off_leaves_no_folder_and_is_begun_again(folder):
    def stop(simulated_s: float, real_s: float) -> None:
        if simulated_s > 0.2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(load(folder), folder / "out", progress=stop)
    assert not (folder / "out").exists()
    assert (folder / "out.part" / "run.mcap").is_file()
    whole = run(load(folder), folder / "out").manifest.outputs
    assert not (folder / "out.part").exists()
    assert whole == run(load(folder), folder / "other").manifest.outputs


def test_a_series_runs_every_combination_and_goes_on_where_it_was_cut_off(folder):
    keys = {"seed": [1, 2], "sensors.gyro.noise.std": [0.0, 0.1]}
    series = cases(lambda values: load(folder, **values), keys)
    assert [case.folder for case in series] == [
        *("0-seed=1,std=0.0", "1-seed=1,std=0.1", "2-seed=2,std=0.0", "3-seed=2,std=0.1")
    ]
    runs = sweep(series, folder / "out")
    first = [next(runs), next(runs)]
    runs.close()
    all_of_them = list(sweep(series, folder / "out"))
    assert [done.done_before for done in all_of_them] == [True, True, False, False]
    assert [done.manifest for done in all_of_them[:2]] == [done.manifest for done in first]
    index = json.loads((folder / "out" / "sweep.json").read_text())
    assert index["cases"][3]["values"] == {"seed": 2, "sensors.gyro.noise.std": 0.1}


def test_a_series_with_a_mistake_runs_nothing(folder):
    with pytest.raises(SpecError, match="must not be negative"):
        cases(lambda values: load(folder, **values), {"sensors.gyro.noise.std": [0.1, -1]})
    with pytest.raises(SpecError, match="holds files that are no series"):
        sweep(cases(lambda values: load(folder, **values), {"seed": [1]}), folder)  # at once, before any is asked for
    series = cases(lambda values: load(folder, **values), {"seed": [1]})
    with pytest.raises(SpecError, match="which cannot be made: Not a directory"):
        list(sweep(series, folder / "way.csv" / "below"))
    list(sweep(series, folder / "out"))
    with pytest.raises(SpecError, match="holds another series"):
        list(sweep(cases(lambda values: load(folder, **values), {"seed": [2]}), folder / "out"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_stop_between_steps_and_leave_a_whole_recording(folder, number):
    from mcap.reader import make_reader

    def press(simulated_s: float, real_s: float) -> None:
        if simulated_s > 0.2:
            signal.raise_signal(number)

    before = signal.getsignal(number)
    with pytest.raises(StoppedError, match=r"stopped at 0\.\d+ of 0\.5 s; what there is lies in 'out\.part'") as told:
        run(load(folder), folder / "out", progress=press)
    assert told.value.signal_number == number
    assert signal.getsignal(number) is before
    with (folder / "out.part" / "run.mcap").open("rb") as file:
        clocks = [message for _, channel, message in make_reader(file).iter_messages() if channel.topic == "/clock"]
    assert 20 <= len(clocks) <= 23


def test_running_out_of_memory_leaves_a_recording(folder):
    def exhaust(simulated_s: float, real_s: float) -> None:
        if simulated_s > 0.2:
            np.ones(1 << 50)

    said = r"out of memory at 0\.21 of 0\.5 s \(.*Unable to allocate.*\); what there is lies in 'out\.part'"
    with pytest.raises(OutOfMemoryError, match=said):
        run(load(folder), folder / "out", progress=exhaust)
    recovered = recover(folder / "out.part" / "run.mcap")
    assert recovered.messages["/clock"] == 21
    assert run(load(folder), folder / "out").manifest.run["steps"] == 50


def test_what_others_put_into_an_unfinished_run_is_not_deleted(folder):
    part = folder / "out.part"
    part.mkdir()
    for name in (".sensorium-run", "run.mcap", ".report.html.1a2b.part", "run.recovered.mcap"):
        (part / name).touch()
    with pytest.raises(
        SpecError, match=r"out\.part' holds 'run\.recovered\.mcap', which no run wrote; it would be lost"
    ):
        run(load(folder), folder / "out")
    assert (part / "run.recovered.mcap").is_file()
    (part / "run.recovered.mcap").rename(folder / "saved.mcap")
    run(load(folder), folder / "out")
    assert not part.exists()


def test_an_error_before_the_first_step_leaves_nothing(folder):
    with pytest.raises(SpecError, match=r"no sensor is named 'tap'"):
        run(load(folder, **{"outputs.clouds": {"format": "ply", "sensors": ["tap"]}}), folder / "out")
    assert {path.name for path in folder.iterdir()} == {"turn.yaml", "way.csv"}


def test_a_sheet_of_the_users_own_is_an_input(folder, monkeypatch):
    from sensorium.devices import describe

    (folder / "sheets").mkdir()
    sheet = folder / "sheets" / "mine.toml"
    sheet.write_text(describe("vectornav-vn100").path.read_text())
    monkeypatch.setenv("SENSORIUM_DEVICES", str(folder / "sheets"))
    values = {"sensors.gyro": {"kind": "gyroscope", "device": "mine", "body": "car"}}
    first = run(Scenario.load(folder / "turn.yaml", values), folder / "out")
    assert "sheets/mine.toml" in first.manifest.inputs
    sheet.write_text(sheet.read_text() + "\n# edited\n")
    with pytest.raises(SpecError, match="which holds another run"):
        run(Scenario.load(folder / "turn.yaml", values), folder / "out")


def test_an_edited_manifest_is_not_repeated(folder):
    run(load(folder), folder / "out")
    file = folder / "out" / "manifest.json"
    text = file.read_text()
    file.write_text(text.replace('"seed": 5', '"seed": 6'))
    with pytest.raises(SpecError, match="was changed since its run"):
        repeat(file, folder / "again")
    for old, new in (('"outputs": {', '"outputs": null, "x": {'), (f'"folder": "{".."}"', '"folder": 5')):
        assert old in text
        file.write_text(text.replace(old, new))
        with pytest.raises(SpecError, match=r"^manifest\.json\."):
            repeat(file, folder / "again")


def forged(place, /, **changes):
    """A manifest with an identity that fits, as anybody can make one."""
    manifest = replace(Manifest.load(place / "out" / "manifest.json"), **changes)
    (place / "got").mkdir(exist_ok=True)
    manifest.save(place / "got")
    return place / "got" / "manifest.json"


@pytest.mark.parametrize("way", ["absolute", "dots", "link"])
def test_a_manifest_reads_nothing_outside_the_folder_it_is_run_from(folder, monkeypatch, way):
    """What SECURITY.md promises: a manifest grants itself nothing."""
    run(load(folder), folder / "out")
    here = folder / "got" / "deep"
    here.mkdir(parents=True)
    (here / "link").symlink_to(folder)
    names = {"absolute": str(folder), "dots": "..", "link": "deep/link"}
    path = forged(folder, folder=names[way])
    monkeypatch.chdir(here.parent)
    with pytest.raises(SpecError, match=r"folder is '.*', which is '.*'; it must lie in the folder that the manifest"):
        repeat(path, here / "again")
    assert not (here / "again").exists()

    # The same from above, or by the user's leave, or from a folder that is known
    assert repeat(path, here / "again", allow_outside=True)[1] == []
    assert repeat(path, here / "known", known=[folder])[1] == []
    monkeypatch.chdir(folder)
    assert repeat(path, here / "above")[1] == []


def test_files_that_a_manifest_names_outside_the_scenarios_folder_are_refused(folder):
    run(load(folder), folder / "out")
    for name in (str(folder / "way.csv"), "../way.csv"):
        world = {"kind": "replay", "file": name, "step_s": 0.01}
        for changes in ({"inputs": {name: "00"}}, {"inputs": {}, "scenario": {"duration_s": 1.0, "world": world}}):
            path = forged(folder, folder=".", **changes)
            with pytest.raises(SpecError, match="must lie in the scenario's folder, or be allowed by --allow-outside"):
                repeat(path, folder / "again")


def test_the_folder_is_part_of_what_a_manifest_is(folder):
    run(load(folder), folder / "out")
    file = folder / "out" / "manifest.json"
    file.write_text(file.read_text().replace('"folder": ".."', '"folder": "../.."'))
    with pytest.raises(SpecError, match="was changed since its run"):
        repeat(file, folder / "again")


@pytest.mark.parametrize("figures", [{}, {"steps": 1, "simulated_s": "x", "real_s": 1, "readings": {}}])
def test_a_manifest_whose_figures_are_none_is_refused(folder, figures):
    run(load(folder), folder / "out")
    with pytest.raises(SpecError, match=r"manifest\.json\.run"):
        repeat(forged(folder, folder="..", run=figures), folder / "again")


@pytest.mark.parametrize(
    "keys",
    [{"seed": [1, 1]}, {"sensors.gyro.noise.std": [0.1], "sensors.gyro.noise": [{"std": 1}]}],
)
def test_a_series_in_which_runs_would_be_the_same_is_refused(folder, keys):
    with pytest.raises(SpecError, match="--sweep"):
        cases(lambda values: load(folder, **values), keys)


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "is not JSON"), ("[]", "it lacks folder"), ('{"scenario": {}}', "it lacks folder, format, inputs")],
)
def test_a_manifest_that_is_none_is_refused(folder, text, words):
    (folder / "manifest.json").write_text(text)
    with pytest.raises(SpecError, match=words):
        repeat(folder / "manifest.json", folder / "out")
