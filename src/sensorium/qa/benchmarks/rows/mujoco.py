"""Cost of four ideal sensors per step of a MuJoCo world, and the parts of a step's time."""

import re
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import sensorium as sn
from sensorium.qa.benchmarks.timing import clocked, seconds, thread_count
from sensorium.sensors.common.spec import SensorSpec
from sensorium.tracing import tracer
from sensorium.tracing.placement import motion

_STEP_S = 0.002
_LIDAR_HZ = 10.0

# A robot as large as the median of published ones: a free body, 26 driven joints, contacts of four feet
_LIMB = """<body pos="{x} {y} {z}"><joint name="{n}a" axis="1 0 0" damping="1"/><geom size="0.04" mass="0.7"/>
    <body pos="0 {out} 0"><joint name="{n}b" axis="0 1 0" damping="1"/>
    <geom type="capsule" fromto="0 0 0 -0.1 0 -0.2" size="0.03" mass="1"/>
    <body pos="-0.1 0 -0.2"><joint name="{n}c" axis="0 1 0" damping="1"/>
    <geom type="capsule" fromto="0 0 0 0.1 0 -0.2" size="0.02" mass="0.2"/>
    <geom type="sphere" pos="0.1 0 -0.2" size="0.03" mass="0.05"/>{hand}</body></body></body>"""
_HAND = "".join(
    f"""<body pos="0.1 {0.03 * k} -0.2"><joint name="{{n}}{k}" axis="0 1 0" damping="0.1"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.05" size="0.01" mass="0.05"/></body>"""
    for k in (-1.5, -0.5, 0.5, 1.5)
)


def _limbs(name: str, z: float, hand: str, places: list[tuple[int, int]]) -> str:
    """Limbs of three joints each, and their loads."""
    limbs = ((f"{name}{x}{y}", x, y) for x, y in places)
    return "".join(
        _LIMB.format(n=n, x=0.2 * x, y=0.05 * y, z=z, out=0.1 * y, hand=hand.format(n=n)) for n, x, y in limbs
    )


_TRUNK = _limbs("leg", 0.0, "", [(-1, -1), (-1, 1), (1, -1), (1, 1)]) + _limbs("arm", 0.6, _HAND, [(0, -1), (0, 1)])
_ROBOT = f"""<mujoco><option timestep="0.002" integrator="implicitfast"/><worldbody><geom type="plane" size="5 5 1"/>
    <body name="trunk" pos="0 0 0.43"><freejoint/><geom type="box" size="0.2 0.05 0.05" mass="6"/>{_TRUNK}</body>
    </worldbody><actuator>
    {"".join(f'<position joint="{joint}" kp="100"/>' for joint in re.findall(r'joint name="([^"]+)"', _TRUNK))}
    </actuator></mujoco>"""

# Steps of one environment in a row: as in a run of its own, it finds its data in the cache
_BURST = 25


class StepCost(NamedTuple):
    """Times of one step, in seconds: medians of bursts of steps, of which the least counts, since others only add."""

    engine_s: float
    """`mj_step` alone."""
    forward_s: float
    """The engine's second pass, on a copy, which accelerations take when a sensor needs them."""
    world_s: float
    """A step of an environment without sensors whose state is read: `mj_step`, and our own part of a state."""
    imu_s: float
    """Added cost of an inertial unit alone."""
    magnetometer_s: float
    """The same of a magnetometer."""
    encoder_s: float
    """Of an encoder."""
    lidar_s: float
    """Of a lidar of 512 rays, beyond casting and commit."""
    added_s: float
    """Added cost of all four, beyond casting and commit."""
    usual_s: float
    """The same on average with the lidar at 10 Hz, as lidars sweep, and the others at every step."""
    commit_s: float
    """Writing the bodies' transforms and committing them, within a step with a sweep."""
    casting_s: float
    """Aiming and tracing the rays and writing their hits, within that step."""
    commit_alone_s: float
    """The same commit, repeated by itself: the time that a warm cache saves."""
    casting_alone_s: float
    """Likewise the casting."""


class StepRatio(NamedTuple):
    """Time of a step of an environment without sensors, as a multiple of `mj_step`."""

    engine_s: float
    """`mj_step` alone [s]."""
    full: float
    """With accelerations that no sensor needs [1]."""
    light: float
    """Without them [1]."""


def step_ratio(*, rounds: int = 40) -> StepRatio:
    """Time steps of a robot on four feet, with and without an environment around it, in turns: medians of all.

    Args:
        rounds: Bursts of each.
    """
    import mujoco

    bare = sn.worlds.MuJoCo(_ROBOT)
    bare.start(1)
    full, light = (sn.Environment(sn.Scene(), sn.worlds.MuJoCo(_ROBOT, accelerations=on)).step for on in (True, False))
    steps: list[Callable[[], object]] = [partial(mujoco.mj_step, bare.model, bare.data[0]), full, light]
    times: list[list[float]] = [[], [], []]
    for turn in range(rounds + 1):
        for step, taken in zip(steps, times, strict=True):
            burst = [seconds(step) for _ in range(_BURST)]
            taken += burst if turn else []  # the first compiles
    engine_s, full_s, light_s = map(median, times)
    return StepRatio(engine_s, full_s / engine_s, light_s / engine_s)


def step_cost(bodies: int = 50, *, rounds: int = 40) -> StepCost:
    """Time a lidar of 512 rays, an inertial unit, a magnetometer and an encoder on steps of 2 ms, on one thread.

    Environments with and without sensors take turns, a burst of steps each. Casting and commit are the times of the two
    kernels within the very steps that are timed; the same calls are then repeated by themselves.

    Args:
        bodies: Bodies of the world, all of them moving.
        rounds: Bursts of each.
    """
    text = _swinging(bodies)
    world = sn.worlds.MuJoCo(text)
    world.start(1)
    specs = _four()
    bare, together = _environment(text), _environment(text, *specs)
    bare._unread_state = bare.world.state  # computed at each step, as sensors need it
    usual = _environment(text, *_four(lidar_hz=_LIDAR_HZ))
    alone = [_environment(text, spec) for spec in specs]
    for env in (bare, together, usual, *alone):
        for _ in range(3):
            env.step()

    rows: list[list[float]] = []
    with thread_count(1), clocked(motion, "place") as commit, clocked(tracer, "sweep") as casting:

        def beyond(env: sn.Environment) -> tuple[float, float, float]:
            """One step less casting and commit, and these two."""
            commit.seconds = casting.seconds = 0.0
            whole_s = seconds(env.step)
            return whole_s - commit.seconds - casting.seconds, commit.seconds, casting.seconds

        for _ in range(rounds):
            engine_s, forward_s = _burst(partial(_engine_step, world)), _burst(partial(_engine_forward, world))
            steps_s = [_burst(lambda env=env: beyond(env)[0]) for env in (bare, *alone)]  # type: ignore[misc]
            resting_s, sweeping_s = _with_and_without_sweep(usual, lambda: beyond(usual)[0])
            usual_s = resting_s + (sweeping_s - resting_s) * _LIDAR_HZ * _STEP_S
            together_s, commit_s, casting_s = (
                median(of) for of in zip(*(beyond(together) for _ in range(_BURST)), strict=True)
            )
            by_themselves_s = [_burst(partial(seconds, kernel.again)) for kernel in (commit, casting)]
            rows.append(
                [engine_s, forward_s, *steps_s, together_s, usual_s, commit_s, casting_s, *by_themselves_s],
            )
    engine_s, forward_s, world_s, *with_sensors_s = (min(column) for column in zip(*rows, strict=True))
    added_s, split_s = [step_s - world_s for step_s in with_sensors_s[:6]], with_sensors_s[6:]
    return StepCost(engine_s, forward_s, world_s, *added_s, *split_s)


def _with_and_without_sweep(env: sn.Environment, timed: Callable[[], float]) -> tuple[float, float]:
    """Median time of steps without a sweep, and time of the one with a sweep [s]."""
    resting_s: list[float] = []
    while True:
        step_s = timed()
        if env.sensors["lidar"].fresh:
            return median(resting_s), step_s
        resting_s.append(step_s)


def _burst(timed: Callable[[], float]) -> float:
    """Median time of a timed step, many times in a row [s]."""
    return median(timed() for _ in range(_BURST))


def _engine_step(world: sn.worlds.MuJoCo) -> float:
    """Seconds of `mj_step`."""
    import mujoco

    return seconds(partial(mujoco.mj_step, world.model, world.data[0]))


def _engine_forward(world: sn.worlds.MuJoCo) -> float:
    """Seconds of the engine's functions that a state calls."""
    import mujoco

    model, data, copy = world.model, world.data[0], world._engine.copy

    def forward() -> None:
        mujoco.mj_copyState(model, data, copy, world._everything)
        mujoco.mj_forwardSkip(model, copy, 0, 1)
        mujoco.mj_rnePostConstraint(model, copy)

    mujoco.mj_step(model, data)
    return seconds(forward)


def _four(lidar_hz: float = 1 / _STEP_S) -> tuple[SensorSpec[Any], ...]:
    """The sensors, each at every step except the lidar if it is given a rate."""
    timing = sn.Timing(rate_hz=1 / _STEP_S)
    pattern = sn.patterns.Spinning(elevation_deg=tuple(range(-7, 9)), columns=32, rate_hz=lidar_hz)
    return (
        sn.Imu(timing=timing),
        sn.Magnetometer(timing=timing),
        sn.Encoder(timing=timing, min=-1e3, max=1e3),
        sn.Lidar(pattern=pattern),
    )


def _environment(text: str, *specs: SensorSpec[Any]) -> sn.Environment:
    """The world with some sensors on its first arm."""
    env = sn.Environment.from_mujoco(text, magnetic=sn.fields.UniformMagnetic((2e-5, 0.0, -4.4e-5)))
    for spec in specs:
        env.attach(spec, body="arm0", joint="hinge0")
    return env


def _swinging(bodies: int) -> str:
    """Arms on hinges over a floor, each swinging by itself."""
    arms = "".join(
        f"""<body name="arm{k}" pos="{2 * (k % 10)} {2 * (k // 10)} 2"><joint name="hinge{k}" axis="1 0.2 0" ref="{k}"/>
        <geom type="box" size="0.1 0.1 0.4" pos="0 0.3 -0.4"/></body>"""
        for k in range(bodies)
    )
    return f"""<mujoco><option timestep="{_STEP_S}"><flag contact="disable"/></option>
        <worldbody><geom type="plane" size="50 50 1"/>{arms}</worldbody></mujoco>"""
