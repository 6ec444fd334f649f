"""Inertial sensors: axis-samples a second over many worlds, microseconds a step in one, and both against NumPy."""

from collections.abc import Callable

import numpy as np

import sensorium as sn
from sensorium.core.clock import NS_PER_S
from sensorium.qa.benchmarks.rows.imu_chain import AXES, RATE_HZ, NumpyChain, chain, imu
from sensorium.qa.benchmarks.timing import Spread, ratio, spread, thread_count

WORLDS, STEPS = 1000, 1000

# Steps that are timed together, few of them: even a busy machine leaves some such pieces in peace
PIECE = 20


def environment(worlds: int | None = None, *, moving: bool, sensing: bool = True) -> sn.Environment:
    """Worlds with one IMU each, on a body at rest or on a circle; one sample a step."""
    world: sn.worlds.World
    if moving:
        world = sn.worlds.Kinematic({"car": sn.paths.Circle((0, 0, 0), radius=5.0, rate=0.5)}, step_s=1.0 / RATE_HZ)
    else:
        world = sn.worlds.Static({"car": sn.Pose()}, step_s=1.0 / RATE_HZ)
    env = sn.Environment(sn.Scene(), world, worlds=worlds, magnetic=sn.fields.UniformMagnetic((2e-5, 0.0, -4e-5)))
    if sensing:
        env.attach(imu(), body="car")
    return env


def steps(env: sn.Environment, count: int) -> Callable[[], None]:
    """This many steps of an environment."""

    def call() -> None:
        for _ in range(count):
            env.step()

    return call


class PlainChain:
    """The chain on plain arrays, this many samples at a time."""

    def __init__(self, worlds: int | None, samples: int) -> None:
        """Start it over (worlds, axes), or (axes,) for None."""
        shape = (AXES,) if worlds is None else (worlds, AXES)
        self._chain = chain()
        self._state = self._chain.init(shape, seed=0, period_s=1.0 / RATE_HZ)
        self._signals = np.random.default_rng(0).normal(size=(samples, *shape))
        self._after_ns = round(NS_PER_S / RATE_HZ) * np.arange(1, samples + 1)
        self._time_ns = 0

    def series(self) -> None:
        """All samples in one call."""
        times_ns = self._time_ns + self._after_ns
        _, self._state = self._chain.series(self._signals, times_ns=times_ns, state=self._state)
        self._time_ns = int(times_ns[-1])

    def one_by_one(self) -> None:
        """A call for each."""
        times_ns = (self._time_ns + self._after_ns).tolist()
        for signal, time_ns in zip(self._signals, times_ns, strict=True):
            _, self._state = self._chain.apply(signal, time_ns=time_ns, state=self._state)
        self._time_ns = times_ns[-1]


def sensing_rate(*, moving: bool, worlds: int = WORLDS, samples: int = PIECE, rounds: int = STEPS // PIECE) -> Spread:
    """Axis-samples a second of IMUs in an environment, on the threads in use."""
    call = steps(environment(worlds, moving=moving), samples)
    return spread(call, rounds=rounds).rate(AXES * worlds * samples)


def chain_rate(*, series: bool, worlds: int = WORLDS, samples: int = PIECE, rounds: int = STEPS // PIECE) -> Spread:
    """Axis-samples a second of the chain on plain arrays, on the threads in use: one call for them all, or one each."""
    plain = PlainChain(worlds, samples)
    return spread(plain.series if series else plain.one_by_one, rounds=rounds).rate(AXES * worlds * samples)


def sensing_over_numpy(*, moving: bool, worlds: int = WORLDS, samples: int = PIECE, rounds: int = 31) -> float:
    """Rate of IMUs in an environment, motion and all, over that of their chain alone in NumPy; one thread."""
    with thread_count(1):
        call = steps(environment(worlds, moving=moving), samples)
        return ratio(call, _in_numpy(worlds, samples), rounds=rounds)


def chain_over_numpy(*, worlds: int = WORLDS, samples: int = PIECE, rounds: int = 31) -> float:
    """Rate of the chain on plain arrays over that in NumPy; one thread."""
    with thread_count(1):
        return ratio(PlainChain(worlds, samples).series, _in_numpy(worlds, samples), rounds=rounds)


def step_cost(*, moving: bool, sensing: bool = True, samples: int = PIECE, rounds: int = 500) -> Spread:
    """Seconds a step of one world, with its IMU or without."""
    return spread(steps(environment(moving=moving, sensing=sensing), samples), rounds=rounds).each(samples)


def sample_cost(*, samples: int = PIECE, rounds: int = 500) -> Spread:
    """Seconds a sample of the chain alone: nine channels, one call."""
    return spread(PlainChain(None, samples).one_by_one, rounds=rounds).each(samples)


def _in_numpy(worlds: int, samples: int) -> Callable[[], None]:
    plain, x = NumpyChain(worlds), np.random.default_rng(0).normal(size=(worlds, AXES))

    def call() -> None:
        for _ in range(samples):
            plain.step(x)

    return call
