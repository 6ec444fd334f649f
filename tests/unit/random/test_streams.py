import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensorium.core.errors import SpecError
from sensorium.random import (
    Stream,
    draw_words,
    gamma_quantile,
    normal_pair_f32,
    normal_pair_f64,
    poisson_quantile,
    stream_key,
    uniform_f32,
    uniform_f64,
)
from sensorium.runtime import jit

# The first 8 bytes of BLAKE2b(b"0\0imu", digest_size=8), little-endian
KEY_OF_IMU = (0x165644B4, 0xD1C0BDD5)

WHERE = {"stage": 3, "draw": 7, "tick": (1 << 39) + 12345}


@jit.kernel
def _one_by_one(out32, out64, counts, k0, k1, first_element, first_world, tick):
    """All laws of each element from its own words."""
    for w in range(out32.shape[1]):
        for e in range(out32.shape[2]):
            w0, w1, w2, w3 = draw_words(k0, k1, first_element + e, 3, 7, tick, first_world + w)
            out32[0, w, e] = uniform_f32(w0)
            out32[1, w, e], out32[2, w, e] = normal_pair_f32(w0, w1)
            out64[0, w, e] = uniform_f64(w0, w1)
            out64[1, w, e], out64[2, w, e] = normal_pair_f64(w0, w1, w2, w3)
            out64[3, w, e] = gamma_quantile(uniform_f64(w0, w1), 2.5)
            counts[w, e] = poisson_quantile(uniform_f64(w0, w1), 40.0)


def test_array_code_equals_a_fused_kernel_bit_for_bit():
    stream = Stream(11, "lidar")
    size = {"elements": 203, "worlds": 3, "first_element": 17, "first_world": 5}
    out32, out64 = np.zeros((3, 3, 203), np.float32), np.zeros((4, 3, 203))
    counts = np.zeros((3, 203), np.int64)
    _one_by_one(out32, out64, counts, *stream.key, 17, 5, WHERE["tick"])

    for dtype, out in ((np.float32, out32), (np.float64, out64)):
        first, second = stream.normal_pair(**WHERE, **size, dtype=dtype)
        np.testing.assert_array_equal(out[0], stream.uniform(**WHERE, **size, dtype=dtype))
        np.testing.assert_array_equal(out[1], stream.normal(**WHERE, **size, dtype=dtype))
        np.testing.assert_array_equal(out[1], first)
        np.testing.assert_array_equal(out[2], second)
    np.testing.assert_array_equal(out64[3], stream.gamma(**WHERE, **size, shape=2.5))
    np.testing.assert_array_equal(counts, stream.poisson(**WHERE, **size, mean=40.0))


@jit.kernel
def _sums(out32, out64, k0, k1):
    """Normals that are only ever added to: a compiler would like to fuse the sum with their last product."""
    for e in range(out32.size):
        w0, w1, w2, w3 = draw_words(k0, k1, e, 0, 0, 0, 0)
        out32[e] = normal_pair_f32(w0, w1)[0] + np.float32(0.1)
        out64[e] = normal_pair_f64(w0, w1, w2, w3)[0] + 0.1


def test_arithmetic_of_the_kernel_around_a_draw_does_not_change_its_bits():
    stream = Stream(11, "lidar")
    out32, out64 = np.zeros(1003, np.float32), np.zeros(1003)
    _sums(out32, out64, *stream.key)
    np.testing.assert_array_equal(out32, stream.normal(0, 0, 0, elements=1003, dtype=np.float32)[0] + np.float32(0.1))
    np.testing.assert_array_equal(out64, stream.normal(0, 0, 0, elements=1003)[0] + 0.1)


LAWS = {
    "uniform": lambda s, dtype, **size: s.uniform(**WHERE, **size, dtype=dtype),
    "normal": lambda s, dtype, **size: s.normal(**WHERE, **size, dtype=dtype),
    "exponential": lambda s, dtype, **size: s.exponential(**WHERE, **size, dtype=dtype),
    "gamma": lambda s, dtype, **size: s.gamma(**WHERE, **size, shape=0.7, scale=2.0),
    "poisson": lambda s, dtype, **size: s.poisson(**WHERE, **size, mean=30.0),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("law", LAWS)
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 5), st.integers(0, 61))
def test_any_split_gives_the_same_bytes(law, dtype, world, element):
    stream = Stream(1, "s")
    draw = LAWS[law]
    whole = draw(stream, dtype, elements=61, worlds=5)
    left = draw(stream, dtype, elements=element, worlds=5)
    right = draw(stream, dtype, elements=61 - element, worlds=5, first_element=element)
    np.testing.assert_array_equal(np.concatenate([left, right], 1), whole)
    upper = draw(stream, dtype, elements=61, worlds=world)
    lower = draw(stream, dtype, elements=61, worlds=5 - world, first_world=world)
    np.testing.assert_array_equal(np.concatenate([upper, lower], 0), whole)


def test_threads_drawing_at_once_get_the_same_bytes():
    stream = Stream(1, "s")
    expected = stream.normal(0, 0, 0, elements=50_000)
    results = [np.zeros(0)] * 4

    def draw(i):
        results[i] = stream.normal(0, 0, 0, elements=50_000)

    threads = [threading.Thread(target=draw, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_every_coordinate_of_a_draw_changes_it():
    def first(stream=Stream(1, "a"), **change):  # noqa: B008
        where = {"stage": 0, "draw": 0, "tick": 0, "elements": 1} | change
        return stream.uniform(**where)[0, 0]

    values = [first()]
    values += [first(**{name: 1}) for name in ("stage", "draw", "tick", "first_element", "first_world")]
    values += [first(tick=1 << 32), first(tick=1 << 39), first(first_world=1 << 23)]
    values += [first(Stream(2, "a")), first(Stream(1, "b")), first(Stream(-1, "a"))]
    assert len(set(values)) == len(values)


def test_keys_never_change_between_versions():
    assert stream_key(0, "imu") == KEY_OF_IMU
    assert stream_key(np.int64(0), "imu") == KEY_OF_IMU
    assert stream_key(10**40, "imu") != stream_key(10**40 + 1, "imu")
    # Seed and name cannot flow into each other
    assert stream_key(1, "2x") != stream_key(12, "x")


def test_parameters_broadcast_over_worlds_and_elements():
    stream = Stream(1, "s")
    means = np.array([[0.0], [5.0], [5000.0]])
    counts = stream.poisson(0, 0, 0, mean=means, elements=4, worlds=3)
    for world in range(3):
        alone = stream.poisson(0, 0, 0, mean=means[world, 0], elements=4, first_world=world)
        np.testing.assert_array_equal(counts[world], alone[0])
    assert (counts[0] == 0).all()
    gammas = stream.gamma(0, 0, 0, shape=2.0, scale=np.array([1.0, 3.0]), elements=2)
    np.testing.assert_array_equal(gammas, stream.gamma(0, 0, 0, shape=2.0, elements=2) * [1, 3])


def test_empty_arrays_are_allowed():
    assert Stream(1, "s").normal(0, 0, 0, elements=0, worlds=2).shape == (2, 0)


def test_a_stream_without_a_seed_is_an_error():
    with pytest.raises(TypeError):
        Stream(name="imu")
    with pytest.raises(SpecError, match="seed is None; it must be an integer"):
        Stream(None, "imu")
    with pytest.raises(SpecError, match=r"seed is 1\.5"):
        Stream(1.5, "imu")
    with pytest.raises(SpecError, match="stream name is ''"):
        Stream(1, "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stage": 1 << 16}, "stage is 65536; it must be an integer from 0 to 65535"),
        ({"draw": -1}, "draw is -1"),
        ({"tick": 1 << 40}, "tick is 1099511627776"),
        ({"tick": 0.5}, r"tick is 0\.5"),
        ({"worlds": (1 << 24) + 1}, "worlds is 16777217"),
        ({"first_world": 1 << 24}, "first_world is 16777216"),
        ({"worlds": 2, "first_world": (1 << 24) - 1}, "worlds is 2; it must be an integer from 0 to 1"),
        ({"elements": 2, "first_element": (1 << 32) - 1}, "elements is 2; it must be an integer from 0 to 1"),
        ({"dtype": np.float16}, "dtype is .*float16.*; it must be float32 or float64"),
        ({"dtype": None}, "dtype is None"),
    ],
)
def test_coordinates_that_do_not_fit_the_counter_are_errors(change, message):
    with pytest.raises(SpecError, match=message):
        Stream(1, "s").normal(**({"stage": 0, "draw": 0, "tick": 0, "elements": 1} | change))


@pytest.mark.parametrize("mean", [-1.0, np.nan, np.inf, 2e12])
def test_poisson_means_outside_the_law_are_errors(mean):
    with pytest.raises(SpecError, match=r"mean is .*; it must be from 0 to 1e\+12"):
        Stream(1, "s").poisson(0, 0, 0, mean=[1.0, mean], elements=2)


@pytest.mark.parametrize(
    ("shape", "scale", "message"),
    [
        (0.01, 1.0, r"shape is 0\.01; it must be from 0\.05"),
        (np.nan, 1.0, "shape is nan"),
        (1.0, 0.0, r"scale is 0\.0"),
        (
            [1.0, 2.0, 3.0],
            1.0,
            r"shape has shape \(3,\); it must broadcast to \(worlds, elements\) = \(1, 2\)",
        ),
    ],
)
def test_gamma_parameters_outside_the_law_are_errors(shape, scale, message):
    with pytest.raises(SpecError, match=message):
        Stream(1, "s").gamma(0, 0, 0, shape=shape, scale=scale, elements=2)
