"""Which objects are volumes: bodies filled with a medium, such as fog banks, water tanks and glass."""

import weakref
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.physics.materials.dielectric import Dielectric
from sensorium.physics.media.base import AbstractMedium, MediumParameters
from sensorium.scene.mesh import Mesh

# kinds of objects to rays: surfaces, volumes that refract, volumes that only dim and scatter, and of these the ones
# that kernels clip by the planes of their faces
SURFACE, VOLUME, AIR, BANK = range(4)

MOST_PLANES = 16
"""A convex volume of no more faces (parallel neighbors counted once) is clipped by their planes."""

SAME_INDEX = 1e-3
"""Media whose indices differ by no more are one to refraction: the boundary between them is no surface."""

# Faces that a volume has at most whose planes are looked at
_MOST_FACES = 256

# Faces that are worked on at once
_CHUNK = 1_000_000

# Wavelengths of indices for sensors without one, the second if a spectrum lacks the first [m]
_WAVELENGTHS_M = (905e-9, 550e-9)


class Extents(NamedTuple):
    """Sizes of objects, (1 | worlds, objects) each."""

    radius_m: NDArray[np.float32]  # farthest vertex from the middle of the mesh's bounds
    volume_m3: NDArray[np.float64]  # of volumes; 0 for surfaces


def medium_inside(material: object | None, wavelength_m: float) -> MediumParameters | None:
    """The filling of an object of this material at a wavelength in vacuum [m]; None if it is no volume."""
    if isinstance(material, AbstractMedium):
        return material.at(wavelength_m)
    return material.inside(wavelength_m) if isinstance(material, Dielectric) else None


def material_kinds(materials: Sequence[object | None], around_index: float) -> NDArray[np.uint8]:
    """Role of each material for rays: SURFACE, VOLUME, or AIR if its index is that of the surroundings.

    Args:
        materials: Materials of a scene.
        around_index: Refractive index of the atmosphere.
    """
    kinds = np.zeros(len(materials), np.uint8)
    for number, material in enumerate(materials):
        if isinstance(material, AbstractMedium | Dielectric):
            kinds[number] = AIR if abs(index_of(material) - around_index) <= SAME_INDEX else VOLUME
    return kinds


def index_of(material: AbstractMedium | Dielectric) -> float:
    """Refractive index of a medium for sensors of no wavelength of their own; infinite where its spectrum has none."""
    for wavelength_m in _WAVELENGTHS_M:
        try:
            inside = medium_inside(material, wavelength_m)
        except SpecError:
            continue
        assert inside is not None
        return inside.refractive_index
    return np.inf


def extents_of(meshes: Sequence[Mesh], mesh_index: NDArray[np.int32], filled: NDArray[np.bool_]) -> Extents:
    """Sizes of objects.

    Args:
        meshes: All meshes.
        mesh_index: Mesh of each object, -1 for none, shape (1 | worlds, objects).
        filled: Which of them are volumes, likewise.
    """
    radius = np.array([*(radius_m(mesh) for mesh in meshes), 0.0], np.float32)
    volume = np.zeros(len(meshes) + 1)
    for number in np.unique(mesh_index[filled & (mesh_index >= 0)]):
        volume[number] = volume_m3(meshes[number])
    return Extents(radius[mesh_index], np.where(filled, volume[mesh_index], 0.0))


_radius_m: "weakref.WeakKeyDictionary[Mesh, float]" = weakref.WeakKeyDictionary()


def radius_m(mesh: Mesh) -> float:
    """Distance of the farthest vertex from the middle of the mesh's bounds [m]."""
    if mesh not in _radius_m:
        off = mesh.vertices - mesh.bounds.mean(axis=0)
        _radius_m[mesh] = float(np.sqrt((off * off).sum(axis=1).max()))
    return _radius_m[mesh]


def volume_m3(mesh: Mesh) -> float:
    """Volume inside a closed mesh that is wound outward [m3]: a sixth of the sum of v0 . (v1 x v2), from its middle."""
    total, local = 0.0, mesh.vertices - mesh.bounds.mean(axis=0)
    for start in range(0, len(mesh.faces), _CHUNK):
        v0, v1, v2 = np.moveaxis(local[mesh.faces[start : start + _CHUNK]], 1, 0)
        total += float((v0 * np.cross(v1, v2)).sum())
    return total / 6.0


class Banks(NamedTuple):
    """Volumes that kernels clip by planes: convex, fixed in the world, in a scene where no volume refracts."""

    column: NDArray[np.int32]  # (banks,) their objects
    plane: NDArray[np.float64]  # (banks, MOST_PLANES, 4) outward unit normals and distances from the origin [m]


def convex_planes(mesh: Mesh) -> NDArray[np.float64] | None:
    """Planes n . x <= d of a convex mesh, shape (planes, 4); None where it is not convex or has too many."""
    if len(mesh.faces) > _MOST_FACES:
        return None
    v0, v1, v2 = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    normal = np.cross(v1 - v0, v2 - v0)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    if not length.all():
        return None
    normal /= length
    distance, size = (normal * v0).sum(axis=1), radius_m(mesh)
    same = np.concatenate([np.rint(normal * 1e9), np.rint(distance[:, None] / size * 1e9)], axis=1)
    _, chosen = np.unique(same, axis=0, return_index=True)
    planes = np.concatenate([normal, distance[:, None]], axis=1)[np.sort(chosen)]
    beyond = mesh.vertices @ planes[:, :3].T - planes[:, 3]
    return planes if len(planes) <= MOST_PLANES and beyond.max() <= 1e-9 * size else None
