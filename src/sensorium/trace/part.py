"""One part of a scene at work: built from its own files, it casts rays and answers in the whole scene's numbers.

It runs in a process of its own, which may die and be started again at any time: so it keeps nothing that its files and
the question do not give.
"""

import os
import resource
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sensorium import threads
from sensorium.errors import SpecError
from sensorium.scene.loading import load_mesh
from sensorium.scene.mesh import Mesh
from sensorium.scene.part_files import WHOLE_FACE, PartIndex
from sensorium.scene.scene import Scene
from sensorium.scene.split import made_material
from sensorium.trace.caster import RawHits, RayCaster
from sensorium.trace.light.meet import LightHits
from sensorium.trace.rays import Rays

# A part may be larger than what `load_mesh` takes from strangers
_MAX_BYTES = 1 << 46

_Hits = TypeVar("_Hits", RawHits, LightHits)

# How far on rays begin to look that start anywhere [m]
AT_ONCE = np.zeros(1, np.float32)


class Bodies(NamedTuple):
    """Where bodies are during a cast, at knots evenly spaced over the interval."""

    names: tuple[str, ...]
    positions: NDArray[np.float64]  # p_WB [m], (knots, bodies, 3)
    quaternions: NDArray[np.float64]  # (knots, bodies, 4)


class Sent(NamedTuple):
    """Rays on their way to a part; a column that is the same for all has one row."""

    origin: NDArray[np.float64]
    direction: NDArray[np.float32]
    time: NDArray[np.float32]
    t_max: NDArray[np.float32]
    clear_m: NDArray[np.float32]  # how far on light begins to look; 0 for all other rays

    @classmethod
    def of(
        cls,
        origin: NDArray[np.float64],
        direction: NDArray[np.float32],
        time: NDArray[np.float32],
        t_max: NDArray[np.float32],
        clear_m: NDArray[np.float32] = AT_ONCE,
    ) -> "Sent":
        """Pack the columns of `Rays`, and how far on they begin to look [m]."""
        return cls(packed(origin), direction, packed(time), packed(t_max), packed(clear_m))

    def rays(self) -> Rays:
        """The rays, in arrays that can be written to."""
        # What comes from another process cannot be written to, which is another type to compiled code
        count = len(self.direction)
        return Rays(
            np.array(np.broadcast_to(self.origin, (count, 3)), order="C"),
            np.array(self.direction),
            np.array(np.broadcast_to(self.time, count)),
            np.array(np.broadcast_to(self.t_max, count)),
            np.zeros(count, np.int32),
        )


class Shared(NamedTuple):
    """What all rays of a cast have in common, in all parts."""

    near: NDArray[np.float64]  # point that float32 coordinates count from [m], (1, 3)
    bodies: Bodies  # all bodies of the whole scene
    hide: frozenset[str]  # bodies that the rays pass through
    coherent: bool  # as for `RayCaster.cast`
    from_anchor: bool = False  # as for `RayCaster.cast_rays`
    air: bool = True  # likewise
    light: bool = False  # whether light is followed: hits are `LightHits`, from the anchor, air included


class PartReport(NamedTuple):
    """What a part takes."""

    faces: int
    mesh_bytes: int
    """Of vertices, faces and properties as they lie in memory."""
    memory_bytes: int
    """Resident memory of the process."""
    peak_bytes: int
    """The most that it ever was."""
    pid: int
    """Number of the process."""


class Part:
    """A part of a scene."""

    def __init__(self, folder: str, number: int, thread_count: int) -> None:
        """Read the part's files and build it.

        Args:
            folder: Folder of all parts.
            number: Which one this is.
            thread_count: How many threads it may use.
        """
        threads.set_threads(thread_count)
        index = PartIndex.load(Path(folder))
        entry = index.parts[number]
        meshes: dict[str, Mesh] = {}
        scene, object_ids, whole_faces = Scene(), [], []
        for piece in entry.pieces:
            if piece.file not in meshes:
                meshes[piece.file] = load_mesh(Path(folder) / entry.folder / piece.file, max_bytes=_MAX_BYTES)
            mesh, of = meshes[piece.file], index.objects[piece.object_id]
            scene.add(mesh, pose=of.pose, body=of.body, label=of.label, material=made_material(of.material))
            object_ids.append(piece.object_id)
            whole_faces.append(mesh.face_properties.get(WHOLE_FACE))
        self._meshes = [each.mesh for each in scene.objects]
        self._whole_face = whole_faces

        # Numbers of the whole for those of the part; one entry past the last object stands for "none": -1 finds it
        sizes = [0 if faces is None else len(faces) for faces in whole_faces]
        starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
        self._object_id = np.array([*object_ids, -1], np.int32)
        self._first_face = np.append(np.where(np.array(sizes) > 0, starts, -1), -1).astype(np.int64)
        self._faces = np.concatenate([*(faces for faces in whole_faces if faces is not None), np.zeros(0, np.int32)])
        self._caster = RayCaster(scene)

        # Build everything and compile
        self._caster.cast_rays(_no_rays())
        nothing: dict[str, Any] = {"hide": frozenset(), "near": np.zeros((1, 3)), "from_anchor": False, "air": True}
        self._caster.settle_rays(_no_rays(), np.zeros(1, np.float32), **nothing)

    def cast(self, sent: Sent, shared: Shared) -> RawHits | LightHits:
        """Nearest hits in this part, with the whole scene's objects and faces.

        Args:
            sent: The rays.
            shared: What all rays of a cast have in common.
        """
        self._put_bodies(shared.bodies)
        rays, hide, near = sent.rays(), shared.hide & frozenset(self._caster.bodies), np.array(shared.near)
        if shared.light:
            clear_m = np.array(np.broadcast_to(sent.clear_m, len(rays.origin)))
            met = self._caster.meet_rays(rays, clear_m, hide=hide, coherent=shared.coherent, anchor=near)
            return self._of_the_whole(met)
        found = self._caster.cast_rays(
            rays, hide=hide, coherent=shared.coherent, near=near, from_anchor=shared.from_anchor, air=shared.air
        )
        return self._of_the_whole(found)

    def settle(self, sent: Sent, distance_m: NDArray[np.float32], shared: Shared) -> RawHits:
        """Hits in this part at the ends of rays that were found to end on an edge, see `trace/edges.py`.

        Args:
            sent: The rays.
            distance_m: Where each was found to end [m], shape (rays,).
            shared: What all rays of a cast have in common.
        """
        self._put_bodies(shared.bodies)
        found = self._caster.settle_rays(
            sent.rays(),
            np.array(distance_m),
            hide=shared.hide & frozenset(self._caster.bodies),
            near=np.array(shared.near),
            from_anchor=shared.from_anchor,
            air=shared.air,
        )
        return self._of_the_whole(found)

    def property_at(
        self, name: str, object_id: NDArray[np.int32], face_id: NDArray[np.int32], barycentric: NDArray[np.float32]
    ) -> NDArray[Any]:
        """Values of a property on faces of this part.

        Args:
            name: A face or vertex property.
            object_id: Objects of the whole scene, shape (n,), n > 0.
            face_id: Their faces, likewise.
            barycentric: Coordinates on them, shape (n, 2).
        """
        values: NDArray[Any] | None = None
        for local, (mesh, whole_face) in enumerate(zip(self._meshes, self._whole_face, strict=True)):
            here = object_id == self._object_id[local]
            if here.any():
                face = face_id[here] if whole_face is None else np.searchsorted(whole_face, face_id[here])
                found = mesh.property_at(name, face, barycentric[here])
                if values is None:
                    values = np.zeros((len(object_id), *found.shape[1:]), found.dtype)
                values[here] = found
        if values is None:
            raise SpecError(f"object_id holds {object_id.tolist()[:3]}; none of them lies in this part")
        return values

    def _put_bodies(self, bodies: Bodies) -> None:
        """Put the bodies of this part where they are."""
        own = [bodies.names.index(name) for name in self._caster.bodies]
        self._caster.places.put(bodies.positions[:, None, own], bodies.quaternions[:, None, own])

    def _of_the_whole(self, found: _Hits) -> _Hits:
        """The same hits, with the whole scene's objects and faces."""
        first = self._first_face[found.object_id]
        cut = first >= 0
        found.face_id[cut] = self._faces[first[cut] + found.face_id[cut]]
        found.object_id[:] = self._object_id[found.object_id]
        return found

    def report(self) -> PartReport:
        """What this part takes."""
        meshes = {id(mesh): mesh for mesh in self._meshes}.values()
        arrays: list[NDArray[Any]] = []
        for mesh in meshes:
            arrays += [mesh.vertices, mesh.faces, *mesh.face_properties.values(), *mesh.vertex_properties.values()]
        return PartReport(
            faces=sum(len(mesh.faces) for mesh in self._meshes),
            mesh_bytes=sum(array.nbytes for array in arrays),
            memory_bytes=_resident_bytes(),
            peak_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            pid=os.getpid(),
        )


def packed(column: NDArray[Any]) -> NDArray[Any]:
    """One row, where all are the same."""
    return column[:1] if (column == column[:1]).all() else column


def _no_rays() -> Rays:
    """One ray that meets nothing, to build and compile with."""
    return Rays(
        np.zeros((1, 3)),
        np.array([[1, 0, 0]], np.float32),
        np.zeros(1, np.float32),
        np.zeros(1, np.float32),
        np.zeros(1, np.int32),
    )


def _resident_bytes() -> int:
    """Resident memory of this process, where the system tells; else the most that it ever was."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
