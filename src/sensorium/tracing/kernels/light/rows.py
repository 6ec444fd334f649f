"""Rows of the scratch in which light kernels work on a block of rays: those of geometry, and more."""

import numpy as np

from sensorium.runtime import jit
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.geometry import rows as geometry

# rows of the layer below
COS, SIN2, SIDE = geometry.COS, geometry.SIN2, geometry.SIDE
UNIFORM, NORMAL, NORMAL_2, DROPOUT = geometry.UNIFORM, geometry.NORMAL, geometry.NORMAL_2, geometry.DROPOUT
NOMINAL_X, NOMINAL_Y, NOMINAL_Z = geometry.NOMINAL_X, geometry.NOMINAL_Y, geometry.NOMINAL_Z
COLUMN = geometry.COLUMN

# floats: the material met
R0, ALPHA2, DIFFUSE_A, DIFFUSE_B = (geometry.FLOATS + i * BLOCK for i in range(4))
INDEX, ABSORPTION, ONE_WAY, FIXED_R, KIND = (DIFFUSE_B + i * BLOCK for i in range(1, 6))

# floats: the path so far
GAIN = KIND + BLOCK  # product of transfer factors and transmittances, as often as light passes them
PATH_OPL, PATH_Z = GAIN + BLOCK, GAIN + 2 * BLOCK  # sums of n d and of what the beam widens with, d / n or n d [m]
MEDIUM_N, WIDENING = PATH_Z + BLOCK, PATH_Z + 2 * BLOCK  # index of the medium the ray is in, growth of PATH_Z in it [1]
TAU = WIDENING + BLOCK  # optical depth of the segment [1]
TRAVELED = TAU + BLOCK  # path in the atmosphere before the segment, in a scene without volumes [m]
BEFORE = TRAVELED + BLOCK  # up to here a hit on the object just left is the face just left, or one across an edge [m]

# floats: results
RHO = BEFORE + BLOCK  # return per unit of light [1/sr]
SHARE = RHO + BLOCK  # transfer factor to the mirror ray
STRENGTH = SHARE + BLOCK  # intensity of the surface's return
AMBIENT = STRENGTH + BLOCK  # sunlight gathered with the shot [W]

# floats: light behind curved mirrors, see curvature.py; read only where a scene has some
SPREAD = AMBIENT + BLOCK  # distance the path has spread to where its segment starts [m]; 0: it met no curved mirror
SPREAD_11, SPREAD_12, SPREAD_22 = (SPREAD + i * BLOCK for i in range(1, 4))  # curvature of its wavefront there [1/m]
NEXT, NEXT_11, NEXT_12, NEXT_22 = (SPREAD_22 + i * BLOCK for i in range(1, 5))  # the same of what its hit mirrors on
FACE_11, FACE_12, FACE_22 = (NEXT_22 + i * BLOCK for i in range(1, 4))  # curvature of the faces of PARENTS [1/m]
BENT, BENT_11, BENT_12, BENT_22, BENT_SHARE = (FACE_22 + i * BLOCK for i in range(1, 6))  # what their `NEXT` gets
FLOATS = BENT_SHARE + BLOCK

# words: the hit and its path
MATERIAL = geometry.WORDS
RAY, NODE, MIRROR = (MATERIAL + i * BLOCK for i in range(1, 4))
MEDIUM, BEYOND = MIRROR + BLOCK, MIRROR + 2 * BLOCK  # media whose indices count before and behind the interface
LEFT_COLUMN, LEFT_FACE = BEYOND + BLOCK, BEYOND + 2 * BLOCK  # object and face that the ray starts on, NO_HIT for none
MARK = LEFT_FACE + BLOCK  # 1 for each hit that sends light on, see `tree.pack_parents`
PARENTS = MARK + BLOCK  # these hits, one after the other, with room for one more
PARENT_COUNT = PARENTS + BLOCK + 1  # how many they are, one number
WORDS = PARENT_COUNT + 1


@jit.function
def new_scratch():
    """Scratch for one block: floats (FLOATS,) and words (WORDS,)."""
    return jit.zeros(FLOATS, np.float32), jit.zeros(WORDS, np.uint32)
