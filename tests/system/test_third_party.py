"""A package of a third party (tests/packages/acme_harbour): each thing that it brings, used from a scenario file."""

import csv
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

import sensorium as sn
from sensorium.app.scenario.scenario import scenario_model
from sensorium.core import plugins
from sensorium.core.errors import SceneError
from sensorium.corruption.engine import op as operations
from sensorium.corruption.engine.base import Corruption
from sensorium.qa.validation import sample_run
from sensorium.runtime import worker_pool

PACKAGE = Path(__file__).parents[1] / "packages" / "acme_harbour"

SCENARIO = """\
duration_s: 2
seed: 3
scene: {objects: [{mesh: seabed.tri, label: seabed}]}
world: {kind: acme_tide, height_m: 0.5, period_s: 2, step_s: 0.05}
sensors:
  sonar: {kind: acme_sonar, body: buoy, errors: [{kind: acme_slew_limit, rate: 1.2}]}
  noisy:
    kind: acme_sonar
    body: buoy
    errors: [{kind: acme_slew_limit, rate: 1.2, std: 0.01}, {kind: low_pass, cutoff_hz: 5}]
  gauge: {kind: acme_depth_gauge, body: buoy, noise: {std: 0.1}}
outputs: {mcap: true, signals: csv, report: false}
"""
SEABED = "-50 -50 -6 50 -50 -6 50 50 -6\n-50 -50 -6 50 50 -6 -50 50 -6\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the metadata of the package, as an installer leaves it."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    folder = tmp_path_factory.mktemp("site")
    info = folder / f"acme_harbour-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = [
        f"[{group}]\n" + "".join(f"{name} = {where}\n" for name, where in points.items())
        for group, points in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups))
    return folder


@pytest.fixture
def installed(site, monkeypatch):
    """The package in this process."""

    def forget():
        for cache in (plugins.announced, scenario_model):
            cache.cache_clear()
        for name in [name for name in sys.modules if name.split(".")[0] == "acme_harbour"]:
            del sys.modules[name]

    monkeypatch.syspath_prepend(site)
    monkeypatch.syspath_prepend(PACKAGE / "src")
    monkeypatch.setattr(Corruption, "kinds", Corruption.kinds.copy())
    monkeypatch.setattr(operations, "_registered", dict(operations._registered))
    forget()
    yield
    forget()


@pytest.fixture(scope="module")
def run(site, tmp_path_factory):
    """`sensorium run` of the scenario in a process of its own, as a user of the package types it."""
    folder = tmp_path_factory.mktemp("harbour")
    (folder / "harbour.yaml").write_text(SCENARIO)
    (folder / "seabed.tri").write_text(SEABED)
    source = str(Path(sn.__file__).parents[1])
    path = os.pathsep.join([source, str(PACKAGE / "src"), str(site)])
    command = [sys.executable, "-W", "error", "-m", "sensorium", "run", "harbour.yaml", "--out"]
    for out in ("first", "second"):
        environment = os.environ | {"PYTHONPATH": path}
        done = subprocess.run(
            [*command, out], capture_output=True, text=True, cwd=folder, env=environment, timeout=600, check=False
        )
        assert done.returncode == 0, done.stderr
    return folder


def table(path):
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def messages(path, topic):
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        return [(schema.name, message) for schema, _, _, message in reader.iter_decoded_messages(topics=[topic])]


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.suffix in (".mcap", ".csv")}


def test_the_world_and_the_mesh_are_what_the_sensor_sees(run):
    sonar = table(next((run / "first").rglob("sonar.csv")))
    height_m = 0.5 * np.sin(np.pi * sonar["time_ns"] * 1e-9)
    assert len(height_m) == 40
    np.testing.assert_allclose(sonar["truth_value_m"], 6.0 + height_m, atol=2e-6)


def test_the_corruption_does_what_its_law_says(run):
    sonar = table(next((run / "first").rglob("sonar.csv")))
    expected, most = [sonar["truth_value_m"][0]], 1.2 * 0.05
    for x in sonar["truth_value_m"][1:]:
        expected.append(expected[-1] + np.clip(x - expected[-1], -most, most))
    np.testing.assert_allclose(sonar["value_m"], expected, rtol=0, atol=1e-12)
    assert np.abs(sonar["value_m"] - sonar["truth_value_m"]).max() > 0.05


def test_messages_have_the_packages_own_types_and_the_values_of_the_table(run):
    path = next((run / "first").rglob("*.mcap"))
    for sensor, topic, kind, column in (
        ("sonar", "/sonar/echo", "acme_msgs/msg/Echo", "value_m"),
        ("noisy", "/noisy/echo", "acme_msgs/msg/Echo", "value_m"),
        ("gauge", "/gauge/depth", "acme_msgs/msg/Depth", "depth_m"),
    ):
        found = messages(path, topic)
        values = table(next((run / "first").rglob(f"{sensor}.csv")))[column]
        assert {name for name, _ in found} == {kind}
        told = [message.range if kind.endswith("Echo") else message.depth for _, message in found]
        np.testing.assert_array_equal(told, values)
        if kind.endswith("Echo"):
            assert [message.beams[0].range for _, message in found] == told


def test_the_gauge_has_its_own_columns_with_truth(run):
    gauge = table(next((run / "first").rglob("gauge.csv")))
    sonar = table(next((run / "first").rglob("sonar.csv")))
    np.testing.assert_allclose(gauge["truth_depth_m"], 6.0 - sonar["truth_value_m"], atol=2e-6)
    assert 0.05 < np.std(gauge["depth_m"] - gauge["truth_depth_m"]) < 0.2


def test_a_second_run_has_the_same_bytes(run):
    first, second = files_of(run / "first"), files_of(run / "second")
    assert len(first) == 4
    assert first == second


def test_the_kernel_has_the_same_bytes_in_a_batch_and_alone_and_on_any_number_of_threads(installed):
    kind = plugins.load("corruptions", "acme_slew_limit")
    signals, times_ns = np.random.default_rng(1).normal(size=(40, 1000, 5)), np.arange(40) * 10_000_000

    def corrupted(std, worlds=slice(None)):
        model, some = kind(rate=0.3, std=std), signals[:, worlds]
        state = model.init(some.shape[1:], seed=9, first_world=worlds.start or 0)
        return model.series(some, times_ns=times_ns, state=state)[0]

    before, found = worker_pool.get_threads(), []
    try:
        for count in (1, 2):
            sn.set_threads(count)
            found.append(corrupted(0.2))
    finally:
        sn.set_threads(before)
    np.testing.assert_array_equal(*found)
    np.testing.assert_array_equal(found[0][:, 70:73], corrupted(0.2, slice(70, 73)))
    noise = found[0] - corrupted(0.0)
    assert abs(np.std(noise) / 0.2 - 1.0) < 0.01  # of 200,000 numbers, six standard deviations
    assert abs(np.mean(noise)) < 0.003


def test_the_determinism_checks_run_its_sensors_too(installed):
    whole = sample_run.outputs(worlds=4, order=["acme_sonar"])["acme_sonar"]
    halves = [sample_run.outputs(worlds=2, first_world=first, order=["acme_sonar"])["acme_sonar"] for first in (0, 2)]
    assert len(whole) == 4
    for both, *parts in zip(whole, *halves, strict=True):
        np.testing.assert_array_equal(both, np.concatenate(parts))
    assert len(np.unique(whole)) == 16


def test_its_mesh_format_is_listed_and_its_errors_name_the_file(installed, tmp_path):
    (tmp_path / "seabed.tri").write_text("1 2 3\n")
    with pytest.raises(SceneError, match=r"seabed\.tri: "):
        sn.Mesh.load(tmp_path / "seabed.tri")
    (tmp_path / "seabed.tru").write_text("1 2 3\n")
    with pytest.raises(SceneError, match=r"suffix '\.tru' is unknown; it must be one of .*, \.tri"):
        sn.Mesh.load(tmp_path / "seabed.tru")
