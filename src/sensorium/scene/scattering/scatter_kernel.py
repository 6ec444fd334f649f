"""The kernel of `Scatter`: draws place after place until one is free, world by world."""

import math

import numpy as np

from sensorium.random import draw_words, uniform_f32, uniform_f64
from sensorium.runtime import jit
from sensorium.runtime.worker_pool import NONE, next_block, shared

# Stages of the counter: four for each scatter. The element is the slot within its scatter, so that scatters do not
# change each other's numbers.
_COUNT, _ASSET, _PLACE, _TURN, _STAGES = np.int64(0), np.int64(1), np.int64(2), np.int64(3), np.int64(4)
_ONCE = np.int64(0)


@jit.function
def _strew_rows(first, step, count, worlds, episodes, tables, key, index, position, quaternion, full):
    """The work of `strew`."""
    turn = jit.zeros(3, np.float64)
    row = next_block(first, step, count, NONE)
    while row < count:
        world, episode = worlds[row], episodes[row]
        for group in range(tables.counts.shape[0]):
            stage = group * _STAGES
            assets = tables.asset_first[group + 1] - tables.asset_first[group]
            least, most = tables.counts[group, 0], tables.counts[group, 1]
            w0, w1, _, _ = draw_words(key[0], key[1], _ONCE, stage + _COUNT, _ONCE, episode, world)
            wanted = least + np.int64(uniform_f64(w0, w1) * (most - least + 1))
            for k in range(tables.slot_first[group + 1] - tables.slot_first[group]):
                slot = tables.slot_first[group] + k
                index[row, slot] = -1
                quaternion[row, slot, 0] = 1.0
                if k >= wanted:
                    continue
                w0, w1, _, _ = draw_words(key[0], key[1], k, stage + _ASSET, _ONCE, episode, world)
                asset = tables.asset_first[group] + np.int64(uniform_f64(w0, w1) * assets)
                place = position[row, slot]
                for attempt in range(tables.attempts[group]):
                    w0, w1, w2, w3 = draw_words(key[0], key[1], k, stage + _PLACE, attempt, episode, world)
                    t0, t1, t2, t3 = draw_words(key[0], key[1], k, stage + _TURN, attempt, episode, world)
                    low, high = tables.region[group, 0], tables.region[group, 1]
                    place[0] = low[0] + (high[0] - low[0]) * uniform_f64(w0, w1)
                    place[1] = low[1] + (high[1] - low[1]) * uniform_f64(w2, w3)
                    place[2] = low[2] + (high[2] - low[2]) * np.float64(uniform_f32(t0))
                    turn[0], turn[1], turn[2] = uniform_f32(t1), uniform_f32(t2), uniform_f32(t3)
                    if _is_clear(tables, group, asset, place) and (
                        tables.gap_m[group] < 0.0 or _has_room(tables, group, asset, row, slot, index, position)
                    ):
                        index[row, slot] = asset
                        break
                if index[row, slot] >= 0:
                    for i in range(3):
                        least_rad, most_rad = tables.turn_rad[group, 0, i], tables.turn_rad[group, 1, i]
                        turn[i] = least_rad + (most_rad - least_rad) * turn[i]
                    _write_quaternion(turn, quaternion[row, slot])
                elif not tables.leaves_out[group]:
                    full[row] = group
        row = next_block(first, step, count, row)


_share_rows = shared(_strew_rows)


@jit.kernel
def strew(first, step, count, worlds, episodes, tables, key, index, position, quaternion, full):
    """Draw the slots of a share of the worlds.

    Args:
        first, step, count: Share of the rows.
        worlds: Number of each row's world; episodes: how often it was drawn before.
        tables: `ScatterTables`.
        key: Two words of the stream's key.
        index: Filled with the asset of each slot, -1 for none, int32 (rows, slots).
        position, quaternion: Filled with X_BS, float64 (rows, slots, 3) and (rows, slots, 4).
        full: Set to the scatter that found no place in a row, int32 (rows,).
    """
    _share_rows(first, step, count, (worlds, episodes, tables, key, index, position, quaternion, full))


@jit.function
def _is_clear(tables, group, asset, place):
    """Whether an asset at a place stays out of its scatter's clear zones."""
    for piece in range(tables.clear_first[group], tables.clear_first[group + 1]):
        ax, ay, bx, by = tables.clear[piece, 0], tables.clear[piece, 1], tables.clear[piece, 2], tables.clear[piece, 3]
        dx, dy = bx - ax, by - ay
        length2 = dx * dx + dy * dy
        t = 0.0
        if length2 > 0.0:
            t = min(max(((place[0] - ax) * dx + (place[1] - ay) * dy) / length2, 0.0), 1.0)
        away = math.hypot(place[0] - ax - t * dx, place[1] - ay - t * dy)
        if away < tables.clear[piece, 4] + tables.room[asset, 0]:
            return False
    return True


@jit.function
def _has_room(tables, group, asset, row, slot, index, position):
    """Whether an asset in a slot keeps its scatter's gap to all objects in the slots before."""
    gap, place = tables.gap_m[group], position[row, slot]
    other_group = 0
    for other in range(slot):
        while other >= tables.slot_first[other_group + 1]:
            other_group += 1
        standing = index[row, other]
        if standing < 0 or tables.moves[other_group]:
            continue
        there = position[row, other]
        above = place[2] + tables.room[asset, 1] >= there[2] + tables.room[standing, 2] + gap
        below = place[2] + tables.room[asset, 2] + gap <= there[2] + tables.room[standing, 1]
        apart = tables.room[asset, 0] + tables.room[standing, 0] + gap
        dx, dy = place[0] - there[0], place[1] - there[1]
        if not above and not below and dx * dx + dy * dy < apart * apart:
            return False
    return True


@jit.function
def _write_quaternion(turn, q):
    """Rz(yaw) Ry(pitch) Rx(roll) as w x y z."""
    cr, sr = math.cos(0.5 * turn[0]), math.sin(0.5 * turn[0])
    cp, sp = math.cos(0.5 * turn[1]), math.sin(0.5 * turn[1])
    cy, sy = math.cos(0.5 * turn[2]), math.sin(0.5 * turn[2])
    q[0], q[1] = cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy
    q[2], q[3] = cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy
