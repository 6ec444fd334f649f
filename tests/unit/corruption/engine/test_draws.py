import numpy as np
import pytest

from sensorium.corruption import White
from sensorium.corruption.engine.op import stage
from sensorium.corruption.errors.white import WHITE
from sensorium.random import Stream

SHAPE = (130, 7)


def _white(law, shape=SHAPE, **options):
    white = White(std=1.0, law=law)
    out, _ = white.apply(np.zeros(shape), time_ns=0, state=white.init(shape, seed=3, name="imu", **options))
    return out


def test_normal_numbers_of_the_kernel_are_those_of_the_stream():
    # Four channels share the words of one draw: two pairs by Box-Muller, the first from the first two words
    stream = Stream(3, "imu")
    first, second = stream.normal_pair(stage(0, WHITE, 0), 0, 0, elements=2, worlds=130, dtype=np.float32)
    out = _white("normal")
    np.testing.assert_array_equal(out[:, 0::4], first)
    np.testing.assert_array_equal(out[:, 1::4], second)


def test_uniform_numbers_of_the_kernel_are_those_of_the_stream():
    u = Stream(3, "imu").uniform(stage(0, WHITE, 0), 0, 0, elements=2, worlds=130, dtype=np.float32)
    np.testing.assert_allclose(_white("uniform")[:, 0::4], np.sqrt(12) * (u.astype(float) - 0.5), rtol=2e-7, atol=1e-7)


def test_laplace_numbers_invert_their_distribution():
    u = Stream(3, "imu").uniform(stage(0, WHITE, 0), 0, 0, elements=2, worlds=130, dtype=np.float32).astype(float)
    expected = np.sign(u - 0.5) * -np.log(2 * np.minimum(u, 1 - u)) / np.sqrt(2)
    np.testing.assert_allclose(_white("laplace")[:, 0::4], expected, rtol=3e-7, atol=1e-7)


@pytest.mark.parametrize("law", ["normal", "uniform", "laplace"])
def test_no_two_channels_worlds_or_sensors_share_a_number(law):
    out = _white(law, (70, 3, 7))
    assert len(np.unique(out)) > 0.999 * out.size
    np.testing.assert_array_equal(out[5:6], _white(law, (1, 3, 7), first_world=5))
    # Sensors come after each other in the counter, so the first of several is the one alone
    np.testing.assert_array_equal(out[:, 0], _white(law, (70, 1, 7))[:, 0])
