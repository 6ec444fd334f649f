"""The rehearsal of a run: it ends once each sensor has reported, writes nothing, and tells what is wrong."""

import pytest

from sensorium.app.scenario.rehearsal import rehearse
from sensorium.app.scenario.scenario import Scenario
from sensorium.core.errors import SpecError

TEXT = """\
duration_s: 100000.0
world: {kind: replay, file: way.csv, step_s: 0.01}
sensors:
  gyro: {kind: gyroscope, body: car, timing: {rate_hz: 10}}
outputs: {report: false, mcap: true}
"""


def test_a_rehearsal_is_short_and_leaves_nothing(tmp_path):
    (tmp_path / "turn.yaml").write_text(TEXT)
    (tmp_path / "way.csv").write_text("time_s,body,x,y,z,qw,qx,qy,qz\n0,car,0,0,0,1,0,0,0\n1,car,1,0,0,1,0,0,0\n")
    scenario = Scenario.load(tmp_path / "turn.yaml")
    _, took_s = rehearse(scenario)
    assert took_s < 300
    assert rehearse(scenario)[0] == 0  # nothing is left to compile
    assert sorted(path.name for path in tmp_path.iterdir()) == ["turn.yaml", "way.csv"]
    (tmp_path / "way.csv").unlink()
    with pytest.raises(SpecError, match="there is no such file"):
        rehearse(scenario)
