"""The row of numbers of a material in kernels: meaning of each entry.

Every material becomes one row at the wavelength of a laser or a camera band. The monostatic return of a surface of
row `r` at incidence angle theta is, in 1/sr,

    rho = f_s cos(theta) + t f_d cos(theta) + RETRO cos(theta)^RETRO_Q

with the GGX lobe f_s of R0 and ALPHA2, the diffuse base f_d = C/pi (ON_A0 + ON_A1 C + ON_B s/t), and the transmittance
t of the top interface that LAYERING names, divided by PLASTIC_N2 (1 - C PLASTIC_FI). Rows are filled so that terms that
do not apply vanish by themselves: R0 = 0 without a specular layer, C = 0 without a base, RETRO = 0 without
retroreflection, PLASTIC_N2 = 1 and PLASTIC_FI = 0 unless the layering is `plastic`, ALPHA2 = 1 where R0 = 0.
"""

import numpy as np
import numpy.typing as npt

# Kind of surface
KIND = 0
# Complex refractive index N + i K of the top interface over that of the medium light comes through; 1 is no interface
N = 1
K = 2
# Specular reflectance at normal incidence, of the whole surface: of both faces for a pane, as given for a mirror
R0 = 3
# Square of the GGX width: alpha^2 = 2 roughness^2
ALPHA2 = 4
# Reflectance of the diffuse base; C_FROM_MESH where the mesh says it face by face
C = 5
# Oren-Nayar in Fujii's form: A = ON_A0 + ON_A1 C, B = ON_B
ON_A0 = 6
ON_A1 = 7
ON_B = 8
# Transmission of the top interface on the way to the base and back
LAYERING = 9
# Multiple reflection under the interface, layering `plastic`: f_d is divided by PLASTIC_N2 (1 - C PLASTIC_FI)
PLASTIC_N2 = 10
PLASTIC_FI = 11
# Coefficient of retroreflection R_A [1/sr] and the exponent of its fall-off with the entrance angle
RETRO = 12
RETRO_Q = 13
# A pane's excess optical path (n - n of the medium around) d [m] and absorption depth alpha d [1], at normal incidence
PANE_OPL = 14
PANE_TAU = 15
# Reflectance that does not depend on angle, of a mirror; -1 where Fresnel's law with N and K holds
FIXED_R = 16
# Refractive index inside a closed dielectric body; 1 for all others
INNER_INDEX = 17

ROW_SIZE = 18

# Values of KIND: an opaque surface, the boundary of a closed transparent body, a pane that is one sheet
SURFACE = 0
DIELECTRIC = 1
PANE = 2

# Values of LAYERING
LAYERINGS = {"two_way": 0, "agx": 1, "plastic": 2}

# In place of C: the reflectance is a property of the mesh
C_FROM_MESH = -1.0


def blank_row() -> npt.NDArray[np.float64]:
    """A black opaque surface without specular layer: the row that materials start from, shape (ROW_SIZE,)."""
    row = np.zeros(ROW_SIZE)
    row[[N, ALPHA2, ON_A0, PLASTIC_N2, RETRO_Q, INNER_INDEX]] = 1.0
    row[FIXED_R] = -1.0
    return row
