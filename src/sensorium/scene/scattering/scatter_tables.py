"""Scatters as arrays for their kernel."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class ScatterTables(NamedTuple):
    """One row a scatter; lists of several entries are numbered through all scatters."""

    asset_first: NDArray[np.int64]  # (scatters + 1,) assets of scatter g are asset_first[g] .. asset_first[g + 1]
    slot_first: NDArray[np.int64]  # (scatters + 1,)
    clear_first: NDArray[np.int64]  # (scatters + 1,)
    counts: NDArray[np.int64]  # (scatters, 2) least and most
    region: NDArray[np.float64]  # (scatters, 2, 3) low and high corner [m]
    turn_rad: NDArray[np.float64]  # (scatters, 2, 3) least and greatest roll, pitch, yaw
    gap_m: NDArray[np.float64]  # (scatters,) -1: may overlap
    moves: NDArray[np.bool_]  # (scatters,) whether bodies carry it
    attempts: NDArray[np.int64]  # (scatters,)
    leaves_out: NDArray[np.bool_]  # (scatters,) whether an object without a free place is left out
    room: NDArray[np.float64]  # (assets, 3) radius, lower and upper end of the cylinder it takes up [m]
    clear: NDArray[np.float64]  # (pieces, 5) x, y of both ends and radius of clear zones [m]
