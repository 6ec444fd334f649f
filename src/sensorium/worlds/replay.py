"""A world whose bodies move as they were recorded."""

import os
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sensorium.clock import NS_PER_S
from sensorium.errors import SpecError, WorldError
from sensorium.rotations import Float
from sensorium.worlds.base import WorldState, checked_mask, checked_names, checked_worlds, step_length_ns
from sensorium.worlds.pose_csv import read_tracks
from sensorium.worlds.state_layout import StateLayout
from sensorium.worlds.track import Track

# Steps that are interpolated at once
_BLOCK = 256


class Replay:
    """Bodies that follow a recording, resampled on this world's own steps.

    Time 0 is the earliest time of all tracks. A body stands still before its track begins and after it ends; between,
    see `Track`. Accelerations are not known. A reset starts the recording over.
    """

    def __init__(self, tracks: Mapping[str, Track], *, step_s: float = 0.01) -> None:
        """Take recorded tracks.

        Args:
            tracks: The track of each body.
            step_s: How far one step goes [s].
        """
        for name, track in tracks.items():
            if not isinstance(track, Track):
                raise SpecError(f"body {name!r} follows {track!r}; it must follow a sn.worlds.Track")
        if not tracks:
            raise SpecError("tracks is empty; it must hold one body or more")
        self.body_names = checked_names("body", tracks)
        self.joint_names: tuple[str, ...] = ()
        self.step_ns = step_length_ns(step_s)
        self.time_ns = 0
        self.tracks = dict(tracks)
        self._from_s = min(float(track.times_s[0]) for track in tracks.values())
        self._blocks: dict[int, tuple[Float, ...]] = {}
        self._steps = 0
        self._first_step: NDArray[np.int64] | None = None

    @classmethod
    def from_csv(cls, path: "str | os.PathLike[str]", *, step_s: float = 0.01) -> "Replay":
        """Read a table of poses, a row for each time and body, with a header line.

        Columns, in any order: `time_s` or `time_ns` (on any clock, it may be an epoch), `body`, `x`, `y`, `z` [m], and
        `qw`, `qx`, `qy`, `qz`. Optionally `vx`, `vy`, `vz` [m/s] and `wx`, `wy`, `wz` [rad/s], both in world axes. Rows
        of one body must go on in time.

        Args:
            path: The file. One that breaks a rule raises SpecError with the file, the line and the rule.
            step_s: How far one step goes [s].
        """
        return cls(read_tracks(path), step_s=step_s)

    @property
    def duration_s(self) -> float:
        """From the earliest time of all tracks to the latest [s]."""
        return max(float(track.times_s[-1]) for track in self.tracks.values()) - self._from_s

    def start(self, worlds: int) -> None:
        """Run this many worlds side by side, from time 0."""
        count = checked_worlds(worlds)
        self.time_ns = self._steps = 0
        self._first_step = np.zeros(count, np.int64)
        self._layout = StateLayout(count, len(self.body_names), 0)

    def step(self) -> None:
        """Move all worlds on by step_ns."""
        self._started()
        self._steps += 1
        self.time_ns += self.step_ns

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Start the recording over in the worlds where mask (worlds,) is true; time goes on."""
        first_step = self._started()
        first_step[checked_mask(mask, len(first_step))] = self._steps

    def state(self) -> WorldState:
        """The state now."""
        block, row = np.divmod(self._steps - self._started(), _BLOCK)
        needed = np.unique(block).tolist()
        self._blocks = {k: self._blocks[k] if k in self._blocks else self._interpolated(k) for k in needed}
        numbers = np.zeros(self._layout.size)
        for quantity, view in enumerate(self._layout.views(numbers)[:4]):
            for k in needed:
                chosen = block == k
                view[chosen] = self._blocks[k][quantity][row[chosen]]
        return self._layout.state(self.time_ns, numbers, accelerations=False)

    def _interpolated(self, block: int) -> tuple[Float, ...]:
        """Position, quaternion, v_WB and w_WB of all bodies at the steps of a block, each (steps, bodies, 3 or 4)."""
        steps = np.arange(block * _BLOCK, (block + 1) * _BLOCK)
        t_s = self._from_s + steps * self.step_ns / NS_PER_S
        motions = [track.at(t_s) for track in self.tracks.values()]
        return tuple(np.stack(quantity, axis=1) for quantity in zip(*motions, strict=True))

    def _started(self) -> NDArray[np.int64]:
        """Step at which each world's recording began, shape (worlds,)."""
        if self._first_step is None:
            raise WorldError("this world was not started; call start(worlds) first")
        return self._first_step
