"""The cone sensor: exact geometry, and the tables of the thesis it comes from."""

import math
from typing import Any

import numpy as np

import sensorium as sn
from sensorium.physics import cone
from sensorium.qa.validation.check import Axis, Comparison, Family

CONES = Family("Cone sensor")

# Lines, range [m] and elevation [deg] of the thesis's Table 2, by exact arithmetic
_TABLE_2 = (
    (2, 1.1180250, 26.565280),
    (3, 0.9999900, 0.0),
    (10, 1.0015320, 3.179862),
    (100, 1.0000028, 0.289373),
    (1000, 0.9999901, 0.0286769),
)


def _of_thesis(point: tuple[float, float, float]) -> tuple[float, float, float]:
    """A point of the thesis's frame (x right, y up, z forward) in ours (x forward, y left, z up)."""
    x, y, z = point
    return z, -x, y


@CONES.check(
    "cone-segments",
    "Stretches of lines inside the cone, and their nearest points, are those of the closed form.",
    reference="physics.md 8.1, E-21 and E-22: five reference segments, one of which misses",
    absolute=6e-7,
)
def _segments(quick: bool) -> Comparison:
    cases = (
        ((-3, 0, 2), (3, 0, 2), 1 / 6, 5 / 6, 2.0),
        ((-3, 1, 2), (3, 1, 2), 0.211325, 0.788675, 2.236068),
        ((0.5, 0, -1), (0.5, 0, 10), 0.136364, 0.545455, math.sqrt(0.5)),
        ((-4, 0, 4.5), (4, 0, 5.5), 0.0, 0.5, math.hypot(0.615385, 4.923077)),
    )
    found, expected = [], []
    for start, end, low, high, distance in cases:
        q, e = np.array(_of_thesis(start), float), np.array(_of_thesis(end), float)
        segment: tuple[Any, ...] = (*q, *(e - q), 1.0, 1.0, 5.0, False)
        found += [*cone.clipped_segment(*segment)]
        nearest: tuple[Any, ...] = (*segment, math.inf)
        found.append(math.sqrt(cone.nearest_on_segment(*nearest)[0]))
        expected += [low, high, distance]
    q, e = np.array(_of_thesis((2, 0, 1)), float), np.array(_of_thesis((0, 2, 1)), float)
    outside: tuple[Any, ...] = (*q, *(e - q), 1.0, 1.0, 5.0, False)
    low, high = cone.clipped_segment(*outside)
    found.append(1.0 if low <= high else 0.0)
    return Comparison(found, [*expected, 0.0], x=Axis("from, to and nearest of each"), y=Axis("share, and meters"))


@CONES.check(
    "cone-triangles",
    "Nearest points of large faces in the cone are those of the convex problem, at its side and at its cap.",
    reference="physics.md 8.2: 2.828427, 2, 1.3 and 1.400143 m",
    absolute=6e-7,
)
def _triangles(quick: bool) -> Comparison:
    cases = (
        ((1, 0, 0), 2.0, 1.0, 5.0, 2.828427),
        ((1, 0, 0), 1.0, math.tan(math.radians(30.0)), 5.0, 2.0),
        ((0.5, 0, 1.2), 1.69, 1.0, 2.0, 1.3),
        ((0.5, 0, 1.2), 1.69, 1.0, 1.0, 1.400143),
    )
    found = []
    for normal, offset, a, reach, _ in cases:
        length = math.sqrt(sum(v * v for v in normal))
        n = np.array(_of_thesis(normal)) / length
        e = np.cross(n, [0.0, 0.0, 1.0] if abs(n[2]) < 0.9 else [0.0, 1.0, 0.0])
        e /= np.linalg.norm(e)
        f = np.cross(n, e)
        corners = [n * offset / length + 100.0 * (math.cos(t) * e + math.sin(t) * f) for t in (0.0, 2.1, 4.2)]
        triangle: tuple[Any, ...] = (*map(tuple, corners), a, 1.0, reach, False, math.inf)
        found.append(math.sqrt(cone.nearest_on_triangle(*triangle)[0]))
    return Comparison(found, [case[-1] for case in cases], y=Axis("distance [m]"))


@CONES.check(
    "cone-table-2",
    "A sensor that lays N lines over a face has the ranges and elevations of the thesis's Table 2.",
    reference="physics.md 8.3, E-25: the face at 0.99999 m",
    absolute=6e-7,
)
def _table_2(quick: bool) -> Comparison:
    thin = sn.shapes.box(2e-5, 1.0, 1.0)
    found, expected = [], []
    for lines, range_m, elevation_deg in _TABLE_2[:4] if quick else _TABLE_2:
        scene = sn.Scene()
        scene.add(thin, pose=sn.Pose((1.0, 0.0, 0.0)))
        env = sn.Environment(scene, sn.worlds.Static(step_s=1.0))
        spec = sn.ConeSensor(horizontal_fov_deg=90.0, vertical_fov_deg=90.0, range_m=20.0, lines=lines)
        sensor = env.attach(spec)
        env.step()
        reading = sensor.read()
        found += [float(reading.range_m), abs(math.degrees(float(reading.elevation)))]
        expected += [range_m, elevation_deg]
    return Comparison(found, expected, x=Axis("range and elevation of each row"), y=Axis("meters, degrees"))


@CONES.check(
    "cone-at-5-0-7",
    "The thesis's obstacle at (5, 0, 7) with 1,000 lines: its elevation of 0.004096 degrees is the projected one.",
    reference="physics.md 8.3, U-07: atan(y / z) of eq. 3.8, atan2(5, 7), and sqrt(74) m to the middle of the box",
    relative=2e-6,
)
def _at_5_0_7(quick: bool) -> Comparison:
    scene = sn.Scene()
    place = sn.Pose.from_euler_deg(_of_thesis((5, 0, 7)), yaw=-math.degrees(math.atan2(5.0, 7.0)))
    scene.add(sn.shapes.box(2e-5, 1.0, 1.0), pose=place)
    env = sn.Environment(scene, sn.worlds.Static(step_s=1.0))
    sensor = env.attach(sn.ConeSensor(horizontal_fov_deg=90.0, vertical_fov_deg=90.0, range_m=20.0, lines=1000))
    env.step()
    reading = sensor.read()
    angles = (-float(reading.azimuth), abs(float(reading.projected_elevation)))
    found = [float(reading.range_m) + 1e-5, *map(math.degrees, angles)]
    expected = [math.sqrt(74.0), math.degrees(math.atan2(5.0, 7.0)), math.degrees(math.atan(0.5 / 999 / 7.0))]
    return Comparison(found, expected, x=Axis("range, azimuth, projected elevation"), y=Axis("meters, degrees"))


@CONES.check(
    "cone-table-3",
    "The worst error of an angle that N lines leave at 10 m has the digits of Table 3.",
    reference="physics.md 8.3: arctan(extent / 2 / ((N - 1) r))",
    relative=3e-6,
)
def _table_3(quick: bool) -> Comparison:
    lines = np.array([2, 10, 100, 1000])
    found = [math.degrees(cone.worst_angle_error(1.0, int(n), 10.0)) for n in lines]
    expected = [2.862405, 0.318307, 0.0289373, 0.00286766]
    x, y = Axis("lines", log=True), Axis("worst error [deg]", log=True)
    return Comparison(found, expected, at=lines, x=x, y=y)


@CONES.check(
    "cone-speed",
    "In simulated time a constant speed is exact, and its sign tells approach from recession.",
    reference="physics.md 8.3, E-27: equality to 1e-12, never Table 4",
    absolute=1e-9,
)
def _speed(quick: bool) -> Comparison:
    speeds = np.array([-2.0, -0.25, 1.0])
    found = []
    for speed in speeds:
        scene = sn.Scene()
        scene.add(sn.shapes.box(1.0, 1.0, 1.0), body="box")
        path = sn.paths.Line(start=(10.0, 0.0, 0.0), velocity=(float(speed), 0.0, 0.0))
        env = sn.Environment(scene, sn.worlds.Kinematic({"box": path}, step_s=0.05))
        sensor = env.attach(sn.ConeSensor(horizontal_fov_deg=60.0, vertical_fov_deg=60.0, range_m=20.0))
        for _ in range(4):
            env.step()
        found.append(float(sensor.read().range_rate))
    return Comparison(found, speeds, at=speeds, x=Axis("speed [m/s]"), y=Axis("range rate [m/s]"))


@CONES.check(
    "cone-verdict",
    "Ranges with 10 cm of noise at 20 Hz turn the verdict over in less than one reading of a thousand.",
    reference="Student's law of a slope; the sign of differences is wrong in a third of these readings",
    absolute=1e-3,
    side="at most",
)
def _verdict(quick: bool) -> Comparison:
    speeds = np.array([-3.0, -1.0, 1.0, 3.0])
    wrong = []
    for speed in speeds:
        scene = sn.Scene()
        scene.add(sn.shapes.box(1.0, 1.0, 1.0), body="box")
        path = sn.paths.Line(start=(30.0, 0.0, 0.0), velocity=(float(speed), 0.0, 0.0))
        world = sn.worlds.Kinematic({"box": path}, step_s=0.05)
        env = sn.Environment(scene, world, worlds=50 if quick else 500, seed=6)
        spec = sn.ConeSensor(
            horizontal_fov_deg=60.0, vertical_fov_deg=60.0, range_m=80.0, range={"noise": {"std": 0.1}}
        )
        sensor = env.attach(spec)
        found = np.array([sensor.read().verdict for _ in env.run(4.0)])[3:]
        wrong.append((found == (sn.Verdict.RECEDING if speed < 0.0 else sn.Verdict.APPROACHING)).mean())
    return Comparison(wrong, 0.0, at=speeds, x=Axis("speed [m/s]"), y=Axis("share turned over"))
