"""Loads every model in a folder: meshes, glTF, MJCF and URDF, and prints successes and errors.

    python -m sensorium.qa.validation.models DIR [--only PATTERN] [--package NAME=FOLDER ...]

Third-party models cannot be shipped with the library; this checks a collection of your own. A mesh counts as loaded
with its paint; missing images are listed with it. MJCF files that belong to another file, and so cannot be loaded
alone, are listed with MuJoCo's message: `--only 'scene*.xml'` leaves them out.
"""

import argparse
import fnmatch
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sensorium.core.errors import SensoriumError, in_one_line
from sensorium.scene.formats.loading import suffixes
from sensorium.scene.mesh import Mesh

_GLTF = (".glb", ".gltf")
_HEAD_BYTES = 65536


@dataclass(frozen=True)
class Tried:
    """Result of loading a model.

    Attributes:
        path: Its file.
        kind: glTF, mesh, MJCF or URDF.
        loads: Whether it does.
        said: Its content, or the error; one line.
    """

    path: Path
    kind: str
    loads: bool
    said: str


def models_in(folder: Path, pattern: str = "*") -> Iterator[tuple[Path, str]]:
    """Files that hold models, in the order of their names, with their kinds."""
    for path in sorted(folder.rglob("*")):
        kind = _kind(path) if path.is_file() and fnmatch.fnmatch(path.name, pattern) else None
        if kind is not None:
            yield path, kind


def tried(path: Path, kind: str, folder: Path, packages: Mapping[str, Path] | None = None) -> Tried:
    """Load a model.

    Args:
        path: Its file.
        kind: The kind of file, by `models_in`.
        folder: Of the collection; references of robots may lead anywhere in it.
        packages: Folders of packages that URDF files name, by their names.
    """
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            given = packages if kind == "URDF" else None
            said = _robot(path, folder, given) if kind in ("MJCF", "URDF") else _mesh(path)
        except SensoriumError as error:
            return Tried(path, kind, False, str(error).removeprefix(f"{path}: ").replace("\n", "; "))
        except Exception as error:  # of MuJoCo, which has errors of its own
            return Tried(path, kind, False, in_one_line(error))
    notes = dict.fromkeys(str(each.message) for each in warned)
    return Tried(path, kind, True, "; ".join([said, *notes]).replace("\n", " "))


def main(arguments: list[str] | None = None) -> int:
    """Print a line for each model of a folder and a summary; 0 where all load, else 1."""
    summary = __doc__.split("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m sensorium.qa.validation.models", description=summary)
    parser.add_argument("folder", type=Path, help="where the models are, at any depth")
    parser.add_argument("--only", default="*", help="pattern that names of files must match, such as 'scene*.xml'")
    parser.add_argument(
        "--package", action="append", default=[], help="NAME=FOLDER of a package that URDF files name; may be repeated"
    )
    given = parser.parse_args(arguments)
    if not given.folder.is_dir():
        parser.error(f"{given.folder} is no folder")
    packages = {name: Path(folder) for name, _, folder in (each.partition("=") for each in given.package)}
    for name, folder in packages.items():
        if not name or not folder.name or not folder.is_dir():
            parser.error(f"--package is {name}={folder}; it must be the name of a package, = and its folder")
    all_of, loaded = Counter[str](), Counter[str]()
    for path, kind in models_in(given.folder, given.only):
        result = tried(path, kind, given.folder, packages or None)
        all_of[kind] += 1
        loaded[kind] += result.loads
        line = f"{'loads' if result.loads else 'fails'}  {kind:4}  {path.relative_to(given.folder)}: {result.said}"
        print("".join(c if c.isprintable() else "?" for c in line), flush=True)
    for kind in sorted(all_of):
        print(f"{kind}: {loaded[kind]} of {all_of[kind]} load")
    if not all_of:
        print(f"no models; names must end with {', '.join(suffixes())}, .xml or .urdf")
    return 0 if loaded == all_of else 1


def _kind(path: Path) -> str | None:
    suffix = path.suffix.lower()
    if suffix in _GLTF:
        return "glTF"
    if suffix in suffixes():
        return "mesh"
    if suffix == ".urdf":
        return "URDF"
    if suffix != ".xml":
        return None
    with path.open("rb") as file:
        return "MJCF" if b"<mujoco" in file.read(_HEAD_BYTES) else None


def _mesh(path: Path) -> str:
    mesh = Mesh.load(path)
    return f"{len(mesh.faces)} faces, {', '.join(mesh.property_names) or 'no properties'}"


def _robot(path: Path, folder: Path, packages: Mapping[str, Path] | None) -> str:
    from sensorium.worlds.mujoco.world import MuJoCo

    world = MuJoCo(path, folder=folder, packages=packages)
    return f"{len(world.body_names)} bodies, {len(world.scene().objects)} objects"


if __name__ == "__main__":
    sys.exit(main())
