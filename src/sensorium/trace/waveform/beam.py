"""One pulse becomes many rays: from the aperture, diverging from the virtual focus behind it."""

import math

import numpy as np

from sensorium import jit
from sensorium.trace import packet as pk
from sensorium.trace.waveform import tables as wt


@jit.function
def aim_rays(block, pulses, up, u, v, weight, number, weight_of, pulse_of, sub_of, batch, first, far, used):
    """Fill a block with rays first .. first + used of a batch of pulses, each with as many rays.

    Ray i of a pulse passes the aperture at r (u_i e1 + v_i e2) and goes along d + u_i tan(a) e1 + v_i tan(b) e2, with
    the axis d, e1 to the left and e2 up, all in scene coordinates.

    Args:
        block: Scratch for the rays.
        pulses: Scratch with origins, axes and times of pulses; up: the same with the sensor's z axis for direction.
        u, v, weight, number: Of `WaveformTables`.
        weight_of, pulse_of, sub_of: Filled with each ray's share of power, its pulse in the batch, its number in it.
        batch: Number of the batch's first pulse in `pulses`.
        first: Number of the block's first ray in the batch.
        far: How far to look [m].
        used: Rays in the block.
    """
    count = u.shape[0]
    k = 0
    while k < used:
        pulse, begin = (first + k) // count, (first + k) % count
        run = min(count - begin, used - k)
        for i in range(run):
            weight_of[k + i], pulse_of[k + i], sub_of[k + i] = weight[begin + i], pulse, begin + i
        _aim_run(block[k:], pulses, up, u[begin:], v[begin:], number, batch + pulse, far, run)
        k += run


@jit.inlined
def _aim_run(block, pulses, up, u, v, number, p, far, run):
    """Rays of one pulse."""
    dx, dy, dz = pulses[pk.B_DIRECTION_X + p], pulses[pk.B_DIRECTION_Y + p], pulses[pk.B_DIRECTION_Z + p]
    ox, oy, oz, time = (
        pulses[pk.B_ORIGIN_X + p],
        pulses[pk.B_ORIGIN_Y + p],
        pulses[pk.B_ORIGIN_Z + p],
        pulses[pk.B_TIME + p],
    )
    ax, ay, az, bx, by, bz = axes_across(
        dx, dy, dz, up[pk.B_DIRECTION_X + p], up[pk.B_DIRECTION_Y + p], up[pk.B_DIRECTION_Z + p]
    )
    along, across, radius = number[wt.W_TAN_ALONG], number[wt.W_TAN_ACROSS], number[wt.W_EXIT_RADIUS]
    one = np.float32(1.0)
    for i in range(run):
        s, t = u[i] * along, v[i] * across
        scale = one / math.sqrt(one + s * s + t * t)
        block[pk.B_DIRECTION_X + i] = (dx + s * ax + t * bx) * scale
        block[pk.B_DIRECTION_Y + i] = (dy + s * ay + t * by) * scale
        block[pk.B_DIRECTION_Z + i] = (dz + s * az + t * bz) * scale
        s, t = u[i] * radius, v[i] * radius
        block[pk.B_ORIGIN_X + i] = ox + s * ax + t * bx
        block[pk.B_ORIGIN_Y + i] = oy + s * ay + t * by
        block[pk.B_ORIGIN_Z + i] = oz + s * az + t * bz
        block[pk.B_TIME + i] = time
        block[pk.B_T_NEAR + i] = np.float32(0.0)
        block[pk.B_T_FAR + i] = far


@jit.inlined
def axes_across(dx, dy, dz, zx, zy, zz):
    """Two unit vectors across an axis d: z x d, level and to its left, and d x that; any two where d is along z."""
    ax, ay, az = zy * dz - zz * dy, zz * dx - zx * dz, zx * dy - zy * dx
    length = math.sqrt(ax * ax + ay * ay + az * az)
    if length < np.float32(1e-5):
        # Along the smallest component of d there is room
        if abs(dx) < np.float32(0.5):
            ax, ay, az = np.float32(0.0), dz, -dy
        else:
            ax, ay, az = -dz, np.float32(0.0), dx
        length = math.sqrt(ax * ax + ay * ay + az * az)
    scale = np.float32(1.0) / length
    ax, ay, az = ax * scale, ay * scale, az * scale
    return ax, ay, az, dy * az - dz * ay, dz * ax - dx * az, dx * ay - dy * ax
