"""Nearest hits along the rays of a pinhole image, object by object.

All rays of such an image start from one point and go through an even grid, which replaces most of the work of a
hierarchy of boxes. An object outside the view costs a few additions, an occluded one a few comparisons. An object of
few triangles is rasterized. One of many, or with one-sided faces, is traced by its own hierarchy, for the pixels it
covers, no farther than the known nearer hits.
"""

import numba
import numpy as np

from sensorium.runtime import jit
from sensorium.runtime.jit import pointer_from_address
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.kernels.depth.drawing.canvas import FACES_A_PIXEL, any_farther
from sensorium.tracing.kernels.depth.drawing.triangles import draw_triangles
from sensorium.tracing.kernels.depth.drawing.view import bounds, into_camera, nearest_of, transform_of

# Rounding tolerance of the distances of boxes and of hits
_ROUNDING = 1e-5


@jit.function
def draw(
    canvas, frame, meshes, arrays, world, mask, arguments, pose, lens, reach, start, u, v, x, y, z,
    floats, words, active,
):  # fmt: skip
    """Find the nearest hits along the rays from `start` on, as many as a span holds.

    Args:
        canvas: Filled.
        frame: `Frame`; meshes: `MeshTables`; arrays: `InstanceTables`, each of one transform; world: the head's.
        mask: Bits of the objects to see; arguments: address of Embree's arguments.
        pose: X_AS, rows of 3 x 4, float32 (12,); lens: its row, of a pinhole.
        reach: Length of the rays [m], float32.
        start: First ray, which begins a row of tiles.
        u, v: Pixels of the rays from there on [px]; x, y, z: their unit directions in S; float32.
        floats, words, active: Packet of `new_packet` with its mask set.
    """
    rays = x.shape[0]
    for k in range(rays):
        canvas.distance[k] = reach
        canvas.instance[k] = pk.NO_HIT
    top = start // frame.width
    bottom = top + rays // frame.width
    pk.use_lanes(active, pk.WIDTH)
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
        into_camera(pose, transform_of(arrays, array, item), canvas.matrix)
        instance = np.uint32(array - arrays.first[world])
        few = meshes.face_count[mesh] <= FACES_A_PIXEL * ((right - left) * (last - first))
        if few and meshes.has_backs[mesh]:
            draw_triangles(canvas, frame, meshes, mesh, lens, area, u, v, x, instance, np.uint32(item))
        else:
            _trace_object(
                canvas, frame, meshes.scene[mesh], arguments, area, nearest, x, y, z, floats, words, active, instance,
                np.uint32(item),
            )  # fmt: skip


@jit.function
def _list_seen(canvas, frame, meshes, arrays, world, mask, pose, lens, top, bottom):
    """List the objects that may cover pixels of some rows, nearest first, since they occlude much of the others.

    Returns:
        How many there are.
    """
    row, seen = world if meshes.of_object.shape[0] > 1 else 0, np.int64(0)
    for array in range(arrays.first[world], arrays.first[world + 1]):
        if arrays.mask[array] & mask == 0:
            continue
        for item in range(arrays.column_count[array]):
            mesh = meshes.of_object[row, arrays.columns[arrays.column_first[array] + item]]
            into_camera(pose, transform_of(arrays, array, item), canvas.matrix)
            left, right, first, last = bounds(canvas.matrix, meshes.half[mesh], lens, frame)
            if left >= right or first >= bottom or last <= top:
                continue
            kept = canvas.seen[seen]
            kept[0], kept[1], kept[2] = array, item, mesh
            kept[3], kept[4], kept[5], kept[6] = left, right, first, last

            # In its place among those before
            nearest, place = nearest_of(canvas.matrix, meshes.half[mesh]), seen
            while place > 0 and canvas.nearest[place - 1] > nearest:
                canvas.nearest[place], canvas.order[place] = canvas.nearest[place - 1], canvas.order[place - 1]
                place -= 1
            canvas.nearest[place], canvas.order[place] = nearest, seen
            seen += 1
    return seen


@jit.function
def _is_hidden(canvas, frame, area, nearest):
    """Whether all rays of an area have a hit nearer than this."""
    left, right, top, bottom, start_row = area
    columns = frame.width // pk.TILE_COLUMNS
    for tile_row in range(top // pk.TILE_ROWS, (bottom - 1) // pk.TILE_ROWS + 1):
        at = (tile_row - start_row // pk.TILE_ROWS) * columns
        for tile in range(left // pk.TILE_COLUMNS, (right - 1) // pk.TILE_COLUMNS + 1):
            if any_farther(canvas.distance, (at + tile) * pk.WIDTH, nearest):
                return False
    return True


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
    for lane in range(pk.WIDTH):
        floats[pk.ORIGIN_X + lane], floats[pk.ORIGIN_Y + lane], floats[pk.ORIGIN_Z + lane] = ox, oy, oz
        floats[pk.T_NEAR + lane], floats[pk.TIME + lane] = np.float32(0.0), np.float32(0.0)
    columns = frame.width // pk.TILE_COLUMNS
    for tile_row in range(top // pk.TILE_ROWS, (bottom - 1) // pk.TILE_ROWS + 1):
        at = (tile_row - start_row // pk.TILE_ROWS) * columns
        for tile in range(left // pk.TILE_COLUMNS, (right - 1) // pk.TILE_COLUMNS + 1):
            ray = (at + tile) * pk.WIDTH
            if not any_farther(canvas.distance, ray, nearest):
                continue
            pk.turn_lanes(floats, pk.DIRECTION_X, x, y, z, ray, m00, m10, m20)
            pk.turn_lanes(floats, pk.DIRECTION_Y, x, y, z, ray, m01, m11, m21)
            pk.turn_lanes(floats, pk.DIRECTION_Z, x, y, z, ray, m02, m12, m22)
            pk.copy_lanes(floats, pk.T_FAR, canvas.distance, ray)
            pk.clear_hits(words)
            pk.intersect(active.ctypes.data, scene, floats.ctypes.data, arguments)
            for lane in range(pk.WIDTH):
                if words[pk.GEOMETRY + lane] != pk.NO_HIT:
                    k = ray + lane
                    canvas.distance[k], canvas.face[k] = floats[pk.T_FAR + lane], words[pk.FACE + lane]
                    canvas.instance[k], canvas.item[k] = instance, item


@jit.function
def find_face_normals(block, hit, meshes, arrays, world, used):
    """Write normals of the hit faces into a block, as Embree gives them: in the frames of objects and of any length."""
    first, row = np.uint32(arrays.first[world]), world if meshes.of_object.shape[0] > 1 else 0
    nx, ny, nz = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    last_face, last_instance, last_item = pk.NO_HIT, pk.NO_HIT, pk.NO_HIT
    for k in range(used):
        face, instance, item = hit[pk.B_FACE + k], hit[pk.B_INSTANCE + k], hit[pk.B_ITEM + k]
        if instance == pk.NO_HIT:
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
