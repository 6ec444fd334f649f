"""One part of a scene: built from its own files, it casts rays and answers in the whole scene's numbers.

It runs in a process of its own (`part_processes.py`), which may die and be restarted at any time: so its only
state comes from its files and the request.
"""

import os
import resource
import socket
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.runtime import jit
from sensorium.scene.formats.loading import load_mesh
from sensorium.scene.mesh import Mesh
from sensorium.scene.partition.part_files import WHOLE_FACE, PartIndex
from sensorium.scene.partition.split import made_material
from sensorium.scene.scene import Scene
from sensorium.tracing.caster import RayCaster
from sensorium.tracing.embree import crossings as cr
from sensorium.tracing.kernels.light.remote_hits import LightHits, remote_hits
from sensorium.tracing.partitioned import routing
from sensorium.tracing.partitioned.messages import Bodies, Crossed, Met, Sent, Shared
from sensorium.tracing.rays import RawHits

# A part may be larger than the limit of `load_mesh` for untrusted files
_MAX_BYTES = 1 << 46


class PartReport(NamedTuple):
    """Memory use of a part."""

    faces: int
    mesh_bytes: int
    """Of vertices, faces and properties as they lie in memory."""
    memory_bytes: int
    """Resident memory of the process."""
    peak_bytes: int
    """Its peak."""
    pid: int
    """Number of the process."""
    host: str
    """Name of the machine."""


class Part:
    """A part of a scene."""

    def __init__(self, folder: str, number: int, around_index: float) -> None:
        """Read the part's files and build it.

        Args:
            folder: Folder of all parts.
            number: Number of this part.
            around_index: Refractive index of the atmosphere.
        """
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

        # Numbers of the whole for those of the part
        sizes = [0 if faces is None else len(faces) for faces in whole_faces]
        starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
        self._object_id = np.array(object_ids, np.int32)
        self._first_face = np.where(np.array(sizes) > 0, starts, -1).astype(np.int64)
        self._faces = np.concatenate([*(faces for faces in whole_faces if faces is not None), np.zeros(0, np.int32)])
        self._caster = RayCaster(scene, around_index=around_index)

        # Build everything and compile
        bodies = self._caster.bodies
        at_origin = Bodies(bodies, np.zeros((1, len(bodies), 3)), np.tile([1.0, 0.0, 0.0, 0.0], (1, len(bodies), 1)))
        nothing = Shared(np.zeros((1, 3)), at_origin, frozenset(), coherent=False)
        self.cast(_no_rays(), nothing)
        self.settle(_no_rays(), np.zeros(1, np.float32), nothing)
        if not jit.is_cached(remote_hits):
            self.collect(_no_rays(), nothing, volumes_alone=True)
            self.cast(_no_rays(), nothing._replace(from_anchor=True, light=True))

    def cast(self, sent: Sent, shared: Shared) -> Met:
        """Nearest hits in this part, with the whole scene's objects and faces.

        Args:
            sent: The rays.
            shared: Common data of all rays of a cast.
        """
        self._put_bodies(shared.bodies)
        rays, hide, near = sent.rays(), shared.hide & frozenset(self._caster.bodies), np.array(shared.near)
        if shared.light:
            clear_m = np.array(np.broadcast_to(sent.clear_m, len(rays.origin)))
            met = self._caster.remote_hits(
                rays, clear_m, hide=hide, coherent=shared.coherent, anchor=near, curved=shared.curved
            )
            return self._of_the_whole(met)
        found = self._caster.cast_rays(
            rays, hide=hide, coherent=shared.coherent, near=near, from_anchor=shared.from_anchor, air=shared.air
        )
        return self._of_the_whole(found)

    def collect(self, sent: Sent, shared: Shared, volumes_alone: bool) -> Crossed:
        """All faces of this part, or those of volumes alone, that rays cross, with the whole scene's numbers.

        Args:
            sent: The rays.
            shared: Common data of all rays of a cast.
            volumes_alone: Whether only faces of volumes count.
        """
        self._put_bodies(shared.bodies)
        found = self._caster.collect_rays(
            sent.rays(),
            hide=shared.hide & frozenset(self._caster.bodies),
            near=np.array(shared.near),
            from_anchor=shared.from_anchor,
            volumes_alone=volumes_alone,
            curved=shared.curved,
        )
        there = np.arange(found.number.shape[1]) < found.found[:, None]
        number, word = found.number[there], found.word[there]
        column, face = word[:, cr.C_COLUMN], word[:, cr.C_FACE]
        first = self._first_face[column]
        cut = first >= 0
        face[cut] = self._faces[first[cut] + face[cut]]
        word[:, cr.C_COLUMN], word[:, cr.C_FACE] = self._object_id[column], face
        return Crossed(np.nonzero(there)[0].astype(np.int32), number, word)

    def settle(self, sent: Sent, distance_m: NDArray[np.float32], shared: Shared) -> Met:
        """Hits in this part at the ends of rays that end on an edge, see `tracing/embree/edges.py`.

        Args:
            sent: The rays.
            distance_m: Distance at which each ends [m], shape (rays,).
            shared: Common data of all rays of a cast.
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
        """Place the bodies of this part."""
        own = [bodies.names.index(name) for name in self._caster.bodies]
        self._caster.places.put(bodies.positions[:, None, own], bodies.quaternions[:, None, own])

    def _of_the_whole(self, found: RawHits | LightHits) -> Met:
        """The hits, with the whole scene's objects and faces."""
        rows = np.empty(len(found.range_m), np.int32)
        count = routing.keep_hits(self._object_id, self._first_face, self._faces, found, rows)
        columns: list[Any] = [column[:count] for column in found]
        return Met(rows[:count], type(found)(*columns))

    def report(self) -> PartReport:
        """Memory use of this part."""
        meshes = {id(mesh): mesh for mesh in self._meshes}.values()
        arrays: list[NDArray[Any]] = []
        for mesh in meshes:
            arrays += [mesh.vertices, mesh.faces, *mesh.face_properties.values(), *mesh.vertex_properties.values()]
        return PartReport(
            faces=sum(len(mesh.faces) for mesh in self._meshes),
            mesh_bytes=sum(array.nbytes for array in arrays),
            memory_bytes=_memory_bytes("VmRSS"),
            peak_bytes=_memory_bytes("VmHWM"),
            pid=os.getpid(),
            host=socket.gethostname(),
        )


def _no_rays() -> Sent:
    """One ray without a hit, to build and compile with; as if it came from another process."""
    limit = np.zeros(1, np.float32)
    sent = Sent.of(np.zeros((1, 3)), np.array([[1, 0, 0]], np.float32), np.zeros(1, np.float32), limit)
    for column in sent:
        column.setflags(write=False)
    return sent


def _memory_bytes(entry: str) -> int:
    """Memory of this process by an entry of the system's status: VmRSS, what is resident, or VmHWM, the most ever.

    Where there is no status, the most ever by getrusage, which on Linux counts the process that started this one too.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith(f"{entry}:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
