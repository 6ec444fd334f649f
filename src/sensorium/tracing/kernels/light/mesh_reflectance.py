"""Diffuse reflectance on faces or vertices of meshes, as kernels read it."""

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError
from sensorium.physics.materials.base import AbstractMaterial
from sensorium.scene.layout import Layout
from sensorium.scene.mesh import Mesh


def reflectance_tables(layout: Layout) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Diffuse reflectance on meshes: start of each object's values (-1: none), and values at face corners."""
    first = np.full(layout.mesh_index.shape, -1, np.int64)
    pieces: list[NDArray[np.float32]] = []
    begun: dict[tuple[int, str, int], int] = {}
    size = 0
    for number, material in enumerate(layout.materials):
        name = material.property_name if isinstance(material, AbstractMaterial) else None
        if not isinstance(material, AbstractMaterial) or name is None:
            continue
        for mesh_number in np.unique(layout.mesh_index[(layout.material_index == number) & (layout.mesh_index >= 0)]):
            key = (int(mesh_number), name, material.property_band)
            if key not in begun:
                values = _corner_values(layout.meshes[mesh_number], name, material)
                begun[key] = size
                pieces.append(values.reshape(-1).astype(np.float32))
                size += values.size
            first[(layout.material_index == number) & (layout.mesh_index == mesh_number)] = begun[key]
    return first, np.concatenate([*pieces, np.zeros(0, np.float32)])


def _corner_values(mesh: Mesh, name: str, material: AbstractMaterial) -> NDArray[np.float64]:
    """A property at the three corners of each face, shape (faces, 3), checked to be a reflectance."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    faces = np.arange(len(mesh.faces))
    values = np.stack([mesh.property_at(name, faces, np.broadcast_to(uv, (len(faces), 2))) for uv in corners], axis=1)
    if values.ndim == 3:
        if not 0 <= material.property_band < values.shape[2]:
            raise SceneError(
                f"property {name!r} has {values.shape[2]} bands; band {material.property_band} was asked for"
            )
        values = values[:, :, material.property_band]
    if values.min() < 0.0 or values.max() > material.max_reflectance:
        raise SceneError(
            f"property {name!r} runs from {values.min()} to {values.max()}; "
            f"a reflectance is 0 to {material.max_reflectance}"
        )
    return values
