"""Lines of text formats, counted and cut by hand; whole numbers in them."""

import re
from pathlib import Path

import pytest

from sensorium.core.errors import SceneError
from sensorium.scene.formats.text_lines import integer, lines_of


def lines(folder: Path, data: bytes) -> list[tuple[int, list[str]]]:
    (folder / "text").write_bytes(data)
    return list(lines_of(folder / "text"))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n \t\n# all\n", []),
        (b"v 1\t2  3 \nf 1", [(1, ["v", "1", "2", "3"]), (2, ["f", "1"])]),
        (b"\n\nv\n \nf\n", [(3, ["v"]), (5, ["f"])]),
        (b"# no\nv 1 # 2\nf#3\n", [(2, ["v", "1"]), (3, ["f"])]),
        (b"a\r\nb\rc\n", [(1, ["a"]), (2, ["b"]), (3, ["c"])]),
    ],
)
def test_words_of_each_line_come_with_its_number(tmp_path: Path, data: bytes, expected: list) -> None:
    """Empty lines and comments are counted, but not given; lines end as on any system, the last one without an end."""
    assert lines(tmp_path, data) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"f 1 \\\n2 \\\n3\nv\n", [(3, ["f", "1", "2", "3"]), (4, ["v"])]),
        (b"f 1\\\n2\n", [(2, ["f", "1", "2"])]),
        (b"f 1 \\  \r\n2\r\n", [(2, ["f", "1", "2"])]),
        (b"f 1 \\\n\nv\n", [(2, ["f", "1"]), (3, ["v"])]),
        (b"f 1 \\\n# 2\nv\n", [(2, ["f", "1"]), (3, ["v"])]),
        (b"f 1 # 2 \\\nv\n", [(1, ["f", "1"]), (2, ["v"])]),
        (b"f 1 \\ # 2\n3\n", [(2, ["f", "1", "3"])]),
        (b"\\\nv\n", [(2, ["v"])]),
        (b"v\nf 1 \\", [(1, ["v"]), (2, ["f", "1"])]),
        (b"v\nf 1 \\\n", [(1, ["v"]), (2, ["f", "1"])]),
        (b"map a\\b.png\n", [(1, ["map", "a\\b.png"])]),
    ],
)
def test_a_backslash_at_the_end_joins_the_next_line(tmp_path: Path, data: bytes, expected: list) -> None:
    """They have the number of the last of them; one in a comment or within a word joins nothing."""
    assert lines(tmp_path, data) == expected


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    """Only the first is one."""
    assert lines(tmp_path, b"\xef\xbb\xbfv 1\n\xef\xbb\xbff\n") == [(1, ["v", "1"]), (2, ["\ufefff"])]


def test_bytes_that_are_no_text_do_not_end_the_reading(tmp_path: Path) -> None:
    found = lines(tmp_path, b"o caf\xe9\nmtl \xc3\xa4\nf 1\n")
    assert found == [(1, ["o", "caf\ufffd"]), (2, ["mtl", "ä"]), (3, ["f", "1"])]


def test_words_of_a_line_belong_to_who_asked(tmp_path: Path) -> None:
    """What is done to them changes no later line."""
    (tmp_path / "text").write_text("a 1\nb 2\n")
    given = lines_of(tmp_path / "text")
    _, first = next(given)
    first.append("more")
    assert next(given) == (2, ["b", "2"])
    assert first == ["a", "1", "more"]


def test_whole_numbers_are_read() -> None:
    assert [integer(word, 1) for word in ("7", "-12", "+3", "007")] == [7, -12, 3, 7]


@pytest.mark.parametrize("word", ["", "1.0", "1e3", "0x10", "1/2", "seven", "nan", "9" * 5000, "1_0", "\u0661"])
def test_what_is_no_whole_number_is_told_with_its_line(word: str) -> None:
    """By its first forty characters, since a word may be as long as the file."""
    with pytest.raises(SceneError, match=rf"^line 17 has {re.escape(repr(word[:40]))}; it must be an integer$"):
        integer(word, 17)
