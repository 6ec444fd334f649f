"""Poses and motions of all bodies and joints of a MuJoCo simulation, from the arrays its engine fills.

MuJoCo keeps the spatial velocity and acceleration of each body, angular part first, in world axes, at the center of
mass of the body's kinematic tree. With r from there to the body's origin,

    v_WB = v + w x r,    a_WB = a + alpha x r + w x v_WB + g:

the third term makes the spatial acceleration that of a point, and gravity g is added since the engine, like an
accelerometer, counts a body at rest as accelerating upwards (documentation of `cvel`, `cacc` and
`mj_rnePostConstraint`; checked against finite differences and the engine's own frame sensors).
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from sensorium.core.rotations import Float
from sensorium.runtime import jit
from sensorium.worlds.paths.base import ALPHA, ROW, A, P, Q, V, W

# Columns of `places`: addresses of the engine's arrays, and lengths of three of them
XPOS, XQUAT, SUBTREE_COM, ROOT, CVEL, CACC, QPOS, QVEL, BODIES, POSITIONS, VELOCITIES = range(11)


def places_of(model: Any, data: Any) -> NDArray[np.int64]:
    """Addresses of a simulation's arrays, as `read_state` takes them; valid as long as both exist."""
    arrays = (data.xpos, data.xquat, data.subtree_com, model.body_rootid, data.cvel, data.cacc, data.qpos, data.qvel)
    return np.array([*(array.ctypes.data for array in arrays), model.nbody, model.nq, model.nv], np.int64)


@jit.kernel
def read_state(
    world: int,
    worlds: int,
    places: NDArray[np.int64],
    joints_at: NDArray[np.int64],
    gravity_W: Float,
    accelerations: bool,
    numbers: Float,
) -> int:
    """Fill one world's part of a state's numbers: all bodies but the first, which is MuJoCo's world, and the joints.

    The engine's arrays are passed by address, since passing each array takes longer than reading it.

    Args:
        world: Which world.
        worlds: Number of worlds.
        places: Where the arrays xpos and xquat (p_WB [m] and q_WB), subtree_com (center of mass of what hangs on a body
            [m]), body_rootid (first body of each body's tree), cvel and cacc (spatial velocities, and accelerations
            less gravity), qpos and qvel lie, and how many bodies, positions and velocities there are.
        joints_at: Where in qpos and in qvel each joint is, (2, joints).
        gravity_W: [m/s^2], (3,).
        accelerations: Whether cacc is filled; if not, accelerations are set to zero.
        numbers: As `StateLayout` has them.

    Returns:
        Address of the numbers; 0 if one that was filled in is not finite.
    """
    # The engine's arrays
    count = places[BODIES]
    xpos = numba.carray(jit.pointer_from_address(places[XPOS]), (count, 3), np.float64)
    xquat = numba.carray(jit.pointer_from_address(places[XQUAT]), (count, 4), np.float64)
    subtree_com = numba.carray(jit.pointer_from_address(places[SUBTREE_COM]), (count, 3), np.float64)
    root = numba.carray(jit.pointer_from_address(places[ROOT]), count, np.int32)
    cvel = numba.carray(jit.pointer_from_address(places[CVEL]), (count, 6), np.float64)
    cacc = numba.carray(jit.pointer_from_address(places[CACC]), (count, 6), np.float64)
    qpos = numba.carray(jit.pointer_from_address(places[QPOS]), places[POSITIONS], np.float64)
    qvel = numba.carray(jit.pointer_from_address(places[QVEL]), places[VELOCITIES], np.float64)

    # Bodies
    bodies = count - 1
    every_body = worlds * bodies
    bad = 0
    for b in range(1, bodies + 1):
        index = world * bodies + b - 1
        p, q = P * every_body + 3 * index, Q * every_body + 4 * index
        v, w = V * every_body + 3 * index, W * every_body + 3 * index
        a, alpha = A * every_body + 3 * index, ALPHA * every_body + 3 * index
        for k in range(4):
            numbers[q + k] = xquat[b, k]
            bad |= xquat[b, k] - xquat[b, k] != 0.0
        for k in range(3):
            numbers[p + k] = xpos[b, k]
            numbers[w + k] = cvel[b, k]
            bad |= xpos[b, k] - xpos[b, k] != 0.0
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            r_i, r_j = xpos[b, i] - subtree_com[root[b], i], xpos[b, j] - subtree_com[root[b], j]
            numbers[v + k] = cvel[b, 3 + k] + cvel[b, i] * r_j - cvel[b, j] * r_i
            bad |= numbers[v + k] - numbers[v + k] != 0.0
            bad |= numbers[w + k] - numbers[w + k] != 0.0
        for k in range(3):
            if not accelerations:
                numbers[alpha + k], numbers[a + k] = 0.0, 0.0
                continue
            i, j = (k + 1) % 3, (k + 2) % 3
            r_i, r_j = xpos[b, i] - subtree_com[root[b], i], xpos[b, j] - subtree_com[root[b], j]
            numbers[alpha + k] = cacc[b, k]
            along = cacc[b, i] * r_j - cacc[b, j] * r_i + cvel[b, i] * numbers[v + j] - cvel[b, j] * numbers[v + i]
            numbers[a + k] = cacc[b, 3 + k] + along + gravity_W[k]
            bad |= cacc[b, k] - cacc[b, k] != 0.0
            bad |= numbers[a + k] - numbers[a + k] != 0.0

    # Joints
    joints = joints_at.shape[1]
    at = ROW * every_body + world * joints
    for k in range(joints):
        position, velocity = qpos[joints_at[0, k]], qvel[joints_at[1, k]]
        numbers[at + k], numbers[at + worlds * joints + k] = position, velocity
        bad |= position - position != 0.0
        bad |= velocity - velocity != 0.0
    return 0 if bad else numbers.ctypes.data
