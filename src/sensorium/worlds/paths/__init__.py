"""Paths that a body or a joint follows in time: `sn.paths.Circle(center=(8, 3, 1), radius=1.0, rate=1.0)`.

A path gives X_WB(t) with its velocities and accelerations, for any array of times at once. Its parameters may
have a batch shape of their own, such as (worlds,); that shape broadcasts against the times'.
"""

from sensorium.worlds.paths.base import JointPath, Motion, Path
from sensorium.worlds.paths.circle import Circle
from sensorium.worlds.paths.function import Function
from sensorium.worlds.paths.joints import JointFunction, JointLine, JointSine
from sensorium.worlds.paths.line import Fixed, Line
from sensorium.worlds.paths.orbit import Orbit
from sensorium.worlds.paths.spin import Spin
from sensorium.worlds.paths.waypoints import Waypoints

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
