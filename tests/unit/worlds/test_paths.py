"""Paths: closed forms, and every velocity and acceleration against differences of the pose."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.core.rotations import cross
from sensorium.worlds import paths

KNOTS = [0.0, 0.7, 1.0, 2.5, 3.0]
POSES = [
    Pose.from_euler_deg((0, 0, 0)),
    Pose.from_euler_deg((1, 2, 0), roll=20, yaw=60),
    Pose.from_euler_deg((2, 2, 1), pitch=-30, yaw=100),
    Pose.from_euler_deg((-1, 0, 3), roll=-40, pitch=10, yaw=190),
    Pose.from_euler_deg((-1, -2, 2), yaw=250),
]


def wobble(t):
    return Pose.exp((t, np.sin(2 * t), 0.3), (0.4 * np.sin(3 * t), 0.2 * t, 0.5 * np.cos(t)))


def wobble_of_many(t):
    one = np.ones_like(t)
    rho = np.stack([t, np.sin(2 * t), 0.3 * one], axis=-1)
    return Pose.exp(rho, np.stack([0.4 * np.sin(3 * t), 0.2 * t, 0.5 * np.cos(t)], axis=-1))


PATHS = {
    "fixed": paths.Fixed(Pose.from_euler_deg((1, 2, 3), 10, 20, 30)),
    "line": paths.Line((1, 2, 3), (4, -5, 6), quaternion=(1, 2, 3, 4)),
    "circle": paths.Circle((8, 3, 1), radius=2.0, rate=1.5, phase=0.4),
    "clockwise circle": paths.Circle((8, 3, 1), radius=2.0, rate=-0.7),
    "circle without heading": paths.Circle((8, 3, 1), radius=2.0, rate=1.5, heading=False),
    "spin": paths.Spin((1, 0, 2), axis=(1, 1, -2), rate=3.0, phase=0.2),
    "waypoints": paths.Waypoints(KNOTS, POSES),
    "function": paths.Function(wobble),
    "vectorized function": paths.Function(wobble_of_many, vectorized=True),
}
BATCHED = {
    "fixed": lambda: paths.Fixed(Pose(np.arange(12.0).reshape(4, 3))),
    "line": lambda: paths.Line(np.arange(12.0).reshape(4, 3), (1, 2, 3)),
    "line velocities": lambda: paths.Line((1, 2, 3), np.arange(12.0).reshape(4, 3)),
    "circle centers": lambda: paths.Circle(np.arange(12.0).reshape(4, 3), 1.0, 1.0),
    "circle rates": lambda: paths.Circle((0, 0, 0), 1.0, [1.0, -2.0, 0.0, 3.0]),
    "spin axes": lambda: paths.Spin((0, 0, 0), np.arange(1.0, 13.0).reshape(4, 3), 2.0),
    "spin phases": lambda: paths.Spin((0, 0, 0), (0, 0, 1), 2.0, phase=[0.0, 1.0, 2.0, 3.0]),
    "waypoints": lambda: paths.Waypoints(
        [0, 1, 2], Pose(np.random.default_rng(0).normal(size=(3, 4, 3)), np.eye(4)[:3, None] + 1.0)
    ),
}


# ---- derivatives


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS.keys())
def test_motion_is_the_derivative_of_pose(path):
    t = np.array([0.3, 0.85, 1.9, 2.7, 10.0])
    h = 1e-4
    before, now, after = (path.pose(t + k * h) for k in (-1, 0, 1))
    motion = path.motion(t)
    assert motion.pose.almost_equal(now, 1e-14)
    np.testing.assert_allclose(motion.v_WB, (after.position - before.position) / (2 * h), atol=1e-6)
    second = (after.position - 2 * now.position + before.position) / h**2
    np.testing.assert_allclose(motion.a_WB, second, atol=1e-5)

    # R' = w^ R: each axis of the body moves at w x axis
    for axis in np.eye(3):
        velocity = (after.rotate(axis) - before.rotate(axis)) / (2 * h)
        np.testing.assert_allclose(cross(motion.w_WB, now.rotate(axis)), velocity, atol=1e-6)
    w_after, w_before = path.motion(t + h).w_WB, path.motion(t - h).w_WB
    np.testing.assert_allclose(motion.alpha_WB, (w_after - w_before) / (2 * h), atol=1e-5)


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS.keys())
@pytest.mark.parametrize("shape", [(), (1,), (6,), (2, 3)])
def test_shape_is_that_of_the_times_and_each_time_stands_alone(path, shape):
    t = np.linspace(0.1, 2.9, max(1, int(np.prod(shape)))).reshape(shape)
    motion = path.motion(t)
    assert motion.pose.shape == path.pose(t).shape == shape
    assert all(x.shape == (*shape, 3) for x in motion[1:])
    for index in np.ndindex(shape):
        alone = path.motion(t[index])
        assert motion.pose[index] == alone.pose
        for many, one in zip(motion[1:], alone[1:], strict=True):
            np.testing.assert_array_equal(many[index], one)


@pytest.mark.parametrize("make", BATCHED.values(), ids=BATCHED.keys())
def test_parameters_of_batch_shape_give_each_world_its_own_motion(make):
    path = make()
    t = np.array([0.2, 0.5, 1.1, 1.7])
    motion = path.motion(t)
    assert motion.pose.shape == (4,)
    assert path.pose(0.5).shape == (4,)
    for k in range(4):
        together = path.motion(np.full(4, t[k]))
        assert motion.pose[k] == together.pose[k]
        np.testing.assert_array_equal(motion.v_WB[k], together.v_WB[k])
        np.testing.assert_array_equal(motion.w_WB[k], together.w_WB[k])
    assert len({(motion.pose[k], motion.v_WB[k].tobytes(), motion.w_WB[k].tobytes()) for k in range(4)}) == 4


# ---- closed forms


def test_line():
    motion = PATHS["line"].motion(2.0)
    assert motion.pose == Pose((9, -8, 15), (1, 2, 3, 4))
    assert motion.v_WB.tolist() == [4, -5, 6]
    assert not np.any([motion.w_WB, motion.a_WB, motion.alpha_WB])


@pytest.mark.parametrize("name", ["circle", "clockwise circle"])
def test_circle_keeps_its_radius_and_heads_along_its_velocity(name):
    t = np.linspace(0, 20, 50)
    motion = PATHS[name].motion(t)
    arm = motion.pose.position - (8, 3, 1)
    np.testing.assert_allclose(np.linalg.norm(arm, axis=-1), 2.0, rtol=1e-14)
    speed = np.linalg.norm(motion.v_WB, axis=-1, keepdims=True)
    np.testing.assert_allclose(motion.pose.rotate((1, 0, 0)), motion.v_WB / speed, atol=1e-14)
    np.testing.assert_allclose(motion.pose.rotate((0, 0, 1)) - (0, 0, 1), 0, atol=1e-15)
    np.testing.assert_allclose(motion.a_WB, -((speed / 2.0) ** 2) * arm, atol=1e-13)


def test_circle_starts_at_its_phase():
    assert paths.Circle((1, 1, 1), 2.0, 1.0).pose(0.0).position == pytest.approx((3, 1, 1))
    assert paths.Circle((1, 1, 1), 2.0, 1.0, phase=np.pi / 2).pose(0.0).position == pytest.approx((1, 3, 1))


def test_spin_turns_about_its_axis_and_nothing_else():
    motion = PATHS["spin"].motion(1.3)
    axis = np.array([1, 1, -2]) / np.sqrt(6)
    np.testing.assert_allclose(motion.pose.rotate(axis), axis, atol=1e-15)
    np.testing.assert_allclose(motion.w_WB, 3.0 * axis, atol=1e-15)
    _, phi = paths.Spin((0, 0, 0), axis, 1.0, phase=0.5).pose(1.0).log()
    np.testing.assert_allclose(phi, 1.5 * axis, atol=1e-14)


# ---- waypoints


def test_waypoints_pass_through_every_pose_and_rest_at_the_ends():
    path = PATHS["waypoints"]
    assert path.pose(KNOTS).almost_equal(Pose.stack(POSES), 1e-13)
    ends = path.motion([KNOTS[0], KNOTS[-1]])
    np.testing.assert_allclose([ends.v_WB, ends.w_WB], 0.0, atol=1e-13)
    outside = path.motion([-3.0, 99.0])
    assert outside.pose.almost_equal(Pose.stack([POSES[0], POSES[-1]]), 1e-14)
    assert not np.any([outside.v_WB, outside.w_WB, outside.a_WB, outside.alpha_WB])


def test_waypoints_have_continuous_velocity_and_acceleration():
    inner = np.array(KNOTS[1:-1])
    before, after = PATHS["waypoints"].motion(inner - 1e-9), PATHS["waypoints"].motion(inner + 1e-9)
    for one, other in zip(before[1:], after[1:], strict=True):
        np.testing.assert_allclose(one, other, atol=2e-6)


def test_waypoints_turn_with_the_frame_they_are_seen_from():
    X_VW, X_BC = Pose.from_euler_deg((4, 5, 6), 30, -50, 120), Pose.from_euler_deg((0, 0, 0), 70, 10, -20)
    moved = paths.Waypoints(KNOTS, [X_VW @ pose @ X_BC for pose in POSES])
    t = np.linspace(0, 3, 20)
    assert moved.pose(t).almost_equal(X_VW @ PATHS["waypoints"].pose(t) @ X_BC, 1e-12)


def test_the_sign_of_a_quaternion_does_not_matter():
    flipped = [Pose(x.position, x.quaternion * (-1) ** k) for k, x in enumerate(POSES)]
    t = np.linspace(0, 3, 20)
    assert paths.Waypoints(KNOTS, flipped).pose(t).almost_equal(PATHS["waypoints"].pose(t), 1e-13)


def test_dense_waypoints_of_a_circle_follow_it():
    circle = paths.Circle((0, 0, 0), 5.0, 1.0)
    knots = np.linspace(0, 6, 121)
    path = paths.Waypoints(knots, circle.pose(knots))
    t = np.linspace(2, 4, 37)  # away from the ends, where the path is at rest and the circle is not
    assert path.pose(t).almost_equal(circle.pose(t), 1e-5)


@pytest.mark.parametrize(
    ("times_s", "poses", "says"),
    [
        ([0.0], POSES[:1], "times_s is"),
        ([0.0, 0.0], POSES[:2], "times_s is"),
        ([0.0, np.nan], POSES[:2], "times_s is"),
        ([0.0, 1.0], POSES[:3], "first axis must match"),
    ],
)
def test_impossible_waypoints_are_refused(times_s, poses, says):
    with pytest.raises(SpecError, match=says):
        paths.Waypoints(times_s, poses)


def test_waypoints_whose_rotation_has_no_direction_are_refused():
    # Half a turn and back, hurried after a slow start: the spline of quaternions swings past zero
    poses = Pose.from_euler_deg(yaw=[0, -180, -60, 119])
    for hurry in (0.05, 0.02, 0.01, 0.001):
        with pytest.raises(SpecError, match="poses 0 and 1 turn too far"):
            paths.Waypoints([0.0, 1.0, 1.0 + hurry, 1.0 + 2 * hurry], poses)


def test_half_a_turn_between_two_waypoints_is_not_too_far():
    path = paths.Waypoints([0.0, 1.0], Pose.from_euler_deg(yaw=[0, 180]))
    _, phi = path.pose(0.5).log()
    np.testing.assert_allclose(np.abs(phi), (0, 0, np.pi / 2), atol=1e-14)


# ---- functions


def test_function_is_called_once_for_each_different_time():
    calls = []

    def fn(t):
        calls.append(t)
        return Pose((t, 0, 0))

    path = paths.Function(fn)
    np.testing.assert_array_equal(path.pose([[2.0, 1.0], [1.0, 2.0]]).position[..., 0], [[2, 1], [1, 2]])
    assert calls == [1.0, 2.0]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: paths.Function(lambda t: (t, 0, 0)).pose(0.0), "returned a tuple"),
        (lambda: paths.Function(lambda t: Pose(np.zeros((2, 3)))).pose(0.0), r"shape \(2,\)"),
        (lambda: paths.Function(lambda t: Pose(), vectorized=True).pose([0.0, 1.0]), r"shape \(\)"),
        (lambda: paths.Function(3.0), "fn is 3.0"),
        (lambda: paths.Function(wobble, step_s=0.0), "step_s is 0.0"),
        (lambda: paths.Line((0, 0), (1, 0, 0)), "start has shape"),
        (lambda: paths.Line((0, 0, 0), (np.nan, 0, 0)), "velocity holds nan"),
        (lambda: paths.Line(np.zeros((2, 3)), np.zeros((3, 3))), "must broadcast together"),
        (lambda: paths.Circle((0, 0, 0), -1.0, 1.0), "radius is -1.0"),
        (lambda: paths.Spin((0, 0, 0), (0, 0, 0), 1.0), "axis is"),
        (lambda: paths.Spin((0, 0, 0), (0, 0, 1), "fast"), "rate is 'fast'"),
        (lambda: PATHS["line"].pose(np.inf), "t_s holds inf"),
        (lambda: paths.JointLine(velocity=np.inf), "velocity holds inf"),
        (lambda: paths.JointFunction("sin"), "fn is 'sin'"),
        (lambda: paths.JointFunction(lambda t: np.nan).motion(0.0), "fn returned holds nan"),
        (lambda: paths.JointFunction(lambda t: [0.0, 1.0]).motion(0.0), r"shape \(2,\)"),
    ],
)
def test_errors_name_the_thing_and_the_rule(make, says):
    with pytest.raises(SpecError, match=says):
        make()


# ---- joints

JOINTS = {
    "line": paths.JointLine(start=1.0, velocity=-2.0),
    "sine": paths.JointSine(amplitude=0.5, rate=3.0, offset=0.2, phase=0.7),
    "function": paths.JointFunction(lambda t: t**3 - t),
    "vectorized function": paths.JointFunction(np.cos, vectorized=True),
}


@pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS.keys())
@pytest.mark.parametrize("shape", [(), (1,), (5,)])
def test_joint_velocity_is_the_derivative_of_its_position(joint, shape):
    t = np.linspace(0.1, 2.0, max(1, int(np.prod(shape)))).reshape(shape)
    q, qd = joint.motion(t)
    assert q.shape == qd.shape == shape
    h = 1e-4
    np.testing.assert_allclose(qd, (joint.motion(t + h)[0] - joint.motion(t - h)[0]) / (2 * h), atol=1e-6)


def test_joint_closed_forms():
    assert JOINTS["line"].motion(3.0)[0] == -5.0
    assert JOINTS["sine"].motion(0.4)[0] == pytest.approx(0.2 + 0.5 * np.sin(1.9))
    assert JOINTS["function"].motion(2.0)[0] == 6.0


def test_joints_of_many_worlds():
    q, qd = paths.JointSine(amplitude=[1.0, 2.0], rate=1.0).motion([np.pi / 2, 0.0])
    np.testing.assert_allclose(q, [1.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(qd, [0.0, 2.0], atol=1e-15)
    assert paths.JointLine(start=[1.0, 2.0]).motion(0.0)[1].shape == (2,)


@pytest.mark.parametrize(("times_s", "far_m"), [([0.0, 1.0], 1e308), ([0.0, 1e-200], 1.0), ([0.0, 5e-324], 1.0)])
def test_waypoints_whose_way_is_not_finite_are_refused(times_s, far_m):
    with pytest.raises(SpecError, match="too far apart for their times; the path between them must stay finite"):
        paths.Waypoints(times_s, [Pose(), Pose((far_m, 0.0, 0.0))])
