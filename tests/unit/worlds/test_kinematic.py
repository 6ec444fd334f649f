"""A world on paths: the state is the path's, and a masked reset restarts paths, not time."""

import copy
import pickle

import numpy as np
import pytest

from sensorium.core.errors import SpecError, WorldError
from sensorium.core.frames import Pose
from sensorium.runtime.worker_pool import set_threads
from sensorium.worlds import Kinematic, World, check_state, paths

BODIES = {
    "car": paths.Line((0, 0, 0), (10, 0, 0)),
    "ball": paths.Circle((8, 3, 1), 1.0, 1.0),
    "top": paths.Spin((0, 0, 1), (0, 0, 1), 5.0),
}
JOINTS = {"hinge": paths.JointSine(0.5, 2.0), "wheel": paths.JointLine(0.0, 3.0)}


def started(worlds, bodies=BODIES, joints=JOINTS, step_s=0.01):
    world = Kinematic(bodies, joints, step_s=step_s)
    world.start(worlds)
    return world


def test_state_is_that_of_the_paths():
    world: World = started(2, step_s=0.25)
    for _ in range(5):
        world.step()
    state = world.state()
    check_state(state, world.body_names, world.joint_names)
    assert world.body_names == tuple(BODIES)
    assert world.joint_names == tuple(JOINTS)
    assert state.time_ns == world.time_ns == 1_250_000_000
    for i, path in enumerate(BODIES.values()):
        motion = path.motion(1.25)
        for k in range(2):
            assert state.X_WB[k, i] == motion.pose
            np.testing.assert_array_equal(state.v_WB[k, i], motion.v_WB)
            np.testing.assert_array_equal(state.w_WB[k, i], motion.w_WB)
            np.testing.assert_array_equal(state.a_WB[k, i], motion.a_WB)
            np.testing.assert_array_equal(state.alpha_WB[k, i], motion.alpha_WB)
    for i, joint in enumerate(JOINTS.values()):
        assert (state.joint_position[1, i], state.joint_velocity[1, i]) == joint.motion(1.25)
    assert state.gravity_W is None


def test_time_does_not_drift():
    world = started(1, {"car": paths.Line((0, 0, 0), (1, 0, 0))}, None, step_s=0.1)
    for _ in range(36_000):
        world.step()
    assert world.state().X_WB.position[0, 0, 0] == 3600.0


def test_masked_worlds_restart_their_paths_while_the_clock_goes_on():
    world, fresh = started(3), started(3)
    for _ in range(7):
        world.step()
    world.reset(np.array([False, True, False]))

    # At the reset: the masked world is at its path's t = 0, the others and the time are as they were
    state = world.state()
    assert state.time_ns == 70_000_000
    assert state.X_WB[1] == fresh.state().X_WB[1]
    np.testing.assert_array_equal(state.joint_position[1], fresh.state().joint_position[1])
    assert state.X_WB.position[:, 0, 0] == pytest.approx([0.7, 0.0, 0.7])

    # Later: it runs as a fresh world does, the others go on
    for _ in range(5):
        world.step()
        fresh.step()
    state = world.state()
    assert state.time_ns == 120_000_000
    assert state.X_WB[1] == fresh.state().X_WB[1]
    np.testing.assert_array_equal(state.a_WB[1], fresh.state().a_WB[1])
    np.testing.assert_array_equal(state.joint_velocity[1], fresh.state().joint_velocity[1])
    assert state.X_WB.position[:, 0, 0] == pytest.approx([1.2, 0.5, 1.2])


def test_an_empty_mask_changes_nothing():
    world = started(2)
    world.step()
    before = world.state()
    world.reset(np.zeros(2, dtype=bool))
    assert world.state().X_WB == before.X_WB


def test_eight_worlds_equal_eight_single_worlds_bit_for_bit():
    speeds = np.linspace(0.5, 4.0, 8)
    many = started(8, {"ball": paths.Circle((0, 0, 0), 1.0, speeds)}, None)
    singles = [started(1, {"ball": paths.Circle((0, 0, 0), 1.0, speed)}, None) for speed in speeds]
    for world in (many, *singles):
        for _ in range(13):
            world.step()
    for k, single in enumerate(singles):
        assert many.state().X_WB[k] == single.state().X_WB[0]
        np.testing.assert_array_equal(many.state().v_WB[k], single.state().v_WB[0])


def test_state_is_worked_out_once_a_step_and_cannot_be_written():
    calls = []
    world = started(1, {"arm": paths.Function(lambda t: calls.append(t) or Pose((t, 0, 0)))}, None)
    world.step()
    calls.clear()
    assert world.state() is world.state()
    assert len(calls) == 5  # the pose, and four around it for its derivatives
    with pytest.raises(ValueError, match="read-only"):
        world.state().v_WB[...] = 1.0


def test_start_begins_again_at_time_zero():
    world = started(2)
    world.step()
    world.start(4)
    assert world.time_ns == 0
    assert world.state().X_WB.shape == (4, 3)
    assert world.state().X_WB[3] == started(1).state().X_WB[0]


def test_closed_and_other_paths_side_by_side_are_each_their_own():
    rng = np.random.default_rng(3)
    kinds = [
        lambda: paths.Fixed(Pose(rng.normal(size=(5, 3)), rng.normal(size=(5, 4)))),
        lambda: paths.Line(rng.normal(size=3), rng.normal(size=(5, 3)), quaternion=rng.normal(size=4)),
        lambda: paths.Circle(
            rng.normal(size=3), 2.0, rng.normal(size=5), phase=rng.normal(), heading=rng.random() < 0.5
        ),
        lambda: paths.Spin(rng.normal(size=3), rng.normal(size=3), rng.normal()),
        lambda: paths.Waypoints([0, 1, 2], Pose(rng.normal(size=(3, 3)))),
        lambda: paths.Function(lambda t: Pose((np.cos(t), t, 0))),
    ]
    joint_kinds = [
        lambda: paths.JointSine(rng.normal(size=5), rng.normal(), offset=rng.normal()),
        lambda: paths.JointLine(rng.normal(), rng.normal(size=5)),
        lambda: paths.JointFunction(lambda t: t * t),
    ]
    bodies = {f"body{i}": kinds[rng.integers(6)]() for i in range(40)}
    joints = {f"joint{i}": joint_kinds[rng.integers(3)]() for i in range(12)}
    world = started(5, bodies, joints)
    for k in range(6):
        world.step()
        if k == 2:
            world.reset(np.array([False, True, True, False, False]))
    state, t_s = world.state(), np.array([0.06, 0.03, 0.03, 0.06, 0.06])
    check_state(state, world.body_names, world.joint_names)
    for i, path in enumerate(bodies.values()):
        motion = path.motion(t_s)
        assert state.X_WB[:, i] == motion.pose
        for name in ("v_WB", "w_WB", "a_WB", "alpha_WB"):
            np.testing.assert_array_equal(getattr(state, name)[:, i], getattr(motion, name))
    for i, joint in enumerate(joints.values()):
        position, velocity = joint.motion(t_s)
        np.testing.assert_array_equal(state.joint_position[:, i], position)
        np.testing.assert_array_equal(state.joint_velocity[:, i], velocity)


def test_a_subclass_s_own_motion_is_used():
    class Late(paths.Circle):
        def motion(self, t_s):
            return super().motion(np.asarray(t_s) - 1.0)

    world = started(1, {"ball": Late((0, 0, 0), 1.0, 1.0)}, None)
    assert world.state().X_WB[0, 0] == paths.Circle((0, 0, 0), 1.0, 1.0).pose(-1.0)


def test_a_path_may_keep_the_times_it_is_asked_for():
    asked = []

    class Remembering(paths.Circle):
        def motion(self, t_s):
            asked.append(t_s)
            return super().motion(t_s)

    world = started(2, {"ball": Remembering((0, 0, 0), 1.0, 1.0)}, None, step_s=0.5)
    world.step()
    world.state()
    world.reset(np.array([False, True]))
    world.step()
    world.state()
    assert [t_s.tolist() for t_s in asked] == [[0.0, 0.0], [0.5, 0.5], [1.0, 0.5]]


def test_a_state_once_handed_out_does_not_change():
    world = started(3)
    first = world.state()
    kept = first.numbers.copy()
    for _ in range(3):
        world.step()
        world.state()
    world.reset(np.ones(3, dtype=bool))
    world.state()
    np.testing.assert_array_equal(first.numbers, kept)
    assert first.time_ns == 0


@pytest.mark.parametrize("part", [lambda state: state, lambda state: state.X_WB, lambda state: state.X_WB.position[1:]])
def test_numbers_of_states_are_used_again_only_when_nobody_has_any(part):
    """More states than are kept for that, of which every third stays with the user: the world keeps four, and hands
    out each of them until the user keeps it. What it makes after that is new, at addresses that are the system's."""
    world = started(3, step_s=0.1)
    kept, addresses = [], []
    for number in range(30):
        world.step()
        state = world.state()
        addresses.append(state.numbers.ctypes.data)
        if number % 3 == 0:
            kept.append((state.time_ns, part(state)))
        del state
    first, *others = addresses[0], addresses[1:4], addresses[4:7], addresses[7:10]
    assert [len(set(one)) for one in others] == [1, 1, 1]
    assert len({first, *(one[0] for one in others)}) == 4
    assert len(set(addresses[::3])) == 10
    for time_ns, one in kept:
        position = one if isinstance(one, np.ndarray) else one.position if isinstance(one, Pose) else one.X_WB.position
        np.testing.assert_allclose(position[-1, 0, 0], 10.0 * time_ns / 1e9)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda world: pickle.loads(pickle.dumps(world))])
def test_a_copy_goes_its_own_way(copied):
    world = started(2, step_s=0.1)
    world.step(), world.state()
    other = copied(world)
    other.step(), other.step()
    assert other.state().X_WB.position[:, 0, 0].tolist() == pytest.approx([3.0, 3.0])
    assert world.state().X_WB.position[:, 0, 0].tolist() == pytest.approx([1.0, 1.0])
    world.step()
    assert world.state().X_WB.position[:, 0, 0].tolist() == pytest.approx([2.0, 2.0])


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_no_byte(threads):
    rates = np.linspace(0.1, 2.0, 5000)  # enough worlds that several threads share the work
    set_threads(threads)
    world = started(5000, {"ball": paths.Circle((0, 0, 0), 1.0, rates)}, {"hinge": paths.JointSine(0.5, rates)})
    world.step()
    motion = paths.Circle((0, 0, 0), 1.0, rates).motion(0.01)
    assert world.state().X_WB[:, 0] == motion.pose
    np.testing.assert_array_equal(world.state().a_WB[:, 0], motion.a_WB)
    np.testing.assert_array_equal(world.state().joint_position[:, 0], paths.JointSine(0.5, rates).motion(0.01)[0])


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: Kinematic(BODIES).state(), WorldError, "not started"),
        (lambda: Kinematic(BODIES).step(), WorldError, "not started"),
        (lambda: Kinematic({"car": Pose()}), SpecError, "body 'car' follows"),
        (lambda: Kinematic({}, {"hinge": BODIES["car"]}), SpecError, "joint 'hinge' follows"),
        (lambda: Kinematic({"": BODIES["car"]}), SpecError, "a body is named ''"),
        (lambda: Kinematic(BODIES, step_s=-1.0), SpecError, "step_s is -1.0"),
        (lambda: started(0), SpecError, "worlds is 0"),
        (lambda: started(2).reset(np.array([1, 0])), SpecError, "mask is int64"),
        (
            lambda: started(2, {"car": paths.Line(np.zeros((3, 3)), (1, 0, 0))}),
            WorldError,
            r"path of body 'car' has shape \(3,\); it must be \(\) or \(2,\)",
        ),
        (
            lambda: started(2, {"car": paths.Function(lambda t: Pose(), vectorized=True)}),
            WorldError,
            "path of body 'car' fails for 2 worlds",
        ),
        (lambda: started(1, {}, {"j": paths.JointLine([0.0, 1.0])}), WorldError, "of joint 'j' has shape"),
    ],
)
def test_what_users_may_not_do(call, error, says):
    with pytest.raises(error, match=says):
        call()
