"""Tables of the beam kernel beside `LightTables`: the rays of a beam, and the separation of the receiver."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class BeamTables(NamedTuple):
    """Constant during a sweep."""

    u: NDArray[np.float32]  # (rays,) place of each ray across the beam, in 1/e^2 radii
    v: NDArray[np.float32]
    weight: NDArray[np.float32]  # (rays,) share of the power
    reach: NDArray[np.float32]  # (rays,) reach of the patch that each stands for, in 1/e^2 radii
    number: NDArray[np.float32]  # (BUNDLE_NUMBERS,) see `bundles/tables.py`
    switch: NDArray[np.int32]  # (BUNDLE_SWITCHES,)
    separation: np.float32  # least separation of two returns, in optical path [m]
    room: np.int64  # arrivals that are kept of a beam
