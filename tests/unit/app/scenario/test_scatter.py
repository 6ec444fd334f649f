"""Things scattered by a scenario's file: in one scene, or in every world its own way."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.app.scenario import Scenario
from sensorium.app.scenario.document import DocumentError

FILE = """
duration_s: 1.0
seed: 4
scene:
  objects:
    - {shape: {kind: plane, size: 60}, label: ground}
  scatter:
    - assets:
        - {shape: {kind: tree, height: 6, form: conifer, seed: 2}}
        - {shape: {kind: tree, height: 7, form: bare}}
        - {shape: {kind: tree, height: 7}}
      count: 12
      low: [-20, -20, 0]
      high: [20, 20, 0]
      room_m: 0.2
      gap_m: 1.0
      clear: [{points: [[0, 0], [10, 0]], radius_m: 2}]
    - {assets: [{shape: {kind: box, x: 1, y: 1, z: 1}, label: crate}], count: [2, 4], low: [-5, -5, 1], high: [5, 5, 1]}
"""


def loaded(tmp_path, text=FILE, **values):
    (tmp_path / "scenario.yaml").write_text(text)
    return Scenario.load(tmp_path / "scenario.yaml", values)


def test_one_scene_has_the_things_of_world_0(tmp_path):
    scene = loaded(tmp_path).environment().scene
    assert isinstance(scene, sn.Scene)
    assert set(scene.labels) == {"ground", "trunk", "leaves", "crate"}
    assert sum(thing.label == "crate" for thing in scene.objects) in (2, 3, 4)
    trees = np.array([t.pose.position for t in scene.objects if t.mesh.face_labels is not None])
    assert len(trees) == 12
    batch = loaded(tmp_path, worlds=3).environment().scene
    np.testing.assert_allclose(batch.pose.position[0, :12], trees)


def test_worlds_have_each_their_own_and_draw_anew(tmp_path):
    env = loaded(tmp_path, worlds=3).environment()
    before = env.scene
    assert isinstance(before, sn.SceneBatch)
    assert (before.pose.position[0] != before.pose.position[1]).any()
    env.reset(np.array([True, False, False]))
    assert (env.scene.pose.position[0] != before.pose.position[0]).any()
    np.testing.assert_array_equal(env.scene.pose.position[1:], before.pose.position[1:])
    assert (loaded(tmp_path, worlds=3, seed=5).environment().scene.pose.position != before.pose.position).any()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("gap_m: 1.0", "gap_m: -1.0"), r"scenario.yaml:\d+: scene.scatter\[0\].gap_m is -1.0"),
        (("count: 12", "count: 500"), r"scenario.yaml:\d+: .*world 0 has no room for all of scatter 0"),
        (("high: [20, 20, 0]", "high: [-30, 20, 0]"), r"scenario.yaml:\d+: .*x runs from -20.0 to -30.0"),
        (("form: bare", "form: bear"), r"form is 'bear'"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path, change, told):
    with pytest.raises(DocumentError, match=told):
        loaded(tmp_path, FILE.replace(*change)).environment()
