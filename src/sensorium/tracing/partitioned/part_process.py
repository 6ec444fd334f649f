"""A part of a scene in a process of a cluster: built on first request, and only from the intended files.

Another machine may hold an older split under the same path, or another version of this library. Either would answer
with wrong ranges. So a part is built only if index, files and software are those of the requesting process.
"""

import socket
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from sensorium.core.errors import BackendError, SceneError, SensoriumError
from sensorium.files.plain_files import sha256
from sensorium.runtime import worker_pool
from sensorium.scene.partition.part_files import INDEX, PartEntry, PartIndex
from sensorium.tracing.partitioned.part import Part
from sensorium.tracing.partitioned.software import differing, software

# Memory of a process without a mesh: Python, the compiler, kernels and Ray [bytes]
_PROCESS_BYTES = 300_000_000

# Peak memory of building: this multiple of the arrays, and this much per face for Embree's trees [bytes]
_ARRAYS, _FACE_BYTES = 2, 112


class Expected(NamedTuple):
    """Requirements of a part on its machine."""

    index_sha256: str  # of the index of the parts
    software: dict[str, str]  # from `tracing/partitioned/software.py`


def expected(folder: Path) -> Expected:
    """The same, as found by this process.

    Args:
        folder: Folder of all parts.
    """
    return Expected(sha256(folder / INDEX), software())


def memory_needed(entry: PartEntry) -> int:
    """Peak memory of the process of a part, while it is built [bytes].

    Measured: 136 bytes a face at the peak for a heightfield of 4.5 million faces, of which its arrays are 24, and 194
    MB without a face, to which Ray adds 60 to 100; this is a fifth more.
    """
    return _PROCESS_BYTES + sum(_ARRAYS * file.mesh_bytes + _FACE_BYTES * file.faces for file in entry.files)


class PartProcess:
    """The actor in the process. It keeps no state between requests, so it may be restarted at any time."""

    def __init__(self, folder: str, number: int, wanted: Expected, thread_count: int, around_index: float) -> None:
        """Keep the arguments for building the part.

        Args:
            folder: Folder of all parts.
            number: Number of this part.
            wanted: Required index, files and software.
            thread_count: Number of threads it may use.
            around_index: Refractive index of the atmosphere.
        """
        worker_pool.set_threads(thread_count)
        self._folder, self._number, self._wanted = Path(folder), number, wanted
        self._around_index = around_index

    def started(self) -> None:
        """Answer, which shows that the process runs."""

    def ask(self, method: str, *arguments: Any) -> Any:
        """Result of a method of the part."""
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
        """Refuse differences on this machine."""
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
