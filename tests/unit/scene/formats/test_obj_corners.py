"""Corners of OBJ faces, all at once and line by line, against words split by Python."""

import numpy as np
import pytest

from sensorium.core.errors import SceneError
from sensorium.scene.formats.obj_corners import MISSING, NO_NUMBER, _at_once, _one_by_one, absolute, fans, read_corners


def written(rng, count):
    """Random face lines with what each corner says."""
    lines, expected = [], []
    for _ in range(count):
        words, corners = [], []
        for _ in range(rng.integers(1, 7)):
            v, vt, vn = (int(k) for k in rng.integers(-20, 99999, 3))
            kind = rng.integers(4)
            words.append([f"{v}", f"{v}/{vt}", f"{v}//{vn}", f"{v}/{vt}/{vn}"][kind])
            corners.append((v, vt if kind in (1, 3) else MISSING, vn if kind > 1 else MISSING))
        blanks = [" ", "  ", "\t", " \t "]
        lines.append("".join(blanks[rng.integers(4)] * (k > 0) + word for k, word in enumerate(words)) + " ")
        expected.append(corners)
    return lines, expected


def test_both_ways_read_what_is_written():
    lines, expected = written(np.random.default_rng(1), 500)
    for found in (_at_once(lines), _one_by_one(lines, range(500)), read_corners(lines, range(500))):
        assert found is not None
        assert found.counts.tolist() == [len(corners) for corners in expected]
        rows = np.stack([found.vertex, found.place, found.normal], axis=-1)
        assert rows.tolist() == [list(corner) for corners in expected for corner in corners]


@pytest.mark.parametrize(
    "odd",
    ["+1 2 3", "1/ 2 3", "1/2/3/4 2 3", "1- 2 3", "1-2 2 3", "9" * 19 + " 1 2", "x 2 3", "1/x 2 3", "/1 2 3", "1 2 ٣"],
)
def test_what_is_odd_is_read_line_by_line(odd):
    assert _at_once(["1 2 3", odd]) is None


def test_numbers_that_are_none_are_told_or_left_to_who_needs_them():
    found = read_corners(["1/x/y 2/2/2 3", "+4/5 6// 7/8/9"], [3, 4])
    assert found.vertex.tolist() == [1, 2, 3, 4, 6, 7]
    assert found.place.tolist() == [NO_NUMBER, 2, MISSING, 5, MISSING, 8]
    assert found.normal.tolist() == [NO_NUMBER, 2, MISSING, MISSING, MISSING, 9]
    with pytest.raises(SceneError, match="line 4 has 'x'; it must be an integer"):
        read_corners(["1 2 3", "x 2 3"], [3, 4])
    with pytest.raises(SceneError, match="beyond 2"):
        read_corners(["9" * 30 + " 2 3"], [1])


def test_polygons_become_fans_around_their_first_corner():
    counts = np.array([3, 5, 4])
    expected = [[0, 1, 2], [3, 4, 5], [3, 5, 6], [3, 6, 7], [8, 9, 10], [8, 10, 11]]
    assert fans(counts).tolist() == expected
    assert fans(np.zeros(0, np.int64)).shape == (0, 3)
    assert absolute(np.array([1, 5, -1, -4]), np.array([9, 9, 4, 4])).tolist() == [0, 4, 3, 0]
