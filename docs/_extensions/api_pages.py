"""The reference: for names at the top of `sensorium` a page for each package they come from, and one a module."""

import importlib
import inspect
import re
from pathlib import Path

from sphinx.application import Sphinx

import sensorium

FOLDER = Path(__file__).parents[1] / "api"
TOP, TOP_NAMES = sensorium.__name__, set(sensorium.__all__)


def write_pages(app: Sphinx) -> None:
    """Write all pages, and the one that lists them."""
    FOLDER.mkdir(exist_ok=True)
    modules = sorted(name for name in sensorium.__all__ if inspect.ismodule(getattr(sensorium, name)))
    groups: dict[str, list[str]] = {}
    for name in sensorium.__all__:
        if name not in modules:
            groups.setdefault(_package(name), []).append(name)
    tops = []
    for package, names in sorted(groups.items()):
        title = f"{TOP}: {package}"
        _page(
            title, f"Names of `import sensorium as sn` that come from {package}.", [f"{TOP}.{name}" for name in names]
        )
        tops.append((title, ", ".join(f"`{name}`" for name in names)))
    listed = []
    for name in modules:
        module = importlib.import_module(getattr(sensorium, name).__name__)
        doc = inspect.getdoc(module) or name
        _page(f"sensorium.{name}", doc, [f"{module.__name__}.{member}" for member in module.__all__])
        listed.append((f"sensorium.{name}", doc.splitlines()[0]))

    page = "# Reference\n\nEverything public, with the docstrings of the code, one page a package.\n\n"
    page += "## Names at the top\n\n| | |\n| --- | --- |\n"
    page += "".join(f"| [{title.split(': ')[1]}]({_stem(title)}.md) | {doc} |\n" for title, doc in tops)
    page += "\n## Modules\n\n| | |\n| --- | --- |\n"
    page += "".join(f"| [sn.{title.split('.')[1]}]({_stem(title)}.md) | {doc} |\n" for title, doc in listed)
    pages = "\n".join(_stem(title) for title, _ in [*tops, *listed])
    page += f"\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"
    (FOLDER / "index.md").write_text(page)


def _package(name: str) -> str:
    """The package a top-level name is defined in, as the source tree has it: scene, sensors.lidar, tracing, ..."""
    parts = {**sensorium._NAMES, **sensorium._names_of_sensors()}[name].split(".")[1:]
    return ".".join(parts[:2]) if parts[0] == "sensors" and len(parts) > 2 else parts[0]


def _stem(title: str) -> str:
    """Name of the file of a page."""
    return title.replace(": ", "-")


def _page(title: str, doc: str, members: list[str]) -> None:
    """A page of one module."""
    blocks = []
    for path in members:
        value = _found(path)
        if inspect.isclass(value):
            kind = "autoexception" if issubclass(value, BaseException) else "autoclass"
            known = "   :no-index:\n" if not title.startswith(f"{TOP}:") and value.__name__ in TOP_NAMES else ""
            listed = ", ".join(getattr(value, "model_fields", ()))  # in the docstring of a specification, with defaults
            without = f"   :exclude-members: {listed}\n" if listed else ""
            blocks.append(f".. {kind}:: {path}\n   :members:\n{without}{known}")
        elif inspect.ismodule(value):
            blocks.append(f".. automodule:: {path}\n   :members:\n")
        elif callable(value):
            blocks.append(f".. autofunction:: {path}\n")
        else:
            blocks.append(f".. py:data:: {path}\n")
    body = "\n".join(blocks)
    (FOLDER / f"{_stem(title)}.md").write_text(f"# {title}\n\n{doc}\n\n```{{eval-rst}}\n{body}\n```\n")


def _found(path: str) -> object:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def escape(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Docstrings are sentences, not markup: stars, bars and trailing underscores mean themselves outside of code."""
    for i, line in enumerate(lines):
        parts = line.split("`")
        parts[::2] = [re.sub(r"([|*]|(?<=\w)_(?=\W|$))", r"\\\1", part) for part in parts[::2]]
        lines[i] = "`".join(parts)


def skip(app: Sphinx, what: str, name: str, obj: object, skipped: bool, options: object) -> bool:
    """Leave out what pydantic keeps with every specification."""
    return skipped or name == "model_config"


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", escape, priority=100)
    return {"parallel_read_safe": True}
