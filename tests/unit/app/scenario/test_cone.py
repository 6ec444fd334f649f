"""A cone sensor from a scenario file: recorded, in tables and in the report."""

import pytest

from sensorium.app.scenario import Scenario
from sensorium.app.scenario.run import run
from sensorium.core.errors import SensoriumError

FILE = """
scene:
  objects:
    - {shape: {kind: box, x: 1, y: 1, z: 1}, body: box, label: box}
world: {kind: kinematic, step_s: 0.05, bodies: {box: {kind: line, start: [9, 0, 0], velocity: [-4, 0, 0]}}}
duration_s: 1.0
sensors:
  bumper:
    kind: cone
    horizontal_fov_deg: 60
    vertical_fov_deg: 30
    range_m: 7
    lines: 20
    range: {noise: {std: 0.02}}
outputs: {mcap: true, signals: csv, report: true}
"""


def load(folder, **values):
    (folder / "cone.yaml").write_text(FILE)
    return Scenario.load(folder / "cone.yaml", values)


def test_a_run_leaves_ranges_tables_and_a_report(tmp_path):
    run(load(tmp_path), tmp_path / "out")
    rows = (tmp_path / "out" / "signals" / "bumper.csv").read_text().splitlines()
    assert len(rows) == 21
    assert rows[0].startswith("time_ns,arrival_ns,in_sight,range_m,azimuth_rad")
    assert rows[1].split(",")[2:4] == ["0", "inf"]
    assert rows[-1].split(",")[2] == "1"
    report = (tmp_path / "out" / "report.html").read_text()
    assert "Range rate by differences" in report


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("horizontal_fov_deg", 180, "horizontal_fov_deg is 180"),
        ("range_m", 0, "range_m is 0"),
        ("lines", 1, "lines"),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path, key, value, says):
    with pytest.raises(SensoriumError, match=says):
        load(tmp_path, **{f"sensors.bumper.{key}": value}).environment()
