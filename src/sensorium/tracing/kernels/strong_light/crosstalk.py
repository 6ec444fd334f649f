"""Pulses of another lidar in a lidar's receivers: direct, or by way of a surface that both look at."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.physics.optics.detection.crosstalk import apparent, share_of_beam
from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import new_block
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.sweep import WHOLE, aim_numbered

# entries of the numbers of crosstalk: cosine of the half field of view, power of the other over one's own, power of the
# other's whole beam as an intensity, area of the receiver [m^2], the other's exit radius [m] and tangent of its half
# divergence, nearest and farthest range that is reported [m]
C_COS_FIELD, C_SCATTERED, C_DIRECT, C_AREA, C_EXIT_M, C_WIDENING, C_NEAR, C_FAR = range(8)
CROSSTALK_NUMBERS = 8

# A hit of the other's ray this close before a lidar is that lidar's own housing [m]
HOUSING_M = 0.3


class Pulses(NamedTuple):
    """Pulses of another lidar during a sweep, in the order of time."""

    number: NDArray[np.float64]  # (CROSSTALK_NUMBERS,) of both lidars, see above
    per_world: int  # heads of the other lidar in each world
    is_own: bool  # whether the other is of the same rig, so that a head is not its own other

    time_s: NDArray[np.float64]  # (pulses,) since the start of the sweep
    late_s: NDArray[np.float64]  # (heads,) what its clock is behind
    origin: NDArray[np.float64]  # (heads, pulses, 3) in the world [m]
    direction: NDArray[np.float64]  # (heads, pulses, 3)
    range_m: NDArray[np.float32]  # (heads, pulses) to the first surface, 0 where there is none
    object_id: NDArray[np.int32]
    face_id: NDArray[np.int32]
    label: NDArray[np.int32]


@jit.kernel
def add_crosstalk(first, step, count, aim, light, fired_s, pulses, found, kind, stray):
    """Light of another lidar in the blocks first, first + step, ... of all heads, if stronger than any before.

    Args:
        first, step, count: Share of the blocks; every head has as many.
        aim: `SweepAim`; light: `LightTables`.
        fired_s: float64 (rays,) when each ray is fired, since the start of the sweep.
        pulses: `Pulses`.
        found: `LightOutputs` with every return of each ray.
        kind: Which row of the stray light to fill.
        stray: `StrayLight`.
    """
    rays, heads, anchor = aim
    number, per_world = pulses.number, pulses.per_world
    block, _ = new_block()
    n, calibrated = np.float64(light.medium[0, tb.G_INDEX]), np.float64(light.number[tb.N_CALIBRATED_INDEX])
    alpha, both_ways = np.float64(light.medium[0, tb.G_ALPHA]), light.switch[tb.S_ROUND_TRIP] == 2
    near, far, cos_field = number[C_NEAR], number[C_FAR], number[C_COS_FIELD]
    time_s, origin, direction, size = pulses.time_s, pulses.origin, pulses.direction, pulses.time_s.shape[0]

    # No path that counts is longer than to what is lit, at most as far as rays go, and back
    longest_s = 2.0 * n * light.number[tb.N_FAR] / SPEED_OF_LIGHT_M_S
    opens_s, closes_s = 2.0 * calibrated * near / SPEED_OF_LIGHT_M_S, 2.0 * calibrated * far / SPEED_OF_LIGHT_M_S
    for index in range(first, count, step):
        head, start, used = aim_numbered(block, rays, heads, index, WHOLE)
        world = heads.world[head]
        for other in range(world * per_world, (world + 1) * per_world):
            if pulses.is_own and other == head:
                continue
            for k in range(used):
                # The first pulse that may arrive while the receiver listens
                ray = start + k
                behind_s = pulses.late_s[other] - fired_s[ray]
                i, high = 0, size
                while i < high:
                    middle = (i + high) // 2
                    i, high = (middle + 1, high) if time_s[middle] + behind_s < opens_s - longest_s else (i, middle)
                if i == size or time_s[i] + behind_s > closes_s:
                    continue

                # The first surface that the ray met
                slot = -1
                for j in range(found.cause.shape[1]):
                    nearer = slot < 0 or found.range_m[head, j, ray] < found.range_m[head, slot, ray]
                    slot = j if nearer and np.int32(found.cause[head, j, ray]) == tb.BY_SURFACE else slot
                ex, ey, ez = (
                    anchor[world, 0] + block[pk.B_ORIGIN_X + k],
                    anchor[world, 1] + block[pk.B_ORIGIN_Y + k],
                    anchor[world, 2] + block[pk.B_ORIGIN_Z + k],
                )
                ax, ay, az = (
                    np.float64(block[pk.B_DIRECTION_X + k]),
                    np.float64(block[pk.B_DIRECTION_Y + k]),
                    np.float64(block[pk.B_DIRECTION_Z + k]),
                )
                while i < size and time_s[i] + behind_s <= closes_s:
                    since_s, reached = time_s[i] + behind_s, np.float64(pulses.range_m[other, i])
                    dx, dy, dz = direction[other, i, 0], direction[other, i, 1], direction[other, i, 2]
                    ox, oy, oz = origin[other, i, 0] - ex, origin[other, i, 1] - ey, origin[other, i, 2] - ez

                    # By way of the surface that is lit, where both look at the same object
                    if slot >= 0 and reached > 0.0 and pulses.object_id[other, i] == found.object_id[head, slot, ray]:
                        sx, sy, sz = ox + reached * dx, oy + reached * dy, oz + reached * dz
                        back = math.sqrt(sx * sx + sy * sy + sz * sz)
                        told = apparent(since_s + n * (reached + back) / SPEED_OF_LIGHT_M_S, calibrated)
                        if sx * ax + sy * ay + sz * az >= cos_field * back and near <= told <= far:
                            own = np.float64(found.range_m[head, slot, ray])
                            lost = math.exp(-alpha * (reached - own)) if both_ways else 1.0
                            power = number[C_SCATTERED] * lost * found.intensity[head, slot, ray]
                            if stray.cause[head, kind, ray] == 0 or power > stray.intensity[head, kind, ray]:
                                stray.cause[head, kind, ray] = np.uint8(tb.BY_CROSSTALK)
                                stray.intensity[head, kind, ray] = np.float32(power)
                                stray.range_m[head, kind, ray] = np.float32(told)
                                stray.object_id[head, kind, ray] = pulses.object_id[other, i]
                                stray.face_id[head, kind, ray] = pulses.face_id[other, i]
                                stray.label[head, kind, ray] = pulses.label[other, i]

                    # Direct light from the window
                    away2 = ox * ox + oy * oy + oz * oz
                    away, ahead = math.sqrt(away2), -(ox * dx + oy * dy + oz * dz)
                    told = apparent(since_s + n * away / SPEED_OF_LIGHT_M_S, calibrated)
                    power = 0.0
                    if ahead > 0.0 and ox * ax + oy * ay + oz * az >= cos_field * away and near <= told <= far:
                        free = reached <= 0.0 or reached >= away - HOUSING_M
                        power = number[C_DIRECT] * math.exp(-alpha * away) if free else 0.0
                        power *= _share(number[C_AREA], number[C_EXIT_M] + number[C_WIDENING] * away, away2, ahead)
                    if power > 0.0 and (stray.cause[head, kind, ray] == 0 or power > stray.intensity[head, kind, ray]):
                        stray.cause[head, kind, ray] = np.uint8(tb.BY_CROSSTALK)
                        stray.intensity[head, kind, ray] = np.float32(power)
                        stray.range_m[head, kind, ray] = np.float32(told)
                        stray.object_id[head, kind, ray] = -1
                        stray.face_id[head, kind, ray], stray.label[head, kind, ray] = -1, -1
                    i += 1


@jit.inlined
def _share(area, radius, away2, ahead):
    """Share of a beam that a receiver catches [1], zero beyond two radii off its axis."""
    offset2 = max(away2 - ahead * ahead, 0.0)
    return share_of_beam(area, radius, math.sqrt(offset2)) if offset2 <= 4.0 * radius * radius else 0.0
