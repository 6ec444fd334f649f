"""Sensors on a moving body: against paths, against `Pose`, and the orders of the errors between states."""

import dataclasses

import numpy as np
import pytest

from sensorium.core.errors import SpecError, WorldError
from sensorium.core.frames import Pose, transport_acceleration, transport_twist
from sensorium.runtime import worker_pool
from sensorium.worlds import Kinematic, WorldState, paths
from sensorium.worlds.history import History
from sensorium.worlds.point_motion import PointMotion

MS = 1_000_000
MOUNTS = Pose([(0.3, -0.2, 0.5), (0, 0, 0), (-1, 2, 0.1)], [(1, 2, 3, 4), (1, 0, 0, 0), (0, 1, 0, 1)])


def followed(world, worlds, steps):
    """The history of a world over some steps."""
    world.start(worlds)
    history = History(world.state())
    for _ in range(steps):
        world.step()
        history.add(world.state())
    return history


def random_history(worlds, bodies, seed=0, accelerations=True, times_ns=(0, 7, 20)):
    rng = np.random.default_rng(seed)
    history = None
    for time_ns in times_ns:
        v, w, a, alpha = rng.normal(size=(4, worlds, bodies, 3))
        known = {"a_WB": a, "alpha_WB": alpha} if accelerations else {}
        X_WB = Pose(rng.normal(size=(worlds, bodies, 3)), rng.normal(size=(worlds, bodies, 4)))
        state = WorldState(time_ns, X_WB, v, w, np.zeros((worlds, 2)), np.zeros((worlds, 2)), **known)
        if history is None:
            history = History(state)
        else:
            history.add(state)
    return history


def test_a_lever_arm_on_a_circle_in_closed_form():
    """A point at the radius R + d of a circle, and one off its plane: circles themselves."""
    radius, rate, step_s = 2.0, 1.5, 0.01
    history = followed(Kinematic({"car": paths.Circle((8, 3, 1), radius, rate)}, step_s=step_s), 1, 100)

    # The body's x axis is along the velocity, so its y axis points to the center
    points = PointMotion(history, 0, Pose([(0, -0.5, 0.2), (0, 2.0, -1.0)]))
    for k in (0, 1, 37, 100):
        state = points.at(k * 10 * MS)
        angle = rate * k * step_s
        out = np.array([np.cos(angle), np.sin(angle), 0.0])
        along = np.array([-np.sin(angle), np.cos(angle), 0.0])
        far = radius + 0.5
        np.testing.assert_allclose(state.position[0, 0], np.array([8, 3, 1.2]) + far * out, atol=1e-14)
        np.testing.assert_allclose(state.velocity[0, 0], far * rate * along, atol=1e-14)
        np.testing.assert_allclose(state.acceleration[0, 0], -far * rate**2 * out, atol=1e-13)
        np.testing.assert_allclose(state.position[0, 1], (8, 3, 0), atol=1e-14)  # on the axis nothing moves
        np.testing.assert_allclose([state.velocity[0, 1], state.acceleration[0, 1]], 0.0, atol=1e-13)
        np.testing.assert_allclose(state.angular_velocity[0], [[0, 0, rate]] * 2)
        assert state.time_ns == k * 10 * MS
        assert state.gravity_W is None


@pytest.mark.parametrize("body", [0, 1, 2])
def test_at_a_state_s_own_time_it_is_the_state_with_the_mount_on_it(body):
    history = random_history(4, 3)
    history_of_states = {state.time_ns: state for state in history._states}
    points = PointMotion(history, body, MOUNTS)
    for time_ns, state in history_of_states.items():
        got = points.at(time_ns)
        X_WB = state.X_WB[:, body, None]
        X_WS = X_WB @ MOUNTS
        r = X_WB.rotate(MOUNTS.position)
        v, w, a, alpha = (x[:, body, None] for x in (state.v_WB, state.w_WB, state.a_WB, state.alpha_WB))
        np.testing.assert_allclose(got.position, X_WS.position, rtol=0, atol=4e-15)
        np.testing.assert_allclose(got.quaternion, X_WS.quaternion, rtol=0, atol=1e-15)
        np.testing.assert_allclose(got.velocity, transport_twist(v, w, r), rtol=0, atol=1e-14)
        np.testing.assert_array_equal(got.angular_velocity, np.broadcast_to(w, (4, 3, 3)))
        np.testing.assert_allclose(got.acceleration, transport_acceleration(a, alpha, w, r), rtol=0, atol=1e-13)

        # A sensor at the body's origin has the state's own bits
        np.testing.assert_array_equal(got.position[:, 1], state.X_WB.position[:, body])
        np.testing.assert_array_equal(got.quaternion[:, 1], state.X_WB.quaternion[:, body])
        np.testing.assert_array_equal(got.velocity[:, 1], state.v_WB[:, body])
        np.testing.assert_array_equal(got.acceleration[:, 1], state.a_WB[:, body])


def test_between_states_the_pose_is_the_history_s_and_the_rest_is_linear():
    history = random_history(4, 3)
    points = PointMotion(history, 1, MOUNTS)
    before, after = history._states[1:]
    got = points.at(11)
    X_WB = history.poses(np.array([11], np.int64), 1)[0][:, None]
    X_WS = X_WB @ MOUNTS
    np.testing.assert_allclose(got.position, X_WS.position, atol=1e-14)
    np.testing.assert_allclose(got.quaternion, X_WS.quaternion, atol=1e-14)
    s, r = 4 / 13, X_WB.rotate(MOUNTS.position)
    v, w, a, alpha = (
        ((1 - s) * getattr(before, name) + s * getattr(after, name))[:, 1, None]
        for name in ("v_WB", "w_WB", "a_WB", "alpha_WB")
    )
    np.testing.assert_allclose(got.velocity, transport_twist(v, w, r), atol=1e-13)
    np.testing.assert_allclose(got.angular_velocity, np.broadcast_to(w, (4, 3, 3)), atol=1e-14)
    np.testing.assert_allclose(got.acceleration, transport_acceleration(a, alpha, w, r), atol=1e-13)


def test_between_states_errors_fall_with_the_square_of_the_step():
    """A tumbling path sampled at quarter points: halving the step divides every error by four."""

    def wobble(t):
        one = np.ones_like(t)
        rho = np.stack([t, np.sin(2 * t), 0.3 * one], axis=-1)
        return Pose.exp(rho, np.stack([0.4 * np.sin(3 * t), 0.2 * t, 0.5 * np.cos(t)], axis=-1))

    path = paths.Function(wobble, vectorized=True)
    errors = []
    for step_ns, steps in ((16 * MS, 50), (8 * MS, 100), (4 * MS, 200)):
        history = followed(Kinematic({"arm": path}, step_s=step_ns / 1e9), 1, steps)
        points = PointMotion(history, 0, MOUNTS[:1])
        worst = np.zeros(4)
        for k in range(steps):
            time_ns = k * step_ns + step_ns // 4
            got, truth = points.at(time_ns), path.motion(time_ns / 1e9)
            r = truth.pose.rotate(MOUNTS.position[0])
            expected = (
                truth.pose.apply(MOUNTS.position[0]),
                transport_twist(truth.v_WB, truth.w_WB, r),
                truth.w_WB,
                transport_acceleration(truth.a_WB, truth.alpha_WB, truth.w_WB, r),
            )
            mine = (got.position, got.velocity, got.angular_velocity, got.acceleration)
            worst = np.maximum(worst, [np.abs(x[0, 0] - y).max() for x, y in zip(mine, expected, strict=True)])
        errors.append(worst)
    ratios = np.array([errors[0] / errors[1], errors[1] / errors[2]])
    np.testing.assert_allclose(ratios, 4.0, rtol=0.05)


def test_what_is_fixed_in_the_world_does_not_move():
    history = random_history(2, 1)
    points = PointMotion(history, None, MOUNTS)
    for time_ns in (0, 3, 20):
        state = points.at(time_ns)
        np.testing.assert_array_equal(state.position, np.broadcast_to(MOUNTS.position, (2, 3, 3)))
        np.testing.assert_array_equal(state.quaternion, np.broadcast_to(MOUNTS.quaternion, (2, 3, 4)))
        assert not np.any([state.velocity, state.angular_velocity, state.acceleration])


def test_accelerations_that_the_world_does_not_know_are_not_made_up():
    assert PointMotion(random_history(1, 1, accelerations=False), 0, MOUNTS).at(3).acceleration is None
    mixed = random_history(1, 1)
    mixed.add(dataclasses.replace(mixed.newest, time_ns=30, alpha_WB=None))
    points = PointMotion(mixed, 0, MOUNTS)
    assert points.at(20).acceleration is not None
    assert points.at(25).acceleration is None
    assert points.at(30).acceleration is None


def test_a_bodys_own_gravity_is_that_of_the_step_and_specific_force_goes_linearly():
    history = random_history(2, 3)
    rng = np.random.default_rng(5)
    own_W = rng.normal(size=(2, 2, 3, 3))
    states = [dataclasses.replace(history.newest, time_ns=30 + 10 * k, gravity_W=own_W[k]) for k in range(2)]
    for k, state in enumerate(states):
        states[k] = dataclasses.replace(
            state, a_WB=rng.normal(size=(2, 3, 3)), w_WB=0 * state.w_WB, alpha_WB=0 * state.w_WB
        )
        history.add(states[k])
    points = PointMotion(history, 1, MOUNTS)
    for time_ns, share in ((33, 0.3), (37, 0.7), (40, 1.0)):
        now = points.at(time_ns)
        np.testing.assert_array_equal(now.gravity_W, own_W[1][:, 1, None])
        first, last = (state.a_WB[:, 1] - state.gravity_W[:, 1] for state in states)
        felt = (now.acceleration - now.gravity_W)[:, 0]
        np.testing.assert_allclose(felt, (1 - share) * first + share * last, atol=1e-14)
    assert PointMotion(history, None, MOUNTS).at(35).gravity_W is None


def test_differences_of_velocities_and_their_rests_lose_nothing_at_great_speed():
    """The same motion seen by somebody who flies past at 8 km/s."""
    past = np.array([5000.0, -6000.0, 1000.0])
    changes = []
    for own in (0.0, past):
        history = None
        for state in random_history(1, 1)._states:
            # Rounded alike for both: what is lost between the states is to be seen, not at them
            seen = dataclasses.replace(state, v_WB=(state.v_WB + past) - (past - own))
            history = History(seen) if history is None else history.add(seen) or history
        points = PointMotion(history, 0, MOUNTS)
        v0, rest0 = points.at(7).velocity.copy(), points.at(7).velocity_rest.copy()
        now = points.at(8)
        changes.append((now.velocity - v0, now.velocity_rest - rest0))
    (slow, _), (fast, rest) = changes
    np.testing.assert_allclose(fast + rest, slow, atol=1e-15)
    assert np.abs(fast - slow).max() > 1e-13


def test_gravity_is_that_of_the_state_before():
    history = random_history(1, 1)
    history.add(dataclasses.replace(history.newest, time_ns=30, gravity_W=np.array([0, 0, -9.8])))
    history.add(dataclasses.replace(history.newest, time_ns=40, gravity_W=np.array([0, 0, -1.6])))
    for body in (0, None):
        points = PointMotion(history, body, MOUNTS)
        assert points.at(25).gravity_W is None
        assert [points.at(t).gravity_W[2] for t in (30, 39, 40)] == [-9.8, -9.8, -1.6]


def test_many_worlds_are_many_single_ones_on_any_number_of_threads():
    worlds = 3000  # enough that several threads share the work
    history = random_history(worlds, 2)
    points = PointMotion(history, 1, MOUNTS)
    for time_ns in (7, 12):
        answers = []
        for count in (1, 2):
            worker_pool.set_threads(count)
            many = points.at(time_ns)
            answers.append(b"".join(x.tobytes() for x in (many.position, many.quaternion, many.acceleration)))
        assert answers[0] == answers[1]
        for world in (0, 1, 511, 2999):
            pick = slice(world, world + 1)
            alone = [
                dataclasses.replace(
                    state,
                    X_WB=state.X_WB[pick],
                    joint_position=state.joint_position[pick],
                    joint_velocity=state.joint_velocity[pick],
                    **{name: getattr(state, name)[pick] for name in ("v_WB", "w_WB", "a_WB", "alpha_WB")},
                )
                for state in history._states
            ]
            single = History(alone[0])
            for one in alone[1:]:
                single.add(one)
            lonely = PointMotion(single, 1, MOUNTS).at(time_ns)
            for name in ("position", "quaternion", "velocity", "angular_velocity", "acceleration"):
                assert getattr(lonely, name)[0].tobytes() == getattr(many, name)[world].tobytes()


def test_after_a_restart_it_is_the_new_motion():
    world = Kinematic({"car": paths.Line((0, 0, 0), (10, 0, 0))})
    history = followed(world, 2, 5)
    points = PointMotion(history, 0, MOUNTS[1:2])
    mask = np.array([False, True])
    world.reset(mask)
    history.restart(mask, world.state())
    assert points.at(50 * MS).position[:, 0, 0].tolist() == [0.5, 0.0]
    assert points.at(50 * MS).velocity[:, 0, 0].tolist() == [10.0, 10.0]

    # Before the restart it stood where it then began
    early = points.at(20 * MS)
    assert early.position[:, 0, 0].tolist() == [0.2, 0.0]
    assert early.velocity[:, 0, 0].tolist() == [10.0, 0.0]
    world.step()
    history.add(world.state())
    assert points.at(55 * MS).position[:, 0, 0] == pytest.approx([0.55, 0.05])


def test_the_answer_is_one_object_whose_arrays_the_next_call_fills():
    points = PointMotion(random_history(1, 1), 0, MOUNTS)
    first = points.at(0)
    assert points.at(20) is first


def test_what_users_may_not_do():
    history = random_history(1, 2)
    with pytest.raises(SpecError, match=r"X_BS has shape \(\)"):
        PointMotion(history, 0, Pose())
    for body in (2, -1):
        with pytest.raises(SpecError, match=f"body is {body}; it must be None or an index below 2"):
            PointMotion(history, body, MOUNTS)
    for body in (0, None):
        points = PointMotion(history, body, MOUNTS)
        for time_ns in (-1, 21):
            with pytest.raises(WorldError, match=rf"state at {time_ns} ns is asked for; the history has 0 to 20 ns"):
                points.at(time_ns)
