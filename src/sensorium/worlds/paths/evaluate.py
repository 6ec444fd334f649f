"""The kernel that evaluates closed paths: every body and joint of every world in one call."""

import math

import numpy as np
from numpy.typing import NDArray

from sensorium.core.rotations import Float
from sensorium.runtime import jit
from sensorium.runtime.worker_pool import NONE, next_block, shared
from sensorium.worlds.paths.base import ALPHA, CIRCLE, FIXED, JOINT_LINE, JOINT_SINE, LINE, ROW, SPIN, A, P, Q, V, W
from sensorium.worlds.paths.circle import circle_motion
from sensorium.worlds.paths.joints import joint_line_motion, joint_sine_motion
from sensorium.worlds.paths.line import fixed_motion, line_motion
from sensorium.worlds.paths.spin import spin_motion

# where each quantity begins and ends in a body's row
_QUANTITIES = ((P, Q), (Q, V), (V, W), (W, A), (A, ALPHA), (ALPHA, ROW))


@jit.function
def _scatter(row: Float, bodies: int, body: int, numbers: Float) -> None:
    """Write each quantity of a body's row into the block of that quantity."""
    for begin, end in _QUANTITIES:
        at = begin * bodies + (end - begin) * body
        for k in range(end - begin):
            numbers[at + k] = row[begin + k]


@jit.function
def _is_broken(row: Float) -> bool:
    """Whether any number of a row is infinite or not a number. No branches, so that the loop vectorizes."""
    broken = False
    for k in range(ROW):
        broken |= row[k] - row[k] != 0.0  # neither gives zero
    return broken


@jit.function
def _evaluate_worlds(
    first: int,
    step: int,
    count: int,
    t_s: Float,
    kinds: NDArray[np.int64],
    parameters: Float,
    joint_kinds: NDArray[np.int64],
    joint_parameters: Float,
    numbers: Float,
    broken: NDArray[np.bool_],
) -> None:
    """The work of `evaluate`."""
    bodies, joints = kinds.size, joint_kinds.size
    rows, joint_rows = parameters.shape[0], joint_parameters.shape[0]
    every_body = count * bodies
    row = jit.zeros(ROW, np.float64)
    world = next_block(first, step, count, NONE)
    while world < count:
        t = t_s[world]
        which = world if rows > 1 else 0
        for body in range(bodies):
            kind = kinds[body]
            own = parameters[which, body]
            if kind == FIXED:
                fixed_motion(own, t, row)
            elif kind == LINE:
                line_motion(own, t, row)
            elif kind == CIRCLE:
                circle_motion(own, t, row)
            elif kind == SPIN:
                spin_motion(own, t, row)
            else:
                continue
            _scatter(row, every_body, world * bodies + body, numbers)
            if _is_broken(row):
                broken[0] = True

        which = world if joint_rows > 1 else 0
        for joint in range(joints):
            kind = joint_kinds[joint]
            own = joint_parameters[which, joint]
            if kind == JOINT_LINE:
                position, velocity = joint_line_motion(own, t)
            elif kind == JOINT_SINE:
                position, velocity = joint_sine_motion(own, t)
            else:
                continue
            at = ROW * every_body + world * joints + joint
            numbers[at] = position
            numbers[at + count * joints] = velocity
            if not (math.isfinite(position) and math.isfinite(velocity)):
                broken[0] = True
        world = next_block(first, step, count, world)


_share_worlds = shared(_evaluate_worlds)


@jit.kernel
def evaluate(
    first: int,
    step: int,
    count: int,
    t_s: Float,
    kinds: NDArray[np.int64],
    parameters: Float,
    joint_kinds: NDArray[np.int64],
    joint_parameters: Float,
    numbers: Float,
    broken: NDArray[np.bool_],
) -> None:
    """Evaluate a share of the worlds; kinds that are not closed are left alone.

    Args:
        first, step, count: Share of the worlds.
        t_s: Path time of each world [s], (worlds,).
        kinds: Of the bodies' paths, (bodies,).
        parameters: Their rows, (worlds, bodies, PARAMETERS), or (1, ...) for the same in all worlds.
        joint_kinds: Of the joints' paths, (joints,).
        joint_parameters: Their rows, (worlds, joints, JOINT_PARAMETERS), or (1, ...).
        numbers: Filled with blocks p_WB, q_WB, v_WB, w_WB, a_WB, alpha_WB, each (worlds, bodies, 3 or 4), and
            joint positions and velocities, each (worlds, joints), one behind the other.
        broken: Set where any of them is not finite, bool (1,).
    """
    _share_worlds(first, step, count, (t_s, kinds, parameters, joint_kinds, joint_parameters, numbers, broken))
