import numpy as np
import pytest

from sensorium.runtime.recycling import Pool, Recycler, is_referenced_elsewhere


def test_an_array_comes_back_only_when_nobody_holds_it_or_a_view_of_it():
    recycler = Recycler()
    first = recycler.array((1000,), np.float32)
    place = first.ctypes.data
    view = first[10:20].reshape(2, 5)
    second = recycler.array((1000,), np.float32)
    assert second.ctypes.data != place
    del first
    assert recycler.array((1000,), np.float32).ctypes.data != place  # the view still sees it
    del view
    again = recycler.array((1000,), np.float32)
    assert again.ctypes.data == place


def test_shapes_and_types_do_not_mix():
    recycler = Recycler()
    a = recycler.array((10,), np.float32)
    del a
    assert recycler.array((10,), np.int32).dtype == np.int32
    assert recycler.array((5, 2), np.float32).shape == (5, 2)


def test_many_kept_arrays_are_all_different():
    recycler = Recycler()
    arrays = [recycler.array((100,), np.float64) for _ in range(20)]
    assert len({a.ctypes.data for a in arrays}) == 20
    for i, a in enumerate(arrays):
        a[:] = i
    assert [a[0] for a in arrays] == list(range(20))


@pytest.mark.parametrize(
    "hold", [lambda array: array, lambda array: array[0], lambda array: array.reshape(-1)[2:], memoryview]
)
def test_arrays_are_held_by_who_has_one_or_a_view_or_a_buffer_of_it(hold):
    arrays = (np.zeros(4), np.zeros((2, 3)))
    assert is_referenced_elsewhere(arrays, holders=0)
    assert not is_referenced_elsewhere(arrays, holders=1)
    holder = hold(arrays[1])
    assert is_referenced_elsewhere(arrays, holders=1)
    del holder
    assert not is_referenced_elsewhere(arrays, holders=1)


class _Pair:
    """Something made of two arrays."""

    def __init__(self):
        self.first, self.second = np.zeros(3), np.zeros(4)


def test_things_of_a_pool_are_free_when_none_of_their_arrays_is_held():
    pool = Pool(holders=1)
    assert pool.free() is None
    pair = _Pair()
    assert pool.add(pair, (pair.first, pair.second)) is pair
    assert pool.free() is pair  # who holds the thing alone holds no array
    view = pair.second[1:]
    assert pool.free() is None
    del view
    assert pool.free() is pair


def test_a_pool_keeps_a_few_and_no_more():
    pool, made = Pool(holders=1), []
    while not pool.is_full:
        made.append(_Pair())
        pool.add(made[-1], (made[-1].first, made[-1].second))
    pool.add(_Pair(), (np.zeros(1),))
    assert pool.things == made
