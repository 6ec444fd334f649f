"""What page.js does first: arrays out of the page."""

import base64

import numpy as np
import pytest


def _unpacked(packed):
    return np.frombuffer(base64.b64decode(packed["data"]), "<" + packed["kind"])


@pytest.fixture
def unpacked():
    """Turns packed arrays back."""
    return _unpacked
