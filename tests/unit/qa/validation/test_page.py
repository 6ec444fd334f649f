"""The page of a validation: what it says, and that it stands alone."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from sensorium.qa.validation import Axis, Comparison, Family, page, run_checks
from sensorium.qa.validation.hardware import hardware_rows, hardware_table
from sensorium.qa.validation.plot import plot


@pytest.fixture(scope="module")
def results():
    family, other = Family("Light & <shade>"), Family("Others")

    @family.check("holds", "A law | with a bar.", reference="a & b", absolute=0.1)
    def _holds(quick):
        return Comparison([1.0, 2.05], [1.0, 2.0], at=[1, 10], x=Axis("x", log=True), y=Axis("y"), note="said")

    @family.check("breaks", "Not <this>.", reference="c", relative=0.01)
    def _breaks(quick):
        return Comparison([1.0], [2.0])

    @other.check("absent", "Needs more.", reference="d", needs=("no_such_engine",))
    def _absent(quick):
        raise AssertionError

    return run_checks(family.checks + other.checks, quick=True)


class Tags(HTMLParser):
    """Tags that are open must close, in their order."""

    ALONE = frozenset({"meta", "link", "circle", "path"})

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in self.ALONE:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_counts_and_tells_all(results, tmp_path):
    assert page.counts(results) == {"passed": 1, "failed": 1, "skipped": 1}
    html_file, text_file = page.write(tmp_path, results, quick=True)
    html, text = html_file.read_text(), text_file.read_text()
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    assert [a["class"] for tag, a in tags.seen if tag == "article"] == ["passed", "failed", "skipped"]
    assert len([1 for tag, _ in tags.seen if tag == "svg"]) == 2
    for words in ("Light &amp; &lt;shade&gt;", "Not &lt;this&gt;.", "no_such_engine is not installed", "2.05", "said"):
        assert words in html
    assert text.endswith(hardware_table() + "\n")
    assert len([1 for tag, _ in tags.seen if tag == "tr"]) == len(hardware_rows())
    assert "| ✓ | **holds**: A law \\| with a bar. | a & b | 2.05 | 2 | ± 0.1 | 50 % of the tolerance used |" in text
    assert "| ✗ | **breaks**" in text
    assert "| – | **absent**" in text


def test_the_page_asks_for_nothing_else(results):
    html = page.as_html(results, quick=False)
    assert "<script" not in html
    assert not re.search(r"(src|href)=[\"'](?!#|data:)", html)
    assert "some laws do not hold" in html
    assert "every law that was checked holds" in page.as_html(results[:1], quick=False)


@pytest.mark.parametrize(
    ("found", "expected", "options"),
    [
        ([np.nan, np.inf, 1.0], 1.0, {}),
        ([5.0], 5.0, {"y": Axis("flat", log=True)}),
        ([0.0, -1.0, 3.0], 2.0, {"x": Axis("x", log=True), "y": Axis("y", log=True), "at": [1, 2, 3]}),
        (np.ones(5000), 1.0, {"at": np.linspace(0, 1, 5000)}),
        ([1.0 + 1e-16, 1.0], 1.0, {}),
    ],
    ids=["not finite", "one value", "nothing to log", "many", "hardly different"],
)
def test_whatever_is_found_can_be_drawn(found, expected, options):
    tags = Tags()
    tags.feed(plot(Comparison(found, expected, **options)))
    assert tags.open == []
    assert len([1 for tag, _ in tags.seen if tag == "circle"]) <= 160
    assert "nan" not in str(tags.seen)
