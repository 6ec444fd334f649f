"""Private parts of Numba that this library uses, each only with versions of Numba that it was tried with.

Numba's public interface compiles every kernel. The modules below save time; each can be done without:

- `kernel_cache`: without it every process compiles its kernels again.
- `part_compiler`: without it a kernel takes half as long again to compile.
- `quick_typing`: without it a kernel takes a tenth longer to compile.
"""

import functools
import importlib
import warnings
from types import ModuleType

import numba

TRIED = ((0, 63), (0, 68))
"""First and last version of Numba that the tests ran with."""


@functools.cache
def load(name: str) -> ModuleType | None:
    """The module of `runtime` with this name; None, with a warning, if this Numba was not tried or lacks a part of it.

    Args:
        name: Name of a module that uses private parts of Numba and imports all of them at its beginning.
    """
    version = tuple(int(number) for number in numba.__version__.split(".")[:2])
    try:
        if not TRIED[0] <= version <= TRIED[1]:
            raise ImportError(f"tried with {TRIED[0][0]}.{TRIED[0][1]} to {TRIED[1][0]}.{TRIED[1][1]}")
        return importlib.import_module(f"{__package__}.{name}")
    except (ImportError, AttributeError) as error:
        why = f"Numba {numba.__version__} is used without {name} ({error}): kernels take longer to compile"
        warnings.warn(why, RuntimeWarning, stacklevel=2)
        return None
