"""A double pendulum in MuJoCo: our IMU and encoders compared with the engine's own sensors."""

import mujoco
import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure
from sensorium.view.plots import INK, new_figure

MODEL = """
<mujoco>
  <option timestep="{step_s}" integrator="RK4" gravity="0 0 -9.81" magnetic="2e-5 1e-5 -4.4e-5"/>
  <worldbody>
    <body name="upper" pos="0 0 1.3">
      <joint name="shoulder" type="hinge" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.6" size="0.04"/>
      <body name="lower" pos="0 0 -0.6">
        <joint name="elbow" type="hinge" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.03"/>
        <site name="imu" pos="0.05 0.02 -0.4" euler="20 -35 50"/>
        <site name="end" pos="0 0 -0.5"/>
      </body>
    </body>
  </worldbody>
  <sensor>
    <accelerometer name="accelerometer" site="imu"/>
    <gyro name="gyroscope" site="imu"/>
    <magnetometer name="magnetometer" site="imu"/>
    <jointpos name="shoulder" joint="shoulder"/>
    <jointpos name="elbow" joint="elbow"/>
  </sensor>
  <keyframe>
    <key name="bent" qpos="1.9 0.9"/>
  </keyframe>
</mujoco>
"""
STEP_S, DURATION_S = 0.002, 4.0


def pendulum(step_s: float) -> sn.Environment:
    """The pendulum, let go from a bent start."""
    field = sn.fields.UniformMagnetic((2e-5, 1e-5, -4.4e-5))
    return sn.Environment.from_mujoco(MODEL.format(step_s=step_s), keyframe="bent", magnetic=field)


# An IMU that takes the engine's acceleration, an accelerometer that takes differences of velocity, and two encoders
env = pendulum(STEP_S)
model, data, site = env.world.model, env.world.data[0], env.world.site("imu")
timing = sn.Timing(rate_hz=1.0 / STEP_S)
imu = env.attach(sn.Imu(timing=timing, linear={"source": "engine"}, magnetic={}), **site)
differences = env.attach(sn.Accelerometer(timing=timing), **site)
encoder = sn.Encoder(timing=timing, counts_per_turn=512, min=-np.pi, max=np.pi)
joints = {name: env.attach(encoder, joint=name, name=name) for name in ("shoulder", "elbow")}

# MuJoCo's readings after a step belong to its beginning, so a twin at the present state of the pendulum is used
twin = mujoco.MjData(model)
engine = {name: [] for name in ("accelerometer", "gyroscope", "magnetometer", *joints)}
ours = {name: [] for name in (*engine, "differences", "shoulder bins", "elbow bins")}
arms, way = [], []
for _ in env.run(duration_s=DURATION_S):
    twin.time, twin.qpos[:], twin.qvel[:] = data.time, data.qpos, data.qvel
    mujoco.mj_forward(model, twin)
    for name, values in engine.items():
        values.append(twin.sensor(name).data.copy())
    arms.append([twin.body("upper").xpos.copy(), twin.body("lower").xpos.copy(), twin.site("end").xpos.copy()])
    way.append(twin.site("imu").xpos.copy())
    reading = imu.read()
    ours["accelerometer"].append(reading.acceleration)
    ours["gyroscope"].append(reading.angular_velocity)
    ours["magnetometer"].append(reading.magnetic_field)
    ours["differences"].append(differences.read().acceleration)
    for name, joint in joints.items():
        ours[name].append([joint.truth().position])
        ours[f"{name} bins"].append([joint.read().position])
engine, ours = ({name: np.array(values) for name, values in said.items()} for said in (engine, ours))
for name in joints:
    engine[name] = (engine[name] + np.pi) % (2.0 * np.pi) - np.pi
arms, way, time_s = np.array(arms), np.array(way), STEP_S * np.arange(1, len(way) + 1)

# Differences of velocity at several steps, against a run in steps of 0.1 ms: which time do they belong to?
fine = mujoco.MjModel.from_xml_string(MODEL.format(step_s=1e-4))
run = mujoco.MjData(fine)
mujoco.mj_resetDataKeyframe(fine, run, 0)
reference = np.array([(mujoco.mj_step(fine, run), run.sensor("accelerometer").data.copy())[1] for _ in range(10_001)])
steps_s, late, middle = (0.008, 0.004, 0.002, 0.001), [], []
for step_s in steps_s:
    coarse = pendulum(step_s)
    sensor = coarse.attach(sn.Accelerometer(timing=sn.Timing(rate_hz=1.0 / step_s)), **coarse.world.site("imu"))
    read = np.array([sensor.read().acceleration for _ in coarse.run(duration_s=1.0)])
    ends = np.rint(np.arange(1, len(read) + 1) * step_s * 1e4).astype(int)
    late.append(np.sqrt(np.mean((read - reference[ends]) ** 2)))
    middle.append(np.sqrt(np.mean((read - reference[ends - round(step_s * 5e3)]) ** 2)))
orders = [np.log2(errors[0] / errors[-1]) / 3.0 for errors in (late, middle)]
print(f"differences of velocity err with order {orders[0]:.2f} at the step's end, {orders[1]:.2f} at its middle")

# The swing, as a camera with an open shutter would have it
figure = new_figure(16.0, 10.0)
left, right = figure.add_gridspec(1, 2, width_ratios=(1.0, 1.25))
upper, lower = left.subgridspec(2, 1, height_ratios=(1.9, 1.0))
swing, order = figure.add_subplot(upper), figure.add_subplot(lower)
forces, rates, angles, off = (figure.add_subplot(row) for row in right.subgridspec(4, 1))
draw.frame(swing, "The swing, every 40 ms of the first 2 s", "x [m]", "z [m]", equal=True)
for k in range(0, 1000, 20):
    swing.plot(arms[k, :, 0], arms[k, :, 2], color=draw.COLORS[8], alpha=0.08 + 0.45 * k / 1000, linewidth=2.4)
swing.plot(way[:1000, 0], way[:1000, 2], color=draw.COLORS[0], linewidth=1.8, label="way of the IMU")
swing.plot(arms[999, :, 0], arms[999, :, 2], "o-", color=INK, linewidth=4.0, markersize=8, label="after 2 s")
swing.plot(*way[999, [0, 2]], "s", color=draw.COLORS[0], markeredgecolor=INK, markersize=9)
draw.key(swing, where="upper right")

# How errors fall with the step
draw.frame(order, "Acceleration by differences of velocity", "step of the world [ms]", "rms error [m/s²]", log="xy")
for color, name, errors in (("#ff5ca8", "at the step's end", late), ("#3ad6c5", "at its middle", middle)):
    order.plot(1e3 * np.array(steps_s), errors, "o-", color=color, linewidth=1.8, label=f"taken for that {name}")
order.set_xticks([1, 2, 4, 8], ["1", "2", "4", "8"])
order.minorticks_off()
draw.note(order, f"order {orders[0]:.2f}", (2.3, 0.75))
draw.note(order, f"order {orders[1]:.2f}", (2.9, 0.0045))
draw.key(order, where="lower right")

# Ours on the engine's
draw.frame(forces, "Accelerometer, x y z: MuJoCo's (lines) and ours (dots)", "", "[m/s²]")
draw.frame(rates, "Gyroscope, x y z", "", "[rad/s]")
for axis in range(3):
    for axes, name in ((forces, "accelerometer"), (rates, "gyroscope")):
        axes.plot(time_s, engine[name][:, axis], color=draw.COLORS[axis], linewidth=1.8)
        axes.plot(time_s[::40], ours[name][::40, axis], "o", color=INK, markersize=3.2)
draw.frame(angles, "Encoders, from -π to π", "", "[rad]")
for color, name in zip(draw.COLORS[3:5], joints, strict=True):
    angles.plot(time_s, engine[name], color=color, linewidth=1.8, label=name)
    angles.plot(time_s[::40], ours[f"{name} bins"][::40], "o", color=INK, markersize=3.2)
draw.key(angles, where="lower left", columns=2)

# How far they are from it
draw.frame(off, "Difference, as a part of the largest reading", "time [s]", "[1]", log="y")
print("largest difference from MuJoCo's own sensors, as a part of the largest reading:")
rows = {
    "differences of velocity": ("differences", "accelerometer"),
    "encoder, 512 bins a turn": ("elbow bins", "elbow"),
    "accelerometer": ("accelerometer", "accelerometer"),
    "gyroscope": ("gyroscope", "gyroscope"),
    "magnetometer": ("magnetometer", "magnetometer"),
    "encoder without bins": ("elbow", "elbow"),
}
for color, (name, (mine, its)) in zip(draw.COLORS, rows.items(), strict=False):
    part = np.abs(ours[mine] - engine[its]).max(axis=1) / np.abs(engine[its]).max()
    print(f"  {name:26s} {part.max():.1e}")
    off.plot(time_s, np.maximum(part, 1e-17), color=color, linewidth=0.9)
    off.plot([], [], color=color, linewidth=2.0, label=name)
off.set_ylim(1e-17, 10.0)
off.set_yticks([1e-15, 1e-10, 1e-5, 1.0])
draw.key(off, where="center", columns=3)
for axes in (forces, rates, angles, off):
    axes.set_xlim(0.0, DURATION_S)
save_figure("mujoco_pendulum.png", figure)
