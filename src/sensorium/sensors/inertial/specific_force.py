"""Kernels of the ideal signals of inertial and magnetic sensors."""

import math

import numpy as np
from numpy.typing import NDArray

from sensorium.core.rotations import Float
from sensorium.runtime import jit
from sensorium.worlds.paths.base import Q, V, W
from sensorium.worlds.point_motion import REST, SCRATCH, move_world

# Columns of a signal for each quantity; below zero if it is not measured
FORCE, RATE, FIELD, G_SENSITIVITY, COLUMNS = range(5)


Sensed = tuple[NDArray[np.int64], float, Float, Float, Float, bool]
"""What sensors at one point measure; rows are worlds and then sensors.

Columns of force, rate, field and the force for a gyroscope's g-sensitivity, below zero for none; the sign -1, or +1 for
the AGX paper's form; gravity midway on the piece of path [m/s^2] and the magnetic field at its end [T]; the sum of f dt
[m/s], each (rows, 3), and whether f dt is added to it.
"""


@jit.function
def into_sensor(qw, qx, qy, qz, x, y, z):
    """Components in the sensor's axes of a world vector: R(q)^T v."""
    # v + 2 w (u x v) + 2 u x (u x v) with u = -(qx, qy, qz)
    tx, ty, tz = -2.0 * (qy * z - qz * y), -2.0 * (qz * x - qx * z), -2.0 * (qx * y - qy * x)
    return (
        x + qw * tx - (qy * tz - qz * ty),
        y + qw * ty - (qz * tx - qx * tz),
        z + qw * tz - (qx * ty - qy * tx),
    )


@jit.function
def put(out, row, column, x, y, z):
    """Write three components side by side."""
    out[row, column] = x
    out[row, column + 1] = y
    out[row, column + 2] = z


@jit.kernel
def sense(first, step, count, states, mounts, start, now, dt_s, sensed, out):
    """Move sensors along a piece of path, and compute their ideal readings at its end.

    Specific force is the change of the point's velocity, f = R_mid^T ((v - v0) / dt - g): the mean acceleration seen
    from midway, so of second order in dt about the middle of the piece and of first order about its end. On a circle it
    is short by (w dt)^2 / 24. Angular velocity and magnetic field are those at the end. Ref: physics.md 6, E-17.

    Args:
        first, step, count: Share of the worlds.
        states: `StatesAround` the end; mounts: `Mounts`.
        start: Motion of the points at the start of the piece, as `move_points` fills it.
        now: The same at its end, filled here.
        dt_s: Length of the piece [s].
        sensed: `Sensed`.
        out: Receives the readings, float64 (rows, columns).
    """
    columns, sign, g, field, total, adds = sensed
    sensors, inverse = mounts[2].shape[0], 1.0 / dt_s
    rows = count * sensors
    force, rate, magnetic, g_sensitivity = columns[FORCE], columns[RATE], columns[FIELD], columns[G_SENSITIVITY]
    scratch = np.empty((SCRATCH, 4))
    for world in range(first, count, step):
        move_world(world, count, states, mounts, now, scratch)
        for row in range(world * sensors, (world + 1) * sensors):
            q, q0 = now[Q * rows + 4 * row :], start[Q * rows + 4 * row :]
            if force >= 0 or g_sensitivity >= 0:
                # Midway on the shorter arc is the normalized sum
                dot = q0[0] * q[0] + q0[1] * q[1] + q0[2] * q[2] + q0[3] * q[3]
                turn = 1.0 if dot >= 0.0 else -1.0
                a, b, c, d = q0[0] + turn * q[0], q0[1] + turn * q[1], q0[2] + turn * q[2], q0[3] + turn * q[3]
                scale = 1.0 / math.sqrt(a * a + b * b + c * c + d * d)
                v, v0 = now[V * rows + 3 * row :], start[V * rows + 3 * row :]
                rest, rest0 = now[REST * rows + 3 * row :], start[REST * rows + 3 * row :]
                x, y, z = into_sensor(
                    a * scale,
                    b * scale,
                    c * scale,
                    d * scale,
                    (v[0] - v0[0] + (rest[0] - rest0[0])) * inverse + sign * g[row, 0],
                    (v[1] - v0[1] + (rest[1] - rest0[1])) * inverse + sign * g[row, 1],
                    (v[2] - v0[2] + (rest[2] - rest0[2])) * inverse + sign * g[row, 2],
                )
                if force >= 0:
                    put(out, row, force, x, y, z)
                    if adds:
                        total[row, 0] += x * dt_s
                        total[row, 1] += y * dt_s
                        total[row, 2] += z * dt_s
                if g_sensitivity >= 0:
                    put(out, row, g_sensitivity, x, y, z)
            if rate >= 0:
                w = now[W * rows + 3 * row :]
                x, y, z = into_sensor(q[0], q[1], q[2], q[3], w[0], w[1], w[2])
                put(out, row, rate, x, y, z)
            if magnetic >= 0:
                x, y, z = into_sensor(q[0], q[1], q[2], q[3], field[row, 0], field[row, 1], field[row, 2])
                put(out, row, magnetic, x, y, z)


@jit.kernel
def instant_force(first, step, count, column, sign, q, a, g, out):
    """Specific force at an instant from an acceleration that is known: f = R(q)^T (a - g).

    Args:
        first, step, count: Share of the rows.
        column: First of the three columns that take it.
        sign: -1; +1 for the AGX paper's form.
        q: q_WP, float64 (rows, 4).
        a: Acceleration of the point [m/s^2], float64 (rows, 3).
        g: Gravity [m/s^2], float64 (rows, 3).
        out: Receives f [m/s^2], float64 (rows, columns).
    """
    for row in range(first, count, step):
        x, y, z = into_sensor(
            q[row, 0],
            q[row, 1],
            q[row, 2],
            q[row, 3],
            a[row, 0] + sign * g[row, 0],
            a[row, 1] + sign * g[row, 1],
            a[row, 2] + sign * g[row, 2],
        )
        put(out, row, column, x, y, z)
