"""What inertial and magnetic sensors would read if they were ideal: the kernels behind the signals."""

import math

from sensorium import jit

# Which column of a signal takes what; below zero where it is not measured
FORCE, RATE, FIELD, FELT, COLUMNS = range(5)


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
def ideal_sample(first, step, count, columns, dt_s, sign, q0, v0, rest0, q, v, rest, w, g, field, out, total, adds):
    """What ideal sensors at one point read at the end of a piece of its path.

    Specific force is the change of the point's velocity, f = R_mid^T ((v - v0) / dt - g): the mean acceleration seen
    from midway, so of second order in dt about the middle of the piece and of first order about its end. On a circle it
    is short by (w dt)^2 / 24. Angular velocity and magnetic field are those at the end. Ref: physics.md 6, E-17.

    Args:
        first, step, count: Share of the rows.
        columns: Columns that take force, rate, field and the force a gyroscope feels; below zero for none.
        dt_s: Length of the piece [s].
        sign: -1; +1 for the AGX paper's form.
        q0, q: q_WP at its ends, float64 (rows, 4).
        v0, v: v_WP at its ends [m/s], float64 (rows, 3).
        rest0, rest: What rounding took from them [m/s], float64 (rows, 3).
        w: Angular velocity at its end [rad/s], float64 (rows, 3).
        g: Gravity midway [m/s^2], float64 (rows, 3).
        field: Magnetic field at its end [T], float64 (rows, 3).
        out: Receives what is measured, float64 (rows, columns).
        total: Receives f dt on top of what it has [m/s], float64 (rows, 3).
        adds: Whether it does.
    """
    inverse = 1.0 / dt_s
    force, rate, magnetic, felt = columns[FORCE], columns[RATE], columns[FIELD], columns[FELT]
    for row in range(first, count, step):
        if force >= 0 or felt >= 0:
            # Midway on the shorter arc is the normalised sum
            dot = q0[row, 0] * q[row, 0] + q0[row, 1] * q[row, 1] + q0[row, 2] * q[row, 2] + q0[row, 3] * q[row, 3]
            turn = 1.0 if dot >= 0.0 else -1.0
            a, b = q0[row, 0] + turn * q[row, 0], q0[row, 1] + turn * q[row, 1]
            c, d = q0[row, 2] + turn * q[row, 2], q0[row, 3] + turn * q[row, 3]
            scale = 1.0 / math.sqrt(a * a + b * b + c * c + d * d)
            x, y, z = into_sensor(
                a * scale,
                b * scale,
                c * scale,
                d * scale,
                (v[row, 0] - v0[row, 0] + (rest[row, 0] - rest0[row, 0])) * inverse + sign * g[row, 0],
                (v[row, 1] - v0[row, 1] + (rest[row, 1] - rest0[row, 1])) * inverse + sign * g[row, 1],
                (v[row, 2] - v0[row, 2] + (rest[row, 2] - rest0[row, 2])) * inverse + sign * g[row, 2],
            )
            if force >= 0:
                put(out, row, force, x, y, z)
                if adds:
                    total[row, 0] += x * dt_s
                    total[row, 1] += y * dt_s
                    total[row, 2] += z * dt_s
            if felt >= 0:
                put(out, row, felt, x, y, z)
        if rate >= 0:
            x, y, z = into_sensor(q[row, 0], q[row, 1], q[row, 2], q[row, 3], w[row, 0], w[row, 1], w[row, 2])
            put(out, row, rate, x, y, z)
        if magnetic >= 0:
            bx, by, bz = field[row, 0], field[row, 1], field[row, 2]
            x, y, z = into_sensor(q[row, 0], q[row, 1], q[row, 2], q[row, 3], bx, by, bz)
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
