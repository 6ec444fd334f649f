"""Tables of the waveform kernel beside `LightTables`: the beam's rays, the pulse, the air, the digitizer."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.tracing.kernels.bundles import tables as bt

# cells of a bin that arrivals are gathered in
CELLS = 4

# levels of the rising edge that are tabulated, at even steps of sqrt(ln(peak / level)), where a Gaussian's is straight
LEVELS = 256
LOWEST = 3.7  # that is, down to 1.1e-6 of the peak

# entries of WaveformTables.number
W_TAN_ALONG, W_TAN_ACROSS, W_EXIT_RADIUS = bt.W_TAN_ALONG, bt.W_TAN_ACROSS, bt.W_EXIT_RADIUS
W_START_M, W_BINS_A_M = 3, 4  # optical path [m] at which the window begins; bins a meter of optical path
W_FIELD_TAN, W_FIELD_RADIUS, W_FIELD_OFFSET = 5, 6, 7  # of what the receiver sees [1, m, m]
W_GAIN, W_FULL_SCALE = 8, 9  # of the electronics; a full scale of 0 is none
W_NOISE_W, W_ELECTRONS_A_WATT = 10, 11  # rms of a sample [W]; electrons of a sample, 0 for no shot noise
W_PULSE_SUM = 12  # sum of the pulse over its bins
W_AIR_STEP_M = 13  # step in which the air along a child's path answers [m]
W_FALSE_ALARM = 14  # probability that a bin of noise alone is taken for a return
W_COUNTED = 15  # 1 where electrons are counted one by one
WAVEFORM_NUMBERS = 16

# entries of WaveformTables.switch
V_PULSES, V_BATCH, V_CENTER = bt.V_PULSES, bt.V_BATCH, bt.V_CENTER
V_BINS, V_AIR, V_KEEP, V_MARGIN = range(3, 7)
WAVEFORM_SWITCHES = 7

# entries of `DetectorTables.number`
D_SIGMAS = 0  # threshold over the noise
D_LEAST = 1  # least threshold, in the unit of the samples
D_WIDTH = 2  # full width at half maximum of the pulse in its bins [bins]
D_LOG_FRACTION = 3  # logarithm of the level of the leading edge, of the peak
D_OFFSET = 4  # how far from the pulse's time 0 this detector puts an ideal one, or the parabola does for edges [bins]
D_CFAR_FACTOR = 5
D_BEND = 6  # of the parabola through the logarithms of an ideal pulse [1/bin^2]
D_SHOT = 7  # square of D_SIGMAS times the variance that a sample's own photons add, over its height
DETECTOR_NUMBERS = 8

# entries of DetectorTables.switch
E_KIND, E_CORRECT, E_CELLS, E_GUARD, E_EXPONENTIAL = range(5)
DETECTOR_SWITCHES = 5

# values of E_KIND
BY_THRESHOLD, BY_LEADING_EDGE, BY_CENTROID, BY_CFAR, BY_DECOMPOSITION = range(5)

# columns of the returns found in a waveform: place of arrival [bins], height, width [bins], bin of the peak
F_PLACE, F_HEIGHT, F_WIDTH, F_PEAK = range(4)
FOUND_COLUMNS = 4

# most returns separated in one waveform
MOST_FOUND = 32


class DetectorTables(NamedTuple):
    """Constants of a detector."""

    number: NDArray[np.float32]  # (DETECTOR_NUMBERS,)
    switch: NDArray[np.int32]  # (DETECTOR_SWITCHES,)
    edge: NDArray[np.float32]  # (LEVELS + 1,) when the rising edge passes each level, from time 0 [bins]


class WaveformTables(NamedTuple):
    """Constant during a sweep."""

    u: NDArray[np.float32]  # (rays,) place of each ray across the beam, in 1/e^2 radii
    v: NDArray[np.float32]
    weight: NDArray[np.float32]  # (rays,) share of the power, times the cosine at the receiver
    pulse: NDArray[np.float32]  # (CELLS, taps) the pulse in its bins, for arrivals at each cell of one
    air: NDArray[np.float32]  # (media, pads + bins + pads) power that each medium sends back into each bin [W]
    air_bins: NDArray[np.int32]  # (media,) bins until it no longer matters
    backscatter: NDArray[np.float32]  # (media,) [1/m/sr]
    number: NDArray[np.float32]  # (WAVEFORM_NUMBERS,)
    switch: NDArray[np.int32]  # (WAVEFORM_SWITCHES,)
    detector: DetectorTables
    first_tap: np.int32  # bin of the first tap, from that of the arrival
