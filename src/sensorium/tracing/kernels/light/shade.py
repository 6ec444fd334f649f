"""Strength of returns: from the surface that each ray hit, and from the medium on the way."""

import numpy as np

from sensorium.physics.optics.surfaces.fresnel import relative_reflectance
from sensorium.physics.optics.surfaces.mirror_glint import glint_back
from sensorium.physics.optics.surfaces.mirror_transfer import mirror_share
from sensorium.random import exp_f32, gamma_quantile
from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import NO_HIT
from sensorium.tracing.kernels.light import rows
from sensorium.tracing.kernels.light import tables as tb

# row that is free once surfaces are shaded: here 1 - v of the capture table
_REST = rows.SIN2

_MOST_QUANTILE = np.float32(tb.GAMMA_POINTS)


@jit.function
def shade_surfaces(block, beam_tan2, shares, used):
    """Return per unit of light, rho = f cos theta [1/sr], and on request what a mirror ray would carry on.

    Back to the source the diffuse base is C/pi (A cos + B sin^2), seen through the top layer twice (two_way, plastic)
    or once at normal incidence (agx).
    """
    if shares:
        for k in range(used):
            rho, reflected = _shaded(block, beam_tan2, k)
            share = mirror_share(block[rows.COS + k], block[rows.ALPHA2 + k], beam_tan2)
            block[rows.RHO + k], block[rows.SHARE + k] = rho, reflected * share
    else:
        for k in range(used):
            rho, _ = _shaded(block, beam_tan2, k)
            block[rows.RHO + k] = rho


@jit.inlined
def _shaded(block, beam_tan2, k):
    """Return per unit of light of one ray's surface [1/sr], and the share that its top layer reflects."""
    one = np.float32(1.0)
    c, r0, fixed = block[rows.COS + k], block[rows.R0 + k], block[rows.FIXED_R + k]
    reflected = relative_reflectance(c, block[rows.INDEX + k], block[rows.ABSORPTION + k])
    reflected = fixed if fixed >= np.float32(0.0) else reflected
    passed = one - reflected
    layer = one - r0 if block[rows.ONE_WAY + k] > np.float32(0.5) else passed * passed
    base = block[rows.DIFFUSE_A + k] * c + block[rows.DIFFUSE_B + k] * (one - c) * (one + c)
    return r0 * glint_back(c * c, block[rows.SIN2 + k], block[rows.ALPHA2 + k], beam_tan2) + layer * base, reflected


@jit.function
def add_retroreflection(block, hit, material, used):
    """Add R_A cos^q for the few retroreflective surfaces."""
    for k in range(used):
        if hit[rows.COLUMN + k] != NO_HIT:
            number = hit[rows.MATERIAL + k]
            if material[number, tb.M_RETRO] > 0.0:
                power = material[number, tb.M_RETRO_POWER]
                block[rows.RHO + k] += material[number, tb.M_RETRO] * block[rows.COS + k] ** power


@jit.function
def strength_of_surfaces(block, hit, media, capture, inverse_z0, passes, used):
    """Intensity of each surface's return: gain rho exp(-m tau) A(z); zero without a hit."""
    # What `captured_from_table` does, in three loops: only the middle one, which looks numbers up, is no vector code
    one, steps = np.float32(1.0), np.float32(capture.size - 1)
    for k in range(used):
        z = block[rows.PATH_Z + k] + block[pk.B_T_FAR + k] * block[rows.WIDENING + k]
        rest = one / (one + z * inverse_z0)
        block[_REST + k], block[rows.STRENGTH + k] = rest, (one - rest) * steps
    last = np.int32(capture.size - 2)
    for k in range(used):
        at = block[rows.STRENGTH + k]
        below = min(np.int32(at), last)
        low, high = capture[np.uint32(below)], capture[np.uint32(below) + np.uint32(1)]
        block[rows.STRENGTH + k] = low + (high - low) * (at - np.float32(below))
    for k in range(used):
        captured = min(block[rows.STRENGTH + k] * block[_REST + k] * block[_REST + k], one)
        there = one if hit[rows.COLUMN + k] != NO_HIT else np.float32(0.0)
        block[rows.STRENGTH + k] = captured * (there * block[rows.GAIN + k] * block[rows.RHO + k])

    # Clear media absorb nothing
    clear = True
    for medium in range(media.shape[0]):
        clear &= media[medium, tb.G_ALPHA] == np.float32(0.0)
    if not clear:
        for k in range(used):
            block[rows.STRENGTH + k] *= exp_f32(-passes * block[rows.TAU + k])


@jit.function
def gamma_distance(quantiles, number, q, shape, scale):
    """Distance along the ray of the medium's return [m]: the gamma law's quantile, by table, exact in its tails."""
    at = q * _MOST_QUANTILE
    if at < np.float32(4.0) or at > _MOST_QUANTILE - np.float32(4.0):
        return np.float32(gamma_quantile(np.float64(q), np.float64(shape)) * scale)
    j = np.int32(at)
    low = quantiles[number, np.uint32(j)]
    return low + (quantiles[number, np.uint32(j) + np.uint32(1)] - low) * (at - np.float32(j))
