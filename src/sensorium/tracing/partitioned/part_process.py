"""A part of a scene in a process of a cluster: built when it is first asked, and only from the files that are meant.

Another machine may hold an older split under the same path, or another version of this library. Either would answer,
with ranges that are wrong. So a part is built only where index, files and software are those of the asking process.
"""

import socket
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from sensorium.core.errors import BackendError, SceneError, SensoriumError
from sensorium.files.plain_files import sha256
from sensorium.runtime import threads
from sensorium.scene.partition.part_files import INDEX, PartEntry, PartIndex
from sensorium.tracing.partitioned.part import Part
from sensorium.tracing.partitioned.software import differing, software

# What a process takes before it has a mesh: Python, the compiler, kernels and Ray [bytes]
_PROCESS_BYTES = 300_000_000

# What building takes at its peak: so many times the arrays, and for Embree's trees so much a face [bytes]
_ARRAYS, _FACE_BYTES = 2, 112


class Expected(NamedTuple):
    """What a part must find on its machine."""

    index_sha256: str  # of the index of the parts
    software: dict[str, str]  # as `tracing/partitioned/software.py` tells it


def expected(folder: Path) -> Expected:
    """What this process finds.

    Args:
        folder: Folder of all parts.
    """
    return Expected(sha256(folder / INDEX), software())


def memory_needed(entry: PartEntry) -> int:
    """Memory that the process of a part takes at most, while it is built [bytes].

    Measured: 136 bytes a face at the peak for a heightfield of 4.5 million faces, of which its arrays are 24, and 194
    MB without a face, to which Ray adds 60 to 100; this is a fifth more.
    """
    return _PROCESS_BYTES + sum(_ARRAYS * file.mesh_bytes + _FACE_BYTES * file.faces for file in entry.files)


class PartProcess:
    """What runs in the process. It keeps nothing between questions, so it may be started again at any time."""

    def __init__(self, folder: str, number: int, wanted: Expected, thread_count: int, around_index: float) -> None:
        """Take what the part is built from.

        Args:
            folder: Folder of all parts.
            number: Which one this is.
            wanted: What must be found on this machine.
            thread_count: How many threads it may use.
            around_index: Refractive index of the atmosphere.
        """
        threads.set_threads(thread_count)
        self._folder, self._number, self._wanted = Path(folder), number, wanted
        self._around_index = around_index

    def started(self) -> None:
        """Answer: so the process is there."""

    def ask(self, method: str, *arguments: Any) -> Any:
        """What a method of the part returns."""
        return getattr(self._part, method)(*arguments)

    @cached_property
    def _part(self) -> Part:
        try:
            self._check()
            return Part(str(self._folder), self._number, self._around_index)
        except SensoriumError as error:
            where = f"part {self._number} of {str(self._folder)!r} cannot be built on {socket.gethostname()}"
            raise type(error)(f"{where}: {error}") from None

    def _check(self) -> None:
        """Refuse what is not the same here."""
        other = differing(self._wanted.software, software())
        if other:
            raise BackendError(f"it has {other}; install the same there")
        path = self._folder / INDEX
        if not path.is_file():
            raise SceneError(f"there is no {str(path)!r}; every machine must find the parts under the same path")
        if sha256(path) != self._wanted.index_sha256:
            raise SceneError(f"{str(path)!r} is another than that of the asking machine; copy the folder there again")
        entry = PartIndex.load(self._folder).parts[self._number]
        for file in entry.files:
            mesh = self._folder / entry.folder / file.name
            if not mesh.is_file():
                raise SceneError(f"{mesh}: there is no such file; copy the folder there again")
            if sha256(mesh) != file.sha256:
                raise SceneError(f"{str(mesh)!r} is another file than was split; copy the folder there again")
