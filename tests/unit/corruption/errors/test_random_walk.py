import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.corruption import RandomWalk


def _walks(density, times_ns, worlds=20_000, width=3):
    walk = RandomWalk(density=density)
    signals = np.zeros((len(times_ns), worlds, width))
    return walk.series(signals, times_ns=times_ns, state=walk.init((worlds, width), seed=1))[0]


def test_it_begins_at_zero_and_its_variance_grows_with_time():
    out = _walks((0.5, 1.0, 2.0), 250_000_000 * np.arange(9))
    assert (out[0] == 0).all()
    expected = np.outer(0.25 * np.arange(9), np.square([0.5, 1.0, 2.0]))
    np.testing.assert_allclose(out.var(axis=1), expected, rtol=5 * np.sqrt(2 / 20_000))


def test_it_also_wanders_while_samples_are_skipped():
    # physics.md E-32: a step counts for the time that has passed, not for the number of samples
    regular, gappy = _walks(1.0, np.arange(0, 10**10, 10**9)), _walks(1.0, np.array([0, 2 * 10**9, 9 * 10**9]))
    assert gappy[-1].var() == pytest.approx(9.0, rel=0.02)
    assert regular[-1].var() == pytest.approx(9.0, rel=0.02)


def test_increments_are_independent():
    steps = np.diff(_walks(1.0, np.arange(0, 4 * 10**9, 10**9)), axis=0)
    for a in range(3):
        for b in range(a):
            assert abs((steps[a] * steps[b]).mean()) < 5 / np.sqrt(60_000)


def test_a_negative_density_is_refused():
    with pytest.raises(SpecError, match="density is -1; it must not be negative"):
        RandomWalk(density=-1.0)
