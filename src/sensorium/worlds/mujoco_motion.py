"""Poses and motions of all bodies and joints of a MuJoCo simulation, from the arrays its engine fills.

MuJoCo keeps the spatial velocity and acceleration of each body, angular part first, in world axes, at the centre of
mass of the body's kinematic tree. With r from there to the body's origin,

    v_WB = v + w x r,    a_WB = a + alpha x r + w x v_WB + g:

the third term makes the spatial acceleration that of a point, and gravity g is added since the engine, like an
accelerometer, counts a body at rest as accelerating upwards (documentation of `cvel`, `cacc` and
`mj_rnePostConstraint`; checked against finite differences and the engine's own frame sensors).
"""

import numpy as np
from numpy.typing import NDArray

from sensorium import jit
from sensorium.paths.closed import ALPHA, ROW, A, P, Q, V, W
from sensorium.rotations import Float


@jit.kernel
def read_state(
    world: int,
    worlds: int,
    xpos: Float,
    xquat: Float,
    subtree_com: Float,
    root: NDArray[np.int32],
    cvel: Float,
    cacc: Float,
    qpos: Float,
    qvel: Float,
    position_at: NDArray[np.int64],
    velocity_at: NDArray[np.int64],
    gravity_W: Float,
    accelerations: bool,
    numbers: Float,
) -> None:
    """Fill one world's part of a state's numbers: all bodies but the first, which is MuJoCo's world, and the joints.

    Args:
        world: Which world.
        worlds: Of how many.
        xpos: p_WB [m], (bodies, 3).
        xquat: q_WB, (bodies, 4).
        subtree_com: Centre of mass of what hangs on each body [m], (bodies, 3).
        root: First body of each body's tree, (bodies,).
        cvel: Spatial velocities [rad/s, m/s], (bodies, 6).
        cacc: Spatial accelerations less gravity [rad/s^2, m/s^2], (bodies, 6).
        qpos: Generalised positions, (nq,).
        qvel: Generalised velocities, (nv,).
        position_at: Where in qpos each joint is, (joints,).
        velocity_at: Where in qvel each joint is, (joints,).
        gravity_W: [m/s^2], (3,).
        accelerations: Whether cacc is filled; if not, accelerations are set to zero.
        numbers: As `StateLayout` has them.
    """
    # Bodies
    bodies = xpos.shape[0] - 1
    every_body = worlds * bodies
    r = np.empty(3)
    for b in range(1, bodies + 1):
        index = world * bodies + b - 1
        p_WB, q_WB = numbers[P * every_body + 3 * index :], numbers[Q * every_body + 4 * index :]
        v_WB, w_WB = numbers[V * every_body + 3 * index :], numbers[W * every_body + 3 * index :]
        a_WB, alpha_WB = numbers[A * every_body + 3 * index :], numbers[ALPHA * every_body + 3 * index :]
        for k in range(4):
            q_WB[k] = xquat[b, k]
        for k in range(3):
            p_WB[k] = xpos[b, k]
            w_WB[k] = cvel[b, k]
            r[k] = xpos[b, k] - subtree_com[root[b], k]
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            v_WB[k] = cvel[b, 3 + k] + w_WB[i] * r[j] - w_WB[j] * r[i]
        for k in range(3):
            if not accelerations:
                alpha_WB[k], a_WB[k] = 0.0, 0.0
                continue
            i, j = (k + 1) % 3, (k + 2) % 3
            alpha_WB[k] = cacc[b, k]
            along = cacc[b, i] * r[j] - cacc[b, j] * r[i] + w_WB[i] * v_WB[j] - w_WB[j] * v_WB[i]
            a_WB[k] = cacc[b, 3 + k] + along + gravity_W[k]

    # Joints
    joints = position_at.size
    at = ROW * every_body + world * joints
    for k in range(joints):
        numbers[at + k] = qpos[position_at[k]]
        numbers[at + worlds * joints + k] = qvel[velocity_at[k]]
