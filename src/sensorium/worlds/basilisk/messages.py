"""Messages of a Basilisk simulation: readable types, and their conversion to our conventions."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from sensorium.core.errors import MissingExtraError, SpecError, WorldError
from sensorium.core.rotations import Float

_BODY = "SCStatesMsg"
_WHEELS = "RWSpeedMsg"

# Messages of one joint each, with the names of its position and its velocity
_SLIDE = "LinearTranslationRigidBodyMsg"
_JOINTS = {"HingedRigidBodyMsg": ("theta", "thetaDot"), _SLIDE: ("rho", "rhoDot")}

# What is read of a spacecraft's state, three numbers each
_QUANTITIES = (
    "r_BN_N",
    "v_BN_N",
    "sigma_BN",
    "omega_BN_B",
    "v_CN_N",
    "TotalAccumDV_CN_N",
    "nonConservativeAccelpntB_B",
    "omegaDot_BN_B",
)


def engine() -> tuple[Any, Any]:
    """Basilisk's messages and its class of simulations."""
    try:
        from Basilisk.architecture import messaging
        from Basilisk.utilities.SimulationBaseClass import SimBaseClass
    except ImportError as error:
        raise MissingExtraError(
            f"sn.worlds.Basilisk needs the package bsk ({error}); pip install 'sensorium[basilisk]'"
        ) from error
    return messaging, SimBaseClass


class BodyStates(NamedTuple):
    """Contents of state messages, in Basilisk's conventions; one row per body, shape (bodies, 3) each.

    Attributes:
        r_BN_N: Position of the body's origin B [m].
        v_BN_N: Its velocity [m/s].
        sigma_BN: Attitude as modified Rodrigues parameters [1].
        omega_BN_B: Angular velocity, in body axes [rad/s].
        v_CN_N: Velocity of the center of mass [m/s].
        dv_CN_N: Accumulated change of it by all forces but gravity [m/s].
        f_B: Acceleration of B less gravity, mean over the last step of the dynamics, in body axes [m/s^2].
        omega_dot_B: Angular acceleration, mean over that step, in body axes [rad/s^2].
    """

    r_BN_N: Float
    v_BN_N: Float
    sigma_BN: Float
    omega_BN_B: Float
    v_CN_N: Float
    dv_CN_N: Float
    f_B: Float
    omega_dot_B: Float


class _Joint(NamedTuple):
    reader: Any
    wheel: int | None
    names: tuple[str, str]


class Messages:
    """The messages of one simulation that bodies and joints are read from."""

    def __init__(self, bodies: Mapping[str, Any], joints: Mapping[str, Any]) -> None:
        """Subscribe to them.

        Args:
            bodies: The state message of each body.
            joints: The message of each joint; for a reaction wheel that of all wheels, with its number.
        """
        self._kept = (dict(bodies), dict(joints))  # a reader does not keep its message alive
        self._bodies = {name: _reader(f"body {name!r}", message, (_BODY,)) for name, message in bodies.items()}
        self._joints = {name: _joint(name, given) for name, given in joints.items()}
        self.slides = tuple(name for name, given in joints.items() if _kind(given) == _SLIDE)
        """Names of the joints that slide [m]."""
        self.integrates = np.array([joint.wheel is not None for joint in self._joints.values()], np.bool_)
        """Joints whose messages have a velocity but no position, shape (joints,)."""

    @property
    def written(self) -> bool:
        """Whether all have been written."""
        return all(reader.isWritten() for _, reader in self._readers())

    def time_ns(self) -> int:
        """Time at which they were written, by the simulation's clock [ns]; an error unless it is the same for all."""
        times: dict[int, str] = {}
        for name, reader in self._readers():
            if not reader.isWritten():
                raise WorldError(f"the message of {name} was never written; its module must be in a task that runs")
            times.setdefault(reader.timeWritten(), name)
        if len(times) > 1:
            (first_ns, first), (other_ns, other) = list(times.items())[:2]
            raise WorldError(
                f"the message of {first} was written at {first_ns} ns and that of {other} at {other_ns} ns; "
                "their modules must run in one task, or step_s must be a multiple of both tasks' periods"
            )
        return next(iter(times))

    def bodies(self) -> BodyStates:
        """Present contents of the messages of all bodies."""
        payloads = [reader() for reader in self._bodies.values()]
        return BodyStates(*(_rows([getattr(one, name) for one in payloads]) for name in _QUANTITIES))

    def joints(self) -> Float:
        """Positions and velocities of all joints now, shape (2, joints); positions of wheels are zero."""
        values = np.zeros((2, len(self._joints)))
        for k, (reader, wheel, (position, velocity)) in enumerate(self._joints.values()):
            payload = reader()
            if wheel is None:
                values[:, k] = getattr(payload, position), getattr(payload, velocity)
            else:
                values[1, k] = payload.wheelSpeeds[wheel]
        return values

    def _readers(self) -> list[tuple[str, Any]]:
        bodies = [(f"body {name!r}", reader) for name, reader in self._bodies.items()]
        return bodies + [(f"joint {name!r}", joint.reader) for name, joint in self._joints.items()]


def quaternion_of_mrp(sigma_BN: Float) -> Float:
    """Quaternions q_NB, w x y z, (..., 4), of modified Rodrigues parameters (..., 3).

    sigma = e tan(phi / 4) for a turn of the body by phi about e, so q = (1 - s, 2 sigma) / (1 + s) with s = |sigma|^2
    (Schaub and Junkins, Analytical Mechanics of Space Systems, section 3.5). Basilisk's [BN] takes components in N to
    those in B; the same turn, as a rotation of vectors, takes p_B to p_N, which is our X_WB: nothing is conjugated.
    """
    square = (sigma_BN * sigma_BN).sum(axis=-1, keepdims=True)
    return np.concatenate([1.0 - square, 2.0 * sigma_BN], axis=-1) / (1.0 + square)


def _rows(vectors: list[Any]) -> Float:
    return np.array(vectors, np.float64).reshape(-1, 3)


def _joint(name: str, given: Any) -> _Joint:
    if isinstance(given, tuple):
        reader = _reader(f"joint {name!r}", given[0], (_WHEELS,))
        count = len(reader().wheelSpeeds)
        if len(given) != 2 or not isinstance(given[1], int) or not 0 <= given[1] < count:
            raise SpecError(
                f"joint {name!r} is {given!r}; a wheel's number from 0 to {count - 1} must follow its message"
            )
        return _Joint(reader, given[1], ("", ""))
    reader = _reader(f"joint {name!r}", given, tuple(_JOINTS))
    return _Joint(reader, None, _JOINTS[_kind(given)])


def _reader(name: str, message: Any, kinds: tuple[str, ...]) -> Any:
    """A subscription to a message of one of some kinds, whether a module in C++ or in C writes it."""
    messaging, _ = engine()
    if _kind(message) not in kinds:
        wheels = f", or ({_WHEELS}, number)" if kinds == tuple(_JOINTS) else ""
        raise SpecError(f"{name} is a {type(message).__name__}; it must be a {' or '.join(kinds)}{wheels} of Basilisk")
    reader = getattr(messaging, f"{_kind(message)}Reader")()
    reader.subscribeTo(message)
    return reader


def _kind(message: Any) -> str:
    return type(message).__name__.removesuffix("_C")
