"""Numba made quicker: the same answers, and less work."""

import gc
import operator

import numba
import numpy as np
import pytest
from numba.core import codegen, ir, types
from numba.core.compiler import Flags
from numba.core.cpu_options import FastMathOptions
from numba.core.errors import TypingError
from numba.core.registry import cpu_target

from sensorium.runtime import compiler, jit


@jit.function
def _squared(x):
    return x * x


@jit.function
def _sum_of_squares(values):
    if values.size == 0:
        raise ValueError("no values")
    total = 0.0
    for value in values:
        total += _squared(value)
    return total


@jit.kernel
def _kernel(values):
    return _sum_of_squares(values)


@pytest.fixture
def values():
    return np.arange(1.0, 6.0)


def test_a_part_has_no_machine_code_and_its_kernel_has(values):
    assert _kernel(values) == 55.0
    for part in (_squared, _sum_of_squares):
        for compiled in part._compiled.overloads.values():
            assert isinstance(compiled.library, compiler._PartLibrary)
            assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) == 0
    library = next(iter(_kernel.overloads.values())).library
    assert type(library) is codegen.JITCodeLibrary


def test_a_part_raises_through_its_kernel(values):
    with pytest.raises(ValueError, match="no values"):
        _kernel(values[:0])


@pytest.fixture
def thresholds():
    """Those of the collection of garbage; put back after."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_garbage_is_collected_rarely_while_a_kernel_is_compiled(thresholds, monkeypatch):
    seen = []

    @jit.kernel
    def kernel(x):
        return x + 1

    monkeypatch.setattr(kernel._cache, "load_overload", lambda *_: None)  # an earlier run may have compiled it
    of_numba = kernel._compiler.compile
    monkeypatch.setattr(
        kernel._compiler, "compile", lambda *arguments: seen.append(gc.get_threshold()) or of_numba(*arguments)
    )
    assert kernel(1) == 2
    assert seen == [(200_000, 10, 10)]
    assert gc.get_threshold() == (700, 10, 10)


def test_what_held_before_holds_again_whoever_is_done_last(thresholds):
    first, second = compiler.reduced_gc(), compiler.reduced_gc()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold() == (200_000, 10, 10)
    second.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 10, 10)
    with pytest.raises(ValueError, match="wrong"), compiler.reduced_gc():
        raise ValueError("wrong")
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("own", [(0, 10, 10), (1_000_000, 5, 5)])
def test_who_collects_never_or_more_rarely_goes_on_so(thresholds, own):
    gc.set_threshold(*own)
    with compiler.reduced_gc():
        assert gc.get_threshold() == own
    assert gc.get_threshold() == own


def test_python_can_call_a_part(values):
    assert _sum_of_squares(values) == 55.0


def test_what_a_call_gives_is_found_once(monkeypatch):
    """The second time the templates are not even looked at, and the answer is the same."""
    context = cpu_target.typing_context
    multiply = context.resolve_value_type(operator.mul)
    cases = [(types.int32, types.float32), (types.int64, types.int64), (types.float64, types.int8)]
    first = [multiply.get_call_type(context, case, {}) for case in cases]
    assert [signature.return_type for signature in first] == [types.float64, types.int64, types.float64]

    def looked_up(*arguments, **named):
        raise LookupError("the templates")

    monkeypatch.setattr("numba.core.utils.order_by_target_specificity", looked_up)
    assert [multiply.get_call_type(context, case, {}) for case in cases] == first
    with pytest.raises(LookupError):
        multiply.get_call_type(context, (types.int16, types.complex128), {})


def test_what_does_not_fit_is_refused_each_time():
    @numba.njit
    def wrong(x):
        return x + "text"

    for _ in range(2):
        with pytest.raises(TypingError, match="No implementation of function"):
            wrong(1.0)


def test_passes_over_functions_are_built_once(monkeypatch):
    generator = cpu_target.target_context.codegen()
    passes = generator._function_pass_manager()
    assert generator._function_pass_manager() is passes
    monkeypatch.setattr("numba.core.config.OPT", 0)
    assert generator._function_pass_manager() is not passes


def test_variables_of_statements_are_those_that_numba_finds():
    """Against its own rule, written out."""

    def listed(part):
        if isinstance(part, ir.Var):
            return [part]
        if isinstance(part, ir.Inst):
            return part.list_vars()
        if isinstance(part, list | tuple):
            return [each for one in part for each in listed(one)]
        if isinstance(part, dict):
            return [each for one in part.values() for each in listed(one)]
        return []

    def example(a, b):
        total = 0.0
        for i in range(a.size):
            total += max(a[i], b[i, 0]) if a[i] > 1.0 else abs(b[0, i])
        return total, (a, b)

    blocks = numba.core.compiler.run_frontend(example).blocks
    statements = [statement for block in blocks.values() for statement in block.body]
    assert len(statements) > 30
    for statement in statements:
        assert statement._rec_list_vars(statement.__dict__) == listed(statement.__dict__)


def test_a_version_of_numba_without_these_parts_stays_as_it_is():
    def change():
        raise AttributeError("no such part")

    compiler.apply_numba_patches((change,))


def test_flags_that_numba_looks_up_are_those_that_were_set():
    """Numba is spared working out its settings anew: what it is given must be what it would have worked out."""
    flags = Flags()
    for _ in range(2):
        assert flags.values() == {name: getattr(flags, name) for name in flags.options}
    before = flags.copy()
    flags.nrt = not flags.nrt
    flags.fastmath = FastMathOptions({"contract"})
    assert flags.values()["nrt"] is not before.values()["nrt"]
    assert flags != before
    flags.fastmath = FastMathOptions({"nsz"})
    assert flags.values()["fastmath"].flags == {"nsz"}
    assert Flags(flags) == flags
    assert hash(Flags(flags)) == hash(flags)
