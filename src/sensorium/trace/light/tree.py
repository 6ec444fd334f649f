"""The ray tree: what a surface reflects and lets through goes on as rays of its own.

A tree is an implicit heap: node 0 is the first interface, node i has its reflection at 2 i + 1 and its transmission at
2 i + 2, so a node's depth is the floor of log2(i + 1). Children wait in a queue of the block and are traced in packets;
the queue holds only what was met, so the cost follows the interfaces, not 2^depth.
"""

import math

import numpy as np

from sensorium import jit
from sensorium.optics.fresnel import relative_reflectance
from sensorium.optics.mirror_transfer import mirror_share
from sensorium.optics.pane import pane_factors
from sensorium.random import exp_f32
from sensorium.trace import packet as pk
from sensorium.trace.light import curvature, rows
from sensorium.trace.light import tables as tb
from sensorium.trace.packet import BLOCK, NO_HIT

# Numbers that functions take are typed: each plain literal would have its function compiled anew
_REFLECTION, _TRANSMISSION = np.int64(1), np.int64(2)

# A child starts on the face it left and must not meet it again: it looks from this far on [m], and a little more far
# out, where float32 is coarser.
_CLEAR_M, _CLEAR_PART = np.float32(2e-4), np.float32(2e-6)

# rows of the queue of children, last in first out: floats, then integers
_X, _Y, _Z, _DX, _DY, _DZ, _TIME, _GAIN, _OPL, _PZ, _NEAR = range(11)
_RAY, _NODE, _MEDIUM, _OUTER, _MIRROR = range(5)
QUEUE_FLOATS, QUEUE_WORDS = 11, 5

# in scenes with curved mirrors the queue has so many rows more, those of `curvature.pass_on`
CURVED_FLOATS = 4


@jit.inlined
def queue_size(depth):
    """Room for every child of a block: each level in the queue holds at most two for each ray of a batch."""
    return 2 * BLOCK * max(depth, 1) + BLOCK


@jit.function
def new_queue(depth, curved):
    """An empty queue; `curved` is above 0 in scenes with curved mirrors."""
    size = queue_size(depth)
    return jit.zeros((QUEUE_FLOATS + (CURVED_FLOATS if curved > 0 else 0), size), np.float32), jit.zeros(
        (QUEUE_WORDS, size), np.int32
    )


@jit.function
def start_paths(block, hit, medium_number, outer, medium, power):
    """Paths as they leave the sensor with all its power: nothing lost, nothing travelled."""
    n, alpha = medium[medium_number, tb.G_INDEX], medium[medium_number, tb.G_ALPHA]
    widening = medium[medium_number, tb.G_WIDENING]
    for k in range(BLOCK):
        block[rows.GAIN + k] = power
        block[rows.PATH_OPL + k] = np.float32(0.0)
        block[rows.PATH_Z + k] = np.float32(0.0)
        block[rows.MEDIUM_N + k] = n
        block[rows.MEDIUM_ALPHA + k] = alpha
        block[rows.WIDENING + k] = widening
    for k in range(BLOCK):
        hit[rows.RAY + k] = np.uint32(k)
        hit[rows.NODE + k] = np.uint32(0)
        hit[rows.MEDIUM + k] = np.uint32(medium_number)
        hit[rows.OUTER + k] = np.uint32(outer)
        hit[rows.MIRROR + k] = NO_HIT


@jit.function
def spawn(block, hit, materials, media, beam_tan2, floor, passes, depth, queue_f, queue_i, waiting, used):
    """Put the children of a batch of hits into the queue; returns how many wait now."""
    most = np.uint32((1 << depth) - 1)
    for k in range(used):
        if hit[rows.COLUMN + k] == NO_HIT or hit[rows.NODE + k] >= most:
            continue
        kind = np.int32(block[rows.KIND + k])
        carried = _raised(block[rows.SHARE + k], passes) * block[rows.GAIN + k]
        if kind == tb.SURFACE:
            if carried > floor:
                waiting = _reflect(block, hit, floor, passes, queue_f, queue_i, waiting, k, carried)
        elif kind == tb.PANE:
            material = materials[hit[rows.MATERIAL + k]]
            waiting = _through_pane(block, hit, material, beam_tan2, floor, passes, queue_f, queue_i, waiting, k)
        else:
            inner = np.int32(materials[hit[rows.MATERIAL + k], tb.M_MEDIUM])
            waiting = _through_boundary(
                block, hit, inner, media, beam_tan2, floor, passes, queue_f, queue_i, waiting, k
            )
    return waiting


@jit.function
def _raised(factor, passes):
    """A factor taken once, or twice for light that comes back the way it went."""
    return factor * factor if passes == 2 else factor


@jit.function
def _lost_here(block, k, passes):
    """Transmittance of the segment that ends at this hit, as often as light passes it."""
    return exp_f32(-np.float32(passes) * block[rows.MEDIUM_ALPHA + k] * block[pk.B_T_FAR + k])


@jit.function
def _reflect(block, hit, floor, passes, queue_f, queue_i, waiting, k, gain):
    """The mirror ray r = d - 2 (d . n) n, in the medium it came through, unless the way there took too much of it."""
    gain *= _lost_here(block, k, passes)
    if gain <= floor:
        return waiting
    nx, ny, nz = block[pk.B_NORMAL_X + k], block[pk.B_NORMAL_Y + k], block[pk.B_NORMAL_Z + k]
    dx, dy, dz = block[pk.B_DIRECTION_X + k], block[pk.B_DIRECTION_Y + k], block[pk.B_DIRECTION_Z + k]
    twice = np.float32(2.0) * (dx * nx + dy * ny + dz * nz)
    mirror = hit[rows.MIRROR + k]
    mirror = np.int32(hit[rows.COLUMN + k]) if mirror == NO_HIT else np.int32(mirror)
    return _push(
        block,
        hit,
        queue_f,
        queue_i,
        waiting,
        k,
        dx - twice * nx,
        dy - twice * ny,
        dz - twice * nz,
        gain,
        np.float32(0.0),
        _REFLECTION,
        np.int32(hit[rows.MEDIUM + k]),
        np.int32(hit[rows.OUTER + k]),
        mirror,
    )


@jit.function
def _through_pane(block, hit, material, beam_tan2, floor, passes, queue_f, queue_i, waiting, k):
    """A pane is one sheet: light goes straight on, some is mirrored; the glass adds (n - 1) d / cos theta_t."""
    cosine, index = block[rows.COS + k], block[rows.INDEX + k]
    back, on, inner_cosine = pane_factors(cosine, index, material[tb.M_PANE_TAU])
    if queue_f.shape[0] > QUEUE_FLOATS:
        beam_tan2 *= curvature.opening_of(block, k)
    back_in_beam = back * mirror_share(block[rows.COS + k], block[rows.ALPHA2 + k], beam_tan2)
    gain = _raised(back_in_beam, passes) * block[rows.GAIN + k]
    if gain > floor:
        waiting = _reflect(block, hit, floor, passes, queue_f, queue_i, waiting, k, gain)
    gain = _raised(on, passes) * block[rows.GAIN + k] * _lost_here(block, k, passes)
    if gain > floor:
        waiting = _push(
            block,
            hit,
            queue_f,
            queue_i,
            waiting,
            k,
            block[pk.B_DIRECTION_X + k],
            block[pk.B_DIRECTION_Y + k],
            block[pk.B_DIRECTION_Z + k],
            gain,
            material[tb.M_PANE_OPL] / inner_cosine,
            _TRANSMISSION,
            np.int32(hit[rows.MEDIUM + k]),
            np.int32(hit[rows.OUTER + k]),
            np.int32(hit[rows.MIRROR + k]),
        )
    return waiting


@jit.function
def _through_boundary(block, hit, inner, media, beam_tan2, floor, passes, queue_f, queue_i, waiting, k):
    """A boundary between two media: Fresnel decides how much goes which way, Snell where to."""
    # Outside in, or inside out
    entering = block[rows.SIDE + k] > np.float32(0.0)
    here, outer = np.int32(hit[rows.MEDIUM + k]), np.int32(hit[rows.OUTER + k])
    beyond = inner if entering else outer
    relative, c1 = (
        _relative_index(media[here, tb.G_EXCESS], media[beyond, tb.G_EXCESS]),
        np.float64(block[rows.COS + k]),
    )
    radicand = 1.0 - (1.0 - c1) * (1.0 + c1) / (relative * relative)
    back = np.float32(relative_reflectance(c1, relative, 0.0) if radicand > 0.0 else 1.0)
    if queue_f.shape[0] > QUEUE_FLOATS:
        beam_tan2 *= curvature.opening_of(block, k)
    back_in_beam = back * mirror_share(block[rows.COS + k], block[rows.ALPHA2 + k], beam_tan2)
    gain = _raised(back_in_beam, passes) * block[rows.GAIN + k]
    if gain > floor:
        waiting = _reflect(block, hit, floor, passes, queue_f, queue_i, waiting, k, gain)
    gain = _raised(np.float32(1.0) - back, passes) * block[rows.GAIN + k] * _lost_here(block, k, passes)
    if gain > floor and radicand > 0.0:
        # t = eta d + (eta c1 - c2) n, n on the side the ray comes from
        eta = np.float32(1.0 / relative)
        bend = np.float32(c1 / relative - math.sqrt(radicand)) * block[rows.SIDE + k]
        waiting = _push(
            block,
            hit,
            queue_f,
            queue_i,
            waiting,
            k,
            eta * block[pk.B_DIRECTION_X + k] + bend * block[pk.B_NORMAL_X + k],
            eta * block[pk.B_DIRECTION_Y + k] + bend * block[pk.B_NORMAL_Y + k],
            eta * block[pk.B_DIRECTION_Z + k] + bend * block[pk.B_NORMAL_Z + k],
            gain,
            np.float32(0.0),
            _TRANSMISSION,
            beyond,
            here if entering else np.int32(0),
            np.int32(hit[rows.MIRROR + k]),
        )
    return waiting


@jit.function
def _relative_index(excess_1, excess_2):
    """n2 / n1 from n^2 - 1 of both, in float64: reflection at a fog bank's skin hangs on the fourth digit of n."""
    return math.sqrt(1.0 + (np.float64(excess_2) - np.float64(excess_1)) / (1.0 + np.float64(excess_1)))


@jit.function
def _push(block, hit, f, i, waiting, k, dx, dy, dz, gain, extra_opl, way, medium, outer, mirror):
    """One more child in the queue, starting where the ray ended."""
    t, n = block[pk.B_T_FAR + k], block[rows.MEDIUM_N + k]
    opl = block[rows.PATH_OPL + k] + n * t + extra_opl
    f[_X, waiting] = block[pk.B_ORIGIN_X + k] + t * block[pk.B_DIRECTION_X + k]
    f[_Y, waiting] = block[pk.B_ORIGIN_Y + k] + t * block[pk.B_DIRECTION_Y + k]
    f[_Z, waiting] = block[pk.B_ORIGIN_Z + k] + t * block[pk.B_DIRECTION_Z + k]
    f[_DX, waiting] = dx
    f[_DY, waiting] = dy
    f[_DZ, waiting] = dz
    f[_TIME, waiting] = block[pk.B_TIME + k]
    f[_GAIN, waiting] = gain
    f[_OPL, waiting] = opl
    f[_PZ, waiting] = block[rows.PATH_Z + k] + t * block[rows.WIDENING + k]
    f[_NEAR, waiting] = _CLEAR_M + _CLEAR_PART * opl
    i[_RAY, waiting] = hit[rows.RAY + k]
    i[_NODE, waiting] = 2 * hit[rows.NODE + k] + way
    i[_MEDIUM, waiting] = medium
    i[_OUTER, waiting] = outer
    i[_MIRROR, waiting] = mirror
    if f.shape[0] > QUEUE_FLOATS:
        curvature.pass_on(block, k, f, QUEUE_FLOATS, waiting, way == _REFLECTION, dx, dy, dz)
    return waiting + 1


@jit.function
def take(block, hit, media, f, i, first, used, far):
    """Load queued children first .. first + used into a block, ready to be traced."""
    for k in range(used):
        j = first + k
        block[pk.B_ORIGIN_X + k] = f[_X, j]
        block[pk.B_ORIGIN_Y + k] = f[_Y, j]
        block[pk.B_ORIGIN_Z + k] = f[_Z, j]
        block[pk.B_DIRECTION_X + k] = f[_DX, j]
        block[pk.B_DIRECTION_Y + k] = f[_DY, j]
        block[pk.B_DIRECTION_Z + k] = f[_DZ, j]
        block[pk.B_TIME + k] = f[_TIME, j]
        block[pk.B_T_NEAR + k] = f[_NEAR, j]
        block[pk.B_T_FAR + k] = far
        block[rows.GAIN + k] = f[_GAIN, j]
        block[rows.PATH_OPL + k] = f[_OPL, j]
        block[rows.PATH_Z + k] = f[_PZ, j]
        block[rows.MEDIUM_N + k] = media[i[_MEDIUM, j], tb.G_INDEX]
        block[rows.MEDIUM_ALPHA + k] = media[i[_MEDIUM, j], tb.G_ALPHA]
        block[rows.WIDENING + k] = media[i[_MEDIUM, j], tb.G_WIDENING]
        hit[rows.RAY + k] = i[_RAY, j]
        hit[rows.NODE + k] = i[_NODE, j]
        hit[rows.MEDIUM + k] = i[_MEDIUM, j]
        hit[rows.OUTER + k] = i[_OUTER, j]
        hit[rows.MIRROR + k] = i[_MIRROR, j]
        if f.shape[0] > QUEUE_FLOATS:
            curvature.take_spread(block, k, f, QUEUE_FLOATS, j)


@jit.function
def depth_of(node):
    """Depth of a node in its tree."""
    depth, n = np.int32(0), np.uint32(node + 1)
    while n > 1:
        n = np.uint32(n >> 1)
        depth = np.int32(depth + 1)
    return depth
