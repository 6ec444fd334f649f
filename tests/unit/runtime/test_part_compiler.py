"""Functions that only compiled functions call: without machine code of their own."""


import numpy as np
import pytest
from numba.core import codegen

from sensorium.runtime import jit, part_compiler


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
            assert isinstance(compiled.library, part_compiler._PartLibrary)
            assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) == 0
    library = next(iter(_kernel.overloads.values())).library
    assert type(library) is codegen.JITCodeLibrary


def test_a_part_raises_through_its_kernel(values):
    with pytest.raises(ValueError, match="no values"):
        _kernel(values[:0])


def test_python_can_call_a_part(values):
    assert _sum_of_squares(values) == 55.0
