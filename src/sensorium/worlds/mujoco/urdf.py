"""URDF files as MuJoCo models: packages found, visual meshes and fixed links kept, no file opened by the engine.

MuJoCo itself drops the folders of mesh files, visual meshes and fixed links, and reads neither COLLADA nor text STL. So
this module finds and reads the meshes and passes them to it by name.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from sensorium.core.errors import SceneError, SpecError
from sensorium.scene.formats.dae_format import read_dae
from sensorium.scene.mesh import Mesh

# Our compiler settings where they differ from MuJoCo's; a file may override them in <mujoco><compiler/>
_COMPILER = {"fusestatic": "false", "discardvisual": "false", "balanceinertia": "true"}

# Least mass [kg] and inertia [kg m^2] of a link: without any, MuJoCo refuses a link that moves
_LEAST_MASS_KG, _LEAST_INERTIA = 1e-6, 1e-9

# Group of collision shapes on links that have visual ones: by custom not shown
_HIDDEN_GROUP = 3

_PACKAGE = re.compile(r"(?:package|model)://+([^/]+)/(.+)")
_MOST_STL_FACES = 200_000  # that the engine takes of one STL file
_MOST_BYTES = 2**29


@dataclass(frozen=True)
class Urdf:
    """A URDF file with the paths of its meshes."""

    title: str
    robot: ElementTree.Element
    home: Path
    """Its folder."""
    root: Path
    """Folder that meshes must lie in, except those of given packages."""
    packages: Mapping[str, Path]

    def files(self) -> list[Path]:
        """Meshes that it refers to."""
        return list(dict.fromkeys(self._file(mesh) for mesh in self._meshes()))

    def compiled(self, mujoco: Any) -> Any:
        """The model."""
        assets: dict[str, bytes] = {}
        names: dict[tuple[Path, str], str] = {}
        for mesh in self._meshes():
            path = self._file(mesh)
            key = (path, mesh.get("scale", ""))
            if key not in names:
                content, suffix = _content(path)
                names[key] = f"{len(names)}_{path.stem}{suffix}"
                assets[names[key]] = content
            mesh.set("filename", names[key])
        spec = mujoco.MjSpec.from_string(ElementTree.tostring(self._prepared(), encoding="unicode"), assets=assets)
        for asset in spec.meshes:
            asset.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL  # flat ones have no volume
        spec.compiler.boundmass, spec.compiler.boundinertia = _LEAST_MASS_KG, _LEAST_INERTIA
        _hide_collision_shapes(spec)
        return spec.compile()

    def _meshes(self) -> Iterable[ElementTree.Element]:
        return (mesh for link in self.robot.findall("link") for mesh in link.iter("mesh"))

    def _prepared(self) -> ElementTree.Element:
        """The robot without elements that the engine does not use, and with our compiler settings."""
        for tag in ("gazebo", "transmission"):
            for element in self.robot.findall(tag):
                self.robot.remove(element)
        for material in self.robot.iter("material"):
            for texture in material.findall("texture"):
                material.remove(texture)
        for inertia in self.robot.iter("inertia"):
            _make_positive(inertia)
        extension = self.robot.find("mujoco")
        if extension is None:
            extension = ElementTree.SubElement(self.robot, "mujoco")
        compiler = extension.find("compiler")
        if compiler is None:
            compiler = ElementTree.SubElement(extension, "compiler")
        for key, value in _COMPILER.items():
            compiler.attrib.setdefault(key, value)
        for key in ("meshdir", "assetdir"):
            compiler.attrib.pop(key, None)
        compiler.set("strippath", "false")
        return self.robot

    def _file(self, mesh: ElementTree.Element) -> Path:
        """The file of a mesh; it exists in a permitted folder."""
        name = mesh.get("filename", "").replace("\\", "/")
        begins = f"{self.title}: filename of mesh is {mesh.get('filename')!r}"
        try:
            candidates = [(target.resolve(), home) for target, home in self._candidates(name)]
        except (OSError, ValueError):
            raise SpecError(f"{begins}; that is no file name") from None
        inside = [target for target, home in candidates if target.is_relative_to(home.resolve())]
        for target in inside:
            if target.is_file():
                return target
        if len(inside) < len(candidates):
            raise SpecError(
                f"{begins}, which leaves the folder {str(self.root)!r}; a model's files must lie in its folder, in the "
                "one given as folder=, or in those of packages="
            )
        raise SpecError(
            f"{begins}, which is not found; its package must be one of packages=, or lie above {self.title} within "
            f"the folder {str(self.root)!r}, which folder= sets"
        )

    def _candidates(self, name: str) -> Iterable[tuple[Path, Path]]:
        """Candidate paths of a mesh, in the order of search, with the folder that each must lie in."""
        match = _PACKAGE.fullmatch(name)
        if match is None:
            plain = name.removeprefix("file://")
            compiler = self.robot.find("mujoco/compiler")
            prefix = "" if compiler is None else compiler.get("meshdir", compiler.get("assetdir", ""))
            yield self.home / plain, self.root
            yield self.home / prefix / plain, self.root
            if (self.home / plain).resolve().is_relative_to(self.root):
                yield self.home / prefix / Path(plain).name, self.root  # as the engine finds it
            return
        package, rest = match[1], match[2]
        if package in self.packages:
            yield self.packages[package] / rest, self.packages[package]
            return
        for folder in (self.home, *self.home.parents):
            if not folder.is_relative_to(self.root):
                break
            if folder.name == package or _package_name(folder) == package:
                yield folder / rest, self.root
            yield folder / package / rest, self.root


def is_urdf(xml: bytes) -> bool:
    """Whether a checked XML text is a URDF robot."""
    return ElementTree.fromstring(xml).tag == "robot"


def checked_packages(packages: Mapping[str, Any] | None) -> dict[str, Path]:
    """Folders of packages by name, each of which exists."""
    if packages is not None and not isinstance(packages, Mapping):
        raise SpecError(f"packages is a {type(packages).__name__}; it must be folders by names of packages")
    for name, given in (packages or {}).items():
        if not isinstance(given, str | os.PathLike):
            raise SpecError(f"packages[{name!r}] is {given!r}; it must be the path of a folder")
    found = {name: Path(folder) for name, folder in (packages or {}).items()}
    for name, folder in found.items():
        if not folder.is_dir():
            raise SpecError(f"packages[{name!r}] is {str(folder)!r}; there is no such folder")
    return found


def _make_positive(inertia: ElementTree.Element) -> None:
    """Raise principal moments of inertia that are not positive, which the engine refuses, to the least."""
    keys = (("ixx", "ixy", "ixz"), ("ixy", "iyy", "iyz"), ("ixz", "iyz", "izz"))
    try:
        tensor = np.array([[float(inertia.get(key, 0.0)) for key in row] for row in keys])
        moments, axes = np.linalg.eigh(tensor)
    except (ValueError, np.linalg.LinAlgError):
        return  # the engine reports the error
    if moments[0] < _LEAST_INERTIA:
        tensor = axes @ np.diag(np.maximum(moments, _LEAST_INERTIA)) @ axes.T
        for i, row in enumerate(keys):
            for j, key in enumerate(row):
                inertia.set(key, repr(float(tensor[i, j])))


def _package_name(folder: Path) -> str | None:
    """What the package.xml of a folder calls the package."""
    path = folder / "package.xml"
    if not path.is_file():
        return None
    with path.open("rb") as file:
        match = re.search(rb"<name>\s*([^<\s]+)\s*</name>", file.read(1 << 16))
    return match[1].decode("utf-8", "replace") if match else None


def _content(path: Path) -> tuple[bytes, str]:
    """A mesh as the engine reads it, and the suffix of its format."""
    suffix, size = path.suffix.lower(), path.stat().st_size
    if size > _MOST_BYTES:
        raise SpecError(f"{path.name} has {size} bytes; a mesh may have {_MOST_BYTES}")
    data = path.read_bytes()
    if suffix == ".dae":
        return _obj(read_dae(data, path.name)), ".obj"
    if suffix == ".stl":
        faces = int.from_bytes(data[80:84], "little") if len(data) >= 84 else 0
        if 0 < faces <= _MOST_STL_FACES and len(data) == 84 + 50 * faces:
            return data, ".stl"
    try:
        return _obj(Mesh.load(path)), ".obj"
    except SceneError as error:
        raise SpecError(str(error)) from None


def _obj(mesh: Mesh) -> bytes:
    """A mesh as OBJ."""
    rows = "".join(f"v {x!r} {y!r} {z!r}\n" for x, y, z in np.asarray(mesh.vertices, np.float64).tolist())
    return (rows + "".join(f"f {a} {b} {c}\n" for a, b, c in (np.asarray(mesh.faces) + 1).tolist())).encode()


def _hide_collision_shapes(spec: Any) -> None:
    """Put the collision shapes of links that have visual ones into a group that is not shown."""
    for body in spec.bodies:
        collides = [bool(geom.contype or geom.conaffinity) for geom in body.geoms]
        if not all(collides):
            for geom, is_collision in zip(body.geoms, collides, strict=True):
                if is_collision:
                    geom.group = _HIDDEN_GROUP
