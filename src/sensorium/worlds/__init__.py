"""Worlds: what moves the bodies and joints that the sensors look at."""

from sensorium.worlds.base import World, WorldState, check_state
from sensorium.worlds.basilisk import Basilisk
from sensorium.worlds.commanded import Commanded
from sensorium.worlds.joined import Joined
from sensorium.worlds.joint_track import JointTrack
from sensorium.worlds.kinematic import Kinematic
from sensorium.worlds.mujoco import MuJoCo
from sensorium.worlds.replay import Replay
from sensorium.worlds.static import Static
from sensorium.worlds.track import Track

__all__ = [
    "Basilisk",
    "Commanded",
    "Joined",
    "JointTrack",
    "Kinematic",
    "MuJoCo",
    "Replay",
    "Static",
    "Track",
    "World",
    "WorldState",
    "check_state",
]
