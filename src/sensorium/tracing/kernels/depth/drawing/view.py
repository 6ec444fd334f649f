"""Projection of an object's box into the image of a pinhole camera."""

import numba
import numpy as np

from sensorium.runtime import jit
from sensorium.runtime.jit import pointer_from_address
from sensorium.tracing.kernels.depth import lens as ln
from sensorium.tracing.placement.motion import AFFINE_WORDS

# Nearer to the camera's plane than this, points have no place in the image [m]
BESIDE_M = 1e-6

# Tolerance of boxes and triangles beyond their rounded places [px]
SLACK_PX = 0.01


@jit.function
def transform_of(arrays, array, item):
    """X_AO of an item at rest, rows of 3 x 4."""
    address = arrays.buffer[array] + np.int64(item) * (4 * AFFINE_WORDS)
    return numba.carray(pointer_from_address(address), AFFINE_WORDS, np.float32)


@jit.function
def into_camera(pose, transform, out):
    """X_SO = X_AS^-1 X_AO, in axes forward, right and down, rows of 3 x 4."""
    for j in range(4):
        shift = j == 3
        a = np.float64(transform[j]) - (np.float64(pose[3]) if shift else 0.0)
        b = np.float64(transform[4 + j]) - (np.float64(pose[7]) if shift else 0.0)
        c = np.float64(transform[8 + j]) - (np.float64(pose[11]) if shift else 0.0)
        out[j] = pose[0] * a + pose[4] * b + pose[8] * c
        out[4 + j] = -(pose[1] * a + pose[5] * b + pose[9] * c)
        out[8 + j] = -(pose[2] * a + pose[6] * b + pose[10] * c)


@jit.function
def bounds(m, half, lens, frame):
    """Pixels that a box about an object's origin may cover: first and end column, first and end row.

    Args:
        m: Pose of the box in the camera's frame; half: half its sides [m].
        lens, frame: As in `draw`.
    """
    # In front of the camera, and of the planes through the outermost rays
    depth = abs(m[0]) * half[0] + abs(m[1]) * half[1] + abs(m[2]) * half[2]
    if m[3] + depth <= 0.0:
        return 0, 0, 0, 0
    for axis in range(1, 3):
        focal, center = lens[ln.FX + axis - 1], lens[ln.CX + axis - 1]
        last = (frame.width if axis == 1 else frame.height) - 1
        for side in range(2):
            slope = ((last if side == 1 else 0) + (SLACK_PX if side == 1 else -SLACK_PX) - center) / focal
            sign = -1.0 if side == 1 else 1.0
            reach = sign * (m[4 * axis + 3] - slope * m[3])
            for j in range(3):
                reach += abs(m[4 * axis + j] - slope * m[j]) * half[j]
            if reach < 0.0:
                return 0, 0, 0, 0
    if m[3] - depth <= BESIDE_M:
        return 0, frame.width, 0, frame.height

    # Where its corners appear
    u0, u1, v0, v1 = np.inf, -np.inf, np.inf, -np.inf
    for corner in range(8):
        a = half[0] if corner & 1 else -half[0]
        b = half[1] if corner & 2 else -half[1]
        c = half[2] if corner & 4 else -half[2]
        inverse = 1.0 / (m[0] * a + m[1] * b + m[2] * c + m[3])
        u = (m[4] * a + m[5] * b + m[6] * c + m[7]) * inverse
        v = (m[8] * a + m[9] * b + m[10] * c + m[11]) * inverse
        u0, u1, v0, v1 = min(u0, u), max(u1, u), min(v0, v), max(v1, v)
    left, right = pixels_between(lens[ln.CX] + lens[ln.FX] * u0, lens[ln.CX] + lens[ln.FX] * u1, frame.width)
    first, last_row = pixels_between(lens[ln.CY] + lens[ln.FY] * v0, lens[ln.CY] + lens[ln.FY] * v1, frame.height)
    return left, right, first, last_row if right > left else first


@jit.function
def pixels_between(low, high, size):
    """First and end of the pixels whose centers lie between two places [px]; the end is no less than the first."""
    first = np.int64(np.ceil(min(max(low - SLACK_PX, 0.0), np.float64(size))))
    end = np.int64(np.floor(max(min(high + SLACK_PX, size - 1.0), -1.0))) + 1
    return first, max(end, first)


@jit.function
def nearest_of(m, half):
    """Distance of the camera from a box, 0 inside it [m]; arguments as of `bounds`."""
    total = 0.0
    for j in range(3):
        away = max(abs(m[j] * m[3] + m[4 + j] * m[7] + m[8 + j] * m[11]) - half[j], 0.0)
        total += away * away
    return np.sqrt(total)
