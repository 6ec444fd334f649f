"""The corruption kernel of all sensors: runs a chain's operations over blocks of rows.

The dispatch from operations to functions is generated from the registered operations (`op`).
"""

import functools
import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.corruption.engine import op
from sensorium.corruption.engine import op as kinds
from sensorium.corruption.engine.op import Float, Int
from sensorium.runtime import jit
from sensorium.runtime.fingerprint import fingerprint

BLOCK_ROWS = 64


def operate(*arguments: Any) -> None:
    """Placeholder for the generated function that runs operation o, of a common kind, on the rows first to last - 1."""
    raise NotImplementedError


def operate_rarely(*arguments: Any) -> None:
    """Placeholder for the same of the other kinds."""
    raise NotImplementedError


def kernel_of(rare: tuple[op.Operation, ...]) -> Callable[..., None]:
    """The kernel that runs the common operations and, if its argument `rare` is not None, those given here.

    Args:
        rare: Such as `rare_operations` gives; see `_corrupt` for the arguments of the kernel.
    """
    return _kernel_of(op.common_operations(), rare)


@functools.cache
def _kernel_of(common: tuple[op.Operation, ...], rare: tuple[op.Operation, ...]) -> Callable[..., None]:
    tag = _tag(rare)
    own = {
        "operate": _dispatch("operate", op.COMMON_ARGUMENTS, common),
        "operate_rarely": _dispatch(f"operate_rarely{tag}", op.ARGUMENTS, rare),
    }
    made = FunctionType(_corrupt.__code__, globals() | own, f"corrupt{tag}")
    made.__qualname__ = made.__name__
    return jit.kernel(made)


def _tag(rare: tuple[op.Operation, ...]) -> str:
    """Suffix of the names of functions with operations of other packages; empty for those of the library.

    Functions loaded from the cache are linked by their names, so those that differ must not share one.
    """
    others = [each for each in rare if each.number >= op.FIRST_OF_OTHERS]
    if not others:
        return ""
    library = "_library" if len(others) < len(rare) else ""
    return "".join([library, *(f"_{each.number}_{fingerprint(each.function.py_func, {})[:8]}" for each in others)])


def _dispatch(name: str, arguments: tuple[str, ...], operations: tuple[op.Operation, ...]) -> Callable[..., None]:
    """A compiled function that calls the operation of a row's kind: if kind == 1, elif kind == 2, ..."""
    lines = [f"def {name}({', '.join(arguments)}):", "    kind = ops[o, KIND]"]
    for place, each in enumerate(operations):
        lines.append(f"    {'elif' if place else 'if'} kind == {each.number}:")
        lines.append(f"        operation_{each.number}({', '.join(each.arguments)})")
    functions = {f"operation_{each.number}": each.function for each in operations}
    scope: dict[str, Any] = {"__name__": __name__, "KIND": op.KIND, **functions}
    exec(compile("\n".join(lines), f"<{name} of registered operations>", "exec"), scope)
    made: Callable[..., None] = scope[name]
    return jit.function(made)


@jit.function
def idle(ops: Int, o: int, x: Float, state: Float, row: int) -> None:
    """Handle an operation's state in a row where it is switched off."""
    column, width, s, how = ops[o, op.COLUMN], ops[o, op.WIDTH], ops[o, op.STATE], ops[o, op.IDLE]
    if how == kinds.MARKED and math.isnan(state[row, s + (ops[o, op.SLOTS] - 1) * width]):
        return
    if how != kinds.KEEPS:
        for i in range(ops[o, op.SLOTS] * width):
            state[row, s + i] = np.nan
    if how == kinds.WATCHES:
        # The first slot follows the signal, and the last says that there is a value to hold, of this sample
        for i in range(width):
            state[row, s + i] = x[row, column + i]
            state[row, s + (ops[o, op.SLOTS] - 1) * width + i] = 0.0


def _corrupt(
    first: int,
    step: int,
    count: int,
    rare: Int | None,
    ops: Int,
    par: Float,
    x: Float,
    state: Float,
    ids: Int,
    faults: NDArray[np.uint8],
    clock: Int,
) -> None:
    """Corrupt the blocks first, first + step, ... of rows, sample after sample.

    Args:
        first, step, count: Share of the blocks of BLOCK_ROWS rows.
        rare: None if every operation is of a common kind: the others are then not compiled, which halves the time. Else
            when each fault that is active set in [ns], int64, as `faults`; of any size if no operation needs it.
        ops: Operations, int64 (operations, ROW); see `op`.
        par: Their parameters, float64.
        x: Signal, changed in place, float64 (samples, rows, columns).
        state: Changed in place, float64 (rows, slots).
        ids: World and first element of each row in the counter, int64 (2, rows).
        faults: Whether each fault is active in each row, uint8 (samples, rows, faults), or (1, ...) if always the same.
        clock: Ticks and times of the samples, int64 (samples, CLOCK).
    """
    rows = x.shape[1]
    for block in range(first, count, step):
        start = block * BLOCK_ROWS
        stop = min(rows, start + BLOCK_ROWS)
        kept = np.empty((0, 0))
        for t in range(x.shape[0]):
            sample = x[t]
            now = min(t, faults.shape[0] - 1)
            for o in range(ops.shape[0]):
                fault, some = ops[o, op.FAULT], ops[o, op.CHANNELS]
                begin = start
                while begin < stop:
                    # All rows at once, or neighbors that a fault is active in
                    end = stop
                    if fault >= 0:
                        if not faults[now, begin, fault]:
                            idle(ops, o, sample, state, begin)
                            begin += 1
                            continue
                        end = begin + 1
                        while end < stop and faults[now, end, fault]:
                            end += 1

                    # Channels that are not its own get their values back
                    column, width = ops[o, op.COLUMN], ops[o, op.WIDTH]
                    if some >= 0:
                        kept = sample[begin:end, column : column + width].copy()
                    if ops[o, op.KIND] <= kinds.LAST_COMMON:
                        operate(ops, o, par, sample, state, ids, clock, t, begin, end)
                    elif rare is not None:
                        since = rare[min(t, rare.shape[0] - 1)]
                        operate_rarely(ops, o, par, sample, state, ids, clock, t, since, begin, end)
                    if some >= 0:
                        for row in range(begin, end):
                            for i in range(width):
                                if par[some + i] == 0.0:
                                    sample[row, column + i] = kept[row - begin, i]
                    begin = end
