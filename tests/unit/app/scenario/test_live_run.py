"""Scenarios with a `live:` section: done again, repeated without it, refused in series."""

import json

import pytest

from sensorium.app.scenario import Scenario
from sensorium.app.scenario.live_run import LiveRun
from sensorium.app.scenario.run import repeat, run
from sensorium.app.scenario.scenario import json_schema
from sensorium.app.scenario.sweep import cases
from sensorium.core.errors import SpecError
from sensorium.live import SinkState
from sensorium.live.opening import SINKS

TEXT = """\
duration_s: 0.5
seed: 3
world: {kind: kinematic, step_s: 0.01, bodies: {car: {kind: line, velocity: [1, 0, 0]}}}
sensors:
  gyro: {kind: gyroscope, body: car, noise: {std: 0.01}, timing: {rate_hz: 100}}
outputs: {report: false}
"""


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(TEXT)
    return tmp_path / "s.yaml"


def live(path, **values):
    return Scenario.load(path, {"live.speed": None, "live.foxglove.port": 0, **values})


def test_a_live_run_writes_the_same_recording_and_its_counts(path):
    plain = run(Scenario.load(path), path.parent / "plain")
    sending = LiveRun(live(path).spec.live)
    done = run(live(path), path.parent / "live", live=sending)
    assert done.manifest.outputs == plain.manifest.outputs
    assert done.manifest.run["live"] == {"most_behind_s": 0.0, "sinks": {"foxglove": {"sent": 0, "dropped": 0}}}
    assert "live" not in plain.manifest.run
    assert sending.states() == [SinkState("foxglove")]


def test_a_live_run_is_done_again_in_the_same_folder(path):
    first = run(live(path), path.parent / "out")
    second = run(live(path), path.parent / "out")
    assert not first.done_before
    assert not second.done_before
    with pytest.raises(SpecError, match="holds another run"):
        run(live(path, seed=4), path.parent / "out")
    assert (path.parent / "out" / "run.mcap").is_file()


def test_files_of_others_are_not_removed_by_a_second_live_run(path):
    run(live(path), path.parent / "out")
    (path.parent / "out" / "notes.txt").write_text("mine")
    with pytest.raises(SpecError, match=r"notes\.txt"):
        run(live(path), path.parent / "out")
    assert (path.parent / "out" / "notes.txt").read_text() == "mine"


def test_a_repeated_run_opens_no_socket(path, monkeypatch):
    run(live(path), path.parent / "out")
    monkeypatch.setattr("sensorium.live.foxglove.sink.FoxgloveSink._open", lambda *given: pytest.fail("it listens"))
    done, different = repeat(path.parent / "out" / "manifest.json", path.parent / "again")
    assert different == []
    assert "live" not in done.manifest.run


def test_series_are_not_live(path):
    with pytest.raises(SpecError, match="live is given, and the runs of a series cannot be live; --set live=null"):
        cases(lambda values: live(path, **values), {"seed": [1, 2]})


def test_a_wrong_option_names_its_place(path):
    with pytest.raises(SpecError, match=r"live\.foxglove\.port is 70000"):
        live(path, **{"live.foxglove.port": 70000})


def test_the_schema_lists_every_sink():
    schema = json_schema()
    assert set(SINKS) <= set(schema["$defs"]["Live"]["properties"])
    assert json.dumps(schema)
