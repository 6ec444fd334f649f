"""One ray's tree in plain float64: the reference of the lidar kernel, and the source of drawings of a ray's tree.

Node 0 is the first interface a ray meets. Node i has its reflection at 2 i + 1 and its transmission at 2 i + 2. Along a
path over segments of geometric length d in media of index n and extinction alpha three sums are kept apart,

    OPL = sum n d          tau = sum alpha d          z = sum d / n

and the return of a surface is, with the transfer factors kappa of the interfaces before it,

    I = (prod kappa)^m rho exp(-m tau) A(z)

m = 2 for light that returns along its path, rho = f cos(theta) [1/sr], A the captured share of the beam. Behind curved
mirrors z_eff of `sensorium.physics.optics.surfaces.mirror_spread` replaces z; light that passes a curved boundary
spreads as through a flat one. Source: AGX Sensor paper, sections 2.1 to 2.4, with the corrections named in
`sensorium.physics.optics`. Returns from the air are random and not included. Media are kept as a stack by the rules of
`ray_media`, and a boundary that changes no index is no interface. This is slow, one ray at a time: use a `Lidar` for
more than a few.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SceneError
from sensorium.core.frames import Pose
from sensorium.physics import optics
from sensorium.physics.materials import (
    AbstractMaterial,
    Lambertian,
    Mirror,
    TwoLayer,
)
from sensorium.physics.media import AbstractMedium, vacuum
from sensorium.scene.curvature import can_mirror
from sensorium.scene.mesh import CURVATURE, full_tensor
from sensorium.scene.volumes import medium_inside
from sensorium.tracing.rays import AllHits
from sensorium.tracing.reference.interfaces import REFLECTION, Light, Node, Start, children, return_of
from sensorium.tracing.reference.pencil import Pencil
from sensorium.tracing.reference.ray_media import Face, index_medium, tolerance_m, walk

Vector = NDArray[np.float64]

# material of objects without one, as for the lidar
_DEFAULT_MATERIAL = Lambertian(reflectance=0.5)

# Up to this share of the coordinates involved a hit on the object just left is the face just left, as in the kernel
_UNTOLD = 1e-6

# Kernels count coordinates from anchors on a grid this wide [m]
_GRID_M = 64.0

# the smallest cosine of incidence, as in the kernel
_LEAST_COSINE = 1e-4


class Caster(Protocol):
    """A caster that finds the interfaces: a `RayCaster`, a `PartitionedCaster` or that of the tests."""

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
        """Material of an object; None if it has none."""

    def pose_at(self, world: int, object_id: int, time: float) -> Pose:
        """X_WO of an object when the ray is fired."""


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
    """Follow one ray through all its interfaces.

    Args:
        caster: The scene with its bodies placed.
        origin: Start of the ray, in the world [m].
        direction: Direction, any length but zero.
        max_depth: Number of interfaces that it is followed through.
        floor: A branch that carries less than this share of the light as it leaves an interface is not followed.
        round_trip: Count losses on the way there and back; False counts them once.
        atmosphere: The medium around everything; by default vacuum.
        max_range_m: Length of each segment [m].
        wavelength_m: Of the light in vacuum [m].
        half_divergence_rad: 1/e^2 half angle of the beam [rad], or two.
        exit_radius_m: 1/e^2 radius of the beam where it leaves [m].
        detector_radius_m: Radius of the detector [m].
        detector_offset_m: Of its center from the beam's axis [m].
        divergence: Model of the captured share, see `optics.captured_fraction`.
        time: Firing time of the ray, as a fraction of the interval of `RayCaster.move`.
        world: World of the ray.
        hide: Bodies it passes through.

    Returns:
        The nodes by their number.
    """
    along, across = half_divergence_rad if isinstance(half_divergence_rad, tuple) else 2 * (half_divergence_rad,)
    light = Light(wavelength_m, max(along, across), 2 if round_trip else 1)
    outside = (vacuum() if atmosphere is None else atmosphere).at(wavelength_m)
    unit = np.asarray(direction, np.float64)
    anchor = np.rint(np.asarray(origin, np.float64) / _GRID_M) * _GRID_M
    waiting = [Start(0, np.asarray(origin, np.float64), unit / np.linalg.norm(unit), None)]
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

        # Its return
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
            rho = return_of(material, cosine, hits.only(face.number), light, outside, segment)
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

        # And its children
        if material is not None and node.depth < max_depth:
            assert face is not None
            left, bent = math.exp(-light.passes * tau), None
            if can_mirror(material):
                bent = _bent(caster, node, hits.only(face.number), pencil, per_length, time)
            interface = (node, segment, index, index_medium(outside, segment.behind), material, cosine)
            opened = light if bent is None else light.opened(bent.opening)
            for flat, child in zip(children(*interface, light), children(*interface, opened), strict=True):
                # Opaque surfaces mirror on what flat ones would, as in the kernel
                followed = flat.gain > floor or not isinstance(material, Mirror | TwoLayer)
                if followed and child.gain * left > floor:
                    by_mirror = child.number == 2 * node.number + REFLECTION
                    onward = bent if by_mirror else None if pencil is None else pencil.turned(child.direction)
                    waiting.append(replace(child, pencil=onward))
    return tuple(sorted(nodes, key=lambda node: node.number))


def _bent(
    caster: Caster, node: Node, hit: AllHits, pencil: Pencil | None, per_length: float, time: float
) -> Pencil | None:
    """Mirrored light of the interface, as a pencil; None if no mirror so far is curved."""
    curvature = full_tensor(hit.property(CURVATURE)[0])
    if pencil is None and not curvature.any():
        return None
    turn = caster.pose_at(int(hit.world[0]), int(hit.object_id[0]), time).rotation
    before = Pencil.from_point(node.direction, node.z_m) if pencil is None else pencil
    return before.mirrored(node.normal, turn @ curvature @ turn.T, per_length)


def _face(
    caster: Caster, hits: AllHits, row: int, start: Start, anchor: Vector, world: int, light: Light
) -> Face:
    """One of the faces on a ray's line."""
    object_id, range_m = int(hits.object_id[row]), float(hits.range_m[row])
    normal = hits.normal[row].astype(np.float64)
    normal /= np.linalg.norm(normal)
    cosine = float(start.direction @ normal)
    radius_m, volume_m3 = caster.size_of(world, object_id)
    limit_m = tolerance_m(float(np.abs(start.origin - anchor).max()), range_m, radius_m, cosine)
    medium = medium_inside(_material_of(caster, world, object_id), light.wavelength_m)
    return Face(range_m, normal, object_id, row, cosine, limit_m, medium, volume_m3)


def _is_left(face: Face, hits: AllHits, start: Start) -> bool:
    """Whether a face is the surface that a path starts on, or one across an edge of it."""
    left = start.left
    if left is None or face.medium is not None or face.object_id != left.object_id:
        return False
    untold_m = _UNTOLD * (np.abs(start.origin).max() + 1.0) / max(abs(float(start.direction @ left.normal)), 0.01)
    return int(hits.face_id[face.number]) == left.face_id or face.range_m < untold_m


def _material_of(caster: Caster, world: int, object_id: int) -> AbstractMaterial | AbstractMedium:
    """Material of the hit face; a medium if the face only bounds one."""
    material = caster.material_at(world, object_id)
    if material is None:
        return _DEFAULT_MATERIAL
    if not isinstance(material, AbstractMaterial | AbstractMedium):
        raise SceneError(f"a material is a {type(material).__name__}; it must be one of sn.materials or sn.media")
    return material
