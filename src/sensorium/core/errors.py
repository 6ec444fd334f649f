"""The errors Sensorium raises.

Every message names the object, its value and the broken rule, in one line.
"""

__all__ = [
    "BackendError",
    "MissingExtraError",
    "NoReadingError",
    "OutOfMemoryError",
    "RecordError",
    "SceneError",
    "SceneWarning",
    "SensoriumError",
    "SpecError",
    "StoppedError",
    "WorldError",
]

# Values in messages may come from untrusted files, of any length
_LONGEST_LINE = 2000


class SensoriumError(Exception):
    """Base of every error this library raises on purpose.

    The message is safe to print, whatever text a file put into it: unprintable characters are escaped, and long lines
    are shortened in the middle.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(fit_for_a_terminal(str(message)))


class SpecError(SensoriumError, ValueError):
    """A value given by the user breaks a rule: wrong shape, not finite, out of range, unknown name.

    Attributes:
        problems: Where data were read, each mistake by itself: its place in the data, as keys and numbers, and a
            sentence; empty elsewhere.
    """

    def __init__(self, message: str = "", problems: tuple[tuple[tuple[str | int, ...], str], ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems


class SceneError(SensoriumError, ValueError):
    """A mesh, a mesh file or a scene cannot be used."""


class SceneWarning(UserWarning):
    """A mesh file was read without something that it names, such as an image that is not there."""


class WorldError(SensoriumError):
    """A world reports something no sensor can use: a pose that is not finite, an unknown body."""


class BackendError(SensoriumError):
    """The ray-casting library is missing, too old, or refused a call."""


class NoReadingError(SensoriumError):
    """A reading was requested before the first one arrived."""


class RecordError(SensoriumError):
    """A recording cannot be written or read: the disk is full, the file is broken."""


class StoppedError(SensoriumError):
    """A run was stopped before its end, by Ctrl-C or SIGTERM; files written so far are kept.

    Attributes:
        signal_number: Which of them.
    """

    def __init__(self, message: str = "", signal_number: int = 2) -> None:
        super().__init__(message)
        self.signal_number = signal_number


class OutOfMemoryError(SensoriumError, MemoryError):
    """A run needed more memory than available; files written so far are kept."""


class MissingExtraError(SensoriumError, ImportError):
    """An optional package is needed; the message says what to install."""


def in_one_line(error: BaseException) -> str:
    """The message of another library's error, shortened."""
    return f"{type(error).__name__} {' '.join(str(error).split())[:120]}".strip()


def fit_for_a_terminal(text: str) -> str:
    """Lines with unprintable characters escaped, and long ones shortened in the middle."""
    return "\n".join(_fit_line(line) for line in text.split("\n"))


def _fit_line(line: str) -> str:
    if len(line) > _LONGEST_LINE:
        half = (_LONGEST_LINE - 5) // 2
        line = f"{line[:half]} ... {line[-half:]}"
    return printable(line)


def printable(line: str) -> str:
    """A line in which characters that cannot be printed are escaped."""
    if line.isprintable():
        return line
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in line)
