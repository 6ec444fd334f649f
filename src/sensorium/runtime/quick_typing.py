"""Numba's type inference with earlier results remembered, while a kernel of this library is compiled.

A kernel consists of dozens of small functions, each compiled once for every combination of argument types. For each
`a * b` and each `a[i]` in them Numba tries a dozen templates: a fifth of the compile time. The replacement gives the
same answers. Numba's own function is back as soon as the kernel is compiled; Numba compiles under one lock, so that
other code that is compiled in this process never meets the replacement.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from numba.core.compiler_lock import global_compiler_lock
from numba.core.targetconfig import ConfigStack
from numba.core.types.functions import BaseFunction

_function_type: Any = BaseFunction  # Numba has no types
_find = _function_type.get_call_type
_known: dict[Any, tuple[Any, Any]] = {}


def _get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
    """`BaseFunction.get_call_type`: the signature of a built-in function for given argument types."""
    key = (self, context, tuple(args), tuple(kws.items()), ConfigStack.top_or_none())
    found = _known.get(key)
    if found is None:
        signature = _find(self, context, args, kws)
        found = _known[key] = signature, self._impl_keys[signature.args]
    signature, self._impl_keys[signature.args] = found
    return signature


@contextlib.contextmanager
def quick_typing() -> Iterator[None]:
    """Context manager for the compilation of a kernel; may be nested."""
    with global_compiler_lock:
        before = _function_type.get_call_type
        _function_type.get_call_type = _get_call_type
        try:
            yield
        finally:
            _function_type.get_call_type = before
