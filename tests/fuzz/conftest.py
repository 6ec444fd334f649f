"""Readers of files, given what is wrong: `make fuzz` does the same for longer, guided by branches."""

import tempfile
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def folder():
    """A folder in memory where there is one, since each example is a file."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as work:
        yield Path(work)
