"""Replayed worlds, from arrays and from CSV files."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError, WorldError
from sensorium.worlds import JointTrack, Replay, Track, World, check_state

HEADER = "time_s,body,x,y,z,qw,qx,qy,qz"


def circle(times_s):
    path = sn.paths.Circle(center=(1, 2, 0.5), radius=5.0, rate=0.4)
    return path.motion(np.asarray(times_s))


def replay(step_s=0.02):
    t = np.arange(0, 101) * 0.05
    m = circle(t)
    return Replay(
        {"car": Track(t + 100.0, m.pose, m.v_WB, m.w_WB), "box": Track([101.0], [sn.Pose((1, 2, 3))])}, step_s=step_s
    )


def test_the_pieces_of_the_protocol():
    world: World = replay()
    with pytest.raises(WorldError, match="was not started"):
        world.state()
    world.start(3)
    assert world.body_names == ("car", "box")
    assert world.joint_names == ()
    assert world.step_ns == 20_000_000
    assert world.duration_s == pytest.approx(5.0)
    state = world.state()
    check_state(state, world.body_names, ())
    assert state.a_WB is None
    np.testing.assert_array_equal(state.X_WB.position[:, 1], [[1, 2, 3]] * 3)


def test_it_follows_the_motion_it_was_recorded_from():
    world = replay()
    world.start(1)
    for step in range(251):
        state = world.state()
        assert state.time_ns == step * 20_000_000
        true = circle([step * 0.02])
        # Between recorded poses a chord: h^2 a / 8 = 0.05^2 0.8 / 8
        assert np.abs(state.X_WB.position[0, 0] - true.pose.position[0]).max() < 2.6e-4
        assert np.abs(state.v_WB[0, 0] - true.v_WB[0]).max() < 2.6e-4
        np.testing.assert_allclose(state.w_WB[0, 0], true.w_WB[0], atol=1e-12)
        world.step()

    # The recording has ended
    assert not world.state().v_WB.any()
    np.testing.assert_allclose(world.state().X_WB.position[0, 0], circle([5.0]).pose.position[0], atol=1e-12)


def test_worlds_start_over_by_themselves():
    world = replay()
    world.start(3)
    alone = replay()
    alone.start(1)
    kept = []
    for step in range(600):
        kept.append(alone.state().numbers.copy())
        alone.step()
        if step in (7, 300):
            world.reset(np.array([False, step == 7, step == 300]))
        state = world.state()
        for w, first in enumerate((0, 7 if step >= 7 else 0, 300 if step >= 300 else 0)):
            np.testing.assert_array_equal(state.X_WB.position[w].ravel(), kept[step - first][:6])
        world.step()
    with pytest.raises(SpecError, match="mask is"):
        world.reset(np.array([True]))


def test_sensors_ride_on_it():
    env = sn.Environment(sn.Scene(), replay(step_s=0.01))
    gyro = env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=100.0)), body="car")
    for _ in env.run(1.0):
        np.testing.assert_allclose(gyro.read().angular_velocity, [0, 0, 0.4], atol=1e-9)


@pytest.mark.parametrize("velocities", [False, True])
@pytest.mark.parametrize("clock", ["time_s", "time_ns"])
def test_a_csv_gives_what_arrays_give(tmp_path, velocities, clock):
    """Written with all digits, on an epoch's clock, rows of two bodies mixed and columns in another order."""
    epoch_ns = 1_763_260_000_000_000_000
    t_ns = np.arange(40) * 33_333_333
    tracks, lines = {}, []
    for body, shift in (("car", 0.0), ("van, red", 3.0)):
        m = circle(t_ns * 1e-9 + shift)
        tracks[body] = Track(t_ns * 1e-9, m.pose, *((m.v_WB, m.w_WB) if velocities else ()))
        for k in range(40):
            total = epoch_ns + int(t_ns[k])
            text = str(total) if clock == "time_ns" else f"{total // 10**9}.{total % 10**9:09d}"
            numbers = [*m.pose.quaternion[k], *m.pose.position[k]] + ([*m.v_WB[k], *m.w_WB[k]] if velocities else [])
            lines.append((k, ",".join([f'"{body}"', *(repr(float(n)) for n in numbers), text])))
    more = ",vx,vy,vz,wx,wy,wz" if velocities else ""
    file = tmp_path / "poses.csv"
    file.write_text(f"body,qw,qx,qy,qz,x,y,z{more},{clock}\n" + "\n".join(line for _, line in sorted(lines)) + "\n\n")
    one, other = Replay.from_csv(file, step_s=0.007), Replay(tracks, step_s=0.007)
    assert one.body_names == ("car", "van, red")
    for world in (one, other):
        world.start(1)
    for _ in range(200):
        np.testing.assert_allclose(one.state().numbers, other.state().numbers, rtol=1e-12, atol=1e-9)
        one.step()
        other.step()


def test_joints_come_from_arrays(tmp_path):
    t = np.linspace(0.0, 1.0, 11)
    wheel = JointTrack(t, 3.0 * t, np.full(11, 3.0))
    world = Replay({"box": Track([0.0], [sn.Pose()])}, joints={"wheel": wheel}, step_s=0.05)
    assert world.joint_names == ("wheel",)
    assert world.duration_s == 1.0
    env = sn.Environment(sn.Scene(), world, worlds=2)
    encoder = env.attach(sn.Encoder(timing=sn.Timing(rate_hz=20.0)), joint="wheel")
    for _ in env.run(0.95):
        np.testing.assert_allclose(encoder.read().position, [3.0 * env.time_s] * 2, atol=1e-12)
        np.testing.assert_array_equal(env.state.joint_velocity, [[3.0]] * 2)
    with pytest.raises(SpecError, match=r"joint 'wheel' follows 3; it must follow a sn\.worlds\.JointTrack"):
        Replay({}, joints={"wheel": 3})


def test_joints_have_columns_of_a_csv(tmp_path):
    """Two bodies with the same joints at the same times, a joint seen less often, and a row of joints alone."""
    file = tmp_path / "poses.csv"
    rows = [
        f"{HEADER},joint:wheel,joint_velocity:wheel,joint:arm",
        "10,car,0,0,0,1,0,0,0,1.0,2.0,5",
        "10,van,0,1,0,1,0,0,0,1.0,2.0,",
        "11,car,1,0,0,1,0,0,0,3.0,2.0,",
        "11,van,1,1,0,1,0,0,0,,,",
        "12,,,,,,,,,5.0,2.5,6",
    ]
    file.write_text("\n".join(rows))
    world = Replay(file, step_s=0.5)
    assert (world.body_names, world.joint_names, world.duration_s) == (("car", "van"), ("wheel", "arm"), 2.0)
    world.start(1)
    for k in range(4):
        np.testing.assert_allclose(world.state().joint_position[0], [1.0 + k, 5.0 + 0.25 * k])
        np.testing.assert_allclose(world.state().joint_velocity[0], [2.0 + 0.25 * max(0, k - 2), 0.5])
        world.step()
    assert world.tracks["car"].times_s.tolist() == [0.0, 1.0]

    # Joints alone need no bodies
    file.write_text("time_ns,joint:wheel\n5,1.5\n7,2.5\n")
    alone = Replay(file, step_s=1e-9)
    assert (alone.body_names, alone.joint_names) == ((), ("wheel",))
    alone.start(1)
    alone.step()
    np.testing.assert_allclose(alone.state().joint_position, [[2.0]])


GOOD = "0,car,1,2,3,1,0,0,0"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "line 1: columns are ; one of time_s and time_ns must be there"),
        (HEADER, "it has no rows"),
        (f"{HEADER},color\n", "line 1: column is 'color'; it must be one of time_s, "),
        (f"{HEADER},x\n", "line 1: column 'x' is there twice"),
        (HEADER.replace(",qz", "") + "\n", "line 1: .*'qz' must be there too"),
        (f"{HEADER},vx,vy\n", "line 1: .*'vz' must be there too"),
        (f"{HEADER},time_ns\n", "line 1: .*one of time_s and time_ns"),
        (f"{HEADER}\n{GOOD}\n1,car,1,2,3\n", "line 3: it has 5 fields; it must have 9"),
        (f"{HEADER}\n{GOOD}\n\n1,car,1,nan,3,1,0,0,0\n", "line 4: y is 'nan'; it must be a finite number"),
        (f"{HEADER}\n1,car,1,two,3,1,0,0,0\n", "line 2: y is 'two'"),
        (f"{HEADER}\nsoon,car,1,2,3,1,0,0,0\n", "line 2: time_s is 'soon'"),
        (f"{HEADER}\n1e400,car,1,2,3,1,0,0,0\n", "line 2: time_s is '1e400'"),
        (f"{HEADER}\n1,,1,2,3,1,0,0,0\n", "line 2: body is empty"),
        (f"{HEADER}\n{GOOD}\n{GOOD}\n", "line 3: time of 'car' is 0 ns after 0 ns; it must increase"),
        (f"{HEADER}\n1,car,1,2,3,0.5,0,0,0\n", r"line 2: the quaternion .* has length 0\.5"),
        (f"{HEADER},joint:\n", "column is 'joint:'; it must be one of .*, joint:NAME, joint_velocity:NAME beside it"),
        (f"{HEADER},joint_velocity:wheel\n", "column is 'joint_velocity:wheel'; it must be one of"),
        (f"{HEADER},joint:a\n{GOOD},1\n-1,b,1,2,3,1,0,0,0,1\n", "line 3: joint 'a' is 1.0 at -1000000000 ns after 1.0"),
        (f"{HEADER},joint:a\n{GOOD},1\n0,b,1,2,3,1,0,0,0,2\n", "line 3: joint 'a' is 2.0 at 0 ns after 1.0 at 0 ns"),
        (f"{HEADER},joint:a\n{GOOD},much\n", "line 2: joint:a is 'much'; it must be a finite number"),
        (f"{HEADER},joint:a\n1,,,,,1,0,0,0,1\n", "line 2: body is empty"),
        (f'{HEADER}\n1,"car"x,1,2,3,1,0,0,0\n', "line .*it must be a CSV file"),
    ],
)
def test_wrong_files_name_the_file_the_line_and_the_rule(tmp_path, text, says):
    file = tmp_path / "poses.csv"
    file.write_text(text)
    with pytest.raises(SpecError, match=says) as error:
        Replay.from_csv(file)
    assert str(error.value).startswith(str(file))
    assert "\n" not in str(error.value)


def test_what_is_no_file_no_text_or_no_track(tmp_path):
    with pytest.raises(SpecError, match="there is no such file"):
        Replay.from_csv(tmp_path / "gone.csv")
    file = tmp_path / "poses.csv"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError, match="not text in UTF-8"):
        Replay.from_csv(file)
    with pytest.raises(SpecError, match="tracks is empty"):
        Replay({})
    with pytest.raises(SpecError, match=r"it must follow a sn\.worlds\.Track"):
        Replay({"car": sn.Pose()})


def test_an_encoder_of_a_recorded_joint_that_slides(tmp_path):
    path = tmp_path / "way.csv"
    path.write_text("time_s,body,x,y,z,qw,qx,qy,qz,joint:lift\n0,,,,,,,,,0\n1,,,,,,,,,20\n")
    track = sn.worlds.JointTrack([0.0, 1.0], [0.0, 20.0])
    for world in (
        Replay({}, joints={"lift": track}, slide_joints=("lift",)),
        Replay(path, slide_joints=("lift",)),
        Replay.from_csv(path, slide_joints=("lift",)),
    ):
        env = sn.Environment(sn.Scene(), world)
        encoder = env.attach(sn.Encoder(timing=sn.Timing(rate_hz=100.0)), joint="lift")
        env.run(1.0).finish()
        assert encoder.read().position == pytest.approx(20.0)
