"""Steps of kernels on a block of bundles, beams or pulses, before and beside the light of their rays."""

import numpy as np

from sensorium.runtime import jit
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.bundles import tables as bt
from sensorium.tracing.kernels.bundles.rays import find_axes
from sensorium.tracing.kernels.geometry.ray_errors import draw_block, draws_of, jitter
from sensorium.tracing.kernels.light import rows
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.sweep import aim_block, aim_numbered


@jit.function
def new_levels():
    """The sensor's own z axis for each bundle: x and y, and z."""
    return np.zeros(BLOCK, np.float32), np.ones(BLOCK, np.float32)


@jit.function
def fire_bundles(axes, up, levels, rays, heads, light, draws, number, most):
    """Axes of a block of bundles, two directions across each, and their draws; returns head, first bundle, how many."""
    head, start, used = aim_numbered(axes, rays, heads, number, most)
    own = draws_of(rays, heads, draws, head, start)
    time = rays.time[start : start + used]
    aim_block(up, levels[0], levels[0], levels[1], time, heads.matrix[head], heads.time, used)
    if light.number[tb.N_JITTER] > np.float32(0.0):
        jitter(axes, own, light.number[tb.N_JITTER], used)
    find_axes(axes, up, used)
    draw_block(axes, own, light.switch[tb.S_SLOTS] > 1, used)
    for k in range(used):
        axes[rows.AMBIENT + k] = np.float32(0.0)
    return head, start, used


@jit.function
def pick_centers(block, hit, spot, spot_hit, tables, pulse_of, begin, used):
    """Copy the center ray of each bundle of a block into another; returns how many there are."""
    count, rays, center = 0, tables.u.shape[0], tables.switch[bt.V_CENTER]
    for k in range(used):
        if (begin + k) % rays == center:
            for row in range(rows.FLOATS // BLOCK):
                spot[row * BLOCK + count] = block[row * BLOCK + k]
            for row in range(rows.WORDS // BLOCK):
                spot_hit[row * BLOCK + count] = hit[row * BLOCK + k]
            spot_hit[rows.RAY + count] = np.uint32(pulse_of[k])
            count += 1
    return count


@jit.function
def keep_sunlight(spot, spot_hit, axes, batch, count):
    """Sunlight of each bundle, at its center ray."""
    for i in range(count):
        axes[rows.AMBIENT + batch + spot_hit[rows.RAY + i]] = spot[rows.AMBIENT + i]
