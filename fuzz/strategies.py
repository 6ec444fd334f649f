"""Inputs for property tests: any bytes, and valid files made wrong."""

import os
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from fuzz.mutation import mutated
from fuzz.reader import Reader

EXAMPLES_VARIABLE = "SENSORIUM_FUZZ_EXAMPLES"
"""Environment variable: how many examples a property is tried with, at random; without it a few, always the same."""

_FEW = 8


def attempts() -> Callable[[Any], Any]:
    """Settings of all properties of readers."""
    asked = os.environ.get(EXAMPLES_VARIABLE)
    return settings(
        max_examples=int(asked or _FEW),
        derandomize=asked is None,
        database=None,
        deadline=None,  # the promise has a time of its own
        suppress_health_check=list(HealthCheck),
    )


def any_bytes() -> st.SearchStrategy[bytes]:
    """Bytes without any meaning."""
    return st.binary(max_size=2000)


def wrong_files(reader: Reader, folder: Path) -> st.SearchStrategy[bytes]:
    """Valid files with some mistakes."""
    seeds = _seeds(reader, folder)
    return st.builds(
        lambda data, seed: mutated(data, random.Random(seed), reader.words, seeds),
        st.sampled_from(seeds),
        st.integers(0, 2**32 - 1),
    )


@cache
def _seeds(reader: Reader, folder: Path) -> list[bytes]:
    return reader.seeds(folder)
