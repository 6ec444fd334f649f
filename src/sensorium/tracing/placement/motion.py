"""Motion of bodies during one cast: the kind of motion of each body, and the transforms that Embree reads.

The true motion interpolates positions linearly and quaternions by slerp between the samples ("knots") of the pose
history. Embree offers two approximations, and each body uses the cheapest one that stays within TOLERANCE_M of the
truth over its whole extent:

- affine segments, matrices interpolated linearly. Between two matrices an angle phi apart a point at radius R deviates
  inwards by R phi^2 / 8, so the number of segments grows until that and the deviation of skipped knots fit;
- quaternion segments, exact for any rotation, but an order of magnitude slower to commit.
"""

import math
from typing import NamedTuple

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.runtime.jit import pointer_from_address
from sensorium.runtime.worker_pool import NONE, next_block, shared
from sensorium.worlds.interpolation import slerp

TOLERANCE_M = 2e-5

# kinds of motion, as stored for each body
FIXED = 0  # never moves: not on a body
PLACED = 1  # on a body that stands still during this cast
AFFINE = 2  # 2 + k: moves, with 2**k affine segments
AFFINE_DOUBLINGS = 4
ON_KNOTS = AFFINE + AFFINE_DOUBLINGS + 1  # + k: 2**k affine segments between any two knots, exact for straight lines
ON_KNOTS_DOUBLINGS = 3
QUATERNION = ON_KNOTS + ON_KNOTS_DOUBLINGS + 1

# order of trial: few segments, one from knot to knot, more, and quaternions last
_CANDIDATES = (
    *range(AFFINE, AFFINE + 3),
    ON_KNOTS,
    *range(AFFINE + 3, ON_KNOTS),
    *range(ON_KNOTS + 1, QUATERNION),
)

# rtcore_geometry.h: RTC_MAX_TIME_STEP_COUNT
MAX_SEGMENTS = 128

AFFINE_WORDS, QUATERNION_WORDS = 12, 16

_BUFFER_TRANSFORM = 23

_update_buffer = types.ExternalFunction("rtcUpdateGeometryBuffer", types.void(types.intp, types.int32, types.uint32))
_commit_geometry = types.ExternalFunction("rtcCommitGeometry", types.void(types.intp))
_commit_scene = types.ExternalFunction("rtcCommitScene", types.void(types.intp))


class MountTables(NamedTuple):
    """Mounts of objects on their bodies; the leading axis is 1 if all worlds are equal."""

    body: NDArray[np.int32]  # (objects,) index of the body, -1 for the world
    position: NDArray[np.float64]  # (1 | worlds, objects, 3) of the mesh's center, in the body frame
    quaternion: NDArray[np.float64]  # (1 | worlds, objects, 4)


@jit.function
def segments_of(kind: int, knots: int) -> int:
    """Number of segments of a kind of motion over this many knots (0: one transform)."""
    if kind <= PLACED:
        return 0
    if kind == QUATERNION:
        return min(knots - 1, MAX_SEGMENTS)
    if kind >= ON_KNOTS:
        return (knots - 1) << (kind - ON_KNOTS)
    return 1 << (kind - AFFINE)


@jit.function
def rotation(q, out):
    """Rotation matrix of a unit quaternion (w x y z), row-major into out[0:9]."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    out[0], out[1], out[2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    out[3], out[4], out[5] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    out[6], out[7], out[8] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)


@jit.function
def multiply(a, b, out):
    """Quaternion product a b into out."""
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
    out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]


@jit.function
def _pose_at(positions, quaternions, world, body, segment, segments, p, q):
    """Pose of a body at the start of a segment, with the knots spread over all segments."""
    last = positions.shape[0] - 1
    at = 0.0 if segments == 0 else segment * last / segments
    knot = min(int(at), max(last - 1, 0))
    s = at - knot
    if s == 0.0:
        for i in range(3):
            p[i] = positions[knot, world, body, i]
        for i in range(4):
            q[i] = quaternions[knot, world, body, i]
        return
    after = min(knot + 1, last)
    for i in range(3):
        a = positions[knot, world, body, i]
        p[i] = a + s * (positions[after, world, body, i] - a)
    slerp(quaternions[knot, world, body], quaternions[after, world, body], s, q)


@jit.function
def _chords(qa, qb):
    """Squared distances on the sphere of quaternions from qa to the nearer and to the farther of qb and -qb."""
    plus, minus = 0.0, 0.0
    for i in range(4):
        plus += (qa[i] + qb[i]) ** 2
        minus += (qa[i] - qb[i]) ** 2
    return min(plus, minus), max(plus, minus)


@jit.function
def _angle_of(small, large):
    """Rotation angle of such chords [rad], exact for small ones too."""
    return 4.0 * math.atan2(math.sqrt(small), math.sqrt(large))


@jit.function
def _angle_between(qa, qb):
    """Rotation angle from qa to qb [rad]."""
    small, large = _chords(qa, qb)
    return _angle_of(small, large)


@jit.function
def _affine_error(positions, quaternions, world, body, radius, segments, scratch):
    """Largest distance [m] between the truth and `segments` affine segments, over the body's extent.

    Beyond TOLERANCE_M the search ends, since the result is too large already.
    """
    last = positions.shape[0] - 1

    # From knot to knot, the most frequent by far: the farthest turn decides
    if segments == last:
        most, most_large = 0.0, 1.0
        for knot in range(last):
            small, large = _chords(quaternions[knot, world, body], quaternions[knot + 1, world, body])
            if small * most_large > most * large:
                most, most_large = small, large
        phi = _angle_of(most, most_large)
        return radius * phi * phi / 8.0

    pa, pb, qa, qb, qs = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    worst = 0.0
    for segment in range(segments):
        _pose_at(positions, quaternions, world, body, segment, segments, pa, qa)
        _pose_at(positions, quaternions, world, body, segment + 1, segments, pb, qb)
        phi = _angle_between(qa, qb)
        worst = max(worst, radius * phi * phi / 8.0)
        if worst > TOLERANCE_M:
            return worst

        # Knots inside the segment lie off its chord
        start, end = segment * last / segments, (segment + 1) * last / segments
        for knot in range(math.floor(start) + 1, math.ceil(end)):
            s = (knot - start) / (end - start)
            away = 0.0
            for i in range(3):
                d = positions[knot, world, body, i] - (pa[i] + s * (pb[i] - pa[i]))
                away += d * d
            slerp(qa, qb, s, qs)
            turned = _angle_between(quaternions[knot, world, body], qs)
            worst = max(worst, math.sqrt(away) + radius * (turned + phi * phi / 8.0))
            if worst > TOLERANCE_M:
                return worst
    return worst


@jit.kernel
def classify(first, step, count, positions, quaternions, radius, kind):
    """Choose the kind of motion of every body of the worlds first, first + step, ...

    Args:
        first, step, count: Share of the worlds.
        positions: p_WB at the knots [m], float64 (knots, worlds, bodies, 3).
        quaternions: q_WB at the knots, float64 (knots, worlds, bodies, 4).
        radius: Farthest point of each body from its origin [m], float64 (worlds, bodies).
        kind: Filled with the kinds, uint8 (worlds, bodies).
    """
    knots = positions.shape[0]
    scratch = jit.zeros((5, 4), np.float64)
    for world in range(first, count, step):
        for body in range(positions.shape[2]):
            # Standing still needs one transform only
            still = True
            for knot in range(1, knots):
                for i in range(3):
                    still = still and positions[knot, world, body, i] == positions[0, world, body, i]
                for i in range(4):
                    still = still and quaternions[knot, world, body, i] == quaternions[0, world, body, i]
            if still:
                kind[world, body] = PLACED
                continue

            # The fewest segments that stay close enough, else quaternions
            kind[world, body] = QUATERNION
            for candidate in _CANDIDATES:
                segments = segments_of(candidate, knots)
                if segments <= MAX_SEGMENTS:
                    error = _affine_error(positions, quaternions, world, body, radius[world, body], segments, scratch)
                    if error <= TOLERANCE_M:
                        kind[world, body] = candidate
                        break


@jit.function
def write_affine(p, q, mount_p, mount_q, anchor, out, at, scratch):
    """X_AO = X_AW X_WB X_BO as a row-major 3 x 4 matrix in float32; A is the world moved to the anchor."""
    r, o, qo = scratch[0], scratch[1], scratch[2]
    rotation(q, r)
    multiply(q, mount_q, qo)
    rotation(qo, o)
    for i in range(3):
        shift = r[3 * i] * mount_p[0] + r[3 * i + 1] * mount_p[1] + r[3 * i + 2] * mount_p[2]
        out[at + 4 * i] = o[3 * i]
        out[at + 4 * i + 1] = o[3 * i + 1]
        out[at + 4 * i + 2] = o[3 * i + 2]
        out[at + 4 * i + 3] = p[i] - anchor[i] + shift


@jit.function
def _write_quaternion(p, q, mount_p, mount_q, anchor, out, at, scratch):
    """The same as RTCQuaternionDecomposition: translation (of the body), rotation (of the object), shift before it.

    The mount's offset is written as a shift in the object's frame, R_OB p_BO, so that the body's origin moves along a
    straight line and the mount turns about it.
    """
    r, qo = scratch[0], scratch[2]
    multiply(q, mount_q, qo)
    rotation(mount_q, r)

    # Neighboring knots on the same half of the sphere: scratch[3] holds the last one written for this object
    dot = 0.0
    for i in range(4):
        dot += qo[i] * scratch[3, i]
    sign = -1.0 if dot < 0.0 else 1.0
    for i in range(3):
        out[at + i] = 1.0  # scale
        out[at + 3 + i] = 0.0  # skew
        out[at + 6 + i] = r[i] * mount_p[0] + r[3 + i] * mount_p[1] + r[6 + i] * mount_p[2]  # shift
        out[at + 13 + i] = p[i] - anchor[i]
    for i in range(4):
        scratch[3, i] = sign * qo[i]
        out[at + 9 + i] = scratch[3, i]


@jit.function
def _place_worlds(first, step, count, arrays, mounts, positions, quaternions, anchor, anchor_before, new):
    """The work of `place`."""
    p, q = jit.zeros(3, np.float64), jit.zeros(4, np.float64)
    scratch = jit.zeros((4, 9), np.float64)
    world = next_block(first, step, count, NONE)
    while world < count:
        row = world if mounts.position.shape[0] > 1 else 0
        moved = new[world]
        for k in range(3):
            moved = moved or anchor[world, k] != anchor_before[world, k]
        for array in range(arrays.first[world], arrays.first[world + 1]):
            kind, segments = arrays.kind[array], np.int64(arrays.segments[array])
            if kind == FIXED and not moved:
                continue
            words = QUATERNION_WORDS if kind == QUATERNION else AFFINE_WORDS
            items = arrays.column_count[array]
            size = (segments + 1) * items * words
            buffer = numba.carray(pointer_from_address(arrays.buffer[array]), size, np.float32)
            for item in range(items):
                column = arrays.columns[arrays.column_first[array] + item]
                body = mounts.body[column]
                mount_p, mount_q = mounts.position[row, column], mounts.quaternion[row, column]
                scratch[3, :] = 0.0
                for segment in range(segments + 1):
                    if body < 0:
                        p[:] = 0.0
                        q[0], q[1], q[2], q[3] = 1.0, 0.0, 0.0, 0.0
                    else:
                        _pose_at(positions, quaternions, world, body, segment, segments, p, q)
                    at = (segment * items + item) * words
                    if kind == QUATERNION:
                        _write_quaternion(p, q, mount_p, mount_q, anchor[world], buffer, at, scratch)
                    else:
                        write_affine(p, q, mount_p, mount_q, anchor[world], buffer, at, scratch)
            for segment in range(segments + 1):
                _update_buffer(arrays.geometry[array], _BUFFER_TRANSFORM, segment)
            _commit_geometry(arrays.geometry[array])
        _commit_scene(arrays.scene[world])
        world = next_block(first, step, count, world)


_share_placing = shared(_place_worlds)


@jit.kernel
def place(first, step, count, arrays, mounts, positions, quaternions, anchor, anchor_before, new):
    """Write every transform of a share of the worlds and commit their scenes.

    Args:
        first, step, count: Share of the worlds.
        arrays: `InstanceTables`.
        mounts: `MountTables`.
        positions: p_WB at the knots [m], float64 (knots, worlds, bodies, 3).
        quaternions: q_WB at the knots, float64 (knots, worlds, bodies, 4).
        anchor: Point of the world near the sensor that float32 coordinates count from [m], float64 (worlds, 3).
        anchor_before: The same of the last call; arrays of fixed objects are written again only if it differs.
        new: Worlds whose arrays were never written and committed, bool (worlds,).
    """
    _place_worlds(first, step, count, arrays, mounts, positions, quaternions, anchor, anchor_before, new)


@jit.kernel
def place_shared(first, step, count, arrays, mounts, positions, quaternions, anchor, anchor_before, new):
    """`place` for many worlds, which threads claim dynamically; a separate kernel, since it takes longer to compile."""
    _share_placing(first, step, count, (arrays, mounts, positions, quaternions, anchor, anchor_before, new))
