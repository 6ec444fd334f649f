"""One ray through the volumes on its way in float64: the reference of `kernels/light/media_stack.py`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.media import MediumParameters
from sensorium.scene.volumes import SAME_INDEX

# What float32 can tell apart square to faces: a share of the coordinates involved, and a least distance [m]; along the
# ray it is more by the cosine, which counts down to a limit
_COARSE, _LEAST_M, _LEAST_COSINE = 3e-7, 1e-7, 0.01


@dataclass(frozen=True, eq=False)
class Face:
    """A face that a ray crosses or ends on."""

    range_m: float
    normal: NDArray[np.float64]
    object_id: int
    number: int
    """Among all hits of the ray."""
    cosine: float
    """Between ray and normal; below 0 where the ray enters."""
    tolerance_m: float
    """How far along the ray another face may be and lie in the same place."""
    medium: MediumParameters | None
    """What fills the object; None for a surface."""
    volume_m3: float


@dataclass(frozen=True)
class Volume:
    """A volume that contains a path."""

    object_id: int
    medium: MediumParameters
    volume_m3: float


# what a path is inside of, outermost first; around all of it is the atmosphere
Stack = tuple[Volume, ...]


@dataclass(frozen=True)
class Segment:
    """A ray from its start to its interface."""

    length_m: float
    face: Face | None
    """Where it ends; None where it meets nothing."""
    before: Stack
    behind: Stack
    tau: float
    """Optical depth of it [1]."""
    pieces: tuple[tuple[MediumParameters, float, float], ...]
    """Stretches: index that counts, in which medium, from where and to where [m]."""
    opl_m: float
    z_m: float
    """Sum of d / n [m]."""


def tolerance_m(away_m: float, range_m: float, radius_m: float, cosine: float) -> float:
    """Distance along a ray within which faces are in one place, by float32 resolution [m]."""
    return (_COARSE * (away_m + range_m + radius_m) + _LEAST_M) / max(abs(cosine), _LEAST_COSINE)


def index_medium(atmosphere: MediumParameters, stack: Stack) -> MediumParameters:
    """The medium whose index counts: of the innermost volume, unless that is the one around it."""
    index = atmosphere
    for volume in stack:
        if abs(volume.medium.refractive_index - index.refractive_index) > SAME_INDEX:
            index = volume.medium
    return index


def walk(
    atmosphere: MediumParameters, faces: Sequence[Face], start: Stack | None, max_range_m: float
) -> Segment:
    """Follow a ray to its interface.

    Args:
        atmosphere: The medium around everything.
        faces: All faces on its line, nearest first.
        start: Volumes that contain its start; None to find them from the exits of the ray.
        max_range_m: Length of the ray [m].
    """
    surface = next((face for face in faces if face.medium is None and face.range_m <= max_range_m), None)
    events = list(_once([face for face in faces if face.medium is not None]))
    if start is None:
        stack = _start(events)
    else:
        # A repeated hit of a face just passed adds nothing
        events = [
            (face, enters)
            for face, enters in events
            if not (enters and face.range_m <= face.tolerance_m and _count(start, face.object_id))
        ]
        stack = _agreeing(start, events)
    end = max_range_m if surface is None else surface.range_m
    here, began, tau, opl, z = stack, 0.0, 0.0, 0.0, 0.0
    pieces: list[tuple[MediumParameters, float, float]] = []

    def go_to(t: float) -> None:
        nonlocal began, tau, opl, z
        top, n = here[-1].medium if here else atmosphere, index_medium(atmosphere, here).refractive_index
        pieces.append((top, began, t))
        tau, opl, z = tau + top.extinction_per_m * (t - began), opl + n * (t - began), z + (t - began) / n
        began = t

    while events:
        first = events[0][0]
        at_surface = surface is not None and abs(first.range_m - end) <= first.tolerance_m + surface.tolerance_m
        if first.range_m > end and not at_surface:
            break
        group = [e for e in events if e[0].range_m - first.range_m <= first.tolerance_m + e[0].tolerance_m]
        there = _applied(here, group)
        if at_surface:
            go_to(end)
            return Segment(end, surface, here, there, tau, tuple(pieces), opl, z)
        change = index_medium(atmosphere, there).refractive_index - index_medium(atmosphere, here).refractive_index
        if abs(change) > SAME_INDEX:
            go_to(first.range_m)
            return Segment(first.range_m, _boundary(group, here, there), here, there, tau, tuple(pieces), opl, z)
        go_to(first.range_m)
        here, events = there, events[len(group) :]
    go_to(end)
    return Segment(end, surface, here, here, tau, tuple(pieces), opl, z)


def _once(faces: Sequence[Face]) -> Iterator[tuple[Face, bool]]:
    """Each event of an object once, with whether it is entered; an object that is entered and left was touched."""
    used: set[int] = set()
    for i, face in enumerate(faces):
        if i in used:
            continue
        same = [
            j
            for j in range(i, len(faces))
            if faces[j].object_id == face.object_id
            and j not in used
            and (j == i or faces[j].range_m - face.range_m <= face.tolerance_m + faces[j].tolerance_m)
        ]
        used.update(same)
        if len({faces[j].cosine < 0.0 for j in same}) == 1:
            yield face, face.cosine < 0.0


def _left_unentered(events: Sequence[tuple[Face, bool]], object_id: int) -> int:
    inside, most = 0, 0
    for face, enters in events:
        if face.object_id == object_id:
            inside += -1 if enters else 1
            most = max(most, inside)
    return most


def _start(events: Sequence[tuple[Face, bool]]) -> Stack:
    """Volumes that contain a ray's start: those it leaves without having entered, larger volumes further out."""
    found: dict[int, Volume] = {}
    inside: list[Volume] = []
    for face, _ in events:
        if face.object_id not in found:
            found[face.object_id] = _volume(face)
            inside += _left_unentered(events, face.object_id) * [found[face.object_id]]
    return tuple(sorted(inside, key=_by_size))


def _agreeing(start: Stack, events: Sequence[tuple[Face, bool]]) -> Stack:
    """A path that never leaves a closed volume is not inside it: it started beside an edge."""
    stack = list(start)
    for volume in reversed(start):
        if _count(tuple(stack), volume.object_id) > _left_unentered(events, volume.object_id):
            stack.remove(volume)
    return tuple(stack)


def _applied(stack: Stack, group: Sequence[tuple[Face, bool]]) -> Stack:
    """Volumes left, topmost first, then volumes entered, the larger first."""
    after = list(stack)
    for face, enters in group:
        if not enters:
            levels = [i for i, volume in enumerate(after) if volume.object_id == face.object_id]
            if levels:
                after.pop(levels[-1])
    return (*after, *sorted((_volume(face) for face, enters in group if enters), key=_by_size))


def _boundary(group: Sequence[tuple[Face, bool]], here: Stack, there: Stack) -> Face:
    """The face that counts: of the volume on top behind the event, or else of the one left."""
    chosen = group[0][0]
    for face, enters in group:
        if not enters and here and here[-1].object_id == face.object_id:
            chosen = face
    for face, enters in group:
        if enters and there and there[-1].object_id == face.object_id:
            chosen = face
    return chosen


def _volume(face: Face) -> Volume:
    assert face.medium is not None
    return Volume(face.object_id, face.medium, face.volume_m3)


def _by_size(volume: Volume) -> tuple[float, float, int]:
    return (-volume.volume_m3, volume.medium.extinction_per_m, volume.object_id)


def _count(stack: Stack, object_id: int) -> int:
    return sum(volume.object_id == object_id for volume in stack)
