"""A uniform magnetic field is the same everywhere and always."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.fields import UniformMagnetic


def test_it_is_the_same_everywhere_and_always():
    field = UniformMagnetic((20e-6, 0, -44e-6))
    B_W = field.at(np.random.default_rng(0).normal(size=(4, 5, 3)), time_ns=10**12)
    np.testing.assert_array_equal(B_W, np.broadcast_to([20e-6, 0, -44e-6], (4, 5, 3)))
    B_W[...] = 0.0
    np.testing.assert_array_equal(field.at((0, 0, 0)), [20e-6, 0, -44e-6])


def test_values_that_cannot_be_are_refused():
    with pytest.raises(SpecError, match=r"UniformMagnetic.field_W is missing"):
        UniformMagnetic()
    with pytest.raises(SpecError, match="field_W"):
        UniformMagnetic((0, np.inf, 0))
    with pytest.raises(SpecError, match=r"UniformMagnetic.unit"):
        UniformMagnetic((0, 0, 1), unit="uT")
