"""Recorded motions in an MCAP file: bodies from /tf, joints from messages of joint states."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from sensorium.clock import NS_PER_S
from sensorium.errors import SpecError
from sensorium.frames import Pose
from sensorium.mcap_messages import JOINT_KINDS, SLIDES, McapFile, open_mcap
from sensorium.worlds.base import checked_slides
from sensorium.worlds.joint_track import JointTrack
from sensorium.worlds.track import Track

_TF = "/tf"
_JOINT_STATE = "sensor_msgs/msg/JointState"

# Names of one world among several begin with world_3/
_OF_WORLD = re.compile(r"world_(\d+)/(.+)")

# Rows of one body or joint: a time [ns] and numbers
_Rows = list[tuple[int, list[float]]]


def read_motions(
    path: "str | os.PathLike[str]", world: int | None = None, slide_joints: Iterable[str] = ()
) -> tuple[dict[str, Track], dict[str, JointTrack], tuple[str, ...]]:
    """Tracks of all bodies and joints of one world, and which joints slide.

    `Replay.from_mcap` tells what the file must be like, and what the arguments are.
    """
    with open_mcap(Path(path)) as file:
        bodies, joints = _bodies(file), _joints(file)
        named = [joint for joint, kind in file.metadata(JOINT_KINDS).items() if kind == SLIDES]
        name = file.path.name
    chosen = _world(name, world, {number for number, _ in (*bodies, *joints)})
    tracks = {body: rows for (number, body), rows in bodies.items() if number == chosen}
    turns = {joint: rows for (number, joint), rows in joints.items() if number == chosen}
    slides = tuple(dict.fromkeys([*checked_slides(slide_joints, tuple(turns)), *(j for j in named if j in turns)]))
    first_ns = min(rows[0][0] for rows in (*tracks.values(), *turns.values()))
    return (
        {body: _track(name, body, rows, first_ns) for body, rows in tracks.items()},
        {joint: _joint_track(name, joint, rows, first_ns, turns=joint not in slides) for joint, rows in turns.items()},
        slides,
    )


def _bodies(file: McapFile) -> dict[tuple[int | None, str], _Rows]:
    """Poses by world and body: frames of /tf whose parent is a world's."""
    found: dict[tuple[int | None, str], _Rows] = {}
    parents: set[str] = set()
    if _TF in file.channels:
        decode = file.decoder(_TF)
        for message in file.messages([_TF]):
            for stamped in decode(message.data).transforms:
                number, parent = _of_world(stamped.header.frame_id)
                parents.add(stamped.header.frame_id)
                if parent == "world":
                    p, q = stamped.transform.translation, stamped.transform.rotation
                    child_number, child = _of_world(stamped.child_frame_id)
                    body = child if child_number == number else stamped.child_frame_id
                    rows = found.setdefault((number, body), [])
                    rows.append((_stamp_ns(stamped.header), [p.x, p.y, p.z, q.w, q.x, q.y, q.z]))
    if not found:
        there = f"frames in {', '.join(sorted(map(repr, parents)))[:200]}" if parents else "none"
        raise SpecError(
            f"{file.path.name!r} has no bodies; its topic {_TF!r} must have frames in 'world', it has {there}"
        )
    return found


def _joints(file: McapFile) -> dict[tuple[int | None, str], _Rows]:
    """Positions and velocities by world and joint; a joint on several topics is that of the first by name."""
    found: dict[tuple[int | None, str], _Rows] = {}
    for topic in file.topics_of(_JOINT_STATE):
        number, _ = _of_world(topic.removeprefix("/"))
        decode, here = file.decoder(topic), dict[tuple[int | None, str], _Rows]()
        for message in file.messages([topic]):
            state = decode(message.data)
            speeds = state.velocity if len(state.velocity) == len(state.name) else [np.nan] * len(state.name)
            for name, position, speed in zip(state.name, state.position, speeds, strict=False):
                here.setdefault((number, name), []).append((_stamp_ns(state.header), [float(position), float(speed)]))
        for joint, rows in here.items():
            # What is late may be logged after what came later
            found.setdefault(joint, sorted(rows))
    return found


def _world(name: str, world: int | None, numbers: set[int | None]) -> int | None:
    """The world asked for, or the only one."""
    if world is None and len(numbers) == 1:
        return next(iter(numbers))
    if world not in numbers or world is None:
        there = (
            ", ".join(str(number) for number in sorted(n for n in numbers if n is not None)) or "one without a number"
        )
        raise SpecError(f"world is {world}; {name!r} has {there}, and it must be one of them")
    return world


def _track(name: str, body: str, rows: _Rows, first_ns: int) -> Track:
    try:
        values = np.array([numbers for _, numbers in rows])
        return Track(_seconds(rows, first_ns), Pose(values[:, :3], values[:, 3:]))
    except SpecError as error:
        raise SpecError(f"body {body!r} of {name!r}: {error}") from None


def _joint_track(name: str, joint: str, rows: _Rows, first_ns: int, *, turns: bool) -> JointTrack:
    try:
        position, velocity = np.array([numbers for _, numbers in rows]).T
        if not turns or np.isnan(velocity).any():
            return JointTrack(_seconds(rows, first_ns), position)
        return JointTrack.unwound(_seconds(rows, first_ns), position, velocity)
    except SpecError as error:
        raise SpecError(f"joint {joint!r} of {name!r}: {error}") from None


def _seconds(rows: _Rows, first_ns: int) -> list[float]:
    """Times since the earliest of all, which keep digits that those of an epoch would not."""
    return [(time_ns - first_ns) / NS_PER_S for time_ns, _ in rows]


def _of_world(name: str) -> tuple[int | None, str]:
    """The number of the world that a name begins with, None where there is but one, and the rest of it."""
    match = _OF_WORLD.fullmatch(name)
    return (int(match[1]), match[2]) if match else (None, name)


def _stamp_ns(header: Any) -> int:
    return int(header.stamp.sec) * NS_PER_S + int(header.stamp.nanosec)
