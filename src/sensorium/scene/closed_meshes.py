"""Checks whether a mesh encloses a volume, and gives the same mesh with every face wound outward.

A closed surface has no border: along each edge as many faces run one way as the other. Each connected component of it
has a signed volume V = 1/6 sum v0 . (v1 x v2), positive if faces are wound outward. The winding number of a point is
the sum of the signs of the components around it; a component wound inward inside another that is wound outward is a
cavity. The winding number must not be negative anywhere: a component that makes it so is flipped, with all components
inside it.
"""

from itertools import pairwise
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sensorium.scene.closed_kernel import find_stand_ins, match_edges, measure, number
from sensorium.scene.mesh import Mesh

# Vertices closer than this share of the mesh's size, or than two units of float32's last place, are one
_SAME_SHARE, _FLOAT32 = 1e-6, 2.4e-7

# A component whose volume is less than this share of its area to the power of 3/2 is flat
_FLAT = 1e-9


class Closure(NamedTuple):
    """Properties of a mesh as the boundary of a volume.

    Attributes:
        open_edges: Edges that border one face, or an odd number.
        mixed_edges: Edges along which faces run the same way, so that one of them is wound inward.
        flat: Components that enclose no volume.
        turned: Faces that were wound inward and are turned in `outward`.
        outward: The mesh with all faces wound outward: the mesh itself if no face had to be flipped.
        thinness: Mean thickness 2 V / A over the length sqrt(A / 2) [1]; 0 unless the mesh is closed.
    """

    open_edges: int
    mixed_edges: int
    flat: int
    turned: int
    outward: Mesh
    thinness: float

    @property
    def closed(self) -> bool:
        """Whether the mesh encloses a volume."""
        return not (self.open_edges or self.mixed_edges or self.flat)


_known: "WeakKeyDictionary[Mesh, Closure]" = WeakKeyDictionary()


def closure(mesh: Mesh) -> Closure:
    """The volume that a mesh encloses; computed once per mesh."""
    if mesh not in _known:
        _known[mesh] = _closure(mesh)
    return _known[mesh]


def _closure(mesh: Mesh) -> Closure:
    # Vertices as they are numbered; if that leaves a border, coincident ones count as one, as in STL files
    faces = mesh.faces
    parent, border = np.empty(len(faces), np.int32), np.zeros(len(mesh.vertices), np.bool_)
    loose, mixed = match_edges(faces, parent, border)
    if loose:
        faces = _stand_ins(mesh, np.flatnonzero(border))[faces]
        loose, mixed = match_edges(faces, parent, border)
    if loose or mixed:
        return Closure(loose, mixed, 0, 0, mesh, 0.0)

    # Components, their sizes and windings; degenerate faces enclose nothing and have no effect
    component = np.empty(len(faces), np.int32)
    count = number(parent, component)
    area, volume = np.zeros(count), np.zeros(count)
    measure(mesh.vertices, mesh.center, mesh.faces, component, area, volume)
    real = area > 0.0
    flat = int(np.sum(real & (np.abs(volume) <= _FLAT * area**1.5))) if real.any() else count
    if flat:
        return Closure(0, 0, flat, 0, mesh, 0.0)
    turned = np.zeros(count, np.bool_)
    if (volume[real] < 0.0).any():
        sign = np.where(real & (volume < 0.0), -1, 1)
        turned = _inward(mesh.vertices[mesh.faces], component, sign, np.abs(volume))
    thinness = 2.0 * np.abs(volume).sum() / area.sum() / np.sqrt(0.5 * area.sum())
    outward = mesh
    if turned.any():
        wound = np.where(turned[component][:, None], mesh.faces[:, [0, 2, 1]], mesh.faces)
        outward = Mesh(
            mesh.vertices,
            wound,
            face_properties=mesh.face_properties,
            vertex_properties=mesh.vertex_properties,
            texture=mesh.texture,
        )
    return Closure(0, 0, 0, int(turned[component].sum()), outward, float(thinness))


def _stand_ins(mesh: Mesh, chosen: NDArray[np.intp]) -> NDArray[np.int32]:
    """For each vertex the representative of all coincident ones; only the chosen are considered."""
    size_m = float(np.linalg.norm(mesh.bounds[1] - mesh.bounds[0]))
    near_m = max(_SAME_SHARE * size_m, _FLOAT32 * float(np.abs(mesh.bounds).max()), float(np.finfo(np.float64).tiny))
    stands = np.arange(len(mesh.vertices), dtype=np.int32)
    find_stand_ins(mesh.vertices, mesh.bounds[0], near_m, chosen, stands)
    return stands


def _inward(
    corners: NDArray[np.float64],
    component: NDArray[np.int32],
    sign: NDArray[Any],
    volume: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Which components have to be turned so that no winding number is negative.

    Args:
        corners: Of the faces [m], shape (faces, 3, 3).
        component: Of each face.
        sign: Of each component, 1 for outward and -1 for inward.
        volume: That each encloses [m^3].
    """
    turned = sign < 0
    if len(sign) == 1:
        return turned
    turned[:] = False
    by_component = np.argsort(component, kind="stable")
    ends = np.searchsorted(component[by_component], np.arange(len(sign) + 1))
    members = [by_component[a:b] for a, b in pairwise(ends.tolist())]
    low = np.array([corners[of].min(axis=(0, 1)) for of in members])
    high = np.array([corners[of].max(axis=(0, 1)) for of in members])
    point = np.array([corners[of[0]].mean(axis=0) for of in members])

    def contains(outer: int, inner: int) -> bool:
        if not ((low[outer] <= low[inner]).all() and (high[outer] >= high[inner]).all()):
            return False
        return abs(winding_number(corners[members[outer]], point[inner])) > 0.5

    # From the largest to the smallest: a component is inside larger ones only
    order = np.argsort(-volume, kind="stable").tolist()
    wound = sign.copy()
    for rank, one in enumerate(order):
        if wound[one] > 0:
            continue
        around = sum(int(wound[outer]) for outer in order[:rank] if contains(outer, one))
        if around + wound[one] < 0:
            for other in [one, *(inner for inner in order[rank + 1 :] if contains(one, inner))]:
                wound[other], turned[other] = -wound[other], ~turned[other]
    return turned


def winding_number(corners: NDArray[np.float64], point: NDArray[np.float64]) -> float:
    """Winding number of closed triangles about a point: the sum of their solid angles over 4 pi.

    A triangle with corners a, b, c from the point fills 2 atan2(a . (b x c), abc + (a . b) c + (b . c) a + (c . a) b).
    Ref: A. van Oosterom, J. Strackee, "The solid angle of a plane triangle", IEEE Trans. Biomed. Eng. 30 (1983).

    Args:
        corners: Of the triangles, shape (n, 3, 3).
        point: Shape (3,), on none of them.
    """
    a, b, c = np.moveaxis(corners - point, 1, 0)
    la, lb, lc = (np.linalg.norm(each, axis=1) for each in (a, b, c))
    over = np.einsum("ij,ij->i", a, np.cross(b, c))
    under = la * lb * lc + np.einsum("ij,ij->i", a, b) * lc
    under += np.einsum("ij,ij->i", b, c) * la + np.einsum("ij,ij->i", c, a) * lb
    return float(np.arctan2(over, under).sum() / (2.0 * np.pi))
