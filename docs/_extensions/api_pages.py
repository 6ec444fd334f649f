"""The reference: a page for what stands at the top of `sensorium`, and one for each of its parts."""

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
    top = [name for name in sensorium.__all__ if name not in modules]
    _page(TOP, "What `import sensorium as sn` gives.", [f"{TOP}.{name}" for name in top])
    listed = []
    for name in modules:
        module = importlib.import_module(getattr(sensorium, name).__name__)
        doc = inspect.getdoc(module) or name
        members = getattr(module, "__all__", None) or [
            member
            for member, value in vars(module).items()
            if not member.startswith("_") and getattr(value, "__module__", None) == module.__name__
        ]
        _page(f"sensorium.{name}", doc, [f"{module.__name__}.{member}" for member in members])
        listed.append((name, doc.splitlines()[0]))

    rows = "".join(f"| [sn.{name}](sensorium.{name}.md) | {doc} |\n" for name, doc in listed)
    names = "\n".join(["sensorium", *(f"sensorium.{name}" for name in modules)])
    page = "# Reference\n\nEverything public, with the docstrings of the code: [the names at the top](sensorium.md), "
    page += "and parts.\n\n"
    page += f"| | |\n| --- | --- |\n{rows}\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    (FOLDER / "index.md").write_text(page)


def _page(title: str, doc: str, members: list[str]) -> None:
    """A page of one module."""
    blocks = []
    for path in members:
        value = _found(path)
        if inspect.isclass(value):
            kind = "autoexception" if issubclass(value, BaseException) else "autoclass"
            known = "   :no-index:\n" if title != TOP and value.__name__ in TOP_NAMES else ""
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
    (FOLDER / f"{title}.md").write_text(f"# {title}\n\n{doc}\n\n```{{eval-rst}}\n{body}\n```\n")


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
