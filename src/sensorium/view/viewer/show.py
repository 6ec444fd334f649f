"""Opens the results of a run."""

import webbrowser
from collections.abc import Callable
from os import PathLike
from pathlib import Path

from sensorium.core.errors import SpecError
from sensorium.view.viewer.mcap_file import show_mcap
from sensorium.view.viewer.pcd_file import read_pcd
from sensorium.view.viewer.stream import Stream

_IN_RERUN = (".mcap", ".pcd", ".ply", ".rrd")


def show(
    path: str | PathLike[str],
    save: str | PathLike[str] | None = None,
    *,
    progress: Callable[[float], None] = lambda part: None,
) -> str:
    """Open a file: a page in the browser, a recording or a cloud in Rerun.

    Args:
        path: A report (.html), a recording (.mcap, .rrd), a cloud (.ply, .pcd), or the folder of a run, of which the
            report is opened, else the recording.
        save: Write the Rerun data to this file, .rrd, instead of opening a window.
        progress: Called with the part that is done, 0 to 1.

    Returns:
        A summary in words, after a line for each topic that was left out.
    """
    path = _of_folder(Path(path), to_rerun=save is not None)
    kind = path.suffix.lower()
    if kind in (".html", ".htm") and save is None:
        address = path.resolve().as_uri()
        opened = webbrowser.open(address)
        return f"opened {path}" if opened else f"no browser was found; open {address}"
    if kind not in _IN_RERUN:
        kinds = ", ".join(_IN_RERUN if save is not None else (".html", *_IN_RERUN))
        raise SpecError(f"FILE is {path.name!r}; it must be one of {kinds}, or the folder of a run")
    if save is not None and Path(save).suffix.lower() != ".rrd":
        raise SpecError(f"save is {str(save)!r}; it must end in .rrd")

    # Unreadable files are reported before a window opens
    cloud = read_pcd(path) if kind == ".pcd" else None
    stream = Stream(save, path.stem)
    notes: list[str] = []
    try:
        if kind == ".mcap":
            show_mcap(path, stream, progress, notes.append)
        elif cloud is not None:
            stream.cloud(path.stem, *cloud, time_ns=0)
        else:
            stream.file(path)
    except BaseException:
        stream.abandon()
        raise
    stream.close()
    return "\n".join([*notes, f"sent {path} to the viewer" if save is None else f"wrote {save}"])


def _of_folder(path: Path, *, to_rerun: bool) -> Path:
    """The file itself, or the file of a folder to open."""
    if path.is_file():
        return path
    if not path.exists():
        raise SpecError(f"FILE is {str(path)!r}, which does not exist")
    endings = ("*.mcap",) if to_rerun else ("report.html", "*.mcap")
    for ending in endings:
        found = sorted(path.glob(ending))
        if found:
            return found[0]
    raise SpecError(f"FILE is the folder {str(path)!r}; it must have a {' or a '.join(endings)}")
