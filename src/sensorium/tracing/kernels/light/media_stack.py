"""Media that contain a path, entered and left by face: a stack of volumes on top of the atmosphere.

A path pushes a volume onto the stack on entry and removes it on exit, wherever in the stack it is, so of overlapping
volumes the last entered counts until the path leaves it. Faces in one place are one event:

- a surface there ends the segment, in the medium before it,
- volumes that are left go first, then those entered, the larger first: so adjacent volumes follow one another, and a
  volume inside another with which it shares a face counts, in any order of insertion,
- a volume that is entered and left there was only touched.

A volume with the refractive index of its surroundings is no interface: where the index stays the same, the ray goes
straight on. A segment consists of pieces, each in one medium.
"""

from typing import NamedTuple

import numpy as np

from sensorium.runtime import jit
from sensorium.tracing.embree import crossings as cr
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK, NO_HIT
from sensorium.tracing.kernels.light import rows
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.pieces import Pieces, new_pieces, note_piece, put_piece
from sensorium.tracing.kernels.light.stacks import (
    Stacks,
    copy_stack,
    draw_first,
    holds,
    insert,
    keep_traveled,
    new_stacks,
    remove,
)

SAME_INDEX = np.float32(1e-3)
"""Greatest index difference of media whose boundary is no interface."""

# Faces are in one place if their distance, square to them, is below float32 resolution: a share of the coordinates
# involved, and a least distance [m]. Along the ray it grows by 1 / cosine, down to a limit.
_COARSE, _LEAST_M, _LEAST_COSINE = np.float32(3e-7), np.float32(1e-7), np.float32(0.01)

# What a crossing does, in Crossings.word[C_DOES]: nothing, enter or leave
_NOTHING, _ENTERS, _LEAVES = np.int32(0), np.int32(1), np.int32(-1)

# Visits of media are numbered by the node of the ray tree in which the path entered and by the event in its segment;
# beyond this many events numbers repeat, since a draw has 16 bits
_EVENTS_A_NODE = np.int32(64)


class Media(NamedTuple):
    """Media along the rays of a block."""

    crossings: cr.Crossings
    stacks: Stacks  # at the start of each segment, and at its end once it is walked
    beyond: Stacks  # behind the interface at its end
    pieces: Pieces


@jit.function
def new_media(room, levels):
    """Arrays for the media of a block, by crossings of a ray and volumes around a path; 0 for no volumes."""
    return Media(
        cr.new_crossings(room),
        new_stacks(np.int64(BLOCK), levels),
        new_stacks(np.int64(BLOCK), levels),
        new_pieces(room),
    )


@jit.function
def walk_block(block, hit, media, light, world, starts, used):
    """Advance each ray of a block through the volumes on its way, to its interface: a surface or a change of index.

    Args:
        block, hit: Scratch: rays with the surfaces they meet, normals in the world. Where an interface of volumes comes
            first it takes the place of the surface. Media, sums along the path and the optical depth are filled.
        media: `Media` with the crossings of the rays, which are used up, and the stacks at the start of their segments
            unless `starts`; filled with those at the interface and behind it, and with pieces.
        light: `LightTables`.
        world: World of the rays.
        starts: Whether these are first rays, whose media are found from what they leave.
        used: Rays in the block.
    """
    block, hit, media, light = jit.uncounted((block, hit, media, light))
    crossings, stacks, beyond, pieces = media
    row = world if light.volume.shape[0] > 1 else 0
    volume, rank, reach, medium = light.volume[row], light.rank[row], light.reach[row], light.medium
    pieces.used[0], goes_on = 0, light.switch[tb.S_DEPTH] > 0
    for k in range(used):
        found = np.int64(crossings.found[k])
        room = crossings.number.shape[0]
        if found > room:
            light.missing[0] = max(light.missing[0], np.int32(found))
            found = room
        away = max(abs(block[pk.B_ORIGIN_X + k]), abs(block[pk.B_ORIGIN_Y + k]), abs(block[pk.B_ORIGIN_Z + k]))
        if (
            starts
            and found <= 2
            and _walk_through_one(
                block, hit, crossings, stacks, beyond, pieces, volume, reach, medium, goes_on, away, k, found
            )
        ):
            continue
        if found > 0:
            _judge(crossings, reach, away, k, found)
        if starts:
            stacks.held[k], stacks.visit[0, k], stacks.traveled[0, k] = 0, 0, np.float32(0.0)
            if found > 0:
                _find_start(crossings, stacks, rank, light.missing, k, found)
        elif found > 0 or stacks.held[k] > 0:
            _agree_with_faces(crossings, stacks, reach, away, k, found)
        _walk(block, hit, crossings, stacks, beyond, pieces, volume, rank, reach, medium, light.missing, away, k, found)


@jit.inlined
def _walk_through_one(block, hit, crossings, stacks, beyond, pieces, volume, reach, medium, goes_on, away, k, found):
    """Walk first ray k if it crosses no volume, or leaves or passes one that only dims: as `_walk` would, but faster.

    Returns whether it is done: not where another rule may count, such as a surface close to a face.
    """
    number, word, zero = crossings.number, crossings.word, np.float32(0.0)
    end, enters, leaves = block[pk.B_T_FAR + k], zero, zero
    column, inside, visit = np.int32(0), np.int32(0), np.int32(0)
    if found > 0:
        column, leaves = word[found - 1, cr.C_COLUMN, k], number[found - 1, cr.C_T, k]
        inside, visit = volume[column], np.int32(1)
        one = number[found - 1, cr.C_COS, k] > zero
        most = _tolerance(away, max(leaves, end), reach[column], zero)
        if hit[rows.COLUMN + k] != NO_HIT:
            most += _tolerance(away, end, reach[hit[rows.COLUMN + k]], zero)
        one &= abs(leaves - end) > most
        if found == 2:
            enters, visit = number[0, cr.C_T, k], _EVENTS_A_NODE
            one &= (word[0, cr.C_COLUMN, k] == column) & (number[0, cr.C_COS, k] < zero)
            one &= (leaves - enters > most) & (abs(enters - end) > most)
        if not one or abs(medium[inside, tb.G_INDEX] - medium[0, tb.G_INDEX]) > SAME_INDEX:
            return False

    # Outside, inside, outside again, as far as the ray goes
    enters, leaves = min(enters, end), min(leaves, end)
    around = visit if found == 1 else np.int32(0)
    visit = np.int32(0) if found == 1 else visit
    air, tau = np.int32(0), medium[0, tb.G_ALPHA] * enters
    put_piece(pieces, medium, air, air, zero, enters, zero, zero, zero, zero, around, k)
    put_piece(pieces, medium, inside, air, enters, leaves, tau, zero, zero, zero, visit, k)
    tau += medium[inside, tb.G_ALPHA] * (leaves - enters)
    put_piece(pieces, medium, air, air, leaves, end, tau, zero, zero, enters, around, k)
    block[rows.TAU + k] = tau + medium[0, tb.G_ALPHA] * (end - leaves)
    if goes_on:
        stacks.traveled[0, k], stacks.visit[0, k] = enters + (end - leaves), around
        stacks.held[k] = np.int32(1) if found > 0 and enters < leaves == end else np.int32(0)
        stacks.column[0, k], stacks.traveled[1, k], stacks.visit[1, k] = column, leaves - enters, visit
        copy_stack(stacks, k, beyond, k)
    return True


@jit.inlined
def _tolerance(away, t, radius, cosine):
    """Distance along a ray within which faces are in one place [m]."""
    return (_COARSE * (away + t + radius) + _LEAST_M) / max(abs(cosine), _LEAST_COSINE)


@jit.inlined
def _tolerance_of(crossings, reach, away, k, i):
    """The same for a crossing."""
    number = crossings.number
    return _tolerance(away, number[i, cr.C_T, k], reach[crossings.word[i, cr.C_COLUMN, k]], number[i, cr.C_COS, k])


@jit.inlined
def _judge(crossings, reach, away, k, found):
    """Effect of each crossing of ray k: several faces of one object in one place are an edge, and count once."""
    number, word = crossings.number, crossings.word
    for i in range(found):
        word[i, cr.C_DOES, k] = _ENTERS if number[i, cr.C_COS, k] < np.float32(0.0) else _LEAVES
    for i in range(found):
        if word[i, cr.C_DOES, k] == _NOTHING:
            continue
        limit, touched = _tolerance_of(crossings, reach, away, k, i), False
        for j in range(i + 1, found):
            apart = number[j, cr.C_T, k] - number[i, cr.C_T, k]
            if apart > limit + _tolerance_of(crossings, reach, away, k, j):
                continue
            if word[j, cr.C_COLUMN, k] == word[i, cr.C_COLUMN, k] and word[j, cr.C_DOES, k] != _NOTHING:
                touched |= word[j, cr.C_DOES, k] != word[i, cr.C_DOES, k]
                word[j, cr.C_DOES, k] = _NOTHING
        if touched:
            word[i, cr.C_DOES, k] = _NOTHING


@jit.inlined
def _left_unentered(crossings, column, k, found):
    """Number of exits of a ray from an object without an entry: the number of times it starts inside."""
    inside, most = 0, 0
    for i in range(found):
        if crossings.word[i, cr.C_COLUMN, k] == column:
            inside -= crossings.word[i, cr.C_DOES, k]
            most = max(most, inside)
    return most


@jit.inlined
def _find_start(crossings, stacks, rank, missing, k, found):
    """Volumes that contain the start of ray k, larger volumes further out."""
    for i in range(found):
        column, first = crossings.word[i, cr.C_COLUMN, k], True
        for j in range(i):
            first &= crossings.word[j, cr.C_COLUMN, k] != column
        if first:
            for _ in range(_left_unentered(crossings, column, k, found)):
                insert(stacks, rank, missing, k, column, 0, np.int32(1 + i % (_EVENTS_A_NODE - 1)))
    draw_first(stacks, k)


@jit.inlined
def _agree_with_faces(crossings, stacks, reach, away, k, found):
    """Remove rounding artifacts of a child that starts on a face.

    A repeated hit of the face just passed changes nothing. A path that never leaves a closed volume is not inside it:
    it started beside an edge.
    """
    word = crossings.word
    for i in range(found):
        if crossings.number[i, cr.C_T, k] > _tolerance_of(crossings, reach, away, k, i):
            break
        if word[i, cr.C_DOES, k] == _ENTERS and holds(stacks, k, word[i, cr.C_COLUMN, k]) > 0:
            word[i, cr.C_DOES, k] = _NOTHING
    level = stacks.held[k] - 1
    while level >= 0:
        column = stacks.column[level, k]
        if holds(stacks, k, column) > _left_unentered(crossings, column, k, found):
            remove(stacks, k, column)
        level = min(level - 1, stacks.held[k] - 1)


@jit.inlined
def _walk(block, hit, crossings, stacks, beyond, pieces, volume, rank, reach, medium, missing, away, k, found):
    """Advance ray k through its crossings."""
    number, word = crossings.number, crossings.word

    # The surface at the end, if there is one
    surface = hit[rows.COLUMN + k] != NO_HIT
    end, end_limit = block[pk.B_T_FAR + k], np.float32(0.0)
    if surface:
        x, y, z = block[pk.B_NORMAL_X + k], block[pk.B_NORMAL_Y + k], block[pk.B_NORMAL_Z + k]
        dot = (
            x * block[pk.B_DIRECTION_X + k] + y * block[pk.B_DIRECTION_Y + k] + z * block[pk.B_DIRECTION_Z + k]
        ) / np.sqrt(x * x + y * y + z * z)
        end_limit = _tolerance(away, end, reach[hit[rows.COLUMN + k]], dot)

    here, index = _top(stacks, volume, k), _index(stacks, volume, medium, k)
    began, tau = np.float32(0.0), np.float32(0.0)
    opl, z = block[rows.PATH_OPL + k], block[rows.PATH_Z + k]  # such that the sums at t are these and n t, t / n
    interface, i = False, 0
    while i < found:
        if word[i, cr.C_DOES, k] == _NOTHING:
            i += 1
            continue
        t, limit = number[i, cr.C_T, k], _tolerance_of(crossings, reach, away, k, i)
        at_surface = surface and abs(t - end) <= limit + end_limit
        if t > end and not at_surface:
            break

        # All events in this place
        last = i + 1
        while last < found and number[last, cr.C_T, k] - t <= limit + _tolerance_of(crossings, reach, away, k, last):
            last += 1
        copy_stack(stacks, k, beyond, k)
        _apply(crossings, beyond, rank, missing, k, i, last, hit[rows.NODE + k])
        if at_surface:
            interface = True
            break
        there, index_there = _top(beyond, volume, k), _index(beyond, volume, medium, k)
        if abs(medium[index_there, tb.G_INDEX] - medium[index, tb.G_INDEX]) > SAME_INDEX:
            interface = True
            _put_boundary(block, hit, crossings, stacks, beyond, k, i, last)
            end = t
            break
        note_piece(pieces, stacks, medium, here, index, began, t, tau, opl, z, k)
        tau += medium[here, tb.G_ALPHA] * (t - began)
        stacks.traveled[stacks.held[k], k] += t - began
        keep_traveled(stacks, beyond, k)
        opl += (medium[index, tb.G_INDEX] - medium[index_there, tb.G_INDEX]) * t
        z += (medium[index, tb.G_WIDENING] - medium[index_there, tb.G_WIDENING]) * t
        copy_stack(beyond, k, stacks, k)
        here, index, began, i = there, index_there, t, last
    if not interface:
        copy_stack(stacks, k, beyond, k)
    note_piece(pieces, stacks, medium, here, index, began, end, tau, opl, z, k)
    stacks.traveled[stacks.held[k], k] += end - began
    keep_traveled(stacks, beyond, k)
    block[rows.TAU + k] = tau + medium[here, tb.G_ALPHA] * (end - began)
    block[rows.PATH_OPL + k], block[rows.PATH_Z + k] = opl, z
    block[rows.MEDIUM_N + k], block[rows.WIDENING + k] = medium[index, tb.G_INDEX], medium[index, tb.G_WIDENING]
    hit[rows.MEDIUM + k], hit[rows.BEYOND + k] = np.uint32(index), np.uint32(_index(beyond, volume, medium, k))


@jit.inlined
def _top(stacks, volume, k):
    """Medium of a path."""
    held = stacks.held[k]
    return volume[stacks.column[held - 1, k]] if held > 0 else np.int32(0)


@jit.inlined
def _index(stacks, volume, medium, k):
    """The medium whose index counts for a path: of its own volume, unless that is the one around it."""
    index = np.int32(0)
    for level in range(stacks.held[k]):
        inside = volume[stacks.column[level, k]]
        if abs(medium[inside, tb.G_INDEX] - medium[index, tb.G_INDEX]) > SAME_INDEX:
            index = inside
    return index


@jit.inlined
def _apply(crossings, beyond, rank, missing, k, first, last, node):
    """Leave and enter the volumes of an event: those left first, then those entered, the larger first."""
    word = crossings.word
    for i in range(first, last):
        if word[i, cr.C_DOES, k] == _LEAVES:
            remove(beyond, k, word[i, cr.C_COLUMN, k])
    above = beyond.held[k]
    for i in range(first, last):
        if word[i, cr.C_DOES, k] == _ENTERS:
            visit = np.int32(_EVENTS_A_NODE * (np.int32(node) + 1) + i % _EVENTS_A_NODE)
            insert(beyond, rank, missing, k, word[i, cr.C_COLUMN, k], above, visit)


@jit.inlined
def _put_boundary(block, hit, crossings, stacks, beyond, k, first, last):
    """End ray k at a boundary of volumes: that of the volume on top behind it, or else of the one left."""
    number, word = crossings.number, crossings.word
    chosen = first
    for side in range(2):
        held = stacks.held[k] if side == 0 else beyond.held[k]
        for i in range(first, last):
            column = word[i, cr.C_COLUMN, k]
            does = _LEAVES if side == 0 else _ENTERS
            if held > 0 and word[i, cr.C_DOES, k] == does:
                top = stacks.column[held - 1, k] if side == 0 else beyond.column[held - 1, k]
                if top == column:
                    chosen = i
    block[pk.B_T_FAR + k] = number[first, cr.C_T, k]
    block[pk.B_NORMAL_X + k] = number[chosen, cr.C_NX, k]
    block[pk.B_NORMAL_Y + k] = number[chosen, cr.C_NY, k]
    block[pk.B_NORMAL_Z + k] = number[chosen, cr.C_NZ, k]
    hit[rows.COLUMN + k] = np.uint32(word[chosen, cr.C_COLUMN, k])
    hit[pk.B_FACE + k] = np.uint32(word[chosen, cr.C_FACE, k])
    hit[pk.B_INSTANCE + k] = np.uint32(word[chosen, cr.C_INSTANCE, k])
    hit[pk.B_ITEM + k] = np.uint32(word[chosen, cr.C_ITEM, k])
