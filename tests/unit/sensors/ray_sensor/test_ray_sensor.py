"""Ray sensors of one's own: hits by closed form, and all that sensors share without a line of theirs."""

import csv
import textwrap
from typing import Literal

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

import sensorium as sn
from sensorium.app.scenario import Scenario
from sensorium.app.scenario.scenario import scenario_model
from sensorium.core import plugins
from sensorium.core.errors import SpecError
from sensorium.corruption import Fault, FaultSchedule, Stuck, White

RAYS = np.array([[(1, 0, 0), (1, 0.2, 0), (1, -0.4, 0)], [(1, 0, 0.3), (0, 1, 0), (-1, 0, 0)]], float)


class Probe(sn.RaySensor):
    """Six rays; which of what is known of their hits becomes the values is a field."""

    kind: Literal["probe"] = "probe"
    timing: sn.Timing = sn.Timing(rate_hz=10.0)
    of: str = "range_m"

    @property
    def shape(self):
        return (2, 3)

    def rays(self):
        return sn.patterns.RayTable.at_once(RAYS)

    def measure(self, hits):
        found = hits.property("heat") if self.of == "heat" else getattr(hits, self.of)
        return np.where(hits.hit, found, 50.0)


def wall(distance=4.0, tilt_deg=0.0):
    """A wide wall across x, leaning away from the sensor."""
    scene = sn.Scene()
    flat = sn.shapes.box(0.001, 100.0, 100.0)
    mesh = sn.Mesh(flat.vertices, flat.faces, vertex_properties={"heat": flat.vertices[:, 1]})
    scene.add(mesh, pose=sn.Pose.from_euler_deg((distance, 0, 0), pitch=tilt_deg), body="wall", label="wall")
    return scene


def one(of="range_m", *, scene=None, world=None, worlds=None, pose=None, body=None, hide=(), **fields):
    world = sn.worlds.Static({"wall": sn.Pose()}, step_s=0.1) if world is None else world
    env = sn.Environment(wall() if scene is None else scene, world, worlds=worlds, seed=3)
    sensor = env.attach(Probe(of=of, **fields), pose=pose, body=body, hide=hide)
    env.step()
    return env, sensor


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def test_a_wall_by_closed_form():
    """Range d / cos, depth d, incidence cos, for rays that reach it; the others keep the value for nothing."""
    near, cosine = 4.0 - 0.0005, unit(RAYS)[..., 0]
    meets = cosine > 0.0
    cosine = cosine[meets]
    for of, expected in (("range_m", near / cosine), ("depth_m", near + 0 * cosine), ("cos_incidence", cosine)):
        values = one(of)[1].read().values
        assert values.shape == (2, 3)
        np.testing.assert_allclose(values[meets], expected, rtol=1e-5)
        np.testing.assert_array_equal(values[~meets], 50.0)
    for of, expected in (("label", 1.0), ("object_id", 0.0)):
        np.testing.assert_array_equal(one(of)[1].read().values[meets], expected)
    heat = one("heat")[1].read().values[0]
    np.testing.assert_allclose(heat, near * RAYS[0, :, 1] / RAYS[0, :, 0], atol=1e-4)


def test_the_way_it_looks_turns_with_its_mount_and_its_body():
    """On a body that turns by 90 degrees in a second, with the mount turned back by 30: at 1/3 s it faces the wall."""
    body = sn.paths.Spin(position=(0, 0, 0), axis=(0, 0, 1), rate=np.pi / 2)
    world = sn.worlds.Kinematic({"craft": body, "wall": sn.paths.Line((0, 0, 0), (0, 0, 0))}, step_s=0.02)
    env = sn.Environment(wall(), world)
    sensor = env.attach(Probe(timing=sn.Timing(rate_hz=50.0)), body="craft", pose=sn.Pose.from_euler_deg(yaw=-30.0))
    for _ in env.run(0.66):
        angle = np.radians(-30.0 + 90.0 * env.time_s)
        assert sensor.read().values[0, 0] == pytest.approx((4.0 - 0.0005) / np.cos(angle), rel=1e-5)


def test_worlds_and_sensors_have_their_axes():
    world = sn.worlds.Static({"wall": sn.Pose(np.arange(5)[:, None] * np.array([1.0, 0, 0]))}, step_s=0.1)
    poses = [sn.Pose(), sn.Pose((-2, 0, 0))]
    _, sensor = one(world=world, worlds=5, pose=poses)
    assert sensor.read().values.shape == (5, 2, 2, 3)
    expected = 3.9995 + np.arange(5)[:, None] + np.array([0.0, 2.0])
    np.testing.assert_allclose(sensor.read().values[..., 0, 0], expected, rtol=1e-6)


def test_hidden_bodies_and_what_is_too_far_are_not_there():
    assert (one(hide=("wall",))[1].read().values == 50.0).all()
    assert (one(max_range_m=3.9)[1].read().values == 50.0).all()
    assert (one(max_range_m=4.05)[1].read().values < 50.0).sum() == 1


def test_errors_and_faults_are_in_the_reading_and_not_in_the_truth():
    faults = FaultSchedule(faults=(Fault(Stuck(mode="value", value=7.0), target="values", channels=(4,)),))
    _, sensor = one(worlds=4000, errors=(White(std=0.1),), faults=faults)
    off = sensor.read().values - sensor.truth().values
    np.testing.assert_allclose(off[:, 0].std(axis=0), 0.1, rtol=0.06)
    assert np.abs(np.corrcoef(off[:, 0].T) - np.eye(3)).max() < 0.08
    assert (sensor.read().values[:, 1, 1] == 7.0).all()
    assert (sensor.truth().values[:, 1, 1] == 50.0).all()


def test_a_reset_restarts_some_worlds():
    path = sn.paths.Line((0, 0, 0), velocity=(1, 0, 0))
    env, sensor = one(world=sn.worlds.Kinematic({"wall": path}, step_s=0.1), worlds=3)
    env.step()
    env.reset(np.array([False, True, False]))
    env.step()
    np.testing.assert_allclose(sensor.read().values[:, 0, 0], [4.2995, 4.0995, 4.2995], rtol=1e-5)
    assert sensor.read().valid.all()


def test_a_measure_that_is_wrong_is_told():
    class Wrong(Probe):
        def measure(self, hits):
            return hits.range_m[:, 0] if self.of == "row" else np.full(hits.range_m.shape, np.nan)

    for of, words in (
        ("row", r"gave shape \(1, 3\); it must be \(1, 2, 3\)"),
        ("nan", "gave NaN; every value must be"),
    ):
        env = sn.Environment(wall(), sn.worlds.Static({"wall": sn.Pose()}, step_s=0.1))
        env.attach(Wrong(of=of), name="first")
        with pytest.raises(SpecError, match=f"measure of sensor 'first' {words}"):
            env.step()

    class Empty(Probe):
        @property
        def shape(self):
            return (0,)

    with pytest.raises(SpecError, match=r"the shape of sensor 'probe' is \(0,\); it must have at least one value"):
        env.attach(Empty())


MODULE = """
from typing import Literal
import numpy as np
import sensorium as sn

class Rake(sn.RaySensor):
    kind: Literal["rake"] = "rake"
    teeth: int = 2

    @property
    def shape(self):
        return (self.teeth,) if self.teeth > 1 else ()

    def rays(self):
        return sn.patterns.RayTable.at_once([[(1.0, 0.1 * k, 0.0) for k in range(self.teeth)]])

    def measure(self, hits):
        return np.minimum(hits.depth_m[:, 0], 99.0).reshape(-1, *self.shape)
"""

SCENARIO = """
duration_s: 0.2
scene: {objects: [{shape: {kind: box, x: 1, y: 9, z: 9}, pose: {position: [3, 0, 0]}}]}
sensors:
  rake: {kind: rake, teeth: 3, timing: {rate_hz: 10}, errors: [{kind: white, std: 0.01}]}
  tooth: {kind: rake, teeth: 1, timing: {rate_hz: 10}}
  comb: {kind: rake, teeth: 40, timing: {rate_hz: 10}}
outputs: {signals: csv}
"""


@pytest.fixture
def announced(tmp_path, monkeypatch):
    """A package that brings a ray sensor, as pip would leave it."""
    (tmp_path / "garden.py").write_text(MODULE)
    info = tmp_path / "garden-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: garden\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[sensorium.sensors]\nrake = garden:Rake\n")
    monkeypatch.syspath_prepend(tmp_path)
    for cache in (plugins.announced, scenario_model):
        cache.cache_clear()
    yield tmp_path
    for cache in (plugins.announced, scenario_model):
        cache.cache_clear()


def test_a_scenario_uses_it_by_name_and_records_it(announced):
    (announced / "s.yaml").write_text(textwrap.dedent(SCENARIO))
    env = Scenario.load(announced / "s.yaml").environment()
    with (
        sn.record.SignalRecorder(announced / "signals") as tables,
        sn.record.McapRecorder(announced / "run.mcap") as recording,
    ):
        report = sn.view.Report(announced / "report.html")
        for _ in env.run(0.2):
            for watcher in (tables, recording, report):
                watcher.record(env)
        report.close()
    with (announced / "signals" / "rake.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2
    assert all(float(rows[0][f"truth_value_{k}_m"]) == pytest.approx(2.5, rel=1e-5) for k in range(3))
    last = env.sensors["rake"].read().values
    assert [float(rows[-1][f"value_{k}_m"]) for k in range(3)] == last.tolist()
    with (announced / "run.mcap").open("rb") as file:
        decoded = make_reader(file, decoder_factories=[DecoderFactory()]).iter_decoded_messages()
        found = {one.channel.topic: one.decoded_message for one in decoded}
    assert found["/tooth/values"].data == pytest.approx(2.5, rel=1e-5)
    picture = found["/rake/values"]
    assert (picture.encoding, picture.height, picture.width) == ("32FC1", 1, 3)
    np.testing.assert_array_equal(np.frombuffer(bytes(picture.data), "<f4"), last.astype(np.float32))

    # The report draws few values over time, and a picture of many: from 2.5 m to the 99 of what meets nothing
    page = (announced / "report.html").read_text()
    assert page.count("right, the truth") == 1
    assert "2.5 to 99 m; right, the truth" in page
