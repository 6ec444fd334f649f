"""The point where a polynomial radius stops growing."""

import math
from collections.abc import Sequence

import numpy as np

# Rounding of a double root, relative to the largest term [1]
_ROUNDING = 1e-12


def first_turn(slope: Sequence[float]) -> float:
    """Least q > 0 where 1 + s1 q + s2 q^2 + ... becomes negative; infinite where it never does.

    A double root of the polynomial does not count: the radius continues to grow there.

    Args:
        slope: s1, s2, ...: of the radius by its square, 1 on the axis.
    """
    terms = np.array([1.0, *slope])
    roots = np.roots(terms[::-1])
    ends = np.sort(roots.real[(roots.real > 0.0) & (np.abs(roots.imag) <= 1e-6 * np.abs(roots.real))])
    for number, end in enumerate(ends):
        after = 0.5 * (end + (ends[number + 1] if number + 1 < len(ends) else 3.0 * end))
        values = terms * after ** np.arange(len(terms))
        if values.sum() < -_ROUNDING * np.abs(values).max():
            return float(end)
    return math.inf
