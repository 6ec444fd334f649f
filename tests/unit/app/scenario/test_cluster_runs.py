"""Series on a cluster: every run once, none lost, whatever dies on the way."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from sensorium.app.cli import app
from sensorium.app.scenario import Scenario, cluster_runs
from sensorium.app.scenario.cluster_runs import compile_kernels_of, gather, new_place, run_on_cluster, sweep_on_cluster
from sensorium.app.scenario.manifest import Manifest
from sensorium.app.scenario.run import run, run_away, standing
from sensorium.app.scenario.sweep import cases, sweep
from sensorium.core.errors import RecordError, SpecError
from sensorium.runtime.cluster import nodes

TEXT = """\
title: Turning
duration_s: 0.3
world: {kind: replay, file: way.csv, step_s: 0.01}
sensors:
  gyro: {kind: gyroscope, body: car, noise: {std: 0.01}, timing: {rate_hz: 100}}
outputs: {report: false, mcap: false, signals: csv}
"""

WAY = "time_s,body,x,y,z,qw,qx,qy,qz\n0,car,0,0,0,1,0,0,0\n100,car,1,0,0,0.9,0,0,0.43589\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "turn.yaml").write_text(TEXT)
    (tmp_path / "way.csv").write_text(WAY)
    return tmp_path


def series(folder, count=4, **values):
    return cases(
        lambda more: Scenario.load(folder / "turn.yaml", {**values, **more}), {"seed": list(range(1, count + 1))}
    )


def test_a_series_gives_the_hashes_of_one_process(local_cluster, folder):
    given = series(folder)
    done = dict((case.folder, made) for case, made in sweep_on_cluster(given, folder / "cluster"))
    expected = {case.folder: made for case, made in zip(given, sweep(given, folder / "here"), strict=True)}
    assert {name: made.manifest.outputs for name, made in done.items()} == {
        name: made.manifest.outputs for name, made in expected.items()
    }
    assert (folder / "cluster" / "sweep.json").read_bytes() == (folder / "here" / "sweep.json").read_bytes()
    assert sorted(path.name for path in (folder / "cluster").iterdir()) == sorted([*done, "sweep.json"])


def test_a_series_goes_on_where_it_was(local_cluster, folder):
    given = series(folder)
    run(given[1].scenario, folder / "out" / given[1].folder)
    (folder / "out" / "sweep.json").write_text(
        json.dumps({"cases": [{"folder": case.folder, "values": case.values} for case in given]})
    )
    before = (folder / "out" / given[1].folder / "manifest.json").stat().st_mtime_ns
    first = dict((case.folder, made.done_before) for case, made in sweep_on_cluster(given, folder / "out"))
    assert first == {case.folder: case is given[1] for case in given}
    assert (folder / "out" / given[1].folder / "manifest.json").stat().st_mtime_ns == before
    assert all(made.done_before for _, made in sweep_on_cluster(given, folder / "out"))
    with pytest.raises(SpecError, match="holds another series"):
        list(sweep_on_cluster(given[:2], folder / "out"))


@pytest.mark.slow
def test_a_run_whose_process_is_killed_is_done_by_another(local_cluster, folder):
    """A process is killed while it writes; its run is begun again by another."""
    given = series(folder, duration_s=20.0, **{"outputs.mcap": True})
    out, killed = folder / "out", None
    runs = sweep_on_cluster(given, out)
    done = {}

    def kill():
        nonlocal killed
        while killed is None and len(done) < len(given):
            for part in out.glob("*.part"):
                killed = _process_writing(part)
                if killed is not None:
                    os.kill(killed, signal.SIGKILL)
                    return
            time.sleep(0.002)

    killer = threading.Thread(target=kill)
    killer.start()
    for case, made in runs:
        done[case.folder] = made
    killer.join()
    assert killed is not None
    assert sorted(done) == [case.folder for case in given]
    for case in given:
        assert Manifest.load(out / case.folder / "manifest.json").run["steps"] == 2000
    assert not list(out.glob("*.part"))


def _process_writing(part):
    """A process other than this one that has a file open in a folder."""
    for fds in os.scandir("/proc"):
        if fds.name.isdigit() and int(fds.name) != os.getpid():
            try:
                links = [os.readlink(link.path) for link in os.scandir(f"/proc/{fds.name}/fd")]
            except OSError:
                continue
            if any(link.startswith(f"{part}{os.sep}") for link in links):
                return int(fds.name)
    return None


def test_a_mistake_in_a_run_is_told_as_anywhere(local_cluster, folder):
    scenario = Scenario.load(folder / "turn.yaml")
    (folder / "way.csv").unlink()
    with pytest.raises(SpecError, match="there is no such file"):
        run_on_cluster(scenario, folder / "out")
    assert not (folder / "out").exists()


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")
@pytest.mark.slow
def test_the_command_runs_on_a_cluster_of_its_own(folder, local_cluster):
    arguments = ["run", str(folder / "turn.yaml"), "--out", str(folder / "out"), "--cluster", "local"]
    command = [sys.executable, "-m", "sensorium", *arguments, "--sweep", "seed=1,2"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "was there" not in done.stdout

    # Once more, in this process, which has a cluster
    again = CliRunner().invoke(app, [*arguments, "--sweep", "seed=1,2"])
    assert again.exit_code == 0, again.output
    assert again.output.count("was there") == 2
    assert (folder / "out" / "1-seed=2" / "signals" / "gyro.csv").is_file()


PARTS = """\
title: Tiles
duration_s: 0.1
scene:
  objects:
    - {mesh: tile.npz, label: ground}
    - {mesh: tile.npz, scale: 0.5, pose: {position: [9, 0, 1]}, label: roof}
    - {shape: {kind: box, x: 0.1, y: 6, z: 4}, pose: {position: [-5, 0, 2]}, material: {kind: mirror, reflectance: 0.9}}
    - {shape: {kind: box, x: 1, y: 1, z: 1}, body: car, label: car}
world: {kind: replay, file: way.csv, step_s: 0.05}
sensors:
  top:
    kind: lidar
    body: car
    hide: [car]
    pose: {position: [0, 0, 2]}
    pattern: &spinning {kind: spinning, elevation_deg: {top: 5, bottom: -30, channels: 16}, columns: 200, rate_hz: 10}
  light:
    kind: lidar
    mode: relative
    max_depth: 2
    body: car
    hide: [car]
    pose: {position: [0, 0, 1.5]}
    pattern: *spinning
outputs: {report: false, mcap: false, clouds: {format: npz}}
"""


@pytest.mark.slow
def test_a_scene_in_parts_gives_the_files_of_one_process(local_cluster, folder):
    import numpy as np

    from sensorium.scene import shapes

    hills = shapes.heightfield(np.random.default_rng(0).uniform(0, 0.3, (40, 40)), 20.0, 20.0)
    np.savez(folder / "tile.npz", vertices=hills.vertices, faces=hills.faces)
    (folder / "tiles.yaml").write_text(PARTS)
    whole = run(Scenario.load(folder / "tiles.yaml"), folder / "whole")
    parted = run(Scenario.load(folder / "tiles.yaml", {"scene.parts": 2}), folder / "parted")
    sent = run_on_cluster(Scenario.load(folder / "tiles.yaml", {"scene.parts": 3}), folder / "sent")
    assert len(whole.manifest.outputs) == 2
    assert parted.manifest.outputs == sent.manifest.outputs == whole.manifest.outputs
    assert parted.manifest.inputs == whole.manifest.inputs
    assert not list(folder.glob("*.scene"))
    with pytest.raises(SpecError, match=r"sensors.top: normals is True and 'top' looks into a scene in parts"):
        run(Scenario.load(folder / "tiles.yaml", {"scene.parts": 2, "sensors.top.normals": True}), folder / "bad")
    with pytest.raises(SpecError, match=r"scene\.parts is 2; the parts need a folder"):
        Scenario.load(folder / "tiles.yaml", {"scene.parts": 2}).environment()


REHEARSED = """\
duration_s: 100000.0
world: {kind: replay, file: way.csv, step_s: 0.01}
sensors:
  gyro: {kind: gyroscope, body: car, timing: {rate_hz: 10}}
outputs: {report: false, mcap: true}
"""


def test_compiling_by_a_run_is_short_and_leaves_nothing(tmp_path):
    (tmp_path / "turn.yaml").write_text(REHEARSED)
    (tmp_path / "way.csv").write_text("time_s,body,x,y,z,qw,qx,qy,qz\n0,car,0,0,0,1,0,0,0\n1,car,1,0,0,1,0,0,0\n")
    scenario = Scenario.load(tmp_path / "turn.yaml")
    _, took_s = compile_kernels_of(scenario)
    assert took_s < 300
    assert compile_kernels_of(scenario)[0] == 0  # nothing is left to compile
    assert sorted(path.name for path in tmp_path.iterdir()) == ["turn.yaml", "way.csv"]
    (tmp_path / "way.csv").unlink()
    with pytest.raises(SpecError, match="there is no such file"):
        compile_kernels_of(scenario)


GATHERED = """\
duration_s: 0.2
world: {kind: kinematic, bodies: {car: {kind: line, velocity: [1, 0, 0]}}}
sensors:
  gyro: {kind: gyroscope, body: car, timing: {rate_hz: 100}}
outputs: {report: false, mcap: true, signals: csv}
"""


def test_a_run_is_fetched_whole_or_not_at_all(local_cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_runs, "_CHUNK", 1000)  # of our own side: each answer of the other is the last of a file
    (tmp_path / "turn.yaml").write_text(GATHERED)
    scenario, out = Scenario.load(tmp_path / "turn.yaml"), tmp_path / "out"
    (node,) = nodes.used(local_cluster)
    place = new_place()
    done = run_away(scenario, place, out=out, before=None, force=False)
    assert not out.exists()
    name = next(iter(done.manifest.outputs))
    wrong = replace(done.manifest, outputs={**done.manifest.outputs, name: "0" * 64})
    with pytest.raises(RecordError, match="did not arrive as it was written"):
        gather(local_cluster, node, place, wrong, out)
    more = replace(done.manifest, outputs={**done.manifest.outputs, "signals/gone.csv": "0" * 64})
    with pytest.raises(RecordError, match=r"gone.csv' of .* cannot be fetched: FileNotFoundError"):
        gather(local_cluster, node, place, more, out)
    assert not out.exists()
    gather(local_cluster, node, place, done.manifest, out)
    assert standing(out) == done.manifest == Manifest.load(out / "manifest.json")
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*.*")) == [
        "manifest.json",
        "run.mcap",
        "signals/gyro.csv",
    ]
    assert not place.parent.exists()
    again = new_place()
    assert run_away(scenario, again, out=out, before=done.manifest, force=False).done_before
    cluster_runs.remove_place(str(again))
    assert not again.parent.exists()
