"""Table entries of bundles that the beam and waveform kernels share, and the tables of the beam kernel."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# entries of `number`: tangents of the half angles of the beam [1, 1], and its radius at the exit [m]
W_TAN_ALONG, W_TAN_ACROSS, W_EXIT_RADIUS = range(3)
BUNDLE_NUMBERS = 3

# entries of `switch`: bundles of a block, bundles whose rays are traced together, the ray nearest to the axis
V_PULSES, V_BATCH, V_CENTER = range(3)
BUNDLE_SWITCHES = 3


class BeamTables(NamedTuple):
    """Rays of a beam, and the separation of the receiver, beside `LightTables`; constant during a sweep."""

    u: NDArray[np.float32]  # (rays,) place of each ray across the beam, in 1/e^2 radii
    v: NDArray[np.float32]
    weight: NDArray[np.float32]  # (rays,) share of the power
    reach: NDArray[np.float32]  # (rays,) reach of the patch that each stands for, in 1/e^2 radii
    number: NDArray[np.float32]  # (BUNDLE_NUMBERS,)
    switch: NDArray[np.int32]  # (BUNDLE_SWITCHES,)
    separation: np.float32  # least separation of two returns, in optical path [m]
    room: np.int64  # arrivals that are kept of a beam
