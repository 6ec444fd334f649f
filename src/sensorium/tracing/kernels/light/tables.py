"""Tables of the lidar kernel: materials, media, captured power, constants of the sensor."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.tracing.kernels.geometry import ray_errors as re

# columns of LightTables.material
M_R0, M_ALPHA2, M_DIFFUSE_A, M_DIFFUSE_B, M_INDEX, M_ABSORPTION, M_ONE_WAY, M_KIND = range(8)
M_RETRO, M_RETRO_POWER, M_FIXED_R, M_PANE_OPL, M_PANE_TAU, M_INNER_INDEX, M_MEDIUM = range(8, 15)
M_ON_A0, M_ON_A1, M_ON_B, M_PLASTIC_N2, M_PLASTIC_FI = range(15, 20)
MATERIAL_COLUMNS = 20

# values of M_KIND
SURFACE, DIELECTRIC, PANE = 0, 1, 2

# columns of LightTables.medium; n^2 - 1 apart from n, since float32 knows the 1.000273 of air to four digits only
G_INDEX, G_ALPHA, G_ECHO, G_PROBABILITY, G_SHAPE, G_SCALE, G_EXCESS, G_WIDENING = range(8)
MEDIUM_COLUMNS = 8

# entries of LightTables.number: those of geometric rays, and more
N_NEAR, N_LATE, N_EARLIEST, N_LATEST = re.N_NEAR, re.N_LATE, re.N_EARLIEST, re.N_LATEST
N_LEAST, N_MOST, N_FAR = re.N_LEAST, re.N_MOST, re.N_FAR
N_NOISE_BASE, N_NOISE_SLOPE, N_NOISE_SQUARE = re.N_NOISE_BASE, re.N_NOISE_SLOPE, re.N_NOISE_SQUARE
N_BIAS, N_DROPOUT, N_JITTER = re.N_BIAS, re.N_DROPOUT, re.N_JITTER
N_TAIL_SHAPE, N_TAIL_SCALE = re.N_TAIL_SHAPE, re.N_TAIL_SCALE
N_BEAM_TAN2, N_FLOOR, N_THRESHOLD, N_CALIBRATED_INDEX, N_INVERSE_Z0, N_POWER = range(15, 21)
N_LIMIT_RATIO, N_LIMIT_DARK, N_LIMIT_SUN, N_LIMIT_REACH, N_LIMIT_CERTAIN = range(21, 26)
N_NOISE_SIGNAL = 26  # variance of range [m^2] times the intensity that it belongs to; see noise.py
NUMBERS = 27

# entries of LightTables.switch
S_ROUND_TRIP, S_DEPTH, S_RETURNS, S_SLOTS, S_PRIORITY, S_RETRO, S_IN_WORLD, S_ATMOSPHERE = range(8)
S_RADIOMETRIC, S_SUN, S_LIMIT, S_CURVED = 8, 9, 10, 11
S_CROSSINGS, S_LEVELS = 12, 13  # room for crossings of a ray and for volumes around a path; 0 in a scene without any
S_TRACED, S_REFRACTS = 14, 15  # whether faces of volumes are traced, not only clipped by planes; whether any refracts
SWITCHES = 16

# values of S_RETURNS
STRONGEST, FIRST, LAST, DUAL, ALL = range(5)

# what a return came from; sensors/lidar/scan.py gives these names to users
NO_CAUSE, BY_SURFACE, BY_REFLECTION, BY_TRANSMISSION, BY_ATMOSPHERE, BY_MIXTURE, BY_FALSE_ALARM = map(
    np.int32, range(7)
)
BY_SATURATION, BY_BLOOM, BY_FOLDING, BY_CROSSTALK = map(np.int32, range(7, 11))


class LightTables(NamedTuple):
    """Constant during a sweep; materials and media of the scene."""

    material: NDArray[np.float32]  # (media x materials + 1, MATERIAL_COLUMNS): each as seen from each medium, and black
    object_material: NDArray[np.int32]  # (1 | worlds, objects)
    reflectance_first: NDArray[np.int64]  # (1 | worlds, objects) start in corner_reflectance, -1: the material's own
    corner_reflectance: NDArray[np.float32]  # diffuse reflectance at the three corners of faces, flat
    curvature_first: NDArray[np.int64]  # (1 | worlds, objects) start in face_curvature, -1: flat, or no mirror
    face_curvature: NDArray[np.float32]  # (faces, 6) of curved mirrors [1/m], see scene/curvature.py
    medium: NDArray[np.float32]  # (media, MEDIUM_COLUMNS); the first is the atmosphere
    gamma: NDArray[np.float32]  # (media, GAMMA_POINTS + 1) quantiles of the gamma law at even probabilities [m]
    capture: NDArray[np.float32]  # captured power over (1 - v)^2 at even v = z / (z + z0)
    number: NDArray[np.float32]  # (NUMBERS,)
    noise_by_range: NDArray[np.float32]  # (2, points) range [m], factor of the noise; see noise.py
    noise_by_reflectance: NDArray[np.float32]  # (2, points) logarithm of reflectance, factor of the noise
    switch: NDArray[np.int32]  # (SWITCHES,)
    detector: NDArray[np.float32]  # (DETECTOR_NUMBERS,) see detect.py
    sun: NDArray[np.float32]  # (5,) see sunlight.py
    volume: NDArray[np.int32]  # (1 | worlds, objects) medium inside each object, 0 for those that are no volumes
    rank: NDArray[np.int32]  # (1 | worlds, objects) place of each volume among all, the largest first
    reach: NDArray[np.float32]  # (1 | worlds, objects) radius of each object's mesh [m]
    bank_column: NDArray[np.int32]  # (banks,) objects that are clipped by planes, see `scene/volumes.py`
    bank_plane: NDArray[np.float64]  # (banks, MOST_PLANES, 4) outward normals and distances in the world [m]
    missing: NDArray[np.int32]  # (2,) filled where there was too little room: how many crossings, how many volumes


GAMMA_POINTS = 4096
