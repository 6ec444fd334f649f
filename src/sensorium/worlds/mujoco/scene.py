"""Scenes from the geoms of MuJoCo models."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError, SensoriumError, SpecError
from sensorium.core.frames import Pose
from sensorium.physics.materials import AbstractMaterial, Lambertian
from sensorium.physics.materials import load as load_material
from sensorium.scene.mesh import Mesh
from sensorium.scene.scene import Scene
from sensorium.worlds.mujoco.geoms import geom_mesh

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
