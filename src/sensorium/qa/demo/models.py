"""Objects, each one mesh of simple shapes.

All sizes are in meters. A model rests on z = 0 with its x axis forward.
"""

from collections.abc import Sequence

import sensorium as sn

Opening = tuple[float, float, float, float]
"""A hole in a wall [m]: its left and right edge along the wall, its lower and upper edge above the ground."""


def at(mesh: sn.Mesh, x: float, y: float, z: float, *, roll: float = 0.0, pitch: float = 0.0) -> sn.Mesh:
    """Move a mesh to (x, y, z) [m] after turning it by roll and pitch [deg]."""
    return mesh.transformed(sn.Pose.from_euler_deg((x, y, z), roll=roll, pitch=pitch))


def wall(length: float, height: float, thickness: float = 0.3, openings: Sequence[Opening] = ()) -> sn.Mesh:
    """Wall along x from 0 to `length`, with doors, windows and gates, given from left to right."""
    parts = []

    def block(left: float, right: float, low: float, high: float) -> None:
        if right > left and high > low:
            shape = sn.shapes.box(right - left, thickness, high - low)
            parts.append(at(shape, 0.5 * (left + right), 0.0, 0.5 * (low + high)))

    # Solid wall up to each opening, then the parts below and above it
    done = 0.0
    for left, right, low, high in openings:
        block(done, left, 0.0, height)
        block(left, right, 0.0, low)
        block(left, right, high, height)
        done = right
    block(done, length, 0.0, height)
    return sn.Mesh.merge(parts)


def car(length: float = 4.4, width: float = 1.8) -> sn.Mesh:
    """Passenger car: lower body, cabin and four wheels."""
    body = at(sn.shapes.box(length, width, 0.6), 0.0, 0.0, 0.6)
    cabin = at(sn.shapes.box(0.5 * length, 0.88 * width, 0.55), -0.06 * length, 0.0, 1.17)
    return sn.Mesh.merge([body, cabin, *_wheels(length, width)])


def van(length: float = 5.2, width: float = 2.0) -> sn.Mesh:
    """Delivery van: a bonnet, a tall box and four wheels."""
    bonnet = at(sn.shapes.box(1.0, width, 0.8), 0.5 * length - 0.5, 0.0, 0.75)
    hold = at(sn.shapes.box(length - 1.0, width, 1.8), -0.5, 0.0, 1.25)
    return sn.Mesh.merge([bonnet, hold, *_wheels(length, width)])


def tree(height: float = 6.0) -> sn.Mesh:
    """Tree: a trunk, and a crown of three rounded clumps."""
    trunk = at(sn.shapes.cylinder(0.03 * height, 0.5 * height, segments=24), 0.0, 0.0, 0.25 * height)
    clump = sn.shapes.ellipsoid(0.22 * height, 0.20 * height, 0.24 * height, subdivisions=3)
    places = [(0.12, 0.0, 0.58), (-0.08, 0.11, 0.66), (-0.04, -0.12, 0.74)]
    crown = [at(clump, x * height, y * height, z * height) for x, y, z in places]
    return sn.Mesh.merge([trunk, *crown])


def lamp(height: float = 6.0) -> sn.Mesh:
    """Street lamp: a pole with an arm forward."""
    pole = at(sn.shapes.cylinder(0.09, height, segments=24), 0.0, 0.0, 0.5 * height)
    arm = at(sn.shapes.box(1.4, 0.12, 0.12), 0.6, 0.0, height)
    return sn.Mesh.merge([pole, arm])


def pedestrian() -> sn.Mesh:
    """A pedestrian: two legs, a body and a head."""
    legs = [at(sn.shapes.capsule(0.09, 0.7, 24), x, y, 0.44) for x, y in ((0.18, 0.1), (-0.18, -0.1))]
    return sn.Mesh.merge([*legs, *_upper_body(0.0, 1.15)])


def cyclist() -> sn.Mesh:
    """A cyclist: two wheels, a frame, a body and a head."""
    wheel = sn.shapes.cylinder(0.34, 0.05, segments=48)
    wheels = [at(wheel, x, 0.0, 0.34, roll=90.0) for x in (-0.52, 0.52)]
    frame = at(sn.shapes.box(1.0, 0.05, 0.08), 0.0, 0.0, 0.62)
    legs = [at(sn.shapes.capsule(0.08, 0.6, 24), 0.0, y, 0.65) for y in (0.13, -0.13)]
    return sn.Mesh.merge([*wheels, frame, *legs, *_upper_body(0.1, 1.3)])


def _upper_body(x: float, z: float) -> list[sn.Mesh]:
    """Trunk about height z, and a head above it."""
    trunk = at(sn.shapes.capsule(0.2, 0.4, 32), x, 0.0, z)
    head = at(sn.shapes.sphere(0.13, subdivisions=3), x, 0.0, z + 0.53)
    return [trunk, head]


def _wheels(length: float, width: float) -> list[sn.Mesh]:
    """Four wheels under a body of the given size."""
    wheel = sn.shapes.cylinder(0.33, 0.22, segments=32)
    places = [(x * length, y * (width - 0.24)) for x in (-0.3, 0.3) for y in (-0.5, 0.5)]
    return [at(wheel, x, y, 0.33, roll=90.0) for x, y in places]
