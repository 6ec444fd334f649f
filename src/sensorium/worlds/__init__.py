"""Worlds: sources of the motion of bodies and joints that sensors observe."""

from sensorium.worlds.base import World, WorldState, check_state
from sensorium.worlds.basilisk.world import Basilisk
from sensorium.worlds.commanded import Commanded
from sensorium.worlds.joined import Joined
from sensorium.worlds.kinematic import Kinematic
from sensorium.worlds.mujoco.world import MuJoCo
from sensorium.worlds.replay.track import JointTrack, Track
from sensorium.worlds.replay.world import Replay
from sensorium.worlds.static import Static

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
