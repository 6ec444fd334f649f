"""Recordings as worlds: what was recorded is replayed."""

import numpy as np
import pytest
from mcap.writer import Writer

import sensorium as sn
from sensorium.core.errors import SpecError
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


def test_bodies_are_frames_that_move_and_joints_come_along(tmp_path):
    """On an epoch's clock, with a tree below a body and a robot's joints without velocities."""
    epoch = 1_763_260_000_000_000_000
    messages = []
    for k in range(5):
        now = epoch + k * 100_000_000
        messages.append(tf(stamped("world", "base", now, x=0.3 * k), stamped("base", "arm", now, x=1.0)))
        messages.append(joints("/robot/joint_states", now, hip=0.5 * k, knee=-0.1 * k))
        messages.append(joints("/z/joint_states", now, hip=99.0))
    world = Replay(write(tmp_path / "robot.mcap", messages), step_s=0.05)
    assert (world.body_names, world.joint_names) == (("base", "arm"), ("hip", "knee"))
    world.start(1)
    for _ in range(3):
        world.step()
    state = world.state()
    np.testing.assert_allclose(state.X_WB.position[0, :, 0], [0.45, 1.45])
    np.testing.assert_allclose(state.v_WB[0], [[3.0, 0.0, 0.0]] * 2, atol=1e-9)
    np.testing.assert_allclose(state.joint_position, [[0.75, -0.15]])
    np.testing.assert_allclose(state.joint_velocity, [[5.0, -1.0]])


# --- frames of robots


def posed(parent, child, time_ns, pose):
    transform = {"translation": vector(pose.position), "rotation": quaternion(pose.quaternion)}
    return {"header": header(time_ns, parent), "child_frame_id": child, "transform": transform}


def fixed(*transforms):
    return "/tf_static", tf(*transforms)[1]


def drawn(rng, count=None):
    shape = () if count is None else (count,)
    quaternions = rng.normal(size=(*shape, 4))
    return sn.Pose(rng.normal(size=(*shape, 3)), quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True))


def matrix(pose):
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = pose.rotation, pose.position
    return out


@pytest.mark.parametrize("seed", range(5))
def test_poses_are_composed_along_any_chain(tmp_path, seed):
    """A static frame above, two that move at times of their own, and mounts below; in any order of logging."""
    rng = np.random.default_rng(seed)
    earth, mast, lens = (drawn(rng) for _ in range(3))
    odom, base = drawn(rng, 3), drawn(rng, 5)
    odom_ns, base_ns = [0, 400_000_000, 800_000_000], [k * 200_000_000 for k in range(5)]
    messages = [
        fixed(posed("earth", "map", 0, earth)),
        fixed(posed("base", "mast", 0, mast), posed("mast", "lens", 0, lens)),
    ]
    moving = [tf(posed("/map", "odom", t, odom[k])) for k, t in enumerate(odom_ns)]
    moving += [tf(posed("odom", "/base", t, base[k])) for k, t in enumerate(base_ns)]
    messages += [moving[k] for k in rng.permutation(len(moving))]
    world = Replay(write(tmp_path / "robot.mcap", messages), step_s=0.4)
    assert set(world.body_names) == {"odom", "base"}
    world.start(1)
    for k in range(3):
        expected = matrix(earth) @ matrix(odom[k]) @ matrix(base[2 * k])
        found = world.state().X_WB[0, world.body_names.index("base")]
        np.testing.assert_allclose(matrix(found), expected, atol=1e-12)
        world.step()

    # Frames that are fixed on bodies are mounts
    mount = world.mount("lens")
    assert mount["body"] == "base"
    np.testing.assert_allclose(matrix(mount["pose"]), matrix(mast) @ matrix(lens), atol=1e-12)
    assert world.mount("map")["body"] is None
    with pytest.raises(SpecError, match="no fixed frame 'base'; it has 'map', 'mast', 'lens'"):
        world.mount("base")

    # Another root
    inner = Replay(tmp_path / "robot.mcap", root="odom")
    assert inner.body_names == ("base",)
    inner.start(1)
    np.testing.assert_allclose(matrix(inner.state().X_WB[0, 0]), matrix(base[0]), atol=1e-12)


def test_a_sensor_rides_on_a_mount_of_a_recording(tmp_path):
    messages = [fixed(posed("base", "gnss", 0, sn.Pose((0, 0, 2))))]
    messages += [tf(stamped("map", "base", k * 100_000_000, x=1.0 * k)) for k in range(3)]
    world = Replay(write(tmp_path / "robot.mcap", messages), step_s=0.1)
    env = sn.Environment(sn.Scene(), world)
    gnss = env.attach(sn.Gnss(timing=sn.Timing(rate_hz=10.0)), **world.mount("gnss"))
    env.step()
    np.testing.assert_allclose(gnss.read().position, [1.0, 0.0, 2.0], atol=1e-9)


def test_rows_are_sorted_by_stamp_and_of_one_stamp_the_first_counts(tmp_path):
    late = [tf(stamped("map", "base", t, x)) for t, x in ((200, 2.0), (0, 0.0), (100, 1.0), (100, 9.0))]
    world = Replay(write(tmp_path / "robot.mcap", late))
    np.testing.assert_array_equal(world.tracks["base"].poses.position[:, 0], [0.0, 1.0, 2.0])


def odometry(topic, time_ns, x, child="base", parent="odom"):
    pose = {"position": vector((x, 0, 0)), "orientation": quaternion((1, 0, 0, 0))}
    zero = {"linear": vector((0, 0, 0)), "angular": vector((0, 0, 0))}
    fields = {
        "header": header(time_ns, parent),
        "child_frame_id": child,
        "pose": {"pose": pose, "covariance": np.zeros(36)},
        "twist": {"twist": zero, "covariance": np.zeros(36)},
    }
    return topic, Message("nav_msgs/msg/Odometry", time_ns, fields)


def pose_stamped(topic, time_ns, x, parent="odom"):
    pose = {"position": vector((x, 0, 0)), "orientation": quaternion((1, 0, 0, 0))}
    return topic, Message("geometry_msgs/msg/PoseStamped", time_ns, {"header": header(time_ns, parent), "pose": pose})


def test_without_frames_poses_come_from_odometry_or_pose_stamped(tmp_path):
    """Fixed frames alone are no motion: they are put below the body that moves."""
    messages = [fixed(posed("base", "imu", 0, sn.Pose((0, 0, 1))))]
    for k in (1, 0):
        messages.append(odometry("/wheels/odometry", k * 1_000_000_000, 3.0 * k))
        messages.append(odometry("/filtered/odometry", k * 1_000_000_000, 4.0 * k))
        messages.append(pose_stamped("/mocap/pose", k * 1_000_000_000, 5.0 * k))
    world = Replay(write(tmp_path / "robot.mcap", messages), step_s=1.0)
    assert world.body_names == ("base", "wheels/odometry", "mocap/pose")
    assert world.mount("imu")["body"] == "base"
    world.start(1)
    world.step()
    np.testing.assert_allclose(world.state().X_WB.position[0, :, 0], [4.0, 3.0, 5.0])


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        ([joints("/j", 0, hip=1.0)], "has no bodies; it must have moving frames on /tf, or messages of Odometry, Pose"),
        ([fixed(stamped("world", "base", 0))], "has no bodies; it must have moving frames on /tf"),
        (
            [tf(stamped("a", "b", 5)), tf(stamped("c", "d", 5))],
            "root is None and the roots of .* are 'a', 'c'; root must",
        ),
        ([tf(stamped("a", "b", 5)), tf(stamped("b", "a", 5))], "sit on each other in a circle"),
        (
            [tf(stamped("a", "b", 5)), tf(stamped("c", "b", 5))],
            "frame 'b' of .* sits on 'a' and on 'c'; it must have one",
        ),
        (
            [tf(stamped("w", "x", 5)), tf(stamped("a", "b", 5)), tf(stamped("b", "a", 5))],
            "frame '.' of .* sits on itself; frames must form a tree",
        ),
        ([tf(stamped("world", "base", 0, x=np.inf))], "body 'base' of .*finite"),
        ([tf(stamped("world", "a", 0)), joints("/j", 0, hip=np.nan)], "joint 'hip' of .*it must be finite"),
    ],
)
def test_what_cannot_be_replayed_is_told_in_one_line(tmp_path, messages, says):
    with pytest.raises(SpecError, match=says) as error:
        Replay(write(tmp_path / "foreign.mcap", messages))
    assert "\n" not in str(error.value)
    assert "foreign.mcap" in str(error.value)


def test_a_root_that_is_none(tmp_path):
    path = write(tmp_path / "robot.mcap", [tf(stamped("odom", "base", 0))])
    with pytest.raises(
        SpecError, match=r"root is 'map'; the frames of 'robot\.mcap' sit on 'odom', and it must be one"
    ):
        Replay(path, root="map")
    with pytest.raises(SpecError, match=r"root is 'map' and tracks is .*drive\.csv'; it must be of a file that ends"):
        Replay(tmp_path / "drive.csv", root="map")
    with pytest.raises(SpecError, match="root is 'map' and tracks are given"):
        Replay({"car": sn.worlds.Track([0.0], sn.Pose(np.zeros((1, 3))))}, root="map")


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
