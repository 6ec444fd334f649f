"""What strong light makes of returns: stray light joins, far ones fold, strong ones saturate; then the lidar chooses.

The light kernel has written every return of a ray, see `sensors/strong_light.py`; which of them are reported is settled
here, by the lidar's own rule, together with what came from elsewhere.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium import jit
from sensorium.optics.range_ambiguity import folded
from sensorium.optics.range_walk import sigmas_early
from sensorium.random import draw_words, normal_pair_f32, uniform_f32
from sensorium.trace import packet as pk
from sensorium.trace.light import tables as tb
from sensorium.trace.light.detect import D_ELECTRONS_A_WATT, D_NOISE_ELECTRONS, D_RISE_M, D_SIGMAS, counted
from sensorium.trace.light.shade import FIRST_DRAW, STAGE_RETURN
from sensorium.trace.light.steps import numbers_of
from sensorium.trace.packet import BLOCK, new_block
from sensorium.trace.sweep import WHOLE, aim_numbered

# What draws for stray light are for; part of the counter
_STAGE_STRAY = np.int64(21)

# entries of StrongTables.number; 0 is off for the level and for the unambiguous range
X_LEVEL, X_TRIGGER, X_WALK_M, X_UNAMBIGUOUS, X_NEAR, X_FAR, X_SEPARATION = range(7)
STRONG_NUMBERS = 7

# Returns of a ray that the kernel keeps at most, and kinds of stray light beside them
MOST_KEPT, _KINDS = 8, 2
_MOST = MOST_KEPT + _KINDS

_NOBODY = -1


class StrayLight(NamedTuple):
    """Light that came to a ray from elsewhere, (heads, kinds, rays) each; cause 0 where none did."""

    range_m: NDArray[np.float32]
    intensity: NDArray[np.float32]
    cause: NDArray[np.uint8]
    object_id: NDArray[np.int32]
    face_id: NDArray[np.int32]
    label: NDArray[np.int32]


class StrongTables(NamedTuple):
    """Constant during a sweep."""

    number: NDArray[np.float64]  # (STRONG_NUMBERS,)
    returns: int  # rule by which the lidar chooses, S_RETURNS
    reported: int  # how many it reports


@jit.kernel
def settle_strong(first, step, count, rays, heads, anchor, light, draws, strong, found, stray, out):
    """Report the returns of the blocks first, first + step, ... of all heads.

    Args:
        first, step, count: Share of the blocks; every head has as many.
        rays: `RayTables`; heads: `Heads`; anchor: float64 (worlds, 3) [m].
        light: `LightTables`; draws: as for `sweep_light`; strong: `StrongTables`.
        found: `LightOutputs` with every return of each ray.
        stray: `StrayLight`.
        out: `LightOutputs` to fill with what is reported.
    """
    block, _ = new_block()
    far_m, strength = np.zeros(_MOST), np.zeros(_MOST)
    cause, place, order = np.zeros(_MOST, np.int32), np.zeros(_MOST, np.int32), np.zeros(_MOST, np.int64)
    for number in range(first, count, step):
        head, start, used = aim_numbered(block, rays, heads, number, WHOLE)
        element, among = numbers_of(rays, heads, draws, head, start)
        for k in range(used):
            ray = start + k
            n = _own(found, strong, light, head, ray, far_m, strength, cause, place)
            if stray.cause.shape[1] > 0 and block[pk.B_TIME + k] >= heads.start[head]:
                n = _with_stray(
                    stray, found, strong, light, draws, element + k, among, head, ray, far_m, strength, cause, place, n
                )
            n = _saturated(strong, far_m, strength, cause, place, n)
            kept = _chosen(strong, light, far_m, strength, cause, n, order)
            for j in range(strong.reported):
                _write(found, stray, head, j, ray, far_m, strength, cause, place, order, kept, out)
                distance = out.range_m[head, j, ray]
                _place(block, rays, anchor[heads.world[head]], light, k, ray, distance, j < kept, head, j, out)


@jit.function
def _own(found, strong, light, head, ray, far_m, strength, cause, place):
    """The ray's own returns, folded; how many there are."""
    unambiguous, near, far = strong.number[X_UNAMBIGUOUS], strong.number[X_NEAR], strong.number[X_FAR]
    n = 0
    for j in range(found.cause.shape[1]):
        why = np.int32(found.cause[head, j, ray])
        if why == tb.NO_CAUSE:
            continue
        distance = np.float64(found.range_m[head, j, ray])
        if unambiguous > 0.0 and why == tb.BY_FALSE_ALARM:
            # Noise crosses the threshold anywhere in the window, which ends where reports do
            distance = near + (distance - near) * (far - near) / (light.number[tb.N_FAR] - near)
        elif unambiguous > 0.0 and distance >= unambiguous:
            distance, why = folded(distance, unambiguous), tb.BY_FOLDING
        far_m[n], strength[n] = distance, found.intensity[head, j, ray]
        cause[n], place[n] = why, j
        n += 1
    return n


@jit.function
def _with_stray(stray, found, strong, light, draws, element, among, head, ray, far_m, strength, cause, place, n):
    """The same and light from elsewhere, where it is seen; what is close to a return becomes part of it."""
    unambiguous, own = strong.number[X_UNAMBIGUOUS], n
    _, _, _, w3 = draw_words(draws.key[0], draws.key[1], element, STAGE_RETURN, FIRST_DRAW, draws.tick, among)
    if uniform_f32(w3) < light.number[tb.N_DROPOUT]:
        return n
    for kind in range(stray.cause.shape[1]):
        why = np.int32(stray.cause[head, kind, ray])
        power = np.float64(stray.intensity[head, kind, ray])
        if why == tb.NO_CAUSE or power <= 0.0:
            continue
        distance = np.float64(stray.range_m[head, kind, ray])
        if unambiguous > 0.0:
            distance = folded(distance, unambiguous)

        # Light that comes with a return of the ray's own is part of it
        joined = False
        for i in range(own):
            if abs(far_m[i] - distance) < strong.number[X_SEPARATION] and cause[i] != tb.BY_FALSE_ALARM:
                both = strength[i] + power
                far_m[i] += (distance - far_m[i]) * power / both
                if power > strength[i]:
                    cause[i], place[i] = why, np.int32(MOST_KEPT + kind)
                strength[i], joined = both, True
                break
        if joined:
            continue
        words = draw_words(draws.key[0], draws.key[1], element, _STAGE_STRAY, np.int64(kind), draws.tick, among)
        seen, error_m = _detected(found, light, head, ray, power, distance, why, words)
        if seen:
            far_m[n], strength[n] = distance + error_m, power
            cause[n], place[n] = why, np.int32(MOST_KEPT + kind)
            n += 1
    return n


@jit.function
def _detected(found, light, head, ray, power, distance, why, words):
    """Whether light from elsewhere is seen, and the error of its range [m]: by photons, or by the threshold."""
    w0, w1, w2, w3 = words
    g0, g1 = normal_pair_f32(w2, w3)
    number = light.number
    if light.switch[tb.S_RADIOMETRIC] > 0:
        rate, noise = np.float64(light.detector[D_ELECTRONS_A_WATT]), np.float64(light.detector[D_NOISE_ELECTRONS])
        background = rate * found.ambient[head, ray] if found.ambient.shape[1] > 0 else 0.0
        threshold = background + light.detector[D_SIGMAS] * math.sqrt(background + noise * noise)
        signal = rate * power
        if power < number[tb.N_THRESHOLD] or counted(signal + background, w0, w1) + noise * g0 < threshold:
            return False, 0.0
        snr = signal * signal / (signal + background + noise * noise)
        return True, light.detector[D_RISE_M] / math.sqrt(2.0 * snr) * g1
    if power < number[tb.N_THRESHOLD]:
        return False, 0.0
    if why == tb.BY_BLOOM:
        return True, 0.0  # where its source is told, with the noise of that
    sigma = number[tb.N_NOISE_BASE] + distance * (number[tb.N_NOISE_SLOPE] + distance * number[tb.N_NOISE_SQUARE])
    return True, number[tb.N_BIAS] + sigma * g0


@jit.function
def _saturated(strong, far_m, strength, cause, place, n):
    """Clip what is stronger than the receiver can tell, let its range walk, and drop what lies outside the limits."""
    number, kept = strong.number, 0
    for i in range(n):
        distance, power, why = far_m[i], strength[i], cause[i]
        if number[X_LEVEL] > 0.0 and power > number[X_LEVEL]:
            distance -= number[X_WALK_M] * sigmas_early(power, number[X_LEVEL], number[X_TRIGGER])
            power = number[X_LEVEL]
            why = tb.BY_SATURATION if why <= tb.BY_MIXTURE else why
        if distance >= number[X_NEAR] and distance <= number[X_FAR] and distance > 0.0:
            far_m[kept], strength[kept], cause[kept], place[kept] = distance, power, why, place[i]
            kept += 1
    return kept


@jit.function
def _chosen(strong, light, far_m, strength, cause, n, order):
    """Which are reported, best first, or by distance where all are: their numbers in `order`; returns how many."""
    rule, wanted = strong.returns, strong.reported
    kept = 0
    if rule == tb.DUAL:
        if n == 0:
            return 0
        best = _best(light, tb.STRONGEST, far_m, strength, cause, n, order, 0)
        order[0] = best
        last = _best(light, tb.LAST, far_m, strength, cause, n, order, 0)
        if n == 1:
            return 1
        order[1] = last if last != best else _best(light, tb.STRONGEST, far_m, strength, cause, n, order, 1)
        return 2
    while kept < wanted and kept < n:
        order[kept] = _best(light, rule, far_m, strength, cause, n, order, kept)
        kept += 1
    if rule == tb.ALL:
        for i in range(1, kept):
            j = i
            while j > 0 and far_m[order[j]] < far_m[order[j - 1]]:
                order[j], order[j - 1] = order[j - 1], order[j]
                j -= 1
    return kept


@jit.function
def _best(light, rule, far_m, strength, cause, n, order, taken):
    """The best that is not among the first `taken` of `order`; of equal ones the nearer."""
    best, most = -1, -np.inf
    for i in range(n):
        free = True
        for t in range(taken):
            free = free and order[t] != i
        if not free:
            continue
        rank = strength[i]
        if rule == tb.FIRST:
            rank = -far_m[i]
        elif rule == tb.LAST:
            rank = far_m[i]
        if light.switch[tb.S_PRIORITY] > 0 and cause[i] == tb.BY_ATMOSPHERE:
            rank = np.inf
        if best < 0 or rank > most or (rank == most and far_m[i] < far_m[best]):
            best, most = i, rank
    return best


@jit.function
def _write(found, stray, head, j, ray, far_m, strength, cause, place, order, kept, out):
    """Return j of a ray, or none."""
    tree = out.depth.shape[2] > 0
    out.range_m[head, j, ray], out.intensity[head, j, ray] = np.float32(0.0), np.float32(0.0)
    out.cause[head, j, ray], out.object_id[head, j, ray] = np.uint8(tb.NO_CAUSE), _NOBODY
    out.face_id[head, j, ray], out.label[head, j, ray] = _NOBODY, _NOBODY
    if tree:
        out.depth[head, j, ray], out.mirror_id[head, j, ray] = np.uint8(0), _NOBODY
    if j >= kept:
        return
    i = order[j]
    slot = place[i]
    out.range_m[head, j, ray], out.intensity[head, j, ray] = np.float32(far_m[i]), np.float32(strength[i])
    out.cause[head, j, ray] = np.uint8(cause[i])
    if slot >= MOST_KEPT:
        kind = slot - MOST_KEPT
        out.object_id[head, j, ray] = stray.object_id[head, kind, ray]
        out.face_id[head, j, ray] = stray.face_id[head, kind, ray]
        out.label[head, j, ray] = stray.label[head, kind, ray]
        return
    out.object_id[head, j, ray] = found.object_id[head, slot, ray]
    out.face_id[head, j, ray] = found.face_id[head, slot, ray]
    out.label[head, j, ray] = found.label[head, slot, ray]
    if tree:
        out.depth[head, j, ray] = found.depth[head, slot, ray]
        out.mirror_id[head, j, ray] = found.mirror_id[head, slot, ray]


@jit.function
def _place(block, rays, anchor, light, k, ray, distance, is_return, head, j, out):
    """The point of return j on the ray as the sensor believes in it; zero where there is none."""
    in_world = light.switch[tb.S_IN_WORLD] > 0
    for i in range(3):
        if in_world:
            at = anchor[i] + block[pk.B_ORIGIN_X + i * BLOCK + k] + distance * block[pk.B_DIRECTION_X + i * BLOCK + k]
            out.points_W[head, j, ray, i] = at if is_return else 0.0
        else:
            along = rays.x[ray] if i == 0 else rays.y[ray] if i == 1 else rays.z[ray]
            begins = rays.origin[ray, i] if rays.origin.shape[0] > 0 else np.float32(0.0)
            out.points_S[head, j, ray, i] = begins + distance * along if is_return else np.float32(0.0)
