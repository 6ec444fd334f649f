import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.corruption import Drift, Layout, Op, Program, White, operation
from sensorium.corruption.engine import op
from sensorium.corruption.engine.kernel import kernel_of
from sensorium.corruption.engine.op import (
    COLUMN,
    CUSTOM,
    LAST_COMMON,
    PARAMETERS,
    WIDTH,
    Start,
    rare_operations,
    registered,
)
from sensorium.random import Stream
from sensorium.random.philox import MAX_STAGES
from sensorium.runtime import jit


def test_stages_of_groups_kinds_and_repeats_are_all_different_and_fit_the_counter():
    stages = {
        op.stage(group, kind, repeat)
        for group in range(op.MAX_GROUPS)
        for kind in range(op.MAX_KINDS)
        for repeat in range(op.MAX_REPEATS)
    }
    assert len(stages) == op.MAX_GROUPS * op.MAX_KINDS * op.MAX_REPEATS
    assert max(stages) < MAX_STAGES


def _start(**changes):
    given = {"stage": 5, "tick": 0, "worlds": 3, "sensors": 2, "first_world": 0, "width": 3} | changes
    return Start(Stream(1, "imu"), **given)


def test_a_start_draws_the_same_for_a_world_in_a_batch_and_alone():
    whole = _start().normal(1).reshape(3, 2, 3)
    for world in range(3):
        alone = _start(worlds=1, first_world=world).normal(1).reshape(2, 3)
        np.testing.assert_array_equal(whole[world], alone)
    assert len(np.unique(whole)) == whole.size


def test_starts_at_other_ticks_and_draws_differ():
    starts = [_start().normal(1), _start().normal(2), _start(tick=9).normal(1), _start(stage=6).normal(1)]
    assert len(np.unique(starts)) == 4 * starts[0].size
    assert ((_start().uniform(3) > 0) & (_start().uniform(3) < 1)).all()


LAYOUT = Layout(3, 0.01)

NUMBERS = {
    "bias": 1, "scale": 2, "white": 3, "random_walk": 4, "gauss_markov": 5, "quantize": 6, "saturate": 7, "couple": 8,
    "flicker": 9, "bounded_walk": 10, "process": 11, "temperature": 12, "nonlinearity": 13, "low_pass": 14, "stuck": 15,
    "wave": 16, "spikes": 17, "dropout": 18, "freeze": 19, "dead": 20, "drift": 21, "intermittent_bias": 22,
    "overflow": 23,
}  # fmt: skip


def test_operations_keep_their_numbers_since_these_are_part_of_every_random_number():
    library = {each.name.rsplit(".", 1)[1]: n for n, each in registered().items() if n < op.FIRST_OF_OTHERS}
    assert library == NUMBERS
    assert CUSTOM == 24


@jit.function
def half(ops, o, par, x, first, last):
    column, width, p = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS]
    for row in range(first, last):
        for i in range(width):
            x[row, column + i] *= par[p]


def test_a_new_operation_runs_between_those_of_the_library_as_numpy_would():
    operation(41)(half)
    before, after = White(std=0.3).compiled(LAYOUT), Drift(rate=2.0).compiled(LAYOUT)
    for ops, added in (([*before, Op(41, np.array([0.5]))], 0.0), ([*before, Op(41, np.array([0.5])), *after], 2.0)):
        program = Program.of(ops, width=3, period_s=0.01)
        without = Program.of(before, width=3, period_s=0.01)
        signal, times = np.arange(30.0).reshape(10, 3), np.arange(10) * 10_000_000
        out, _ = program.series(signal, times, program.init((3,), seed=4, name="a"))
        white, _ = without.series(signal, times, without.init((3,), seed=4, name="a"))
        np.testing.assert_array_equal(out, 0.5 * white + added * (times / 1e9)[:, None])


def test_kernels_have_the_operations_of_other_packages_only_where_a_program_uses_them():
    operation(41)(half)
    own = tuple(number for number in NUMBERS.values() if number > LAST_COMMON)
    assert tuple(each.number for each in rare_operations({1, 3})) == own
    assert tuple(each.number for each in rare_operations({1, 41})) == (41,)
    assert tuple(each.number for each in rare_operations({14, 41})) == (*own, 41)


def test_kernels_that_differ_have_names_that_differ_since_the_linker_goes_by_them():
    operation(41)(half)
    kernels = [kernel_of(rare_operations(numbers)) for numbers in ({14}, {41}, {14, 41})]
    assert kernels[0].__qualname__ == "corrupt"
    assert kernel_of(rare_operations({1})) is kernels[0]

    # A function that is registered again, such as by a cell of a notebook, replaces the first
    @jit.function
    def other(ops, o, par, x, first, last):
        x[first, 0] = -1.0

    other.py_func.__module__, other.py_func.__qualname__ = half.py_func.__module__, half.py_func.__qualname__
    operation(41)(other)
    assert registered()[41].function is other
    kernels.append(kernel_of(rare_operations({41})))
    assert len({kernel.__qualname__ for kernel in kernels}) == 4


@pytest.mark.parametrize("number", [0, 24, 25, 31, 64])
def test_numbers_of_the_library_are_refused_to_others(number):
    with pytest.raises(SpecError, match=f"has the number {number}; one of another package must have 32 to 63"):
        operation(number)(half)


def test_two_operations_of_one_number_are_refused_with_one_that_is_free():
    operation(32)(half)

    @jit.function
    def twice(ops, o, par, x, first, last):
        x[first, 0] *= 2.0

    with pytest.raises(SpecError, match=r"half and .*twice both have the number 32; each needs its own, 32 to 63"):
        operation(32)(twice)


def test_functions_that_the_kernel_cannot_call_are_refused():
    @jit.function
    def backwards(x, par, ops, o, first, last):
        x[first, 0] = par[0]

    with pytest.raises(SpecError, match=r"takes x, par, ops, o, first, last; it may take ops, o, par, .*in this order"):
        operation(40)(backwards)
    with pytest.raises(SpecError, match="it must be compiled"):
        operation(40)(lambda ops, o: None)
