"""Output folders: one process writes a folder at a time, and user files in it are never removed.

A process that writes a folder holds the lock of a file beside it, `.NAME.sensorium-lock`, which goes when the process
is done; the lock itself ends with the process, however that ends. A folder that may be removed later carries a mark,
and only files that its writer names as its own are removed from it, one by one.
"""

import errno
import os
import socket
import stat
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from sensorium.core.errors import SpecError

try:
    import fcntl
except ImportError:  # Windows has no flock: a second process is not kept out there
    fcntl = None  # type: ignore[assignment]

MARK = ".sensorium-run"
"""File of a folder that may be removed again."""

class HeldError(SpecError):
    """Another process writes a folder."""


IsOwn = Callable[[PurePosixPath], bool]
"""Whether the writer of a folder writes files of this path, seen from the folder."""

_SIGNATURE = b"sensorium process "

# Time in which the holder of a lock writes its process number into it [s]
_PATIENCE_S, _POLL_S = 0.5, 0.01


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep other processes from writing a folder, and those beside it whose names begin with its name.

    If no file can be written beside the folder there is no lock, and nothing to protect.

    Raises:
        HeldError: Another process, which is named, or another thread of this one writes the folder.
    """
    folder = folder.absolute()
    made = _make_parents(folder)
    path = folder.with_name(f".{folder.name}.sensorium-lock")
    try:
        lock = _taken(path, folder) if fcntl is not None else None
        try:
            yield
        finally:
            if lock is not None:
                _release(lock, path)
    finally:
        for parent in made:  # those that stayed empty
            with suppress(OSError):
                parent.rmdir()


def begin(folder: Path, is_own: IsOwn) -> None:
    """Make an empty folder with the mark; a marked one that was left behind is removed first.

    An empty folder without the mark was left by a process killed at this point; there is nothing in it to keep.

    Raises:
        SpecError: The existing folder is not marked, or holds files that are not its writer's.
    """
    check_removable(folder, is_own)
    try:
        if folder.exists():
            remove(folder, is_own)
        folder.mkdir(parents=True)
        (folder / MARK).touch()
    except OSError as error:
        raise SpecError(f"the folder {str(folder)!r} cannot be made: {error.strerror}") from None


def check_removable(folder: Path, is_own: IsOwn, *, marked: bool = True) -> None:
    """Raise SpecError where removing a folder would remove something of the user's.

    Args:
        folder: The folder, which need not exist.
        is_own: Which files are its writer's.
        marked: Whether it must have the mark.
    """
    if folder.is_symlink() or (marked and not _is_marked(folder)):
        raise SpecError(f"{str(folder)!r} exists and is not ours; it must make room for the run, remove or rename it")
    if not folder.exists():
        return
    for path in sorted(folder.rglob("*")):
        name = PurePosixPath(path.relative_to(folder).as_posix())
        if (path.is_symlink() or not path.is_dir()) and name.name != MARK and not is_own(name):
            raise SpecError(f"{str(folder)!r} holds {str(name)!r}, which no run wrote; it would be lost, move it away")


def remove(folder: Path, is_own: IsOwn) -> None:
    """Remove the writer's own files, then empty folders, and last the mark; all other files are kept."""
    if folder.is_symlink():
        return
    for root, folders, files in os.walk(folder, topdown=False):
        for name in files:
            path = Path(root, name)
            if path != folder / MARK and is_own(PurePosixPath(path.relative_to(folder).as_posix())):
                with suppress(OSError):
                    path.unlink()
        for name in folders:
            with suppress(OSError):
                Path(root, name).rmdir()
    with suppress(OSError):
        (folder / MARK).unlink()
    with suppress(OSError):
        folder.rmdir()


def finish(work: Path, folder: Path) -> None:
    """Rename a complete folder to its final name, which must be free or an empty folder, and remove the mark.

    The mark goes last: a process that is killed before leaves a folder that the next one may still remove.

    Raises:
        OSError: It cannot be moved.
    """
    work.rename(folder)
    (folder / MARK).unlink(missing_ok=True)


def _is_marked(folder: Path) -> bool:
    """Whether a folder may be removed: it has the mark, is empty or does not exist."""
    if not folder.exists() or (folder / MARK).is_file():
        return True
    return folder.is_dir() and not any(folder.iterdir())


def _make_parents(folder: Path) -> list[Path]:
    """Make the folders above one; returns those that were not there, the innermost first."""
    missing = [parent for parent in folder.parents if not parent.exists()]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = os.strerror(errno.ENOTDIR) if isinstance(error, FileExistsError) else error.strerror
        raise SpecError(f"--out is {str(folder)!r}, which cannot be made: {reason}") from None
    return missing


def _taken(path: Path, folder: Path) -> int | None:
    """The lock of a file, as a descriptor; None where no file can be written there, or the system has no locks."""
    while True:
        try:
            lock = _opened(path)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                return None
            raise SpecError(f"--out is {str(folder)!r}; it cannot be locked: {error.strerror}") from None
        try:
            if not _is_ours(lock):
                raise SpecError(f"{str(path)!r} exists and is not ours; it must make room for a lock, rename it")
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

            # The previous holder of the lock may have removed the file in between
            if os.fstat(lock).st_nlink:
                with suppress(OSError):  # a lock that another user left is ours without our name in it
                    os.ftruncate(lock, 0)
                    os.pwrite(lock, _SIGNATURE + f"{os.getpid()} on {socket.gethostname()}\n".encode(), 0)
                return lock
        except BlockingIOError:
            holder = _holder(lock)
            os.close(lock)
            raise HeldError(
                f"--out is {str(folder)!r}, which {holder} is writing; wait until it ends, or name another folder"
            ) from None
        except OSError as error:
            os.close(lock)
            with suppress(OSError):
                path.unlink()
            warnings.warn(f"{str(folder)!r} is not locked against a second run: {error.strerror}", stacklevel=4)
            return None
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)


def _opened(path: Path) -> int:
    flags = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | flags, 0o644)
    except PermissionError:
        if not path.exists():
            raise
        return os.open(path, os.O_RDONLY | flags)  # another user's file can still be locked


def _is_ours(lock: int) -> bool:
    if not stat.S_ISREG(os.fstat(lock).st_mode):
        return False
    return os.pread(lock, len(_SIGNATURE), 0) in (b"", _SIGNATURE)


def _holder(lock: int) -> str:
    """Which process holds a lock."""
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        words = os.pread(lock, 200, 0).decode("utf-8", "replace").removeprefix(_SIGNATURE.decode()).split()
        if words:
            return f"process {' '.join(words)}"
        time.sleep(_POLL_S)
    return "another process"


def _release(lock: int, path: Path) -> None:
    with suppress(OSError):
        path.unlink()
    fcntl.flock(lock, fcntl.LOCK_UN)  # also for children that were forked meanwhile, which have it too
    os.close(lock)
