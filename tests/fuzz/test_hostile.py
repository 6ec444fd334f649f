"""Files that ask for too much are read or refused within the memory and the time that their size accounts for."""

import sys

import pytest

from fuzz.hostile import Figures, Hostile, broken, measure
from fuzz.hostile_files import HOSTILE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured by /proc, and pipes are made")


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: hostile.name)
def test_hostile_files_keep_to_their_bounds(tmp_path, hostile):
    assert broken(hostile, measure(hostile, tmp_path)) == []


def test_what_breaks_a_bound_is_told():
    hostile = Hostile("x", lambda folder: folder, lambda path: None, "too much", 1000, 1.0, 10.0)
    assert broken(hostile, Figures(100_000, 1000, 2.0, "SpecError: too much")) == []
    wrong = broken(hostile, Figures(100_000, 1001, 2.1, "SpecError: no"))
    assert [sentence.split(";")[0] for sentence in wrong] == [
        *("it took 1001 bytes of memory", "it took 2.10 s", "it said 'SpecError: no'")
    ]
