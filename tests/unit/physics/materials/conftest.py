import math

import pytest

from sensorium.physics.materials import row as at
from sensorium.physics.optics.surfaces import layers

FIELDS = [at.N, at.K, at.R0, at.ALPHA2, at.C, at.ON_A0, at.ON_A1, at.ON_B, at.LAYERING, at.PLASTIC_N2, at.PLASTIC_FI]


@pytest.fixture(scope="session")
def monostatic():
    """f cos(theta) [1/sr] that a row returns at an angle, by the compiled function kernels call."""
    return lambda row, angle_deg: layers.monostatic(math.cos(math.radians(angle_deg)), *row[FIELDS])
