"""Worlds in files: which is taken, and several as one."""

import pytest

import sensorium as sn
from sensorium.app.scenario import Scenario, worlds
from sensorium.core.errors import SpecError

JOINED = """\
duration_s: 0.1
scene:
  objects:
    - {shape: {kind: box, x: 4, y: 4, z: 2}, material: {kind: fog, visibility_m: 20}, label: fog}
world:
  - kind: joined
    parts:
      - {kind: mujoco, model: ball.xml}
      - {kind: kinematic, step_s: 0.01, bodies: {walker: {kind: line, velocity: [1, 0, 0]}}}
  - {kind: static, bodies: {ball: {}}}
"""
BALL = '<mujoco><worldbody><body name="ball"><freejoint/><geom name="skin" size="1"/></body></worldbody></mujoco>'


@pytest.fixture
def load(tmp_path):
    (tmp_path / "ball.xml").write_text(BALL)

    def write(text):
        (tmp_path / "file.yaml").write_text(text)
        return Scenario.load(tmp_path / "file.yaml")

    return write


def test_parts_are_made_and_what_they_show_is_seen(load):
    scenario = load(JOINED)
    env = scenario.environment()
    assert isinstance(env.world, sn.worlds.Joined)
    assert env.world.body_names == ("ball", "walker")
    assert [thing.name for thing in env.scene.objects] == ["skin", None]
    assert list(scenario.files.hashes()) == ["ball.xml"]


def test_without_the_engine_of_a_part_the_next_world_is_taken(load, monkeypatch):
    monkeypatch.setattr(worlds, "find_spec", lambda name: None)
    assert isinstance(load(JOINED).environment().world, sn.worlds.Static)
    alone = JOINED.replace("  - {kind: static, bodies: {ball: {}}}\n", "")
    with pytest.raises(
        SpecError, match=r"file.yaml:\d+: world needs mujoco, which is not installed; pip install 'sens"
    ):
        load(alone).environment()


def test_a_shape_may_be_filled_with_a_medium(load):
    (_, bank) = load(JOINED).environment().scene.objects
    assert bank.material == sn.media.fog(visibility_m=20)
    with pytest.raises(SpecError, match=r"file.yaml:4: scene.objects\[0\].material.kind is 'fogg'; did you mean 'fog'"):
        load(JOINED.replace("kind: fog,", "kind: fogg,"))


def test_mistakes_in_a_part_are_told_with_their_line(load):
    with pytest.raises(SpecError, match=r"file.yaml:8: world\[0\].parts\[0\].modle is 'ball.xml'; did you mean model"):
        load(JOINED.replace("model:", "modle:"))
    with pytest.raises(SpecError, match=r"file.yaml:\d+: world.*parts\[0\] and parts\[1\] both have a body 'ball'"):
        load(JOINED.replace("walker", "ball")).environment()
    nested = JOINED.replace("{kind: mujoco, model: ball.xml}", "{kind: joined, parts: [{kind: static}]}")
    with pytest.raises(SpecError, match="kind is 'joined'"):
        load(nested)


def test_joints_that_slide_are_named_in_the_file(load):
    kinematic = "{kind: kinematic, joints: {lift: {kind: line, start: 20.0}}, slide_joints: [lift]}"
    sensors = "{scale: {kind: encoder, joint: lift, resolution: 0.03}}"
    env = load(f"duration_s: 0.1\nworld: {kinematic}\nsensors: {sensors}\n").environment()
    env.run(0.05).finish()
    assert env.sensors["scale"].read().position == pytest.approx(666 * 0.03)


URDF = """<robot name="r"><link name="base"/><link name="arm">
  <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><mesh filename="package://arms/arm.obj"/></geometry></visual></link>
  <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
ROBOT = """\
duration_s: 0.1
world: {kind: mujoco, model: robots/arm.urdf, packages: {arms: vendor/arms}}
"""


def test_packages_of_a_urdf_are_folders_of_the_scenario(load, tmp_path):
    (tmp_path / "robots").mkdir()
    (tmp_path / "vendor" / "arms").mkdir(parents=True)
    (tmp_path / "robots" / "arm.urdf").write_text(URDF)
    (tmp_path / "vendor" / "arms" / "arm.obj").write_text(TETRAHEDRON)
    scenario = load(ROBOT)
    assert len(scenario.environment().scene.objects) == 1
    assert list(scenario.files.hashes()) == ["robots/arm.urdf", "vendor/arms/arm.obj"]
    with pytest.raises(SpecError, match="packages is 'nowhere'; there is no such folder"):
        load(ROBOT.replace("vendor/arms", "nowhere")).environment()
    (tmp_path / "vendor" / "way out").symlink_to(tmp_path.parent)
    for outside in ("..", str(tmp_path.parent), "vendor/way out"):
        with pytest.raises(SpecError, match=r"packages is .*; it must lie in the scenario's folder"):
            load(ROBOT.replace("vendor/arms", outside)).environment()


def test_backs_of_planes_by_a_switch(load, tmp_path):
    plane = '<geom name="floor" type="plane" size="1 1 1"/>'
    (tmp_path / "ball.xml").write_text(BALL.replace("<worldbody>", f"<worldbody>{plane}"))
    text = "duration_s: 0.1\nworld: {kind: mujoco, model: ball.xml}\n"
    for switch, one_sided in (("", False), (", plane_backs: true", False), (", plane_backs: false", True)):
        (floor, _) = load(text.replace("ball.xml", f"ball.xml{switch}")).environment().scene.objects
        assert (floor.mesh.one_sided is not None) == one_sided
