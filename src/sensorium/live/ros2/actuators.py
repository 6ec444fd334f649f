"""Commands for the actuators of a MuJoCo world, in all worlds that run side by side."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.worlds.mujoco.world import MuJoCo

# Beyond this a command is a mistake, and the engine would diverge
_MOST = 1e6

# The part of a JointState that a kind of actuator takes
_PARTS = ("position", "velocity", "effort")


def set_actuators(world: MuJoCo, message: Any) -> None:
    """Apply a std_msgs/Float64MultiArray: one number for each actuator, in the model's order.

    Numbers have the actuator's own unit; the engine limits them to its control range.
    """
    values = np.asarray(message.data, np.float64)
    if values.shape != (world.model.nu,):
        raise SpecError(f"data has {values.size} numbers; the model has {world.model.nu} actuators")
    _apply(world, np.arange(world.model.nu), values)


def set_joints(world: MuJoCo, message: Any) -> None:
    """Apply a sensor_msgs/JointState: each name is that of an actuator, or of the joint that one actuator drives.

    A position servo takes `position` [rad or m], a velocity servo `velocity` [rad/s or m/s], any other `effort` [N m or
    N]. Joints without a name keep their command.
    """
    if not message.name:
        raise SpecError("name is empty; it must have names of joints or actuators")
    numbers, values = [], []
    for at, name in enumerate(message.name):
        number = _actuator(world, name)
        part = _part(world, number)
        given = getattr(message, part)
        if len(given) != len(message.name):
            rule = f"{name!r} takes {part}, which must have as many"
            raise SpecError(f"{part} has {len(given)} numbers for {len(message.name)} names; {rule}")
        numbers.append(number)
        values.append(given[at])
    _apply(world, np.array(numbers), np.array(values, np.float64))


def _apply(world: MuJoCo, numbers: NDArray[np.int64], values: NDArray[np.float64]) -> None:
    if not (np.abs(values) <= _MOST).all():
        raise SpecError(f"commands are {values.tolist()}; they must be finite, and within {_MOST:g}")
    for data in world.data:
        data.ctrl[numbers] = values


def _actuator(world: MuJoCo, name: str) -> int:
    """Number of an actuator by its name or by the joint that it drives."""
    import mujoco

    model = world.model
    by_name = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, name)
    if by_name >= 0:
        return int(by_name)
    joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
    drives_joints = np.isin(model.actuator_trntype, (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    found = np.flatnonzero(drives_joints & (model.actuator_trnid[:, 0] == joint) & (joint >= 0))
    if len(found) != 1:
        names = [model.actuator(i).name or f"number {i}" for i in range(model.nu)]
        rule = f"it must be an actuator or a joint with one of its own; the actuators are {', '.join(names)}"
        raise SpecError(f"name has {name!r}, which {len(found)} actuators drive; {rule}")
    return int(found[0])


def _part(world: MuJoCo, number: int) -> str:
    """What an actuator takes: the engine's servos have a bias against position or velocity."""
    import mujoco

    model = world.model
    if model.actuator_biastype[number] != mujoco.mjtBias.mjBIAS_AFFINE:
        return _PARTS[2]
    _, of_position, of_velocity = model.actuator_biasprm[number, :3]
    return _PARTS[0] if of_position else _PARTS[1] if of_velocity else _PARTS[2]
