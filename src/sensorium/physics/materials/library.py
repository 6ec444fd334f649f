"""Named materials with the sources of their numbers, and the union of all kinds of materials."""

import difflib
import functools
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Annotated, Any

from pydantic import Field

from sensorium.core import plugins
from sensorium.core.errors import SpecError
from sensorium.core.spec import checked
from sensorium.physics.materials.base import AbstractMaterial
from sensorium.physics.materials.dielectric import Dielectric
from sensorium.physics.materials.lambertian import Lambertian
from sensorium.physics.materials.mirror import Mirror
from sensorium.physics.materials.retroreflector import Retroreflector
from sensorium.physics.materials.thin_glass import ThinGlass
from sensorium.physics.materials.two_layer import TwoLayer

GRADES = {
    "A": "vendor's own data",
    "B": "public database or maintained project",
    "C": "third-party statement, not checked against a primary source",
    "D": "derived by calculation from graded values",
    "M": "estimate, without a source",
}


@dataclass(frozen=True)
class Entry:
    """One material of the library.

    Attributes:
        name: The name that `load` takes.
        description: Short description.
        material: The model with its numbers.
        source: Where the numbers come from.
        grade: How good that source is, a key of `GRADES`.
        estimated: Fields of the material that no source backs.
    """

    name: str
    description: str
    material: AbstractMaterial
    source: str
    grade: str
    estimated: tuple[str, ...]

    def __str__(self) -> str:
        """Describe the material in a few lines, with sources and estimates."""
        lines = [
            f"{self.name}: {self.description}",
            f"  model     {type(self.material).__name__}",
            f"  source    {self.source}",
            f"  grade     {self.grade}, {GRADES[self.grade]}",
        ]
        if self.estimated:
            lines.append(f"  estimated {', '.join(self.estimated)}")
        return "\n".join(lines)


def names() -> tuple[str, ...]:
    """Names of all materials in the library, in order."""
    return tuple(sorted(_tables()))


def load(name: str) -> AbstractMaterial:
    """A material of the library, or of an installed package that announces it; the same object for the same name.

    Args:
        name: One of `names()`, or of an entry point of the group "sensorium.physics.materials".

    >>> asphalt = sn.materials.load("asphalt")
    >>> asphalt.kind, float(asphalt.reflectance.at(905e-9))
    ('lambertian', 0.106)
    """
    if name not in _tables() and name in plugins.announced("materials"):
        return _announced(name)
    return describe(name).material


def describe(name: str) -> Entry:
    """A material of the library with its source; print it to read it.

    Args:
        name: One of `names()`.
    """
    if name not in _tables():
        near = difflib.get_close_matches(str(name), names(), n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(names())}"
        raise SpecError(f"material is {name!r}; the library has no such name; {hint}")
    return _entry(name)


def name_of(material: object) -> str | None:
    """Name under which the library holds a material; None for any other."""
    return next((name for name in names() if _entry(name).material is material), None)


@functools.cache
def _announced(name: str) -> AbstractMaterial:
    """A material that an installed package brings, or that a function of it makes."""
    found = plugins.load("materials", name)
    material = found() if callable(found) and not isinstance(found, AbstractMaterial) else found
    if not isinstance(material, AbstractMaterial):
        raise SpecError(f"material {name!r} is a {type(material).__name__}; it must be a material of sn.materials")
    return material


@functools.cache
def _entry(name: str) -> Entry:
    table = _tables()[name]
    material: AbstractMaterial = checked(Material, table["material"], name)
    return Entry(
        name=name,
        description=table["description"],
        material=material,
        source=table["source"],
        grade=table["grade"],
        estimated=tuple(table.get("estimated", ())),
    )


@functools.cache
def _tables() -> dict[str, dict[str, Any]]:
    """The tables of library.toml by name, with sources spelt out."""
    content = tomllib.loads(resources.files("sensorium.physics.materials").joinpath("library.toml").read_text("utf-8"))
    sources = content.pop("sources")
    return {name: table | {"source": _source(table["source"], sources)} for name, table in content.items()}


def _source(source: str, sources: dict[str, str]) -> str:
    """Spell out `KEY: data set`; a source without a key is unchanged."""
    key, _, dataset = source.partition(": ")
    return f"{sources[key]}, data set {dataset}" if key in sources else source


Material = Annotated[
    Lambertian | TwoLayer | Dielectric | ThinGlass | Mirror | Retroreflector, Field(discriminator="kind")
]
"""Any material, selected by its `kind` when read from a plain dictionary."""
