"""Pose of a sensor on a body, and the anchor and matrix for aiming its rays.

The arithmetic is that of `Pose`, bit for bit: X_WS = X_WB X_BS and its matrix, one rounding per operation. Numbers are
copied one by one, and small vectors are rows of one array, since Numba takes half a second to compile every slice
assignment and every new kind of array.
"""

import numpy as np

from sensorium.runtime import jit
from sensorium.tracing.placement import motion
from sensorium.tracing.placement.scenes import ANCHOR_GRID_M


@jit.function
def rotation(q, out):
    """Rotation matrix of a unit quaternion, row-major into out[0:9], as `rotations.rotation_from_quaternion`."""
    motion.rotation(q, out)
    for k in range(9):
        out[k] += 0.0  # no minus zero


@jit.function
def mounted(p_WB, q_WB, R_WB, p_BS, q_BS, p_WS, q_WS):
    """X_WB X_BS, with R_WB the matrix of q_WB."""
    for i in range(3):
        p_WS[i] = p_WB[i] + (R_WB[3 * i] * p_BS[0] + R_WB[3 * i + 1] * p_BS[1] + R_WB[3 * i + 2] * p_BS[2])
    a, b, c, d = q_WB[0], q_WB[1], q_WB[2], q_WB[3]
    q_WS[0] = a * q_BS[0] - b * q_BS[1] - c * q_BS[2] - d * q_BS[3]
    q_WS[1] = a * q_BS[1] + b * q_BS[0] + c * q_BS[3] - d * q_BS[2]
    q_WS[2] = a * q_BS[2] - b * q_BS[3] + c * q_BS[0] + d * q_BS[1]
    q_WS[3] = a * q_BS[3] + b * q_BS[2] - c * q_BS[1] + d * q_BS[0]


@jit.function
def copy_pose(p, q, out_p, out_q):
    """Copy a pose."""
    for k in range(3):
        out_p[k] = p[k]
    for k in range(4):
        out_q[k] = q[k]


@jit.function
def write_anchor(p_WS, anchor):
    """The point of the grid next to a sensor [m], as `PlacedScenes.on_grid`."""
    for k in range(3):
        anchor[k] = np.rint(p_WS[k] / ANCHOR_GRID_M) * ANCHOR_GRID_M + 0.0  # no minus zero


@jit.function
def write_matrix(p_WS, R_WS, anchor, row):
    """X_AS as rows of 3 x 4 in float32; A is the world moved to the anchor."""
    for k in range(3):
        for column in range(3):
            row[4 * k + column] = np.float32(R_WS[3 * k + column])
        row[4 * k + 3] = np.float32(p_WS[k] - anchor[k])
