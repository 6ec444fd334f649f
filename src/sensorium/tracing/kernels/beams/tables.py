"""What the kernel of beams looks up beside `LightTables`: the rays of a beam, and what the receiver separates."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class BeamTables(NamedTuple):
    """Constant during a sweep; numbers and switches have the places of `WaveformTables`, whose functions aim the rays.

    Of these numbers the beam's own are set, W_TAN_ALONG, W_TAN_ACROSS and W_EXIT_RADIUS, and of the switches V_PULSES,
    the beams of a block, V_BATCH, those whose rays are traced together, and V_CENTER, the ray nearest to the axis.
    """

    u: NDArray[np.float32]  # (rays,) place of each ray across the beam, in 1/e^2 radii
    v: NDArray[np.float32]
    weight: NDArray[np.float32]  # (rays,) share of the power
    reach: NDArray[np.float32]  # (rays,) reach of the patch that each stands for, in 1/e^2 radii
    number: NDArray[np.float32]  # (WAVEFORM_NUMBERS,)
    switch: NDArray[np.int32]  # (WAVEFORM_SWITCHES,)
    separation: np.float32  # least separation of two returns, in optical path [m]
    room: np.int64  # arrivals that are kept of a beam
