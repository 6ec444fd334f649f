"""Scenarios as a whole: what a file means, and what is said of one that is wrong."""

import json
from pathlib import Path

import numpy as np
import pytest

import sensorium as sn
from sensorium.app.scenario import Scenario, json_schema
from sensorium.core.errors import SpecError

GOOD = """\
title: A wall and a car
seed: 7
duration_s: 0.2
scene:
  objects:
    - {shape: {kind: plane, size: 100}, label: ground, material: asphalt}
    - shape: {kind: box, x: 0.2, y: 6, z: 3}
      pose: {position: [10, 0, 1.5], euler_deg: [0, 0, 90]}
      material: {kind: lambertian, reflectance: 0.5}
      label: wall
      name: wall
    - {mesh: cube.ply, scale: 0.5, body: car}
world:
  kind: kinematic
  step_s: 0.01
  bodies:
    car: {kind: line, velocity: [10, 0, 0]}
    post: {kind: fixed, pose: {position: [0, 5, 0]}}
    ball: {kind: circle, center: [0, 0, 1], radius: 2, rate: 1.5}
    dish: {kind: spin, axis: [0, 0, 1], rate: 2}
    bird: {kind: waypoints, times_s: [0, 1], poses: [{position: [0, 0, 5]}, {position: [1, 0, 5]}]}
  joints: {wheel: {kind: line, velocity: 3}, arm: {kind: sine, amplitude: 1, rate: 2}}
atmosphere: {kind: fog, visibility_m: 200}
sun: {elevation_deg: 40}
gravity: {kind: uniform, gravity_W: [0, 0, -1.62]}
magnetic: {kind: uniform, field_W: [20e-6, 0, -44e-6]}
sensors:
  top:
    kind: lidar
    body: car
    pose: {position: [0, 0, 1.8]}
    hide: [car]
    max_range_m: 50
    pattern: {kind: spinning, elevation_deg: [-10, 0, 10], columns: 12, rate_hz: 10}
  pair: {kind: accelerometer, body: car, pose: [{position: [1, 0, 0]}, {position: [-1, 0, 0]}], timing: {rate_hz: 100}}
  imu: {kind: imu, body: car, magnetic: {}, linear: {noise: {std: 0.02}}, timing: {rate_hz: 100}}
  wheel: {kind: encoder, joint: wheel, timing: {rate_hz: 100}}
  off: {kind: gyroscope, body: car, timing: {rate_hz: 100}, enabled: false}
faults:
  - {sensor: imu, start_s: 0.05, end_s: 0.1, target: linear, corruption: {kind: bias, value: 1.0}}
"""


@pytest.fixture
def write(tmp_path):
    box = sn.shapes.box(1, 1, 1)
    lines = ["ply", "format ascii 1.0", f"element vertex {len(box.vertices)}"]
    lines += [f"property float {axis}" for axis in "xyz"]
    lines += [f"element face {len(box.faces)}", "property list uchar int vertex_indices", "end_header"]
    lines += [" ".join(map(str, vertex)) for vertex in box.vertices.tolist()]
    lines += [f"3 {a} {b} {c}" for a, b, c in box.faces.tolist()]
    (tmp_path / "cube.ply").write_text("\n".join(lines) + "\n")

    def written(text: str = GOOD) -> Path:
        (tmp_path / "wall.yaml").write_text(text)
        return tmp_path / "wall.yaml"

    return written


def refusal(path, values=None) -> str:
    with pytest.raises(SpecError) as refused:
        Scenario.load(path, values).environment()
    return str(refused.value)


def test_a_file_becomes_the_environment_that_one_would_write(write):
    env = Scenario.load(write()).environment()
    assert env.world.body_names == ("car", "post", "ball", "dish", "bird")
    assert env.world.joint_names == ("wheel", "arm")
    assert env.seed == 7
    assert [thing.label for thing in env.scene.objects] == ["ground", "wall", None]
    wall, cube = env.scene.objects[1:]
    assert wall.material == sn.Lambertian(reflectance=0.5)
    assert wall.pose.almost_equal(sn.Pose.from_euler_deg((10, 0, 1.5), yaw=90))
    assert (cube.body, cube.mesh.bounds.tolist()) == ("car", [[-0.25] * 3, [0.25] * 3])
    assert env.atmosphere == sn.media.fog(visibility_m=200.0)
    assert list(env.sensors) == ["top", "pair", "imu", "wheel", "off"]
    assert not env.sensors["off"].enabled
    assert env.sensors["imu"].spec.linear.noise.std == 0.02


def test_it_gives_what_the_same_lines_of_python_give(write):
    env = Scenario.load(write()).environment()
    for _ in env.run(0.2):
        pass
    scene = sn.Scene()
    scene.add(sn.shapes.plane(100), label="ground", material=sn.materials.load("asphalt"))
    scene.add(
        sn.shapes.box(0.2, 6, 3),
        pose=sn.Pose.from_euler_deg((10, 0, 1.5), yaw=90),
        material=sn.Lambertian(reflectance=0.5),
        label="wall",
    )
    world = sn.worlds.Kinematic({"car": sn.paths.Line((0, 0, 0), (10, 0, 0))}, step_s=0.01)
    same = sn.Environment(scene, world, gravity=sn.fields.UniformGravity((0, 0, -1.62)), seed=7)
    pattern = sn.patterns.Spinning(elevation_deg=(-10, 0, 10), columns=12, rate_hz=10)
    same.attach(
        sn.Lidar(pattern=pattern, max_range_m=50),
        body="car",
        pose=sn.Pose(position=(0, 0, 1.8)),
        name="top",
        hide=["car"],
    )
    imu = sn.Imu(linear={"noise": {"std": 0.02}}, timing={"rate_hz": 100})
    same.attach(imu, body="car", name="imu")
    for _ in same.run(0.2):
        pass
    assert np.array_equal(env.sensors["top"].read().range_m, same.sensors["top"].read().range_m, equal_nan=True)
    mine, theirs = env.sensors["imu"].read(), same.sensors["imu"].read()
    assert np.array_equal(mine.acceleration, theirs.acceleration)
    assert env.sensors["pair"].read().acceleration.shape == (2, 3)


def test_faults_of_the_list_strike_their_sensor(write):
    env = Scenario.load(write()).environment()
    for _ in env.run(0.2):
        pass
    events = [(event.fault, event.start_ns, event.end_ns) for event in env.sensors["imu"].faults.log]
    assert events == [("bias", 50_000_000, 100_000_000)]


def test_faults_that_count_from_their_onset_have_names_in_files(tmp_path):
    """A ramp, an approach, a bias that comes and goes, and a register that wraps, each on a GNSS group."""
    (tmp_path / "s.yaml").write_text(
        "duration_s: 2\n"
        "sensors:\n"
        "  gnss: {kind: gnss, timing: {rate_hz: 10}, position: {saturation: {min: -0.5, max: 0.5}}}\n"
        "faults:\n"
        "  - {sensor: gnss, target: position, start_s: 0.45, end_s: 1, corruption: {kind: drift, rate: [0.4, 0, 0]}}\n"
        "  - {sensor: gnss, target: velocity, start_s: 0.45, corruption: {kind: drift, final: 2, tau_s: 0.5}}\n"
        "  - {sensor: gnss, target: velocity, start_s: 1.2, channels: [2],\n"
        "     corruption: {kind: intermittent_bias, value: 3, period_s: 0.4, switching: periodic}}\n"
        "  - {sensor: gnss, target: position, start_s: 1.0, corruption: {kind: chain, parts: [\n"
        "     {kind: bias, value: 0.7}, {kind: overflow, min: -0.5, max: 0.5}]}}\n"
    )
    env = Scenario.load(tmp_path / "s.yaml").environment()
    rows = []
    for _ in env.run(2.0):
        if env.sensors["gnss"].fresh:
            reading = env.sensors["gnss"].read()
            rows.append((reading.time_ns * 1e-9, *reading.position[:2], *reading.velocity[1:]))
    time_s, east, north, speed, up = np.array(rows).T
    ramps, wraps = (time_s > 0.45) & (time_s < 0.999), time_s > 0.999
    np.testing.assert_allclose(east, np.where(ramps, 0.4 * (time_s - 0.45), np.where(wraps, -0.3, 0.0)), atol=1e-9)
    np.testing.assert_allclose(north, np.where(wraps, -0.3, 0.0), atol=1e-9)
    rise = np.where(time_s > 0.45, 2.0 * (1.0 - np.exp(-(time_s - 0.45) / 0.5)), 0.0)
    np.testing.assert_allclose(speed, rise, atol=1e-9)
    on = (time_s > 1.199) & (np.mod(time_s - 1.2 + 1e-9, 0.4) < 0.2)
    np.testing.assert_allclose(up - rise, np.where(on, 3.0, 0.0), atol=1e-9)
    assert [event.fault for event in env.sensors["gnss"].faults.log] == [
        *("drift", "drift_2", "chain", "intermittent_bias")
    ]


def test_files_that_were_used_are_known(write):
    scenario = Scenario.load(write())
    scenario.environment()
    assert list(scenario.files.hashes()) == ["cube.ply"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("columns: 12", "column: 12", "wall.yaml:34: sensors.top.pattern.column is 12; did you mean columns?"),
        # Keys that belong further out or in, that others call by another name, and words for kinds
        ("hide: [car]", "step_s: 0.1", "wall.yaml:32: sensors.top.step_s is 0.1; did you mean world.step_s?"),
        ("seed: 7", "step_s: 0.1", "wall.yaml:2: step_s is 0.1; did you mean world.step_s?"),
        ("kind: box, x: 0.2, y: 6, z: 3", "kind: plane, size: 9, x: 2", "shape.x is 2; there is no such field"),
        ("seed: 7", "bodies: {}", "wall.yaml:2: bodies is {}; did you mean world.bodies?"),
        ("    body: car\n", "    bodies: car\n", "wall.yaml:30: sensors.top.bodies is 'car'; did you mean body?"),
        ("hide: [car]", "yaw: 90", "sensors.top.yaw is 90; did you mean pose.euler_deg: [roll, pitch, yaw]?"),
        ("position: [10, 0, 1.5]", "xyz: [0, 0, 0]", "scene.objects[1].pose.xyz is [0, 0, 0]; did you mean position?"),
        ("kind: lidar", "kind: ladar", "wall.yaml:29: sensors.top.kind is 'ladar'; did you mean 'lidar' or 'radar'?"),
        ("kind: lidar", "type: lidar", "wall.yaml:29: sensors.top.type is 'lidar'; did you mean kind?"),
        (
            "kind: lidar",
            "devcie: sick-tim781",
            "wall.yaml:29: sensors.top.devcie is 'sick-tim781'; did you mean device?",
        ),
        (
            "kind: lidar",
            "device: sick-tim78",
            "wall.yaml:29: sensors.top.device is 'sick-tim78'; the library has no such",
        ),
        ("kind: lambertian, ", "", "wall.yaml:9: scene.objects[1].material.kind is missing; it must be one of 'lamb"),
        (
            "kind: lambertian",
            "kind: lambert",
            "scene.objects[1].material.kind is 'lambert'; did you mean 'lambertian'?",
        ),
        ("asphalt", "asfalt", "wall.yaml:6: scene.objects[0].material is 'asfalt'; the library has no such name; did"),
        (
            "{kind: fog, visibility_m: 200}",
            "fog",
            "atmosphere is 'fog'; it must be a mapping of keys to values, such as {",
        ),
        ("duration_s:", "duration:", "wall.yaml:3: duration is 0.2; did you mean duration_s?"),
        ("hide: [car]", "hid: [car]", "wall.yaml:32: sensors.top.hid is ['car']; did you mean hide?"),
        ("std: 0.02", "std: .nan", "wall.yaml:36: sensors.imu.linear.noise.std is nan; it must be a finite number"),
        ("max_range_m: 50", "max_range_m: .inf", "wall.yaml:33: sensors.top.max_range_m is inf"),
        ("mesh: cube.ply", "mesh: no.ply", "wall.yaml:12: scene.objects[2].mesh is 'no.ply'; there is no such file"),
        (
            "cube.ply",
            "../cube.ply",
            "wall.yaml:12: scene.objects[2].mesh is '../cube.ply'; it must lie in the scenario's",
        ),
        ("mesh: cube.ply, ", "", "wall.yaml:12: scene.objects[2]: shape and mesh are both given or both not"),
        ("kind: lidar", "kind: lidr", "wall.yaml:29: sensors.top.kind is 'lidr'; did you mean 'lidar'?"),
        ("    kind: lidar\n", "", "sensors.top.kind is missing"),
        (
            "kind: kinematic",
            "kind: magic",
            "wall.yaml:14: world.kind is 'magic'; it must be one of 'static', 'kinematic'",
        ),
        ("velocity: [10, 0, 0]", "velocity: [10, 0]", "world.bodies.car.velocity is [10, 0]; it must have 3 items"),
        ("rate: 2}\n    bird", "}\n    bird", "wall.yaml:20: world.bodies.dish.rate is missing"),
        (
            "body: car, magnetic",
            "body: van, magnetic",
            "wall.yaml:36: sensors.imu: the world has no body 'van'; it has car",
        ),
        ("joint: wheel", "joint: wheal", "wall.yaml:37: sensors.wheel: the world has no joint 'wheal'"),
        ("material: asphalt", "material: asphlt", "wall.yaml:6: scene.objects[0].material is 'asphlt'"),
        ("reflectance: 0.5", "reflectance: 1.5", "wall.yaml:9: scene.objects[1].material.reflectance is 1.5"),
        ("sensor: imu", "sensor: imo", "wall.yaml:40: faults[0].sensor is 'imo'; the scenario's sensors are top, pair"),
        ("target: linear", "target: lin", "wall.yaml:40: faults[0].target is 'lin'; imu has linear, angular, magnetic"),
        (
            "imu: {kind: imu, body: car, magnetic: {}, linear: {noise: {std: 0.02}}, timing: {rate_hz: 100}}",
            "imu: {kind: radar, device: delphi-esr-mid, body: car}",
            "wall.yaml:40: faults[0].target is 'linear'; imu has range, speed, angle, power",
        ),
        (
            "kind: bias, value: 1.0",
            "kind: stuck",
            "wall.yaml:40: faults[0].corruption.mode is missing; it must be given",
        ),
        (
            "kind: bias, value",
            "kind: bias, valu",
            "wall.yaml:40: faults[0].corruption.valu is 1.0; did you mean value?",
        ),
        (
            "value: 1.0",
            "value: high",
            "wall.yaml:40: faults[0].corruption.value is 'high'; it must be a finite number",
        ),
        ("kind: bias", "kind: bios", "wall.yaml:40: faults[0].corruption: kind is 'bios'; it must be one of bias"),
        (
            "target: linear",
            "target: linear, channels: [5]",
            "wall.yaml:40: faults[0]: channels has 5; it must be from 0 to 2",
        ),
        (
            "noise: {std: 0.02}",
            "extra: [{kind: saturate, mim: 1}]",
            "wall.yaml:36: sensors.imu.linear.extra[0].mim is 1; did you mean min?",
        ),
        ("seed: 7", "seed: -1", "wall.yaml:2: seed is -1; it must be greater than or equal to 0"),
        ("duration_s: 0.2", "duration_s: 0", "wall.yaml:3: duration_s is 0; it must be greater than or equal to"),
        ("duration_s: 0.2", "duration_s: true", "wall.yaml:3: duration_s is True; it must be a valid number"),
        ("duration_s: 0.2", "duration_s: 1e300", "wall.yaml:3: duration_s is 1e+300; it must be less than"),
        ("seed: 7", "seed: " + 5000 * "9", "wall.yaml:2: seed is inf; it must be a finite number"),
        ("seed: 7", "worlds: 1000000000", "wall.yaml:2: worlds is 1000000000; it must be less than"),
        ("top:\n", "'':\n", "wall.yaml:28: a sensor is named ''; a name must have 1 to 100 characters"),
        (
            "kind: lidar\n",
            "kind: lidar\n    device: 5\n",
            "wall.yaml:30: sensors.top.device is 5; it must be the name",
        ),
        ("visibility_m: 200", "visibility_m: far", "wall.yaml:23: atmosphere.visibility_m is 'far'"),
        (
            "sun: {elevation_deg: 40}",
            "sun: {elevation: 40}",
            "wall.yaml:24: sun.elevation is 40; did you mean elevation_deg?",
        ),
        (
            "euler_deg: [0, 0, 90]",
            "euler_deg: [0, 0, 90], quaternion: [1, 0, 0, 0]",
            "quaternion and euler_deg are both",
        ),
        ("{kind: box, x: 0.2", "{kind: box, x: -0.2", "wall.yaml:7: scene.objects[1].shape.x is -0.2"),
        (
            "scene:\n",
            "scene:\n  include: [nowhere]\n",
            "wall.yaml:5: scene.include[0]: 'nowhere' is not among the scenes",
        ),
    ],
)
def test_a_mistake_is_one_line_with_file_line_and_key(write, old, new, words):
    assert old in GOOD
    text = refusal(write(GOOD.replace(old, new, 1)))
    assert words in text
    assert "\n" not in text


def test_a_fault_of_a_signal_needs_a_sensor_with_channels(write, monkeypatch):
    """As sensors of other packages may have none."""
    monkeypatch.setattr(sn.Imu, "targets", ())
    words = "wall.yaml:40: faults[0] has a corruption; imu has no channels for it, its faults are of timing"
    assert words in refusal(write())


def test_two_mistakes_are_two_lines(write):
    text = refusal(write(GOOD.replace("columns: 12", "column: 12").replace("seed: 7", "seed: x")))
    assert [line.split(": ")[0] for line in text.splitlines()] == ["wall.yaml:2", "wall.yaml:34"]


def test_a_mistake_in_an_option_names_the_option(write):
    text = refusal(write(), {"sensors.imu.linear.noise.stdd": 1})
    assert text.startswith(
        "--set sensors.imu.linear.noise.stdd=1: sensors.imu.linear.noise.stdd is 1; did you mean std?"
    )


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("sensors.new.kind", "lidr", "--set sensors.new.kind=lidr: sensors.new.kind is 'lidr'; did you mean 'lidar'?"),
        ("sensors.new.body", "car", "--set sensors.new.body=car: sensors.new.kind is missing; it must be one of"),
        (
            "sensors.top.device",
            "x9",
            "--set sensors.top.device=x9: sensors.top.device is 'x9'; the library has no such",
        ),
        ("scene.objects[0].material", "tar", "--set scene.objects[0].material=tar: scene.objects[0].material is 'tar'"),
        ("sensors.top.body", "cat", "wall.yaml:28 with --set sensors.top.body=cat: sensors.top: the world has no body"),
        ("scene.objects[1].shape", {"kind": "box", "x": 1, "y": 1}, "scene.objects[1].shape.z is missing"),
    ],
)
def test_what_an_option_broke_is_told_with_the_option(write, key, value, words):
    assert words in refusal(write(), {key: value})


def test_a_value_of_a_sweep_names_that_option(write):
    with pytest.raises(SpecError, match=r"^--sweep seed=-1: seed is -1"):
        Scenario.load(write(), {"seed": -1}, options={"seed": "--sweep"})
    with pytest.raises(SpecError, match=r"^--seed: seed is -1"):
        Scenario.load(write(), {"seed": -1}, options={"seed": "--seed"})


def test_an_option_takes_the_place_of_what_the_file_says(write):
    scenario = Scenario.load(write(), {"seed": 11, "sensors.top.enabled": False, "atmosphere": None})
    assert (scenario.spec.seed, scenario.spec.atmosphere) == (11, None)
    assert not scenario.environment().sensors["top"].enabled


def test_of_several_worlds_the_first_that_is_installed_is_taken(write, monkeypatch):
    listed = "world:\n  - {kind: mujoco, model: car.xml}\n  - {kind: static, bodies: {car: {}}}\n"
    path = write("duration_s: 0.1\n" + listed)
    assert "world: model is 'car.xml'" in refusal(path).replace("world.model", "world: model")
    monkeypatch.setattr("sensorium.app.scenario.worlds.find_spec", lambda name: None)
    assert Scenario.load(path).environment().world.body_names == ("car",)
    path = write("duration_s: 0.1\nworld: {kind: mujoco, model: car.xml}\n")
    assert "needs mujoco, which is not installed; pip install 'sensorium[mujoco]'" in refusal(path)


CAR = """\
<mujoco>
  <option timestep="0.01"/>
  <asset><material name="paint"/></asset>
  <worldbody>
    <geom type="plane" size="50 50 1"/>
    <body name="car" pos="0 0 0.5">
      <joint name="way" type="slide" axis="1 0 0"/>
      <geom type="box" size="1 0.5 0.3" material="paint"/>
      <site name="roof" pos="0 0 0.5"/>
    </body>
  </worldbody>
  <actuator><velocity name="drive" joint="way" kv="10000"/></actuator>
</mujoco>
"""


def test_a_mujoco_model_is_driven_by_its_controls_and_seen(write):
    sensors = "sensors: {roof: {kind: gyroscope, site: roof, timing: {rate_hz: 100}}}\n"
    world = "{kind: mujoco, model: car.xml, controls: {drive: [[0, 0], [1, 2]]}, materials: {paint: asphalt}}"
    path = write(f"duration_s: 1\nworld: {world}\n{sensors}")
    path.with_name("car.xml").write_text(CAR)
    scenario = Scenario.load(path)
    env = scenario.environment()
    assert list(scenario.files.hashes()) == ["car.xml"]
    assert env.scene.objects[1].material == sn.materials.load("asphalt")
    for _ in env.run(1.0):
        pass
    # 1,200 kg behind 10,000 N s/m follow a ramp of 2 m/s^2 with a time constant of 0.12 s
    assert env.state.v_WB[0, 0, 0] == pytest.approx(2.0 * (1.0 - 0.12), abs=0.01)
    assert env.sensors["roof"].rig.X_BS.position.tolist() == [[0.0, 0.0, 0.5]]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("drive: 1", "brake: 1", "wall.yaml:2: world: controls names 'brake'; the model has actuators drive"),
        (
            "drive: 1",
            "drive: [[0, 1], [0, 2]]",
            "controls.drive has times [0.0, 0.0]; they must be one or more, and increase",
        ),
        ("car.xml", "../car.xml", "wall.yaml:2: world.model is '../car.xml'; it must lie in the scenario's folder"),
        ("site: roof", "site: cellar", "wall.yaml:3: sensors.roof"),
        ("site: roof", "site: roof, body: car", "site is 'roof' with body or pose"),
    ],
)
def test_mistakes_about_a_model(write, old, new, words):
    text = (
        "duration_s: 1\nworld: {kind: mujoco, model: car.xml, controls: {drive: 1}}\n"
        "sensors: {roof: {kind: gyroscope, site: roof, timing: {rate_hz: 100}}}\n"
    )
    path = write(text.replace(old, new))
    path.with_name("car.xml").write_text(CAR)
    assert words in refusal(path)


def test_a_model_that_includes_a_file_outside_is_refused(write):
    path = write("duration_s: 1\nworld: {kind: mujoco, model: car.xml}\n")
    path.with_name("car.xml").write_text('<mujoco><include file="../secret.xml"/></mujoco>')
    text = refusal(path)
    assert text.startswith("wall.yaml:2: world: car.xml, line 1: file of include is '../secret.xml', which leaves")
    assert "\n" not in text


def test_the_schema_knows_every_kind_and_key():
    schema = json_schema()
    text = json.dumps(schema)
    for word in ("max_range_m", "spinning", "kinematic", "mujoco", "visibility_m", "euler_deg", "enabled", "controls"):
        assert f'"{word}"' in text
    assert schema["required"] == ["duration_s"]
    assert schema["additionalProperties"] is False


def test_an_editor_would_agree_with_us(write):
    jsonschema = pytest.importorskip("jsonschema")
    check = jsonschema.Draft202012Validator(json_schema())
    data = Scenario.load(write()).data
    assert not list(check.iter_errors(data))
    data["sensors"]["top"]["max_rang_m"] = 3
    assert list(check.iter_errors(data))
