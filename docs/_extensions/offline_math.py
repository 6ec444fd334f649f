"""Equations as MathML in the pages themselves: browsers draw it without a network and without a script."""

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

# Sizes of brackets, which MathML stretches by itself
_SIZES = re.compile(r"\\[Bb]igg?[lr]?(?![A-Za-z])")


def converted(node: nodes.math | nodes.math_block, display: str) -> str:
    """An equation as MathML; commands that stay as they are would be shown as such, and are refused."""
    text = _SIZES.sub("", node.astext())
    made = convert(text, display=display)
    if "\\" in made:
        raise ValueError(f"an equation has a command that is not known to latex2mathml: {node.astext()}")
    return made


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """An equation in a line of text."""
    self.body.append(converted(node, "inline"))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """An equation by itself."""
    self.body.append(f'<div class="equation">{converted(node, "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True}
