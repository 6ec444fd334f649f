"""Every kind of sensor has a scenario entry in docs/sensor-examples.md, and each of them runs."""

import re
from pathlib import Path

import pytest
import yaml

import sensorium as sn
from sensorium.sensors.built_in import BUILT_IN

PAGE = Path(__file__).parents[2] / "docs" / "sensor-examples.md"
SCENE, *ENTRIES = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)


def indented(text):
    return "".join(f"  {line}\n" for line in text.splitlines())


def test_every_kind_has_an_entry():
    kinds = [next(iter(yaml.safe_load(entry).values()))["kind"] for entry in ENTRIES]
    assert sorted(kinds) == sorted(BUILT_IN)


@pytest.mark.parametrize("entry", ENTRIES, ids=[next(iter(yaml.safe_load(entry))) for entry in ENTRIES])
def test_an_entry_runs_and_gives_a_reading(tmp_path, entry):
    (tmp_path / "page.yaml").write_text(f"{SCENE}sensors:\n{indented(entry)}")
    env = sn.scenario.Scenario.load(tmp_path / "page.yaml").environment()
    for _ in env.run(0.3):
        pass
    (name,) = yaml.safe_load(entry)
    reading = env.sensors[name].read()
    assert isinstance(reading.time_ns, int)
    assert 0 <= reading.time_ns <= 300_000_000
