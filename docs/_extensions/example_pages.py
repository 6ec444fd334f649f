"""A page for each program of `examples`: what it says about itself, its picture, and the program.

The pictures are those that stand in `images`, which the tests compare with what the programs draw today; nothing is
run while the pages are built.
"""

import ast
from pathlib import Path

from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
EXAMPLES = DOCS.parent / "examples"
FOLDER = DOCS / "examples"


def write_pages(app: Sphinx) -> None:
    """Write all pages, and the one that lists them."""
    FOLDER.mkdir(exist_ok=True)
    cards = []
    for program in sorted(EXAMPLES.glob("*.py")):
        doc = ast.get_docstring(ast.parse(program.read_text())) or program.stem
        title = _title(program.stem)
        picture = _picture(program.stem)
        shown = f"![{title}]({picture})\n\n" if picture else ""
        page = f"# {title}\n\n{doc}\n\n{shown}```sh\npython examples/{program.name}\n```\n\n"
        page += f"```{{literalinclude}} ../../examples/{program.name}\n:language: python\n```\n"
        _write(FOLDER / f"{program.stem}.md", page)
        small = f"[![{title}]({picture})]({program.stem}.md)" if picture else ""
        cards.append((program.stem, title, doc.split("\n\n")[0].replace("\n", " "), small))

    rows = "".join(f"| {small} | **[{title}]({stem}.md)**<br>{first} |\n" for stem, title, first, small in cards)
    names = "\n".join(stem for stem, *_ in cards)
    page = "# Examples\n\nPrograms to start from. Each runs alone, prints what it found, and draws its picture.\n\n"
    page += f"| | |\n| --- | --- |\n{rows}\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    _write(FOLDER / "index.md", page)


def _title(stem: str) -> str:
    words = stem.replace("_", " ")
    for short in ("imu", "tof"):
        words = " ".join(short.upper() if word == short else word for word in words.split())
    return words[0].upper() + words[1:]


def _picture(stem: str) -> str | None:
    for folder in ("images", "images/lidar"):
        for ending in ("png", "gif"):
            if (DOCS / folder / f"{stem}.{ending}").is_file():
                return f"../{folder}/{stem}.{ending}"
    return None


def _write(path: Path, text: str) -> None:
    """Write a page that changed; one that did not is not built again."""
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}
