"""The ray tree: reflected and transmitted light continues as child rays.

A tree is an implicit heap: node 0 is the first interface, node i has its reflection at 2 i + 1 and its transmission at
2 i + 2, so a node's depth is the floor of log2(i + 1). Children wait in a queue of the block and are traced in packets;
the queue holds only existing children, so the cost follows the interfaces, not 2^depth.

A child starts on a face and must not hit it again. A ray meets a plane once, so that face is excluded by its number at
any distance, and so are its neighbors across an edge within the float32 resolution of the start.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.optics.surfaces.fresnel import relative_reflectance
from sensorium.physics.optics.surfaces.mirror_transfer import mirror_share
from sensorium.physics.optics.surfaces.pane import pane_factors
from sensorium.random import exp_f32
from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK, NO_HIT, trace_again
from sensorium.tracing.hits import object_of
from sensorium.tracing.kernels.light import curvature, rows
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.media_stack import SAME_INDEX
from sensorium.tracing.kernels.light.stacks import Stacks, copy_stack, new_stacks

# Arguments are typed: each plain literal would have its function compiled again
_REFLECTION, _TRANSMISSION = np.int64(1), np.int64(2)

# Units of float32's last place: offset of a child's start from the face, on its side, and float32 resolution
_OFF_FACE, _UNTOLD = 1.2e-7, 1e-6
_LEAST_COSINE = np.float32(0.01)

# How often a ray may hit the face that it must pass
_MOST_AGAIN = 64

# rows of the queue of children, last in first out: floats, then integers
_X, _Y, _Z, _DX, _DY, _DZ, _TIME, _GAIN, _OPL, _PZ, _TRAVELED, _BEFORE = range(12)
_RAY, _NODE, _MIRROR, _LEFT_COLUMN, _LEFT_FACE = range(5)
QUEUE_FLOATS, QUEUE_WORDS = 12, 5

# and the rows of a block that they come from and go to
_TAKEN_FLOATS = (
    *(pk.B_ORIGIN_X, pk.B_ORIGIN_Y, pk.B_ORIGIN_Z, pk.B_DIRECTION_X, pk.B_DIRECTION_Y, pk.B_DIRECTION_Z, pk.B_TIME),
    *(rows.GAIN, rows.PATH_OPL, rows.PATH_Z, rows.TRAVELED, rows.BEFORE),
)
_TAKEN_WORDS = rows.RAY, rows.NODE, rows.MIRROR, rows.LEFT_COLUMN, rows.LEFT_FACE

# in scenes with curved mirrors the queue has this many more rows, those of `curvature.pass_on`
CURVED_FLOATS = 4


class Queue(NamedTuple):
    """Waiting children."""

    number: NDArray[np.float32]  # (QUEUE_FLOATS, or CURVED_FLOATS more, size)
    word: NDArray[np.int32]  # (QUEUE_WORDS, size)
    stacks: Stacks  # of size paths, or of none in a scene without volumes


@jit.inlined
def queue_size(depth):
    """Capacity for every child of a block: each level in the queue holds at most two for each ray of a batch."""
    return 2 * BLOCK * max(depth, 1) + BLOCK


@jit.function
def new_queue(depth, levels, curved):
    """An empty queue of paths, by greatest number of interfaces and of volumes, with curved mirrors or without."""
    size, more = np.int64(queue_size(depth)), CURVED_FLOATS if curved > 0 else 0
    return Queue(
        jit.zeros((QUEUE_FLOATS + more, size), np.float32),
        jit.zeros((QUEUE_WORDS, size), np.int32),
        new_stacks(size if depth > 0 else np.int64(0), levels),
    )


@jit.function
def start_paths(block, hit, medium, power):
    """Reset paths to their state at the sensor: full power, no distance, in the atmosphere."""
    n, widening = medium[0, tb.G_INDEX], medium[0, tb.G_WIDENING]
    for k in range(BLOCK):
        block[rows.GAIN + k] = power
        block[rows.PATH_OPL + k] = np.float32(0.0)
        block[rows.PATH_Z + k] = np.float32(0.0)
        block[rows.MEDIUM_N + k] = n
        block[rows.WIDENING + k] = widening
        block[rows.TRAVELED + k] = np.float32(0.0)
    for k in range(BLOCK):
        hit[rows.RAY + k] = np.uint32(k)
        hit[rows.NODE + k] = np.uint32(0)
        hit[rows.MIRROR + k] = NO_HIT
        hit[rows.MEDIUM + k], hit[rows.BEYOND + k] = np.uint32(0), np.uint32(0)


@jit.function
def pack_parents(block, hit, light, used):
    """Mark the hits of a shaded block that have children, in the row PARENTS.

    An opaque surface has one if it mirrors enough as a flat surface. A rough one scatters light far out of the beam; if
    it is convex it spreads the beam as well, so that more of it stays inside, but the rest is weak either way.
    """
    passes, most = light.switch[tb.S_ROUND_TRIP], np.uint32((1 << light.switch[tb.S_DEPTH]) - 1)
    floor, no, count, any_goes_on = light.number[tb.N_FLOOR], np.uint32(0), np.uint32(0), np.uint32(0)
    for k in range(used):
        carried = _raised(block[rows.SHARE + k], passes) * block[rows.GAIN + k]
        goes_on = (carried > floor) | (block[rows.KIND + k] != np.float32(tb.SURFACE))
        goes_on &= (hit[rows.NODE + k] < most) & (hit[rows.COLUMN + k] != NO_HIT)
        mark = np.uint32(1) if goes_on else no
        hit[rows.MARK + k] = mark
        any_goes_on |= mark
    for k in range(used if any_goes_on > no else 0):
        hit[np.uint32(rows.PARENTS) + count] = np.uint32(k)
        count = np.uint32(count + hit[rows.MARK + k])
    hit[rows.PARENT_COUNT] = count


@jit.function
def spawn(block, hit, stacks, beyond, light, world, queue, waiting):
    """Append the children of a batch of hits to the queue; returns how many wait now.

    Args:
        block, hit: Scratch, shaded, with the parents noted.
        stacks, beyond: `Stacks` of the paths before and behind their interfaces.
        light: `LightTables`; world: world of the rays.
        queue: `Queue`; waiting: how many wait in it.
    """
    passes = light.switch[tb.S_ROUND_TRIP]
    beam_tan2, floor = light.number[tb.N_BEAM_TAN2], light.number[tb.N_FLOOR]
    materials, media = light.material, light.medium
    reach = light.reach[world if light.reach.shape[0] > 1 else 0]
    for i in range(np.int64(hit[rows.PARENT_COUNT])):
        k = np.int64(hit[rows.PARENTS + i])
        if hit[rows.COLUMN + k] == NO_HIT:  # void since
            continue
        if block[rows.KIND + k] == np.float32(tb.SURFACE):
            carried = _raised(block[rows.SHARE + k], passes) * block[rows.GAIN + k]
            if carried > floor:
                waiting = _reflect(block, hit, stacks, reach, floor, passes, queue, waiting, k, carried)
            continue
        back, on, extra_opl, direction = _divided(block, hit, media, materials, k)
        cone2 = beam_tan2 * curvature.opening_of(block, k) if queue.number.shape[0] > QUEUE_FLOATS else beam_tan2
        back *= mirror_share(block[rows.COS + k], block[rows.ALPHA2 + k], cone2)
        gain = _raised(back, passes) * block[rows.GAIN + k]
        if gain > floor:
            waiting = _reflect(block, hit, stacks, reach, floor, passes, queue, waiting, k, gain)
        gain = _raised(on, passes) * block[rows.GAIN + k] * _lost_here(block, k, passes)
        if gain > floor:
            mirror = np.int32(hit[rows.MIRROR + k])
            waiting = _push(
                block, hit, beyond, reach, queue, waiting, k, direction, gain, extra_opl, _TRANSMISSION, mirror
            )
    return waiting


@jit.inlined
def _raised(factor, passes):
    """A factor once, or twice for light that returns along its path."""
    return factor * factor if passes == 2 else factor


@jit.inlined
def _lost_here(block, k, passes):
    """Transmittance of the segment that ends at this hit, to the power of the passes."""
    return exp_f32(-np.float32(passes) * block[rows.TAU + k])


@jit.inlined
def _reflect(block, hit, stacks, reach, floor, passes, queue, waiting, k, gain):
    """The mirror ray r = d - 2 (d . n) n, in the media of its parent, unless too little light is left."""
    gain *= _lost_here(block, k, passes)
    if gain <= floor:
        return waiting
    nx, ny, nz = block[pk.B_NORMAL_X + k], block[pk.B_NORMAL_Y + k], block[pk.B_NORMAL_Z + k]
    dx, dy, dz = block[pk.B_DIRECTION_X + k], block[pk.B_DIRECTION_Y + k], block[pk.B_DIRECTION_Z + k]
    twice = np.float32(2.0) * (dx * nx + dy * ny + dz * nz)
    mirror = hit[rows.MIRROR + k]
    mirror = np.int32(hit[rows.COLUMN + k]) if mirror == NO_HIT else np.int32(mirror)
    direction = (dx - twice * nx, dy - twice * ny, dz - twice * nz)
    return _push(block, hit, stacks, reach, queue, waiting, k, direction, gain, np.float32(0.0), _REFLECTION, mirror)


@jit.function
def _divided(block, hit, media, materials, k):
    """Reflected and transmitted shares of a pane or a boundary, optical path in it [m], and the direction.

    A pane is one sheet: light goes straight on, and the glass adds (n - 1) d / cos theta_t. Where it bounds a volume of
    another index, light that passed the glass is reflected and refracted there as well. At a boundary Fresnel's
    equations give the shares and Snell's law the direction.
    """
    one, zero = np.float32(1.0), np.float32(0.0)
    back, direction = _refracted(block, hit, media, k)
    if np.int32(block[rows.KIND + k]) != tb.PANE:
        return back, one - back, zero, direction
    material = materials[hit[rows.MATERIAL + k]]
    glass, on, inner_cosine = pane_factors(block[rows.COS + k], block[rows.INDEX + k], material[tb.M_PANE_TAU])
    return glass + on * on * back, on * (one - back), material[tb.M_PANE_OPL] / inner_cosine, direction


@jit.inlined
def _refracted(block, hit, media, k):
    """Reflectance between the media before and behind an interface, 1 for total reflection, and the direction."""
    dx, dy, dz = block[pk.B_DIRECTION_X + k], block[pk.B_DIRECTION_Y + k], block[pk.B_DIRECTION_Z + k]
    here, there = hit[rows.MEDIUM + k], hit[rows.BEYOND + k]
    if abs(media[there, tb.G_INDEX] - media[here, tb.G_INDEX]) <= SAME_INDEX:
        return np.float32(0.0), (dx, dy, dz)
    relative, c1 = _relative_index(media[here, tb.G_EXCESS], media[there, tb.G_EXCESS]), np.float64(block[rows.COS + k])
    radicand = 1.0 - (1.0 - c1) * (1.0 + c1) / (relative * relative)
    if radicand <= 0.0:
        return np.float32(1.0), (dx, dy, dz)

    # t = eta d + (eta c1 - c2) n, n on the side the ray comes from
    eta = np.float32(1.0 / relative)
    bend = np.float32(c1 / relative - math.sqrt(radicand)) * block[rows.SIDE + k]
    nx, ny, nz = block[pk.B_NORMAL_X + k], block[pk.B_NORMAL_Y + k], block[pk.B_NORMAL_Z + k]
    back = np.float32(relative_reflectance(c1, relative, 0.0))
    return back, (eta * dx + bend * nx, eta * dy + bend * ny, eta * dz + bend * nz)


@jit.inlined
def _relative_index(excess_1, excess_2):
    """n2 / n1 from n^2 - 1 of both, in float64, which differences of indices need."""
    return math.sqrt(1.0 + (np.float64(excess_2) - np.float64(excess_1)) / (1.0 + np.float64(excess_1)))


@jit.inlined
def _push(block, hit, stacks, reach, queue, waiting, k, direction, gain, extra_opl, way, mirror):
    """Append a child to the queue, starting at the ray's end, inside the volumes of the stack."""
    f, i = queue.number, queue.word
    t, n = block[pk.B_T_FAR + k], block[rows.MEDIUM_N + k]
    dx, dy, dz = direction
    nx, ny, nz = block[pk.B_NORMAL_X + k], block[pk.B_NORMAL_Y + k], block[pk.B_NORMAL_Z + k]
    cosine = dx * nx + dy * ny + dz * nz
    x = np.float64(block[pk.B_ORIGIN_X + k]) + np.float64(t) * np.float64(block[pk.B_DIRECTION_X + k])
    y = np.float64(block[pk.B_ORIGIN_Y + k]) + np.float64(t) * np.float64(block[pk.B_DIRECTION_Y + k])
    z = np.float64(block[pk.B_ORIGIN_Z + k]) + np.float64(t) * np.float64(block[pk.B_DIRECTION_Z + k])
    away = max(abs(x), abs(y), abs(z))
    off = _OFF_FACE * away if cosine > np.float32(0.0) else -_OFF_FACE * away
    f[_X, waiting], f[_Y, waiting], f[_Z, waiting] = x + off * nx, y + off * ny, z + off * nz
    f[_DX, waiting] = dx
    f[_DY, waiting] = dy
    f[_DZ, waiting] = dz
    f[_TIME, waiting] = block[pk.B_TIME + k]
    f[_GAIN, waiting] = gain
    f[_OPL, waiting] = block[rows.PATH_OPL + k] + n * t + extra_opl
    f[_PZ, waiting] = block[rows.PATH_Z + k] + t * block[rows.WIDENING + k]
    f[_TRAVELED, waiting] = block[rows.TRAVELED + k] + t
    column = hit[rows.COLUMN + k]
    f[_BEFORE, waiting] = np.float32(_UNTOLD * (away + reach[column])) / max(abs(cosine), _LEAST_COSINE)
    i[_RAY, waiting] = hit[rows.RAY + k]
    i[_NODE, waiting] = 2 * hit[rows.NODE + k] + way
    i[_MIRROR, waiting] = mirror
    volume = np.int32(block[rows.KIND + k]) == tb.DIELECTRIC  # whose faces surfaces are not looked for among
    i[_LEFT_COLUMN, waiting] = np.int32(-1) if volume else np.int32(column)
    i[_LEFT_FACE, waiting] = np.int32(hit[pk.B_FACE + k])
    if f.shape[0] > QUEUE_FLOATS:
        curvature.pass_on(block, k, f, QUEUE_FLOATS, waiting, way == _REFLECTION, dx, dy, dz)
    if queue.stacks.held.size > 0:
        copy_stack(stacks, k, queue.stacks, waiting)
    return waiting + 1


@jit.function
def take(block, hit, stacks, media, queue, first, used, far):
    """Load queued children first .. first + used into a block and its stacks, ready to be traced."""
    for row in range(QUEUE_FLOATS):
        _copy(block[_TAKEN_FLOATS[row] :], queue.number[row, first:], used)
    for row in range(QUEUE_WORDS):
        _copy(hit[_TAKEN_WORDS[row] :], queue.word[row, first:], used)
    for row in range(queue.number.shape[0] - QUEUE_FLOATS):
        _copy(block[rows.SPREAD + row * BLOCK :], queue.number[QUEUE_FLOATS + row, first:], used)
    n, widening, air = media[0, tb.G_INDEX], media[0, tb.G_WIDENING], np.uint32(0)
    for k in range(used):
        block[pk.B_T_NEAR + k] = np.float32(0.0)
        block[pk.B_T_FAR + k] = far
        block[rows.MEDIUM_N + k] = n
        block[rows.WIDENING + k] = widening
    for k in range(used):
        hit[rows.MEDIUM + k], hit[rows.BEYOND + k] = air, air
    if queue.stacks.held.size > 0:
        for k in range(used):
            copy_stack(queue.stacks, first + k, stacks, k)


@jit.inlined
def _copy(target, source, count):
    for k in range(count):
        target[k] = source[k]


@jit.inlined
def is_left(block, hit, k, distance, column, face):
    """Whether a hit of a child is on the face that it starts on, or on one across an edge of that."""
    same = (face == hit[rows.LEFT_FACE + k]) | (distance < block[rows.BEFORE + k])
    return same & (column == hit[rows.LEFT_COLUMN + k])


@jit.function
def pass_left(block, hit, floats, words, active, arrays, world, arguments, corners, far, used):
    """Make those children of a traced block that hit the face they start on search beyond it."""
    scene = arrays.scene[world]
    for k in range(used):
        for _ in range(_MOST_AGAIN):
            distance, face = block[pk.B_T_FAR + k], hit[pk.B_FACE + k]
            if hit[pk.B_INSTANCE + k] == NO_HIT:
                break
            if face != hit[rows.LEFT_FACE + k] and distance >= block[rows.BEFORE + k]:
                break
            column = np.uint32(object_of(arrays, world, hit[pk.B_INSTANCE + k], hit[pk.B_ITEM + k]))
            if not is_left(block, hit, k, distance, column, face):
                break
            block[pk.B_T_NEAR + k], block[pk.B_T_FAR + k] = np.nextafter(distance, np.float32(np.inf)), far
            trace_again(block, hit, floats, words, active, scene, arguments, corners, k)


@jit.function
def depth_of(node):
    """Depth of a node in its tree."""
    depth, n = np.int32(0), np.uint32(node + 1)
    while n > 1:
        n = np.uint32(n >> 1)
        depth = np.int32(depth + 1)
    return depth
