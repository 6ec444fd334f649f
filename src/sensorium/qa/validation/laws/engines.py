"""Other engines: MuJoCo's own sensors, and Basilisk's own IMU with its chain of errors."""

import json
import os
import subprocess
import sys
from typing import Any

import numpy as np

import sensorium as sn
from sensorium.core.errors import MissingExtraError
from sensorium.qa.validation.check import Array, Axis, Comparison, Family
from sensorium.sensors.inertial.triaxial import AngularGroup, LinearGroup, Triaxial

ENGINES = Family("MuJoCo and Basilisk")

_STEP_S = 0.01

_BY_ENGINE = LinearGroup(source="engine")

_SHAPES = """
<mujoco><option timestep="0.01" gravity="0 0 0"><flag contact="disable"/></option>
<asset><mesh name="wedge" vertex="0 0 0  6 0 0  0 5 0  0 0 7  4 4 5" face="0 2 1  0 1 3  0 3 2  1 2 4  1 4 3  2 3 4"/>
</asset><worldbody>
<geom type="plane" size="0 0 1" pos="0 0 -4" quat="1 0.02 0.01 0"/>
<geom type="plane" size="6 4 1" pos="-20 5 3" quat="0.7 0.1 0.7 0"/>
<body pos="-30 -15 0" quat="9 1 1 4"><freejoint/><geom type="box" size="1 9 7"/></body>
<body pos="8 14 0"><freejoint/><geom type="mesh" mesh="wedge" quat="1 1 0 0.2"/></body>
<body pos="32 12 4"><freejoint/><geom type="box" size="2 9 9"/></body>
<body name="head"><joint axis="0 0.2 1"/><joint axis="1 0 0.1"/><geom type="sphere" size="0.1"/>{sites}
<camera name="eye" xyaxes="0 -1 0 0 0 1" fovy="60"/></body>
</worldbody><sensor>{sensors}</sensor></mujoco>
"""

_PENDULUM = """
<mujoco><option timestep="0.002" integrator="RK4" gravity="0 0 -9.81" magnetic="2e-5 1e-5 -4.4e-5"/><worldbody>
<body name="upper" pos="0.3 -0.2 2"><joint name="shoulder" axis="0 1 0.2"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.6" size="0.04"/>
<body name="lower" pos="0 0 -0.6"><joint name="elbow" axis="1 0.3 0"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.03"/>
<site name="imu" pos="0.05 -0.08 -0.3" quat="0.7 0.2 -0.5 0.3"/></body></body></worldbody>
<sensor><accelerometer name="accelerometer" site="imu"/><gyro name="gyro" site="imu"/>
<magnetometer name="magnetometer" site="imu"/><jointpos name="elbow" joint="elbow"/></sensor></mujoco>
"""


def _engine_says(mujoco: Any, model: Any, data: Any) -> Any:
    """MuJoCo's data with its sensors evaluated at the state that the data is in."""
    twin = mujoco.MjData(model)
    twin.time, twin.qpos[:], twin.qvel[:] = data.time, data.qpos, data.qvel
    mujoco.mj_forward(model, twin)
    return twin


@ENGINES.check(
    "mujoco-ranges",
    "Lidars of one ray measure what MuJoCo's rangefinders do, on planes, boxes and meshes, with everything moving.",
    reference="MuJoCo 3, sensor rangefinder (float64)",
    absolute=2e-5,
    needs=("mujoco",),
)
def _ranges(quick: bool) -> Comparison:
    import mujoco

    rng, count = np.random.default_rng(7), 60 if quick else 400
    turns, places = rng.normal(size=(count, 4)), rng.uniform(-0.3, 0.3, (count, 3))
    sites = "".join(
        f'<site name="s{i}" pos="{" ".join(map(str, p))}" quat="{" ".join(map(str, q))}"/>'
        for i, (p, q) in enumerate(zip(places, turns, strict=True))
    )
    sensors = "".join(f'<rangefinder site="s{i}"/>' for i in range(count))
    model = mujoco.MjModel.from_xml_string(_SHAPES.format(sites=sites, sensors=sensors))
    data = mujoco.MjData(model)
    data.qvel[:] = rng.uniform(-2, 2, model.nv)
    env = sn.Environment.from_mujoco(model, data)
    assert isinstance(env.world, sn.worlds.MuJoCo)
    ray = sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=1 / _STEP_S)

    # A rangefinder looks along its site's z, a lidar's ray 0 along its x
    forward = sn.Pose(quaternion=(np.sqrt(0.5), 0, -np.sqrt(0.5), 0))
    poses = [env.world.site(f"s{i}")["pose"] @ forward for i in range(count)]
    lidar = env.attach(sn.Lidar(pattern=ray, max_range_m=50.0), body="head", pose=poses, hide=["head"])
    ours, theirs = [], []
    for _ in range(4 if quick else 12):
        said = _engine_says(mujoco, model, data).sensordata
        env.step()
        ranges = lidar.read().range_m.reshape(-1).astype(float)
        near = (said > 0) & (said < 49.9)
        ours.append(ranges[near])
        theirs.append(said[near])
    found, expected = np.concatenate(ours), np.concatenate(theirs)
    return Comparison(
        found - expected, 0.0, at=expected, x=Axis("range [m]"), y=Axis("difference [m]"), note=f"{found.size} rays"
    )


# An image of 64 x 48 pixels, 60 degrees high, from the head
_WIDTH, _HEIGHT = 64, 48
_FOCAL_PX = _HEIGHT / 2 / np.tan(np.radians(30.0))
_MOST_DEPTH_M = 60.0


def _depth_of_head(mujoco: Any) -> tuple[Any, Any, Any]:
    """Model and data of a scene at rest, and the image of a depth camera on its head."""
    model = mujoco.MjModel.from_xml_string(_SHAPES.format(sites="", sensors=""))
    data = mujoco.MjData(model)
    data.qpos[-2:] = (0.9, -0.15)  # towards the mesh, with a box and the floor in sight
    mujoco.mj_forward(model, data)
    env = sn.Environment.from_mujoco(model, data)
    pattern = sn.patterns.Pinhole(width=_WIDTH, height=_HEIGHT, focal_px=(_FOCAL_PX, _FOCAL_PX), rate_hz=1 / _STEP_S)
    camera = sn.DepthCamera(pattern=pattern, outputs={"depth", "normals"}, max_range_m=_MOST_DEPTH_M)
    sensor = env.attach(camera, body="head", hide=["head"])
    env.step()
    return model, data, sensor.read()


@ENGINES.check(
    "mujoco-depth",
    "Each pixel of an ideal depth image is what MuJoCo's rays measure through its middle, on planes, boxes and meshes.",
    reference="MuJoCo, mj_ray (float64), times the cosine of the pixel's ray",
    relative=1e-6,
    needs=("mujoco",),
)
def _depth(quick: bool) -> Comparison:
    import mujoco

    model, data, image = _depth_of_head(mujoco)
    u, v = np.meshgrid(np.arange(_WIDTH) + 0.5 - _WIDTH / 2, np.arange(_HEIGHT) + 0.5 - _HEIGHT / 2)
    ahead = np.stack([np.ones_like(u), -u / _FOCAL_PX, -v / _FOCAL_PX], axis=-1).reshape(-1, 3)
    cosine = 1.0 / np.linalg.norm(ahead, axis=1)
    head = model.body("head").id
    rays = (ahead * cosine[:, None]) @ data.xmat[head].reshape(3, 3).T
    # One by one, since mj_multiRay of MuJoCo 4.0 errs on meshes
    geom = np.zeros(1, np.int32)
    eye = data.xpos[head]
    distance = np.array([mujoco.mj_ray(model, data, eye, ray, None, True, head, geom, None) for ray in rays])
    seen = (distance >= 0.0) & (distance < _MOST_DEPTH_M)
    found = np.where(image.valid.ravel(), image.depth_m.ravel().astype(float), _MOST_DEPTH_M)
    expected = np.where(seen, distance * cosine, _MOST_DEPTH_M)
    note = f"{int(seen.sum())} of {seen.size} pixels see something"
    return Comparison(found, expected, at=np.arange(seen.size), x=Axis("pixel"), y=Axis("depth [m]"), note=note)


# Run by itself, since OpenGL is chosen once a process: prints the depth image of the camera "eye" [m] as JSON
_RENDER = """
import json, sys, mujoco
job = json.load(sys.stdin)
model = mujoco.MjModel.from_xml_string(job["model"])
model.vis.quality.offsamples = 0
data = mujoco.MjData(model)
data.qpos[:] = job["qpos"]
mujoco.mj_forward(model, data)
options = mujoco.MjvOption()
options.geomgroup[:] = 1
with mujoco.Renderer(model, job["height"], job["width"]) as renderer:
    renderer.enable_depth_rendering()
    renderer.update_scene(data, "eye", options)
    print(json.dumps(renderer.render().tolist()))
"""


@ENGINES.check(
    "mujoco-renderer",
    "An ideal depth image is the depth buffer of MuJoCo's renderer, pixel by pixel, away from edges.",
    reference="MuJoCo 3, Renderer with OpenGL by EGL (float32 depth)",
    relative=5e-6,
    needs=("mujoco",),
)
def _rendered(quick: bool) -> Comparison:
    import mujoco

    _, data, image = _depth_of_head(mujoco)
    job = {"model": _SHAPES.format(sites="", sensors=""), "qpos": data.qpos.tolist()}
    job |= {"width": _WIDTH, "height": _HEIGHT}
    done = subprocess.run(
        [sys.executable, "-c", _RENDER],
        input=json.dumps(job), env=os.environ | {"MUJOCO_GL": "egl"}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    if done.returncode:
        raise MissingExtraError("OpenGL by EGL does not work here, which MuJoCo's renderer needs")
    theirs = np.array(json.loads(done.stdout.splitlines()[-1]))

    # Next to an edge a pixel may belong to either side: all neighbors must see the same flat face
    flat = np.where(image.valid[..., None], image.normals, np.nan)
    middle = np.s_[1:-1, 1:-1]
    near = [flat[1 + v : _HEIGHT - 1 + v, 1 + u : _WIDTH - 1 + u] for v in (-1, 0, 1) for u in (-1, 0, 1)]
    inner = np.zeros(image.valid.shape, np.bool_)
    inner[middle] = np.all([(np.abs(part - flat[middle]) < 1e-4).all(axis=-1) for part in near], axis=0)
    note = f"{int(inner.sum())} of {inner.size} pixels are away from edges"
    x, y = Axis("depth [m]", log=True), Axis("depth [m]", log=True)
    return Comparison(image.depth_m[inner], theirs[inner], at=theirs[inner], x=x, y=y, note=note)


@ENGINES.check(
    "mujoco-inertial",
    "Accelerometer, gyroscope, magnetometer and encoder on a swinging double pendulum read as MuJoCo's own.",
    reference="MuJoCo 3, sensors accelerometer, gyro, magnetometer and jointpos",
    relative=1e-6,
    absolute=1e-6,
    needs=("mujoco",),
)
def _inertial(quick: bool) -> Comparison:
    import mujoco

    model = mujoco.MjModel.from_xml_string(_PENDULUM)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = (1.1, -0.7), (0.5, 2.0)
    field = sn.fields.UniformMagnetic((2e-5, 1e-5, -4.4e-5))
    world = sn.worlds.MuJoCo(model, data)
    env = sn.Environment(sn.Scene(), world, magnetic=field)
    timing = sn.Timing(rate_hz=500.0)
    imu = env.attach(sn.Imu(timing=timing, linear=_BY_ENGINE, magnetic=Triaxial()), **world.site("imu"))
    elbow = env.attach(sn.Encoder(timing=timing, min=-100.0, max=100.0), joint="elbow")
    ours, theirs = [], []
    for _ in range(100):
        env.step()
        said, reading = _engine_says(mujoco, model, world.data[0]), imu.read()
        # The field in units of 10 uT, so that one tolerance fits all
        ours.append([*reading.acceleration, *reading.angular_velocity, *(1e5 * reading.magnetic_field)])
        theirs.append([*said.sensordata[:6], *(1e5 * said.sensordata[6:9])])
        ours[-1].append(float(elbow.read().position))
        theirs[-1].append(float(said.sensordata[9]))
    t = np.broadcast_to(0.002 * np.arange(1, 101)[:, None], (100, 10))
    return Comparison(ours, theirs, at=t, x=Axis("time [s]"), y=Axis("m/s^2, rad/s, 10 uT, rad"))


def _flight(**imu: Any) -> tuple[Any, Any]:
    """A tumbling, pushed spacecraft with Basilisk's own IMU on it; returns the environment's parts kept alive."""
    from Basilisk.simulation import extForceTorque, imuSensor, spacecraft
    from Basilisk.utilities import SimulationBaseClass, simIncludeGravBody

    sim = SimulationBaseClass.SimBaseClass()
    sim.CreateNewProcess("dynamics").addTask(sim.CreateNewTask("task", round(_STEP_S * 1e9)))
    sat = spacecraft.Spacecraft()
    sat.hub.mHub = 100.0
    sat.hub.IHubPntBc_B = [[90.0, 0.0, 0.0], [0.0, 80.0, 0.0], [0.0, 0.0, 60.0]]
    sat.hub.r_BcB_B = [[0.1], [0.0], [0.05]]
    sat.hub.r_CN_NInit, sat.hub.v_CN_NInit = [[7e6], [0.0], [0.0]], [[0.0], [6000.0], [4500.0]]
    sat.hub.sigma_BNInit, sat.hub.omega_BN_BInit = [[0.1], [0.2], [-0.3]], [[0.3], [-0.5], [0.4]]
    gravity = simIncludeGravBody.gravBodyFactory()
    gravity.createEarth().isCentralBody = True
    gravity.addBodiesTo(sat)
    push = extForceTorque.ExtForceTorque()
    push.extForce_B, push.extTorquePntB_B = [[10.0], [-20.0], [30.0]], [[3.0], [-2.0], [5.0]]
    sat.addDynamicEffector(push)
    sensor = imuSensor.ImuSensor()
    sensor.sensorPos_B = [0.5, -0.3, 0.8]
    sensor.setBodyToPlatformDCM(0.3, -0.2, 0.5)
    sensor.scStateInMsg.subscribeTo(sat.scStateOutMsg)
    if imu:
        # Basilisk draws noise for PMatrix; zero matrices leave bias, discretization and saturation
        sensor.senTransBias, sensor.senRotBias = list(imu["bias_a"]), list(imu["bias_w"])
        sensor.setLSBs(imu["lsb_a"], imu["lsb_w"])
        sensor.senTransMax, sensor.senRotMax = imu["max_a"], imu["max_w"]
    for priority, module in enumerate((sensor, sat, push)):
        sim.AddModelToTask("task", module, priority)
    world = sn.worlds.Basilisk(sim, {"sat": sat.scStateOutMsg})
    env = sn.Environment(sn.Scene(), world)
    keep = (sim, sat, gravity, push)  # Basilisk does not keep the parts of a simulation alive
    env.__dict__["_kept_alive"] = keep
    return env, sensor


def _mount(sensor: Any) -> sn.Pose:
    """Position of Basilisk's IMU on the body."""
    X_BP = np.eye(4)
    X_BP[:3, :3], X_BP[:3, 3] = np.array(sensor.dcm_PB).T, (0.5, -0.3, 0.8)
    return sn.Pose.from_matrix(X_BP)


def _both(env: Any, theirs: Any, ours: Any, steps: int) -> tuple[Array, Array]:
    """Readings of both IMUs over some steps: acceleration and rate."""
    left, right = [], []
    for _ in range(steps):
        env.step()
        reading, said = ours.read(), theirs.sensorOutMsg.read()
        left.append([*reading.acceleration, *reading.angular_velocity])
        right.append([*said.AccelPlatform, *said.AngVelPlatform])
    return np.array(left), np.array(right)


@ENGINES.check(
    "basilisk-ideal",
    "On a tumbling, pushed spacecraft, off its center of mass, an ideal IMU reads as Basilisk's.",
    reference="Basilisk, imuSensor.ImuSensor without errors",
    absolute=1e-12,
    needs=("Basilisk",),
)
def _ideal(quick: bool) -> Comparison:
    env, theirs = _flight()
    spec = sn.Imu(timing=sn.Timing(rate_hz=1 / _STEP_S), linear=_BY_ENGINE)
    ours = env.attach(spec, body="sat", pose=_mount(theirs))
    found, expected = _both(env, theirs, ours, 60)
    t = np.broadcast_to(_STEP_S * np.arange(1, 61)[:, None], found.shape)
    return Comparison(found, expected, at=t, x=Axis("time [s]"), y=Axis("m/s^2 and rad/s"))


@ENGINES.check(
    "basilisk-chain",
    "Bias, discretization and saturation of an IMU give the codes of Basilisk's chain, sample by sample.",
    reference="Basilisk, imuSensor.ImuSensor: bias, LSB to zero, saturation; physics.md 9",
    absolute=1e-12,
    needs=("Basilisk",),
)
def _chain(quick: bool) -> Comparison:
    numbers = {
        "bias_a": (0.03, -0.02, 0.05), "bias_w": (0.01, 0.02, -0.03),
        "lsb_a": 0.01, "lsb_w": 0.004, "max_a": 0.45, "max_w": 0.4,
    }  # fmt: skip
    env, theirs = _flight(**numbers)

    def group(bias: Any, lsb: Any, most: Any) -> dict[str, Any]:
        return {
            "noise": {"bias": bias},
            "quantization": sn.corruption.Quantize(lsb=lsb, rounding="to_zero"),
            "saturation": sn.corruption.Saturate(min=-most, max=most),
        }

    linear = LinearGroup(source="engine", **group(numbers["bias_a"], numbers["lsb_a"], numbers["max_a"]))
    angular = AngularGroup(**group(numbers["bias_w"], numbers["lsb_w"], numbers["max_w"]))
    spec = sn.Imu(timing=sn.Timing(rate_hz=1 / _STEP_S), linear=linear, angular=angular)
    ours = env.attach(spec, body="sat", pose=_mount(theirs))
    found, expected = _both(env, theirs, ours, 100)
    held = (np.abs(expected[:, :3]) == 0.45).any() or (np.abs(expected[:, 3:]) == 0.4).any()
    t = np.broadcast_to(_STEP_S * np.arange(1, 101)[:, None], found.shape)
    note = "some axes are saturated" if held else "no axis is saturated"
    return Comparison(found, expected, at=t, x=Axis("time [s]"), y=Axis("m/s^2 and rad/s"), note=note)
