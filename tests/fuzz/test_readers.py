"""Every reader: any bytes, and wrong files made from right ones."""

import pytest
from hypothesis import given

from fuzz.promise import check
from fuzz.readers import READERS
from fuzz.strategies import any_bytes, attempts, wrong_files

# Rerun's threads take memory when they like, and not what a reader may take: `test_recordings` gives them a process
NAMES = [name for name in READERS if name not in ("mcap-show", "mcap-show-message")]


@pytest.mark.parametrize("name", NAMES)
def test_any_bytes(folder, name):
    @attempts()
    @given(any_bytes())
    def holds(data):
        check(READERS[name], data, folder)

    holds()


@pytest.mark.parametrize("name", NAMES)
def test_wrong_files(folder, name):
    @attempts()
    @given(wrong_files(READERS[name], folder))
    def holds(data):
        check(READERS[name], data, folder)

    holds()
