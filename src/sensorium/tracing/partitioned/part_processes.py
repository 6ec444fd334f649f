"""The processes of all parts, each on a node with room for it, and requests that survive the loss of a node.

A part reserves the memory that it needs in Ray, and gets a node of its own if there are enough. Ray restarts a process
that dies on the same node; a part whose node is lost goes to the node with most room, and its unanswered requests are
repeated there.

Another machine may hold an older split under the same path, or another version of this library. Either would answer
with wrong ranges. So a part is built only if index, files and software are those of the requesting process.
"""

import socket
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from sensorium.core.errors import BackendError, SceneError, SensoriumError
from sensorium.files.plain_files import sha256
from sensorium.runtime import worker_pool
from sensorium.runtime.cluster import answers, head, nodes
from sensorium.runtime.cluster.nodes import Node
from sensorium.runtime.cluster.placement import assigned_within, no_room
from sensorium.scene.partition.part_files import INDEX, PartEntry, PartIndex
from sensorium.tracing.partitioned.part import Part
from sensorium.tracing.partitioned.software import differing, software

# Number of times that a part's process may die, or its node be lost, before it is given up
_RESTARTS = 16

# Time limit for a process to start once there is room for it [s]
_START_S = 180.0

# Interval of checks whether a silent node is alive, and time limit for Ray to notice its loss [s]
_LOOK_EVERY_S, _NOTICE_S = 2.0, 60.0


class _Question(NamedTuple):
    """A request, kept to be repeated."""

    part: int
    handle: Any
    method: str
    arguments: tuple[Any, ...]


class PartProcesses:
    """A process for each part."""

    def __init__(
        self, ray: Any, folder: Path, entries: Sequence[PartEntry], *, around_index: float, wait_s: float
    ) -> None:
        """Start the processes.

        Args:
            ray: The module.
            folder: Folder of all parts.
            entries: The parts.
            around_index: Refractive index of the atmosphere.
            wait_s: Time limit for memory to become free [s].
        """
        self._ray, self._folder, self._around_index, self._wait_s = ray, folder, around_index, wait_s
        self._needs = [memory_needed(entry) for entry in entries]
        self._expected = expected(folder)
        self._moves = Counter[int]()
        self._open: dict[Any, _Question] = {}
        self.handles: list[Any] = [None] * len(entries)
        self.nodes: list[Node] = self._rooms_for(range(len(entries)))
        self._start(range(len(entries)))

    def __len__(self) -> int:
        return len(self.handles)

    def ask(self, part: int, method: str, *arguments: Any) -> Any:
        """Send a request to a part; returns the reference of the answer.

        Args:
            part: Number of the part.
            method: Of `Part`.
            arguments: For it.
        """
        handle = self.handles[part]
        asked = handle.ask.remote(method, *arguments)
        self._open[asked] = _Question(part, handle, method, arguments)
        return asked

    def first_answered(self, asked: Iterable[Any]) -> Any:
        """One of some requests that is answered, or whose node is lost."""
        asked = list(asked)
        while True:
            done = answers.first_done(self._ray, asked, within_s=_LOOK_EVERY_S)
            if done is not None:
                return done
            alive = {node.id for node in nodes.alive(self._ray)}
            for each in asked:
                if self.nodes[self._open[each].part].id not in alive:
                    return each

    def answer(self, asked: Any) -> Any:
        """The answer of a part, after repeated requests if necessary; or its error as our own."""
        while True:
            self.first_answered([asked])
            question = self._open.pop(asked)
            lost: BaseException | None = None
            try:
                return self._ray.get(asked, timeout=0.0)
            except self._ray.exceptions.RayTaskError as error:
                raise error.cause from None
            except self._ray.exceptions.GetTimeoutError:
                pass  # its node is lost
            except self._ray.exceptions.RayError as error:
                lost = error
            if self.handles[question.part] is question.handle:
                self._move(question.part, lost)
            asked = self.ask(question.part, question.method, *question.arguments)

    def close(self) -> None:
        """End the processes."""
        for handle in self.handles:
            if handle is not None and not head.is_lost():
                self._ray.kill(handle)
        self.handles = []

    def _move(self, part: int, lost: BaseException | None) -> None:
        """Restart a part's process, on the node with most room."""
        before = self.nodes[part]
        self._moves[part] += 1
        if self._moves[part] > _RESTARTS or not self._goes(before):
            why = answers.reason(lost) if lost is not None else "its node was lost"
            where = f"part {part} of {str(self._folder)!r} cannot be kept alive on {before.name}"
            raise BackendError(f"{where}: {why}") from None
        self._ray.kill(self.handles[part])
        (self.nodes[part],) = self._rooms_for([part])
        self._start([part])

    def _goes(self, node: Node) -> bool:
        """Whether a node whose process is lost is lost itself, which takes a while to be noticed."""
        end_s = time.monotonic() + _NOTICE_S
        while any(each.id == node.id for each in nodes.alive(self._ray)):
            if time.monotonic() > end_s:
                return False
            time.sleep(_LOOK_EVERY_S)
        return True

    def _rooms_for(self, parts: Iterable[int]) -> list[Node]:
        """A node for each of some parts."""
        needs = [self._needs[part] for part in parts]
        free, there = (lambda: nodes.rooms(self._ray)), (lambda: nodes.used(self._ray))
        return assigned_within(self._wait_s, needs, free, there)

    def _start(self, parts: Iterable[int]) -> None:
        """Start the processes of some parts on their nodes, and wait until they are there."""
        sharing = Counter(node.id for node in self.nodes)
        begun = {}
        for part in parts:
            node = self.nodes[part]
            # Cores are shared out evenly, and not reserved: parts wait for rays most of the time
            actor = self._ray.remote(PartProcess).options(
                num_cpus=0,
                memory=self._needs[part],
                max_restarts=_RESTARTS,
                max_task_retries=_RESTARTS,
                scheduling_strategy=nodes.only_on(node),
            )
            share = max(1, node.cpus // sharing[node.id])
            arguments = (str(self._folder), part, self._expected, share, self._around_index)
            self.handles[part] = actor.remote(*arguments)
            begun[part] = self.handles[part].started.remote()
        for part, started in begun.items():
            if answers.first_done(self._ray, [started], within_s=_START_S) is None:
                there = {node.id: node for node in nodes.used(self._ray)}
                free = nodes.rooms(self._ray)
                self.close()
                raise BackendError(no_room(_START_S, [self._needs[part]], free, there))


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
