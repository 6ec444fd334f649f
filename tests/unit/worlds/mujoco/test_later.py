"""States of MuJoCo that are worked out when somebody asks: the same bytes as at once, and errors where they belong."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import mujoco
import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import WorldError
from sensorium.worlds import check_state
from sensorium.worlds.mujoco.later import is_moderate
from sensorium.worlds.mujoco.world import _Clock

MODEL = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="5 5 1"/>
  <body name="cart" pos="0 0 1"><freejoint/><geom type="box" size=".2 .1 .1"/>
    <body name="arm" pos="0 .1 0"><joint name="hinge" axis="1 0 0"/><geom type="capsule" size=".02 .2" pos="0 0 .2"/>
      <body name="hand" pos="0 0 .4"><joint type="ball"/><geom size=".05" pos=".1 0 0"/></body></body></body>
  <body name="puppet" mocap="true"><geom size=".1" contype="0" conaffinity="0"/></body>
  </worldbody></mujoco>"""
QUANTITIES = ("time_ns", "numbers", "v_WB", "w_WB", "a_WB", "alpha_WB", "joint_position", "joint_velocity", "gravity_W")


def started(accelerations=True, worlds=1):
    world = sn.worlds.MuJoCo(MODEL, accelerations=accelerations)
    world.start(worlds)
    for number, data in enumerate(world.data):
        data.qvel[:] = np.random.default_rng(number).normal(size=world.model.nv)
    return world


@pytest.mark.parametrize("accelerations", [True, False])
@pytest.mark.parametrize("worlds", [1, 3])
def test_a_state_asked_for_later_is_the_state_of_its_time(accelerations, worlds):
    """Long after, with the simulation elsewhere, every number is as if it had been worked out at once."""
    world, kept = started(accelerations, worlds), []
    for step in range(20):
        for data in world.data:
            data.mocap_pos[0] = (0.1 * step, 0.0, 1.0)
        world.step()
        kept.append((world.later_state(), world.state()))
    for later, at_once in reversed(kept):
        for name in QUANTITIES:
            a, b = getattr(later, name), getattr(at_once, name)
            assert (a is None) == (b is None)
            assert a is None or np.asarray(a).tobytes() == np.asarray(b).tobytes()
        assert later.X_WB.quaternion.tobytes() == at_once.X_WB.quaternion.tobytes()
        assert later.finite
        assert later.address == later.numbers.ctypes.data


def test_without_sensors_nothing_is_worked_out_and_with_them_all_is(monkeypatch):
    asked, kinematics = [], mujoco.mj_kinematics
    monkeypatch.setattr(mujoco, "mj_kinematics", lambda *args: asked.append(1) or kinematics(*args))
    world = sn.worlds.MuJoCo(MODEL)
    env = sn.Environment(sn.Scene(), world)
    asked.clear()
    for _ in range(5):
        env.step()
    assert asked == []
    assert env.state.X_WB.position[0, 0, 2] < 1.0
    assert asked == [1]
    env.step()
    env.attach(sn.Encoder(timing=sn.Timing(rate_hz=500.0), min=-10.0, max=10.0), joint="hinge")
    assert asked == [1, 1]  # from here on states are read
    env.step()
    assert asked == [1, 1, 1]


def test_sensors_attached_later_read_what_others_read():
    readings = []
    for early in (True, False):
        env = sn.Environment(sn.Scene(), sn.worlds.MuJoCo(MODEL))
        env.world.data[0].qvel[:] = 1.0
        if early:
            env.attach(sn.Gyroscope(), body="hand", name="other")
        for _ in range(10):
            env.step()
        imu = env.attach(sn.Imu(timing=sn.Timing(rate_hz=500.0)), body="hand")
        for _ in range(10):
            env.step()
        readings.append(imu.read())
    assert readings[0].acceleration.tobytes() == readings[1].acceleration.tobytes()


def test_copies_have_all_their_numbers():
    world = started()
    world.step()
    later = world.later_state()
    copied, again, at_once = pickle.loads(pickle.dumps(later)), later.at(5), world.state()
    assert copied.a_WB.tobytes() == again.a_WB.tobytes() == at_once.a_WB.tobytes()
    assert copied.numbers.tobytes() == again.numbers.tobytes() == at_once.numbers.tobytes()


def test_threads_may_ask_at_once():
    world, kept = started(), []
    for _ in range(40):
        world.step()
        kept.append((world.later_state(), world.state().numbers.tobytes()))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda pair: pair[0].numbers.tobytes() == pair[1], kept))
    assert all(found)


@pytest.mark.parametrize("way", ["state", "later_state"])
def test_what_is_not_finite_is_refused_by_the_check_of_each_step(way):
    world = started()

    def check():
        check_state(getattr(world, way)(), world.body_names, world.joint_names)

    world.model.opt.gravity[0] = np.inf
    with pytest.raises(WorldError, match="gravity_W of 'the world' is inf"):
        check()
    world.model.opt.gravity[0] = 0.0
    check()
    world.data[0].qpos[7] = np.nan
    with pytest.raises(WorldError, match="'arm' in world 0 is nan"):
        check()
    world.data[0].qpos[7] = 0.0
    world.data[0].qpos[0] = 1e200
    check()  # far away, but a place
    world.data[0].ctrl[:] = np.nan
    check()  # no pose depends on it


def test_a_model_that_is_not_finite_is_told_by_its_numbers():
    world = started()
    later = world.later_state()
    world.model.body_pos[3, 0] = np.nan
    assert np.isnan(later.X_WB.position[0, 2, 0])
    assert not later.finite
    with pytest.raises(WorldError, match="position of 'hand' in world 0 is nan"):
        check_state(world.state(), world.body_names, world.joint_names)


def test_moderate_numbers():
    kept = np.random.default_rng(0).normal(size=(3, 17))
    assert is_moderate(kept)
    for bad in (np.nan, np.inf, -np.inf, 1e31, -1e300):
        broken = kept.copy()
        broken[1, 5] = bad
        assert not is_moderate(broken)


@pytest.mark.parametrize("timestep_s", [0.002, 0.001, 1 / 3e2, 0.0005, 1e-5])
def test_the_clock_counts_steps_one_by_one_as_all_at_once(timestep_s):
    """Step by step, with jumps of several steps and of none, against one look at the end from the beginning."""
    step_ns, rng = round(timestep_s * 1e9), np.random.default_rng(1)
    clock, time_s = _Clock(timestep_s, step_ns, 0.0), 0.0
    for _ in range(3000):
        for _ in range(rng.integers(0, 4)):
            time_s += timestep_s
        if rng.random() < 0.01:
            time_s += rng.random() * 1e-3  # not on a step
        fresh = _Clock(timestep_s, step_ns, 0.0)
        assert clock.now_ns(time_s) == fresh.now_ns(time_s)


def test_a_world_whose_state_was_replaced_is_asked_for_that():
    class Shifted(sn.worlds.MuJoCo):
        def state(self):
            return super().state().at(super().state().time_ns + 7)

    class Wrapped:
        def __init__(self, world):
            self._world = world

        def __getattr__(self, name):
            return getattr(self._world, name)

        def state(self):
            return self._world.state().at(self._world.state().time_ns + 7)

    replaced = sn.worlds.MuJoCo(MODEL)
    replaced.state = lambda: type(replaced).state(replaced).at(type(replaced).state(replaced).time_ns + 7)
    for world in (Shifted(MODEL), Wrapped(sn.worlds.MuJoCo(MODEL)), replaced):
        env = sn.Environment(sn.Scene(), world)
        env.step()
        assert env.time_ns == 2_000_007
