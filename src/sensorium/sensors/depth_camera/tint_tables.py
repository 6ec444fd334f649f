"""Reflectances of surfaces for depth cameras: one number per material and wavelength, independent of angle."""

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.physics.fields import Sun
from sensorium.physics.materials import row as mr
from sensorium.physics.materials.base import AbstractMaterial
from sensorium.scene.formats.textures import PaintedImages
from sensorium.scene.layout import Layout
from sensorium.scene.mesh import TEXTURE, UV, Mesh
from sensorium.sensors.camera.tables import corner_values
from sensorium.sensors.lidar.light_tables import material_row
from sensorium.tracing.kernels.depth.tint import Tints

# Red, green and blue [m]
WAVELENGTHS_M = (610e-9, 550e-9, 465e-9)

# Reflectance of a material without data at a wavelength
_UNKNOWN = 0.5

# Share of ambient light: by day that of the sky, otherwise enough to keep grazing surfaces visible
_AROUND = 0.25

NO_TINTS = Tints(
    np.zeros((1, 3), np.float32),
    np.zeros((1, 0), np.int32),
    np.zeros((1, 0), np.int64),
    np.zeros((0, 3), np.float32),
    np.zeros(3, np.float32),
    np.float32(0.0),
)
"""Empty tables where no colors are requested."""


def tints(layout: Layout, sun: Sun | None) -> Tints:
    """Color tables of a scene; by night the light is a lamp at the camera."""
    material = np.zeros((len(layout.materials), 3), np.float32)
    for band, wavelength_m in enumerate(WAVELENGTHS_M):
        material[:, band] = material_reflectances(layout, wavelength_m)
    first, pieces, size = np.full(layout.mesh_index.shape, -1, np.int64), [np.zeros((0, 3), np.float32)], 0
    for number, surface in enumerate(layout.materials):
        if not isinstance(surface, AbstractMaterial) or surface.property_name is None:
            continue
        for mesh_number in np.unique(layout.mesh_index[(layout.material_index == number) & (layout.mesh_index >= 0)]):
            first[(layout.material_index == number) & (layout.mesh_index == mesh_number)] = size
            pieces.append(_face_colors(layout.meshes[mesh_number], surface.property_name))
            size += len(pieces[-1])
    day = sun is not None and sun.elevation_deg > 0.0
    return Tints(
        material=material,
        object_material=np.array(layout.material_index, np.int32),
        face_first=first,
        face=np.concatenate(pieces),
        sun=(sun.direction_W if day and sun is not None else np.zeros(3)).astype(np.float32),
        around=np.float32(_AROUND),
    )


def material_reflectances(layout: Layout, wavelength_m: float) -> NDArray[np.float32]:
    """Reflectance [1] of each material of a scene at normal incidence: its base below its gloss, and the gloss.

    A material without data at the wavelength, or with the reflectance on the mesh, has 0.5.
    """
    return np.array([_reflectance(material, wavelength_m) for material in layout.materials], np.float32)


def _reflectance(material: object | None, wavelength_m: float) -> float:
    try:
        row = material_row(material, wavelength_m, 1.0)
    except SpecError:
        return _UNKNOWN
    base = _UNKNOWN if row[mr.C] == mr.C_FROM_MESH else row[mr.C]
    gloss = row[mr.FIXED_R] if row[mr.FIXED_R] >= 0.0 else row[mr.R0]
    return float(min(gloss + (1.0 - gloss) * base, 1.0))


def _face_colors(mesh: Mesh, name: str) -> NDArray[np.float32]:
    """Red, green and blue of a mesh's faces: the mean of their corners, or the texture at their centers."""
    if name == TEXTURE and mesh.texture is not None:
        uv = corner_values(mesh, UV).mean(axis=1)
        if isinstance(mesh.texture, PaintedImages):
            return mesh.texture.at(np.arange(len(mesh.faces)), uv).astype(np.float32)
        rows, columns = mesh.texture.shape[:2]
        row, column = np.floor((1.0 - uv[:, 1]) * rows).astype(int) % rows, np.floor(uv[:, 0] * columns).astype(int)
        values = mesh.texture[row, column % columns]
    else:
        values = corner_values(mesh, name).mean(axis=1).reshape(len(mesh.faces), -1)
    colors = values[:, :3] if values.shape[1] >= 3 else values[:, :1]
    return np.clip(np.broadcast_to(colors, (len(mesh.faces), 3)), 0.0, 1.0).astype(np.float32)
