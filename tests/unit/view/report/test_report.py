import re
import tracemalloc

import pytest

import sensorium as sn
from sensorium.core.errors import SpecError


def written(env, path, seconds=0.25, **options):
    with sn.view.Report(path, **options) as report:
        for _ in env.run(seconds):
            report.record(env)
    return path.read_text()


def test_a_run_gives_a_page_with_all_sections(yard, tmp_path):
    text = written(yard(rate_hz=2500.0), tmp_path / "report.html", title="Van & wall", facts={"Scenario": "a drive"})
    found = re.findall(r'<section id="(\w+)"', text)
    assert found == ["cloud", "above", "images", "signals", "allan", "faults", "sensors", "facts"]
    assert "<title>Van &amp; wall</title>" in text
    assert "<th>Scenario</th><td>a drive</td>" in text
    assert "<dt>Steps</dt><dd>25</dd>" in text
    assert "<dt>Simulated</dt><dd>0.25 s</dd>" in text
    assert "<th>Rays</th><td>1,440</td>" in text
    assert len(text) < 8_000_000


def test_the_same_run_gives_the_same_page_but_for_real_time(yard, tmp_path):
    pages = [written(yard(), tmp_path / f"{k}.html") for k in range(2)]
    told = [re.sub(r"(<dt>Real[^<]*</dt><dd>)[^<]*|(<th>Real time</th><td>)[^<]*", r"\1\2", page) for page in pages]
    assert told[0] == told[1]


def test_a_run_that_ends_early_says_so(yard, tmp_path):
    path, env = tmp_path / "report.html", yard()

    def drive():
        with sn.view.Report(path) as report:
            for _ in env.run(1.0):
                report.record(env)
                raise RuntimeError("out of <road>")

    with pytest.raises(RuntimeError, match="road"):
        drive()
    assert "<th>Ended early</th><td>RuntimeError: out of &lt;road&gt;</td>" in path.read_text()


def test_write_adds_facts_and_replaces(yard, tmp_path):
    report, path = sn.view.Report(title="Twice"), tmp_path / "report.html"
    path.write_text("before")
    env = yard()
    for _ in env.run(0.1):
        report.record(env)
    report.save(path, facts={"Files": [tmp_path / "run.mcap"]})
    assert '<a href="run.mcap">run.mcap</a>' in path.read_text()
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_recorded_is_a_page_too(tmp_path):
    sn.view.Report(title="Empty").save(tmp_path / "report.html")
    assert "<dt>Steps</dt><dd>0</dd>" in (tmp_path / "report.html").read_text()


def test_a_folder_that_does_not_exist_is_one_clear_line(tmp_path):
    with pytest.raises(SpecError, match="its folder does not exist"):
        sn.view.Report().save(tmp_path / "none" / "report.html")


def test_a_report_is_of_one_environment_and_ends_when_closed(yard):
    report, env = sn.view.Report(), yard()
    report.record(env)
    with pytest.raises(SpecError, match="a report must be of one environment"):
        report.record(yard())
    report.close()
    with pytest.raises(SpecError, match="closed"):
        report.record(env)


def test_a_report_may_look_on_while_an_environment_runs(yard, tmp_path):
    env, path = yard(), tmp_path / "report.html"
    for _ in env.run(0.1, view=sn.view.Report(path, title="Watched")):
        assert not path.exists()
    assert "<h1>Watched</h1>" in path.read_text()


def test_several_worlds_are_shown_by_the_first(yard, tmp_path):
    text = written(yard(worlds=3), tmp_path / "report.html")
    assert "<th>Worlds</th><td>3</td>" in text


@pytest.mark.slow
def test_memory_does_not_grow_with_the_run():
    world = sn.worlds.Kinematic({"van": sn.paths.Line((0, 0, 0), (1.0, 0, 0))}, step_s=0.05)
    env = sn.Environment(sn.Scene(), world)
    imu = sn.Imu(timing=sn.Timing(rate_hz=1000.0))
    imu.linear.noise.std = 0.1
    env.attach(imu, body="van", name="imu")
    report = sn.view.Report()
    for _ in env.run(70.0):
        report.record(env)
    tracemalloc.start()
    for _ in env.run(40.0):
        report.record(env)
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert grown < 1_000_000


def test_readings_of_an_unknown_kind_are_named(yard, tmp_path, monkeypatch):
    env = yard()
    monkeypatch.setattr("sensorium.view.report.report.quantities_of", lambda reading: ())
    text = written(env, tmp_path / "report.html")
    assert "<li>imu: there is no plot for a InertialReading.</li>" in text
    assert 'id="signals"' not in text
