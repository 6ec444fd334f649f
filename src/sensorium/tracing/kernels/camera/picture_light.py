"""Radiance of surfaces towards a camera, in several bands: sun with shadows, sky, ground and heat.

Radiance that counts in band j, of a surface with normal n seen from v:

    L = E_sun f(s, v) (n.s) lit + pi f_d t (L_sky (1 + n_z) / 2 + L_ground (1 - n_z) / 2) + R L_mirror + eps B(T)

Sky and ground each have uniform radiance. Hemispherical light passes a top layer like light at 60 degrees, which is
accurate to a hundredth for glass. By Kirchhoff's law eps = 1 - R - pi f_d t. The air along the way absorbs a share and
adds its own light, L exp(-alpha d) + L_sky (1 - exp(-alpha d)). A surface mirrors sky or ground, unless it is smooth
and its mirror ray is followed: then the caller adds R L_mirror. One shadow ray per surface goes to the sun.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.optics.surfaces.fresnel import relative_reflectance
from sensorium.physics.optics.surfaces.microfacet import lobe
from sensorium.random import exp_f32, log_f32
from sensorium.runtime import jit
from sensorium.scene.formats.textures import CLAMP, MIRROR
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import NO_HIT, WIDTH, occluded
from sensorium.tracing.kernels.light import rows
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.resolve import Surfaces

# columns of PictureTables.light: what the band receives
L_SUN, L_SKY, L_GROUND, L_ALPHA, L_DISC = range(5)
LIGHT_COLUMNS = 5

# entries of PictureTables.thermal: temperature of what has none of its own [K], where the table begins, and how far its
# entries are apart, see `imaging.emission_table`
T_AMBIENT, T_FIRST, T_PER_STEP = range(3)

_ZERO, _ONE, _TWO, _HALF = np.float32(0.0), np.float32(1.0), np.float32(2.0), np.float32(0.5)
_PI = np.float32(math.pi)

# Shadow rays start this far off the surface, and this share of the distance [m, 1]
_CLEAR_M, _CLEAR = np.float32(1e-3), np.float32(1e-5)
_SUN_FAR_M = np.float32(1e5)

# Cosine of the sun's angular radius, 0.2666 degrees
_DISC = np.float32(math.cos(math.radians(0.2666)))


# row of a block that pictures have no other use for: 1 where the sun's disc counts, 0 where it was counted before
SEES_DISC = rows.UNIFORM


class PictureTables(NamedTuple):
    """Constant during a picture."""

    surfaces: Surfaces
    material: NDArray[np.float32]  # (bands, materials + 1, MATERIAL_COLUMNS), the last is black
    reflectance_first: NDArray[np.int64]  # (1 | worlds, objects) start in corner_reflectance, -1: the material's own
    corner_reflectance: NDArray[np.float32]  # (bands, corners) at the three corners of faces
    texture: NDArray[np.int32]  # (1 | worlds, objects) number of the texture, -1: none
    uv_first: NDArray[np.int64]  # (1 | worlds, objects) start in corner_u and corner_v
    corner_u: NDArray[np.float32]  # (corners,) where corners lie in the texture, to the right and down, in texels
    corner_v: NDArray[np.float32]
    face_paint: NDArray[np.int32]  # (corners / 3,) number of the paint of each face
    paint_place: NDArray[np.int64]  # (paints, 6) start, rows, columns, wrap sideways and down, whether sRGB bytes
    paint_factor: NDArray[np.float32]  # (paints, bands) of values
    texels: NDArray[np.float32]  # (bands, texels) reflectance
    pixels: NDArray[np.uint8]  # (pixels, 3) sRGB values
    pixel_column: NDArray[np.int64]  # (bands,) which of the three a band sees
    linear: NDArray[np.float32]  # (256,) reflectance of sRGB values
    temperature_first: NDArray[np.int64]  # (1 | worlds, objects) start in corner_temperature, -1: ambient
    corner_temperature: NDArray[np.float32]  # (corners,) [K]
    light: NDArray[np.float32]  # (bands, LIGHT_COLUMNS)
    sun: NDArray[np.float32]  # (3,) towards the sun
    mirrors: NDArray[np.bool_]  # (materials + 1,) whether a mirror ray is followed from there; no materials: nowhere
    emission: NDArray[np.float32]  # (bands, temperatures) ln radiance of a black body; no temperatures: nothing glows
    thermal: NDArray[np.float32]  # (3,) see above


@jit.function
def find_shadows(block, hit, lit, floats, active, scene, arguments, tables, used):
    """Whether the sun reaches each surface that faces it: one shadow ray each."""
    sx, sy, sz = tables.sun[0], tables.sun[1], tables.sun[2]
    shines = tables.light[0, L_SUN] > _ZERO
    for band in range(1, tables.light.shape[0]):
        shines |= tables.light[band, L_SUN] > _ZERO
    for ray in range(0, used, WIDTH):
        some = np.int32(0)
        for j in range(WIDTH):  # vector code: all lanes are computed, those beyond `used` from an earlier block
            k = np.uint64(ray) + np.uint64(j)
            side, t = block[np.uint64(rows.SIDE) + k], block[np.uint64(pk.B_T_FAR) + k]
            nx, ny = block[np.uint64(pk.B_NORMAL_X) + k], block[np.uint64(pk.B_NORMAL_Y) + k]
            nz = block[np.uint64(pk.B_NORMAL_Z) + k]
            asked = (nx * sx + ny * sy + nz * sz) * side > _ZERO
            asked &= (k < np.uint64(used)) & shines & (hit[np.uint64(rows.COLUMN) + k] != NO_HIT)
            off = (_CLEAR_M + _CLEAR * t) * side
            ox, oy = block[np.uint64(pk.B_ORIGIN_X) + k], block[np.uint64(pk.B_ORIGIN_Y) + k]
            oz = block[np.uint64(pk.B_ORIGIN_Z) + k]
            floats[pk.ORIGIN_X + j] = ox + t * block[np.uint64(pk.B_DIRECTION_X) + k] + off * nx
            floats[pk.ORIGIN_Y + j] = oy + t * block[np.uint64(pk.B_DIRECTION_Y) + k] + off * ny
            floats[pk.ORIGIN_Z + j] = oz + t * block[np.uint64(pk.B_DIRECTION_Z) + k] + off * nz
            floats[pk.TIME + j] = block[np.uint64(pk.B_TIME) + k]
            lane = np.int32(-1) if asked else np.int32(0)
            active[j] = lane
            some |= lane
        for j in range(WIDTH):
            floats[pk.DIRECTION_X + j], floats[pk.DIRECTION_Y + j], floats[pk.DIRECTION_Z + j] = sx, sy, sz
            floats[pk.T_NEAR + j], floats[pk.T_FAR + j] = _ZERO, _SUN_FAR_M
        if some:
            occluded(active.ctypes.data, scene, floats.ctypes.data, arguments)
        for j in range(min(WIDTH, used - ray)):
            lit[ray + j] = active[j] != 0 and floats[pk.T_FAR + j] >= _ZERO


@jit.function
def shade(block, hit, lit, tables, row, follows, used, out, carried):
    """Radiance towards the camera, ray by ray and band by band.

    Args:
        block, hit, lit: Scratch with the rays' hits, and whether the sun reaches them.
        tables: `PictureTables`; row: the world's row in them.
        follows: Whether mirror rays go on from smooth surfaces, whose mirrored light is then left out.
        used: Rays in the block.
        out: Filled, (rays, bands).
        carried: Filled where a mirror ray goes on, (rays, bands): its share of this ray's radiance.
    """
    # Numbers are looked up one by one: a view of a row would cost more
    materials, light, corners = tables.material, tables.light, tables.corner_reflectance
    bands, glows = light.shape[0], tables.emission.shape[1] > 0
    sx, sy, sz = tables.sun[0], tables.sun[1], tables.sun[2]
    sky_n, sky_k, r_from_sky = _ONE, _ZERO, _ZERO  # kept from ray to ray: neighbors mostly share a material
    for k in range(used):
        dx, dy, dz = block[pk.B_DIRECTION_X + k], block[pk.B_DIRECTION_Y + k], block[pk.B_DIRECTION_Z + k]
        l_dot_v = -(dx * sx + dy * sy + dz * sz)

        # A ray without a hit sees sky or ground, or the sun itself
        if hit[rows.COLUMN + k] == NO_HIT:
            for band in range(bands):
                radiance = light[band, L_SKY] if dz >= _ZERO else light[band, L_GROUND]
                disc = light[band, L_DISC] * block[SEES_DISC + k] if -l_dot_v > _DISC else _ZERO
                out[k, band] = radiance + disc
            continue

        # Directions, the same for all bands
        side, cos_v = block[rows.SIDE + k], block[rows.COS + k]
        nx, ny, nz = block[pk.B_NORMAL_X + k] * side, block[pk.B_NORMAL_Y + k] * side, block[pk.B_NORMAL_Z + k] * side
        cos_l = nx * sx + ny * sy + nz * sz
        s = l_dot_v - cos_l * cos_v
        bent = s / max(cos_l, cos_v) if s > _ZERO else s
        seen_sky = _HALF * (_ONE + nz)
        mirrors_sky = dz + _TWO * cos_v * nz >= _ZERO

        number, column = np.uint32(hit[rows.MATERIAL + k]), np.uint32(hit[rows.COLUMN + k])
        own, goes_on = tables.reflectance_first[row, column], follows and tables.mirrors[number]
        kelvin = tables.thermal[T_AMBIENT]
        if glows and tables.temperature_first[row, column] >= 0:
            kelvin = _at_corners(
                tables.corner_temperature,
                tables.temperature_first[row, column],
                hit,
                k,
                block[pk.B_U + k],
                block[pk.B_V + k],
            )

        # Where in its texture, if it has one
        texture = tables.texture[row, column]
        t00 = t01 = t10 = t11 = np.int64(0)
        part_x = part_y = _ZERO
        paint, is_bytes = 0, False
        if texture >= 0:
            first_uv, u, v = tables.uv_first[row, column], block[pk.B_U + k], block[pk.B_V + k]
            x = _at_corners(tables.corner_u, first_uv, hit, k, u, v)
            y = _at_corners(tables.corner_v, first_uv, hit, k, u, v)
            paint = tables.face_paint[np.uint64(first_uv) // np.uint64(3) + np.uint64(hit[pk.B_FACE + k])]
            is_bytes = tables.paint_place[paint, 5] != 0
            t00, t01, t10, t11, part_x, part_y = _texels(tables.paint_place, paint, x, y)

        # Fresnel's law once for bands that share an index; a matt surface needs none
        last_n, last_k = np.float32(-1.0), np.float32(-1.0)
        r_facet = r_l = r_v = r_sky = gloss = _ZERO
        for band in range(bands):
            n, absorption = materials[band, number, tb.M_INDEX], materials[band, number, tb.M_ABSORPTION]
            if n != last_n or absorption != last_k:
                last_n, last_k = n, absorption
                r_facet = r_l = r_v = r_sky = gloss = _ZERO
                if n != _ONE or absorption != _ZERO:
                    if n != sky_n or absorption != sky_k:
                        sky_n, sky_k = n, absorption
                        r_from_sky = relative_reflectance(_HALF, n, absorption)
                    r_v, r_sky = relative_reflectance(cos_v, n, absorption), r_from_sky
                    if lit[k]:
                        length = math.sqrt(max(_TWO + _TWO * l_dot_v, np.float32(1e-12)))
                        cos_h, cos_lh = min((cos_l + cos_v) / length, _ONE), min((_ONE + l_dot_v) / length, _ONE)
                        r_facet = relative_reflectance(cos_lh, n, absorption)
                        r_l = relative_reflectance(cos_l, n, absorption)
                        gloss = r_facet * lobe(cos_l, cos_v, cos_h, materials[band, number, tb.M_ALPHA2])
            a, b = materials[band, number, tb.M_DIFFUSE_A], materials[band, number, tb.M_DIFFUSE_B]
            if own >= 0 or texture >= 0:
                if is_bytes:
                    at = tables.pixel_column[band]
                    left = tables.linear[tables.pixels[t00, at]], tables.linear[tables.pixels[t10, at]]
                    right = tables.linear[tables.pixels[t01, at]], tables.linear[tables.pixels[t11, at]]
                    upper = (_ONE - part_x) * left[0] + part_x * right[0]
                    lower = (_ONE - part_x) * left[1] + part_x * right[1]
                    c = ((_ONE - part_y) * upper + part_y * lower) * tables.paint_factor[paint, band]
                elif texture >= 0:
                    upper = (_ONE - part_x) * tables.texels[band, t00] + part_x * tables.texels[band, t01]
                    lower = (_ONE - part_x) * tables.texels[band, t10] + part_x * tables.texels[band, t11]
                    c = (_ONE - part_y) * upper + part_y * lower
                else:
                    c = _at_corners(corners[band], own, hit, k, block[pk.B_U + k], block[pk.B_V + k])
                below = (
                    _PI
                    * materials[band, number, tb.M_PLASTIC_N2]
                    * (_ONE - c * materials[band, number, tb.M_PLASTIC_FI])
                )
                a = c / below * (materials[band, number, tb.M_ON_A0] + materials[band, number, tb.M_ON_A1] * c)
                b = c / below * materials[band, number, tb.M_ON_B]

            # Sky and ground on the base, what is mirrored, and the sun
            sky, ground = light[band, L_SKY], light[band, L_GROUND]
            fixed = materials[band, number, tb.M_FIXED_R]
            mirrored = fixed if fixed >= _ZERO else r_v
            from_all = _PI * a * (_ONE - r_v) * (_ONE - r_sky)
            total = from_all * (sky * seen_sky + ground * (_ONE - seen_sky))
            if not goes_on:
                total += mirrored * (sky if mirrors_sky else ground)
            if lit[k]:
                once = materials[band, number, tb.M_ONE_WAY] > _HALF
                layer = _ONE - r_facet if once else (_ONE - r_l) * (_ONE - r_v)
                total += light[band, L_SUN] * (gloss + layer * (a + b * bent)) * cos_l
            if glows:
                total += max(_ONE - mirrored - from_all, _ZERO) * _emitted(
                    tables.emission, band, tables.thermal, kelvin
                )
            kept = _ONE
            if light[band, L_ALPHA] > _ZERO:
                kept = exp_f32(-light[band, L_ALPHA] * block[pk.B_T_FAR + k])
                total = total * kept + sky * (_ONE - kept)
            out[k, band] = total
            if goes_on:
                carried[k, band] = mirrored * kept


@jit.function
def _at_corners(corners, first, hit, k, u, v):
    """A value given at the corners of faces, at the hit point."""
    at = np.uint64(first) + np.uint64(3) * np.uint64(hit[pk.B_FACE + k])
    return (_ONE - u - v) * corners[at] + u * corners[at + np.uint64(1)] + v * corners[at + np.uint64(2)]


@jit.function
def _texels(places, paint, x, y):
    """Numbers of the four texels around a place, and how far it is between them."""
    first, height, width = places[paint, 0], places[paint, 1], places[paint, 2]
    left, top = np.int64(math.floor(x)), np.int64(math.floor(y))
    part_x, part_y = x - np.float32(left), y - np.float32(top)
    upper = first + _wrapped(top, height, places[paint, 4]) * width
    lower = first + _wrapped(top + 1, height, places[paint, 4]) * width
    near, far = _wrapped(left, width, places[paint, 3]), _wrapped(left + 1, width, places[paint, 3])
    return upper + near, upper + far, lower + near, lower + far, part_x, part_y


@jit.function
def _wrapped(index, count, wrap):
    """Index of a texel, also beyond the edges of the image."""
    if wrap == CLAMP:
        return min(max(index, 0), count - 1)
    if wrap == MIRROR:
        turned = index % (2 * count)
        return turned if turned < count else 2 * count - 1 - turned
    return index % count


@jit.function
def _emitted(table, band, thermal, kelvin):
    """Radiance of a black body, from its table, which has all temperatures of the scene."""
    at = max((log_f32(kelvin) - thermal[T_FIRST]) * thermal[T_PER_STEP], _ZERO)
    low = min(np.int64(at), table.shape[1] - 2)
    share = min(at - np.float32(low), _ONE)
    return exp_f32(table[band, low] + (table[band, low + 1] - table[band, low]) * share)
