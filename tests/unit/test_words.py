"""Prose in plain technical English: words of the old private vocabulary do not come back."""

import ast
import io
import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[2]
INSTEAD = {
    "told": "given, reported, stated",
    "anew": "again, redrawn, restarted",
    "strewn": "scattered",
    "whoever": "the caller, the thread, ... by name",
    "nobody": "no caller, no reference, ... by name",
    "somebody": "a caller, a user, ... by name",
    "luck": "chance, scatter, draws",
    "strangers": "untrusted files",
    "so many": "a number, this many, n",
    "so manyth": "n-th",
    "come along": "are shipped with",
    "comes along": "is shipped with",
}
GONE = re.compile(rf"\b({'|'.join(sorted(INSTEAD, key=len, reverse=True))})\b", re.IGNORECASE)

SOURCES = sorted((ROOT / "src" / "sensorium").rglob("*.py")) + sorted((ROOT / "examples").glob("*.py"))
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md"))]


def prose_lines(path: Path) -> dict[int, str]:
    """Lines of docstrings and comments of a source, or all lines of a page, by number."""
    text = path.read_text("utf-8")
    lines = dict(enumerate(text.splitlines(), 1))
    if path.suffix == ".md":
        return lines
    found = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            found.update({number: lines[number] for number in range(node.lineno, node.value.end_lineno + 1)})
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            found[token.start[0]] = token.string
    return found


def old_words(path: Path) -> list[str]:
    """A sentence for each word of the old vocabulary in a file."""
    name = path.relative_to(ROOT).as_posix()
    return [
        f"{name}:{number}: {word!r}; write {INSTEAD[word.lower()]}"
        for number, line in prose_lines(path).items()
        for word in GONE.findall(line)
    ]


def test_old_words_are_gone():
    found = [sentence for path in SOURCES + PAGES for sentence in old_words(path)]
    assert not found, "\n".join(found)


def test_a_word_is_found_in_prose_and_not_in_code(tmp_path):
    source = tmp_path / "module.py"
    source.write_text('"""Values are\ntold."""\ntold = "told"  # drawn anew\n')
    assert [line for line in prose_lines(source).values() if GONE.search(line)] == ['told."""', "# drawn anew"]
