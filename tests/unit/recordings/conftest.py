"""Recordings of real devices, where they are."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def recorded():
    """Gives the path of a recording by its name; the test is skipped where it is not there."""

    def find(name):
        folder = Path(os.environ.get("SENSORIUM_RECORDINGS", Path(__file__).parents[4] / "shared" / "recordings"))
        if not (folder / name).exists():
            pytest.skip(f"the recording {name} is not there")
        return folder / name

    return find
