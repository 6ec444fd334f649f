import numpy as np
import pytest
from scipy.optimize import brentq

from sensorium.core.errors import SpecError
from sensorium.physics import optics

C = 299_792_458.0


def edge_s(amplitude, trigger, duration_s):
    """When a Gaussian pulse passes the trigger on its way up, found on the pulse itself."""
    above = lambda t: amplitude * float(optics.gaussian_pulse(t, duration_s=duration_s)) - trigger  # noqa: E731
    return brentq(above, -20 * duration_s, 0.0, xtol=1e-20)


def test_the_walk_is_where_the_edge_of_the_pulse_passes_the_trigger():
    rng = np.random.default_rng(1)
    for _ in range(50):
        trigger, duration_s, index = rng.uniform(0.01, 1), rng.uniform(1e-9, 2e-8), rng.uniform(1.0, 1.5)
        level = trigger * rng.uniform(1.1, 100)
        amplitude = level * rng.uniform(1.0, 1000)
        early_s = edge_s(amplitude, trigger, duration_s) - edge_s(level, trigger, duration_s)
        walk_m = optics.range_walk(amplitude, level=level, trigger=trigger, duration_s=duration_s, index=index)
        assert float(walk_m) == pytest.approx(C * early_s / 2.0 / index, rel=1e-6, abs=1e-9)


def test_up_to_the_level_a_device_corrects_all_of_it():
    walk_m = optics.range_walk([0.0, 0.5, 1.0, 1.01, 10.0], level=1.0, trigger=0.1, duration_s=5e-9)
    assert (walk_m[:3] == 0.0).all()
    assert (np.diff(walk_m[2:]) < 0.0).all()


def test_bad_input():
    with pytest.raises(SpecError, match=r"trigger is 2\.0 and level 1\.0; the trigger must be above 0 and below"):
        optics.range_walk(1.0, level=1.0, trigger=2.0, duration_s=1e-9)
    with pytest.raises(SpecError, match="amplitude is -1; it must be finite and at least 0"):
        optics.range_walk(-1.0, level=1.0, trigger=0.5, duration_s=1e-9)
