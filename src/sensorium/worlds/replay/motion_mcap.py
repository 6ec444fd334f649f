"""Recorded motions in an MCAP file: bodies from /tf, /tf_static or messages of poses, joints from joint states."""

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sensorium.core.clock import NS_PER_S
from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.files.mcap_messages import JOINT_KINDS, SLIDES, McapFile, open_mcap
from sensorium.worlds.base import checked_slides
from sensorium.worlds.replay.frame_tree import FrameTree, Rows, in_order, seconds_since
from sensorium.worlds.replay.track import JointTrack, Track

_TF, _STATIC = "tf2_msgs/msg/TFMessage", "tf_static"
_JOINT_STATE = "sensor_msgs/msg/JointState"

# Messages with the pose of one body, used where there are no frames: the pose, and the name of the body
_POSES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], str]]] = {
    "nav_msgs/msg/Odometry": (lambda message: message.pose.pose, lambda message: str(message.child_frame_id)),
    "geometry_msgs/msg/PoseStamped": (lambda message: message.pose, lambda message: ""),
    "geometry_msgs/msg/PoseWithCovarianceStamped": (lambda message: message.pose.pose, lambda message: ""),
}

# Names in one world among several begin with world_3/
_OF_WORLD = re.compile(r"world_(\d+)/(.+)")


class Motions(NamedTuple):
    """Contents of a recording for one world."""

    tracks: dict[str, Track]
    """Motion of each body."""
    joints: dict[str, JointTrack]
    """Motion of each joint."""
    slides: tuple[str, ...]
    """Names of the joints that slide."""
    mounts: dict[str, tuple[str | None, Pose]]
    """Fixed frames: the body of each, None for the world, and the pose."""


def read_motions(
    path: "str | os.PathLike[str]",
    world: int | None = None,
    slide_joints: Iterable[str] = (),
    root: str | None = None,
) -> Motions:
    """All bodies and joints of one world.

    `Replay.from_mcap` describes the file and the arguments.
    """
    with open_mcap(Path(path)) as file:
        trees, joints = _frames(file), _joints(file)
        named = [joint for joint, kind in file.metadata(JOINT_KINDS).items() if kind == SLIDES]
        name = file.path.name
    chosen = _world(name, world, {*trees, *(number for number, _ in joints)})
    tree = trees.get(chosen, FrameTree(name))
    root = tree.chosen_root(root)
    bodies = dict(tree.bodies(root))
    if not bodies:
        raise SpecError(f"{name!r} has no bodies on {root!r}; of the frames on it one at least must move, by /tf")
    turns = {joint: rows for (number, joint), rows in joints.items() if number == chosen}
    slides = tuple(dict.fromkeys([*checked_slides(slide_joints, tuple(turns)), *(j for j in named if j in turns)]))
    starts_ns = [tree.moving[link][0][0] for chain in bodies.values() for link in chain if link in tree.moving]
    first_ns = min([*starts_ns, *(rows[0][0] for rows in turns.values())])
    return Motions(
        {body: tree.track(body, chain, first_ns) for body, chain in bodies.items()},
        {joint: _joint_track(name, joint, rows, first_ns, turns=joint not in slides) for joint, rows in turns.items()},
        slides,
        tree.mounts(root),
    )


def _frames(file: McapFile) -> dict[int | None, FrameTree]:
    """Frames by world, from all topics of transforms; where there are none, from messages of poses."""
    name = file.path.name
    trees: dict[int | None, FrameTree] = {}
    for topic in file.topics_of(_TF):
        decode, is_fixed = file.decoder(topic), topic.endswith(_STATIC)
        for message in file.messages([topic]):
            for stamped in decode(message.data).transforms:
                number, parent = _of_world(stamped.header.frame_id)
                child_number, child = _of_world(stamped.child_frame_id)
                child = child if child_number == number else stamped.child_frame_id
                p, q = stamped.transform.translation, stamped.transform.rotation
                tree = trees.setdefault(number, FrameTree(name))
                tree.add(_plain(parent), _plain(child), _stamp_ns(stamped.header), _numbers(p, q), is_fixed=is_fixed)
    if not any(tree.moving for tree in trees.values()):
        _add_poses(file, trees)
    if not any(tree.moving for tree in trees.values()):
        kinds = ", ".join(kind.rpartition("/")[2] for kind in _POSES)
        raise SpecError(f"{name!r} has no bodies; it must have moving frames on /tf, or messages of {kinds}")
    for tree in trees.values():
        tree.moving = {frame: in_order(rows) for frame, rows in tree.moving.items()}
    return trees


def _add_poses(file: McapFile, trees: dict[int | None, FrameTree]) -> None:
    """Add a body for each topic of poses, named by its messages or else by the topic."""
    for kind, (pose_of, name_of) in _POSES.items():
        for topic in file.topics_of(kind):
            number, rest = _of_world(topic.strip("/"))
            tree, body = trees.setdefault(number, FrameTree(file.path.name)), None
            decode = file.decoder(topic)
            for message in file.messages([topic]):
                decoded = decode(message.data)
                if body is None:
                    named = _plain(_of_world(name_of(decoded))[1])
                    body = named if named and named not in tree.parents else rest
                pose, parent = pose_of(decoded), _plain(_of_world(decoded.header.frame_id)[1])
                numbers = _numbers(pose.position, pose.orientation)
                tree.add(parent, body, _stamp_ns(decoded.header), numbers, is_fixed=False)
    for number in [number for number, tree in trees.items() if not tree.parents]:
        del trees[number]


def _numbers(p: Any, q: Any) -> list[float]:
    return [p.x, p.y, p.z, q.w, q.x, q.y, q.z]


def _plain(frame: str) -> str:
    """A frame's name without the slash that the names of ROS 1 begin with."""
    return frame.removeprefix("/")


def _joints(file: McapFile) -> dict[tuple[int | None, str], Rows]:
    """Positions and velocities by world and joint; a joint on several topics is that of the first by name."""
    found: dict[tuple[int | None, str], Rows] = {}
    for topic in file.topics_of(_JOINT_STATE):
        number, _ = _of_world(topic.removeprefix("/"))
        decode, here = file.decoder(topic), dict[tuple[int | None, str], Rows]()
        for message in file.messages([topic]):
            state = decode(message.data)
            speeds = state.velocity if len(state.velocity) == len(state.name) else [np.nan] * len(state.name)
            for name, position, speed in zip(state.name, state.position, speeds, strict=False):
                here.setdefault((number, name), []).append((_stamp_ns(state.header), [float(position), float(speed)]))
        for joint, rows in here.items():
            found.setdefault(joint, in_order(rows))
    return found


def _world(name: str, world: int | None, numbers: set[int | None]) -> int | None:
    """The requested world, or the only one."""
    if world is None and len(numbers) == 1:
        return next(iter(numbers))
    if world not in numbers or world is None:
        there = (
            ", ".join(str(number) for number in sorted(n for n in numbers if n is not None)) or "one without a number"
        )
        raise SpecError(f"world is {world}; {name!r} has {there}, and it must be one of them")
    return world


def _joint_track(name: str, joint: str, rows: Rows, first_ns: int, *, turns: bool) -> JointTrack:
    try:
        position, velocity = np.array([numbers for _, numbers in rows]).T
        if not turns or np.isnan(velocity).any():
            return JointTrack(seconds_since(rows, first_ns), position)
        return JointTrack.unwound(seconds_since(rows, first_ns), position, velocity)
    except SpecError as error:
        raise SpecError(f"joint {joint!r} of {name!r}: {error}") from None


def _of_world(name: str) -> tuple[int | None, str]:
    """The number of the world that a name begins with, None where there is but one, and the rest of it."""
    match = _OF_WORLD.fullmatch(name)
    return (int(match[1]), match[2]) if match else (None, name)


def _stamp_ns(header: Any) -> int:
    return int(header.stamp.sec) * NS_PER_S + int(header.stamp.nanosec)
