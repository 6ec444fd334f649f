"""The elliptic cone of a function-based sensor: membership tests and nearest points.

    K = { x, y, z :  (y / a)^2 + (z / b)^2 <= x^2,  0 <= x <= r },    a = tan(fov_h / 2),  b = tan(fov_v / 2)

in the sensor's frame: x forward, y to the left, z up. The thesis has its axis along z in Unity's left-handed frame (x
right, y up, z forward), so that x = z_T, y = -x_T, z = y_T, and its azimuth has the other sign (physics.md 8). K is
convex and holds the sensor. r limits the depth (front "flat", as in the thesis) or the distance from the sensor (front
"spherical", as in Deng et al.); both are convex.

Lengths are in meters, a and b tangents of half angles [1]. Functions for kernels take plain numbers.
"""

from sensorium.physics.cone.lines import (
    lines_for_error,
    nearest_on_lines,
    nearest_on_parallel_lines,
    quad_line,
    worst_angle_error,
)
from sensorium.physics.cone.quads import Quads, recovered_quads
from sensorium.physics.cone.segment import clipped_segment, nearest_on_segment
from sensorium.physics.cone.triangle import nearest_on_triangle
from sensorium.physics.cone.volume import (
    azimuth,
    elevation,
    half_angle_tangent,
    is_inside,
    projected_elevation,
    sphere_is_outside,
)

__all__ = [
    "Quads",
    "azimuth",
    "clipped_segment",
    "elevation",
    "half_angle_tangent",
    "is_inside",
    "lines_for_error",
    "nearest_on_lines",
    "nearest_on_parallel_lines",
    "nearest_on_segment",
    "nearest_on_triangle",
    "projected_elevation",
    "quad_line",
    "recovered_quads",
    "sphere_is_outside",
    "worst_angle_error",
]
