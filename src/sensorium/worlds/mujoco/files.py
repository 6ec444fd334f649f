"""Models for MuJoCo from untrusted files: their references are checked before the engine opens them.

MuJoCo opens any file that an `<include>`, a mesh or a texture names, also `../../etc/passwd` or a pipe that blocks
forever. So this module first reads a model's XML with all its includes, and refuses a name that leads out of the
model's folder or that is not a regular file. It also refuses a model that requests more memory than its files account
for.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

from sensorium.core.errors import MissingExtraError, SensoriumError, SpecError
from sensorium.files.plain_files import read_bounded
from sensorium.worlds.mujoco.limits import Claims, check_claims
from sensorium.worlds.mujoco.urdf import Urdf, checked_packages, is_urdf

# Compiler attributes that are prefixes of the names of some kinds of files
_FOLDERS = {"meshdir": "mesh", "texturedir": "texture", "assetdir": "any"}

# <texture file fileright fileleft ...>, <mesh file>, and in URDF <mesh filename>
_REFERENCE = re.compile(r"file(name|right|left|up|down|front|back)?")

# Elements that refer to more XML: included as text, or attached as a model with folders of its own
_INCLUDE, _MODEL = "include", "model"

_MAX_BYTES = 2**28

# Longer names are no file's, and a model needs few folders
_LONGEST_NAME, _MOST_FOLDERS = 4096, 64


def engine() -> Any:
    """The engine's package."""
    try:
        import mujoco
    except ImportError as error:
        raise MissingExtraError(
            f"sn.worlds.MuJoCo needs the package mujoco ({error}); pip install 'sensorium[mujoco]'"
        ) from error
    return mujoco


def files_of(
    path: Path, folder: str | os.PathLike[str] | None = None, packages: Mapping[str, Any] | None = None
) -> list[Path]:
    """All files that a model's file refers to, itself first; each lies in the folder and exists.

    Args:
        path: An MJCF or URDF file.
        folder: Folder that the model's files must lie in; by default the file's own.
        packages: Folders of packages that a URDF file names, by their names.
    """
    xml = _bytes(path)
    if urdf := _urdf(xml, path.name, path.parent, folder, packages):
        return [path, *urdf.files()]
    return [path, *_check_references(xml, path.name, path.parent, folder)]


def load_model(
    model: Any, folder: str | os.PathLike[str] | None = None, packages: Mapping[str, Any] | None = None
) -> Any:
    """An MjModel from a model, a file or a text.

    Args:
        model: `mujoco.MjModel`; or the path of an MJCF or URDF file; or MJCF or URDF text.
        folder: Folder that the model's files must lie in; by default that of the model, for a text the current one.
        packages: Folders of packages that a URDF file names, by their names.
    """
    mujoco = engine()
    if isinstance(model, mujoco.MjModel):
        if packages is not None:
            raise SpecError("packages are given and model is a MjModel; it must be a URDF file or text for that")
        if folder is not None:
            raise SpecError(f"folder is {str(folder)!r} and model is a MjModel; it must be a file or a text for that")
        return model
    if not isinstance(model, str | os.PathLike):
        raise SpecError(f"model is a {type(model).__name__}; it must be a mujoco.MjModel, a file's path or MJCF text")
    text = str(model)
    try:
        if text.lstrip().startswith("<"):
            if urdf := _urdf(text.encode(), "the model", Path(), folder, packages):
                return urdf.compiled(mujoco)
            _check_references(text.encode(), "the model", Path(), folder)
            return mujoco.MjModel.from_xml_string(text)
        path = Path(text)
        if not path.is_file():
            raise SpecError(f"model is {text!r}; there is no such file")
        xml = _bytes(path)
        if urdf := _urdf(xml, path.name, path.parent, folder, packages):
            return urdf.compiled(mujoco)
        _check_references(xml, path.name, path.parent, folder)
        return mujoco.MjModel.from_xml_path(str(path.absolute()))  # the engine resolves a relative path differently
    except SensoriumError:
        raise
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise SpecError(f"MuJoCo cannot read the model: {' '.join(str(error).split())}") from error


def urdf_text(model: Any) -> str | None:
    """The URDF text of what `load_model` takes, as it is; None for MJCF and models."""
    if not isinstance(model, str | os.PathLike):
        return None
    text = str(model)
    xml = text.encode() if text.lstrip().startswith("<") else _bytes(Path(text))
    return xml.decode(errors="replace") if is_urdf(xml) else None


def _urdf(
    xml: bytes,
    name: str,
    home: Path,
    folder: str | os.PathLike[str] | None,
    packages: Mapping[str, Any] | None,
) -> Urdf | None:
    """A URDF file, None for MJCF."""
    given, model = checked_packages(packages), _Model(home)
    _scan(xml, name, home, model, 1)  # without DOCTYPE, so a tree parser is safe
    if not is_urdf(xml):
        if packages is not None:
            raise SpecError(f"packages are given and {name} is MJCF; it must be a URDF file or text for that")
        return None
    return Urdf(name, ElementTree.fromstring(xml), home.resolve(), _root(name, home, folder), given)


@dataclass
class _Model:
    """One model and the files it includes: their references and folder prefixes."""

    home: Path
    """Folder of the model's own file."""
    prefixes: dict[str, set[str]] = field(default_factory=lambda: {"mesh": set(), "texture": set()})
    references: list[tuple[str, int, str, str, str, Path]] = field(default_factory=list)
    """File, line, element, attribute, value, and the folder of the file with the reference."""
    copies: dict[int, int] = field(default_factory=dict)
    """Number of copies of each included reference, by its number."""
    claims: Claims = field(default_factory=Claims)


def _check_references(xml: bytes, name: str, home: Path, folder: str | os.PathLike[str] | None) -> list[Path]:
    """Raise SpecError unless all direct and indirect references of a model lie in the folder.

    Returns:
        Those files that exist.
    """
    root = _root(name, home, folder)
    seen: set[Path] = set()
    used: dict[Path, None] = {}
    claims: dict[Path | None, Claims] = {}
    xml_bytes = 0
    models: list[tuple[bytes, str, Path, Path | None]] = [(xml, name, home, None)]
    while models:
        text, title, where, of = models.pop()
        model = _Model(where)
        claims[of] = model.claims
        files = [(text, title, where, 1)]
        while files:
            text, title, where, copies = files.pop()
            xml_bytes += len(text)
            first = len(model.references)
            _scan(text, title, where, model, copies)
            for number, reference in enumerate(model.references[first:], start=first):
                if reference[2] in (_INCLUDE, _MODEL):
                    for target in _inside(reference, model, root):
                        if reference[2] == _MODEL:
                            model.claims.models.add(target)
                        if target in seen or not _is_file(target, reference):
                            continue
                        seen.add(target)
                        if reference[2] == _INCLUDE:
                            files.append((_bytes(target), target.name, target.parent, model.copies.get(number, 1)))
                        else:
                            models.append((_bytes(target), target.name, target.parent, target))

        # Any of the files may set folder prefixes, so names are checked once all are known
        for reference in model.references:
            found = _inside(reference, model, root)
            if reference[2] != "compiler":
                used.update(dict.fromkeys(target for target in found if _is_file(target, reference)))
    check_claims(claims, list(used), xml_bytes)
    return list(used)


def _root(name: str, home: Path, folder: str | os.PathLike[str] | None) -> Path:
    """The folder that all files must lie in; it holds the model."""
    root = Path(home if folder is None else folder).resolve()
    if not root.is_dir():
        raise SpecError(f"folder is {str(folder)!r}; there is no such folder")
    if not home.resolve().is_relative_to(root):
        raise SpecError(f"folder is {str(folder)!r}; it must hold {name}, which is in {home.resolve()}")
    return root


def _is_file(target: Path, reference: tuple[str, int, str, str, str, Path]) -> bool:
    """Whether a file exists; anything that is not a regular file is refused."""
    title, line, tag, key, value, _ = reference
    if value and target.exists() and not target.is_file():
        raise SpecError(f"{title}, line {line}: {key} of {tag} is {value!r}, which is no file; it must be one")
    return target.is_file()


def _scan(xml: bytes, title: str, where: Path, model: _Model, copies: int) -> None:
    """Collect references, folders and claims of an XML text into its model; `copies` are made of its elements."""
    parser = expat.ParserCreate()
    inside = [copies]

    def element(tag: str, attributes: dict[str, str]) -> None:
        line = parser.CurrentLineNumber
        try:
            within = model.claims.add(tag, attributes, inside[-1])
        except SpecError as error:
            raise SpecError(f"{title}, line {line}: {error}") from None
        if tag == _INCLUDE:
            model.copies[len(model.references)] = inside[-1]
        inside.append(within)
        for key, value in attributes.items():
            if tag == "compiler" and key in _FOLDERS:
                kinds = ("mesh", "texture") if _FOLDERS[key] == "any" else (_FOLDERS[key],)
                for kind in kinds:
                    model.prefixes[kind].add(_checked_name(value, title, line))
                    if len(model.prefixes[kind]) > _MOST_FOLDERS:
                        raise SpecError(f"{title}, line {line}: {key} is given more than {_MOST_FOLDERS} values")
                model.references.append((title, line, "compiler", key, value, where))
            elif _REFERENCE.fullmatch(key):
                model.references.append((title, line, tag, key, _checked_name(value, title, line), where))

    def doctype(*_: object) -> None:
        raise SpecError(
            f"{title}, line {parser.CurrentLineNumber}: it has a DOCTYPE, which readers of XML take in different ways; "
            "a model must have none"
        )

    parser.StartElementHandler = element
    parser.EndElementHandler = lambda tag: inside.pop()
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(xml, True)
    except expat.ExpatError as error:
        raise SpecError(f"{title} is no XML: {error}") from None


def _checked_name(value: str, title: str, line: int) -> str:
    if len(value) > _LONGEST_NAME:
        raise SpecError(f"{title}, line {line}: {value[:40]!r}... has {len(value)} characters; that is no file name")
    return value


def _inside(reference: tuple[str, int, str, str, str, Path], model: _Model, root: Path) -> list[Path]:
    """The files that a reference may mean; the one that the engine would open must lie in the root folder.

    The engine opens the first that exists: in the model's folder, then in that of the file with the reference. A
    missing file outside is therefore harmless if another exists inside.
    """
    title, line, tag, key, value, where = reference
    plain = re.sub(r"^(package|file)://", "", value).replace("\\", "/")
    if tag in (_INCLUDE, _MODEL, "compiler"):
        prefixes = {""}
    else:
        prefixes = model.prefixes["texture" if tag == "texture" else "mesh"] or {""}
    homes = [(model.home, prefix) for prefix in sorted(prefixes)]
    homes += [(where, prefix) for prefix in sorted({"", *prefixes}) if where != model.home]
    try:
        targets = [(home / prefix.replace("\\", "/") / plain).resolve() for home, prefix in homes]
    except (OSError, ValueError):
        raise SpecError(f"{title}, line {line}: {key} of {tag} is {value!r}; that is no file name") from None
    found = [target for target in targets if target.is_relative_to(root)]
    outside = [target for target in targets if target not in found]
    if any(map(os.path.lexists, outside)) or (outside and not any(map(os.path.lexists, found))):
        raise SpecError(
            f"{title}, line {line}: {key} of {tag} is {value!r}, which leaves the folder {str(root)!r}; "
            "a model's files must lie in its folder, or in the one given as folder="
        )
    return found


def _bytes(path: Path) -> bytes:
    """Contents of an XML file."""
    content, size = read_bounded(path, _MAX_BYTES)
    if len(content) > _MAX_BYTES:
        raise SpecError(f"{path.name} has {size} bytes; a model's XML may have {_MAX_BYTES}")
    return content
