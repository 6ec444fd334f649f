"""Fused multiply-add and access to the bits of numbers, for kernels: operations that `jit` does not apply by itself."""

from typing import Any

from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic


@intrinsic
def fma(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c rounded once; all three float32 or all three float64."""
    if a not in (types.float32, types.float64) or b != a or c != a:
        raise TypingError(f"fma takes three numbers of one float type, not {a}, {b}, {c}")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.fma(*values)

    return a(a, a, a), generate


@intrinsic
def bits_of(typing_context: Any, x: Any) -> Any:
    """The bits of a float32 as int32, of a float64 as int64."""
    integer = {types.float32: types.int32, types.float64: types.int64}.get(x)
    return _reinterpretation(integer, x)


@intrinsic
def float_of(typing_context: Any, bits: Any) -> Any:
    """The float32 or float64 that has these 32 or 64 bits."""
    number = {32: types.float32, 64: types.float64}.get(getattr(bits, "bitwidth", 0))
    return _reinterpretation(number, bits)


def _reinterpretation(target: Any, source: Any) -> Any:
    """Signature and code of a change of type that keeps the bits."""
    if target is None:
        raise TypingError(f"{source} is neither a 32 nor a 64 bit number of the kind wanted")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.bitcast(values[0], context.get_value_type(target))

    return target(source), generate
