"""Returned and continuing light of one interface on a ray's path, in float64: the nodes of `ray_tree`.

Equations and their source are those of `ray_tree`.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sensorium.physics import optics
from sensorium.physics.materials import (
    AbstractMaterial,
    Dielectric,
    Mirror,
    Retroreflector,
    ThinGlass,
    TwoLayer,
)
from sensorium.physics.materials.base import AbstractDiffuse, index_at, reflectance_at
from sensorium.physics.media import AbstractMedium, MediumParameters
from sensorium.physics.optics.spectra import constant_or_at
from sensorium.scene.volumes import SAME_INDEX
from sensorium.tracing.rays import AllHits
from sensorium.tracing.reference.pencil import Pencil
from sensorium.tracing.reference.ray_media import Segment, Stack, index_medium

Vector = NDArray[np.float64]

# children of node i are 2 i + 1 and 2 i + 2
REFLECTION, TRANSMISSION = 1, 2

# roughness of the boundary of a volume, as that of a dielectric body
_SMOOTH = 1e-4


@dataclass(frozen=True, eq=False)
class Node:
    """One segment of a path and the interface at its end."""

    number: int
    """Number in the heap."""
    origin: Vector
    """Start of the segment, in the world [m]."""
    direction: Vector
    """Direction, a unit vector."""
    length_m: float
    """Geometric length [m]."""
    object_id: int
    """Object hit, -1 for none: then the segment is drawn to the range limit and returns nothing."""
    face_id: int
    """Triangle of the object's mesh, -1 for none."""
    normal: Vector
    """Unit normal of the face on its outer side; zero without a hit."""
    medium: MediumParameters
    """Interface at the end of the segment."""
    opl_m: float
    """Optical path from the sensor to the end, sum of n d [m]."""
    tau: float
    """Optical depth to the end, sum of alpha d [1]."""
    z_m: float
    """Path that widens the beam, to the end: the sum of d / n, or of n d for eq. 21 [m]."""
    spread_m: float
    """Spread distance: z_m, but behind curved mirrors z_eff [m]."""
    gain: float
    """Share of light left by the interfaces before this node, there and back [1]."""
    intensity: float
    """Return of the interface at the end [1/sr]."""
    mirror_id: int
    """The first object that mirrored the path, -1 for none."""

    @property
    def point(self) -> Vector:
        """End of the segment, in the world [m]."""
        return self.origin + self.length_m * self.direction

    @property
    def depth(self) -> int:
        """Interfaces passed before this one."""
        return (self.number + 1).bit_length() - 1

    @property
    def parent(self) -> int | None:
        """Number of the node this path came from; None for the first."""
        return (self.number - 1) // 2 if self.number else None

    @property
    def cause(self) -> Literal["surface", "reflection", "transmission"]:
        """Cause of a return from here: mirrored anywhere on the way, else transmitted, else direct."""
        if self.number == 0:
            return "surface"
        return "transmission" if self.mirror_id < 0 else "reflection"


@dataclass(frozen=True)
class Start:
    """A path that continues: node number, ray, and the sums along the path."""

    number: int
    origin: Vector
    direction: Vector
    stack: Stack | None
    left: Node | None = None
    opl_m: float = 0.0
    tau: float = 0.0
    z_m: float = 0.0
    gain: float = 1.0
    mirror_id: int = -1
    pencil: Pencil | None = None  # behind a curved mirror


@dataclass(frozen=True)
class Light:
    """Sensor constants that matter at an interface."""

    wavelength_m: float
    half_angle_rad: float
    passes: int

    @property
    def cone2(self) -> float:
        """Square of the tangent of half the half angle: facets with less tilt keep light inside the beam."""
        return math.tan(self.half_angle_rad / 2.0) ** 2

    def opened(self, opening: float) -> "Light":
        """The same with a beam of this many times the solid angle, if that is more than 1."""
        return replace(self, half_angle_rad=2.0 * math.atan(math.sqrt(max(opening, 1.0) * self.cone2)))


def return_of(
    material: AbstractMaterial | AbstractMedium,
    cosine: float,
    hits: AllHits,
    light: Light,
    outside: MediumParameters,
    segment: Segment,
) -> float:
    """Return rho = f cos(theta) [1/sr] to the source; no lobe is narrower than the beam."""
    wavelength = light.wavelength_m
    around = index_medium(outside, segment.before).refractive_index
    if isinstance(material, AbstractDiffuse):
        base = _diffuse_reflectance(material, hits, wavelength)
        if isinstance(material, TwoLayer):
            n, k = index_at(material.refractive_index, material.extinction_coefficient, wavelength)
            rho = optics.two_layer_monostatic(
                cosine,
                n=complex(n, k) / around,
                roughness=material.roughness,
                reflectance=base,
                diffuse_roughness=material.diffuse_roughness,
                layering=material.layering,
            )
            facing = float(optics.fresnel(1.0, n=complex(n, k) / around))
            lobe = float(optics.ggx_monostatic(cosine, n=complex(n, k) / around, roughness=material.roughness))
            return float(rho) - lobe + _glint(cosine, facing, material.roughness, light)
        matt = optics.oren_nayar_monostatic(cosine, reflectance=base)
        if isinstance(material, Retroreflector):
            matt = matt + optics.retroreflection(
                cosine, coefficient_per_sr=material.coefficient, exponent=material.falloff
            )
        return float(matt)
    if isinstance(material, Mirror):
        return _glint(cosine, reflectance_at(material.reflectance, wavelength), material.roughness, light)
    if isinstance(material, ThinGlass):
        _, back = optics.pane(1.0, n=_pane_index(material, light, around), optical_depth=_pane_depth(material, light))
        return _glint(cosine, float(back), material.roughness, light)

    # The boundary of a volume: by its own index n + ik where the ray enters it, else by that behind it
    behind = index_medium(outside, segment.behind)
    index = complex(behind.refractive_index)
    if isinstance(material, Dielectric) and behind == material.inside(wavelength) and material.medium is None:
        assert material.refractive_index is not None
        index = complex(*index_at(material.refractive_index, material.extinction_coefficient, wavelength))
    roughness = material.roughness if isinstance(material, Dielectric) else _SMOOTH
    return _glint(cosine, float(optics.fresnel(1.0, n=index, n_outside=around)), roughness, light)


def children(
    node: Node,
    segment: Segment,
    here: MediumParameters,
    there: MediumParameters,
    material: AbstractMaterial | AbstractMedium,
    c: float,
    light: Light,
) -> list[Start]:
    """The mirror ray and the transmitted ray of an interface, with the share of light of each."""
    mirrored = optics.reflect(node.direction, node.normal)
    before, behind, n1, n2 = segment.before, segment.behind, here.refractive_index, there.refractive_index
    if not isinstance(material, ThinGlass | Dielectric | AbstractMedium):
        return [_onward(node, REFLECTION, before, mirrored, _mirror_factor(material, c, light, here), light)]

    # Effect of the media before and behind the interface
    back, onward, total = 0.0, node.direction, False
    if abs(n2 - n1) > SAME_INDEX:
        back = float(optics.fresnel(c, n=n2, n_outside=n1))
        facing = node.normal if float(node.direction @ node.normal) <= 0.0 else -node.normal
        bent, beyond_critical = optics.refract(node.direction, facing, n_from=n1, n_to=n2)
        total = bool(beyond_critical)
        onward = node.direction if total else bent / np.linalg.norm(bent)
    on, extra_m = 1.0 - back, 0.0
    if isinstance(material, ThinGlass):
        index = _pane_index(material, light, n1)
        passed, thrown = optics.pane(c, n=index, optical_depth=_pane_depth(material, light))
        extra_m = n1 * float(optics.pane_path(c, n=index, thickness_m=material.thickness_m))
        back, on = float(thrown) + float(passed) ** 2 * back, float(passed) * on
    children = [_onward(node, REFLECTION, before, mirrored, back * _in_beam(material, c, light), light)]
    if not total:
        children.append(_onward(node, TRANSMISSION, behind, onward, on, light, extra_m))
    return children


def _mirror_factor(material: AbstractMaterial, c: float, light: Light, here: MediumParameters) -> float:
    """Share kappa of the light that an opaque surface sends into its mirror ray."""
    if isinstance(material, TwoLayer):
        n, k = index_at(material.refractive_index, material.extinction_coefficient, light.wavelength_m)
        return float(
            optics.mirror_transfer(
                c,
                n=complex(n, k) / here.refractive_index,
                roughness=material.roughness,
                half_angle_rad=light.half_angle_rad,
            )
        )
    if isinstance(material, Mirror):
        return reflectance_at(material.reflectance, light.wavelength_m) * _in_beam(material, c, light)
    return 0.0


def _in_beam(material: AbstractMaterial | AbstractMedium, c: float, light: Light) -> float:
    """Share of the mirrored light that the surface's roughness leaves inside the beam."""
    roughness = getattr(material, "roughness", _SMOOTH)
    return light.cone2 / (float(optics.squared_alpha(roughness)) * c + light.cone2)


def _onward(
    node: Node, way: int, stack: Stack, direction: Vector, kappa: float, light: Light, extra_m: float = 0.0
) -> Start:
    """The path that goes on from a node by reflection or transmission; the interface may add optical path [m]."""
    first_mirror = way == REFLECTION and node.mirror_id < 0
    return Start(
        number=2 * node.number + way,
        origin=node.point,
        direction=direction,
        stack=stack,
        left=node,
        opl_m=node.opl_m + extra_m,
        tau=node.tau,
        z_m=node.z_m,
        gain=node.gain * kappa**light.passes,
        mirror_id=node.object_id if first_mirror else node.mirror_id,
    )


def _glint(cosine: float, reflectance: float, roughness: float, light: Light) -> float:
    """Retroreflected light of a surface of known reflectance, limited by the beam [1/sr]."""
    return reflectance * float(optics.mirror_glint(cosine, roughness=roughness, half_angle_rad=light.half_angle_rad))


def _diffuse_reflectance(material: AbstractDiffuse, hits: AllHits, wavelength_m: float) -> float:
    """Reflectance of the diffuse base, from the mesh if it has one."""
    name = material.property_name
    if name is None:
        return reflectance_at(material.reflectance, wavelength_m)
    value = np.asarray(hits.property(name))[0]
    return float(value if value.ndim == 0 else value[material.property_band])


def _pane_index(material: ThinGlass, light: Light, around: float) -> float:
    """Index of the glass over that of the medium around; a pane that is no denser has no effect."""
    return max(index_at(material.refractive_index, 0.0, light.wavelength_m)[0] / around, 1.0)


def _pane_depth(material: ThinGlass, light: Light) -> float:
    return constant_or_at(material.absorption_per_m, light.wavelength_m, "absorption_per_m") * material.thickness_m
