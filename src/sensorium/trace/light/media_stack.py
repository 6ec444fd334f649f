"""Which media a path is inside of, entered and left by face: a stack of volumes on top of the atmosphere.

A volume goes onto the stack where the path enters it and off where it leaves it, wherever in the stack it stands, so of
volumes that overlap the one entered last counts until it is left. Faces that lie in one place are one event:

- a surface there ends the segment, in the medium before it,
- volumes that are left go first, then those entered, the larger first: so volumes that share a face hand over to one
  another, and a volume inside another with which it shares a face counts, in any order of insertion,
- a volume that is entered and left there was only touched.

A volume whose index is that around it takes the index around it, and where the index stays the same the ray goes on:
such a boundary is no interface. A segment is made of pieces, each in one medium.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium import jit
from sensorium.trace import crossings as cr
from sensorium.trace import packet as pk
from sensorium.trace.light import rows
from sensorium.trace.light import tables as tb
from sensorium.trace.packet import BLOCK, NO_HIT

SAME_INDEX = np.float32(1e-3)
"""Media whose indices differ by no more are one to refraction: their boundary is no interface."""

# Faces lie in one place where they are no farther apart, square to them, than float32 can tell: a share of the
# coordinates involved, and a least distance [m]. Along the ray it is more by the cosine, which counts down to a limit.
_COARSE, _LEAST_M, _LEAST_COSINE = np.float32(3e-7), np.float32(1e-7), np.float32(0.01)

# What a crossing does, in Crossings.word[C_DOES]: nothing, enter or leave
_NOTHING, _ENTERS, _LEAVES = np.int32(0), np.int32(1), np.int32(-1)

# Visits of media are numbered by the node of the ray tree in which the path entered and by the event in its segment;
# past so many events numbers come again, since a draw has 16 bits
_EVENTS_A_NODE = np.int32(64)

# columns of Pieces.number: from and to along the segment [m], optical depth, optical path and reduced path at its
# beginning, and how far the path had come in that medium by then [m]
P_FROM, P_TO, P_TAU, P_OPL, P_Z, P_TRAVELLED = range(6)
PIECE_NUMBERS = 6

# columns of Pieces.word: ray of the block, medium, the medium whose index counts there, and number of the visit
P_RAY, P_MEDIUM, P_INDEX, P_VISIT = range(4)
PIECE_WORDS = 4


class Stacks(NamedTuple):
    """What each of some paths is inside of; level 0 is the atmosphere, level i the i-th volume."""

    held: NDArray[np.int32]  # (paths,) how many volumes
    column: NDArray[np.int32]  # (paths, levels) their objects
    travelled: NDArray[np.float32]  # (paths, levels + 1) path in that medium since it was entered [m]
    visit: NDArray[np.int32]  # (paths, levels + 1) number of the visit, whose random number it has


class Pieces(NamedTuple):
    """Stretches of the rays of a block in media that send light back."""

    used: NDArray[np.int64]  # (1,)
    number: NDArray[np.float32]  # (pieces, PIECE_NUMBERS)
    word: NDArray[np.int32]  # (pieces, PIECE_WORDS)


class Media(NamedTuple):
    """All that is known of the media on the way of the rays of a block."""

    crossings: cr.Crossings
    stacks: Stacks  # at the start of each segment, and at its end once it is walked
    beyond: Stacks  # behind the interface at its end
    pieces: Pieces


@jit.function
def new_media(room, levels):
    """Room for the media of a block: so many crossings of a ray, so many volumes around a path; 0 for no volumes."""
    return Media(
        cr.new_crossings(room),
        new_stacks(np.int64(BLOCK), levels),
        new_stacks(np.int64(BLOCK), levels),
        new_pieces(room),
    )


@jit.function
def new_stacks(paths, levels):
    """Room for the stacks of so many paths; none where a scene has no volumes."""
    paths = paths if levels > 0 else 0
    return Stacks(
        jit.zeros(paths, np.int32),
        jit.zeros((paths, levels), np.int32),
        jit.zeros((paths, levels + 1), np.float32),
        jit.zeros((paths, levels + 1), np.int32),
    )


@jit.function
def new_pieces(room):
    """Room for all pieces of a block whose rays have so many crossings at most."""
    most = BLOCK * (room + 1) if room > 0 else 0
    return Pieces(
        jit.zeros(1, np.int64), jit.zeros((most, PIECE_NUMBERS), np.float32), jit.zeros((most, PIECE_WORDS), np.int32)
    )


@jit.inlined
def copy_stack(source, i, target, j):
    """Stack i of some into stack j of others."""
    held = source.held[i]
    target.held[j] = held
    target.travelled[j, 0], target.visit[j, 0] = source.travelled[i, 0], source.visit[i, 0]
    for level in range(held):
        target.column[j, level] = source.column[i, level]
        target.travelled[j, level + 1] = source.travelled[i, level + 1]
        target.visit[j, level + 1] = source.visit[i, level + 1]


@jit.function
def walk_block(block, hit, media, light, world, starts, used):
    """Take each ray of a block through the volumes on its way, to its interface: a surface or a change of index.

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
    pieces.used[0] = 0
    for k in range(used):
        found = np.int64(crossings.found[k])
        room = crossings.number.shape[1]
        if found > room:
            light.missing[0] = max(light.missing[0], np.int32(found))
            found = room
        away = max(abs(block[pk.B_ORIGIN_X + k]), abs(block[pk.B_ORIGIN_Y + k]), abs(block[pk.B_ORIGIN_Z + k]))
        if starts and found <= 2 and _walk_through_one(
            block, hit, crossings, stacks, beyond, pieces, volume, reach, medium, away, k, found
        ):
            continue
        if found > 0:
            _judge(crossings, reach, away, k, found)
        if starts:
            stacks.held[k], stacks.visit[k, 0], stacks.travelled[k, 0] = 0, 0, np.float32(0.0)
            if found > 0:
                _find_start(crossings, stacks, rank, light.missing, k, found)
        elif found > 0 or stacks.held[k] > 0:
            _agree_with_faces(crossings, stacks, reach, away, k, found)
        _walk(block, hit, crossings, stacks, beyond, pieces, volume, rank, reach, medium, light.missing, away, k, found)


@jit.inlined
def _walk_through_one(block, hit, crossings, stacks, beyond, pieces, volume, reach, medium, away, k, found):
    """Walk first ray k where it crosses no volume, or leaves or passes one that only dims: as `_walk` would, in short.

    Returns whether it is done: not where another rule may count, such as a surface close to a face.
    """
    number, word, zero = crossings.number, crossings.word, np.float32(0.0)
    end, enters, leaves = block[pk.B_T_FAR + k], zero, zero
    column, inside, visit = np.int32(0), np.int32(0), np.int32(0)
    if found > 0:
        column, leaves = word[k, found - 1, cr.C_COLUMN], number[k, found - 1, cr.C_T]
        inside, visit = volume[column], np.int32(1)
        one = number[k, found - 1, cr.C_COS] > zero
        most = _tolerance(away, max(leaves, end), reach[column], zero)
        if hit[rows.COLUMN + k] != NO_HIT:
            most += _tolerance(away, end, reach[hit[rows.COLUMN + k]], zero)
        one &= abs(leaves - end) > most
        if found == 2:
            enters, visit = number[k, 0, cr.C_T], _EVENTS_A_NODE
            one &= (word[k, 0, cr.C_COLUMN] == column) & (number[k, 0, cr.C_COS] < zero)
            one &= (leaves - enters > most) & (abs(enters - end) > most)
        if not one or abs(medium[inside, tb.G_INDEX] - medium[0, tb.G_INDEX]) > SAME_INDEX:
            return False

    # Outside, inside, outside again, as far as the ray goes
    enters, leaves = min(enters, end), min(leaves, end)
    tau = medium[0, tb.G_ALPHA] * enters
    stacks.held[k], stacks.travelled[k, 0], stacks.visit[k, 0] = 0, zero, 0
    if found == 1:
        stacks.visit[k, 0], visit = visit, np.int32(0)
    _note_piece(pieces, stacks, medium, np.int32(0), np.int32(0), zero, enters, zero, zero, zero, k)
    if leaves > enters:
        stacks.held[k], stacks.column[k, 0], stacks.travelled[k, 1], stacks.visit[k, 1] = 1, column, zero, visit
        _note_piece(pieces, stacks, medium, inside, np.int32(0), enters, leaves, tau, zero, zero, k)
        tau += medium[inside, tb.G_ALPHA] * (leaves - enters)
        stacks.travelled[k, 1], stacks.travelled[k, 0] = leaves - enters, enters
        stacks.held[k] = 1 if leaves == end else 0
    if leaves < end or found == 0:
        stacks.travelled[k, 0] = enters
        _note_piece(pieces, stacks, medium, np.int32(0), np.int32(0), leaves, end, tau, zero, zero, k)
        tau += medium[0, tb.G_ALPHA] * (end - leaves)
        stacks.travelled[k, 0] = enters + (end - leaves)
    copy_stack(stacks, k, beyond, k)
    block[rows.TAU + k] = tau
    return True


@jit.inlined
def _tolerance(away, t, radius, cosine):
    """How far along a ray faces may be apart and lie in one place [m]."""
    return (_COARSE * (away + t + radius) + _LEAST_M) / max(abs(cosine), _LEAST_COSINE)


@jit.inlined
def _tolerance_of(crossings, reach, away, k, i):
    """The same for a crossing."""
    number = crossings.number
    return _tolerance(away, number[k, i, cr.C_T], reach[crossings.word[k, i, cr.C_COLUMN]], number[k, i, cr.C_COS])


@jit.inlined
def _judge(crossings, reach, away, k, found):
    """What each crossing of ray k does: several faces of one object in one place are an edge, and count once."""
    number, word = crossings.number, crossings.word
    for i in range(found):
        word[k, i, cr.C_DOES] = _ENTERS if number[k, i, cr.C_COS] < np.float32(0.0) else _LEAVES
    for i in range(found):
        if word[k, i, cr.C_DOES] == _NOTHING:
            continue
        limit, touched = _tolerance_of(crossings, reach, away, k, i), False
        for j in range(i + 1, found):
            apart = number[k, j, cr.C_T] - number[k, i, cr.C_T]
            if apart > limit + _tolerance_of(crossings, reach, away, k, j):
                continue
            if word[k, j, cr.C_COLUMN] == word[k, i, cr.C_COLUMN] and word[k, j, cr.C_DOES] != _NOTHING:
                touched |= word[k, j, cr.C_DOES] != word[k, i, cr.C_DOES]
                word[k, j, cr.C_DOES] = _NOTHING
        if touched:
            word[k, i, cr.C_DOES] = _NOTHING


@jit.inlined
def _left_unentered(crossings, column, k, found):
    """How often a ray leaves an object that it has not entered: so often it starts inside."""
    inside, most = 0, 0
    for i in range(found):
        if crossings.word[k, i, cr.C_COLUMN] == column:
            inside -= crossings.word[k, i, cr.C_DOES]
            most = max(most, inside)
    return most


@jit.inlined
def _find_start(crossings, stacks, rank, missing, k, found):
    """What the start of ray k lies inside of, larger volumes further out."""
    for i in range(found):
        column, first = crossings.word[k, i, cr.C_COLUMN], True
        for j in range(i):
            first &= crossings.word[k, j, cr.C_COLUMN] != column
        if first:
            for _ in range(_left_unentered(crossings, column, k, found)):
                _insert(stacks, rank, missing, k, column, 0, np.int32(1 + i % (_EVENTS_A_NODE - 1)))
    _draw_first(stacks, k)


@jit.inlined
def _draw_first(stacks, k):
    """Give the visit of the medium that ray k starts in the number 0, whose draw each ray has at hand."""
    held = stacks.held[k]
    stacks.visit[k, 0], stacks.visit[k, held] = stacks.visit[k, held], 0


@jit.inlined
def _insert(stacks, rank, missing, k, column, above, visit):
    """Put a volume onto stack k among those from level `above` on, behind all that are larger."""
    held = stacks.held[k]
    if held >= stacks.column.shape[1]:
        missing[1] = max(missing[1], held + np.int32(1))
        return
    place = held
    while place > above and rank[stacks.column[k, place - 1]] > rank[column]:
        stacks.column[k, place] = stacks.column[k, place - 1]
        stacks.travelled[k, place + 1], stacks.visit[k, place + 1] = stacks.travelled[k, place], stacks.visit[k, place]
        place -= 1
    stacks.column[k, place], stacks.travelled[k, place + 1] = column, np.float32(0.0)
    stacks.visit[k, place + 1] = visit
    stacks.held[k] = held + np.int32(1)


@jit.inlined
def _remove(stacks, k, column):
    """Take the topmost entry of a volume off stack k, if it has one."""
    held = stacks.held[k]
    level = held - 1
    while level >= 0 and stacks.column[k, level] != column:
        level -= 1
    if level < 0:
        return
    for above in range(level, held - 1):
        stacks.column[k, above] = stacks.column[k, above + 1]
        stacks.travelled[k, above + 1] = stacks.travelled[k, above + 2]
        stacks.visit[k, above + 1] = stacks.visit[k, above + 2]
    stacks.held[k] = held - np.int32(1)


@jit.inlined
def _holds(stacks, k, column):
    """How often a volume stands on stack k."""
    times = 0
    for level in range(stacks.held[k]):
        times += stacks.column[k, level] == column
    return times


@jit.inlined
def _agree_with_faces(crossings, stacks, reach, away, k, found):
    """Set aside what rounding does to a child that starts on a face.

    A face that the path has just passed is met again, if at all, on the side that says so already. And a path that
    never leaves a volume, which is closed, is not in it: it started beside an edge.
    """
    word = crossings.word
    for i in range(found):
        if crossings.number[k, i, cr.C_T] > _tolerance_of(crossings, reach, away, k, i):
            break
        if word[k, i, cr.C_DOES] == _ENTERS and _holds(stacks, k, word[k, i, cr.C_COLUMN]) > 0:
            word[k, i, cr.C_DOES] = _NOTHING
    level = stacks.held[k] - 1
    while level >= 0:
        column = stacks.column[k, level]
        if _holds(stacks, k, column) > _left_unentered(crossings, column, k, found):
            _remove(stacks, k, column)
        level = min(level - 1, stacks.held[k] - 1)


@jit.inlined
def _walk(block, hit, crossings, stacks, beyond, pieces, volume, rank, reach, medium, missing, away, k, found):
    """Take ray k through its crossings."""
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
        if word[k, i, cr.C_DOES] == _NOTHING:
            i += 1
            continue
        t, limit = number[k, i, cr.C_T], _tolerance_of(crossings, reach, away, k, i)
        at_surface = surface and abs(t - end) <= limit + end_limit
        if t > end and not at_surface:
            break

        # All that happens in this place
        last = i + 1
        while last < found and number[k, last, cr.C_T] - t <= limit + _tolerance_of(crossings, reach, away, k, last):
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
        _note_piece(pieces, stacks, medium, here, index, began, t, tau, opl, z, k)
        tau += medium[here, tb.G_ALPHA] * (t - began)
        stacks.travelled[k, stacks.held[k]] += t - began
        _keep_travelled(stacks, beyond, k)
        opl += (medium[index, tb.G_INDEX] - medium[index_there, tb.G_INDEX]) * t
        z += (medium[index, tb.G_WIDENING] - medium[index_there, tb.G_WIDENING]) * t
        copy_stack(beyond, k, stacks, k)
        here, index, began, i = there, index_there, t, last
    if not interface:
        copy_stack(stacks, k, beyond, k)
    _note_piece(pieces, stacks, medium, here, index, began, end, tau, opl, z, k)
    stacks.travelled[k, stacks.held[k]] += end - began
    _keep_travelled(stacks, beyond, k)
    block[rows.TAU + k] = tau + medium[here, tb.G_ALPHA] * (end - began)
    block[rows.PATH_OPL + k], block[rows.PATH_Z + k] = opl, z
    block[rows.MEDIUM_N + k], block[rows.WIDENING + k] = medium[index, tb.G_INDEX], medium[index, tb.G_WIDENING]
    hit[rows.MEDIUM + k], hit[rows.BEYOND + k] = np.uint32(index), np.uint32(_index(beyond, volume, medium, k))


@jit.inlined
def _top(stacks, volume, k):
    """Medium that a path is in."""
    held = stacks.held[k]
    return volume[stacks.column[k, held - 1]] if held > 0 else np.int32(0)


@jit.inlined
def _index(stacks, volume, medium, k):
    """The medium whose index counts where a path is: of its own volume, unless that is the one around it."""
    index = np.int32(0)
    for level in range(stacks.held[k]):
        inside = volume[stacks.column[k, level]]
        if abs(medium[inside, tb.G_INDEX] - medium[index, tb.G_INDEX]) > SAME_INDEX:
            index = inside
    return index


@jit.inlined
def _keep_travelled(stacks, beyond, k):
    """How far the path has come in the medium before an event, for those behind it that still hold that medium."""
    level, visit = stacks.held[k], stacks.visit[k, stacks.held[k]]
    for other in range(beyond.held[k] + 1):
        if beyond.visit[k, other] == visit:
            beyond.travelled[k, other] = stacks.travelled[k, level]


@jit.inlined
def _apply(crossings, beyond, rank, missing, k, first, last, node):
    """Leave and enter the volumes of an event: those left first, then those entered, the larger first."""
    word = crossings.word
    for i in range(first, last):
        if word[k, i, cr.C_DOES] == _LEAVES:
            _remove(beyond, k, word[k, i, cr.C_COLUMN])
    above = beyond.held[k]
    for i in range(first, last):
        if word[k, i, cr.C_DOES] == _ENTERS:
            visit = np.int32(_EVENTS_A_NODE * (np.int32(node) + 1) + i % _EVENTS_A_NODE)
            _insert(beyond, rank, missing, k, word[k, i, cr.C_COLUMN], above, visit)


@jit.inlined
def _put_boundary(block, hit, crossings, stacks, beyond, k, first, last):
    """Let ray k end at a boundary of volumes: that of the volume on top behind it, or else of the one left."""
    number, word = crossings.number, crossings.word
    chosen = first
    for side in range(2):
        held = stacks.held[k] if side == 0 else beyond.held[k]
        for i in range(first, last):
            column = word[k, i, cr.C_COLUMN]
            does = _LEAVES if side == 0 else _ENTERS
            if held > 0 and word[k, i, cr.C_DOES] == does:
                top = stacks.column[k, held - 1] if side == 0 else beyond.column[k, held - 1]
                if top == column:
                    chosen = i
    block[pk.B_T_FAR + k] = number[k, first, cr.C_T]
    block[pk.B_NORMAL_X + k] = number[k, chosen, cr.C_NX]
    block[pk.B_NORMAL_Y + k] = number[k, chosen, cr.C_NY]
    block[pk.B_NORMAL_Z + k] = number[k, chosen, cr.C_NZ]
    hit[rows.COLUMN + k] = np.uint32(word[k, chosen, cr.C_COLUMN])
    hit[pk.B_FACE + k] = np.uint32(word[k, chosen, cr.C_FACE])
    hit[pk.B_INSTANCE + k] = np.uint32(word[k, chosen, cr.C_INSTANCE])
    hit[pk.B_ITEM + k] = np.uint32(word[k, chosen, cr.C_ITEM])


@jit.inlined
def _note_piece(pieces, stacks, medium, here, index, began, end, tau, opl, z, k):
    """Note a stretch of ray k in a medium, if that sends light back."""
    if medium[here, tb.G_ECHO] <= np.float32(0.0) or end <= began:
        return
    i, level = pieces.used[0], stacks.held[k]
    pieces.number[i, P_FROM], pieces.number[i, P_TO], pieces.number[i, P_TAU] = began, end, tau
    pieces.number[i, P_OPL] = opl + medium[index, tb.G_INDEX] * began
    pieces.number[i, P_Z] = z + medium[index, tb.G_WIDENING] * began
    pieces.number[i, P_TRAVELLED] = stacks.travelled[k, level]
    pieces.word[i, P_RAY], pieces.word[i, P_VISIT] = k, stacks.visit[k, level]
    pieces.word[i, P_MEDIUM], pieces.word[i, P_INDEX] = here, index
    pieces.used[0] = i + 1
