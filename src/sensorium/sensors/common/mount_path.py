"""Poses of sensors on a body while they fire: the knot times, and the poses at them, in one call.

The arithmetic is that of `trace.mounting`, and so of `Pose`, bit for bit.
"""

import math

import numpy as np
from numpy.typing import NDArray

from sensorium.core.rotations import Float
from sensorium.runtime import jit
from sensorium.tracing.placement.mounting import copy_pose, mounted, rotation, write_anchor, write_matrix
from sensorium.worlds.interpolation import TIME_NS, body_pose

# The sensor turns at most this far between two of its poses [rad]: the sweep's kernel interpolates between them, which
# is then wrong by less than 3e-8 rad. Only a sensor that turns faster than the most knots can follow is off by more.
_TURN_BETWEEN_KNOTS = 0.015
_MOST_KNOTS = 8192


@jit.function
def _times_within(start_ns, end_ns, states):
    """Start, the times of the states inside the interval, and end [ns]; one time for an instant."""
    times_ns, count = jit.zeros(states.shape[1] + 2, np.int64), 1
    times_ns[0] = start_ns
    for t in states[TIME_NS]:
        if start_ns < t < end_ns:
            times_ns[count] = t
            count += 1
    if end_ns > start_ns:
        times_ns[count] = end_ns
        count += 1
    return times_ns[:count]


@jit.function
def _first_not_before(states, after, time_ns):
    """The first state from `after` on that is not before a time."""
    while states[TIME_NS, after] < time_ns:
        after += 1
    return after


@jit.function
def _largest_turn(states, times_ns, worlds, bodies, body, scratch):
    """The largest rotation of the body between two knots in any world [rad]; below zero if it does not move."""
    p, q, p_first, q_first, q_last = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    moves, least = False, 1.0
    for world in range(worlds):
        index, after = world * bodies + body, np.int64(0)
        body_pose(states, after, times_ns[0], worlds * bodies, index, p_first, q_first)
        for k in range(4):
            q_last[k] = q_first[k]
        for i in range(1, times_ns.size):
            after = _first_not_before(states, after, times_ns[i])
            body_pose(states, after, times_ns[i], worlds * bodies, index, p, q)
            cosine = 0.0
            for k in range(4):
                cosine += q[k] * q_last[k]
                moves = moves or q[k] != q_first[k]
                q_last[k] = q[k]
            for k in range(3):
                moves = moves or p[k] != p_first[k]
            least = min(least, abs(cosine))
    return 2.0 * math.acos(least) if moves else -1.0


@jit.function
def _divided(times_ns, pieces):
    """The times with each gap divided into this many pieces, if nanoseconds allow [ns]."""
    knot_ns, count = jit.zeros((times_ns.size - 1) * pieces + 1, np.int64), 0
    for i in range(times_ns.size - 1):
        gap_ns = times_ns[i + 1] - times_ns[i]
        for piece in range(pieces):
            t = times_ns[i] + piece * gap_ns // pieces
            if count == 0 or t > knot_ns[count - 1]:
                knot_ns[count] = t
                count += 1
    knot_ns[count] = times_ns[-1]
    return knot_ns[: count + 1]


@jit.kernel
def follow_mounts(
    start_ns: int,
    end_ns: int,
    states: NDArray[np.int64],
    worlds: int,
    bodies: int,
    body: int,
    p_BS: Float,
    q_BS: Float,
) -> tuple[NDArray[np.int64], NDArray[np.float32], Float, Float, Float, NDArray[np.float32]]:
    """Poses of all sensors of a rig over an interval, at knots and midway between them.

    Knots are at the start, at the states inside and at the end, and closer if the body rotates far between them. If it
    does not move there is one.

    Args:
        start_ns: Start of the interval [ns].
        end_ns: Its end, equal to the start for an instant.
        states: Table of the states around the interval, as `History.span` gives it.
        worlds: Number of worlds.
        bodies: Bodies of a world.
        body: The one they ride on; below zero is the world itself.
        p_BS: Position on the body [m], float64 (1 | worlds, sensors, 3): one row if it is the same in all worlds.
        q_BS: How, float64 (1 | worlds, sensors, 4).

    Returns:
        Times of the knots [ns], int64 (knots,); the same as fractions of the interval, float32; p_WS [m] and q_WS
        there, float64 (knots, worlds, sensors, 3 or 4); each world's anchor, the point of the grid next to its first
        sensor [m], float64 (worlds, 3); and matrices X_AS at the knots and midway, A being the world moved to the
        anchor, float32 (worlds sensors, 2 knots - 1, 12).
    """
    # When
    scratch = jit.zeros((6, 9), np.float64)
    knot_ns = _times_within(start_ns, end_ns, states)
    turn = -1.0
    if body >= 0 and knot_ns.size > 1:
        turn = _largest_turn(states, knot_ns, worlds, bodies, body, scratch)
    if turn < 0.0:
        knot_ns = knot_ns[:1]
    else:
        pieces = min(math.ceil(turn / _TURN_BETWEEN_KNOTS), _MOST_KNOTS // knot_ns.size)
        knot_ns = _divided(knot_ns, max(pieces, 1))
    knots, sensors = knot_ns.size, p_BS.shape[1]
    length_ns = max(end_ns - start_ns, 1)
    time = jit.zeros(knots, np.float32)
    for i in range(knots):
        time[i] = np.float32((knot_ns[i] - start_ns) / length_ns)

    # Where
    position = jit.zeros((knots, worlds, sensors, 3), np.float64)
    quaternion = jit.zeros((knots, worlds, sensors, 4), np.float64)
    anchor = jit.zeros((worlds, 3), np.float64)
    matrix = jit.zeros((worlds * sensors, 2 * knots - 1, 12), np.float32)
    p_WB, q_WB, R_WB, p_WS, q_WS, R_WS = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5]
    for world in range(worlds):
        after, mount = np.int64(0), world if p_BS.shape[0] > 1 else 0
        for i in range(2 * knots - 1):
            time_ns = knot_ns[i // 2]
            if i % 2:
                time_ns += (knot_ns[i // 2 + 1] - time_ns) // 2
            if body >= 0:
                after = _first_not_before(states, after, time_ns)
                body_pose(states, after, time_ns, worlds * bodies, world * bodies + body, p_WB, q_WB)
                rotation(q_WB, R_WB)
            for sensor in range(sensors):
                if body >= 0:
                    mounted(p_WB, q_WB, R_WB, p_BS[mount, sensor], q_BS[mount, sensor], p_WS, q_WS)
                else:
                    copy_pose(p_BS[mount, sensor], q_BS[mount, sensor], p_WS, q_WS)
                if i % 2 == 0:
                    copy_pose(p_WS, q_WS, position[i // 2, world, sensor], quaternion[i // 2, world, sensor])
                if i == 0 and sensor == 0:
                    write_anchor(p_WS, anchor[world])
                rotation(q_WS, R_WS)
                write_matrix(p_WS, R_WS, anchor[world], matrix[world * sensors + sensor, i])
    return knot_ns, time, position, quaternion, anchor, matrix
