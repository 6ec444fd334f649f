"""Pulses of another lidar that fall into the receivers of one: straight, or by way of a surface that both look at."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium import jit
from sensorium.optics.crosstalk import apparent, share_of_beam
from sensorium.optics.waveform import SPEED_OF_LIGHT
from sensorium.trace import packet as pk
from sensorium.trace.light import tables as tb
from sensorium.trace.packet import BLOCK, new_block
from sensorium.trace.sweep import WHOLE, aim_numbered

# entries of the numbers of crosstalk
C_COS_FIELD, C_SCATTERED, C_DIRECT, C_AREA, C_EXIT_M, C_WIDENING, C_NEAR, C_FAR = range(8)
CROSSTALK_NUMBERS = 8

# What an other's ray meets this close before a lidar is that lidar's own housing [m]
HOUSING_M = 0.3


class Pulses(NamedTuple):
    """What another lidar fires during a sweep, in the order of time."""

    time_s: NDArray[np.float64]  # (pulses,) since the start of the sweep
    late_s: NDArray[np.float64]  # (heads,) what its clock is behind
    origin: NDArray[np.float64]  # (heads, pulses, 3) in the world [m]
    direction: NDArray[np.float64]  # (heads, pulses, 3)
    range_m: NDArray[np.float32]  # (heads, pulses) to the first surface, 0 where there is none
    object_id: NDArray[np.int32]
    face_id: NDArray[np.int32]
    label: NDArray[np.int32]


@jit.kernel
def add_crosstalk(
    first, step, count, rays, heads, anchor, light, fired_s, number, pulses, per_world, is_own, found, kind, stray
):
    """Light of another lidar in the blocks first, first + step, ... of all heads, where it is stronger than any before.

    Args:
        first, step, count: Share of the blocks; every head has as many.
        rays: `RayTables`; heads: `Heads`; anchor: float64 (worlds, 3) [m]; light: `LightTables`.
        fired_s: float64 (rays,) when each ray is fired, since the start of the sweep.
        number: float64 (CROSSTALK_NUMBERS,): cosine of the half field of view, power of the other over one's own,
            power of the other's whole beam as an intensity, area of the receiver [m^2], the other's exit radius [m] and
            tangent of its half divergence, nearest and farthest range that is told [m].
        pulses: `Pulses`.
        per_world: Heads of the other lidar in each world.
        is_own: Whether the other is of the same rig, so that a head is not its own other.
        found: `LightOutputs` with every return of each ray.
        kind: Which row of the stray light to fill.
        stray: `StrayLight`.
    """
    block, _ = new_block()
    eye, along = np.zeros(3), np.zeros(3)
    for index in range(first, count, step):
        head, start, used = aim_numbered(block, rays, heads, index, WHOLE)
        world = heads.world[head]
        for k in range(used):
            for i in range(3):
                eye[i] = anchor[world, i] + block[pk.B_ORIGIN_X + i * BLOCK + k]
                along[i] = block[pk.B_DIRECTION_X + i * BLOCK + k]
            ray, slot = start + k, _first_surface(found, head, start + k)
            for other in range(world * per_world, (world + 1) * per_world):
                if not (is_own and other == head):
                    _listen(light, fired_s, number, pulses, found, head, ray, slot, other, eye, along, kind, stray)


@jit.function
def _first_surface(found, head, ray):
    """The return of the first surface that a ray met, -1 for none."""
    best = -1
    for j in range(found.cause.shape[1]):
        nearer = best < 0 or found.range_m[head, j, ray] < found.range_m[head, best, ray]
        if nearer and np.int32(found.cause[head, j, ray]) == tb.BY_SURFACE:
            best = j
    return best


@jit.function
def _listen(light, fired_s, number, pulses, found, head, ray, slot, other, eye, along, kind, stray):
    """Every pulse of one head of the other that may arrive while a ray's receiver listens."""
    n, calibrated = np.float64(light.medium[0, tb.G_INDEX]), np.float64(light.number[tb.N_CALIBRATED_INDEX])
    fired, late, near, far = fired_s[ray], pulses.late_s[other], number[C_NEAR], number[C_FAR]
    # No path that counts is longer than to what is lit, at most as far as rays go, and back
    earliest = fired - late + (2.0 * calibrated * near - 2.0 * n * light.number[tb.N_FAR]) / SPEED_OF_LIGHT
    latest = fired - late + 2.0 * calibrated * far / SPEED_OF_LIGHT
    i = np.searchsorted(pulses.time_s, earliest)
    while i < pulses.time_s.shape[0] and pulses.time_s[i] <= latest:
        since = pulses.time_s[i] + late - fired
        path, power = _scattered(light, number, pulses, found, head, ray, slot, other, i, eye, along)
        distance = apparent(since + n * path / SPEED_OF_LIGHT, calibrated)
        if power > 0.0 and near <= distance <= far:
            lit = pulses.object_id[other, i], pulses.face_id[other, i], pulses.label[other, i]
            _take(head, kind, ray, distance, power, lit, stray)
        path, power = _direct(light, number, pulses, other, i, eye, along)
        distance = apparent(since + n * path / SPEED_OF_LIGHT, calibrated)
        if power > 0.0 and near <= distance <= far:
            _take(head, kind, ray, distance, power, (np.int32(-1), np.int32(-1), np.int32(-1)), stray)
        i += 1


@jit.function
def _take(head, kind, ray, distance, power, lit, stray):
    """Keep it if it is the strongest so far."""
    if stray.cause[head, kind, ray] != 0 and power <= stray.intensity[head, kind, ray]:
        return
    stray.cause[head, kind, ray], stray.intensity[head, kind, ray] = np.uint8(tb.BY_CROSSTALK), np.float32(power)
    stray.range_m[head, kind, ray] = np.float32(distance)
    stray.object_id[head, kind, ray], stray.face_id[head, kind, ray], stray.label[head, kind, ray] = lit


@jit.function
def _scattered(light, number, pulses, found, head, ray, slot, other, i, eye, along):
    """Length [m] and strength of the way by the surface that a pulse lights up; strength 0 where it is not seen.

    It is seen where the receiver looks at the same object and the spot is in its field of view.
    """
    reached = np.float64(pulses.range_m[other, i])
    if slot < 0 or reached <= 0.0 or pulses.object_id[other, i] != found.object_id[head, slot, ray]:
        return 0.0, 0.0
    square, dot = 0.0, 0.0
    for axis in range(3):
        to = pulses.origin[other, i, axis] + reached * pulses.direction[other, i, axis] - eye[axis]
        square += to * to
        dot += to * along[axis]
    back = math.sqrt(square)
    if dot < number[C_COS_FIELD] * back:
        return 0.0, 0.0
    own = np.float64(found.range_m[head, slot, ray])
    lost = 1.0
    if light.switch[tb.S_ROUND_TRIP] == 2:
        lost = math.exp(-light.medium[0, tb.G_ALPHA] * (reached - own))
    return reached + back, number[C_SCATTERED] * lost * found.intensity[head, slot, ray]


@jit.function
def _direct(light, number, pulses, other, i, eye, along):
    """Length [m] and strength of the straight way from the other's window; strength 0 where it is not seen."""
    square, ahead, dot = 0.0, 0.0, 0.0
    for axis in range(3):
        to = eye[axis] - pulses.origin[other, i, axis]
        square += to * to
        ahead += to * pulses.direction[other, i, axis]
        dot -= to * along[axis]
    away, reached = math.sqrt(square), np.float64(pulses.range_m[other, i])
    if away == 0.0 or ahead <= 0.0 or dot < number[C_COS_FIELD] * away:
        return 0.0, 0.0
    radius = number[C_EXIT_M] + number[C_WIDENING] * away
    offset2 = max(square - ahead * ahead, 0.0)
    if offset2 > 4.0 * radius * radius or (reached > 0.0 and reached < away - HOUSING_M):
        return 0.0, 0.0
    lost = math.exp(-light.medium[0, tb.G_ALPHA] * away)
    return away, number[C_DIRECT] * lost * share_of_beam(number[C_AREA], radius, math.sqrt(offset2))
