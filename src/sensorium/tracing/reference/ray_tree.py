"""One ray's tree in plain float64: the reference that the lidar kernel is held against, and what draws a ray's tree.

Node 0 is the first interface a ray meets. Node i has its reflection at 2 i + 1 and its transmission at 2 i + 2. Along a
path over segments of geometric length d in media of index n and extinction alpha three sums are kept apart,

    OPL = sum n d          tau = sum alpha d          z = sum d / n

and what a surface sends back is, with the transfer factors kappa of the interfaces before it,

    I = (prod kappa)^m rho exp(-m tau) A(z)

m = 2 for light that comes back the way it went, rho = f cos(theta) [1/sr], A the captured share of the beam. Behind
curved mirrors z_eff of `sensorium.physics.optics.surfaces.mirror_spread` stands for z; what passes through a curved
boundary spreads as through a flat one. Source: AGX Sensor paper, sections 2.1 to 2.4, with the corrections named in
`sensorium.physics.optics`.
Returns from the air are drawn at random and have no place here. Media are kept as a stack by the rules of `ray_media`,
and a boundary that changes no index is no interface. This is slow, a ray at a time: use a `Lidar` for more than a few.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SceneError
from sensorium.core.frames import Pose
from sensorium.physics import optics
from sensorium.physics.materials import (
    AbstractMaterial,
    Dielectric,
    Lambertian,
    Mirror,
    Retroreflector,
    ThinGlass,
    TwoLayer,
)
from sensorium.physics.materials.base import AbstractDiffuse, index_at
from sensorium.physics.materials.reflectance import reflectance_at
from sensorium.physics.media import AbstractMedium, MediumParameters, vacuum
from sensorium.physics.optics.spectra import constant_or_at
from sensorium.scene.curvature import can_mirror
from sensorium.scene.mesh import CURVATURE, full_tensor
from sensorium.scene.volumes import SAME_INDEX, medium_inside
from sensorium.tracing.caster import AllHits
from sensorium.tracing.reference.pencil import Pencil
from sensorium.tracing.reference.ray_media import Face, Segment, Stack, index_medium, tolerance_m, walk

Vector = NDArray[np.float64]

# children of node i are 2 i + 1 and 2 i + 2
_REFLECTION, _TRANSMISSION = 1, 2

# what objects without a material are made of, as for the lidar
_DEFAULT_MATERIAL = Lambertian(reflectance=0.5)

# Up to this share of the coordinates involved a hit on the object just left is the face just left, as in the kernel
_UNTOLD = 1e-6

# Kernels count coordinates from anchors on a grid this wide [m]
_GRID_M = 64.0

# roughness of the boundary of a volume, as that of a dielectric body
_SMOOTH = 1e-4

# the smallest cosine of incidence, as in the kernel
_LEAST_COSINE = 1e-4


class Caster(Protocol):
    """What finds the interfaces: a `RayCaster`, a `PartitionedCaster` or a `ReferenceCaster`."""

    def cast_all(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        *,
        time: ArrayLike = 0.0,
        t_max_m: ArrayLike = np.inf,
        worlds: ArrayLike = 0,
        hide: Iterable[str] = (),
    ) -> AllHits:
        """Find every face that each ray crosses."""

    def size_of(self, world: int, object_id: int) -> tuple[float, float]:
        """Radius of an object's mesh [m], and its volume [m3] where it is one."""

    def material_at(self, world: int, object_id: int) -> object | None:
        """Material of an object; None where it was given none."""

    def pose_at(self, world: int, object_id: int, time: float) -> Pose:
        """X_WO of an object when the ray is fired."""


@dataclass(frozen=True, eq=False)
class Node:
    """One segment of a path and the interface at its end."""

    number: int
    """Place in the heap."""
    origin: Vector
    """Where the segment starts, in the world [m]."""
    direction: Vector
    """Where it goes, a unit vector."""
    length_m: float
    """Geometric length [m]."""
    object_id: int
    """Object met, -1 for none: then the segment is drawn to the range limit and returns nothing."""
    face_id: int
    """Triangle of the object's mesh, -1 for none."""
    normal: Vector
    """Unit normal of the face on its outer side; zero where nothing was met."""
    medium: MediumParameters
    """What the segment passes at its end."""
    opl_m: float
    """Optical path from the sensor to the end, sum of n d [m]."""
    tau: float
    """Optical depth to the end, sum of alpha d [1]."""
    z_m: float
    """What the beam has widened with to the end: the sum of d / n, or of n d where eq. 21 is asked for [m]."""
    spread_m: float
    """How far it has spread: z_m, but behind curved mirrors z_eff [m]."""
    gain: float
    """Share of light that the interfaces before this node leave, there and back [1]."""
    intensity: float
    """Return of the interface at the end [1/sr]."""
    mirror_id: int
    """The object that mirrored the path first, -1 for none."""

    @property
    def point(self) -> Vector:
        """Where the segment ends, in the world [m]."""
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
        """What a return from here counts as: mirrored anywhere on the way, else let through, else met directly."""
        if self.number == 0:
            return "surface"
        return "transmission" if self.mirror_id < 0 else "reflection"


@dataclass(frozen=True)
class _Start:
    """A path about to go on: node number, ray, and what the path has gathered."""

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
class _Light:
    """What of the sensor matters at an interface."""

    wavelength_m: float
    half_angle_rad: float
    passes: int

    @property
    def cone2(self) -> float:
        """Square of the tangent of half the half angle: facets tilted less keep light inside the beam."""
        return math.tan(self.half_angle_rad / 2.0) ** 2

    def opened(self, opening: float) -> "_Light":
        """With a beam of so many times the solid angle, if that is more than 1."""
        return replace(self, half_angle_rad=2.0 * math.atan(math.sqrt(max(opening, 1.0) * self.cone2)))


def ray_tree(
    caster: Caster,
    origin: ArrayLike,
    direction: ArrayLike,
    *,
    max_depth: int = 2,
    floor: float = 1e-8,
    round_trip: bool = True,
    atmosphere: AbstractMedium | None = None,
    max_range_m: float = 1000.0,
    wavelength_m: float = 905e-9,
    half_divergence_rad: float | tuple[float, float] = 1.5e-3,
    exit_radius_m: float = 0.01,
    detector_radius_m: float = 0.01,
    detector_offset_m: float = 0.0,
    divergence: Literal["exact", "agx"] = "exact",
    time: float = 0.0,
    world: int = 0,
    hide: Iterable[str] = (),
) -> tuple[Node, ...]:
    """Follow one ray through everything it meets.

    Args:
        caster: The scene with its bodies placed.
        origin: Where the ray starts, in the world [m].
        direction: Where it goes, any length but zero.
        max_depth: How many interfaces it is followed through.
        floor: A branch that carries less than this share of the light as it leaves an interface is not followed.
        round_trip: Count losses on the way there and back; False counts them once.
        atmosphere: The medium around everything; by default vacuum.
        max_range_m: How far each segment looks [m].
        wavelength_m: Of the light in vacuum [m].
        half_divergence_rad: 1/e^2 half angle of the beam [rad], or two.
        exit_radius_m: 1/e^2 radius of the beam where it leaves [m].
        detector_radius_m: Radius of the detector [m].
        detector_offset_m: Of its center from the beam's axis [m].
        divergence: How the captured share is computed, see `optics.captured_fraction`.
        time: When the ray is fired, as a fraction of the interval of `RayCaster.move`.
        world: World it is fired in.
        hide: Bodies it passes through.

    Returns:
        The nodes by their number.
    """
    along, across = half_divergence_rad if isinstance(half_divergence_rad, tuple) else 2 * (half_divergence_rad,)
    light = _Light(wavelength_m, max(along, across), 2 if round_trip else 1)
    outside = (vacuum() if atmosphere is None else atmosphere).at(wavelength_m)
    unit = np.asarray(direction, np.float64)
    anchor = np.rint(np.asarray(origin, np.float64) / _GRID_M) * _GRID_M
    waiting = [_Start(0, np.asarray(origin, np.float64), unit / np.linalg.norm(unit), None)]
    nodes: list[Node] = []
    while waiting:
        start = waiting.pop()

        # To the next interface
        hits = caster.cast_all(start.origin, start.direction, time=time, worlds=world, hide=hide)
        faces = [_face(caster, hits, row, start, anchor, world, light) for row in range(len(hits.ray))]
        segment = walk(outside, [face for face in faces if not _is_left(face, hits, start)], start.stack, max_range_m)
        index = index_medium(outside, segment.before)
        opl = start.opl_m + segment.opl_m
        z = start.z_m + (segment.opl_m if divergence == "agx" else segment.z_m)
        tau, face = start.tau + segment.tau, segment.face

        # What it sends back
        material = None if face is None else _material_of(caster, world, face.object_id)
        cosine = 1.0 if face is None else min(max(abs(face.cosine), _LEAST_COSINE), 1.0)
        per_length = index.refractive_index if divergence == "agx" else 1.0 / index.refractive_index
        pencil = None if start.pencil is None else start.pencil.along(segment.length_m * per_length)
        spread = z if pencil is None else pencil.distance_m
        captured = optics.captured_fraction(
            spread,
            detector_radius_m=detector_radius_m,
            detector_offset_m=detector_offset_m,
            exit_radius_m=exit_radius_m,
            half_divergence_rad=along,
            half_divergence_y_rad=across,
            model=divergence,
        )
        rho = 0.0
        if face is not None and material is not None:
            rho = _return_of(material, cosine, hits.only(face.number), light, outside, segment)
        node = Node(
            number=start.number,
            origin=start.origin,
            direction=start.direction,
            length_m=segment.length_m,
            object_id=-1 if face is None else face.object_id,
            face_id=-1 if face is None else int(hits.face_id[face.number]),
            normal=np.zeros(3) if face is None else face.normal,
            medium=segment.before[-1].medium if segment.before else outside,
            opl_m=opl,
            tau=tau,
            z_m=z,
            spread_m=spread,
            gain=start.gain,
            intensity=start.gain * rho * math.exp(-light.passes * tau) * float(captured),
            mirror_id=start.mirror_id,
        )
        nodes.append(node)

        # And what goes on
        if material is not None and node.depth < max_depth:
            assert face is not None
            left, bent = math.exp(-light.passes * tau), None
            if can_mirror(material):
                bent = _bent(caster, node, hits.only(face.number), pencil, per_length, time)
            interface = (node, segment, index, index_medium(outside, segment.behind), material, cosine)
            opened = light if bent is None else light.opened(bent.opening)
            for flat, child in zip(_children(*interface, light), _children(*interface, opened), strict=True):
                # Opaque surfaces mirror on what flat ones would, as in the kernel
                followed = flat.gain > floor or not isinstance(material, Mirror | TwoLayer)
                if followed and child.gain * left > floor:
                    by_mirror = child.number == 2 * node.number + _REFLECTION
                    onward = bent if by_mirror else None if pencil is None else pencil.turned(child.direction)
                    waiting.append(replace(child, pencil=onward))
    return tuple(sorted(nodes, key=lambda node: node.number))


def _bent(
    caster: Caster, node: Node, hit: AllHits, pencil: Pencil | None, per_length: float, time: float
) -> Pencil | None:
    """What the interface mirrors on, as a pencil; None where no mirror so far curves."""
    curvature = full_tensor(hit.property(CURVATURE)[0])
    if pencil is None and not curvature.any():
        return None
    turn = caster.pose_at(int(hit.world[0]), int(hit.object_id[0]), time).rotation
    before = Pencil.from_point(node.direction, node.z_m) if pencil is None else pencil
    return before.mirrored(node.normal, turn @ curvature @ turn.T, per_length)


def _face(caster: Caster, hits: AllHits, row: int, start: _Start, anchor: Vector, world: int, light: _Light) -> Face:
    """One of the faces on a ray's line."""
    object_id, range_m = int(hits.object_id[row]), float(hits.range_m[row])
    normal = hits.normal[row].astype(np.float64)
    normal /= np.linalg.norm(normal)
    cosine = float(start.direction @ normal)
    radius_m, volume_m3 = caster.size_of(world, object_id)
    limit_m = tolerance_m(float(np.abs(start.origin - anchor).max()), range_m, radius_m, cosine)
    medium = medium_inside(_material_of(caster, world, object_id), light.wavelength_m)
    return Face(range_m, normal, object_id, row, cosine, limit_m, medium, volume_m3)


def _is_left(face: Face, hits: AllHits, start: _Start) -> bool:
    """Whether a face is the surface that a path starts on, or one across an edge of it."""
    left = start.left
    if left is None or face.medium is not None or face.object_id != left.object_id:
        return False
    untold_m = _UNTOLD * (np.abs(start.origin).max() + 1.0) / max(abs(float(start.direction @ left.normal)), 0.01)
    return int(hits.face_id[face.number]) == left.face_id or face.range_m < untold_m


def _material_of(caster: Caster, world: int, object_id: int) -> AbstractMaterial | AbstractMedium:
    """What the face met is made of; a medium where it only bounds one."""
    material = caster.material_at(world, object_id)
    if material is None:
        return _DEFAULT_MATERIAL
    if not isinstance(material, AbstractMaterial | AbstractMedium):
        raise SceneError(f"a material is a {type(material).__name__}; it must be one of sn.materials or sn.media")
    return material


def _return_of(
    material: AbstractMaterial | AbstractMedium,
    cosine: float,
    hits: AllHits,
    light: _Light,
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


def _children(
    node: Node,
    segment: Segment,
    here: MediumParameters,
    there: MediumParameters,
    material: AbstractMaterial | AbstractMedium,
    c: float,
    light: _Light,
) -> list[_Start]:
    """The mirror ray and the transmitted ray of an interface, with the share of light each carries on."""
    mirrored = optics.reflect(node.direction, node.normal)
    before, behind, n1, n2 = segment.before, segment.behind, here.refractive_index, there.refractive_index
    if not isinstance(material, ThinGlass | Dielectric | AbstractMedium):
        return [_onward(node, _REFLECTION, before, mirrored, _mirror_factor(material, c, light, here), light)]

    # What the media before and behind the interface do
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
    children = [_onward(node, _REFLECTION, before, mirrored, back * _in_beam(material, c, light), light)]
    if not total:
        children.append(_onward(node, _TRANSMISSION, behind, onward, on, light, extra_m))
    return children


def _mirror_factor(material: AbstractMaterial, c: float, light: _Light, here: MediumParameters) -> float:
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


def _in_beam(material: AbstractMaterial | AbstractMedium, c: float, light: _Light) -> float:
    """Share of the mirrored light that the surface's roughness leaves inside the beam."""
    roughness = getattr(material, "roughness", _SMOOTH)
    return light.cone2 / (float(optics.squared_alpha(roughness)) * c + light.cone2)


def _onward(
    node: Node, way: int, stack: Stack, direction: Vector, kappa: float, light: _Light, extra_m: float = 0.0
) -> _Start:
    """The path that goes on from a node by reflection or transmission; the interface may add optical path [m]."""
    first_mirror = way == _REFLECTION and node.mirror_id < 0
    return _Start(
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


def _glint(cosine: float, reflectance: float, roughness: float, light: _Light) -> float:
    """What a surface of known reflectance sends straight back, no more than the beam holds [1/sr]."""
    return reflectance * float(optics.mirror_glint(cosine, roughness=roughness, half_angle_rad=light.half_angle_rad))


def _diffuse_reflectance(material: AbstractDiffuse, hits: AllHits, wavelength_m: float) -> float:
    """Reflectance of the diffuse base, from the mesh where it holds it."""
    name = material.property_name
    if name is None:
        return reflectance_at(material.reflectance, wavelength_m)
    value = np.asarray(hits.property(name))[0]
    return float(value if value.ndim == 0 else value[material.property_band])


def _pane_index(material: ThinGlass, light: _Light, around: float) -> float:
    """Index of the glass over that of the medium around; a pane no denser than that does nothing."""
    return max(index_at(material.refractive_index, 0.0, light.wavelength_m)[0] / around, 1.0)


def _pane_depth(material: ThinGlass, light: _Light) -> float:
    return constant_or_at(material.absorption_per_m, light.wavelength_m, "absorption_per_m") * material.thickness_m
