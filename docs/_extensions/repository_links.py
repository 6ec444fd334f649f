"""Links to files beside the pages, such as ../README.md and ../examples/imu.py, as the pages of a forge have them.

What has a page here leads there; the rest is named, since the site does not hold it.
"""

import re
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
LINK = re.compile(r"(?<!!)\[([^\]]*(?:\[[^\]]*\][^\]]*)*)\]\(((?!https?:|#)[^)\s]+)\)")


def rewrite(app: Sphinx, docname: str, content: list[str]) -> None:
    """Lead links that leave the folder to the page that stands for them, or make code of them."""
    page = DOCS / f"{docname}.md"

    def led(match: re.Match[str]) -> str:
        text, target = match[1], match[2].split("#")[0]
        file = (page.parent / target).resolve()
        if file.is_relative_to(DOCS):
            return match[0]
        up = "../" * docname.count("/")
        if file == ROOT / "README.md":
            return f"[{text}]({up}index.md)"
        if file == ROOT / "examples":
            return f"[{text}]({up}examples/index.md)"
        if file.parent == ROOT / "examples":
            return f"[{text}]({up}examples/{file.stem}.md)"
        return f"{text} (`{file.relative_to(ROOT)}` of the repository)"

    content[0] = LINK.sub(led, content[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", rewrite)
    app.add_lexer("layers", TextLexer)  # the map of the architecture, which a test reads
    return {"parallel_read_safe": True}
