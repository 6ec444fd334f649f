"""Steps of the lidar kernel on a block of rays: fire, shade, offer returns, queue children, report.

Between the steps rays are traced: directly by kernel.py, or in the processes of a partitioned scene, see stages.py.
"""

import numpy as np

from sensorium.physics.optics.detection.capture_table import captured_from_table
from sensorium.random import draw_words, exp_f32, uniform_f32
from sensorium.runtime import jit
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.crossings import collect_block
from sensorium.tracing.embree.packet import BLOCK, NO_HIT
from sensorium.tracing.kernels.geometry.normals import find_incidence
from sensorium.tracing.kernels.geometry.ray_errors import FIRST_DRAW, STAGE_RETURN, draws_of, jitter, straighten
from sensorium.tracing.kernels.light import choose, curvature, limit, resolve, rows, shade, tree, write
from sensorium.tracing.kernels.light import media_stack as ms
from sensorium.tracing.kernels.light import pieces as pc
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.banks import clip_banks
from sensorium.tracing.kernels.light.detect import detect_block
from sensorium.tracing.kernels.sweep import WHOLE, aim_numbered

# The one world of a partitioned scene, and the atmosphere among the media, typed as in kernels
_ONLY_WORLD, _AIR = np.int32(0), np.int64(0)


@jit.function
def fire(block, rays, heads, light, draws, number):
    """Aim the first rays of a block; returns its head, its first ray, and how many it has."""
    head, start, used = aim_numbered(block, rays, heads, number, WHOLE)
    if light.number[tb.N_JITTER] > np.float32(0.0):
        jitter(block, draws_of(rays, heads, draws, head, start), light.number[tb.N_JITTER], used)
    far = light.number[tb.N_FAR]
    for k in range(used):
        block[pk.B_T_NEAR + k], block[pk.B_T_FAR + k] = np.float32(0.0), far
    return head, start, used


@jit.inlined
def offer_first(block, hit, media, light, draws, owner, slots, drawn, voided_before, used):
    """Open the slots with the returns of surfaces and air on the first rays; `owner`: see `offer_media`."""
    _first_candidates(block, hit, light, draws, slots, drawn, voided_before, used)
    offer_media(block, hit, media, light, draws, owner, slots, drawn, used)


@jit.inlined
def offer_more(child, child_hit, media, light, draws, owner, slots, drawn, used):
    """Offer the returns of surfaces and air on the way of children; `owner`: see `offer_media`."""
    _offer_children(child, child_hit, light, draws, slots, used)
    draw_children(child, child_hit, light, draws, owner, used)
    offer_media(child, child_hit, media, light, draws, owner, slots, drawn, used)


@jit.function
def own_rays():
    """Rays that draw for themselves, see `offer_media`."""
    owner = jit.empty(BLOCK, np.int32)
    for k in range(BLOCK):
        owner[k] = k
    return owner


@jit.inlined
def offer_media(block, hit, media, light, draws, owner, slots, drawn, used):
    """Offer the returns of media on the way of rays or children.

    Args:
        block, hit: Scratch, shaded, with a draw for the atmosphere in row UNIFORM.
        media: `Media`; light: `LightTables`.
        draws: `BlockDraws`.
        owner: Ray whose draws each first ray uses, counted from the first, int32 (BLOCK,).
        slots: `ReturnSlots`; drawn: scratch (BLOCK + 1,).
        used: Rays in the block.
    """
    if light.switch[tb.S_ATMOSPHERE] == 0:
        return
    if light.switch[tb.S_CROSSINGS] > 0:
        _offer_pieces(block, hit, media.pieces, light, draws, owner, slots)
    else:
        _offer_air(block, hit, light, draws, slots, drawn, used)


@jit.function
def report(block, slots, aim, labels, light, draws, place, out):
    """Choose the reported returns, and write them with their errors; arguments as for `write.write_block`."""
    (slot_f, slot_i), used = slots, place.used
    if light.number[tb.N_JITTER] > np.float32(0.0):
        straighten(block, used)
    if light.switch[tb.S_RETURNS] == tb.DUAL:
        choose.settle_dual(slot_f, slot_i, used)
    elif light.switch[tb.S_RETURNS] == tb.ALL:
        choose.sort_by_distance(slot_f, slot_i, light.switch[tb.S_SLOTS], used)
    if light.switch[tb.S_RADIOMETRIC] > 0:
        detect_block(block, slots, light.detector, light.number, draws, out.range_m.shape[1], used)
    write.write_block(block, slots, aim, labels, light, draws, place, out)


@jit.inlined
def cross_volumes(block, media, packet, scene, light, anchor, world, coherent, used):
    """Find the crossings of a block's rays with volumes, if a scene has some.

    Args:
        block: Scratch with rays; media: `Media`, filled.
        packet: Of `new_packet`; scene: `SweepScene`; light: `LightTables`; anchor: float64 (worlds, 3) [m].
        world, coherent, used: As for `collect_block`.
    """
    if light.switch[tb.S_CROSSINGS] == 0:
        return
    traced = light.switch[tb.S_TRACED] > 0
    if traced:
        floats, words, active = packet
        arrays, masks = scene.arrays, scene.masks
        collect_block(block, media.crossings, floats, words, active, arrays, world, masks, coherent, used)
    clip_banks(block, media.crossings, light, anchor[world], traced, used)


@jit.inlined
def light_up(block, hit, media, arrays, light, world, starts, used):
    """From hits to the strength of each interface's return; `starts` for first rays, see `media_stack.walk_block`."""
    volumes = light.switch[tb.S_CROSSINGS] > 0  # some may lie before the hit
    resolve.resolve(block, hit, arrays, light, world, not volumes, used)
    _pass_media(block, hit, media, light, world, starts, used)
    if volumes:
        resolve.fill_materials(block, hit, light.material, used)
    if light.corner_reflectance.size > 0:
        row = world if light.reflectance_first.shape[0] > 1 else 0
        first, corners = light.reflectance_first[row], light.corner_reflectance
        resolve.fill_mesh_reflectance(block, hit, light.material, first, corners, used)
    _shade(block, hit, light, used)
    if light.switch[tb.S_DEPTH] > 0:
        tree.pack_parents(block, hit, light, used)
    if light.switch[tb.S_CURVED] > 0:
        curvature.bend_paths(block, hit, arrays, light, world, starts, used)


@jit.function
def light_up_found(block, hit, media, light, found, at, base, starts, used):
    """The same for hits from another process, see `resolve.take_found`."""
    resolve.take_found(block, hit, light, found, at, base, used)
    _pass_media(block, hit, media, light, _ONLY_WORLD, starts, used)
    resolve.fill_materials(block, hit, light.material, used)
    resolve.fill_found_reflectance(block, hit, light.material, found, at, used)
    _shade(block, hit, light, used)
    if light.switch[tb.S_DEPTH] > 0:
        tree.pack_parents(block, hit, light, used)
    if light.switch[tb.S_CURVED] > 0:
        curvature.bend_found_paths(block, hit, media.crossings, light, found.surface, at, starts, used)


@jit.inlined
def _pass_media(block, hit, media, light, world, starts, used):
    """Media on the way of each ray, and its interface if that is a boundary of them."""
    if light.switch[tb.S_CROSSINGS] > 0:
        ms.walk_block(block, hit, media, light, world, starts, used)
        if light.switch[tb.S_REFRACTS] > 0:
            resolve.see_from_media(hit, light, world, used)
        return
    alpha = light.medium[0, tb.G_ALPHA]
    for k in range(used):
        block[rows.TAU + k] = alpha * block[pk.B_T_FAR + k]


@jit.inlined
def _shade(block, hit, light, used):
    """From the material of each hit to the strength of its return."""
    number = light.number
    if light.switch[tb.S_REFRACTS] > 0:
        resolve.face_other_side(block, hit, light, used)
    find_incidence(block, used)
    shade.shade_surfaces(block, number[tb.N_BEAM_TAN2], light.switch[tb.S_DEPTH] > 0, used)
    if light.switch[tb.S_RETRO] > 0:
        shade.add_retroreflection(block, hit, light.material, used)
    passes = np.float32(light.switch[tb.S_ROUND_TRIP])
    shade.strength_of_surfaces(block, hit, light.medium, light.capture, number[tb.N_INVERSE_Z0], passes, used)


@jit.inlined
def draw_children(block, hit, light, draws, owner, used):
    """The ray's random number for the atmosphere: one per ray, kept over mirrors and panes."""
    if light.switch[tb.S_ATMOSPHERE] > 0 and light.switch[tb.S_CROSSINGS] == 0:
        for k in range(used):
            whose = np.int64(owner[hit[rows.RAY + k]])
            block[rows.UNIFORM + k] = _drawn_for(draws, whose, FIRST_DRAW)


@jit.inlined
def _drawn_for(draws, ray, visit):
    """The random number that decides whether and where a medium returns light to a ray that visits it."""
    key, tick, element, world = draws
    w0, _, _, _ = draw_words(key[0], key[1], element + ray, STAGE_RETURN, visit, tick, world)
    return uniform_f32(w0)


@jit.inlined
def limits_of(number):
    """Nearest and farthest reported optical path [m], each without noise and with the most favorable noise."""
    n = number[tb.N_CALIBRATED_INDEX]
    return (number[tb.N_NEAR] * n, number[tb.N_EARLIEST] * n), (number[tb.N_LATE] * n, number[tb.N_LATEST] * n)


@jit.inlined
def _first_candidates(block, hit, light, draws, slots, drawn, voided_before, used):
    """Surfaces of the first rays open the slots; the air is offered after them."""
    slot_f, slot_i = slots
    returns, ranked = light.switch[tb.S_RETURNS], light.switch[tb.S_SLOTS]
    threshold = light.number[tb.N_THRESHOLD]
    near, far = limits_of(light.number)
    for k in range(used):
        opl = block[rows.PATH_OPL + k] + block[pk.B_T_FAR + k] * block[rows.MEDIUM_N + k]
        strength = block[rows.STRENGTH + k]
        key = choose.key_of(returns, strength, opl, threshold, near, far)
        slot_f[choose.KEY + k] = key if block[pk.B_TIME + k] >= voided_before else choose.NONE
        slot_f[choose.INTENSITY + k] = strength
        slot_f[choose.OPL + k] = opl
    if light.switch[tb.S_LIMIT] > 0:
        limit.drop_undetected(block, light, draws, slot_f, drawn, used)
    for k in range(used):
        slot_i[choose.CAUSE + k], slot_i[choose.DEPTH + k], slot_i[choose.MIRROR + k] = tb.BY_SURFACE, 0, -1
    for k in range(used):
        slot_i[choose.COLUMN + k] = np.int32(hit[rows.COLUMN + k])
        slot_i[choose.FACE + k] = np.int32(hit[pk.B_FACE + k])
    for j in range(1, ranked + 1):
        for k in range(used):
            slot_f[j * choose.FLOATS_A_SLOT + choose.KEY + k] = choose.NONE
    if voided_before > np.float32(0.0):
        _void(block, hit, voided_before, used)
    if returns == tb.DUAL:
        for k in range(used):
            if slot_f[choose.KEY + k] > choose.NONE:
                choose.offer_last(
                    slot_f,
                    slot_i,
                    ranked,
                    np.int32(k),
                    slot_f[choose.OPL + k],
                    slot_f[choose.INTENSITY + k],
                    tb.BY_SURFACE,
                    np.int32(0),
                    slot_i[choose.COLUMN + k],
                    slot_i[choose.FACE + k],
                    choose.NOBODY,
                )


@jit.function
def _void(block, hit, voided_before, used):
    """Void the children and the air of rays fired before a reset."""
    for k in range(used):
        if block[pk.B_TIME + k] < voided_before:
            block[rows.GAIN + k], block[rows.UNIFORM + k] = np.float32(0.0), np.float32(2.0)
            hit[rows.COLUMN + k] = NO_HIT


@jit.inlined
def _offer_children(block, hit, light, draws, slots, used):
    """Offer surfaces hit by children to their first ray."""
    slot_f, slot_i = slots
    returns, ranked = light.switch[tb.S_RETURNS], light.switch[tb.S_SLOTS]
    number, threshold, limited = light.number, light.number[tb.N_THRESHOLD], light.switch[tb.S_LIMIT] > 0
    near, far = limits_of(number)
    for k in range(used):
        if hit[rows.COLUMN + k] == NO_HIT:
            continue
        ray, strength = np.int32(hit[rows.RAY + k]), block[rows.STRENGTH + k]
        opl = block[rows.PATH_OPL + k] + block[rows.MEDIUM_N + k] * block[pk.B_T_FAR + k]
        cause = tb.BY_REFLECTION if hit[rows.MIRROR + k] != NO_HIT else tb.BY_TRANSMISSION
        depth, column, face = (
            tree.depth_of(hit[rows.NODE + k]),
            np.int32(hit[rows.COLUMN + k]),
            np.int32(hit[pk.B_FACE + k]),
        )
        mirror = np.int32(hit[rows.MIRROR + k])
        least = threshold
        if limited and strength >= threshold:
            node, diffuse = np.int64(hit[rows.NODE + k]), block[rows.DIFFUSE_A + k]
            noisy = limit.least_detected(number, diffuse, strength, draws, ray, node, False)
            least = max(threshold, noisy)
        key = choose.key_of(returns, strength, opl, least, near, far)
        choose.offer(slot_f, slot_i, ranked, ray, key, strength, opl, cause, depth, column, face, mirror)
        if returns == tb.DUAL and key > choose.NONE:
            choose.offer_last(slot_f, slot_i, ranked, ray, opl, strength, cause, depth, column, face, mirror)


@jit.inlined
def _offer_air(block, hit, light, draws, slots, drawn, used):
    """Returns from the atmosphere on each segment, if the distance drawn for the ray falls into it."""
    probability, shape, scale = (
        light.medium[0, tb.G_PROBABILITY],
        light.medium[0, tb.G_SHAPE],
        light.medium[0, tb.G_SCALE],
    )

    # Only some rays have one: their numbers first, without a branch that could be guessed wrong
    count = 0
    for k in range(used):
        drawn[count] = k
        count += np.intp(block[rows.UNIFORM + k] < probability)
    for i in range(count):
        k = drawn[i]
        x = shade.gamma_distance(light.gamma, _AIR, block[rows.UNIFORM + k] / probability, shape, scale)
        x -= block[rows.TRAVELED + k]
        if x < np.float32(0.0) or x >= block[pk.B_T_FAR + k]:
            continue
        _offer_answer(
            block, hit, light, draws, slots, k, _AIR, _AIR, np.float32(0.0), x,
            np.float32(0.0), block[rows.PATH_OPL + k], block[rows.PATH_Z + k],
        )  # fmt: skip


@jit.inlined
def _offer_pieces(block, hit, pieces, light, draws, owner, slots):
    """Returns from media on each stretch, if the distance drawn for the visit falls into it.

    The law counts from where the path entered the medium, over mirrors and panes in it.
    """
    media = light.medium
    for i in range(pieces.used[0]):
        k, number = np.int64(pieces.word[i, pc.P_RAY]), np.int64(pieces.word[i, pc.P_MEDIUM])
        probability = media[number, tb.G_PROBABILITY]
        if probability <= np.float32(0.0) or block[rows.GAIN + k] <= np.float32(0.0):
            continue
        visit, drawn = np.int64(pieces.word[i, pc.P_VISIT]), block[rows.UNIFORM + k]
        if visit > 0 or hit[rows.NODE + k] > 0:  # else drawn already
            drawn = _drawn_for(draws, np.int64(owner[hit[rows.RAY + k]]), visit)
        if drawn >= probability:
            continue
        x = shade.gamma_distance(
            light.gamma, number, drawn / probability, media[number, tb.G_SHAPE], media[number, tb.G_SCALE]
        )
        x -= pieces.number[i, pc.P_TRAVELED]
        if x < np.float32(0.0) or x >= pieces.number[i, pc.P_TO] - pieces.number[i, pc.P_FROM]:
            continue
        _offer_answer(
            block, hit, light, draws, slots, k, number,
            np.int64(pieces.word[i, pc.P_INDEX]), pieces.number[i, pc.P_FROM], x, pieces.number[i, pc.P_TAU],
            pieces.number[i, pc.P_OPL], pieces.number[i, pc.P_Z],
        )  # fmt: skip


@jit.inlined
def _offer_answer(block, hit, light, draws, slots, k, number, index, start, x, tau, opl, z):
    """The return of a medium, in which the index of another may count, from x [m] behind a point of the segment.

    Args:
        block, hit, light, draws, slots: As for `offer_media`.
        k: Ray; number: medium; index: medium whose index counts.
        start: Distance of the point from the segment's start [m]; x: distance behind it [m].
        tau, opl, z: Optical depth of the segment so far [1], optical and reduced path [m] at the point.
    """
    slot_f, slot_i = slots
    media, returns, ranked = light.medium, light.switch[tb.S_RETURNS], light.switch[tb.S_SLOTS]
    passes, threshold = np.float32(light.switch[tb.S_ROUND_TRIP]), light.number[tb.N_THRESHOLD]
    near, far = limits_of(light.number)
    air, nobody = tb.BY_ATMOSPHERE, choose.NOBODY
    z, opl = z + x * media[index, tb.G_WIDENING], opl + media[index, tb.G_INDEX] * x
    if light.switch[tb.S_CURVED] > 0:
        z = curvature.spread_at(block, k, z, start + x, media[index, tb.G_WIDENING])
    lost = exp_f32(-passes * (tau + media[number, tb.G_ALPHA] * x))
    captured = captured_from_table(light.capture, z, light.number[tb.N_INVERSE_Z0])
    strength = block[rows.GAIN + k] * media[number, tb.G_ECHO] * lost * captured
    ray, mirror = np.int32(hit[rows.RAY + k]), np.int32(hit[rows.MIRROR + k])
    least = threshold
    if light.switch[tb.S_LIMIT] > 0 and strength >= threshold:
        node, diffuse = np.int64(hit[rows.NODE + k]), block[rows.DIFFUSE_A + k]
        noisy = limit.least_detected(light.number, diffuse, strength, draws, ray, node, True)
        least = max(threshold, noisy)
    key = choose.key_of(returns, strength, opl, least, near, far)
    if light.switch[tb.S_PRIORITY] > 0 and key > choose.NONE:
        key = np.float32(np.inf)
    depth = tree.depth_of(hit[rows.NODE + k])
    choose.offer(slot_f, slot_i, ranked, ray, key, strength, opl, air, depth, nobody, nobody, mirror)
    if returns == tb.DUAL and key > choose.NONE:
        choose.offer_last(slot_f, slot_i, ranked, ray, opl, strength, air, depth, nobody, nobody, mirror)
