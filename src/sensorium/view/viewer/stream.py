"""Sends data to Rerun: poses, clouds, numbers, images and text on one timeline."""

import os
import secrets
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import MissingExtraError, RecordError, SpecError
from sensorium.core.frames import Pose
from sensorium.view.plots import label_colors

TIMELINE = "sim_time"

# Numbers are sent in columns of this many rows, which costs a hundredth of sending each
_ROWS = 1024

# Size of a point [pixels]; Rerun takes negative sizes as such
_POINT_SIZE = -1.5

_WORLD, _SIGNALS, _FAULTS = "world", "signals", "faults"


class Stream:
    """A Rerun recording: into a viewer that opens, or into a file that appears when it is closed.

    In the tree, `world` holds poses and clouds, `signals` a branch for each sensor, `faults` the log. The layout shows
    the world beside plots of the signals.
    """

    def __init__(self, save: str | PathLike[str] | None, title: str) -> None:
        """Open it.

        Args:
            save: File to write, .rrd; None opens a window.
            title: Name of the recording.
        """
        self._rr = check_save(save)
        self._save = None if save is None else Path(save)
        self._part: Path | None = None
        self._plots: dict[str, None] = {}
        self._images: dict[str, None] = {}
        self._waiting: dict[tuple[str, ...], list[tuple[int, Sequence[float]]]] = {}
        self._names: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._classes: dict[int, str] = {}
        self._recording: Any = self._rr.RecordingStream("sensorium")
        self._recording.send_recording_name(title)
        if self._save is None:
            try:
                self._recording.spawn()
            except (RuntimeError, OSError) as error:
                raise RecordError(f"Rerun's viewer cannot be opened: {' '.join(str(error).split())}") from None
        else:
            self._part = self._save.with_name(f".{self._save.name}.{secrets.token_hex(4)}.part")
            self._recording.save(self._part)
        self._recording.log(_WORLD, self._rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)

    def pose(self, frames: Sequence[str], X_PC: Pose, time_ns: int | None) -> None:
        """Pose of a frame in its parent, by the names of all frames from the world down; None is for all times."""
        x = self._rr.Transform3D(translation=X_PC.position, quaternion=np.roll(X_PC.quaternion, -1))
        self._log([_WORLD, *frames], x, time_ns)

    def names(self, labels: Mapping[str, int]) -> None:
        """Names of label numbers in clouds; a number without a name is its own name."""
        classes = self._classes | {number: name for name, number in labels.items()}
        if classes == self._classes:
            return
        self._classes = classes
        colors = label_colors({name: number for number, name in classes.items()})
        paints = np.round(255.0 * colors).astype(int).tolist()
        rows = [(0, "no label", paints[0]), *((number, name, paints[number]) for number, name in classes.items())]
        self._log([_WORLD], self._rr.AnnotationContext(rows), None)

    def cloud(self, name: str, points_W: NDArray[Any], label: NDArray[Any], time_ns: int) -> None:
        """Points in the world [m], shape (n, 3), in the color of their label number; none for numbers below 0."""
        numbers = np.maximum(label, 0)
        unknown = set(np.unique(numbers).tolist()) - set(self._classes) - {0}
        if unknown:
            self.names({f"label {number}": number for number in sorted(unknown)})
        points = self._rr.Points3D(points_W.astype(np.float32), class_ids=numbers.astype(np.uint16), radii=_POINT_SIZE)
        self._log([_WORLD, f"{name} points"], points, time_ns)

    def numbers(self, path: Sequence[str], names: Sequence[str], values: Sequence[float], time_ns: int) -> None:
        """Numbers of a sensor at a time: (sensor, quantity) and the names of the numbers."""
        key = (_SIGNALS, *path)
        if key not in self._names:
            self._names[key] = tuple(names)
            self._plots[path[0]] = None
            self._log(list(key), self._rr.SeriesLines(names=list(names)), None)
        waiting = self._waiting.setdefault(key, [])
        waiting.append((time_ns, values))
        if len(waiting) >= _ROWS:
            self._send(key)

    def image(self, name: str, pixels: NDArray[Any], time_ns: int) -> None:
        """An image, shape (rows, columns) or (rows, columns, 3)."""
        self._images[name] = None
        self._log(["images", name], self._rr.Image(pixels), time_ns)

    def words(self, text: str, time_ns: int, *, is_bad: bool) -> None:
        """A line of the log of faults."""
        self._log([_FAULTS], self._rr.TextLog(text, level="ERROR" if is_bad else "INFO"), time_ns)

    def file(self, path: Path) -> None:
        """All of a file that Rerun itself can read."""
        self._recording.log_file_from_path(path)

    def flush(self) -> None:
        """Send buffered data."""
        for key in [key for key, waiting in self._waiting.items() if waiting]:
            self._send(key)

    def layout(self) -> None:
        """Arrange the present views: the world to the left, signals to the right, faults below."""
        rrb, path = self._rr.blueprint, self._rr.new_entity_path
        world = rrb.Spatial3DView(origin=f"/{_WORLD}", name="World")
        right = [rrb.TimeSeriesView(origin=path([_SIGNALS, name]), name=name) for name in self._plots]
        right += [rrb.Spatial2DView(origin=path(["images", name]), name=name) for name in self._images]
        left = rrb.Vertical(world, rrb.TextLogView(origin=f"/{_FAULTS}", name="Faults"), row_shares=[5, 1])
        whole = rrb.Horizontal(left, rrb.Vertical(*right), column_shares=[3, 2]) if right else left
        panels = rrb.TimePanel(timeline=TIMELINE), rrb.SelectionPanel(state="collapsed")
        self._recording.send_blueprint(rrb.Blueprint(whole, *panels))

    def close(self) -> None:
        """Send buffered data; a file appears."""
        self.flush()
        self.layout()
        self._recording.flush()
        self._recording.disconnect()
        if self._part is not None and self._save is not None:
            try:
                os.replace(self._part, self._save)
            except OSError as error:
                raise RecordError(f"{str(self._save)!r} cannot be written: {error.strerror}") from None
            finally:
                self._part.unlink(missing_ok=True)

    def abandon(self) -> None:
        """End it without a file."""
        self._recording.disconnect()
        if self._part is not None:
            self._part.unlink(missing_ok=True)

    def _log(self, path: Sequence[str], what: Any, time_ns: int | None) -> None:
        if time_ns is not None:
            self._recording.set_time(TIMELINE, duration=np.timedelta64(time_ns, "ns"))
        self._recording.log(list(path), what, static=time_ns is None)

    def _send(self, key: tuple[str, ...]) -> None:
        waiting, self._waiting[key] = self._waiting[key], []
        times = self._rr.TimeColumn(TIMELINE, duration=np.array([at for at, _ in waiting], "timedelta64[ns]"))
        values = np.array([row for _, row in waiting], np.float64)
        columns = self._rr.Scalars.columns(scalars=values.ravel()).partition([values.shape[1]] * len(values))
        self._recording.send_columns(self._rr.new_entity_path(list(key)), indexes=[times], columns=columns)


def check_save(save: str | PathLike[str] | None) -> Any:
    """Rerun, where it is installed and the file could be written; arguments as of `Stream`."""
    if save is not None and not Path(save).parent.is_dir():
        raise SpecError(f"save is {str(save)!r}; its folder does not exist")
    try:
        import rerun
        import rerun.blueprint
    except ImportError:
        raise MissingExtraError(
            "the viewer needs Rerun; pip install 'sensorium[view]', or open the run's report.html, which needs nothing"
        ) from None
    return rerun
