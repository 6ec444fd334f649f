"""Commands of an autopilot, and what is done with them in the world."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.environment import Environment
from sensorium.live.talkers.options import ControlOptions
from sensorium.worlds.base import World
from sensorium.worlds.commanded import Commanded
from sensorium.worlds.joined import Joined
from sensorium.worlds.mujoco.world import MuJoCo

_MOST_CHANNELS = 32


class Controls(NamedTuple):
    """One command.

    Attributes:
        channels: Outputs from -1 to 1; NaN where a channel is off; shape (n,).
        motors_from_minus_one: Whether -1 is a motor's stop too, as with pulses of 1 ms; else that is 0.
        armed: Whether the vehicle is armed; None where the autopilot does not say.
        time_us: The autopilot's time [us], or its count of frames.
    """

    channels: NDArray[np.float64]
    motors_from_minus_one: bool
    armed: bool | None
    time_us: int


Handler = Callable[[Environment, Controls], None]


def handler_of(env: Environment, options: ControlOptions, *, talker: str) -> Handler | None:
    """What options ask to do with a command; None if they ask for nothing."""
    if options.actuators and options.body is not None:
        raise SpecError(f"control of live sink {talker!r} has actuators and body; it must have one of them")
    if options.actuators:
        return _actuator_handler(env, options.actuators, talker)
    if options.body is not None:
        return _rover_handler(env, options, talker)
    return None


def scaled_control(channel: float, low: float, high: float, *, motors_from_minus_one: bool) -> float:
    """A channel over a control range, limited to it.

    -1 to 1 are the whole range if it has negative values; else, as for motors, 0 to 1 or -1 to 1.
    """
    share = 0.5 * (channel + 1.0) if low < 0.0 or motors_from_minus_one else channel
    return low + min(max(share, 0.0), 1.0) * (high - low)


def _actuator_handler(env: Environment, names: tuple[str, ...], talker: str) -> Handler:
    simulated = [part for part in _parts(env.world) if isinstance(part, MuJoCo)]
    if len(simulated) != 1:
        rule = f"the world has {len(simulated)} parts of MuJoCo, and it must have one"
        raise SpecError(f"control of live sink {talker!r} names actuators; {rule}")
    world, model = simulated[0], simulated[0].model
    known = {model.actuator(i).name: i for i in range(model.nu)}
    ranges: dict[int, tuple[int, float, float]] = {}
    for channel, name in enumerate(names):
        if not name:
            continue
        if name not in known:
            has = ", ".join(known) or "none"
            raise SpecError(f"control of live sink {talker!r} names the actuator {name!r}; the model has {has}")
        at = known[name]
        if not model.actuator_ctrllimited[at]:
            raise SpecError(f"the actuator {name!r} has no ctrlrange; live sink {talker!r} needs it to scale commands")
        ranges[channel] = (at, *model.actuator_ctrlrange[at].tolist())

    def handle(env: Environment, controls: Controls) -> None:
        for channel, (at, low, high) in ranges.items():
            if channel < len(controls.channels) and np.isfinite(controls.channels[channel]):
                value = scaled_control(
                    float(controls.channels[channel]), low, high, motors_from_minus_one=controls.motors_from_minus_one
                )
                for data in world.data:
                    data.ctrl[at] = value

    return handle


def _rover_handler(env: Environment, options: ControlOptions, talker: str) -> Handler:
    commanded = {name: part for part in _parts(env.world) if isinstance(part, Commanded) for name in part.body_names}
    name = str(options.body)
    if name not in commanded:
        has = ", ".join(commanded) or "none"
        raise SpecError(f"control of live sink {talker!r} names the body {name!r}; those of Commanded worlds are {has}")
    world = commanded[name]

    def handle(env: Environment, controls: Controls) -> None:
        given = np.zeros(_MOST_CHANNELS)
        given[: len(controls.channels)] = np.clip(np.nan_to_num(controls.channels), -1.0, 1.0)
        speed, turn = float(given[options.speed_channel]), float(given[options.turn_channel])
        world.command(
            name,
            velocity=(speed * options.max_speed_m_s, 0.0, 0.0),
            angular_velocity=(0.0, 0.0, -turn * options.max_turn_rad_s),
        )

    return handle


def _parts(world: World) -> list[World]:
    """The world itself, or all parts of a joined one."""
    return [inner for part in world.parts for inner in _parts(part)] if isinstance(world, Joined) else [world]
