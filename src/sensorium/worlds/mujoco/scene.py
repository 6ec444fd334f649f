"""Scenes from the geoms of MuJoCo models."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError, SensoriumError, SpecError
from sensorium.core.frames import Pose
from sensorium.physics.materials import AbstractMaterial, Lambertian
from sensorium.physics.materials import load as load_material
from sensorium.scene import shapes
from sensorium.scene.mesh import ONE_SIDED, Mesh
from sensorium.scene.scene import Scene

SHOWN_GROUPS = (0, 1, 2)
"""Groups of geoms that MuJoCo's viewer shows; by convention the others hold collision shapes only."""

# MuJoCo's color of a geom without one
_NO_COLOR = (0.5, 0.5, 0.5, 1.0)


class Mount(TypedDict):
    """Mount of a sensor: `env.attach(sensor, **mount)`."""

    body: str | None
    """Body of the mount; None is the world."""
    pose: Pose
    """X_BS, pose on the body."""


def model_scene(
    model: Any,
    body_names: Sequence[str],
    *,
    groups: Collection[int] = SHOWN_GROUPS,
    sag_m: float = 1e-3,
    infinite_m: float = 1024.0,
    materials: Mapping[str, AbstractMaterial | str] | None = None,
    plane_backs: bool = True,
) -> Scene:
    """A scene of all geoms of a model, each on its body.

    Objects carry the geom's name (or `geom7`, after its number), are labeled by the geom's name or else its body's, and
    have the vertex property "color", RGBA in [0, 1]. As in MuJoCo, geoms with alpha 0 are absent, a color other than
    the default overrides that of the material, and textures, skins and flexes are left out. Unlike in MuJoCo, planes
    are visible from below too, unless `plane_backs` is off.

    Args:
        model: `mujoco.MjModel`.
        body_names: Names of its bodies, without the world.
        groups: Groups of geoms to take, 0 to 5.
        sag_m: How deep facets of round geoms may lie inside the true surface [m]; see `geom_mesh`.
        infinite_m: How far a plane without size reaches to each side [m].
        materials: Surfaces by name of a geom or of a MuJoCo material; the geom's takes precedence. All others are matt
            and reflect the relative luminance of their color.
        plane_backs: Whether planes are visible from below too; False matches `mj_ray`, which passes them from there.
    """
    for name, value in (("sag_m", sag_m), ("infinite_m", infinite_m)):
        if not (math.isfinite(value) and value > 0):
            raise SpecError(f"{name} is {value}; it must be finite and positive")
    if isinstance(groups, str) or not all(group in range(6) for group in groups):
        raise SpecError(f"groups is {groups!r}; it must hold numbers from 0 to 5")
    if not isinstance(plane_backs, bool | np.bool_):
        raise SpecError(f"plane_backs is {plane_backs!r}; it must be True or False")
    given = {name: load_material(each) if isinstance(each, str) else each for name, each in (materials or {}).items()}
    _check_materials(given, model)
    scene = Scene()
    meshes: dict[tuple[Any, ...], Mesh] = {}
    matt: dict[float, Lambertian] = {}
    names = names_of("geom", [model.geom(i).name for i in range(model.ngeom)])
    for i, name in enumerate(names):
        rgba = _color(model, i)
        if int(model.geom_group[i]) not in groups or rgba[3] == 0.0:
            continue
        body = int(model.geom_bodyid[i])
        try:
            # Geoms alike in shape and color share one mesh
            key = (int(model.geom_type[i]), int(model.geom_dataid[i]), *model.geom_size[i].tolist(), *rgba)
            if key not in meshes:
                made = geom_mesh(model, i, sag_m=sag_m, infinite_m=infinite_m, plane_backs=plane_backs)
                meshes[key] = _colored(made, rgba)
            pose = Pose(model.geom_pos[i], model.geom_quat[i])
        except SensoriumError as error:
            raise SceneError(f"geom {name!r} of the model: {error}") from error
        reflectance = luminance(rgba)
        material = given.get(name) or given.get(_material_name(model, i))
        scene.add(
            meshes[key],
            pose=pose,
            body=body_names[body - 1] if body else None,
            material=material or matt.setdefault(reflectance, Lambertian(reflectance=reflectance)),
            label=model.geom(i).name or ("world" if body == 0 else body_names[body - 1]),
            name=name,
        )
    return scene


def site_mount(model: Any, body_names: Sequence[str], name: str) -> Mount:
    """Body and pose X_BS of a site, for a sensor."""
    sites = [model.site(i).name for i in range(model.nsite)]
    if not name or name not in sites:
        raise SpecError(f"the model has no site {name!r}; it has {', '.join(filter(None, sites)) or 'none'}")
    site = sites.index(name)
    body = int(model.site_bodyid[site])
    pose = Pose(model.site_pos[site], model.site_quat[site])
    return {"body": body_names[body - 1] if body else None, "pose": pose}


def names_of(kind: str, given: Sequence[str]) -> tuple[str, ...]:
    """Names of all bodies, joints or geoms; those without one are called after their number."""
    names = list(given)
    for i, name in enumerate(given):
        while not names[i] or (not name and names[i] in given):
            names[i] = f"{names[i]}_" if names[i] else f"{kind}{i}"
    return tuple(names)


def luminance(rgba: Sequence[float]) -> float:
    """Relative luminance [1] of a color on a screen, from its first three values, in [0, 1] (IEC 61966-2-1, sRGB).

    Y = 0.2126 R + 0.7152 G + 0.0722 B, each made linear: c / 12.92 up to 0.04045, ((c + 0.055) / 1.055)^2.4 above.
    """
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgba[:3])
    return min(1.0, 0.2126 * red + 0.7152 * green + 0.0722 * blue)


def _color(model: Any, geom: int) -> tuple[float, ...]:
    """RGBA of a geom: its own, or where it has none that of its material."""
    own = tuple(float(c) for c in model.geom_rgba[geom])
    material = int(model.geom_matid[geom])
    rgba = own if material < 0 or own != _NO_COLOR else tuple(float(c) for c in model.mat_rgba[material])
    return tuple(min(1.0, max(0.0, c)) for c in rgba)


def _colored(mesh: Mesh, rgba: tuple[float, ...]) -> Mesh:
    color: NDArray[np.float64] = np.tile(np.array(rgba), (len(mesh.vertices), 1))
    return Mesh(mesh.vertices, mesh.faces, face_properties=mesh.face_properties, vertex_properties={"color": color})


def _material_name(model: Any, geom: int) -> str:
    material = int(model.geom_matid[geom])
    return "" if material < 0 else str(model.mat(material).name)


def _check_materials(given: Mapping[str, AbstractMaterial], model: Any) -> None:
    """Each name must be one that the model knows, and each value a material."""
    known = set(names_of("geom", [model.geom(i).name for i in range(model.ngeom)]))
    known |= {model.mat(i).name for i in range(model.nmat)}
    for name, material in given.items():
        if name not in known:
            raise SpecError(f"materials names {name!r}; the model has no such geom and no such material")
        if not isinstance(material, AbstractMaterial):
            raise SpecError(f"materials[{name!r}] is {material!r}; it must be a material of sn.materials")


# Facets are never finer than this share of a radius: 327,680 faces of a sphere, half a million of a capsule
FINEST = 2e-5

# Planes are cut into squares, since a float32 hit is off by some 1e-7 of its triangle's size
_SQUARE_M = 32.0
_MOST_SQUARES = 64

Triangles = tuple[NDArray[np.float64], NDArray[np.int64]]


def geom_mesh(model: Any, geom: int, *, sag_m: float, infinite_m: float, plane_backs: bool) -> Mesh:
    """Triangles of one geom.

    Planes, boxes, meshes and height fields are exact. Facets of spheres, capsules, ellipsoids and cylinders have their
    corners on the true surface and lie inside of it by at most max(sag_m, 2e-5 r), r the largest radius. A signed
    distance field is the mesh that MuJoCo made of it.

    Args:
        model: `mujoco.MjModel`.
        geom: Number of the geom.
        sag_m: How deep a facet may lie inside the true surface [m].
        infinite_m: How far a plane without size reaches to each side [m].
        plane_backs: Whether planes are seen from below too.
    """
    import mujoco

    kind = mujoco.mjtGeom(int(model.geom_type[geom]))
    a, b, c = (float(size) for size in model.geom_size[geom])
    data = int(model.geom_dataid[geom])
    kinds = mujoco.mjtGeom
    makers: dict[Any, Callable[[], Mesh]] = {
        kinds.mjGEOM_PLANE: lambda: _plane(a or infinite_m, b or infinite_m, plane_backs),
        kinds.mjGEOM_HFIELD: lambda: _heightfield(model, data),
        kinds.mjGEOM_SPHERE: lambda: shapes.sphere(a, _subdivisions(a, sag_m)),
        kinds.mjGEOM_CAPSULE: lambda: shapes.capsule(a, 2 * b, _segments(a, sag_m, ends=True)),
        kinds.mjGEOM_ELLIPSOID: lambda: shapes.ellipsoid(a, b, c, _subdivisions(max(a, b, c), sag_m)),
        kinds.mjGEOM_CYLINDER: lambda: shapes.cylinder(a, 2 * b, _segments(a, sag_m, ends=False)),
        kinds.mjGEOM_BOX: lambda: shapes.box(2 * a, 2 * b, 2 * c),
        kinds.mjGEOM_MESH: lambda: _mesh(model, data),
        kinds.mjGEOM_SDF: lambda: _mesh(model, data),
    }
    if kind not in makers:
        raise SceneError(f"its type is {kind.name}; a scene knows planes, height fields, meshes and solids")
    return makers[kind]()


def _subdivisions(radius_m: float, sag_m: float) -> int:
    """Quarterings of an icosahedron's faces whose sag, 0.292 r / 4^n, is small enough."""
    return max(0, math.ceil(math.log(0.292 / _share(radius_m, sag_m), 4)))


def _segments(radius_m: float, sag_m: float, *, ends: bool) -> int:
    """Facets around: the sag of a cylinder is r (1 - cos(pi / n)), with round ends r sin^2(pi / n)."""
    share = _share(radius_m, sag_m)
    turn = math.asin(math.sqrt(share)) if ends else math.acos(1.0 - share)
    return max(8, math.ceil(math.pi / turn))


def _share(radius_m: float, sag_m: float) -> float:
    """Allowed sag as a share of the radius."""
    return min(0.292, max(FINEST, sag_m / radius_m))


def _plane(half_x: float, half_y: float, backs: bool) -> Mesh:
    """Rectangle in z = 0 with normal +z, in squares of some 32 m, 64 x 64 at the most."""
    nx, ny = (min(_MOST_SQUARES, math.ceil(2 * half / _SQUARE_M)) + 1 for half in (half_x, half_y))
    flat = shapes.heightfield(np.zeros((nx, ny)), 2 * half_x, 2 * half_y)
    if backs:
        return flat
    return Mesh(flat.vertices, flat.faces, face_properties={ONE_SIDED: np.ones(len(flat.faces), np.bool_)})


def _mesh(model: Any, mesh: int) -> Mesh:
    """A mesh asset, moved by MuJoCo to its center and axes of inertia; the geom's pose moves it back."""
    if mesh < 0:
        raise SceneError("it has no mesh")
    first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    face, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    return Mesh(model.mesh_vert[first : first + count], model.mesh_face[face : face + faces])


def _heightfield(model: Any, field: int) -> Mesh:
    """A height field: the surface, walls down from its rim, and a floor."""
    half_x, half_y, scale, depth = (float(size) for size in model.hfield_size[field])
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    first = int(model.hfield_adr[field])
    data = np.asarray(model.hfield_data[first : first + rows * columns], np.float64).reshape(rows, columns)
    surface = shapes.heightfield(scale * data.T, 2 * half_x, 2 * half_y)

    # The rim anticlockwise seen from above; vertex number is column * rows + row
    x, y = np.arange(columns), np.arange(rows)
    rim = np.concatenate([x[:-1] * rows, x[-1] * rows + y[:-1], x[:0:-1] * rows + rows - 1, y[:0:-1]])
    after = np.roll(rim, -1)
    count = len(surface.vertices)
    low = count + np.arange(len(rim))
    low_after = np.roll(low, -1)
    floor = np.concatenate([surface.vertices[rim, :2], np.full((len(rim), 1), -depth)], axis=1)
    walls = [np.stack([rim, low, low_after], axis=-1), np.stack([rim, low_after, after], axis=-1)]
    middle = np.full_like(low, count + len(rim))
    bottom = np.stack([middle, low_after, low], axis=-1)
    return Mesh(
        np.concatenate([surface.vertices, floor, [[0.0, 0.0, -depth]]]),
        np.concatenate([surface.faces, *walls, bottom]),
    )
