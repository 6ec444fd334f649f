"""Rasterization of triangles into tiles of pixels.

For each tile that a triangle may cover, three planes through the camera and the triangle's edges decide which pixels it
covers, and one division gives its distance there. Planes through a shared edge are the same numbers for both triangles
but for the sign, so that no ray passes between them.
"""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from sensorium.runtime import jit
from sensorium.runtime.jit import pointer_from_address
from sensorium.tracing.embree.packet import TILE_COLUMNS, TILE_ROWS, WIDTH, every_lane, lanes_of
from sensorium.tracing.kernels.depth import lens as ln
from sensorium.tracing.kernels.depth.drawing.view import BESIDE_M, SLACK_PX, pixels_between

# Triangles whose planes pass this close to the camera are seen edge-on [m]
_EDGE_ON_M = 1e-9

# rows of an object's vertices in scratch: in the camera's frame [m], and in the image [px]
_FORWARD, _RIGHT, _DOWN, _U, _V = range(5)

_SLACK = np.float32(SLACK_PX)


@jit.function
def draw_triangles(canvas, frame, meshes, mesh, lens, area, u, v, x, instance, item):
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
        inverse = 1.0 / max(forward, BESIDE_M)
        vertex[_U, i] = lens[ln.CX] + lens[ln.FX] * aside * inverse
        vertex[_V, i] = lens[ln.CY] + lens[ln.FY] * below * inverse

    columns = frame.width // TILE_COLUMNS
    for face in range(faces):
        i, j, k = corners[3 * face], corners[3 * face + 1], corners[3 * face + 2]
        nearest = min(vertex[_FORWARD, i], vertex[_FORWARD, j], vertex[_FORWARD, k])
        first, last, upper, lower = left, right, top, bottom
        if nearest > BESIDE_M:
            a, b, c = vertex[_U, i], vertex[_U, j], vertex[_U, k]
            first, last = pixels_between(min(a, b, c), max(a, b, c), frame.width)
            a, b, c = vertex[_V, i], vertex[_V, j], vertex[_V, k]
            upper, lower = pixels_between(min(a, b, c), max(a, b, c), frame.height)
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


@jit.function
def _plane(vertex, i, j):
    """Normal of the plane through the camera and two vertices: their cross product, which changes sign with them."""
    a, b = min(i, j), max(i, j)
    side = 1.0 if i < j else -1.0
    x = vertex[_RIGHT, a] * vertex[_DOWN, b] - vertex[_DOWN, a] * vertex[_RIGHT, b]
    y = vertex[_DOWN, a] * vertex[_FORWARD, b] - vertex[_FORWARD, a] * vertex[_DOWN, b]
    z = vertex[_FORWARD, a] * vertex[_RIGHT, b] - vertex[_RIGHT, a] * vertex[_FORWARD, b]
    return side * x, side * y, side * z


@jit.function
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
    """Assign this face to the pixels of a tile on the positive side of the planes p, q and r where n is nearer.

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
