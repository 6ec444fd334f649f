"""The rays of a beam or a pulse: from the aperture, diverging from the virtual focus behind it."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.bundles import tables as bt

# Rows of the scratch of upward directions that take the two axes across each pulse
_LEFT, _UP = pk.B_NORMAL_X, pk.B_ORIGIN_X

# Vectors of this many rays are filled whole
_VECTOR = 8


class RayNames(NamedTuple):
    """Which rays of which pulses are in a block."""

    u: NDArray[np.float32]  # (BLOCK,) place across the beam
    v: NDArray[np.float32]
    weight: NDArray[np.float32]  # (BLOCK,) share of power
    pulse: NDArray[np.int32]  # (BLOCK,) pulse in the batch
    slope: NDArray[np.float32]  # (3, BLOCK) unit direction: along the axis of the beam, to the left and up


@jit.function
def new_names():
    """Arrays that `name_rays` fills."""
    return RayNames(
        np.zeros(BLOCK, np.float32),
        np.zeros(BLOCK, np.float32),
        np.zeros(BLOCK, np.float32),
        np.zeros(BLOCK, np.int32),
        np.zeros((3, BLOCK), np.float32),
    )


@jit.function
def name_rays(tables, names, first):
    """Which rays of which pulses are in a block that begins with ray `first` of a batch, each pulse with as many.

    Args:
        tables: `BeamTables` or `WaveformTables`.
        names: `RayNames`, filled.
        first: Number of the block's first ray in the batch.
    """
    u_of, v_of, weight_of, pulse_of, slope_of = names
    count, one = tables.u.shape[0], np.float32(1.0)
    along, across = tables.number[bt.W_TAN_ALONG], tables.number[bt.W_TAN_ACROSS]
    for k in range(BLOCK):
        pulse, ray = (first + k) // count, (first + k) % count
        u, v = tables.u[ray], tables.v[ray]
        u_of[k], v_of[k], weight_of[k], pulse_of[k] = u, v, tables.weight[ray], pulse
        s, t = u * along, v * across
        scale = one / math.sqrt(one + s * s + t * t)
        slope_of[0, k], slope_of[1, k], slope_of[2, k] = scale, s * scale, t * scale


@jit.function
def find_axes(pulses, up, used):
    """Two axes across each pulse, to the left and up, into rows of the second scratch."""
    for k in range(used):
        ax, ay, az, bx, by, bz = axes_across(
            pulses[pk.B_DIRECTION_X + k],
            pulses[pk.B_DIRECTION_Y + k],
            pulses[pk.B_DIRECTION_Z + k],
            up[pk.B_DIRECTION_X + k],
            up[pk.B_DIRECTION_Y + k],
            up[pk.B_DIRECTION_Z + k],
        )
        up[_LEFT + k], up[_LEFT + BLOCK + k], up[_LEFT + 2 * BLOCK + k] = ax, ay, az
        up[_UP + k], up[_UP + BLOCK + k], up[_UP + 2 * BLOCK + k] = bx, by, bz


@jit.function
def aim_rays(block, pulses, up, names, tables, batch, first, far, used):
    """Fill a block with the rays that `name_rays` named.

    Ray i of a pulse passes the aperture at r (u_i e1 + v_i e2) and goes along d + u_i tan(a) e1 + v_i tan(b) e2, with
    the axis d, e1 to the left and e2 up, all in scene coordinates.

    Args:
        block: Scratch for the rays.
        pulses: Scratch with origins, axes and times of pulses; up: the same with the axes of `find_axes`.
        names: `RayNames`.
        tables: `BeamTables` or `WaveformTables`.
        batch: Number of the batch's first pulse in `pulses`.
        first: Number of the block's first ray in the batch.
        far: How far to look [m].
        used: Rays in the block.
    """
    block, pulses, up, names = jit.uncounted((block, pulses, up, names))
    rays, radius = tables.u.shape[0], tables.number[bt.W_EXIT_RADIUS]
    k, pulse = 0, first // rays
    while k < used:
        end = min((pulse + 1) * rays - first, used)
        # What is filled beyond a pulse's rays, the next pulse overwrites
        run = min((end - k + _VECTOR - 1) // _VECTOR * _VECTOR, BLOCK - k)
        _aim_run(block, pulses, up, names, radius, batch + pulse, far, np.uint32(k), np.uint32(run))
        k, pulse = end, pulse + 1


@jit.inlined
def _aim_run(block, pulses, up, names, radius, p, far, start, run):
    """Rays of one pulse, from a place of the block on."""
    u_of, v_of, slope_of = names.u, names.v, names.slope
    dx, dy, dz = pulses[pk.B_DIRECTION_X + p], pulses[pk.B_DIRECTION_Y + p], pulses[pk.B_DIRECTION_Z + p]
    ox, oy, oz = pulses[pk.B_ORIGIN_X + p], pulses[pk.B_ORIGIN_Y + p], pulses[pk.B_ORIGIN_Z + p]
    ax, ay, az = up[_LEFT + p], up[_LEFT + BLOCK + p], up[_LEFT + 2 * BLOCK + p]
    bx, by, bz = up[_UP + p], up[_UP + BLOCK + p], up[_UP + 2 * BLOCK + p]
    time = pulses[pk.B_TIME + p]
    for i in range(run):
        k = start + i
        r, s, t = slope_of[0, k], slope_of[1, k], slope_of[2, k]
        block[np.uint32(pk.B_DIRECTION_X) + k] = r * dx + s * ax + t * bx
        block[np.uint32(pk.B_DIRECTION_Y) + k] = r * dy + s * ay + t * by
        block[np.uint32(pk.B_DIRECTION_Z) + k] = r * dz + s * az + t * bz
        s, t = u_of[k] * radius, v_of[k] * radius
        block[np.uint32(pk.B_ORIGIN_X) + k] = ox + s * ax + t * bx
        block[np.uint32(pk.B_ORIGIN_Y) + k] = oy + s * ay + t * by
        block[np.uint32(pk.B_ORIGIN_Z) + k] = oz + s * az + t * bz
        block[np.uint32(pk.B_TIME) + k] = time
        block[np.uint32(pk.B_T_FAR) + k] = far


@jit.inlined
def axes_across(dx, dy, dz, zx, zy, zz):
    """Two unit vectors across an axis d: z x d, level and to its left, and d x that; any two where d is along z."""
    ax, ay, az = zy * dz - zz * dy, zz * dx - zx * dz, zx * dy - zy * dx

    # Where d is along z, there is room along the smallest component of d; chosen without a branch, for vector code
    zero = np.float32(0.0)
    along, small = ax * ax + ay * ay + az * az < np.float32(1e-10), abs(dx) < np.float32(0.5)
    other_x, other_y, other_z = zero if small else -dz, dz if small else zero, -dy if small else dx
    ax, ay, az = other_x if along else ax, other_y if along else ay, other_z if along else az
    scale = np.float32(1.0) / math.sqrt(ax * ax + ay * ay + az * az)
    ax, ay, az = ax * scale, ay * scale, az * scale
    return ax, ay, az, dy * az - dz * ay, dz * ax - dx * az, dx * ay - dy * ax
