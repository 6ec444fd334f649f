"""Builds the kernel's tables from a camera's bands and its surroundings."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError, SpecError
from sensorium.physics.fields import Sun
from sensorium.physics.imaging.bands import Band, band_value, effective_wavelength, thermal_radiance
from sensorium.physics.imaging.emission_table import EmissionTable, emission_table
from sensorium.physics.materials.base import AbstractMaterial
from sensorium.physics.materials.lambertian import Lambertian
from sensorium.physics.media.base import AbstractMedium
from sensorium.physics.optics import squared_alpha
from sensorium.scene.formats.textures import REPEAT, PaintedImages, linear_table
from sensorium.scene.layout import Layout
from sensorium.scene.mesh import TEXTURE, UV, Mesh
from sensorium.sensors.lidar.light_tables import material_table
from sensorium.tracing.kernels.camera import picture_light as pc
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.resolve import Surfaces

if TYPE_CHECKING:
    from sensorium.sensors.camera.camera import Camera

TEMPERATURE = "temperature"
"""Mesh property that holds the temperature of faces or vertices [K]."""

# Solid angle of the sun's disc [sr]
_DISC_SR = 2.0 * math.pi * (1.0 - math.cos(math.radians(0.2666)))

# Surfaces no rougher than this show images: their mirror rays spread by twice the slope, a few thousandths of a radian
_SMOOTH = 2e-3

_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])


def wavelengths_of(bands: tuple[Band, ...], sun: Sun | None, ambient_k: float) -> tuple[float, ...]:
    """Effective wavelength of each band [m], in sunlight or, for thermal bands, in thermal emission."""
    return tuple(effective_wavelength(_light_of(band, sun, ambient_k), band) for band in bands)


def picture_tables(
    spec: "Camera", layout: Layout, atmosphere: AbstractMedium, sun: Sun | None, wavelength_m: tuple[float, ...]
) -> pc.PictureTables:
    """Everything the kernel looks up."""
    bands = spec.bands
    material = np.stack([_materials(spec, layout, atmosphere, *each) for each in zip(bands, wavelength_m, strict=True)])
    of_objects = surfaces(layout, bands, material[0])
    emission = EmissionTable(np.zeros((len(bands), 0), np.float32), 0.0, 0.0)
    if any(band.thermal for band in bands):
        kelvin = np.append(of_objects["corner_temperature"], spec.ambient_k)
        emission = emission_table(bands, float(kelvin.min()), float(kelvin.max()))
    return pc.PictureTables(
        **of_objects,
        material=material,
        light=np.array([_light(spec, sun, atmosphere, *each) for each in zip(bands, wavelength_m, strict=True)]),
        sun=(np.array([0.0, 0.0, 1.0]) if sun is None else sun.direction_W).astype(np.float32),
        mirrors=_mirrors(material),
        emission=emission.log_radiance,
        thermal=np.array([spec.ambient_k, emission.first, emission.per_step], np.float32),
    )


def _mirrors(material: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Materials (bands, materials + 1, columns) that mirror and so show images; empty if there is none."""
    smooth = material[..., tb.M_ALPHA2] <= np.float32(squared_alpha(_SMOOTH))
    shows = np.any(smooth & ((material[..., tb.M_R0] > 0.0) | (material[..., tb.M_FIXED_R] > 0.0)), axis=0)
    return np.atleast_1d(shows) if np.any(shows) else np.zeros(0, np.bool_)


def _light_of(band: Band, sun: Sun | None, ambient_k: float) -> Callable[[float], float]:
    """Spectrum by which the band's wavelengths are weighted."""
    if band.thermal:
        from sensorium.physics.fields.blackbody import spectral_share

        return lambda wavelength_m: spectral_share(wavelength_m, ambient_k)
    return (lambda _: 0.0) if sun is None else sun.spectral_irradiance


def surfaces(layout: Layout, bands: tuple[Band, ...], material: NDArray[np.float32]) -> dict[str, Any]:
    """Tables of each object's materials; the only tables that change when worlds are redrawn.

    Args:
        layout: Objects of all worlds.
        bands: Of the camera.
        material: Rows of all materials in any band.
    """
    reflectance_first, reflectance = _reflectances(layout, bands)
    textures = _textures(layout, bands)
    temperature_first, temperature = _temperatures(layout, any(band.thermal for band in bands))
    return {
        "surfaces": Surfaces(material, np.array(layout.material_index, np.int32), np.zeros((1, 1), np.float32)),
        "reflectance_first": reflectance_first,
        "corner_reflectance": reflectance,
        "texture": textures.number,
        "uv_first": textures.first,
        "corner_u": textures.u,
        "corner_v": textures.v,
        "face_paint": textures.face_paint,
        "paint_place": textures.place,
        "paint_factor": textures.factor,
        "texels": textures.texels,
        "pixels": textures.pixels,
        "pixel_column": np.array([j if band.column is None else band.column for j, band in enumerate(bands)], np.int64),
        "linear": linear_table(),
        "temperature_first": temperature_first,
        "corner_temperature": temperature,
    }


def _light(
    spec: "Camera", sun: Sun | None, atmosphere: AbstractMedium, band: Band, wavelength_m: float
) -> NDArray[np.float32]:
    """Sun, sky, ground, extinction and solar disc of one band."""
    row = np.zeros(pc.LIGHT_COLUMNS, np.float32)
    direct = sky = level = 0.0
    if sun is not None and sun.elevation_deg > 0.0:
        direct = band_value(sun.spectral_irradiance, band)
        sky = band_value(sun.sky_radiance, band)
        level = direct * math.sin(math.radians(sun.elevation_deg)) + math.pi * sky
    ground = spec.ground_albedo * level / math.pi
    if band.thermal:
        sky += thermal_radiance(band, spec.sky_k)
        ground += (1.0 - spec.ground_albedo) * thermal_radiance(band, spec.ambient_k)
    row[pc.L_SUN], row[pc.L_SKY], row[pc.L_GROUND] = direct, sky, ground
    row[pc.L_ALPHA], row[pc.L_DISC] = atmosphere.at(wavelength_m).extinction_per_m, direct / _DISC_SR
    return row


def _materials(
    spec: "Camera", layout: Layout, atmosphere: AbstractMedium, band: Band, wavelength_m: float
) -> NDArray[np.float32]:
    """Rows of all materials at a band's wavelength; thermal bands, which most spectra do not cover, use a gray body."""
    if band.thermal:
        gray = Lambertian(reflectance=1.0 - spec.emissivity)

        def known(material: object | None) -> object:
            if material is None:
                return gray
            if isinstance(material, AbstractMaterial) and material.property_name is None:
                try:
                    material.row(wavelength_m)
                except SpecError:
                    return gray
            return material

        layout = replace(layout, materials=tuple(known(material) for material in layout.materials))
    air = [atmosphere.at(wavelength_m)]
    return material_table(layout, air, np.zeros(len(layout.materials), np.int64), wavelength_m)


def _reflectances(layout: Layout, bands: tuple[Band, ...]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Diffuse reflectance that meshes carry: where each object's begins (-1: nowhere), and values at face corners."""
    first = np.full(layout.mesh_index.shape, -1, np.int64)
    pieces: list[NDArray[np.float32]] = []
    size = 0
    for number, material in enumerate(layout.materials):
        if not isinstance(material, AbstractMaterial) or material.property_name is None:
            continue
        for mesh_number in np.unique(layout.mesh_index[(layout.material_index == number) & (layout.mesh_index >= 0)]):
            if _is_textured(layout.meshes[mesh_number], material):
                continue
            values = corner_values(layout.meshes[mesh_number], material.property_name)
            columns = np.stack([_column(values, j, band, material) for j, band in enumerate(bands)])
            if columns.min() < 0.0 or columns.max() > material.max_reflectance:
                raise SceneError(
                    f"property {material.property_name!r} runs from {columns.min()} to {columns.max()}; "
                    f"a reflectance is 0 to {material.max_reflectance}"
                )
            first[(layout.material_index == number) & (layout.mesh_index == mesh_number)] = size
            pieces.append(columns.reshape(len(bands), -1).astype(np.float32))
            size += pieces[-1].shape[1]
    return first, np.concatenate([*pieces, np.zeros((len(bands), 0), np.float32)], axis=1)


def _column(values: NDArray[Any], number: int, band: Band, material: AbstractMaterial) -> NDArray[np.float64]:
    """A property's values in one band, shape (faces, 3): one for all bands, or one each."""
    if values.ndim == 2:
        return values
    column = number if band.column is None else band.column
    if column >= values.shape[2]:
        raise SceneError(
            f"property {material.property_name!r} has {values.shape[2]} bands; "
            f"band {band.name!r} asks for number {column} of them"
        )
    return np.asarray(values[:, :, column])


class _Textures(NamedTuple):
    """Textures as the kernel reads them, see `PictureTables`."""

    number: NDArray[np.int32]
    first: NDArray[np.int64]
    u: NDArray[np.float32]
    v: NDArray[np.float32]
    face_paint: NDArray[np.int32]
    place: NDArray[np.int64]
    factor: NDArray[np.float32]
    texels: NDArray[np.float32]
    pixels: NDArray[np.uint8]


def _is_textured(mesh: Mesh, material: AbstractMaterial) -> bool:
    """Whether a material leaves its reflectance to the mesh's texture."""
    return material.property_name == TEXTURE and mesh.texture is not None


def _textures(layout: Layout, bands: tuple[Band, ...]) -> _Textures:
    """Textures of meshes whose materials use them."""
    number, first = np.full(layout.mesh_index.shape, -1, np.int32), np.zeros(layout.mesh_index.shape, np.int64)
    sheet, count = _TextureTables(len(bands)), 0
    for kind, material in enumerate(layout.materials):
        if not isinstance(material, AbstractMaterial):
            continue
        for mesh_number in np.unique(layout.mesh_index[(layout.material_index == kind) & (layout.mesh_index >= 0)]):
            mesh = layout.meshes[mesh_number]
            if not _is_textured(mesh, material):
                continue
            here = (layout.material_index == kind) & (layout.mesh_index == mesh_number)
            number[here], first[here] = count, 3 * sheet.face_count
            count += 1
            sheet.add(mesh, bands, material)
    return sheet.tables(number, first)


class _TextureTables:
    """Gathers textures: images of reflectances by band, and images of files once each, as bytes."""

    def __init__(self, band_count: int) -> None:
        self.face_count = self._texel_count = 0
        self._bands = band_count
        self._corners: list[NDArray[np.float32]] = []
        self._face_paint: list[NDArray[np.int32]] = []
        self._places: list[tuple[int, ...]] = []
        self._factors: list[list[float]] = []
        self._texels = [np.zeros((band_count, 0), np.float32)]
        self._pixels = [np.full((1, 3), 255, np.uint8)]  # white, of paints without an image
        self._pixel_count = 1
        self._firsts: dict[int, int] = {}

    def add(self, mesh: Mesh, bands: tuple[Band, ...], material: AbstractMaterial) -> None:
        """Add the texture of a mesh."""
        texture = mesh.texture
        known, faces = len(self._places), len(mesh.faces)
        uv = corner_values(mesh, UV)
        if isinstance(texture, PaintedImages):
            for paint in texture.paints:
                self._places.append((*self._image(texture, paint.image), *paint.wrap, 1))
                triple = np.array(paint.factor).reshape(1, 1, 3)
                self._factors.append([float(_column(triple, j, band, material)[0, 0]) for j, band in enumerate(bands)])
            of_faces = known + texture.face_paint
        else:
            assert texture is not None
            self._places.append((self._texel_count, *texture.shape[:2], REPEAT, REPEAT, 0))
            self._factors.append([1.0] * self._bands)
            of_faces = np.full(faces, known)
            values = texture.reshape(-1, 1, texture.shape[2])
            self._texels.append(np.stack([_column(values, j, band, material)[:, 0] for j, band in enumerate(bands)]))
            self._texel_count += values.shape[0]
        size = np.array(self._places, np.int64)[of_faces, 1:3][:, None]
        places = np.stack([uv[..., 0] * size[..., 1] - 0.5, (1.0 - uv[..., 1]) * size[..., 0] - 0.5])
        self._corners.append(places.reshape(2, -1).astype(np.float32))
        self._face_paint.append(of_faces.astype(np.int32))
        self.face_count += faces

    def _image(self, texture: PaintedImages, number: int) -> tuple[int, int, int]:
        """Start of an image, its rows and columns."""
        if number < 0:
            return 0, 1, 1
        image = texture.images[number]
        if id(image) not in self._firsts:
            self._firsts[id(image)] = self._pixel_count
            self._pixels.append(image.reshape(-1, 3))
            self._pixel_count += len(self._pixels[-1])
        return self._firsts[id(image)], image.shape[0], image.shape[1]

    def tables(self, number: NDArray[np.int32], first: NDArray[np.int64]) -> _Textures:
        """All of it as arrays."""
        u, v = np.concatenate([*self._corners, np.zeros((2, 0), np.float32)], axis=1)
        return _Textures(
            number,
            first,
            u,
            v,
            np.concatenate([*self._face_paint, np.zeros(0, np.int32)]),
            np.array(self._places, np.int64).reshape(-1, 6),
            np.array(self._factors, np.float32).reshape(-1, self._bands),
            np.concatenate(self._texels, axis=1).astype(np.float32),
            np.concatenate(self._pixels),
        )


def _temperatures(layout: Layout, wanted: bool) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Temperatures that meshes carry, laid out as their reflectances are."""
    first = np.full(layout.mesh_index.shape, -1, np.int64)
    pieces: list[NDArray[np.float32]] = []
    size = 0
    for mesh_number, mesh in enumerate(layout.meshes):
        if not wanted or TEMPERATURE not in mesh.property_names:
            continue
        values = corner_values(mesh, TEMPERATURE)
        if values.ndim != 2 or values.min() <= 0.0:
            raise SceneError(
                f"property {TEMPERATURE!r} has shape {values.shape[2:]} and least value {values.min()}; "
                "it must be one number above 0 K each"
            )
        first[layout.mesh_index == mesh_number] = size
        pieces.append(values.reshape(-1).astype(np.float32))
        size += values.size
    return first, np.concatenate([*pieces, np.zeros(0, np.float32)])


def corner_values(mesh: Mesh, name: str) -> NDArray[Any]:
    """A property at the three corners of each face, shape (faces, 3, ...)."""
    faces = np.arange(len(mesh.faces))
    return np.stack([mesh.property_at(name, faces, np.broadcast_to(uv, (len(faces), 2))) for uv in _CORNERS], axis=1)
