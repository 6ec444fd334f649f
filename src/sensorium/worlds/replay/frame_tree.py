"""Tree of a robot's frames as ROS messages give it: the parent of each frame, and its poses by time."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.worlds.replay.track import Track

Rows = list[tuple[int, list[float]]]
"""Times [ns] with x, y, z [m] and qw, qx, qy, qz."""


@dataclass
class FrameTree:
    """Poses of frames in their parents; those of `/tf_static` hold for all times."""

    name: str
    """Of the file, for messages."""
    parents: dict[str, str] = field(default_factory=dict)
    """Frame that each frame sits on."""
    moving: dict[str, Rows] = field(default_factory=dict)
    """Poses of frames that move."""
    fixed: dict[str, list[float]] = field(default_factory=dict)
    """Pose of frames that do not move, the last one received."""

    def add(self, parent: str, child: str, time_ns: int, pose: list[float], *, is_fixed: bool) -> None:
        """Take one pose of a frame in its parent."""
        known = self.parents.setdefault(child, parent)
        if known != parent:
            raise SpecError(
                f"frame {child!r} of {self.name!r} sits on {known!r} and on {parent!r}; it must have one parent"
            )
        if is_fixed:
            self.fixed[child] = pose
        else:
            self.moving.setdefault(child, []).append((time_ns, pose))

    def chosen_root(self, root: str | None) -> str:
        """The requested root, or the only one, or the one called `world`."""
        roots = sorted({parent for parent in self.parents.values() if parent not in self.parents})
        if root is None:
            if len(roots) != 1 and "world" not in roots:
                there = ", ".join(map(repr, roots))[:200] or "none, since its frames sit on each other in a circle"
                raise SpecError(f"root is None and the roots of {self.name!r} are {there}; root must name one")
            return roots[0] if len(roots) == 1 else "world"
        if root not in self.parents.values():
            there = ", ".join(map(repr, sorted(set(self.parents.values()))))[:200]
            raise SpecError(f"root is {root!r}; the frames of {self.name!r} sit on {there}, and it must be one of them")
        return root

    def chain(self, frame: str, root: str) -> list[str] | None:
        """Frames from below the root down to this one; None if it does not descend from the root."""
        chain = [frame]
        while (parent := self.parents.get(chain[-1])) != root:
            if parent is None:
                return None
            if parent in chain:
                raise SpecError(f"frame {parent!r} of {self.name!r} sits on itself; frames must form a tree")
            chain.append(parent)
        return chain[::-1]

    def bodies(self, root: str) -> Iterator[tuple[str, list[str]]]:
        """Frames with motion of their own below the root, with the chain down to each."""
        for frame in self.moving:
            chain = self.chain(frame, root)
            if chain is not None:
                yield frame, chain

    def mounts(self, root: str) -> dict[str, tuple[str | None, Pose]]:
        """Frames without motion of their own: the body of each, None for the root, and its pose X_BS there."""
        found: dict[str, tuple[str | None, Pose]] = {}
        for frame in self.fixed:
            chain = None if frame in self.moving else self.chain(frame, root)
            if chain is None:
                continue
            body, pose = None, Pose()
            for link in chain:
                body, pose = (link, Pose()) if link in self.moving else (body, pose @ _pose(self.fixed[link]))
            found[frame] = (body, pose)
        return found

    def track(self, body: str, chain: list[str], first_ns: int) -> Track:
        """Poses of a body in the root: at the times of all frames along the chain, since `first_ns`.

        Between its own times each frame's position is linear and its rotation uses slerp, as everywhere.
        """
        try:
            links = {link: _own_track(self.moving[link], first_ns) for link in chain if link in self.moving}
            if len(chain) == 1:
                return links[body]
            times_s = np.unique(np.concatenate([link.times_s for link in links.values()]))
            pose = Pose(np.zeros((len(times_s), 3)))
            for link in chain:
                step = Pose(*links[link].at(times_s)[:2]) if link in links else _pose(self.fixed[link])
                pose = pose @ step
            return Track(times_s, pose)
        except SpecError as error:
            raise SpecError(f"body {body!r} of {self.name!r}: {error}") from None


def in_order(rows: list[tuple[int, list[float]]]) -> Rows:
    """Rows sorted by time, since late messages may be logged after newer ones; of equal times the first counts."""
    seen: dict[int, list[float]] = {}
    for time_ns, numbers in rows:
        seen.setdefault(time_ns, numbers)
    return sorted(seen.items())


def seconds_since(rows: Rows, first_ns: int) -> list[float]:
    """Times since the earliest of all [s], which keep the digits that epoch times would lose."""
    return [(time_ns - first_ns) / 1_000_000_000 for time_ns, _ in rows]


def _own_track(rows: Rows, first_ns: int) -> Track:
    values = np.array([numbers for _, numbers in rows])
    return Track(seconds_since(rows, first_ns), Pose(values[:, :3], values[:, 3:]))


def _pose(numbers: list[float]) -> Pose:
    return Pose(numbers[:3], numbers[3:])
