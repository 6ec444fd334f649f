"""Type inference that remembers: the same answers, for kernels of this library alone."""

import operator

import numba
import pytest
from numba.core import types
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from numba.core.types.functions import BaseFunction

from sensorium.runtime import jit
from sensorium.runtime.quick_typing import quick_typing

CONTEXT = cpu_target.typing_context


def test_a_signature_is_found_once(monkeypatch):
    """The second time the templates are not searched, and the answer is the same."""
    multiply = CONTEXT.resolve_value_type(operator.mul)
    cases = [(types.int32, types.float32), (types.int64, types.int64), (types.float64, types.int8)]
    own = [multiply.get_call_type(CONTEXT, case, {}) for case in cases]

    def looked_up(*arguments, **named):
        raise LookupError("the templates")

    with quick_typing():
        first = [multiply.get_call_type(CONTEXT, case, {}) for case in cases]
        assert first == own
        assert [signature.return_type for signature in first] == [types.float64, types.int64, types.float64]
        monkeypatch.setattr("numba.core.utils.order_by_target_specificity", looked_up)
        assert [multiply.get_call_type(CONTEXT, case, {}) for case in cases] == first
        with pytest.raises(LookupError):
            multiply.get_call_type(CONTEXT, (types.int16, types.complex128), {})


def test_what_does_not_fit_is_refused_each_time():
    @numba.njit
    def wrong(x):
        return x + "text"

    for _ in range(2):
        with quick_typing(), pytest.raises(TypingError, match="No implementation of function"):
            wrong(1.0)


def test_numba_is_its_own_outside_and_after_an_error():
    own, inside = BaseFunction.get_call_type, []

    def compile_with_an_error():
        with quick_typing():
            with quick_typing():
                inside.append(BaseFunction.get_call_type)
            inside.append(BaseFunction.get_call_type)
            raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        compile_with_an_error()
    assert own not in inside
    assert BaseFunction.get_call_type is own


def test_other_code_is_compiled_by_numba_alone(monkeypatch):
    """A kernel of the library is compiled in the middle of a user's program: its own code meets Numba as it is."""
    seen = []
    find = BaseFunction.get_call_type
    monkeypatch.setattr(BaseFunction, "get_call_type", lambda *given: seen.append(1) or find(*given))
    wrapped = BaseFunction.get_call_type

    @jit.kernel
    def kernel(x):
        return x * 3.0 + 1.0

    monkeypatch.setattr(kernel._cache, "load_overload", lambda *_: None)
    assert kernel(2.0) == 7.0
    assert BaseFunction.get_call_type is wrapped
    before = len(seen)
    numba.njit(lambda x: x * x)(2.0)
    assert len(seen) > before
