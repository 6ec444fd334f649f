"""Recordings as worlds: what was recorded is replayed."""

import numpy as np
import pytest
from mcap.writer import Writer

import sensorium as sn
from sensorium.errors import SpecError
from sensorium.record.ros2 import cdr
from sensorium.record.ros2.message import Message, header, quaternion, vector
from sensorium.worlds import Replay

STEP_S = 0.01


def drive(path, worlds=None, **options):
    """Record a car, a ball and a wheel for a second; returns the states by time."""
    world = sn.worlds.Kinematic(
        {
            "car": sn.paths.Line(start=(-5, 0, 1), velocity=(8, 0, 0)),
            "ball": sn.paths.Circle(center=(4, 2, 1), radius=2.0, rate=[3.0, 4.0] if worlds else 3.0),
        },
        joints={"wheel": sn.paths.JointLine(start=0.5, velocity=27.0)},
        step_s=STEP_S,
    )
    env = sn.Environment(sn.Scene(), world, worlds=worlds, **options)
    env.attach(sn.Encoder(timing=sn.Timing(rate_hz=100.0, latency_s=0.015, latency_jitter_s=0.004)), joint="wheel")
    states = []
    with sn.record.McapRecorder(path) as recorder:
        for _ in env.run(1.0):
            recorder.record(env)
            states.append(env.state)
    return states


def test_what_was_recorded_is_replayed(tmp_path):
    states = drive(tmp_path / "run.mcap")
    world = Replay(tmp_path / "run.mcap")
    assert world.body_names == ("car", "ball")
    assert world.joint_names == ("wheel",)
    assert world.duration_s == pytest.approx(0.99)
    env = sn.Environment(sn.Scene(), world)
    encoder = env.attach(sn.Encoder(timing=sn.Timing(rate_hz=100.0)), joint="wheel")
    for k, state in enumerate(states):
        now = env.state
        assert now.time_ns == state.time_ns - states[0].time_ns
        np.testing.assert_allclose(now.X_WB.position, state.X_WB.position, atol=1e-12)
        np.testing.assert_allclose(now.X_WB.rotation, state.X_WB.rotation, atol=1e-12)

        # Differences over two steps are off by (rate h)^2 / 6 of the speed, at the ends by (rate h)^2 / 3
        np.testing.assert_allclose(now.v_WB, state.v_WB, atol=6.0 * 0.03**2 / 2.9)
        np.testing.assert_allclose(now.w_WB, state.w_WB, atol=1e-9)

        # The last readings were still on their way when the recording ended
        if k < 97:
            np.testing.assert_allclose(now.joint_position, state.joint_position, atol=1e-9)
            np.testing.assert_allclose(now.joint_velocity, 27.0, atol=1e-9)
        env.step()
        assert encoder.read().position < 2 * np.pi


def test_one_world_of_several_is_chosen(tmp_path):
    states = drive(tmp_path / "run.mcap", worlds=2, first_world=5)
    with pytest.raises(SpecError, match=r"world is None; 'run\.mcap' has 5, 6, and it must be one of them"):
        Replay(tmp_path / "run.mcap")
    with pytest.raises(SpecError, match=r"world is 0; 'run\.mcap' has 5, 6"):
        Replay.from_mcap(tmp_path / "run.mcap", world=0)
    world = Replay.from_mcap(tmp_path / "run.mcap", world=6)
    assert (world.body_names, world.joint_names) == (("car", "ball"), ("wheel",))
    world.start(1)
    for _ in range(50):
        world.step()
    np.testing.assert_allclose(world.state().X_WB.position[0], states[50].X_WB.position[1], atol=1e-12)


def test_a_damaged_file_is_told_in_one_line(tmp_path):
    drive(tmp_path / "run.mcap")
    whole = (tmp_path / "run.mcap").read_bytes()
    for name, data in (
        ("cut.mcap", whole[: len(whole) // 2]),
        ("flipped.mcap", whole[:3000] + bytes([whole[3000] ^ 255]) + whole[3001:]),
        ("text.mcap", b"hello\n"),
        ("empty.mcap", b""),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(SpecError, match=f"'{name}' is not a whole MCAP file") as error:
            Replay(tmp_path / name)
        assert "\n" not in str(error.value)
    with pytest.raises(SpecError, match=r"'gone\.mcap' cannot be read: No such file"):
        Replay(tmp_path / "gone.mcap")
    with pytest.raises(SpecError, match=r"run\.bag'; its name must end in \.csv or \.mcap"):
        Replay(tmp_path / "run.bag")
    with pytest.raises(SpecError, match=r"joints are given and tracks is .*run\.mcap'; a file must bring its own"):
        Replay(tmp_path / "run.mcap", joints={})


# --- files that others made


def stamped(parent, child, time_ns, x=0.0):
    transform = {"translation": vector((x, 0, 0)), "rotation": quaternion((1, 0, 0, 0))}
    return {"header": header(time_ns, parent), "child_frame_id": child, "transform": transform}


def tf(*transforms):
    return "/tf", Message("tf2_msgs/msg/TFMessage", 0, {"transforms": list(transforms)})


def joints(topic, time_ns, **positions):
    fields = {
        "header": header(time_ns, ""),
        "name": list(positions),
        "position": np.array(list(positions.values()), np.float64),
        "velocity": np.zeros(0),
        "effort": np.zeros(0),
    }
    return topic, Message("sensor_msgs/msg/JointState", time_ns, fields)


def write(path, messages):
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start(profile="ros2")
        channels = {}
        for number, (topic, message) in enumerate(messages):
            if topic not in channels:
                schema = writer.register_schema(message.kind, "ros2msg", cdr.definition(message.kind))
                channels[topic] = writer.register_channel(topic, "cdr", schema)
            writer.add_message(channels[topic], number, bytes(cdr.encoded(message)), number)
        writer.finish()
    return path


def test_bodies_are_frames_in_the_world_and_others_are_left_out(tmp_path):
    """On an epoch's clock, with a tree below a body and a robot's joints without velocities."""
    epoch = 1_763_260_000_000_000_000
    messages = []
    for k in range(5):
        now = epoch + k * 100_000_000
        messages.append(tf(stamped("world", "base", now, x=0.3 * k), stamped("base", "arm", now)))
        messages.append(joints("/robot/joint_states", now, hip=0.5 * k, knee=-0.1 * k))
        messages.append(joints("/z/joint_states", now, hip=99.0))
    world = Replay(write(tmp_path / "robot.mcap", messages), step_s=0.05)
    assert (world.body_names, world.joint_names) == (("base",), ("hip", "knee"))
    world.start(1)
    for _ in range(3):
        world.step()
    state = world.state()
    assert state.X_WB.position[0, 0, 0] == pytest.approx(0.45)
    np.testing.assert_allclose(state.v_WB[0, 0], [3.0, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(state.joint_position, [[0.75, -0.15]])
    np.testing.assert_allclose(state.joint_velocity, [[5.0, -1.0]])


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        ([joints("/j", 0, hip=1.0)], "has no bodies; its topic '/tf' must have frames in 'world', it has none"),
        ([tf(stamped("odom", "base", 0))], "must have frames in 'world', it has frames in 'odom'"),
        ([tf(stamped("world", "base", 5)), tf(stamped("world", "base", 5))], r"body 'base' of .*times must increase"),
        ([tf(stamped("world", "base", 0, x=np.inf))], "body 'base' of .*finite"),
        ([tf(stamped("world", "a", 0)), joints("/j", 0, hip=np.nan)], "joint 'hip' of .*it must be finite"),
    ],
)
def test_what_cannot_be_replayed_is_told_in_one_line(tmp_path, messages, says):
    with pytest.raises(SpecError, match=says) as error:
        Replay(write(tmp_path / "foreign.mcap", messages))
    assert "\n" not in str(error.value)
    assert "foreign.mcap" in str(error.value)


def slide_fast(path, **options):
    """Record a lift that goes 10 m between readings; an encoder's first speeds are 0."""
    world = sn.worlds.Kinematic(
        {"base": sn.paths.Fixed(sn.Pose())}, {"lift": sn.paths.JointLine(-3.0, 100.0)}, step_s=0.1, **options
    )
    env = sn.Environment(sn.Scene(), world)
    env.attach(sn.Encoder(max=1e9, min=-1e9, timing=sn.Timing(rate_hz=10.0)), joint="lift")
    with sn.record.McapRecorder(path) as recorder:
        for _ in env.run(1.0):
            recorder.record(env)


def test_a_joint_that_slides_has_no_turns_to_put_back(tmp_path):
    straight = -3.0 + 100.0 * np.arange(1, 11) * 0.1
    slide_fast(tmp_path / "told.mcap", slide_joints=("lift",))
    world = Replay(tmp_path / "told.mcap")  # the recording tells that it slides
    assert world.slide_joints == ("lift",)
    np.testing.assert_allclose(world.joints["lift"].position, straight, atol=1e-9)
    slide_fast(tmp_path / "untold.mcap")
    assert Replay(tmp_path / "untold.mcap").slide_joints == ()
    for world in (
        Replay(tmp_path / "untold.mcap", slide_joints=("lift",)),
        Replay.from_mcap(tmp_path / "untold.mcap", slide_joints=("lift",)),
    ):
        assert world.slide_joints == ("lift",)
        np.testing.assert_allclose(world.joints["lift"].position, straight, atol=1e-9)
    with pytest.raises(SpecError, match="slide_joints has 'left'; it must be one of the joints, lift"):
        Replay(tmp_path / "untold.mcap", slide_joints=("left",))
