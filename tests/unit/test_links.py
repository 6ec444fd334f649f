"""Links and paths of the documentation that lead to files of the repository: each file is there, and each anchor."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [file for file in (ROOT / "docs").rglob("*.md") if "_build" not in file.parts]
    + [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "benchmarks/README.md")]
)
CODE = re.compile(r"^(`{3,})[^`\n]*\n.*?^\1`*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(((?![a-z]+:)[^)\s]+)\)|^\[[^\]]+\]: ((?![a-z]+:)\S+)$", re.MULTILINE)
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# Pages for developers, which name sources by their path from the root or from src/sensorium
PAGES_OF_SOURCES = ("docs/architecture.md", "CONTRIBUTING.md")
SOURCE = re.compile(r"`([\w./-]+\.py)`")

# Pages that Sphinx writes while it builds
GENERATED = {"examples/index", "api/index"}


def slug(heading):
    """Anchor of a heading, as forges and MyST make it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip()).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(text):
    """Anchors of a page; of equal headings the second ends in -1."""
    found = set()
    body = re.sub(r"^(`{3,})[^`\n]*\n.*?^\1`*$", "", text, flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#{1,6} (.+)$", body, re.MULTILINE):
        name = slug(heading)
        again = 0
        while (unique := name if not again else f"{name}-{again}") in found:
            again += 1
        found.add(unique)
    return found


def dead_links(page, text):
    """Links of a page that lead nowhere."""
    dead = []
    for match in LINK.finditer(CODE.sub("", text)):
        target = match[1] or match[2]
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        found = file == page or (file.exists() and file.is_relative_to(ROOT))
        if found and anchor:
            found = anchor in anchors(text if file == page else file.read_text(encoding="utf-8"))
        if not found:
            dead.append(target)
    for tree in TOCTREE.findall(text):
        names = [line.strip() for line in tree.splitlines() if line.strip() and not line.startswith(":")]
        dead += [name for name in names if name not in GENERATED and not (page.parent / f"{name}.md").exists()]
    return dead


def missing_sources(text):
    """Python files that a page names in backticks and that do not exist."""
    roots = (ROOT, ROOT / "src" / "sensorium")
    return [path for path in SOURCE.findall(text) if not any((root / path).is_file() for root in roots)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert dead_links(page, page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", PAGES_OF_SOURCES)
def test_sources_that_a_page_names_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert SOURCE.search(text)
    assert missing_sources(text) == []


def test_missing_sources_are_found():
    text = "`environment.py`, `record/tiff.py`, `tests/unit/test_links.py`, `loading.py` (`Hits` in `stepping.py`)"
    assert missing_sources(text) == ["record/tiff.py", "loading.py"]


def test_there_are_links_to_check():
    assert sum(len(LINK.findall(page.read_text(encoding="utf-8"))) for page in PAGES) > 300


def test_dead_links_are_found():
    page = ROOT / "docs" / "page.md"
    text = (
        "# A & B's `c`\n\n## Same\n\n## Same\n\n"
        "[a](#a--bs-c) [b](#same-1) [c](#same-2) [d](nowhere.md) [e](index.md#nothing)\n"
        "![f](images/none.png) [g](https://example.org/none) `[h](code.md)`\n\n```sh\n[i](code.md)\n```\n\n"
        "[j](../README.md)\n"
        "```{toctree}\n:hidden:\n\nindex\ngone\n```\n"
    )
    assert dead_links(page, text) == ["#same-2", "nowhere.md", "index.md#nothing", "images/none.png", "gone"]
