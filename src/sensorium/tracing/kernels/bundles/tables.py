"""Table entries of bundles that the beam and waveform kernels share."""

# entries of `number`: tangents of the half angles of the beam [1, 1], and its radius at the exit [m]
W_TAN_ALONG, W_TAN_ACROSS, W_EXIT_RADIUS = range(3)
BUNDLE_NUMBERS = 3

# entries of `switch`: bundles of a block, bundles whose rays are traced together, the ray nearest to the axis
V_PULSES, V_BATCH, V_CENTER = range(3)
BUNDLE_SWITCHES = 3
