"""Builds the tables that the light kernel reads from a lidar's specification and its environment."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.core.errors import SceneError, SpecError
from sensorium.physics.fields import Sun
from sensorium.physics.materials import row as mr
from sensorium.physics.materials.base import AbstractMaterial
from sensorium.physics.materials.dielectric import Dielectric
from sensorium.physics.materials.lambertian import Lambertian
from sensorium.physics.materials.library import name_of
from sensorium.physics.media.base import AbstractMedium, MediumParameters
from sensorium.physics.optics.detection.capture_table import CaptureTable, capture_table
from sensorium.random import gamma_quantile
from sensorium.runtime import jit
from sensorium.scene.curvature import can_mirror
from sensorium.scene.layout import Layout
from sensorium.scene.volumes import SAME_INDEX, medium_inside
from sensorium.sensors.lidar.limit_tables import REACH, relative_limit
from sensorium.sensors.lidar.range_limits import fill_errors, range_limits
from sensorium.sensors.lidar.receiver_tables import (
    detector_numbers,
    hopeless_power_W,
    power_W,
    receiver_table,
    sunlight_numbers,
)
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.curvature import curvature_tables
from sensorium.tracing.kernels.light.mesh_reflectance import reflectance_tables
from sensorium.tracing.kernels.strong_light.sunlight import SUN_POWER

if TYPE_CHECKING:
    from sensorium.sensors.lidar.lidar import Lidar

# material of objects without a material
DEFAULT_MATERIAL = Lambertian(reflectance=0.5)

# Initial capacity for crossings of a ray with volumes, and for volumes around a path; it grows on demand
_CROSSINGS, _LEVELS = 16, 8

# Upper bound of diffuse reflectance, including a rough surface at normal incidence
_BRIGHTEST = 2.0

# Number of object names of a material that an error lists
_OBJECTS_TOLD = 3

_UNITY = np.float32(1.0)

_RETURNS = {"strongest": tb.STRONGEST, "first": tb.FIRST, "last": tb.LAST, "dual": tb.DUAL, "all": tb.ALL}


def light_tables(spec: "Lidar", layout: Layout, atmosphere: AbstractMedium, sun: Sun | None) -> tb.LightTables:
    """All tables of the kernel."""
    beam = spec.beam
    parameters = atmosphere.at(beam.wavelength_m)
    if spec.atmospheric_law is not None:
        shape, scale_m, probability = spec.atmospheric_law
        parameters = replace(parameters, gamma_shape=shape, gamma_scale_m=scale_m, gamma_probability=probability)
    if spec.atmospheric_law is not None:
        _check_law(spec, atmosphere, parameters)
    media, inside = media_of(layout, parameters, beam.wavelength_m)
    material = material_table(layout, media, inside, beam.wavelength_m)
    by_optical_path = spec.mode == "relative" and spec.divergence == "agx"
    medium, gamma = medium_tables(media, beam.pulse_s, by_optical_path=by_optical_path)
    measured = spec.mode in ("radiometric", "waveform")
    capture = receiver_table(spec) if measured else _captured(spec)

    number = np.zeros(tb.NUMBERS, np.float32)
    number[tb.N_BEAM_TAN2] = math.tan(beam.widest_rad / 2.0) ** 2
    number[tb.N_FLOOR], number[tb.N_THRESHOLD] = spec.floor, spec.threshold
    calibrated = parameters.refractive_index if spec.calibrated_index is None else spec.calibrated_index
    number[tb.N_CALIBRATED_INDEX], number[tb.N_INVERSE_Z0] = calibrated, capture.inverse_z0
    fill_errors(number, spec.noise, range_limits(spec, parameters.refractive_index))

    # Two modes measure in watts; of these, radiometric mode counts photons here
    radiometric = spec.mode == "radiometric"
    sunlight = sunlight_numbers(spec, sun) if measured and sun is not None else np.zeros(5, np.float32)
    in_sun = bool((sunlight[SUN_POWER:] > 0.0).any())
    detector = detector_numbers(spec, in_sun=in_sun)
    number[tb.N_POWER] = 1.0
    if measured:
        number[tb.N_POWER] = power_W(spec)
        number[tb.N_FLOOR] *= number[tb.N_POWER]
    if radiometric:
        number[tb.N_THRESHOLD] = max(spec.threshold, hopeless_power_W(detector))

    switch = np.zeros(tb.SWITCHES, np.int32)
    if (limit := relative_limit(spec)) is not None:
        number[tb.N_THRESHOLD], switch[tb.S_LIMIT] = max(spec.threshold, limit.hopeless), True
        number[tb.N_LIMIT_RATIO], number[tb.N_LIMIT_REACH] = limit.ratio, REACH
        number[tb.N_LIMIT_DARK], number[tb.N_LIMIT_SUN] = limit.dark, limit.sun * math.pi
        number[tb.N_LIMIT_CERTAIN] = (limit.ratio + REACH) * limit.noise(_BRIGHTEST)
    switch[tb.S_RADIOMETRIC], switch[tb.S_SUN] = radiometric, in_sun
    switch[tb.S_ROUND_TRIP] = 2 if spec.round_trip else 1
    switch[tb.S_DEPTH], switch[tb.S_RETURNS] = spec.max_depth, _RETURNS[spec.returns]
    switch[tb.S_SLOTS] = {"dual": 2, "all": spec.max_returns}.get(spec.returns, 1)
    switch[tb.S_PRIORITY] = spec.atmospheric_returns == "priority"
    switch[tb.S_ATMOSPHERE] = spec.atmospheric_returns != "off" and bool((medium[:, tb.G_PROBABILITY] > 0).any())
    switch[tb.S_RETRO] = bool((material[:, tb.M_RETRO] > 0).any())
    switch[tb.S_IN_WORLD] = spec.frame == "world"
    of_objects = surfaces(layout, medium[:, tb.G_ALPHA], spec.max_depth)
    unknown = not layout.meshes and any(map(can_mirror, layout.materials))  # partitioned meshes
    switch[tb.S_CURVED] = spec.max_depth > 0 and (unknown or len(of_objects["face_curvature"]) > 0)
    if layout.material_kind.any():
        switch[tb.S_CROSSINGS], switch[tb.S_LEVELS] = _CROSSINGS, _LEVELS
        switch[tb.S_REFRACTS] = bool((np.abs(medium[:, tb.G_INDEX] - medium[0, tb.G_INDEX]) > SAME_INDEX).any())
        switch[tb.S_TRACED] = len(of_objects["bank_column"]) < np.count_nonzero(of_objects["volume"].any(axis=0))
    tables = tb.LightTables(
        material=material,
        **of_objects,
        medium=medium,
        gamma=gamma,
        capture=capture.values,
        number=number,
        noise_by_range=spec.noise.range_table(),
        noise_by_reflectance=spec.noise.reflectance_table(),
        switch=switch,
        detector=detector,
        sun=sunlight,
        missing=np.zeros(2, np.int32),
    )
    if (part := spec.noise.by_signal) is not None:
        stated = part.reflectance * white_at(tables, np.array(part.range_m, np.float32))
        number[tb.N_NOISE_SIGNAL] = part.std_m**2 * stated
    return tables


def surfaces(layout: Layout, extinction_per_m: NDArray[np.float32], max_depth: int) -> dict[str, Any]:
    """Tables of the material of each object; only these change when worlds are redrawn.

    Args:
        layout: The scene.
        extinction_per_m: Of the media that `media_of` numbers.
        max_depth: Number of interfaces that light is followed through; mirror curvature matters only beyond the first.
    """
    first, corners = reflectance_tables(layout)
    flat = np.full(layout.mesh_index.shape, -1, np.int64), np.zeros((0, 6), np.float32)
    curvature_first, face_curvature = curvature_tables(layout) if max_depth > 0 else flat
    extents = layout.extents()
    volume = _inside(layout)[layout.material_index].astype(np.int32)
    return {
        "object_material": np.array(layout.material_index, np.int32),
        "reflectance_first": first,
        "corner_reflectance": corners,
        "curvature_first": curvature_first,
        "face_curvature": face_curvature,
        "volume": volume,
        "rank": _ranks(extents.volume_m3, extinction_per_m[volume]),
        "reach": np.array(extents.radius_m, np.float32),
        "bank_column": layout.banks.column,
        "bank_plane": layout.banks.plane,
    }


def _ranks(volume_m3: NDArray[np.float64], extinction_per_m: NDArray[np.float32]) -> NDArray[np.int32]:
    """Rank of each object in its row: largest first, equal ones clearest first, then by number."""
    size = np.broadcast_to(volume_m3, extinction_per_m.shape)
    number = np.broadcast_to(np.arange(size.shape[1]), size.shape)
    order = np.lexsort((number, extinction_per_m, -size), axis=1)
    ranks = np.empty(size.shape, np.int32)
    np.put_along_axis(ranks, order, number.astype(np.int32), axis=1)
    return ranks


def _inside(layout: Layout) -> NDArray[np.int64]:
    """Number of the medium inside each material that has an inside, from 1; 0 for the others."""
    filled = layout.material_kind > 0
    return np.where(filled, np.cumsum(filled), 0)


def white_at(light: tb.LightTables, range_m: NDArray[np.float32], *, gain: np.float32 = _UNITY) -> NDArray[np.float32]:
    """Intensity of a white diffuse target at normal incidence at each range, in clear air; from the kernel's table."""
    table, inverse_z0 = light.capture, light.number[tb.N_INVERSE_Z0]
    rest = 1.0 / (1.0 + range_m * inverse_z0)
    share = np.interp(1.0 - rest, np.linspace(0.0, 1.0, len(table)), table).astype(np.float32) * rest**2
    return share * light.number[tb.N_POWER] * gain / np.float32(np.pi)


def _captured(spec: "Lidar") -> CaptureTable:
    """Share of the beam's power that the detector catches, over distance."""
    beam = spec.beam
    angles = beam.half_divergence_rad
    along, across = angles if isinstance(angles, tuple) else (angles, angles)
    return capture_table(
        detector_radius_m=beam.detector_radius_m,
        detector_offset_m=beam.detector_offset_m,
        exit_radius_m=beam.exit_radius_m,
        half_divergence_rad=along,
        half_divergence_y_rad=across,
        model=spec.divergence,
    )


def media_of(
    layout: Layout, atmosphere: MediumParameters, wavelength_m: float
) -> tuple[list[MediumParameters], NDArray[np.int64]]:
    """The atmosphere, then the medium inside each material that has one; and the medium number of each material."""
    filled = (medium_inside(material, wavelength_m) for material in layout.materials)
    return [atmosphere, *(medium for medium in filled if medium is not None)], _inside(layout)


def material_table(
    layout: Layout, media: Sequence[MediumParameters], inside: NDArray[np.int64], wavelength_m: float
) -> NDArray[np.float32]:
    """One row for each material and surrounding medium, medium by medium, and a last row for no object.

    The boundary of a body seen from its own medium is an exit; the outside is taken to be the atmosphere, which matters
    to its glint alone.
    """
    kinds = len(layout.materials)
    table = np.zeros((len(media) * kinds + 1, tb.MATERIAL_COLUMNS))
    table[-1, [tb.M_ALPHA2, tb.M_INDEX, tb.M_PLASTIC_N2]], table[-1, tb.M_FIXED_R] = 1.0, -1.0
    for seen_from, medium in enumerate(media):
        for kind, material in enumerate(layout.materials):
            outwards = seen_from > 0 and inside[kind] == seen_from
            around = (media[0] if outwards else medium).refractive_index
            try:
                row = material_row(material, wavelength_m, around)
            except SpecError as error:
                raise SpecError(f"{_named(layout, kind)}: {error}") from None
            _fill_material(table[seen_from * kinds + kind], row)
            table[seen_from * kinds + kind, tb.M_MEDIUM] = inside[kind]
    return table.astype(np.float32)


def _named(layout: Layout, kind: int) -> str:
    """A material of a scene, for errors: its name in the library, or its model; and the objects that have it."""
    material = layout.materials[kind]
    known = name_of(material)
    said = f"material {known!r}" if known else f"a {type(material).__name__}"
    columns = np.flatnonzero((layout.material_index == kind).any(axis=0)).tolist()
    objects = [repr(name) if (name := layout.name[column]) else f"{column}" for column in columns]
    rest = f" and {len(objects) - _OBJECTS_TOLD} more" if len(objects) > _OBJECTS_TOLD else ""
    return f"{said} of object {', '.join(objects[:_OBJECTS_TOLD])}{rest}" if objects else said


def _fill_material(columns: NDArray[np.float64], row: NDArray[np.float64]) -> None:
    """A material as a row in the kernel's columns."""
    shared = ("R0", "ALPHA2", "KIND", "RETRO", "FIXED_R", "PANE_OPL", "PANE_TAU", "INNER_INDEX")
    for name in (*shared, "ON_A0", "ON_A1", "ON_B", "PLASTIC_N2", "PLASTIC_FI"):
        columns[getattr(tb, f"M_{name}")] = row[getattr(mr, name)]
    columns[tb.M_INDEX], columns[tb.M_ABSORPTION] = row[mr.N], row[mr.K]
    columns[tb.M_RETRO_POWER] = row[mr.RETRO_Q]
    columns[tb.M_ONE_WAY] = float(row[mr.LAYERING] == mr.LAYERINGS["agx"])

    # Where the mesh does not give the diffuse reflectance, it is part of the coefficients
    c = max(row[mr.C], 0.0)
    scale = c / (math.pi * row[mr.PLASTIC_N2] * (1.0 - c * row[mr.PLASTIC_FI]))
    columns[tb.M_DIFFUSE_A] = scale * (row[mr.ON_A0] + row[mr.ON_A1] * c)
    columns[tb.M_DIFFUSE_B] = scale * row[mr.ON_B]


def material_row(material: object | None, wavelength_m: float, around: float) -> NDArray[np.float64]:
    """Row of an object's material seen from a medium of this index; an object without a material is matt and gray."""
    if material is None:
        return DEFAULT_MATERIAL.row(wavelength_m, around)
    if isinstance(material, AbstractMaterial):
        return material.row(wavelength_m, around)
    if isinstance(material, AbstractMedium):
        # A volume of a medium is a body whose boundary is smooth
        index = material.at(wavelength_m).refractive_index
        return Dielectric(refractive_index=index).row(wavelength_m, around)
    raise SceneError(f"an object's material is a {type(material).__name__}; it must be one of sn.materials or sn.media")


def _check_law(spec: "Lidar", atmosphere: AbstractMedium, parameters: MediumParameters) -> None:
    """Refuse returns from air without backscatter: their intensity would be 0 and none would be detected."""
    asked = parameters.gamma_probability > 0.0 and spec.atmospheric_returns != "off"
    if asked and parameters.backscatter_per_m_sr == 0.0:
        raise SpecError(
            f"atmospheric_law is {spec.atmospheric_law} and the atmosphere a {type(atmosphere).__name__} whose "
            "backscatter is 0; it must have some, or no return from it is seen (sn.media.air() and fog have)"
        )


def medium_tables(
    parameters: Sequence[MediumParameters], pulse_s: float, *, by_optical_path: bool = False
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """One row per medium, and the quantiles of its gamma law.

    The echo of a medium is rho = beta c t / 2 [1/sr] with the backscatter beta [1/m/sr] and the pulse's duration t. The
    beam widens with the reduced path sum d / n, or for eq. 21 with the optical path sum n d (U-04).
    """
    table = np.zeros((len(parameters), tb.MEDIUM_COLUMNS))
    quantiles = np.zeros((len(parameters), tb.GAMMA_POINTS + 1), np.float32)
    for number, medium in enumerate(parameters):
        table[number, tb.G_INDEX] = medium.refractive_index
        table[number, tb.G_WIDENING] = medium.refractive_index if by_optical_path else 1.0 / medium.refractive_index
        table[number, tb.G_EXCESS] = (medium.refractive_index - 1.0) * (medium.refractive_index + 1.0)
        table[number, tb.G_ALPHA] = medium.extinction_per_m
        table[number, tb.G_ECHO] = medium.backscatter_per_m_sr * SPEED_OF_LIGHT_M_S * pulse_s / 2.0
        table[number, tb.G_PROBABILITY] = medium.gamma_probability
        table[number, tb.G_SHAPE], table[number, tb.G_SCALE] = medium.gamma_shape, medium.gamma_scale_m
        if medium.gamma_probability > 0.0:
            q = np.clip(np.linspace(0.0, 1.0, tb.GAMMA_POINTS + 1), 1e-9, 1.0 - 1e-9)
            quantiles[number] = _gamma_quantiles(q, medium.gamma_shape) * medium.gamma_scale_m
    return table.astype(np.float32), quantiles


@jit.kernel
def _gamma_quantiles(q: NDArray[np.float64], shape: float) -> NDArray[np.float64]:
    """Quantiles of the gamma law of scale 1; a kernel, so that it is compiled once rather than in every process."""
    out = np.empty(q.size)
    for i in range(q.size):
        out[i] = gamma_quantile(q[i], shape)
    return out
