"""The errors Sensorium raises.

Every message names the thing, the value it had and the rule it broke, in one line.
"""


class SensoriumError(Exception):
    """Base of every error this library raises on purpose."""


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


class WorldError(SensoriumError):
    """A world reports something no sensor can use: a pose that is not finite, an unknown body."""


class BackendError(SensoriumError):
    """The ray-casting library is missing, too old, or refused a call."""


class NoReadingError(SensoriumError):
    """A reading was asked for before the first one arrived."""


class RecordError(SensoriumError):
    """A recording cannot be written or read: the disk is full, the file is broken."""


class StoppedError(SensoriumError):
    """The user stopped a run before its end; what was written so far stays."""


class MissingExtraError(SensoriumError, ImportError):
    """An optional package is needed; the message says what to install."""
