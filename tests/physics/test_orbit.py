"""Inertial sensors in orbit, where all but gravity is small: against free fall, known forces, Basilisk's own IMU."""

import numpy as np
import pytest
from Basilisk.architecture import messaging
from Basilisk.simulation import extForceTorque, imuSensor, spacecraft
from Basilisk.utilities import SimulationBaseClass, simIncludeGravBody

import sensorium as sn

RADIUS_M = 7e6
SPEED_M_S = np.sqrt(sn.fields.PointMassGravity().mu / RADIUS_M)
GRAVITY = SPEED_M_S**2 / RADIUS_M

# Rounding of 8 m/s^2 of gravity, taken off twice over a step [m/s^2]; that of 7.5 km/s, 1e-10, must not be seen
ROUNDING = 1e-12

MOUNT = (0.5, -0.3, 0.8)


class Flight:
    """A spacecraft on a circular orbit of the Earth, its center of mass in the origin unless told otherwise."""

    def __init__(
        self,
        *,
        period_s=0.01,
        omega=(0.0, 0.0, 0.0),
        force=(0.0,) * 3,
        torque=(0.0,) * 3,
        center=(0.0,) * 3,
        moon=False,
    ):
        self.sim = SimulationBaseClass.SimBaseClass()
        self.sim.CreateNewProcess("dynamics").addTask(self.sim.CreateNewTask("task", round(period_s * 1e9)))
        self.sat = sat = spacecraft.Spacecraft()
        sat.hub.mHub = 100.0
        sat.hub.IHubPntBc_B = [[90.0, 0.0, 0.0], [0.0, 80.0, 0.0], [0.0, 0.0, 60.0]]
        sat.hub.r_BcB_B = [[value] for value in center]
        sat.hub.r_CN_NInit, sat.hub.v_CN_NInit = (
            [[RADIUS_M], [0.0], [0.0]],
            [[0.0], [0.8 * SPEED_M_S], [0.6 * SPEED_M_S]],
        )
        sat.hub.sigma_BNInit, sat.hub.omega_BN_BInit = [[0.1], [0.2], [-0.3]], [[value] for value in omega]
        self.gravity = simIncludeGravBody.gravBodyFactory()
        self.gravity.createEarth().isCentralBody = True
        if moon:
            # Near and heavy, so that it pulls with a tenth of g
            where = messaging.SpicePlanetStateMsgPayload()
            where.PositionVector, where.J20002Pfix = [0.0, 2e7, 0.0], np.eye(3).tolist()
            self.where = messaging.SpicePlanetStateMsg().write(where)
            body = self.gravity.createCustomGravObject("moon", mu=4e14)
            body.planetBodyInMsg.subscribeTo(self.where)
        self.gravity.addBodiesTo(sat)
        self.push = extForceTorque.ExtForceTorque()
        self.push.extForce_B, self.push.extTorquePntB_B = [[value] for value in force], [[value] for value in torque]
        sat.addDynamicEffector(self.push)
        self.imu = imuSensor.ImuSensor()
        self.imu.sensorPos_B = list(MOUNT)
        self.imu.setBodyToPlatformDCM(0.3, -0.2, 0.5)
        self.imu.scStateInMsg.subscribeTo(sat.scStateOutMsg)
        for priority, module in enumerate((self.imu, sat, self.push)):
            self.sim.AddModelToTask("task", module, priority)

    def environment(self, **options):
        world = sn.worlds.Basilisk(self.sim, {"sat": self.sat.scStateOutMsg}, **options)
        world.flight = self  # Basilisk does not keep alive what a simulation is made of
        return sn.Environment(sn.Scene(), world)


def imu(env, source="velocity", pose=None, rate_hz=100.0):
    spec = sn.Imu(timing=sn.Timing(rate_hz=rate_hz))
    spec.linear.source = source
    return env.attach(spec, body="sat", pose=pose, name=f"{source} {len(env.sensors)}")


@pytest.mark.parametrize("moon", [False, True])
@pytest.mark.parametrize("step_s", [0.01, 0.2])
def test_a_coasting_spacecraft_feels_nothing(moon, step_s):
    env = Flight(moon=moon).environment(step_s=step_s)
    sensors = [imu(env), imu(env, "engine"), imu(env, pose=sn.Pose(MOUNT)), imu(env, rate_hz=270.0)]

    # A sample a microsecond after a state: over so short a way the velocities' own rounding would be 1e-6 m/s^2
    late = sn.Imu(timing=sn.Timing(rate_hz=100.0, phase_s=1e-6))
    sensors.append(env.attach(late, body="sat", pose=sn.Pose(MOUNT), name="late"))
    for _ in env.run(2.0):
        for sensor in sensors:
            assert all(np.abs(reading.acceleration).max() < ROUNDING for reading in sensor.readings())
    pull = np.linalg.norm(env.state.gravity_W)
    assert pull == pytest.approx(GRAVITY, rel=1e-6) if not moon else abs(pull - GRAVITY) > 0.1


@pytest.mark.parametrize("source", ["velocity", "engine"])
def test_a_spin_is_felt_off_the_axis_alone(source):
    rate, step_s = 0.5, 0.01
    env = Flight(omega=(0.0, 0.0, rate)).environment()
    middle, outside = imu(env, source), imu(env, source, pose=sn.Pose(MOUNT))
    inward = -(rate**2) * np.array([MOUNT[0], MOUNT[1], 0.0])

    # A mean over a step, seen from midway, is short by (w h)^2 / 24
    allowed = ROUNDING + np.abs(inward).max() * (rate * step_s) ** 2 / 20
    for _ in env.run(3.0):
        assert np.abs(middle.read().acceleration).max() < ROUNDING
        np.testing.assert_allclose(outside.read().acceleration, inward, atol=allowed)


def test_a_known_force_on_a_tumbling_spacecraft_is_read_as_it_is():
    force, rates = np.array([1.0, -2.0, 3.0]), (0.3, -0.5, 0.4)
    env = Flight(omega=rates, force=force).environment()
    sensor = imu(env)
    allowed = ROUNDING + np.linalg.norm(force) / 100.0 * np.square(rates).sum() * 0.01**2 / 8
    for _ in env.run(3.0):
        np.testing.assert_allclose(sensor.read().acceleration, force / 100.0, atol=allowed)


def far_apart(period_s, step_s):
    """Largest differences from Basilisk's ideal IMU on a tumbling, pushed spacecraft with its mass off the origin.

    Returns:
        Angular velocity, acceleration by the engine, and by differences of velocity.
    """
    flight = Flight(
        period_s=period_s,
        omega=(0.3, -0.5, 0.4),
        force=(10.0, -20.0, 30.0),
        torque=(3.0, -2.0, 5.0),
        center=(0.1, 0, 0.05),
    )
    env = flight.environment(step_s=step_s)
    X_BP = np.eye(4)
    X_BP[:3, :3], X_BP[:3, 3] = np.array(flight.imu.dcm_PB).T, MOUNT
    pose = sn.Pose.from_matrix(X_BP)
    engine, velocity = (imu(env, source, pose, 1.0 / step_s) for source in ("engine", "velocity"))
    worst = np.zeros(3)
    for _ in env.run(4.0):
        theirs = flight.imu.sensorOutMsg.read()
        off = (
            engine.read().angular_velocity - theirs.AngVelPlatform,
            engine.read().acceleration - theirs.AccelPlatform,
            velocity.read().acceleration - theirs.AccelPlatform,
        )
        worst = np.maximum(worst, [np.abs(one).max() for one in off])
    assert np.abs(theirs.AccelPlatform).max() > 0.2
    return worst


def test_basilisks_own_imu_reads_the_same():
    # At the instant to rounding, whether a step of the world is one of the dynamics or ten
    for period_s, step_s in ((0.01, 0.01), (0.01, 0.1)):
        angular, engine, _ = far_apart(period_s, step_s)
        assert angular < 1e-15
        assert engine < 2e-14

    # Ours by differences is half a step late, theirs a mean turned by the end's attitude: they meet as the step shrinks
    _, _, coarse = far_apart(0.02, 0.02)
    _, _, fine = far_apart(0.005, 0.005)
    assert coarse < 0.01
    assert coarse / fine == pytest.approx(4.0, rel=0.1)


def test_a_field_of_gravity_is_taken_midway_of_each_step():
    """On a path around a point mass: at the end of a step gravity would be g n h / 2 off."""
    rate = SPEED_M_S / RADIUS_M
    for step_s in (0.1, 10.0):
        path = sn.paths.Circle(center=(0, 0, 0), radius=RADIUS_M, rate=rate)
        env = sn.Environment(
            sn.Scene(), sn.worlds.Kinematic({"sat": path}, step_s=step_s), gravity=sn.fields.PointMassGravity()
        )
        velocity, engine = (imu(env, source, rate_hz=1.0 / step_s) for source in ("velocity", "engine"))
        for _ in env.run(20 * step_s):
            # Between the middle of a chord and that of an arc lie g (n h)^2 (1/4 + 1/24)
            felt = np.linalg.norm(velocity.read().acceleration)
            assert felt == pytest.approx(GRAVITY * (rate * step_s) ** 2 * 7 / 24, rel=0.01, abs=1e-10)
            assert np.abs(engine.read().acceleration).max() < 1e-13


def test_two_spacecraft_of_one_simulation_see_each_other():
    """Seven thousand kilometers from the world's origin and at 7.5 km/s, ranges keep their tenths of a millimeter."""
    flight = Flight()
    flight.sat.hub.sigma_BNInit = [[0.0], [0.0], [0.0]]
    deputy = spacecraft.Spacecraft()
    deputy.hub.mHub, deputy.hub.IHubPntBc_B = 10.0, np.eye(3).tolist()
    deputy.hub.r_CN_NInit, deputy.hub.v_CN_NInit = [[RADIUS_M + 50.0], [0.0], [0.0]], flight.sat.hub.v_CN_NInit
    flight.gravity.addBodiesTo(deputy)
    flight.sim.AddModelToTask("task", deputy, 1)
    world = sn.worlds.Basilisk(flight.sim, {"sat": flight.sat.scStateOutMsg, "deputy": deputy.scStateOutMsg})
    scene = sn.Scene()
    scene.add(sn.shapes.box(2.0, 40.0, 40.0), body="deputy")
    env = sn.Environment(scene, world)
    pattern = sn.patterns.Spinning(elevation_deg=(5.0, 0.0, -5.0), columns=72, rate_hz=10)
    lidar = env.attach(sn.Lidar(pattern=pattern), body="sat")
    for _ in env.run(0.3):
        pass

    # The wall stands 49 m ahead, and a hair more: the outer one falls a little slower
    ahead = lidar.read().range_m[:, 0]
    np.testing.assert_allclose(ahead, 49.0 / np.cos(np.deg2rad([5.0, 0.0, 5.0])), atol=1e-4)
    pull = np.linalg.norm(env.state.gravity_W[0], axis=-1)
    assert pull[0] - pull[1] == pytest.approx(2.0 * GRAVITY * 50.0 / RADIUS_M, rel=1e-3)
