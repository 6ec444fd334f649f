"""Compiles kernels: Numba with one set of flags, and a cache that notices every edit (`kernel_cache`)."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from llvmlite.ir import Constant
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.imputils import impl_ret_new_ref
from numba.extending import intrinsic
from numba.np import arrayobj

from sensorium.runtime import numba_parts
from sensorium.runtime.compile_once import compile_once

F = TypeVar("F", bound=Callable[..., Any])

# Every operation is rounded by itself. If products and sums could be fused, a result would depend on the functions that
# LLVM inlined around it, and so on the kernel and on those compiled before. `random.fma` fuses. The option is set
# explicitly: a function without it takes that of the kernel that is compiled with it first.
_FLAGS: dict[str, Any] = {"fastmath": False, "error_model": "numpy"}

# of new arrays [bytes]: a line of the cache
_ALIGN = 64


_kernel_cache, _part_compiler = numba_parts.load("kernel_cache"), numba_parts.load("part_compiler")


class Called:
    """A compiled function that kernels call, and Python only now and then.

    A function that Python can call is optimized and turned into machine code with two wrappers, for Python and for C:
    in a kernel of a hundred functions, a third of the compile time. Kernels get the function without them; the first
    call from Python compiles it once more.
    """

    def __init__(self, fn: Callable[..., Any], **flags: Any) -> None:
        functools.update_wrapper(self, fn)
        self.options = flags
        part = {} if _part_compiler is None else _part_compiler.OPTIONS
        self._compiled = numba.njit(**part, **flags)(fn)
        self.py_func = fn

    @property
    def _numba_type_(self) -> types.Type:
        """Numba's type of it inside other functions: that of the compiled function itself."""
        return self._compiled._numba_type_

    @functools.cached_property
    def from_python(self) -> Callable[..., Any]:
        """The version that Python can call."""
        return numba.njit(**self.options)(self.py_func)

    def __call__(self, *arguments: Any) -> Any:
        """Call it from Python."""
        return self.from_python(*arguments)


def function(fn: F) -> F:
    """Compile a small function that other kernels call (and inline); not cached on its own."""
    return cast(F, Called(fn, **_FLAGS))


def inlined(fn: F) -> F:
    """Compile a straight-line function that is always inlined, since a loop with a call in it cannot vectorize."""
    return cast(F, Called(fn, forceinline=True, **_FLAGS))


def kernel(fn: F) -> F:
    """Compile an entry point: releases the GIL, compiled on first call by one process for all, cached on disk."""
    compiled = numba.njit(nogil=True, **_FLAGS)(fn)
    if compiled is not fn and _kernel_cache is not None:  # NUMBA_DISABLE_JIT leaves functions as they are
        compiled._cache = _kernel_cache.KernelCache(fn, _FLAGS)
        compile_once(compiled)
    return cast(F, compiled)


def elementwise(scalar: Callable[..., float]) -> Callable[..., Any]:
    """Make a broadcasting NumPy function, in float64, from a compiled function of plain numbers.

    Args:
        scalar: A result of `function` or `inlined` that takes floats and returns one float.

    Returns:
        Function of as many arrays or numbers; compiled on first call, cached on disk.
    """
    plain = scalar.py_func if isinstance(scalar, Called) else scalar
    options = {"fastmath": _FLAGS["fastmath"]}
    ufunc = numba.vectorize(**options)(plain)
    if _kernel_cache is not None:
        ufunc._dispatcher.cache = _kernel_cache.KernelCache(plain, {**options, "vectorize": True})

    @functools.wraps(scalar)
    def broadcast(*arguments: Any) -> Any:
        return ufunc(*(np.asarray(argument, dtype=np.float64) for argument in arguments))

    return broadcast


@intrinsic
def like(typing_context: Any, x: Any, number: Any) -> Any:
    """The number in the float type of x: a Python literal alone would turn float32 arithmetic into float64."""
    if x not in (types.float32, types.float64) or not isinstance(number, types.Number | types.Literal):
        raise TypingError(f"like takes a float32 or float64 and a number, not {x} and {number}")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return context.cast(builder, values[1], signature.args[1], x)

    return x(x, number), generate


@intrinsic
def uncounted(typing_context: Any, value: Any) -> Any:
    """The same array, or tuple of arrays, without reference counting.

    Numba counts references to arrays by atomic operations whenever an array is passed to a function with branches, and
    so once a ray in a loop over rays. The caller must keep the array alive until the end: see `held`.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return without_owner(context, builder, value, arguments[0])

    return value(value), build


def without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """An array's structure without its owner; each array of a tuple likewise, and any other value unchanged."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = Constant(array.meminfo.type, None)
        array.parent = Constant(array.parent.type, None)
        return array._getvalue()
    members = getattr(kind, "types", None)  # of any kind of tuple
    if members is not None:
        parts = [
            without_owner(context, builder, each, builder.extract_value(value, number))
            for number, each in enumerate(members)
        ]
        return context.make_tuple(builder, kind, parts)
    return value


@intrinsic
def held(typing_context: Any, value: Any) -> Any:
    """Keep a value alive until here; has no other effect."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.get_dummy_value()

    return types.none(value), build


@intrinsic
def zeros(typing_context: Any, shape: Any, dtype: Any) -> Any:
    """New array of zeros: `np.zeros` for kernels, with whole numbers or a tuple of them as the shape.

    NumPy's own consists of four functions that Numba compiles for every shape and type, a fifth of a second each.
    """
    return _new_array(shape, dtype, zeroed=True)


@intrinsic
def empty(typing_context: Any, shape: Any, dtype: Any) -> Any:
    """New uninitialized array: `np.empty` for kernels, for scratch that is always written first."""
    return _new_array(shape, dtype, zeroed=False)


def _new_array(shape: Any, dtype: Any, *, zeroed: bool) -> Any:
    """Signature and instructions of a new array."""
    several = isinstance(shape, types.containers.BaseTuple)
    sizes = list(shape) if several else [shape]
    if not all(isinstance(size, types.Integer) for size in sizes) or not isinstance(dtype, types.NumberClass):
        raise TypingError(f"a new array takes whole numbers and a type of numbers, not {shape} and {dtype}")
    made = types.Array(dtype.dtype, len(sizes), "C")

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        given = cgutils.unpack_tuple(builder, arguments[0]) if several else [arguments[0]]
        lengths = [context.cast(builder, n, kind, types.intp) for n, kind in zip(given, sizes, strict=True)]
        item_size = context.get_constant(types.intp, arrayobj.get_itemsize(context, made))
        strides = [item_size]
        for length in reversed(lengths[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        byte_count = builder.mul(strides[0], lengths[0])
        owner = context.nrt.meminfo_alloc_aligned(builder, byte_count, context.get_constant(types.uint32, _ALIGN))
        memory = context.nrt.meminfo_data(builder, owner)
        if zeroed:
            cgutils.memset(builder, memory, byte_count, 0)
        array = context.make_array(made)(context, builder)
        arrayobj.populate_array(
            array,
            data=builder.bitcast(memory, context.get_data_type(made.dtype).as_pointer()),
            shape=cgutils.pack_array(builder, lengths),
            strides=cgutils.pack_array(builder, strides),
            itemsize=item_size,
            meminfo=owner,
        )
        return impl_ret_new_ref(context, builder, made, array._getvalue())

    return made(shape, dtype), build


@intrinsic
def pointer_from_address(typing_context: Any, address: Any) -> Any:
    """Turn an integer address into a pointer that `numba.carray` takes."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return types.voidptr(types.intp), build


def c_function(function: Any, name: str) -> Any:
    """Code of an intrinsic that gives the address of a function of one address, for Embree to call."""
    signature = types.void(types.intp)

    def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
        made = builder.module.globals.get(name)
        if made is None:
            body = context.compile_subroutine(builder, function, signature)
            made = ir.Function(builder.module, ir.FunctionType(ir.VoidType(), [ir.IntType(64)]), name)
            made.linkage = "internal"
            inside = ir.IRBuilder(made.append_basic_block())
            context.call_internal_no_propagate(inside, body.fndesc, signature, [made.args[0]])
            inside.ret_void()
        return builder.ptrtoint(made, context.get_value_type(types.intp))

    return types.intp(), generate


def is_cached(kernel: Any) -> bool:
    """Whether an entry point, a result of `kernel`, is in the cache in its present form."""
    return getattr(kernel._cache, "is_filled", False)
