"""The kernel of cone sensors: the nearest point of every object, or of all objects, in the cone of each sensor.

The search first discards objects whose sphere is outside the cone or beyond the nearest point so far; then clusters of
faces, by the same rule; then faces that point away, of closed parts of the object, if the sensor is outside: the line
to a point on such a face passes through that part, and thus through a nearer point in the cone. One-sided faces that
point away are discarded too. The remaining faces are searched in the sensor's frame.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.cone.lines import corner, lines_for_error, nearest_on_lines, nearest_on_parallel_lines
from sensorium.physics.cone.triangle import nearest_on_triangle
from sensorium.physics.cone.volume import is_inside, sphere_is_outside
from sensorium.runtime import jit
from sensorium.tracing.kernels.cone.tables import HIDDEN_OUTSIDE
from sensorium.tracing.placement.motion import rotation
from sensorium.worlds.interpolation import slerp
from sensorium.worlds.paths.base import P, Q, V, W

# Target of the search: the center of an object's box, the nearest of its lines, or the nearest point of its triangles
MIDDLE, LINES, EXACT = np.int64(0), np.int64(1), np.int64(2)


class ConeView(NamedTuple):
    """Shape of the cone, and how it is searched."""

    a: float  # tangents of half the field of view, left-right and up-down [1]
    b: float
    reach: float  # [m]
    spherical: bool  # whether the reach is a distance; else a depth
    method: np.int64  # MIDDLE, LINES or EXACT
    lines: np.int64  # lines of a face, or the most of them
    half_spacing: float  # half the angle that lines may lie apart [rad]; 0 lays all of them
    of_each: bool  # whether every object is searched; else only for the nearest point of all


class Places(NamedTuple):
    """Poses of sensors and bodies at an instant."""

    p_WS: NDArray[np.float64]  # (rows, 3) [m]; rows are worlds and then sensors
    q_WS: NDArray[np.float64]  # (rows, 4)
    v_WS: NDArray[np.float64]  # (rows, 3) [m/s]
    before: NDArray[np.float64]  # numbers of the state before, or at, the instant
    after: NDArray[np.float64]  # of the state after it
    fraction: float  # of the way between them
    worlds: int
    bodies: int  # in each world


class Nearest(NamedTuple):
    """Results: a slot for each object, or one."""

    point: NDArray[np.float64]  # (rows, slots, 3) in the sensor's frame [m]
    range_m: NDArray[np.float64]  # (rows, slots), inf where there is nothing
    range_rate: NDArray[np.float64]  # (rows, slots) (v_p - v_s) q / |q| of the matter there [m/s]
    object_id: NDArray[np.int32]  # (rows, slots), -1 where there is nothing
    face_id: NDArray[np.int32]


def new_nearest(rows: int, slots: int) -> Nearest:
    """Arrays for the kernel to fill, initialized to no result."""
    ids = np.zeros((2, rows, slots), np.int32)
    return Nearest(np.zeros((rows, slots, 3)), np.zeros((rows, slots)), np.zeros((rows, slots)), ids[0], ids[1])


@jit.kernel
def search(first, step, count, faces, objects, places, view, out):
    """Search for the rows first, first + step, ...

    Args:
        first, step, count: Share of the rows, which are worlds and then sensors.
        faces: `FaceTables`.
        objects: `ObjectTables`.
        places: `Places`.
        view: `ConeView`.
        out: `Nearest`.
    """
    sensors = count // places.worlds
    number = objects.body.shape[0]
    p_WB, R_WB = np.empty((places.bodies + 1, 3)), np.empty((places.bodies + 1, 9))
    R_WS, bound, corners = np.empty(9), np.empty(number), np.empty((4, 3))
    R_SO, p_SO, q, R = np.empty(9), np.empty(3), np.empty(4), np.empty(9)
    for row in range(first, count, step):
        for slot in range(out.range_m.shape[1]):
            out.range_m[row, slot] = math.inf
            out.object_id[row, slot], out.face_id[row, slot] = -1, -1
        world = row // sensors
        at = world if objects.mesh.shape[0] > 1 else 0
        _bodies(places, world, p_WB, R_WB, q)
        rotation(places.q_WS[row], R_WS)

        # Bounds of all objects; objects certainly outside the cone have none
        nearest = -1
        for k in range(number):
            bound[k] = math.inf
            if objects.mesh[at, k] < 0:
                continue
            x, y, z = _in_sensor(objects.middle[at, k], objects.body[k], p_WB, R_WB, places.p_WS[row], R_WS)
            radius = objects.radius[at, k]
            if view.method == MIDDLE:
                if is_inside(x, y, z, view.a, view.b, view.reach, view.spherical):
                    bound[k] = math.sqrt(x * x + y * y + z * z)
            elif not sphere_is_outside(x, y, z, radius, view.a, view.b, view.reach, view.spherical):
                bound[k] = max(0.0, math.sqrt(x * x + y * y + z * z) - radius)
            if bound[k] < math.inf and (nearest < 0 or bound[k] < bound[nearest]):
                nearest = k
        if nearest < 0:
            continue

        # The object with the least bound first, so that it bounds the search of the others
        within = math.inf
        for turn in range(-1, number):
            k = nearest if turn < 0 else turn
            if (turn == nearest) or bound[k] == math.inf or bound[k] * bound[k] >= within:
                continue
            if view.method == MIDDLE:
                x, y, z = _in_sensor(objects.middle[at, k], objects.body[k], p_WB, R_WB, places.p_WS[row], R_WS)
                distance2, face = x * x + y * y + z * z, 0
            else:
                _mount(objects, at, k, p_WB, R_WB, places.p_WS[row], R_WS, R, R_SO, p_SO)
                distance2, x, y, z, face = _nearest_of_mesh(
                    faces, objects.mesh[at, k], R_SO, p_SO, view, within, corners
                )
            if distance2 >= within or distance2 == math.inf:
                continue
            if not view.of_each:
                within = distance2
            slot = k if view.of_each else 0
            out.point[row, slot, 0], out.point[row, slot, 1], out.point[row, slot, 2] = x, y, z
            out.range_m[row, slot] = math.sqrt(distance2)
            out.object_id[row, slot], out.face_id[row, slot] = k, face
            out.range_rate[row, slot] = _rate(x, y, z, places, row, world, objects.body[k], p_WB, R_WS)


@jit.function
def _nearest_of_mesh(faces, mesh, R_SO, p_SO, view, within, corners):
    """Nearest point of a mesh in the cone: square of its distance, the point in S, and the triangle it is on."""
    best2, bx, by, bz, best_face = math.inf, 0.0, 0.0, 0.0, np.int32(-1)

    # The sensor in the mesh's frame: outside of its box, and how far
    sx = -(R_SO[0] * p_SO[0] + R_SO[3] * p_SO[1] + R_SO[6] * p_SO[2])
    sy = -(R_SO[1] * p_SO[0] + R_SO[4] * p_SO[1] + R_SO[7] * p_SO[2])
    sz = -(R_SO[2] * p_SO[0] + R_SO[5] * p_SO[1] + R_SO[8] * p_SO[2])
    box = faces.mesh_box
    ox = max(box[mesh, 0, 0] - sx, 0.0, sx - box[mesh, 1, 0])
    oy = max(box[mesh, 0, 1] - sy, 0.0, sy - box[mesh, 1, 1])
    oz = max(box[mesh, 0, 2] - sz, 0.0, sz - box[mesh, 1, 2])
    outside2 = ox * ox + oy * oy + oz * oz
    if outside2 >= within:
        return best2, bx, by, bz, best_face
    seen = 0 if outside2 > 0.0 else HIDDEN_OUTSIDE

    for cluster in range(faces.mesh_first[mesh], faces.mesh_first[mesh + 1]):
        x, y, z = _moved(faces.cluster_sphere[cluster], R_SO, p_SO)
        radius = faces.cluster_sphere[cluster, 3]
        bound = max(0.0, math.sqrt(x * x + y * y + z * z) - radius)
        if bound * bound >= within or sphere_is_outside(x, y, z, radius, view.a, view.b, view.reach, view.spherical):
            continue
        for face in range(faces.cluster_first[cluster], faces.cluster_first[cluster + 1]):
            # Height of the plane over the sensor, along its normal: positive where it points away
            normal = faces.normal[face]
            height = faces.offset[face] - (normal[0] * sx + normal[1] * sy + normal[2] * sz)
            bend = faces.bend[face]
            if faces.hidden[face] > seen and height >= bend:
                continue
            above = max(0.0, abs(height) - bend)
            if above * above >= within:
                continue
            for i in range(4):
                corners[i, 0], corners[i, 1], corners[i, 2] = _moved(faces.corners[face, i], R_SO, p_SO)
            if view.method == EXACT:
                p0, p1, p2 = corner(corners, 0), corner(corners, 1), corner(corners, 2)
                distance2, px, py, pz = nearest_on_triangle(
                    p0, p1, p2, view.a, view.b, view.reach, view.spherical, within
                )
            else:
                lines = view.lines
                if view.half_spacing > 0.0:
                    lines = lines_for_error(faces.extent[face], view.half_spacing, max(bound, above), lines)
                if faces.is_parallel[face]:
                    distance2, px, py, pz = nearest_on_parallel_lines(
                        corners, lines, view.a, view.b, view.reach, view.spherical, within
                    )
                else:
                    distance2, px, py, pz = nearest_on_lines(
                        corners, lines, view.a, view.b, view.reach, view.spherical, within
                    )
            if distance2 < within:
                within = best2 = distance2
                bx, by, bz, best_face = px, py, pz, faces.triangle[face]
    return best2, bx, by, bz, best_face


@jit.function
def _bodies(places, world, p_WB, R_WB, q):
    """Poses of all bodies of a world at the instant."""
    every, s = places.worlds * places.bodies, places.fraction
    for body in range(places.bodies):
        index = world * places.bodies + body
        for i in range(3):
            p_WB[body, i] = _between(places.before, places.after, P * every + 3 * index + i, s)
        at = Q * every + 4 * index
        if s > 0.0:
            slerp(places.before[at : at + 4], places.after[at : at + 4], s, q)
        else:
            for i in range(4):
                q[i] = places.before[at + i]
        rotation(q, R_WB[body])


@jit.function
def _between(before, after, at, s):
    """A number of a state, a fraction s of the way to the next."""
    return before[at] + s * (after[at] - before[at]) if s > 0.0 else before[at]


@jit.function
def _moved(p, R, t):
    """R p + t."""
    return (
        R[0] * p[0] + R[1] * p[1] + R[2] * p[2] + t[0],
        R[3] * p[0] + R[4] * p[1] + R[5] * p[2] + t[1],
        R[6] * p[0] + R[7] * p[1] + R[8] * p[2] + t[2],
    )


@jit.function
def _in_sensor(p_B, body, p_WB, R_WB, p_WS, R_WS):
    """A point of a body, or of the world where the body is -1, in the sensor's frame."""
    x, y, z = p_B[0], p_B[1], p_B[2]
    if body >= 0:
        x, y, z = _moved(p_B, R_WB[body], p_WB[body])
    x, y, z = x - p_WS[0], y - p_WS[1], z - p_WS[2]
    return (
        R_WS[0] * x + R_WS[3] * y + R_WS[6] * z,
        R_WS[1] * x + R_WS[4] * y + R_WS[7] * z,
        R_WS[2] * x + R_WS[5] * y + R_WS[8] * z,
    )


@jit.function
def _mount(objects, at, k, p_WB, R_WB, p_WS, R_WS, R, R_SO, p_SO):
    """Pose of an object in the sensor's frame, into R_SO and p_SO; R is room for R_SB."""
    body = objects.body[k]
    p_SO[0], p_SO[1], p_SO[2] = _in_sensor(objects.position[at, k], body, p_WB, R_WB, p_WS, R_WS)
    for i in range(3):
        for j in range(3):
            if body >= 0:
                R[3 * i + j] = (
                    R_WS[i] * R_WB[body, j] + R_WS[3 + i] * R_WB[body, 3 + j] + R_WS[6 + i] * R_WB[body, 6 + j]
                )
            else:
                R[3 * i + j] = R_WS[3 * j + i]
    own = objects.rotation[at, k]
    for i in range(3):
        for j in range(3):
            R_SO[3 * i + j] = R[3 * i] * own[0, j] + R[3 * i + 1] * own[1, j] + R[3 * i + 2] * own[2, j]


@jit.function
def _rate(x, y, z, places, row, world, body, p_WB, R_WS):
    """Radial velocity of the matter at a point of a body relative to the sensor, (v_p - v_s) q / |q| [m/s]."""
    distance = math.sqrt(x * x + y * y + z * z)
    if distance == 0.0:
        return 0.0

    # Direction and place in world axes
    qx = R_WS[0] * x + R_WS[1] * y + R_WS[2] * z
    qy = R_WS[3] * x + R_WS[4] * y + R_WS[5] * z
    qz = R_WS[6] * x + R_WS[7] * y + R_WS[8] * z
    vx, vy, vz = -places.v_WS[row, 0], -places.v_WS[row, 1], -places.v_WS[row, 2]
    if body >= 0:
        every, s = places.worlds * places.bodies, places.fraction
        v = V * every + 3 * (world * places.bodies + body)
        w = W * every + 3 * (world * places.bodies + body)
        wx = _between(places.before, places.after, w, s)
        wy = _between(places.before, places.after, w + 1, s)
        wz = _between(places.before, places.after, w + 2, s)
        rx = qx + places.p_WS[row, 0] - p_WB[body, 0]
        ry = qy + places.p_WS[row, 1] - p_WB[body, 1]
        rz = qz + places.p_WS[row, 2] - p_WB[body, 2]
        vx += _between(places.before, places.after, v, s) + wy * rz - wz * ry
        vy += _between(places.before, places.after, v + 1, s) + wz * rx - wx * rz
        vz += _between(places.before, places.after, v + 2, s) + wx * ry - wy * rx
    return (vx * qx + vy * qy + vz * qz) / distance
