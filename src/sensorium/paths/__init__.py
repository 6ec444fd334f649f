"""Paths that a body or a joint follows in time: `sn.paths.Circle(center=(8, 3, 1), radius=1.0, rate=1.0)`.

A path gives X_WB(t) with its velocities and accelerations, for any array of times at once. Its parameters may
have a batch shape of their own, such as (worlds,); that shape broadcasts against the times'.
"""

from sensorium.paths.base import JointPath, Motion, Path
from sensorium.paths.circle import Circle
from sensorium.paths.fixed import Fixed
from sensorium.paths.function import Function
from sensorium.paths.joints import JointFunction, JointLine, JointSine
from sensorium.paths.line import Line
from sensorium.paths.orbit import Orbit
from sensorium.paths.spin import Spin
from sensorium.paths.waypoints import Waypoints

__all__ = [
    "Circle",
    "Fixed",
    "Function",
    "JointFunction",
    "JointLine",
    "JointPath",
    "JointSine",
    "Line",
    "Motion",
    "Orbit",
    "Path",
    "Spin",
    "Waypoints",
]
