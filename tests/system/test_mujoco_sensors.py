"""Our sensors against MuJoCo's own, on a swinging double pendulum with an offset, rotated site."""

import numpy as np
import pytest

import sensorium as sn

MODEL = """
<mujoco>
  <option timestep="{step}" integrator="RK4" gravity="0 0 -9.81" magnetic="2e-5 1e-5 -4.4e-5"/>
  <worldbody>
    <body name="upper" pos="0.3 -0.2 2">
      <joint name="shoulder" type="hinge" axis="0 1 0.2" pos="0 0 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.6" size="0.04"/>
      <body name="lower" pos="0 0 -0.6">
        <joint name="elbow" type="hinge" axis="1 0.3 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.03"/>
        <site name="imu" pos="0.05 -0.08 -0.3" quat="0.7 0.2 -0.5 0.3"/>
      </body>
    </body>
  </worldbody>
  <sensor>
    <accelerometer name="accelerometer" site="imu"/>
    <gyro name="gyro" site="imu"/>
    <magnetometer name="magnetometer" site="imu"/>
    <jointpos name="shoulder" joint="shoulder"/>
    <jointpos name="elbow" joint="elbow"/>
    <jointvel name="elbow_speed" joint="elbow"/>
  </sensor>
</mujoco>
"""

SITE = sn.Pose(
    position=(0.05, -0.08, -0.3), quaternion=np.array([0.7, 0.2, -0.5, 0.3]) / np.linalg.norm([0.7, 0.2, -0.5, 0.3])
)


def swinging(step_s):
    """A model released from a bent, moving start, and its data."""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(MODEL.format(step=step_s))
    data = mujoco.MjData(model)
    data.qpos[:] = (1.1, -0.7)
    data.qvel[:] = (0.5, 2.0)
    return mujoco, model, data


def engine_says(mujoco, model, data):
    """MuJoCo's readings at the state the data is in now."""
    twin = mujoco.MjData(model)
    twin.time, twin.qpos[:], twin.qvel[:] = data.time, data.qpos, data.qvel
    mujoco.mj_forward(model, twin)
    return {model.sensor(i).name: twin.sensor(model.sensor(i).name).data.copy() for i in range(model.nsensor)}


def attached(env, rate_hz, **accelerometer):
    timing = sn.Timing(rate_hz=rate_hz)
    imu = sn.Imu(timing=timing, linear=accelerometer, magnetic={})
    return (
        env.attach(imu, **env.world.site("imu")),
        env.attach(sn.Encoder(timing=timing, min=-100.0, max=100.0), joint="shoulder", name="shoulder"),
        env.attach(sn.Encoder(timing=timing, min=-100.0, max=100.0), joint="elbow", name="elbow"),
    )


def test_gyroscope_magnetometer_and_joints_read_as_the_engine_does():
    mujoco, model, data = swinging(0.002)
    field = sn.fields.UniformMagnetic((2e-5, 1e-5, -4.4e-5))
    env = sn.Environment(sn.Scene(), sn.worlds.MuJoCo(model, data), magnetic=field)
    imu, shoulder, elbow = attached(env, 500.0, source="engine")
    for _ in range(500):
        env.step()
        said = engine_says(mujoco, model, env.world.data[0])
        reading = imu.read()
        np.testing.assert_allclose(reading.angular_velocity, said["gyro"], rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(reading.magnetic_field, said["magnetometer"], rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(reading.acceleration, said["accelerometer"], rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(shoulder.read().position, said["shoulder"][0], rtol=1e-9)
        np.testing.assert_allclose(elbow.read().position, said["elbow"][0], rtol=1e-9)
        np.testing.assert_allclose(elbow.truth().velocity, said["elbow_speed"][0], rtol=1e-9)


def test_velocity_differences_come_nearer_as_their_order_predicts():
    # At the end of the step they are half a step late: first order. At its middle the error is of second order
    late, middle = [], []
    for step_s in (0.008, 0.004, 0.002):
        mujoco, model, data = swinging(step_s)
        env = sn.Environment(
            sn.Scene(), sn.worlds.MuJoCo(model, data), magnetic=sn.fields.UniformMagnetic((2e-5, 0, 0))
        )
        imu, *_ = attached(env, 1.0 / step_s)
        errors_late, errors_middle = [], []
        before = data.qpos.copy(), data.qvel.copy()
        while env.time_s < 0.8 - 1e-9:
            env.step()
            reading = imu.read().acceleration
            errors_late.append(np.linalg.norm(reading - engine_says(mujoco, model, env.world.data[0])["accelerometer"]))

            # The engine half a step earlier, by a step of half the length from where the last one began
            half = mujoco.MjModel.from_xml_string(MODEL.format(step=step_s / 2))
            twin = mujoco.MjData(half)
            twin.qpos[:], twin.qvel[:] = before
            mujoco.mj_step(half, twin)
            errors_middle.append(np.linalg.norm(reading - engine_says(mujoco, half, twin)["accelerometer"]))
            before = env.world.data[0].qpos.copy(), env.world.data[0].qvel.copy()
        late.append(np.sqrt(np.mean(np.square(errors_late))))
        middle.append(np.sqrt(np.mean(np.square(errors_middle))))
    np.testing.assert_allclose(np.log2(np.array(late[:-1]) / late[1:]), 1.0, atol=0.1)
    np.testing.assert_allclose(np.log2(np.array(middle[:-1]) / middle[1:]), 2.0, atol=0.1)


def test_watching_somebody_elses_loop():
    mujoco, model, data = swinging(0.002)
    env = sn.Environment(sn.Scene(), sn.worlds.MuJoCo(model, data))
    gyro = env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=500.0)), body="lower", pose=SITE)
    for _ in range(20):
        mujoco.mj_step(model, data)
        env.observe()
        np.testing.assert_allclose(gyro.read().angular_velocity, engine_says(mujoco, model, data)["gyro"], rtol=1e-6)


def test_delays_of_the_engines_own_sensors_are_not_added_to_ours():
    """A model whose gyroscope is 10 ms late by MuJoCo: ours is late by its own latency alone, to the last bit."""
    mujoco, _, _ = swinging(0.002)
    late = MODEL.replace('<gyro name="gyro"', '<gyro name="gyro" nsample="10" delay="0.01"').format(step=0.002)
    readings = []
    for text in (MODEL.format(step=0.002), late):
        env = sn.Environment.from_mujoco(text)
        env.world.data[0].qvel[:] = (0.5, 2.0)
        gyro = env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=250.0, latency_s=0.006)), **env.world.site("imu"))
        readings.append([])
        for _ in env.run(0.1):
            if gyro.fresh:
                readings[-1].append((env.time_ns, gyro.read().time_ns, *gyro.read().angular_velocity))
    assert readings[0] == readings[1]
    assert len(readings[0]) > 20
    assert all(seen - stamped == 6_000_000 for seen, stamped, *_ in readings[0])

    # The engine's own is late indeed: after 8 ms it has nothing yet
    model = mujoco.MjModel.from_xml_string(late)
    data = mujoco.MjData(model)
    data.qvel[:] = (0.5, 2.0)
    for _ in range(4):
        mujoco.mj_step(model, data)
    assert not data.sensor("gyro").data.any()
    assert np.linalg.norm(readings[1][0][2:]) > 1.0
