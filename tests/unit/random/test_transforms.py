import re

import numba
import numpy as np
import pytest

from sensorium.random import (
    draw_words,
    exponential_f32,
    exponential_f64,
    normal_pair_f32,
    normal_pair_f64,
    uniform_f32,
    uniform_f64,
)

ZERO, FULL = np.uint32(0), np.uint32(0xFFFFFFFF)


def test_uniforms_stay_inside_the_open_interval_and_are_symmetric():
    assert uniform_f32(ZERO) == np.float32(2.0**-24)
    assert uniform_f32(FULL) == np.float32(1 - 2.0**-24) < 1
    assert uniform_f64(ZERO, ZERO) == 2.0**-53
    assert uniform_f64(FULL, FULL) == 1 - 2.0**-53 < 1


@pytest.mark.parametrize("word", [1, 12345678, 0x7FFFFFFF, 0x80000000, 0xDEADBEEF])
def test_uniform_is_the_word_as_a_fraction(word):
    assert uniform_f32(np.uint32(word)) == ((word >> 9) + 0.5) / 2**23
    assert uniform_f64(np.uint32(word), np.uint32(987654321)) == ((word << 20 | 987654321 >> 12) + 0.5) / 2**52


@numba.njit
def _pairs(words, f32, f64):
    for i in range(words.shape[0]):
        f32[i, 0], f32[i, 1] = normal_pair_f32(words[i, 0], words[i, 1])
        f64[i, 0], f64[i, 1] = normal_pair_f64(words[i, 0], words[i, 1], words[i, 2], words[i, 3])


def test_normals_are_box_muller_of_their_words():
    words = np.random.default_rng(2).integers(0, 2**32, (200_000, 4), np.uint32)
    f32, f64 = np.zeros((len(words), 2), np.float32), np.zeros((len(words), 2))
    _pairs(words, f32, f64)

    # float32: 31 bits of the first word, a signed second word
    w = words.astype(np.float64)
    radius = np.sqrt(-2 * np.log((np.floor(w[:, 0] / 2) + 0.5) / 2**31))
    angle = np.pi * words[:, 1].astype(np.int32) / 2**31
    expected = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)
    wide = radius > 0.1
    assert np.abs(f32 - expected)[wide].max() < 1e-6

    # float64: 52 bits each
    wide_words = words.astype(np.uint64)
    mantissa_u, mantissa_a = (wide_words[:, i] << 20 | wide_words[:, i + 1] >> 12 for i in (0, 2))
    radius = np.sqrt(-2 * np.log((mantissa_u + 0.5) / 2**52))
    angle = np.pi * (mantissa_a / 2**51 - 1)
    np.testing.assert_allclose(f64, radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1), atol=4e-15)


def test_extreme_words_give_finite_normals_up_to_the_stated_tail():
    corners = [ZERO, np.uint32(1), np.uint32(0x7FFFFFFF), np.uint32(0x80000000), FULL]
    f32 = np.array([normal_pair_f32(a, b) for a in corners for b in corners])
    f64 = np.array([normal_pair_f64(a, b, c, c) for a in corners for b in corners for c in corners])
    assert np.abs(f32).max() == pytest.approx(np.sqrt(64 * np.log(2)), rel=1e-6)
    assert np.abs(f64).max() == pytest.approx(np.sqrt(106 * np.log(2)), rel=1e-12)


def test_exponentials_are_positive_and_minus_log_of_the_uniform():
    assert exponential_f32(FULL) == pytest.approx(2.0**-24, rel=1e-6)
    assert exponential_f32(ZERO) == pytest.approx(32 * np.log(2), rel=1e-6)
    assert exponential_f64(FULL, FULL) == pytest.approx(2.0**-53, rel=1e-12)
    assert exponential_f64(ZERO, ZERO) == pytest.approx(53 * np.log(2), rel=1e-15)
    word = np.uint32(0x12345678)
    assert exponential_f32(word) == pytest.approx(-np.log(0x12345678 / 2**32), rel=1e-6)


@numba.njit(error_model="numpy")
def _fill(out, k0, k1):
    for i in range(out.size):
        w0, w1, _, _ = draw_words(k0, k1, i, 0, 0, 0, 0)
        out[i] = normal_pair_f32(w0, w1)[0]


def test_a_loop_of_float32_normals_vectorizes():
    _fill(np.zeros(8, np.float32), np.uint32(1), np.uint32(2))
    (assembly,) = _fill.inspect_asm().values()
    if not re.search(r"%[xyz]mm", assembly):
        pytest.skip("not an x86 machine")
    # Packed square root and packed fused multiply-add: the whole transform is in vector registers
    assert re.search(r"v?sqrtps\s", assembly)
    assert not re.search(r"call.*(logf|cosf|sinf|fmaf)", assembly)
