"""Images of pinhole cameras object by object: those of few triangles are drawn, the others traced where they are.

All rays of such an image start from one point and go through an even grid, so most of what a hierarchy of boxes is for
is known beforehand. An object outside the view costs a few additions. One of few triangles is drawn: for each tile of
pixels that a triangle may cover, three planes through the camera and the triangle's edges tell which pixels it covers,
and one division how far away it is there. One of many triangles, for the pixels it covers, is traced by its own
hierarchy, no farther than what is known to stand before it.

Planes through a shared edge are the same numbers for both triangles but for the sign, so that no ray slips through.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from sensorium import jit
from sensorium.jit import pointer_from_address
from sensorium.scene.layout import Layout
from sensorium.trace import lens as ln
from sensorium.trace import packet as pk
from sensorium.trace.motion import AFFINE_WORDS
from sensorium.trace.packet import (
    BLOCK,
    NO_HIT,
    TILE_COLUMNS,
    TILE_ROWS,
    WIDTH,
    clear_hits,
    copy_lanes,
    every_lane,
    intersect,
    lanes_of,
    turn_lanes,
    use_lanes,
)

# An object is drawn if it has at most so many triangles for each pixel it may cover, else traced
_FACES_A_PIXEL = 4.0

# Worlds of more objects for each pixel are traced from the top
_OBJECTS_A_PIXEL = 0.125

# Rays of an image that are worked on together: what is found along them stays in the second-level cache, and several
# threads have something to do
_MOST_RAYS, _FEWEST_RAYS, _FEWEST_SPANS = 16384, 1024, 8

# Nearer to the camera's plane than this, points have no place in the image [m]
_BESIDE_M = 1e-6

# How far beyond their rounded places triangles may reach [px]
_SLACK_PX = 0.01
_SLACK = np.float32(_SLACK_PX)

# What the distances of boxes and of hits may be off by, rounded
_ROUNDING = 1e-5

# Triangles whose planes pass so close to the camera are seen edge-on [m]
_EDGE_ON_M = 1e-9

# rows of an object's vertices in scratch: in the camera's frame [m], and in the image [px]
_FORWARD, _RIGHT, _DOWN, _U, _V = range(5)


class Frame(NamedTuple):
    """The grid of an image, and in which pieces it is drawn."""

    width: int  # [px], both of whole tiles
    height: int
    span: int  # rays that are worked on together: rows of tiles, or blocks where images are traced
    most_vertices: int  # of a mesh that may be drawn
    drawn: bool


def frame(width: int, height: int, heads: int, layout: Layout, *, drawn: bool) -> Frame:
    """How images are worked on. In which pieces changes nothing in them.

    Args:
        width, height: Of an image [px].
        heads: How many images are taken together.
        layout: Of the scene.
        drawn: Whether rays all start at one time from one place through the middles of pixels.
    """
    pixels, row = width * height, width * TILE_ROWS
    whole = width % TILE_COLUMNS == 0 and height % TILE_ROWS == 0
    if not drawn or not whole or layout.mesh_index.shape[1] > _OBJECTS_A_PIXEL * pixels:
        return Frame(width, height, BLOCK, 0, False)
    rays = min(_MOST_RAYS, max(_FEWEST_RAYS, pixels * heads // _FEWEST_SPANS))
    small = [len(mesh.vertices) for mesh in layout.meshes if len(mesh.faces) <= _FACES_A_PIXEL * pixels]
    return Frame(width, height, min(pixels, -(-rays // row) * row), max(small, default=0), True)


class Canvas(NamedTuple):
    """What is nearest so far along some rays of an image, in the order of tiles."""

    distance: NDArray[np.float32]
    face: NDArray[np.uint32]
    instance: NDArray[np.uint32]
    item: NDArray[np.uint32]
    vertex: NDArray[np.float64]  # (5, most vertices) of the object being drawn
    matrix: NDArray[np.float64]  # (12,) its pose in the camera's frame: rows forward, right and down
    seen: NDArray[np.int64]  # (objects, 7) those in view: array, item, mesh, and the pixels they may cover
    order: NDArray[np.int64]  # (objects,) their numbers, nearest first
    nearest: NDArray[np.float64]  # (objects,) how near these are [m]


@jit.function
def new_canvas(frame, objects):
    """Scratch for `span` rays of an image of so many objects."""
    size, most = (frame.span, objects) if frame.drawn else (0, 0)
    return Canvas(
        jit.zeros(size, np.float32),
        jit.zeros(size, np.uint32),
        jit.zeros(size, np.uint32),
        jit.zeros(size, np.uint32),
        jit.zeros((5, frame.most_vertices), np.float64),
        jit.zeros(12, np.float64),
        jit.zeros((most, 7), np.int64),
        jit.zeros(most, np.int64),
        jit.zeros(most, np.float64),
    )


@jit.function
def draw(
    canvas, frame, meshes, arrays, world, mask, arguments, pose, lens, reach, start, u, v, x, y, z,
    floats, words, active,
):  # fmt: skip
    """Find what is nearest along the rays from `start` on, as many as a span holds.

    Args:
        canvas: Filled.
        frame: `Frame`; meshes: `MeshTables`; arrays: `InstanceTables`, each of one transform; world: the head's.
        mask: Bits of the objects to see; arguments: address of Embree's arguments.
        pose: X_AS, rows of 3 x 4, float32 (12,); lens: its row, of a pinhole.
        reach: How far to look [m], float32.
        start: First ray, which begins a row of tiles.
        u, v: Pixels of the rays from there on [px]; x, y, z: their unit directions in S; float32.
        floats, words, active: Packet of `new_packet` with its mask set.
    """
    rays = x.shape[0]
    for k in range(rays):
        canvas.distance[k] = reach
        canvas.instance[k] = NO_HIT
    top = start // frame.width
    bottom = top + rays // frame.width
    use_lanes(active, WIDTH)
    seen = _list_seen(canvas, frame, meshes, arrays, world, mask, pose, lens, top, bottom)
    for place in range(seen):
        number, nearest = canvas.order[place], np.float32(canvas.nearest[place] * (1.0 - _ROUNDING))
        array, item, mesh = canvas.seen[number, 0], canvas.seen[number, 1], canvas.seen[number, 2]
        left, right, first, last = (
            canvas.seen[number, 3],
            canvas.seen[number, 4],
            canvas.seen[number, 5],
            canvas.seen[number, 6],
        )
        area = (left, right, max(first, top), min(last, bottom), top)
        if _is_hidden(canvas, frame, area, nearest):
            continue
        _into_camera(pose, _transform(arrays, array, item), canvas.matrix)
        instance = np.uint32(array - arrays.first[world])
        if meshes.face_count[mesh] <= _FACES_A_PIXEL * ((right - left) * (last - first)):
            _draw_object(canvas, frame, meshes, mesh, lens, area, u, v, x, instance, np.uint32(item))
        else:
            _trace_object(
                canvas, frame, meshes.scene[mesh], arguments, area, nearest, x, y, z, floats, words, active, instance,
                np.uint32(item),
            )  # fmt: skip


@jit.function
def _list_seen(canvas, frame, meshes, arrays, world, mask, pose, lens, top, bottom):
    """List the objects that may cover pixels of some rows, nearest first, since they hide much of the others.

    Returns:
        How many there are.
    """
    row, seen = world if meshes.of_object.shape[0] > 1 else 0, np.int64(0)
    for array in range(arrays.first[world], arrays.first[world + 1]):
        if arrays.mask[array] & mask == 0:
            continue
        for item in range(arrays.column_count[array]):
            mesh = meshes.of_object[row, arrays.columns[arrays.column_first[array] + item]]
            _into_camera(pose, _transform(arrays, array, item), canvas.matrix)
            left, right, first, last = _bounds(canvas.matrix, meshes.half[mesh], lens, frame)
            if left >= right or first >= bottom or last <= top:
                continue
            kept = canvas.seen[seen]
            kept[0], kept[1], kept[2] = array, item, mesh
            kept[3], kept[4], kept[5], kept[6] = left, right, first, last

            # In its place among those before
            nearest, place = _nearest(canvas.matrix, meshes.half[mesh]), seen
            while place > 0 and canvas.nearest[place - 1] > nearest:
                canvas.nearest[place], canvas.order[place] = canvas.nearest[place - 1], canvas.order[place - 1]
                place -= 1
            canvas.nearest[place], canvas.order[place] = nearest, seen
            seen += 1
    return seen


@jit.function
def _transform(arrays, array, item):
    """X_AO of an item that stands still, rows of 3 x 4."""
    address = arrays.buffer[array] + np.int64(item) * (4 * AFFINE_WORDS)
    return numba.carray(pointer_from_address(address), AFFINE_WORDS, np.float32)


@jit.function
def _nearest(m, half):
    """Distance of the camera from a box, 0 inside it [m]; arguments as of `_bounds`."""
    total = 0.0
    for j in range(3):
        away = max(abs(m[j] * m[3] + m[4 + j] * m[7] + m[8 + j] * m[11]) - half[j], 0.0)
        total += away * away
    return np.sqrt(total)


@jit.function
def _is_hidden(canvas, frame, area, nearest):
    """Whether something nearer than this was found along all rays of an area."""
    left, right, top, bottom, start_row = area
    columns = frame.width // TILE_COLUMNS
    for tile_row in range(top // TILE_ROWS, (bottom - 1) // TILE_ROWS + 1):
        at = (tile_row - start_row // TILE_ROWS) * columns
        for tile in range(left // TILE_COLUMNS, (right - 1) // TILE_COLUMNS + 1):
            if _any_farther(canvas.distance, (at + tile) * WIDTH, nearest):
                return False
    return True


@jit.function
def take_drawn(canvas, at, block, hit, used):
    """Copy what was found along `used` rays from `at` on into a block, which has room for whole packets."""
    for k in range(0, used, WIDTH):
        copy_lanes(block, pk.B_T_FAR + k, canvas.distance, at + k)
        copy_lanes(hit, pk.B_FACE + k, canvas.face, at + k)
        copy_lanes(hit, pk.B_INSTANCE + k, canvas.instance, at + k)
        copy_lanes(hit, pk.B_ITEM + k, canvas.item, at + k)


@jit.function
def find_normals(block, hit, meshes, arrays, world, used):
    """Normals of the faces met into a block, as Embree gives them: in the frames of objects and of any length."""
    first, row = np.uint32(arrays.first[world]), world if meshes.of_object.shape[0] > 1 else 0
    nx, ny, nz = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    last_face, last_instance, last_item = NO_HIT, NO_HIT, NO_HIT
    for k in range(used):
        face, instance, item = hit[pk.B_FACE + k], hit[pk.B_INSTANCE + k], hit[pk.B_ITEM + k]
        if instance == NO_HIT:
            continue
        if face != last_face or instance != last_instance or item != last_item:
            last_face, last_instance, last_item = face, instance, item
            column = arrays.columns[np.uint32(arrays.column_first[first + instance]) + item]
            mesh = meshes.of_object[row, column]
            a, b, c = _corner(meshes, mesh, face, 0), _corner(meshes, mesh, face, 1), _corner(meshes, mesh, face, 2)
            bx, by, bz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
            cx, cy, cz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
            nx, ny, nz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
        block[pk.B_NORMAL_X + k], block[pk.B_NORMAL_Y + k], block[pk.B_NORMAL_Z + k] = nx, ny, nz


@jit.function
def _corner(meshes, mesh, face, corner):
    """A vertex of a face [m], in the frame of its mesh."""
    number = numba.carray(pointer_from_address(meshes.faces[mesh]), 3 * meshes.face_count[mesh], np.uint32)
    i = number[np.uint64(face) * np.uint64(3) + np.uint64(corner)]
    vertex = numba.carray(pointer_from_address(meshes.vertices[mesh]), 3 * meshes.vertex_count[mesh], np.float32)
    at = np.uint64(i) * np.uint64(3)
    return vertex[at], vertex[at + np.uint64(1)], vertex[at + np.uint64(2)]


@jit.function
def _into_camera(pose, transform, out):
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
def _bounds(m, half, lens, frame):
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
            slope = ((last if side == 1 else 0) + (_SLACK_PX if side == 1 else -_SLACK_PX) - center) / focal
            sign = -1.0 if side == 1 else 1.0
            reach = sign * (m[4 * axis + 3] - slope * m[3])
            for j in range(3):
                reach += abs(m[4 * axis + j] - slope * m[j]) * half[j]
            if reach < 0.0:
                return 0, 0, 0, 0
    if m[3] - depth <= _BESIDE_M:
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
    left, right = _pixels(lens[ln.CX] + lens[ln.FX] * u0, lens[ln.CX] + lens[ln.FX] * u1, frame.width)
    first, last_row = _pixels(lens[ln.CY] + lens[ln.FY] * v0, lens[ln.CY] + lens[ln.FY] * v1, frame.height)
    return left, right, first, last_row if right > left else first


@jit.function
def _pixels(low, high, size):
    """First and end of the pixels whose centres lie between two places [px]; the end is no less than the first."""
    first = np.int64(np.ceil(min(max(low - _SLACK_PX, 0.0), np.float64(size))))
    end = np.int64(np.floor(max(min(high + _SLACK_PX, size - 1.0), -1.0))) + 1
    return first, max(end, first)


@jit.function
def _draw_object(canvas, frame, meshes, mesh, lens, area, u, v, x, instance, item):
    """Draw the triangles of a mesh into an area of the image."""
    vertex, m = canvas.vertex, canvas.matrix
    left, right, top, bottom, start_row = area
    count, faces = meshes.vertex_count[mesh], meshes.face_count[mesh]
    vertices = numba.carray(pointer_from_address(meshes.vertices[mesh]), 3 * count, np.float32)
    corners = numba.carray(pointer_from_address(meshes.faces[mesh]), 3 * faces, np.uint32)

    # Vertices in the camera's frame and in the image
    for i in range(count):
        a, b, c = np.float64(vertices[3 * i]), np.float64(vertices[3 * i + 1]), np.float64(vertices[3 * i + 2])
        forward = m[0] * a + m[1] * b + m[2] * c + m[3]
        aside, below = m[4] * a + m[5] * b + m[6] * c + m[7], m[8] * a + m[9] * b + m[10] * c + m[11]
        vertex[_FORWARD, i], vertex[_RIGHT, i], vertex[_DOWN, i] = forward, aside, below
        inverse = 1.0 / max(forward, _BESIDE_M)
        vertex[_U, i] = lens[ln.CX] + lens[ln.FX] * aside * inverse
        vertex[_V, i] = lens[ln.CY] + lens[ln.FY] * below * inverse

    columns = frame.width // TILE_COLUMNS
    for face in range(faces):
        i, j, k = corners[3 * face], corners[3 * face + 1], corners[3 * face + 2]
        nearest = min(vertex[_FORWARD, i], vertex[_FORWARD, j], vertex[_FORWARD, k])
        first, last, upper, lower = left, right, top, bottom
        if nearest > _BESIDE_M:
            a, b, c = vertex[_U, i], vertex[_U, j], vertex[_U, k]
            first, last = _pixels(min(a, b, c), max(a, b, c), frame.width)
            a, b, c = vertex[_V, i], vertex[_V, j], vertex[_V, k]
            upper, lower = _pixels(min(a, b, c), max(a, b, c), frame.height)
            upper, lower = max(upper, top), min(lower, bottom)
        elif max(vertex[_FORWARD, i], vertex[_FORWARD, j], vertex[_FORWARD, k]) <= 0.0:
            continue
        if first >= last or upper >= lower:
            continue

        # Its own plane: along the ray d, n d / n p is one over the distance, p being any of its points
        n0, n1, n2 = _normal(vertex, i, j, k)
        offset = vertex[_FORWARD, i] * n0 + vertex[_RIGHT, i] * n1 + vertex[_DOWN, i] * n2
        if offset * offset <= _EDGE_ON_M * _EDGE_ON_M * (n0 * n0 + n1 * n1 + n2 * n2):
            continue
        na, nb, nc = _of_pixels(n0, n1, n2, 1.0 / offset, lens)

        # Planes through the camera and the edges, turned so that the triangle is on their positive sides
        side = 1.0 if offset > 0.0 else -1.0
        p0, p1, p2 = _plane(vertex, j, k)
        q0, q1, q2 = _plane(vertex, k, i)
        r0, r1, r2 = _plane(vertex, i, j)
        pa, pb, pc = _of_pixels(p0, p1, p2, side, lens)
        qa, qb, qc = _of_pixels(q0, q1, q2, side, lens)
        ra, rb, rc = _of_pixels(r0, r1, r2, side, lens)
        number = np.uint32(face)
        for tile_row in range(upper // TILE_ROWS, (lower - 1) // TILE_ROWS + 1):
            # From where to where all four may be positive
            line = np.float32(tile_row * TILE_ROWS)
            low, high = np.float32(first), np.float32(last - 1)
            low, high = _between(pa, pb, pc, line, low, high)
            low, high = _between(qa, qb, qc, line, low, high)
            low, high = _between(ra, rb, rc, line, low, high)
            low, high = _between(na, nb, nc, line, low, high)
            if low > high:
                continue
            at = (tile_row - start_row // TILE_ROWS) * columns
            for tile in range(np.int64(low) // TILE_COLUMNS, np.int64(high) // TILE_COLUMNS + 1):
                _draw_tile(
                    canvas.distance, canvas.face, canvas.instance, canvas.item, (at + tile) * WIDTH, u, v, x,
                    pa, pb, pc, qa, qb, qc, ra, rb, rc, na, nb, nc, number, instance, item,
                )  # fmt: skip


@jit.inlined
def _between(a, b, c, line, low, high):
    """What is left of low .. high where a + b u + c v may be positive in a row of tiles."""
    most = a + max(c * line, c * (line + np.float32(TILE_ROWS - 1)))
    edge = -most / b
    if b > 0:
        low = max(low, edge - _SLACK)
    elif b < 0:
        high = min(high, edge + _SLACK)
    elif most < 0:
        high = np.float32(-1.0)
    return low, high


@jit.function
def _normal(vertex, i, j, k):
    """Normal of a triangle, twice as long as its area."""
    bx, by, bz = (
        vertex[_FORWARD, j] - vertex[_FORWARD, i],
        vertex[_RIGHT, j] - vertex[_RIGHT, i],
        vertex[_DOWN, j] - vertex[_DOWN, i],
    )
    cx, cy, cz = (
        vertex[_FORWARD, k] - vertex[_FORWARD, i],
        vertex[_RIGHT, k] - vertex[_RIGHT, i],
        vertex[_DOWN, k] - vertex[_DOWN, i],
    )
    return by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx


@jit.exact_function
def _plane(vertex, i, j):
    """Normal of the plane through the camera and two vertices: their cross product, which changes sign with them."""
    a, b = min(i, j), max(i, j)
    side = 1.0 if i < j else -1.0
    x = vertex[_RIGHT, a] * vertex[_DOWN, b] - vertex[_DOWN, a] * vertex[_RIGHT, b]
    y = vertex[_DOWN, a] * vertex[_FORWARD, b] - vertex[_FORWARD, a] * vertex[_DOWN, b]
    z = vertex[_FORWARD, a] * vertex[_RIGHT, b] - vertex[_RIGHT, a] * vertex[_FORWARD, b]
    return side * x, side * y, side * z


@jit.exact_function
def _of_pixels(x, y, z, scale, lens):
    """Scaled product of a vector with the ray (1, (u - cx) / fx, (v - cy) / fy) as a + b u + c v, in float32."""
    b, c = y / lens[ln.FX], z / lens[ln.FY]
    a = x - b * lens[ln.CX] - c * lens[ln.CY]
    return np.float32(scale * a), np.float32(scale * b), np.float32(scale * c)


@intrinsic
def _draw_tile(
    typing_context: Any, distance: Any, face: Any, instance: Any, item: Any, at: Any, u: Any, v: Any, x: Any,
    pa: Any, pb: Any, pc: Any, qa: Any, qb: Any, qc: Any, ra: Any, rb: Any, rc: Any, na: Any, nb: Any, nc: Any,
    this_face: Any, this_instance: Any, this_item: Any,
) -> Any:  # fmt: skip
    """Pixels of a tile that lie on the positive side of the planes p, q and r and where n is nearer become this face's.

    Planes are a + b u + c v; n so is one over the depth, which divided by the ray's part x along the axis is one over
    its distance.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds, flags = signature.args, ("contract", "nsz")
        targets = [lanes_of(context, builder, kinds[i], values[i], values[4]) for i in range(4)]
        places = [lanes_of(context, builder, kinds[i], values[i], values[4]) for i in (5, 6, 7)]
        old = [builder.load(target, align=4) for target in targets]
        columns, rows, along = (builder.load(place, align=4) for place in places)

        def plane(i: int) -> Any:
            a, b, c = (every_lane(builder, value) for value in values[i : i + 3])
            line = builder.fadd(builder.fmul(c, rows, flags=flags), a, flags=flags)
            return builder.fadd(builder.fmul(b, columns, flags=flags), line, flags=flags)

        zero = ir.Constant(columns.type, None)
        one = ir.Constant(columns.type, [1.0] * WIDTH)
        inverse = builder.fmul(plane(17), along, flags=flags)
        far = builder.fdiv(one, inverse)
        inside = builder.and_(builder.fcmp_ordered(">", inverse, zero), builder.fcmp_ordered("<", far, old[0]))
        for i in (8, 11, 14):
            inside = builder.and_(inside, builder.fcmp_ordered(">=", plane(i), zero))
        new = [far, *(every_lane(builder, value) for value in values[20:23])]
        for target, fresh, before in zip(targets, new, old, strict=True):
            builder.store(builder.select(inside, fresh, before), target, align=4)
        return context.get_dummy_value()

    f, w = types.float32, types.uint32
    return types.void(distance, face, instance, item, types.intp, u, v, x, *[f] * 12, w, w, w), generate


@intrinsic
def _any_farther(typing_context: Any, distance: Any, at: Any, limit: Any) -> Any:
    """Whether any of the distances of a tile is above a limit."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        lanes = builder.load(lanes_of(context, builder, signature.args[0], values[0], values[1]), align=4)
        above = builder.fcmp_ordered(">", lanes, every_lane(builder, values[2]))
        bits = builder.bitcast(above, ir.IntType(WIDTH))
        return builder.icmp_unsigned("!=", bits, ir.Constant(ir.IntType(WIDTH), 0))

    return types.boolean(distance, types.intp, types.float32), generate


@jit.function
def _trace_object(canvas, frame, scene, arguments, area, nearest, x, y, z, floats, words, active, instance, item):
    """Trace the rays of an area of the image into one mesh alone, in its frame."""
    m = canvas.matrix
    left, right, top, bottom, start_row = area
    m00, m01, m02 = np.float32(m[0]), np.float32(m[1]), np.float32(m[2])
    m10, m11, m12 = np.float32(-m[4]), np.float32(-m[5]), np.float32(-m[6])
    m20, m21, m22 = np.float32(-m[8]), np.float32(-m[9]), np.float32(-m[10])
    ox, oy, oz = (
        np.float32(-(m[0] * m[3] + m[4] * m[7] + m[8] * m[11])),
        np.float32(-(m[1] * m[3] + m[5] * m[7] + m[9] * m[11])),
        np.float32(-(m[2] * m[3] + m[6] * m[7] + m[10] * m[11])),
    )
    for lane in range(WIDTH):
        floats[pk.ORIGIN_X + lane], floats[pk.ORIGIN_Y + lane], floats[pk.ORIGIN_Z + lane] = ox, oy, oz
        floats[pk.T_NEAR + lane], floats[pk.TIME + lane] = np.float32(0.0), np.float32(0.0)
    columns = frame.width // TILE_COLUMNS
    for tile_row in range(top // TILE_ROWS, (bottom - 1) // TILE_ROWS + 1):
        at = (tile_row - start_row // TILE_ROWS) * columns
        for tile in range(left // TILE_COLUMNS, (right - 1) // TILE_COLUMNS + 1):
            ray = (at + tile) * WIDTH
            if not _any_farther(canvas.distance, ray, nearest):
                continue
            turn_lanes(floats, pk.DIRECTION_X, x, y, z, ray, m00, m10, m20)
            turn_lanes(floats, pk.DIRECTION_Y, x, y, z, ray, m01, m11, m21)
            turn_lanes(floats, pk.DIRECTION_Z, x, y, z, ray, m02, m12, m22)
            copy_lanes(floats, pk.T_FAR, canvas.distance, ray)
            clear_hits(words)
            intersect(active.ctypes.data, scene, floats.ctypes.data, arguments)
            for lane in range(WIDTH):
                if words[pk.GEOMETRY + lane] != NO_HIT:
                    k = ray + lane
                    canvas.distance[k], canvas.face[k] = floats[pk.T_FAR + lane], words[pk.FACE + lane]
                    canvas.instance[k], canvas.item[k] = instance, item
