import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensorium.random import counter_words, draw_words, philox
from sensorium.random.philox import MAX_DRAWS, MAX_ELEMENTS, MAX_STAGES, MAX_TICKS, MAX_WORLDS

FULL = 0xFFFFFFFF


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((FULL, FULL, FULL, FULL), (FULL, FULL), (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_known_answers_of_random123(counter, key, expected):
    assert philox(*map(np.uint32, counter), *map(np.uint32, key)) == expected


@given(
    st.integers(0, MAX_ELEMENTS - 1),
    st.integers(0, MAX_STAGES - 1),
    st.integers(0, MAX_DRAWS - 1),
    st.integers(0, MAX_TICKS - 1),
    st.integers(0, MAX_WORLDS - 1),
)
def test_counter_can_be_unpacked_so_no_two_draws_share_one(element, stage, draw, tick, world):
    c0, c1, c2, c3 = (int(word) for word in counter_words(element, stage, draw, tick, world))

    assert (c0, c1 >> 16, c1 & 0xFFFF) == (element, stage, draw)
    assert ((c3 >> 24) << 32 | c2, c3 & 0xFFFFFF) == (tick, world)


@numba.njit
def _fill(words, k0, k1):
    for i in range(words.shape[1]):
        words[0, i], words[1, i], words[2, i], words[3, i] = draw_words(k0, k1, i, 1, 2, 3, 4)


def test_vectorized_loop_equals_single_calls():
    # 37 is no multiple of any vector width, so body and remainder are both checked
    words = np.zeros((4, 37), np.uint32)
    _fill(words, np.uint32(5), np.uint32(6))
    single = [draw_words(np.uint32(5), np.uint32(6), i, 1, 2, 3, 4) for i in range(37)]
    np.testing.assert_array_equal(words.T, np.array(single, np.uint32))


def test_one_changed_counter_bit_changes_half_of_the_output_bits():
    words = np.array([draw_words(np.uint32(1), np.uint32(2), e, 0, 0, 0, 0) for e in range(2000)], np.uint32)
    flipped = np.array([draw_words(np.uint32(1), np.uint32(2), e, 0, 0, 1 << 39, 0) for e in range(2000)], np.uint32)
    share = np.bitwise_count(words ^ flipped).sum() / (2000 * 128)
    assert share == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(2000 * 128))
