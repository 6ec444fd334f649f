"""The table of a page: what is written is what is read."""

import pytest

from sensorium.core.errors import SpecError
from sensorium.qa.round_trip import Row, document

ROWS = [
    Row("a", "points per second", 1310720.0, 1310720.0, 1310080.0, 1311360.0, "1/s", "D"),
    Row("a", "vertical field", 41.3, 41.34, 41.33, 41.35, "deg", "A", rounding=0.05),
]


def test_a_page_keeps_its_text_and_gets_the_table(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"Before.\n\n{document.BEGIN}\nold\n{document.END}\n\nAfter.\n")
    for _ in range(2):
        document.write(page, ROWS)
        text = page.read_text()
        assert text.startswith("Before.\n\n" + document.BEGIN)
        assert text.endswith(document.END + "\n\nAfter.\n")
        assert "old" not in text
        assert document.read(page) == [document.cells(row) for row in ROWS]
    assert document.read(page)[0] == (
        "a",
        "points per second",
        "1,310,720",
        "1,310,720",
        "1,310,080 to 1,311,360",
        "1/s",
        "D",
    )
    assert document.read(page)[1][2] == "≈ 41.3"


def test_a_page_without_marks_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Nothing.\n")
    with pytest.raises(SpecError, match="there is no place for round trips"):
        document.write(page, ROWS)
    assert page.read_text() == "Nothing.\n"
