"""A caster for `ray_tree` in float64, by brute force."""

import numpy as np
import pytest

from sensorium.scene.layout import layout
from sensorium.tracing.rays import AllHits, property_at
from sensorium.tracing.reference.brute_force import distances


class ReferenceCaster:
    """Every face that rays cross in a scene at rest, in float64: the reference caster for `ray_tree`."""

    def __init__(self, scene):
        self._scene = scene
        self._layout = layout(scene, 1)
        self._extents = self._layout.extents()
        self._corners, self._one_sided = [], []
        for thing in scene.objects:
            v = thing.pose.apply(thing.mesh.vertices)[thing.mesh.faces]
            self._corners.append((v[:, 0], v[:, 1] - v[:, 0], v[:, 2] - v[:, 0]))
            self._one_sided.append(thing.mesh.one_sided)

    def cast_all(self, origins, directions, **ignored):
        """Faces on the line of one ray, nearest first."""
        o, d = np.asarray(origins, np.float64), np.asarray(directions, np.float64)
        found = []
        for number, ((v0, e1, e2), one_sided) in enumerate(zip(self._corners, self._one_sided, strict=True)):
            t = distances(o[None], d[None], v0, e1, e2, from_m=0.0, one_sided=one_sided)[0]
            found += [(float(t[face]), number, int(face)) for face in np.flatnonzero(np.isfinite(t))]
        found.sort()
        normal = [np.cross(*self._corners[number][1:])[face] for _, number, face in found]
        unit = np.array(normal).reshape(-1, 3)
        unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
        return AllHits(
            ray=np.zeros(len(found), np.int64),
            range_m=np.array([t for t, _, _ in found]),
            normal=unit,
            object_id=np.array([number for _, number, _ in found], np.int32),
            face_id=np.array([face for _, _, face in found], np.int32),
            label=np.zeros(len(found), np.int32),
            barycentric=np.zeros((len(found), 2), np.float32),
            world=np.zeros(len(found), np.int32),
            number=np.arange(len(found)),
            _look_up=lambda hits, name: property_at(self._layout, hits, name),
        )

    def material_at(self, world, object_id):
        """Material of an object; None if it has none."""
        return self._scene.objects[object_id].material

    def pose_at(self, world, object_id, time):
        """X_WO of an object."""
        return self._scene.objects[object_id].pose

    def size_of(self, world, object_id):
        """Radius of an object's mesh [m], and its volume [m3] where it is one."""
        return float(self._extents.radius_m[0, object_id]), float(self._extents.volume_m3[0, object_id])


@pytest.fixture
def reference_caster():
    """The class, made of a scene."""
    return ReferenceCaster
