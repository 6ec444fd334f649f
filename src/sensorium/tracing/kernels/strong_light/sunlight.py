"""Sunlight that the receiver gathers with each shot: from the sunlit or shaded surface in view, or from the sky.

    P_b = (E_sun f(s, v) cos(theta_s) lit + pi f_d L_sky) x pi psi^2 A_r eta dlambda

with the sun's spectral irradiance E_sun, the sky's radiance L_sky, the surface's BRDF f between sun and sensor (its
diffuse part f_d for the sky) and the receiver's field psi, area A_r, efficiency eta and filter width. Whether the
surface is lit is found by one more ray.
"""

import math

import numpy as np

from sensorium.physics.optics.surfaces.fresnel import relative_reflectance
from sensorium.physics.optics.surfaces.microfacet import lobe
from sensorium.random import exp_f32
from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import NO_HIT, trace_block
from sensorium.tracing.kernels.light import rows

# entries of LightTables.sun: direction to the sun, then its share and the sky's of the receiver's background power
SUN_X, SUN_Y, SUN_Z, SUN_POWER, SKY_POWER = range(5)

_CLEAR_M = np.float32(1e-3)


@jit.function
def gather_sunlight(block, hit, shadow, shadow_hit, floats, words, active, scene, arguments, sun, used):
    """Background power [W] of each shot, into row AMBIENT; `shadow` is scratch for the rays to the sun."""
    aim_at_sun(block, hit, shadow, sun, used)
    trace_block(shadow, shadow_hit, floats, words, active, scene, arguments, np.bool_(False), used)
    add_sunlight(block, hit, shadow, shadow_hit, sun, used)


@jit.function
def aim_at_sun(block, hit, shadow, sun, used):
    """Aim a ray at the sun from each surface that faces it; others have zero length."""
    for k in range(used):
        t, side = block[pk.B_T_FAR + k] - _CLEAR_M, block[rows.SIDE + k]
        shadow[pk.B_ORIGIN_X + k] = block[pk.B_ORIGIN_X + k] + t * block[pk.B_DIRECTION_X + k]
        shadow[pk.B_ORIGIN_Y + k] = block[pk.B_ORIGIN_Y + k] + t * block[pk.B_DIRECTION_Y + k]
        shadow[pk.B_ORIGIN_Z + k] = block[pk.B_ORIGIN_Z + k] + t * block[pk.B_DIRECTION_Z + k]
        shadow[pk.B_DIRECTION_X + k] = sun[SUN_X]
        shadow[pk.B_DIRECTION_Y + k] = sun[SUN_Y]
        shadow[pk.B_DIRECTION_Z + k] = sun[SUN_Z]
        shadow[pk.B_TIME + k] = block[pk.B_TIME + k]
        shadow[pk.B_T_NEAR + k] = np.float32(0.0)
        facing = (
            block[pk.B_NORMAL_X + k] * sun[SUN_X]
            + block[pk.B_NORMAL_Y + k] * sun[SUN_Y]
            + block[pk.B_NORMAL_Z + k] * sun[SUN_Z]
        ) * side
        shadow[rows.COS + k] = facing if hit[rows.COLUMN + k] != NO_HIT else np.float32(0.0)
        shadow[pk.B_T_FAR + k] = np.float32(1e5) if shadow[rows.COS + k] > np.float32(0.0) else np.float32(0.0)


@jit.function
def add_sunlight(block, hit, shadow, shadow_hit, sun, used):
    """Background power from the rays to the sun, which are free where `shadow_hit` has no instance."""
    for k in range(used):
        lost = exp_f32(-block[rows.TAU + k])
        if hit[rows.COLUMN + k] == NO_HIT:
            block[rows.AMBIENT + k] = sun[SKY_POWER]
            continue
        power = sun[SKY_POWER] * np.float32(math.pi) * block[rows.DIFFUSE_A + k]
        if shadow[rows.COS + k] > np.float32(0.0) and shadow_hit[pk.B_INSTANCE + k] == NO_HIT:
            power += sun[SUN_POWER] * _towards_sensor(block, k, sun, shadow[rows.COS + k])
        block[rows.AMBIENT + k] = power * lost


@jit.function
def _towards_sensor(block, k, sun, cos_l):
    """f(s, v) cos(theta_s) [1/sr] of the surface, from the sun to the sensor."""
    one, cos_v = np.float32(1.0), block[rows.COS + k]
    vx, vy, vz = -block[pk.B_DIRECTION_X + k], -block[pk.B_DIRECTION_Y + k], -block[pk.B_DIRECTION_Z + k]
    l_dot_v = vx * sun[SUN_X] + vy * sun[SUN_Y] + vz * sun[SUN_Z]

    # Half vector: |l + v|^2 = 2 + 2 l.v
    length = math.sqrt(max(np.float32(2.0) + np.float32(2.0) * l_dot_v, np.float32(1e-12)))
    cos_h, cos_lh = min((cos_l + cos_v) / length, one), min((one + l_dot_v) / length, one)
    n, absorption = block[rows.INDEX + k], block[rows.ABSORPTION + k]
    facets = relative_reflectance(cos_lh, n, absorption)
    if block[rows.ONE_WAY + k] > np.float32(0.5):
        layer = one - facets
    else:
        layer = (one - relative_reflectance(cos_l, n, absorption)) * (one - relative_reflectance(cos_v, n, absorption))
    s = l_dot_v - cos_l * cos_v
    t = max(cos_l, cos_v) if s > np.float32(0.0) else one
    base = block[rows.DIFFUSE_A + k] + block[rows.DIFFUSE_B + k] * s / t
    specular = facets * lobe(cos_l, cos_v, cos_h, block[rows.ALPHA2 + k])
    return (specular + layer * base) * cos_l
