"""What four ideal sensors add to a step of a MuJoCo world."""

from functools import partial
from statistics import median
from typing import NamedTuple

import sensorium as sn
from sensorium.benchmarks.sweep import BareSweep, Rig
from sensorium.benchmarks.timing import seconds, thread_count

_STEP_S = 0.002


class StepCost(NamedTuple):
    """Median times of one step, in seconds."""

    engine_s: float
    """`mj_step` alone."""
    world_s: float
    """A step of an environment without sensors: the engine's, and a state that is all of one time."""
    sensors_s: float
    """What the four sensors add to that, beyond casting and commit."""
    signals_s: float
    """What the three of them without rays add."""
    casting_s: float
    """Placing the bodies, committing them and tracing the lidar's rays."""


def step_cost(bodies: int = 50, *, rounds: int = 400) -> StepCost:
    """Time a lidar of 512 rays, an inertial unit, a magnetometer and an encoder, each at every step, on one thread.

    Environments with and without sensors step in turn. Casting and commit are timed for the sweep just made, by placing
    the same bodies again and tracing the same rays bare.

    Args:
        bodies: Bodies of the world, all of them moving.
        rounds: Steps of each.
    """
    import mujoco

    text = _swinging(bodies)
    alone, bare = sn.worlds.MuJoCo(text), sn.Environment.from_mujoco(text)
    alone.start(1)
    signals = _with_signals(text)
    rig = _with_lidar(_with_signals(text))
    tracer = rig.env._tracer
    for env in (bare, signals, rig.env):
        for _ in range(3):
            env.step()
    times: list[tuple[float, ...]] = []
    with thread_count(1):
        for _ in range(rounds):
            engine_s = seconds(partial(mujoco.mj_step, alone.model, alone.data[0]))
            world_s = seconds(bare.step)
            signals_s = seconds(signals.step)
            whole_s = seconds(rig.sweep)
            scan = rig.lidar.read()
            tracer.forget_placement()
            near = scan.X_WS.position[0, :, 0]
            place_s = seconds(partial(tracer.place, scan.start_ns, scan.end_ns, near))
            casting_s = place_s + seconds(BareSweep(rig))
            times.append((engine_s, world_s, whole_s - world_s - casting_s, signals_s - world_s, casting_s))
    return StepCost(*(median(column) for column in zip(*times, strict=True)))


def _with_signals(text: str) -> sn.Environment:
    """The world with an inertial unit, a magnetometer and an encoder."""
    env = sn.Environment.from_mujoco(text, magnetic=sn.fields.UniformMagnetic((2e-5, 0.0, -4.4e-5)))
    timing = sn.Timing(rate_hz=1 / _STEP_S)
    env.attach(sn.Imu(timing=timing), body="arm0")
    env.attach(sn.Magnetometer(timing=timing), body="arm0")
    env.attach(sn.Encoder(timing=timing, min=-1e3, max=1e3), joint="hinge0")
    return env


def _with_lidar(env: sn.Environment) -> Rig:
    """A lidar of 512 rays on top, a sweep a step."""
    pattern = sn.patterns.Spinning(elevation_deg=tuple(range(-7, 9)), columns=32, rate_hz=1 / _STEP_S)
    return Rig(env, env.attach(sn.Lidar(pattern=pattern), body="arm0"), pattern)


def _swinging(bodies: int) -> str:
    """Arms on hinges over a floor, each swinging by itself."""
    arms = "".join(
        f"""<body name="arm{k}" pos="{2 * (k % 10)} {2 * (k // 10)} 2"><joint name="hinge{k}" axis="1 0.2 0" ref="{k}"/>
        <geom type="box" size="0.1 0.1 0.4" pos="0 0.3 -0.4"/></body>"""
        for k in range(bodies)
    )
    return f"""<mujoco><option timestep="{_STEP_S}"><flag contact="disable"/></option>
        <worldbody><geom type="plane" size="50 50 1"/>{arms}</worldbody></mujoco>"""
