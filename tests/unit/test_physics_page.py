"""The page of equations: every section and label that code, docs and tests cite is a heading of it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEADING = re.compile(r"^#{2,4} (?:(\d+(?:\.\d+)?)\.? |([EU]-\d\d)$)", re.MULTILINE)

# "physics.md 3.2 to 3.5", "physics.md section 13", "physics.md 8.1, E-21 and E-22", also over two lines
LABEL = r"(?:\d+(?:\.\d+)?(?![\d.]*\d)|[EU]-\d\d)"
CITATION = re.compile(rf"physics\.md,?\s+(?:#\s*)?(?:section )?({LABEL}(?:(?:, | and | to ){LABEL})*)")
BARE = re.compile(r"\b[EU]-\d\d\b")


def headings(page):
    """Numbers of sections and labels that have a heading."""
    return {number or label for number, label in HEADING.findall(page)}


def cited(text):
    """Sections and labels that a text cites; of "E-05 to E-11" all between."""
    found = set(BARE.findall(text))
    for match in CITATION.finditer(text):
        labels = re.split(r", | and | to ", match[1])
        links = re.findall(r", | and | to ", match[1])
        found.update(labels)
        for first, link, last in zip(labels, links, labels[1:], strict=False):
            if link == " to ":
                stem, low = re.fullmatch(r"(.*?)(\d+)", first).groups()
                high = int(re.search(r"\d+$", last)[0])
                found.update(f"{stem}{n:0{len(low)}d}" for n in range(int(low), high))
    return found


def sources():
    """Files that may cite the page."""
    folders = [ROOT / name for name in ("src", "docs", "tests", "examples", "benchmarks", "fuzz")]
    files = [file for folder in folders for ext in ("py", "md", "toml", "yaml") for file in folder.rglob(f"*.{ext}")]
    return [file for file in files if "_build" not in file.parts and file != Path(__file__)]


@pytest.fixture(scope="module")
def page():
    return (ROOT / "docs" / "physics.md").read_text(encoding="utf-8")


def test_every_citation_has_its_heading(page):
    known = headings(page)
    missing, count = {}, 0
    for file in sources():
        labels = cited(file.read_text(encoding="utf-8"))
        count += len(labels)
        if labels - known:
            missing[str(file.relative_to(ROOT))] = sorted(labels - known)
    assert not missing
    assert count > 100


def test_corrections_and_open_questions_are_numbered_without_gaps_and_in_the_index(page):
    labels = [label for _, label in HEADING.findall(page) if label]
    assert sorted(labels) == [f"E-{n:02d}" for n in range(1, 46)] + [f"U-{n:02d}" for n in range(1, 8)]
    index = page[page.index("## 14. Index") :]
    assert {label for label in labels if f"[{label}](#{label.lower()})" in index} == set(labels)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("physics.md 8.2", {"8.2"}),
        ("physics.md 13: 1361 W/m^2", {"13"}),
        ("physics.md section 13, Stereo", {"13"}),
        ("(physics.md 6, 9, 11)", {"6", "9", "11"}),
        ("physics.md 3.2 to 3.5 in float64", {"3.2", "3.3", "3.4", "3.5"}),
        ("physics.md 5, E-14 to E-16: closed", {"5", "E-14", "E-15", "E-16"}),
        ("a bit depth (physics.md\n    # E-28)", {"E-28"}),
        ("as in physics.md\n    99.", {"99"}),
        ("the quartic of physics.md", set()),
    ],
)
def test_a_citation_is_read_whole(text, labels):
    assert cited(text) == labels


def test_a_citation_of_nothing_is_found(page):
    assert cited("physics.md 99, E-46") - headings(page) == {"99", "E-46"}
