"""Which sensors of an environment a talker sends, and what it needs of them."""

from typing import Any

import numpy as np

from sensorium.core.errors import SpecError
from sensorium.core.rotations import Float
from sensorium.environment import Environment
from sensorium.sensors.common.attached import AttachedSensor
from sensorium.sensors.inertial.reading import RATES

GAUSS_PER_T = 1e4


def chosen(env: Environment, kind: str, name: str | None, *, talker: str) -> str:
    """Name of the one sensor of a kind that a talker needs; the environment's only one if none is named.

    Args:
        env: The environment.
        kind: Kind of the sensor's specification, such as "gnss".
        name: Its name, or None.
        talker: The talker, for errors.
    """
    found = found_or_none(env, kind, name, talker=talker)
    if found is None:
        raise SpecError(f"live sink {talker!r} needs a sensor of kind {kind!r}; the environment has none")
    return found


def found_or_none(env: Environment, kind: str, name: str | None, *, talker: str) -> str | None:
    """The same, or None if none is named and there is none."""
    of_kind = [one for one, sensor in env.sensors.items() if getattr(sensor.spec, "kind", None) == kind]
    if name is not None and name not in of_kind:
        has = ", ".join(of_kind) or "none"
        raise SpecError(f"live sink {talker!r} names the {kind} {name!r}; the sensors of that kind are {has}")
    if name is None and len(of_kind) > 1:
        raise SpecError(f"live sink {talker!r} finds several of kind {kind!r}, {', '.join(of_kind)}; it must name one")
    if name is None and not of_kind:
        return None
    picked = of_kind[0] if name is None else name
    rig = env.sensors[picked].rig
    if rig.worlds * rig.sensors != 1:
        count = f"{rig.worlds} worlds and {rig.sensors} sensors of its kind"
        raise SpecError(f"live sink {talker!r} sends one device; {picked!r} has {count}, and it must be one of each")
    return picked


def inertial_outputs(sensor: AttachedSensor[Any], *, talker: str) -> frozenset[str]:
    """Quantities that an IMU reads out; acceleration and angular velocity in three axes must be among them."""
    spec: Any = sensor.spec
    groups = dict(zip(RATES, (spec.linear, spec.angular, spec.magnetic), strict=True))
    outputs = frozenset(spec.outputs or [name for name, group in groups.items() if group is not None])
    lacks = [name for name in RATES[:2] if name not in outputs]
    if lacks:
        raise SpecError(f"live sink {talker!r} sends {' and '.join(lacks)}; the outputs of {sensor.name!r} lack that")
    for name, group in groups.items():
        if name in outputs and group.axes != "xyz":
            raise SpecError(f"live sink {talker!r} sends three axes; {name} of {sensor.name!r} has {group.axes!r}")
    return outputs


def numbers(values: Any) -> tuple[float, ...]:
    """The numbers of one device, without leading axes of worlds and sensors."""
    return tuple(np.ravel(values).tolist())


def is_valid(reading: Any) -> bool:
    """Whether a reading of one device is not void."""
    return bool(np.all(reading.valid))


def body_axes(sensor: AttachedSensor[Any]) -> Float:
    """R_BS of a sensor's mount, by which its vectors are those of its body, shape (3, 3)."""
    return np.asarray(sensor.rig.X_BS.rotation[0])


def forward_right_down(vector: Any) -> tuple[float, float, float]:
    """A vector of axes forward, left and up in axes forward, right and down; the other way it is the same."""
    forward, left, up = np.ravel(vector).tolist()
    return forward, -left, -up
