"""What a reader of files promises, watched while it reads: data or one clear error, in bounded memory and time.

What breaks the promise raises `BrokenPromise`, with the reader's name and what happened.
"""

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from fuzz.reader import Reader
from sensorium.core.errors import SceneWarning

SECONDS = 20.0
"""Of processor time, for one input; far more than any needs, on a machine that is slow and busy."""

_LONGEST_MESSAGE = 20_000


class BrokenPromise(AssertionError):
    """A reader did something with a file that it must not do."""


class _TooLong(BaseException):
    """Raised by the alarm; no `except Exception` of a reader catches it."""


def check(reader: Reader, data: bytes, folder: Path) -> bool:
    """Let a reader read bytes as a file of a folder, and see whether it keeps its promise.

    Args:
        reader: Whose promise.
        data: What the file is made of; see `Reader.packed`.
        folder: Where the file is put.

    Returns:
        Whether the file was read; False where it was refused, as it should be.
    """
    path = folder / f"input{reader.suffix}"
    path.write_bytes(reader.packed(data))
    return check_file(reader, path)


def check_file(reader: Reader, path: Path) -> bool:
    """The same for a file that is there already."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            with _bounded_memory(reader.memory_bytes), _bounded_time():
                reader.read(path)
            is_read = True
        except reader.errors as error:
            _check_message(reader, error)
            is_read = False
        except BrokenPromise as error:
            raise BrokenPromise(f"{reader.name}: {error}") from error
        except _TooLong:
            raise BrokenPromise(f"{reader.name} took more than {SECONDS} s of processor time") from None
        except Exception as error:
            raise BrokenPromise(
                f"{reader.name} raised {type(error).__name__}, not an error of its own: {error}"
            ) from error
    unwanted = [each for each in warned if not issubclass(each.category, SceneWarning)]
    if unwanted:
        first = unwanted[0]
        at = f"{Path(first.filename).name}:{first.lineno}"
        raise BrokenPromise(f"{reader.name} warned at {at}: {first.category.__name__}: {first.message}")
    return is_read


def _check_message(reader: Reader, error: BaseException) -> None:
    """An error is told in lines that a terminal takes, and was not made of a lack of memory."""
    text = str(error)
    if len(text) > _LONGEST_MESSAGE:
        raise BrokenPromise(f"{reader.name} said {len(text)} characters: {text[:200]}...")
    if any(not line.isprintable() for line in text.split("\n")):
        raise BrokenPromise(f"{reader.name} said what no terminal should be given: {text!r}")
    if "\n" in text and not reader.says_lines:
        raise BrokenPromise(f"{reader.name} said more than one line: {text!r}")
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError):
            raise BrokenPromise(f"{reader.name} wanted more than {reader.memory_bytes} bytes of memory: {text}")
        cause = cause.__cause__ or cause.__context__


@contextmanager
def _bounded_memory(more: int) -> Iterator[None]:
    """Inside, the process may take so much more address space; without effect where the system has no such limit."""
    if sys.platform != "linux":
        yield
        return
    import resource

    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = pages * os.sysconf("SC_PAGE_SIZE") + more
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextmanager
def _bounded_time() -> Iterator[None]:
    """Inside, an alarm goes off after some processor time."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise _TooLong

    before: Any = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)
