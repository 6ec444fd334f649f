"""A world whose bodies and joints follow a recording."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sensorium.core.clock import NS_PER_S
from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.core.rotations import Float
from sensorium.worlds.base import (
    WorldState,
    checked_mask,
    checked_names,
    checked_slides,
    checked_worlds,
    started,
    step_length_ns,
)
from sensorium.worlds.mujoco.scene import Mount
from sensorium.worlds.replay.motion_mcap import Motions, read_motions
from sensorium.worlds.replay.pose_csv import read_tracks
from sensorium.worlds.replay.track import JointTrack, Track
from sensorium.worlds.state_layout import StateLayout

# Steps that are interpolated at once, and the memory limit of all bodies and joints for them
_MOST_STEPS, _MOST_ROWS = 256, 1 << 18


class Replay:
    """Bodies and joints that follow a recording, resampled on this world's own steps.

    Time 0 is the earliest time of all tracks. A body is at rest before its track begins and after it ends; between, see
    `Track`. States have no accelerations. A reset restarts the recording.

    >>> way = sn.worlds.Track([0.0, 1.0], sn.Pose([[0, 0, 0], [4, 0, 0]]))
    >>> env = sn.Environment(sn.Scene(), sn.worlds.Replay({"car": way}, step_s=0.25))
    >>> env.step()
    >>> env.state.X_WB.position[0, 0].tolist()
    [1.0, 0.0, 0.0]
    """

    def __init__(
        self,
        tracks: "Mapping[str, Track] | str | os.PathLike[str]",
        *,
        joints: Mapping[str, JointTrack] | None = None,
        step_s: float = 0.01,
        slide_joints: Iterable[str] = (),
        root: str | None = None,
    ) -> None:
        """Load recorded tracks, or a file of them.

        Args:
            tracks: The track of each body; or a file for `from_csv` or `from_mcap`, by its suffix.
            joints: The track of each joint; a file has its own.
            step_s: Duration of one step [s].
            slide_joints: Names of the joints that slide [m]; all others turn [rad]. A recording of
                `sn.record.McapRecorder` names its own.
            root: Of an MCAP file, the frame that is the world; see `from_mcap`.
        """
        self._mounts: dict[str, tuple[str | None, Pose]] = {}
        if isinstance(tracks, str | os.PathLike):
            if joints is not None:
                raise SpecError(f"joints are given and tracks is {str(tracks)!r}; a file must bring its own")
            tracks, joints, slide_joints, self._mounts = _read(Path(tracks), slide_joints, root)
        elif root is not None:
            raise SpecError(f"root is {root!r} and tracks are given; it must be of a file that ends in .mcap")
        joints = joints or {}
        for name, track in tracks.items():
            if not isinstance(track, Track):
                raise SpecError(f"body {name!r} follows {track!r}; it must follow a sn.worlds.Track")
        for name, turns in joints.items():
            if not isinstance(turns, JointTrack):
                raise SpecError(f"joint {name!r} follows {turns!r}; it must follow a sn.worlds.JointTrack")
        if not tracks and not joints:
            raise SpecError("tracks is empty; it must hold one body or more, or there must be joints")
        self.body_names = checked_names("body", tracks)
        self.joint_names = checked_names("joint", joints)
        self.slide_joints = checked_slides(slide_joints, self.joint_names)
        self.step_ns = step_length_ns(step_s)
        self.time_ns = 0
        self.tracks, self.joints = dict(tracks), dict(joints)
        self._from_s = min(float(track.times_s[0]) for track in self._all())
        self._block = min(_MOST_STEPS, max(1, _MOST_ROWS // len(self._all())))
        self._blocks: dict[int, tuple[Float, ...]] = {}
        self._steps = 0
        self._first_step: NDArray[np.int64] | None = None

    @classmethod
    def from_csv(
        cls, path: "str | os.PathLike[str]", *, step_s: float = 0.01, slide_joints: Iterable[str] = ()
    ) -> "Replay":
        """Read a table of poses, a row for each time and body, with a header line.

        Columns, in any order: `time_s` or `time_ns` (on any clock, it may be an epoch), `body`, `x`, `y`, `z` [m], and
        `qw`, `qx`, `qy`, `qz`. Optionally `vx`, `vy`, `vz` [m/s] and `wx`, `wy`, `wz` [rad/s], both in world axes. Rows
        of one body must go on in time.

        Each joint has a column of its own, `joint:wheel` for its position [rad or m], and optionally
        `joint_velocity:wheel` [rad/s or m/s]. Empty fields are skipped; a row without body and pose has joints only.

        Args:
            path: The file. One that breaks a rule raises SpecError with the file, the line and the rule.
            step_s: Duration of one step [s].
            slide_joints: Names of the joints that slide [m]; all others turn [rad].
        """
        tracks, joints = read_tracks(path)
        return cls(tracks, joints=joints, step_s=step_s, slide_joints=slide_joints)

    @classmethod
    def from_mcap(
        cls,
        path: "str | os.PathLike[str]",
        *,
        world: int | None = None,
        root: str | None = None,
        step_s: float = 0.01,
        slide_joints: Iterable[str] = (),
    ) -> "Replay":
        """Read a recording of a robot, for example one of `sn.record.McapRecorder`.

        Bodies are the frames that move: the children of `/tf`, each in the root frame, composed along the chain of
        `/tf` and `/tf_static` that leads to it (map, odom, base_link, ...), at the times of all frames along it. The
        frames of `/tf_static` are mounts; see `mount`. Where no frame moves, each topic of Odometry, PoseStamped or
        PoseWithCovarianceStamped is a body, called after its `child_frame_id` or else its topic. Rows are put in the
        order of their stamps, and of several with one stamp the first counts.

        Joints are those of all messages of type sensor_msgs/JointState: encoder readings with the stamps of their own
        clocks, unwrapped by their velocities where the joint turns; a joint on several topics is taken from the first
        topic by name. Velocities are slopes of the positions.

        Args:
            path: The file. One that is damaged, or has no bodies, raises SpecError with the file and the rule.
            world: Number of the world, if there are several, whose names begin with `world_3/`.
            root: Frame that is the world; None takes the only frame without a parent, or the one called `world`.
            step_s: Duration of one step [s].
            slide_joints: Names of joints that slide [m], beside those that the recording names.
        """
        tracks, joints, slides, mounts = read_motions(path, world, slide_joints, root)
        made = cls(tracks, joints=joints, step_s=step_s, slide_joints=slides)
        made._mounts = mounts
        return made

    def mount(self, name: str) -> Mount:
        """Mount of a fixed frame of a recording: `env.attach(sensor, **world.mount("lidar_link"))`."""
        if name not in self._mounts:
            there = ", ".join(map(repr, self._mounts))[:200] or "none"
            raise SpecError(f"the recording has no fixed frame {name!r}; it has {there}")
        body, pose = self._mounts[name]
        return {"body": body, "pose": pose}

    @property
    def duration_s(self) -> float:
        """From the earliest time of all tracks to the latest [s]."""
        return max(float(track.times_s[-1]) for track in self._all()) - self._from_s

    def start(self, worlds: int) -> None:
        """Run this many worlds side by side, from time 0."""
        count = checked_worlds(worlds)
        self.time_ns = self._steps = 0
        self._first_step = np.zeros(count, np.int64)
        self._layout = StateLayout(count, len(self.body_names), len(self.joint_names))

    def step(self) -> None:
        """Move all worlds on by step_ns."""
        started(self._first_step)
        self._steps += 1
        self.time_ns += self.step_ns

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Restart the recording in the worlds where mask (worlds,) is true; time goes on."""
        first_step = started(self._first_step)
        first_step[checked_mask(mask, len(first_step))] = self._steps

    def state(self) -> WorldState:
        """The state now."""
        block, row = np.divmod(self._steps - started(self._first_step), self._block)
        needed = np.unique(block).tolist()
        self._blocks = {k: self._blocks[k] if k in self._blocks else self._interpolated(k) for k in needed}
        numbers = np.zeros(self._layout.size)
        p_WB, q_WB, v_WB, w_WB, _, _, position, velocity = self._layout.views(numbers)
        for quantity, view in enumerate((p_WB, q_WB, v_WB, w_WB, position, velocity)):
            for k in needed if view.size else ():
                chosen = block == k
                view[chosen] = self._blocks[k][quantity][row[chosen]]
        return self._layout.state(self.time_ns, numbers, accelerations=False)

    def _interpolated(self, block: int) -> tuple[Float, ...]:
        """Motions at the steps of a block.

        Returns:
            Position, quaternion, v_WB and w_WB of all bodies, each (steps, bodies, 3 or 4), then positions and
            velocities of all joints, (steps, joints).
        """
        steps = np.arange(block * self._block, (block + 1) * self._block)
        t_s = self._from_s + steps * self.step_ns / NS_PER_S
        bodies = [track.at(t_s) for track in self.tracks.values()]
        joints = [track.at(t_s) for track in self.joints.values()]
        nothing = np.zeros((self._block, 0))
        moved = [np.stack(quantity, axis=1) for quantity in zip(*bodies, strict=True)] or [nothing] * 4
        turned = [np.stack(quantity, axis=1) for quantity in zip(*joints, strict=True)] or [nothing] * 2
        return (*moved, *turned)

    def _all(self) -> list[Track | JointTrack]:
        return [*self.tracks.values(), *self.joints.values()]


def _read(path: Path, slide_joints: Iterable[str], root: str | None) -> Motions:
    """Contents of a file, by its suffix."""
    suffix = path.suffix.lower()
    if suffix == ".mcap":
        return read_motions(path, slide_joints=slide_joints, root=root)
    if suffix != ".csv":
        raise SpecError(f"tracks is the file {str(path)!r}; its name must end in .csv or .mcap")
    if root is not None:
        raise SpecError(f"root is {root!r} and tracks is {str(path)!r}; it must be of a file that ends in .mcap")
    return Motions(*read_tracks(path), tuple(slide_joints), {})
