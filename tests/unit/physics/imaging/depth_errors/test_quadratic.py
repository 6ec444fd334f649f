"""The quadratic law of noise."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.imaging.depth_errors import Frames, QuadraticError, quadratic_error, quadratic_std
from sensorium.random import stream_key

PIXELS = 40_000

LAW = QuadraticError(base_m=0.001, slope=0.002, square_per_m=0.0015)


def measured(depth_m, error=LAW):
    depth = np.full((1, PIXELS), depth_m, np.float32)
    quadratic_error(depth, error, frames=Frames(np.array(stream_key(1, "depth"), np.uint32), 0))
    return depth[0].astype(np.float64)


@pytest.mark.parametrize("z", [0.5, 2.0, 8.0])
def test_noise_grows_by_the_law(z):
    law = 0.001 + 0.002 * z + 0.0015 * z * z
    assert quadratic_std(z, LAW) == pytest.approx(law)
    found = measured(z)
    assert found.std() == pytest.approx(law, rel=4 / np.sqrt(2 * PIXELS))
    assert found.mean() == pytest.approx(z, abs=4 * law / np.sqrt(PIXELS) + 1e-6)


def test_nothing_stays_nothing_and_no_depth_is_negative():
    assert (measured(0.0) == 0.0).all()
    wild = measured(1.0, QuadraticError(base_m=2.0))
    assert wild.min() == 0.0
    assert 0.25 < (wild == 0.0).mean() < 0.36  # Phi(-1/2) = 0.309


def test_bad_figures_are_told():
    with pytest.raises(SpecError, match=r"slope is -1.0; it must be greater than or equal to 0"):
        QuadraticError(slope=-1.0)
