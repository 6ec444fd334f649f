"""Results fetched from another machine's disk: every byte, or none."""

from dataclasses import replace

import pytest

from sensorium.app.scenario import gathering
from sensorium.app.scenario.gathering import gather, new_place
from sensorium.app.scenario.manifest import Manifest
from sensorium.app.scenario.run import run_away, standing
from sensorium.app.scenario.scenario import Scenario
from sensorium.core.errors import RecordError
from sensorium.runtime.cluster import nodes

TEXT = """\
duration_s: 0.2
world: {kind: kinematic, bodies: {car: {kind: line, velocity: [1, 0, 0]}}}
sensors:
  gyro: {kind: gyroscope, body: car, timing: {rate_hz: 100}}
outputs: {report: false, mcap: true, signals: csv}
"""


def test_a_run_is_fetched_whole_or_not_at_all(local_cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(gathering, "_CHUNK", 1000)  # of our own side: each answer of the other is the last of a file
    (tmp_path / "turn.yaml").write_text(TEXT)
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
    gathering.remove_place(str(again))
    assert not again.parent.exists()
