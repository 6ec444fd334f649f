"""A MuJoCo world: against finite differences, the engine's own sensors, and the same simulation without us."""

import pickle
import sys

import mujoco
import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import MissingExtraError, SpecError, WorldError
from sensorium.core.frames import Pose
from sensorium.core.rotations import cross
from sensorium.worlds import World, check_state
from sensorium.worlds.history import History
from sensorium.worlds.point_motion import PointMotion

OPTION = '<option timestep="{timestep}" integrator="{integrator}" gravity="0.3 -0.2 -9.81"/>'

# Offsets and tilts everywhere: no origin lies on an axis or at a center of mass
PENDULUM = """
<body name="upper" pos="0 0 2">
  <joint name="shoulder" axis="0 1 0" damping="0.01"/>
  <geom type="capsule" fromto="0 0 0 0.1 0 -0.5" size="0.03"/>
  <body name="lower" pos="0.1 0.05 -0.5" quat="0.9 0.1 0.2 0.3">
    <joint name="elbow" axis="1 0.5 0.2" pos="0.02 0.01 0"/>
    <geom type="box" size="0.03 0.05 0.2" pos="0.02 0.1 -0.2"/>
    <site name="imu" pos="0.1 -0.2 -0.3" quat="1 2 3 4"/>
  </body>
</body>
"""
BRICK = """
<body name="brick" pos="3 0 3"><freejoint/><geom type="box" size="0.1 0.2 0.3" pos="0.1 0.05 0.02"/></body>
"""
FLOOR = '<geom type="plane" size="5 5 0.1"/>'
SENSORS = "".join(
    f'<{kind} name="{kind} {body}" objtype="xbody" objname="{body}"/>'
    for kind in ("framelinvel", "frameangvel", "framelinacc", "frameangacc")
    for body in ("upper", "lower", "brick")
)
INERTIAL = '<accelerometer name="accelerometer" site="imu"/><gyro name="gyro" site="imu"/>'


def xml(bodies=PENDULUM + BRICK, timestep=0.001, integrator="Euler", more=""):
    option = OPTION.format(timestep=timestep, integrator=integrator)
    return (
        f"<mujoco>{option}<worldbody>{bodies}</worldbody><sensor>{SENSORS}{INERTIAL}</sensor>{more}</mujoco>"
        if "lower" in bodies and "brick" in bodies
        else f"<mujoco>{option}<worldbody>{bodies}</worldbody>{more}</mujoco>"
    )


def thrown(world, worlds=1):
    """The world started, with everything moving."""
    world.start(worlds)
    for k, data in enumerate(world.data):
        data.qpos[:2] = (1.0 + 0.1 * k, 0.5)
        data.qvel[:] = (2.0, -3.0, 0.5, 1.0, 4.0, 5.0, -3.0, 2.0)
    return world


def states(world, steps):
    out = [world.state()]
    for _ in range(steps):
        world.step()
        out.append(world.state())
    return out


# ---- the state


def test_the_pieces_of_the_protocol():
    world: World = sn.worlds.MuJoCo(xml())
    world.start(2)
    assert world.body_names == ("upper", "lower", "brick")
    assert world.joint_names == ("shoulder", "elbow")
    assert world.step_ns == 1_000_000
    state = world.state()
    check_state(state, world.body_names, world.joint_names)
    assert state.time_ns == world.time_ns == 0
    assert state.X_WB.shape == (2, 3)
    np.testing.assert_array_equal(state.X_WB.position[:, 0], [[0, 0, 2]] * 2)
    np.testing.assert_array_equal(state.gravity_W, [0.3, -0.2, -9.81])
    world.step()
    assert world.time_ns == 1_000_000


def test_velocities_and_accelerations_are_the_derivatives_of_the_poses():
    """A double pendulum and a brick thrown spinning, integrated finely: central differences of states around each."""
    h = 1e-4
    world = thrown(sn.worlds.MuJoCo(xml(timestep=h, integrator="RK4")))
    run = states(world, 2000)
    for k in range(1, 2000, 37):
        before, now, after = run[k - 1 : k + 2]
        p = [s.X_WB.position for s in (before, now, after)]
        np.testing.assert_allclose(now.v_WB, (p[2] - p[0]) / (2 * h), atol=1e-5)
        np.testing.assert_allclose(now.a_WB, (p[2] - 2 * p[1] + p[0]) / h**2, atol=1e-4)
        np.testing.assert_allclose(now.a_WB, (after.v_WB - before.v_WB) / (2 * h), atol=1e-4)
        np.testing.assert_allclose(now.alpha_WB, (after.w_WB - before.w_WB) / (2 * h), atol=1e-3)
        for axis in np.eye(3):
            turned = (after.X_WB.rotate(axis) - before.X_WB.rotate(axis)) / (2 * h)
            np.testing.assert_allclose(cross(now.w_WB, now.X_WB.rotate(axis)), turned, atol=1e-4)
        q = [s.joint_position for s in (before, now, after)]
        np.testing.assert_allclose(now.joint_velocity, (q[2] - q[0]) / (2 * h), atol=1e-5)

    # The differences can tell: what is compared is far larger than what is allowed
    for name in ("v_WB", "w_WB", "a_WB", "alpha_WB"):
        assert np.abs(getattr(run[1000], name)).min(axis=(0, 2)).max() > 0.1


def test_the_engine_s_own_frame_sensors_agree():
    world = thrown(sn.worlds.MuJoCo(xml(FLOOR + PENDULUM + BRICK)))
    reference = mujoco.MjData(world.model)
    touched = False
    for _ in range(1200):  # the brick falls on the floor on the way
        world.step()
    for _ in range(20):
        for _ in range(20):
            world.step()
        state = world.state()
        mujoco.mj_copyState(world.model, world.data[0], reference, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_forward(world.model, reference)
        touched = touched or reference.ncon > 0
        for i, body in enumerate(world.body_names):
            allowed = 1e-12 * (1 + np.abs(state.a_WB[0, i]).max())
            for sensor, ours in (
                ("framelinvel", state.v_WB),
                ("frameangvel", state.w_WB),
                ("framelinacc", state.a_WB - state.gravity_W),  # theirs is what an accelerometer feels
                ("frameangacc", state.alpha_WB),
            ):
                theirs = reference.sensor(f"{sensor} {body}").data
                np.testing.assert_allclose(ours[0, i], theirs, rtol=1e-12, atol=allowed, err_msg=sensor)
        np.testing.assert_array_equal(state.X_WB.position[0], reference.xpos[1:])
        np.testing.assert_array_equal(state.X_WB.quaternion[0], reference.xquat[1:])
    assert touched


def test_a_point_on_a_body_feels_what_mujoco_s_accelerometer_and_gyro_feel():
    world = thrown(sn.worlds.MuJoCo(xml()))
    history = History(world.state())
    points = PointMotion(history, 1, Pose([(0.1, -0.2, -0.3)], [(1, 2, 3, 4)]))
    reference = mujoco.MjData(world.model)
    for _ in range(50):
        world.step()
        history.add(world.state())
        mujoco.mj_copyState(world.model, world.data[0], reference, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_forward(world.model, reference)
        point = points.at(world.time_ns)
        X_SW = Pose(point.position, point.quaternion).inverse()
        force = X_SW.rotate(point.acceleration - point.gravity_W)[0, 0]
        np.testing.assert_allclose(force, reference.sensor("accelerometer").data, rtol=1e-11, atol=1e-10)
        rate = X_SW.rotate(point.angular_velocity)[0, 0]
        np.testing.assert_allclose(rate, reference.sensor("gyro").data, rtol=1e-12, atol=1e-12)


def test_a_brick_thrown_spinning_falls_on_a_parabola_about_its_center_of_mass():
    world = sn.worlds.MuJoCo(xml(BRICK, timestep=1e-4, integrator="RK4"))
    world.start(1)
    world.data[0].qvel[:] = (0.5, 1.0, 4.0, 5.0, -3.0, 2.0)
    arm, g = np.array([0.1, 0.05, 0.02]), np.array([0.3, -0.2, -9.81])

    def center(state):
        r = state.X_WB.rotate(arm)[0, 0]
        w, alpha = state.w_WB[0, 0], state.alpha_WB[0, 0]
        p = state.X_WB.position[0, 0] + r
        v = state.v_WB[0, 0] + np.cross(w, r)
        return p, v, state.a_WB[0, 0] + np.cross(alpha, r) + np.cross(w, np.cross(w, r))

    p0, v0, _ = center(world.state())
    for k in range(1, 1001):
        world.step()
        if k % 100 == 0:
            p, v, a = center(world.state())
            t = k * 1e-4
            np.testing.assert_allclose(p, p0 + v0 * t + g * t**2 / 2, atol=1e-8)
            np.testing.assert_allclose(v, v0 + g * t, atol=1e-8)
            np.testing.assert_allclose(a, g, atol=1e-9)


def test_the_state_is_of_one_time_unlike_the_engine_s_arrays_after_a_step():
    world = thrown(sn.worlds.MuJoCo(xml()))
    for _ in range(10):
        world.step()
    data, state = world.data[0], world.state()
    stale = data.xpos[1:].copy()
    mujoco.mj_kinematics(world.model, data)
    np.testing.assert_array_equal(state.X_WB.position[0], data.xpos[1:])
    assert np.abs(stale - data.xpos[1:]).max() > 1e-4


def test_without_accelerations():
    full, light = (thrown(sn.worlds.MuJoCo(xml(), accelerations=on)) for on in (True, False))
    one, other = states(full, 30)[-1], states(light, 30)[-1]
    assert other.a_WB is None
    assert other.alpha_WB is None
    check_state(other, light.body_names, light.joint_names)
    assert one.X_WB == other.X_WB
    np.testing.assert_array_equal([one.v_WB, one.w_WB], [other.v_WB, other.w_WB])


def test_accelerations_asked_for_late_are_those_of_the_states_own_time():
    """Whatever happened since: steps, a reset, other controls and another gravity; the same bits as asked at once."""
    at_once, late = thrown(sn.worlds.MuJoCo(xml()), worlds=2), thrown(sn.worlds.MuJoCo(xml()), worlds=2)
    wanted, kept = [], []
    for k in range(5):
        for world in (at_once, late):
            world.step()
            world.data[1].xfrc_applied[2, 0] = 3.0 * k
        state = at_once.state()
        wanted.append((state.a_WB.copy(), state.alpha_WB.copy()))
        kept.append(late.state())
    late.reset(np.array([True, True]))
    late.model.opt.gravity[2] = 7.0
    late.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_GRAVITY
    for state, (a_WB, alpha_WB) in zip(kept, wanted, strict=True):
        assert not state.numbers.flags.writeable
        np.testing.assert_array_equal(state.a_WB, a_WB)
        np.testing.assert_array_equal(state.alpha_WB, alpha_WB)
    assert late.model.opt.gravity[2] == 7.0
    assert late.model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY


def test_a_copy_has_its_accelerations():
    state = thrown(sn.worlds.MuJoCo(xml())).state()
    copied, again = pickle.loads(pickle.dumps(state)), state.at(5)
    np.testing.assert_array_equal(copied.a_WB, state.a_WB)
    np.testing.assert_array_equal(again.a_WB, state.a_WB)
    np.testing.assert_array_equal(copied.numbers, state.numbers)


def test_the_dynamics_are_solved_again_only_for_who_asks(monkeypatch):
    asked = []
    forward = mujoco.mj_forwardSkip
    monkeypatch.setattr(mujoco, "mj_forwardSkip", lambda *args: asked.append(1) or forward(*args))
    env = sn.Environment(sn.Scene(), sn.worlds.MuJoCo(xml()))
    env.attach(sn.Imu(timing=sn.Timing(rate_hz=1000.0)), body="lower", name="imu")
    asked.clear()
    for _ in range(10):
        env.step()
    assert asked == []
    assert np.isfinite(env.state.a_WB).all()
    assert (env.state.alpha_WB is None, asked) == (False, [1])


def test_an_acceleration_that_is_not_finite_is_an_error_that_names_the_body():
    world = sn.worlds.MuJoCo(xml(BRICK))
    world.start(1)
    world.data[0].xfrc_applied[1, 2] = np.inf
    state = world.state()
    with pytest.raises(WorldError, match="acceleration of body 'brick' in world 0"):
        _ = state.a_WB


def test_gravity_switched_off():
    world = sn.worlds.MuJoCo(xml(BRICK))
    world.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_GRAVITY
    world.start(1)
    np.testing.assert_array_equal(world.state().gravity_W, np.zeros(3))
    np.testing.assert_allclose(world.state().a_WB, 0.0, atol=1e-12)


def test_gravity_is_one_array_until_it_changes():
    world = sn.worlds.MuJoCo(xml(BRICK))
    world.start(1)
    first = world.state().gravity_W
    world.step()
    assert world.state().gravity_W is first
    before = first.copy()
    world.model.opt.gravity[2] = -1.62
    np.testing.assert_array_equal(world.state().gravity_W, [*before[:2], -1.62])
    np.testing.assert_array_equal(first, before)
    world.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_GRAVITY
    np.testing.assert_array_equal(world.state().gravity_W, np.zeros(3))


# ---- not in the way


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_watched_or_not_the_simulation_has_the_same_bits(integrator):
    model = mujoco.MjModel.from_xml_string(
        xml(FLOOR + PENDULUM + BRICK, 0.002, integrator, '<actuator><motor joint="elbow"/></actuator>')
    )

    def run(watch):
        data = mujoco.MjData(model)
        data.qvel[:] = (2.0, -3.0, 0.5, 1.0, 4.0, 5.0, -3.0, 2.0)
        env = sn.Environment(sn.Scene(), sn.worlds.MuJoCo(model, data)) if watch else None
        trace = []
        for k in range(1500):
            data.ctrl[0] = np.sin(0.01 * k)
            mujoco.mj_step(model, data)
            if env is not None:
                env.observe()
            trace.append(np.concatenate([data.qpos, data.qvel, data.qacc, data.qacc_warmstart, data.sensordata]))
        return np.array(trace), env

    alone, _ = run(False)
    watched, env = run(True)
    assert alone.tobytes() == watched.tobytes()
    assert env.time_ns == 3_000_000_000
    assert np.any(alone[:, 4] < 0.5)  # the brick lay on the floor


def test_stepped_by_the_environment_it_is_a_loop_of_one_s_own():
    model = mujoco.MjModel.from_xml_string(xml(more='<actuator><motor joint="elbow"/></actuator>'))
    calls = []

    def controller(model_, data, world):
        calls.append(world)
        assert model_ is model
        data.ctrl[0] = np.sin(data.time) + world

    env = sn.Environment(sn.Scene(), sn.worlds.MuJoCo(model, controller=controller), worlds=2)
    for _ in range(100):
        env.step()
    assert calls == [0, 1] * 100
    for world in range(2):
        data = mujoco.MjData(model)
        for _ in range(100):
            controller(model, data, world)
            mujoco.mj_step(model, data)
        assert env.world.data[world].qpos.tobytes() == data.qpos.tobytes()


def test_given_data_are_used_not_copied():
    model = mujoco.MjModel.from_xml_string(xml())
    mine = [mujoco.MjData(model), mujoco.MjData(model)]
    mine[1].qpos[0] = 0.5
    mine[0].time = 7.0
    world = sn.worlds.MuJoCo(model, mine)
    world.start(2)
    assert world.data[1] is mine[1]
    assert world.time_ns == 0
    assert world.state().joint_position[:, 0].tolist() == [0.0, 0.5]
    world.step()
    assert mine[0].time == pytest.approx(7.001)
    assert world.time_ns == 1_000_000


# ---- time


def test_time_does_not_drift_though_data_time_does():
    world = sn.worlds.MuJoCo(xml(BRICK, timestep=0.001))
    world.start(1)
    data = world.data[0]
    total = 0.0
    for _ in range(1_000_000):
        total += 0.001
    data.time = total
    assert total != 1000.0
    assert round(total * 1e9) != 1_000_000_000_000
    assert world.time_ns == 1_000_000_000_000


def test_a_timestep_changed_on_the_way():
    world = sn.worlds.MuJoCo(xml(BRICK, timestep=0.001))
    world.start(1)
    for _ in range(3):
        world.step()
    world.model.opt.timestep = 0.0005
    world.step()
    assert world.time_ns == 3_500_000


def test_data_that_somebody_set_back():
    model = mujoco.MjModel.from_xml_string(xml(BRICK))
    data = mujoco.MjData(model)
    env = sn.Environment(sn.Scene(), sn.worlds.MuJoCo(model, data))
    for _ in range(10):
        mujoco.mj_step(model, data)
    env.observe()
    mujoco.mj_resetData(model, data)
    with pytest.raises(WorldError, match=r"data.time went back from 0.01\d* to 0.0 s; restart a world by Environment"):
        env.observe()
    env.reset()
    mujoco.mj_step(model, data)
    env.observe()
    assert env.time_ns == 11_000_000


@pytest.mark.parametrize("timestep", ["0.0166666666", "1e-10", "0.0041666666666667"])
def test_timesteps_that_are_no_whole_nanoseconds(timestep):
    with pytest.raises(SpecError, match=rf"timestep is {float(timestep)} s; it must be a whole number of nanoseconds"):
        sn.worlds.MuJoCo(xml(BRICK, timestep=timestep))


# ---- reset


def test_masked_worlds_begin_again_while_the_clock_goes_on():
    def controller(model, data, world):
        data.qfrc_applied[0] = np.sin(10 * data.time)

    world, fresh = (sn.worlds.MuJoCo(xml(FLOOR + PENDULUM + BRICK), controller=controller) for _ in range(2))
    for one in (world, fresh):
        one.start(3)
    begun = fresh.state()
    states(world, 700)
    before = world.state()
    world.reset(np.array([True, False, True]))
    after = world.state()
    assert after.time_ns == 700_000_000
    for k in (0, 2):
        assert after.X_WB[k] == begun.X_WB[k]
        np.testing.assert_array_equal(after.v_WB[k], begun.v_WB[k])
    assert after.X_WB[1] == before.X_WB[1]

    # From there on a fresh run, bit for bit
    later, first = states(world, 300)[-1], states(fresh, 300)[-1]
    assert later.time_ns == 1_000_000_000
    for k in (0, 2):
        assert world.data[k].qpos.tobytes() == fresh.data[k].qpos.tobytes()
        np.testing.assert_array_equal(later.a_WB[k], first.a_WB[k])
    assert world.data[1].qpos.tobytes() != fresh.data[1].qpos.tobytes()


def test_a_keyframe_to_start_from():
    key = '<keyframe><key name="home" qpos="0.3 0.6"/><key name="folded" qpos="1 2"/></keyframe>'
    world = sn.worlds.MuJoCo(xml(PENDULUM, more=key), keyframe="folded")
    world.start(2)
    assert world.state().joint_position.tolist() == [[1, 2]] * 2
    states(world, 5)
    world.reset(np.array([True, True]))
    assert world.state().joint_position.tolist() == [[1, 2]] * 2
    with pytest.raises(SpecError, match="keyframe is 'rest'; the model has home, folded"):
        sn.worlds.MuJoCo(xml(PENDULUM, more=key), keyframe="rest").start(1)


# ---- models and names


def test_what_has_no_name_is_called_after_its_number():
    bodies = """
    <body><joint/><geom size="0.1"/><body name="hand"><joint type="slide"/><geom size="0.1"/></body></body>
    <body name="body4"><joint type="ball"/><geom size="0.1"/></body>
    <body><freejoint/><geom size="0.1"/></body>
    """
    world = sn.worlds.MuJoCo(xml(bodies))
    assert world.body_names == ("body1", "hand", "body4", "body4_")
    assert world.joint_names == ("joint0", "joint1")
    world.start(1)
    check_state(world.state(), world.body_names, world.joint_names)


def test_models_from_files_text_and_objects(tmp_path):
    mjcf = tmp_path / "arm.xml"
    mjcf.write_text(xml())
    urdf = tmp_path / "arm.urdf"
    urdf.write_text(
        """<robot name="arm"><link name="base"/><link name="rod"><inertial><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint>
        </robot>"""
    )
    assert sn.worlds.MuJoCo(mjcf).body_names == sn.worlds.MuJoCo(str(mjcf)).body_names == ("upper", "lower", "brick")
    assert sn.worlds.MuJoCo(urdf).joint_names == ("hinge",)
    model = mujoco.MjModel.from_xml_string(xml())
    assert sn.worlds.MuJoCo(model).model is model


def test_a_model_without_joints_or_bodies():
    for bodies in ("", '<body name="table"><geom size="1"/></body>'):
        world = sn.worlds.MuJoCo(xml(bodies))
        world.start(2)
        world.step()
        check_state(world.state(), world.body_names, world.joint_names)


# ---- what goes wrong


@pytest.mark.parametrize(("quantity", "where"), [("qpos", "position"), ("qvel", "velocity"), ("qacc", "acceleration")])
def test_a_world_that_the_engine_starts_over_is_an_error_that_names_the_body(quantity, where, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the engine writes its log
    model = mujoco.MjModel.from_xml_string(xml(FLOOR + PENDULUM + BRICK))
    world = sn.worlds.MuJoCo(model, worlds := [mujoco.MjData(model) for _ in range(2)])
    env = sn.Environment(sn.Scene(), world, worlds=2)
    env.step()
    if quantity == "qpos":
        worlds[1].qpos[5] = 1e20
    elif quantity == "qvel":
        worlds[1].qvel[5] = np.nan
    else:
        worlds[1].qfrc_applied[5] = 1e200
    with pytest.raises(WorldError, match=f"met a joint {where} of body 'brick' in world 1 that is not finite"):
        env.step()


def test_numbers_that_the_engine_lets_pass_are_found_in_the_state(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    world = sn.worlds.MuJoCo(xml())
    world.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    env = sn.Environment(sn.Scene(), world)
    world.data[0].qvel[5] = np.nan
    with pytest.raises(WorldError, match="'brick'"):
        env.step()


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'sensorium\[mujoco\]'"):
        sn.worlds.MuJoCo(xml())


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda m: sn.worlds.MuJoCo(3), SpecError, "model is a int"),
        (lambda m: sn.worlds.MuJoCo("no/such.xml"), SpecError, "'no/such.xml'; there is no such file"),
        (
            lambda m: sn.worlds.MuJoCo("<mujoco><worldbody><bod/></worldbody></mujoco>"),
            SpecError,
            "cannot read the model",
        ),
        (lambda m: sn.worlds.MuJoCo(m, 3), SpecError, "data is a int"),
        (lambda m: sn.worlds.MuJoCo(m, []), SpecError, "data is empty"),
        (lambda m: sn.worlds.MuJoCo(m, [3]), SpecError, "data holds a int"),
        (lambda m: sn.worlds.MuJoCo(xml(BRICK), mujoco.MjData(m)), SpecError, "another model"),
        (
            lambda m: sn.worlds.MuJoCo(m, mujoco.MjData(m)).start(2),
            WorldError,
            "given for 1 worlds; 2 are to start",
        ),
        (lambda m: sn.worlds.MuJoCo(m, mujoco.MjData(m), keyframe="home"), SpecError, "keyframe is 'home' and data"),
        (lambda m: sn.worlds.MuJoCo(m, controller=3), SpecError, "controller is 3"),
        (lambda m: sn.worlds.MuJoCo(m).state(), WorldError, "not started"),
        (lambda m: sn.worlds.MuJoCo(m).step(), WorldError, "not started"),
        (lambda m: sn.worlds.MuJoCo(m).start(0), SpecError, "worlds is 0"),
        (lambda m: sn.worlds.MuJoCo(m).reset(np.array([True])), WorldError, "not started"),
    ],
)
def test_what_users_may_not_do(call, error, says):
    with pytest.raises(error, match=says):
        call(mujoco.MjModel.from_xml_string(xml()))


def test_slides_are_told_apart_from_hinges():
    """An encoder of a slide reads past 2 pi meters, one of a hinge starts again at 0."""
    model = """<mujoco><option gravity="0 0 0"/><worldbody>
        <body name="cart"><joint name="rail" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/>
        <body name="wheel"><joint name="axle" type="hinge" axis="0 1 0"/><geom size="0.1" mass="1"/></body></body>
        </worldbody></mujoco>"""
    world = sn.worlds.MuJoCo(model)
    assert (world.joint_names, world.slide_joints) == (("rail", "axle"), ("rail",))
    env = sn.Environment(sn.Scene(), world)
    rail, axle = (env.attach(sn.Encoder(), joint=name, name=name) for name in ("rail", "axle"))
    world.data[0].qpos[:] = 20.0, 20.0
    env.step()
    assert rail.read().position == pytest.approx(20.0)
    assert axle.read().position == pytest.approx(20.0 % (2 * np.pi))
