"""Space cut into parts by planes, so that each part holds its share of a load."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Cut:
    """A plane across one axis, which splits points into those below and the rest."""

    axis: int
    at_m: float
    below: "Cut | int"
    above: "Cut | int"


def balanced_cuts(points: NDArray[np.float64], load: NDArray[np.float64], parts: int) -> "Cut | int":
    """Planes that cut space into parts of about equal load, each across the longest side of its region.

    Args:
        points: Where the load is [m], shape (n, 3).
        load: Load at each point, shape (n,).
        parts: How many parts, at least 1.

    Returns:
        The tree of cuts; its leaves are the numbers of the parts.
    """
    return _cut(points, load, 0, parts)


def part_at(cuts: "Cut | int", points: NDArray[np.float64]) -> NDArray[np.int32]:
    """Number of the part of each point, shape (n,), for points of shape (n, 3)."""
    part = np.zeros(len(points), np.int32)
    waiting: list[tuple[Cut | int, NDArray[np.intp]]] = [(cuts, np.arange(len(points)))]
    while waiting:
        cut, rows = waiting.pop()
        if isinstance(cut, int):
            part[rows] = cut
            continue
        below = points[rows, cut.axis] < cut.at_m
        waiting += [(cut.below, rows[below]), (cut.above, rows[~below])]
    return part


def _cut(points: NDArray[np.float64], load: NDArray[np.float64], first: int, parts: int) -> Cut | int:
    """Cuts for the parts first, first + 1, ...; if nothing is left to cut, the first takes all."""
    if parts == 1 or len(points) == 0:
        return first
    axis = int(np.argmax(np.ptp(points, axis=0)))
    order = np.argsort(points[:, axis], kind="stable")
    few = parts // 2

    # The plane is at the first point beyond the share of the parts below it
    sums = np.cumsum(load[order])
    place = min(int(np.searchsorted(sums, sums[-1] * few / parts)) + 1, len(order) - 1)
    at_m = float(points[order[place], axis])
    below = points[:, axis] < at_m
    return Cut(
        axis,
        at_m,
        _cut(points[below], load[below], first, few),
        _cut(points[~below], load[~below], first + few, parts - few),
    )
