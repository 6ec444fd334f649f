"""Effects of strong light on returns: adds stray light, folds far returns, saturates strong ones, then chooses.

The light kernel has written every return of a ray, see `sensors/lidar/strong_light.py`; this kernel chooses the
reported ones, by the lidar's own rule, together with stray light. Blocks of rays go from step to step, the returns of
each ray in a row of a scratch: functions called for each ray would count references to arrays all the time.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.optics.detection.range_ambiguity import folded
from sensorium.physics.optics.detection.range_walk import sigmas_early
from sensorium.random import draw_words, normal_pair_f32, uniform_f32
from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK, new_block
from sensorium.tracing.kernels.geometry.ray_errors import FIRST_DRAW, STAGE_RETURN, draws_of
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.detect import (
    D_ELECTRONS_A_WATT,
    D_NOISE_ELECTRONS,
    D_RISE_M,
    D_SIGMAS,
    counted,
    threshold_of,
)
from sensorium.tracing.kernels.sweep import WHOLE, aim_numbered

# Purposes of the draws for stray light; part of the counter
_STAGE_STRAY = np.int64(21)

# entries of StrongTables.number; 0 is off for the level and for the unambiguous range
X_LEVEL, X_TRIGGER, X_WALK_M, X_UNAMBIGUOUS, X_NEAR, X_FAR, X_SEPARATION = range(7)
STRONG_NUMBERS = 7

# Returns of a ray that the kernel keeps at most, and kinds of stray light beside them
MOST_KEPT, _KINDS = 8, 2
_MOST = MOST_KEPT + _KINDS

_NOBODY = -1


class Slots(NamedTuple):
    """Returns of the rays of a block, (BLOCK, most) each, and how many each ray has."""

    far_m: NDArray[np.float64]
    strength: NDArray[np.float64]
    cause: NDArray[np.int32]
    place: NDArray[np.int32]  # row among the kernel's returns, or MOST_KEPT and the kind of stray light
    order: NDArray[np.int32]  # which is reported first, second, ...
    held: NDArray[np.int32]  # (BLOCK,)
    kept: NDArray[np.int32]  # (BLOCK,) how many are reported


class StrayLight(NamedTuple):
    """Stray light on each ray, (heads, kinds, rays) each; cause 0 where there is none."""

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
def settle_strong(first, step, count, aim, light, draws, strong, found, stray, out):
    """Report the returns of the blocks first, first + step, ... of all heads.

    Args:
        first, step, count: Share of the blocks; every head has as many.
        aim: `SweepAim`.
        light: `LightTables`; draws: as for `sweep_light`; strong: `StrongTables`.
        found: `LightOutputs` with every return of each ray.
        stray: `StrayLight`.
        out: `LightOutputs` to fill with what is reported.
    """
    rays, heads, anchor = aim
    block, _ = new_block()
    slots = Slots(
        np.zeros((BLOCK, _MOST)),
        np.zeros((BLOCK, _MOST)),
        np.zeros((BLOCK, _MOST), np.int32),
        np.zeros((BLOCK, _MOST), np.int32),
        np.zeros((BLOCK, _MOST), np.int32),
        np.zeros(BLOCK, np.int32),
        np.zeros(BLOCK, np.int32),
    )
    for number in range(first, count, step):
        head, start, used = aim_numbered(block, rays, heads, number, WHOLE)
        _take_own(found, strong, light, head, start, slots, used)
        if stray.cause.shape[1] > 0:
            own, voided = draws_of(rays, heads, draws, head, start), heads.start[head]
            _add_stray(block, stray, found, strong, light, own, voided, head, start, slots, used)
        _saturate(strong, slots, used)
        _choose(strong, light, slots, used)
        _write(found, stray, strong, head, start, slots, out, used)
        _write_points(block, rays, anchor[heads.world[head]], light, strong, head, start, slots, out, used)


@jit.function
def _take_own(found, strong, light, head, start, slots, used):
    """The rays' own returns, folded."""
    unambiguous, near, far = strong.number[X_UNAMBIGUOUS], strong.number[X_NEAR], strong.number[X_FAR]
    reach = np.float64(light.number[tb.N_FAR])
    for k in range(used):
        slots.held[k] = 0
    for j in range(found.cause.shape[1]):
        range_m, intensity, cause = found.range_m[head, j], found.intensity[head, j], found.cause[head, j]
        for k in range(used):
            why = np.int32(cause[start + k])
            if why == tb.NO_CAUSE:
                continue
            distance, n = np.float64(range_m[start + k]), slots.held[k]
            if unambiguous > 0.0 and why == tb.BY_FALSE_ALARM:
                # Noise crosses the threshold anywhere in the window, which ends where reports do
                distance = near + (distance - near) * (far - near) / (reach - near)
            elif unambiguous > 0.0 and distance >= unambiguous:
                distance, why = folded(distance, unambiguous), tb.BY_FOLDING
            slots.far_m[k, n], slots.strength[k, n] = distance, intensity[start + k]
            slots.cause[k, n], slots.place[k, n] = why, j
            slots.held[k] = n + 1


@jit.function
def _add_stray(block, stray, found, strong, light, draws, voided, head, start, slots, used):
    """Add visible stray light; stray light close to a return of the ray itself merges with it."""
    unambiguous, separation = strong.number[X_UNAMBIGUOUS], strong.number[X_SEPARATION]
    key, tick, element, world = draws
    dropout, key0, key1 = light.number[tb.N_DROPOUT], key[0], key[1]
    for kind in range(stray.cause.shape[1]):
        for k in range(used):
            ray = start + k
            why, power = np.int32(stray.cause[head, kind, ray]), np.float64(stray.intensity[head, kind, ray])
            if why == tb.NO_CAUSE or power <= 0.0 or block[pk.B_TIME + k] < voided:
                continue
            if dropout > np.float32(0.0):
                _, _, _, w3 = draw_words(key0, key1, element + k, STAGE_RETURN, FIRST_DRAW, tick, world)
                if uniform_f32(w3) < dropout:
                    continue
            distance = np.float64(stray.range_m[head, kind, ray])
            if unambiguous > 0.0:
                distance = folded(distance, unambiguous)

            # Stray light close to a return of the ray itself merges with it
            joined = False
            for i in range(slots.held[k]):
                own = slots.place[k, i] < MOST_KEPT and slots.cause[k, i] != tb.BY_FALSE_ALARM
                if own and not joined and abs(slots.far_m[k, i] - distance) < separation:
                    both, joined = slots.strength[k, i] + power, True
                    slots.far_m[k, i] += (distance - slots.far_m[k, i]) * power / both
                    if power > slots.strength[k, i]:
                        slots.cause[k, i], slots.place[k, i] = why, np.int32(MOST_KEPT + kind)
                    slots.strength[k, i] = both
            if joined:
                continue
            w0, w1, w2, w3 = draw_words(key0, key1, element + k, _STAGE_STRAY, np.int64(kind), tick, world)
            ambient = np.float64(found.ambient[head, ray]) if found.ambient.shape[1] > 0 else 0.0
            is_bloom = why == tb.BY_BLOOM
            seen, error_m = _detected(
                light.number, light.detector, light.switch, ambient, power, distance, is_bloom, w0, w1, w2, w3
            )
            if seen:
                n = slots.held[k]
                slots.far_m[k, n], slots.strength[k, n] = distance + error_m, power
                slots.cause[k, n], slots.place[k, n] = why, np.int32(MOST_KEPT + kind)
                slots.held[k] = n + 1


@jit.function
def _detected(number, detector, switch, ambient, power, distance, is_bloom, w0, w1, w2, w3):
    """Whether stray light is detected, and the error of its range [m]: by photons, or by the threshold."""
    g0, g1 = normal_pair_f32(w2, w3)
    if power < number[tb.N_THRESHOLD]:
        return False, 0.0
    if switch[tb.S_RADIOMETRIC] > 0:
        rate, noise = np.float64(detector[D_ELECTRONS_A_WATT]), np.float64(detector[D_NOISE_ELECTRONS])
        background, signal = rate * ambient, rate * power
        if counted(signal + background, w0, w1) + noise * g0 < threshold_of(background, noise, detector[D_SIGMAS]):
            return False, 0.0
        snr = signal * signal / (signal + background + noise * noise)
        return True, detector[D_RISE_M] / math.sqrt(2.0 * snr) * g1
    if is_bloom:
        return True, 0.0  # its source is reported, with the noise of that
    sigma = number[tb.N_NOISE_BASE] + distance * (number[tb.N_NOISE_SLOPE] + distance * number[tb.N_NOISE_SQUARE])
    return True, number[tb.N_BIAS] + sigma * g0


@jit.function
def _saturate(strong, slots, used):
    """Clip returns above the saturation level, apply range walk, and drop returns outside the limits."""
    level, trigger, walk_m = strong.number[X_LEVEL], strong.number[X_TRIGGER], strong.number[X_WALK_M]
    near, far = strong.number[X_NEAR], strong.number[X_FAR]
    for k in range(used):
        kept = 0
        for i in range(slots.held[k]):
            distance, power, why = slots.far_m[k, i], slots.strength[k, i], slots.cause[k, i]
            if level > 0.0 and power > level:
                distance -= walk_m * sigmas_early(power, level, trigger)
                power = level
                why = tb.BY_SATURATION if why <= tb.BY_MIXTURE else why
            if distance >= near and distance <= far and distance > 0.0:
                slots.far_m[k, kept], slots.strength[k, kept] = distance, power
                slots.cause[k, kept], slots.place[k, kept] = why, slots.place[k, i]
                kept += 1
        slots.held[k] = kept


@jit.function
def _choose(strong, light, slots, used):
    """Order of the reported returns: best first, or nearest first if all are; the nearer of equal ones first."""
    rule, wanted, priority = strong.returns, strong.reported, light.switch[tb.S_PRIORITY] > 0
    far_m, order, rank = slots.far_m, slots.order, np.zeros(_MOST)
    for k in range(used):
        n = slots.held[k]
        slots.kept[k] = min(n, wanted)
        order[k, 0] = 0
        if n <= 1:
            continue
        for i in range(n):
            rank[i] = slots.strength[k, i]
            if rule == tb.FIRST:
                rank[i] = -far_m[k, i]
            elif rule == tb.LAST:
                rank[i] = far_m[k, i]
            if priority and slots.cause[k, i] == tb.BY_ATMOSPHERE:
                rank[i] = np.inf
        for turn in range(slots.kept[k]):
            best = -1
            for i in range(n):
                if rank[i] == -np.inf:
                    continue
                if best < 0 or rank[i] > rank[best] or (rank[i] == rank[best] and far_m[k, i] < far_m[k, best]):
                    best = i
            order[k, turn], rank[best] = best, -np.inf

        # Dual: the last beside the strongest, and where that is the last too, the second strongest
        if rule == tb.DUAL:
            last = 0
            for i in range(1, n):
                last = i if far_m[k, i] > far_m[k, last] else last
            order[k, 1] = last if last != order[k, 0] else order[k, 1]
        elif rule == tb.ALL:
            for i in range(1, slots.kept[k]):
                j = i
                while j > 0 and far_m[k, order[k, j]] < far_m[k, order[k, j - 1]]:
                    order[k, j], order[k, j - 1] = order[k, j - 1], order[k, j]
                    j -= 1


@jit.function
def _write(found, stray, strong, head, start, slots, out, used):
    """All fields of the returns but their points; without a return, the kernel's empty values."""
    tree = out.depth.shape[2] > 0
    for j in range(strong.reported):
        for k in range(used):
            ray = start + k
            if j >= slots.kept[k]:
                out.range_m[head, j, ray], out.intensity[head, j, ray] = np.float32(0.0), np.float32(0.0)
                out.cause[head, j, ray], out.object_id[head, j, ray] = np.uint8(tb.NO_CAUSE), _NOBODY
                out.face_id[head, j, ray], out.label[head, j, ray] = _NOBODY, _NOBODY
                if tree:
                    out.depth[head, j, ray], out.mirror_id[head, j, ray] = np.uint8(0), _NOBODY
                continue
            i = slots.order[k, j]
            slot = slots.place[k, i]
            kind = slot - MOST_KEPT
            out.range_m[head, j, ray] = np.float32(slots.far_m[k, i])
            out.intensity[head, j, ray] = np.float32(slots.strength[k, i])
            out.cause[head, j, ray] = np.uint8(slots.cause[k, i])
            if kind >= 0:
                out.object_id[head, j, ray] = stray.object_id[head, kind, ray]
                out.face_id[head, j, ray] = stray.face_id[head, kind, ray]
                out.label[head, j, ray] = stray.label[head, kind, ray]
            else:
                out.object_id[head, j, ray] = found.object_id[head, slot, ray]
                out.face_id[head, j, ray] = found.face_id[head, slot, ray]
                out.label[head, j, ray] = found.label[head, slot, ray]
            if tree:
                out.depth[head, j, ray] = np.uint8(0) if kind >= 0 else found.depth[head, slot, ray]
                out.mirror_id[head, j, ray] = _NOBODY if kind >= 0 else found.mirror_id[head, slot, ray]


@jit.function
def _write_points(block, rays, anchor, light, strong, head, start, slots, out, used):
    """Points on the nominal rays; zero without a return."""
    in_world, starts = light.switch[tb.S_IN_WORLD] > 0, rays.origin.shape[0] > 0
    for j in range(strong.reported):
        if in_world:
            points_W = out.points_W[head, j]
            for k in range(used):
                distance = out.range_m[head, j, start + k]
                for i in range(3):
                    at = block[pk.B_ORIGIN_X + i * BLOCK + k] + distance * block[pk.B_DIRECTION_X + i * BLOCK + k]
                    points_W[start + k, i] = anchor[i] + at if j < slots.kept[k] else 0.0
            continue
        points_S = out.points_S[head, j]
        for k in range(used):
            ray = start + k
            distance = out.range_m[head, j, ray]
            points_S[ray, 0], points_S[ray, 1] = distance * rays.x[ray], distance * rays.y[ray]
            points_S[ray, 2] = distance * rays.z[ray]
        if starts:
            for k in range(used):
                for i in range(3):
                    points_S[start + k, i] += rays.origin[start + k, i] if j < slots.kept[k] else np.float32(0.0)
