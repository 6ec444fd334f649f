"""A Basilisk world: its messages in our conventions, and the same simulation without us."""

import sys

import numpy as np
import pytest
from Basilisk.architecture import messaging
from Basilisk.simulation import (
    extForceTorque,
    hingedRigidBodyStateEffector,
    reactionWheelStateEffector,
    spacecraft,
)
from Basilisk.utilities import RigidBodyKinematics, SimulationBaseClass, simIncludeGravBody, simIncludeRW

import sensorium as sn
from sensorium.core.errors import MissingExtraError, SpecError, WorldError
from sensorium.core.rotations import multiply, quaternion_log, rotation_from_quaternion
from sensorium.worlds import World, check_state
from sensorium.worlds.basilisk.messages import Messages, quaternion_of_mrp

PERIOD_NS = 10_000_000


def column(*values):
    return [[value] for value in values]


class Flight:
    """A tumbling, pushed spacecraft in orbit, with what hangs on it kept alive."""

    def __init__(self, *, period_ns=PERIOD_NS, omega=(0.05, -0.3, 0.2), wheel=False, panel=False):
        self.sim = SimulationBaseClass.SimBaseClass()
        process = self.sim.CreateNewProcess("dynamics")
        process.addTask(self.sim.CreateNewTask("task", period_ns))
        self.sat = sat = spacecraft.Spacecraft()
        sat.ModelTag = "sat"
        sat.hub.mHub = 750.0
        sat.hub.r_BcB_B = column(0.1, 0.0, 0.05)
        sat.hub.IHubPntBc_B = [[900.0, 0.0, 0.0], [0.0, 800.0, 0.0], [0.0, 0.0, 600.0]]
        sat.hub.r_CN_NInit, sat.hub.v_CN_NInit = column(7e6, 0.0, 0.0), column(0.0, 5e3, 5.6e3)
        sat.hub.sigma_BNInit, sat.hub.omega_BN_BInit = column(0.1, 0.2, -0.3), column(*omega)
        self.gravity = simIncludeGravBody.gravBodyFactory()
        self.gravity.createEarth().isCentralBody = True
        self.gravity.addBodiesTo(sat)
        self.push = extForceTorque.ExtForceTorque()
        self.push.extForce_B, self.push.extTorquePntB_B = column(10.0, -20.0, 30.0), column(5.0, -5.0, 3.0)
        sat.addDynamicEffector(self.push)
        if wheel:
            factory = simIncludeRW.rwFactory()
            factory.create("Honeywell_HR16", [1, 0, 0], maxMomentum=50.0, Omega=100.0)
            self.wheels = reactionWheelStateEffector.ReactionWheelStateEffector()
            factory.addToSpacecraft("wheels", self.wheels, sat)
            torque = messaging.ArrayMotorTorqueMsgPayload()
            torque.motorTorque = [0.1] + [0.0] * 35
            self.command = messaging.ArrayMotorTorqueMsg().write(torque)
            self.wheels.rwMotorCmdInMsg.subscribeTo(self.command)
            self.sim.AddModelToTask("task", self.wheels, 10)
            self.factory = factory
        if panel:
            self.panel = hingedRigidBodyStateEffector.HingedRigidBodyStateEffector()
            self.panel.mass, self.panel.d, self.panel.k, self.panel.c = 20.0, 1.0, 50.0, 0.0
            self.panel.IPntS_S = [[10.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 5.0]]
            self.panel.r_HB_B, self.panel.dcm_HB = column(0.5, 0.0, 1.0), [[-1, 0, 0], [0, -1, 0], [0, 0, 1]]
            self.panel.thetaInit, self.panel.thetaDotInit = 0.1, -0.02
            sat.addStateEffector(self.panel)
            self.sim.AddModelToTask("task", self.panel, 5)
        self.sim.AddModelToTask("task", self.push, 2)
        self.sim.AddModelToTask("task", sat, 1)

    @property
    def bodies(self):
        return {"sat": self.sat.scStateOutMsg}

    def world(self, **options):
        world = sn.worlds.Basilisk(self.sim, self.bodies, **options)
        world.flight = self  # Basilisk does not keep alive what a simulation is made of
        return world

    def run_until(self, time_ns):
        self.sim.ConfigureStopTime(time_ns)
        self.sim.ExecuteSimulation()


def test_the_pieces_of_the_protocol():
    world: World = Flight().world()
    with pytest.raises(WorldError, match="was not started"):
        world.state()
    world.start(1)
    assert (world.body_names, world.joint_names, world.step_ns, world.time_ns) == (("sat",), (), PERIOD_NS, 0)
    for step in range(4):
        state = world.state()
        check_state(state, world.body_names, world.joint_names)
        assert state.time_ns == world.time_ns == step * PERIOD_NS
        assert state.gravity_W.shape == (1, 1, 3)
        world.step()


def test_attitude_and_rate_are_basilisks_own_seen_from_the_world():
    flight = Flight()
    world = flight.world()
    world.start(1)
    states = []
    for _ in range(200):
        message, state = flight.sat.scStateOutMsg.read(), world.state()
        R_WB = rotation_from_quaternion(state.X_WB.quaternion[0, 0])
        np.testing.assert_allclose(R_WB, np.array(RigidBodyKinematics.MRP2C(message.sigma_BN)).T, atol=1e-14)
        np.testing.assert_allclose(state.w_WB[0, 0], R_WB @ message.omega_BN_B, atol=1e-15)
        np.testing.assert_array_equal(state.X_WB.position[0, 0], message.r_BN_N)
        np.testing.assert_array_equal(state.v_WB[0, 0], message.v_BN_N)
        states.append(state)
        world.step()

    # The bodies move as their velocities say: slopes over two steps, off by h^2 / 6 of the third derivative
    two_steps_s = 2e-9 * PERIOD_NS
    for before, now, after in zip(states, states[1:], states[2:], strict=False):
        turn = multiply(after.X_WB.quaternion, before.X_WB.quaternion * np.array([1, -1, -1, -1]))
        np.testing.assert_allclose(quaternion_log(turn) / two_steps_s, now.w_WB, atol=2e-6)
        slope = (after.v_WB - before.v_WB) / two_steps_s
        # Basilisk's accelerations are means over the step before
        np.testing.assert_allclose(slope, now.a_WB, atol=4e-4)
        np.testing.assert_allclose((after.w_WB - before.w_WB) / two_steps_s, now.alpha_WB, atol=4e-4)


def test_parameters_at_half_a_turn_and_of_the_shadow_set_are_one_attitude():
    sigma = np.array([[0.6, -0.8, 0.0], [0.1, 0.2, 0.3], [0.0, 0.0, 0.0]])
    quaternion = quaternion_of_mrp(sigma)
    np.testing.assert_allclose(quaternion[0], [0.0, 0.6, -0.8, 0.0], atol=1e-16)
    np.testing.assert_array_equal(quaternion[2], [1, 0, 0, 0])
    shadow = -sigma[1] / np.square(sigma[1]).sum()
    np.testing.assert_allclose(quaternion_of_mrp(shadow), -quaternion[1], atol=1e-15)


def test_gravity_is_that_on_the_spacecraft_over_the_step():
    flight = Flight()
    world = flight.world(step_s=0.1)
    flight.sat.nonConservativeAccelpntB_B = column(np.nan, 1e300, 5.0)  # memory as it may be before the first step
    world.start(1)
    assert np.isnan(flight.sat.scStateOutMsg.read().nonConservativeAccelpntB_B[0])
    assert not world.state().gravity_W.any()
    assert not world.state().a_WB.any()
    before = np.array(flight.sat.scStateOutMsg.read().r_CN_N)
    mu = flight.gravity.gravBodies["earth"].mu
    for _ in range(20):
        world.step()
        now = np.array(flight.sat.scStateOutMsg.read().r_CN_N)
        ends = [-mu * r / np.linalg.norm(r) ** 3 for r in (before, now)]
        # The mean of the ends is off by g (n h)^2 / 12; rounding of 7.5 km/s over 0.1 s is more: 1e-11
        np.testing.assert_allclose(world.state().gravity_W[0, 0], np.mean(ends, axis=0), atol=5e-8)
        before = now


def test_watching_sees_what_stepping_sees_and_changes_nothing():
    stepped, watched, alone = Flight(), Flight(), Flight()
    one, other = (sn.Environment(sn.Scene(), flight.world()) for flight in (stepped, watched))
    alone.sim.InitializeSimulation()
    for step in range(1, 30):
        one.step()
        watched.run_until(step * PERIOD_NS)
        other.observe()
        assert other.time_ns == step * PERIOD_NS
        np.testing.assert_array_equal(one.state.numbers, other.state.numbers)
        np.testing.assert_array_equal(one.state.gravity_W, other.state.gravity_W)
    alone.run_until(29 * PERIOD_NS)
    assert alone.sat.scStateOutMsg.read().r_BN_N == stepped.sat.scStateOutMsg.read().r_BN_N
    assert alone.sat.scStateOutMsg.read().sigma_BN == stepped.sat.scStateOutMsg.read().sigma_BN


def test_a_simulation_under_way_starts_at_zero():
    flight = Flight()
    flight.sim.InitializeSimulation()
    flight.run_until(50 * PERIOD_NS)
    world = flight.world(step_s=0.02)
    world.start(1)
    assert world.time_ns == 0
    world.step()
    assert world.time_ns == 20_000_000
    assert flight.sim.TotalSim.CurrentNanos == 520_000_000
    with pytest.raises(WorldError, match="was at 500000000 ns when it started; Basilisk can go back to 0 ns only"):
        world.reset(np.array([True]))


def test_wheels_and_hinges_are_joints():
    flight = Flight(wheel=True, panel=True)
    joints = {"wheel": (flight.wheels.rwSpeedOutMsg, 0), "panel": flight.panel.hingedRigidBodyOutMsg}
    world = flight.world(joints=joints)
    env = sn.Environment(sn.Scene(), world)
    encoder = env.attach(sn.Encoder(timing=sn.Timing(rate_hz=100.0)), joint="wheel")
    angle, speeds = 0.0, [env.state.joint_velocity[0, 0]]
    assert speeds[0] == pytest.approx(100.0 * 2.0 * np.pi / 60.0)
    np.testing.assert_allclose(env.state.joint_position[0], [0.0, 0.1], atol=1e-15)
    panel = [env.state]
    for _ in env.run(1.0):
        state = env.state
        wheel = flight.wheels.rwSpeedOutMsg.read().wheelSpeeds[0]
        assert state.joint_velocity[0, 0] == wheel
        angle += 0.5 * (speeds[-1] + wheel) * 0.01
        assert state.joint_position[0, 0] == pytest.approx(angle, rel=1e-12)
        speeds.append(wheel)
        panel.append(state)
        assert encoder.read().position == pytest.approx(angle % (2.0 * np.pi), rel=1e-9)

    # The motor's 0.1 N m make the wheel faster at a nearly even rate
    rate = flight.command.read().motorTorque[0] / flight.wheels.ReactionWheelData[0].Js
    assert (speeds[-1] - speeds[0]) / 1.0 == pytest.approx(rate, rel=0.1)

    # Positions of the panel have the slopes that its velocities say, at their own time
    for before, now, after in zip(panel, panel[1:], panel[2:], strict=False):
        slope = (after.joint_position[0, 1] - before.joint_position[0, 1]) / 0.02
        assert now.joint_velocity[0, 1] == pytest.approx(slope, abs=1e-5)


def test_several_simulations_are_several_worlds():
    flights = [Flight(omega=(0.0, 0.0, rate)) for rate in (0.1, 0.2, 0.3)]
    world = sn.worlds.Basilisk([flight.sim for flight in flights], [flight.bodies for flight in flights])
    env = sn.Environment(sn.Scene(), world, worlds=3)
    gyro = env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=100.0)), body="sat")
    alone = Flight(omega=(0.0, 0.0, 0.2)).world()
    alone.start(1)
    for _ in env.run(0.2):
        alone.step()
        np.testing.assert_array_equal(env.state.X_WB.position[1], alone.state().X_WB.position[0])
    assert gyro.read().angular_velocity.shape == (3, 3)

    # One goes back, the others go on; all share one clock
    env.reset([False, True, False])
    assert env.time_ns == 200_000_000
    again = Flight(omega=(0.0, 0.0, 0.2)).world()
    again.start(1)
    for _ in range(5):
        env.step()
        again.step()
        np.testing.assert_array_equal(env.state.X_WB.position[1], again.state().X_WB.position[0])
    assert env.time_ns == 250_000_000
    flights[2].run_until(400_000_000)
    with pytest.raises(WorldError, match="all worlds must be at one time"):
        env.observe()


def test_a_simulation_that_does_not_go_back_is_told():
    flight = Flight()
    world = flight.world()
    world.start(1)
    world.step()
    flight.sat.hub.omega_BN_BInit = column(0.0, 0.0, 0.0)
    with pytest.raises(WorldError, match="of world 0 did not go back to its initial state"):
        world.reset(np.array([True]))


def test_messages_that_tell_no_accelerations():
    world = Flight().world(accelerations=False)
    env = sn.Environment(sn.Scene(), world, gravity=sn.fields.PointMassGravity())
    env.step()
    assert (env.state.a_WB, env.state.gravity_W, env.state.has_accelerations) == (None, None, False)


def test_steps_that_the_task_cannot_make_are_told():
    world = Flight().world(step_s=0.015)
    world.start(1)
    with pytest.raises(WorldError, match="at 10000000 ns when run until 15000000 ns; step_s must be a multiple"):
        world.step()


def test_messages_of_different_times_are_told():
    flight = Flight()
    other = messaging.SCStatesMsg().write(messaging.SCStatesMsgPayload(), 7)
    world = sn.worlds.Basilisk(flight.sim, {**flight.bodies, "rock": other})
    with pytest.raises(WorldError, match=r"'sat' was written at 0 ns and that of body 'rock' at 7 ns; their modules"):
        world.start(1)
    flight = Flight()
    silent = sn.worlds.Basilisk(flight.sim, {"sat": messaging.SCStatesMsg()})
    with pytest.raises(WorldError, match="body 'sat' was never written; its module must be in a task"):
        silent.start(1)


def test_a_clock_that_goes_back_is_told():
    flight = Flight()
    env = sn.Environment(sn.Scene(), flight.world())
    env.step()
    flight.sim.InitializeSimulation()
    with pytest.raises(WorldError, match=r"went back from 10000000 to 0 ns; restart by Environment\.reset"):
        env.observe()


def test_bad_input_names_the_value_and_the_rule():
    flight = Flight(wheel=True)
    speeds, make = flight.wheels.rwSpeedOutMsg, sn.worlds.Basilisk
    empty = SimulationBaseClass.SimBaseClass()
    for call, says in (
        (lambda: make(3, {}), "sim is 3; it must be a SimBaseClass of Basilisk"),
        (lambda: make([], {}), r"sim is \[\]; it must be a SimBaseClass"),
        (lambda: make(flight.sim, {"sat": flight.sat}), "body 'sat' is a Spacecraft; it must be a SCStatesMsg of"),
        (lambda: make(flight.sim, [flight.bodies]), "bodies is .*; it must be a mapping from names to messages"),
        (lambda: make([flight.sim], flight.bodies), "bodies is .*; it must be a sequence of 1 mappings"),
        (lambda: make([flight.sim] * 2, [flight.bodies, {}]), "bodies are  in one world and sat in another"),
        (lambda: make(flight.sim, {"": flight.sat.scStateOutMsg}), "a body is named ''"),
        (lambda: make(flight.sim, {}, joints={"w": speeds}), "joint 'w' is a RWSpeedMsg; it must be a Hinged"),
        (lambda: make(flight.sim, {}, joints={"w": (speeds, 36)}), "a wheel's number from 0 to 35 must follow"),
        (lambda: make(flight.sim, {}, step_s=0.0), "step_s is 0.0"),
        (lambda: make(empty, {}), "sim has no tasks"),
    ):
        with pytest.raises(SpecError, match=says) as error:
            call()
        assert "\n" not in str(error.value)
    with pytest.raises(WorldError, match="2 worlds are to start and sim holds 1; each needs its own"):
        sn.Environment(sn.Scene(), flight.world(), worlds=2)


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    flight = Flight()
    monkeypatch.setitem(sys.modules, "Basilisk.architecture", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'sensorium\[basilisk\]'"):
        flight.world()


def test_joints_that_slide_are_told_by_their_messages():
    joints = {"lift": messaging.LinearTranslationRigidBodyMsg(), "panel": messaging.HingedRigidBodyMsg()}
    assert Messages({}, joints).slides == ("lift",)
