import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import optics


def test_the_law():
    rng = np.random.default_rng(2)
    angle, radius = rng.uniform(0, 0.5, 100), rng.uniform(1e-3, 0.1, 100)
    strength, slope = rng.uniform(0, 1, 100), rng.uniform(0.5, 4, 100)
    share = optics.stray_light(angle, strength=strength, radius_rad=radius, slope=slope)
    np.testing.assert_allclose(share, strength / (1.0 + np.exp(slope * np.log(angle / radius))), rtol=1e-12)


def test_strength_at_the_center_half_of_it_at_the_radius_and_the_slope_far_outside():
    law = {"strength": 0.1, "radius_rad": 0.01, "slope": 3.0}
    assert optics.stray_light([0.0, 0.01], **law) == pytest.approx([0.1, 0.05])
    near, far = optics.stray_light([10.0, 100.0], **law)
    assert np.log10(near / far) == pytest.approx(3.0, abs=1e-6)


def test_bad_input():
    with pytest.raises(SpecError, match="radius_rad is 0; it must be finite and above 0"):
        optics.stray_light(0.1, strength=0.1, radius_rad=0.0)
