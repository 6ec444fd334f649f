"""What the lidar kernel does to a block of rays, step by step: fire, light up, offer returns, send children on, report.

Between the steps rays are traced: in one go by kernel.py, or in the processes of a scene in parts, see stages.py.
"""

import numpy as np

from sensorium import jit
from sensorium.optics.capture_table import captured_from_table
from sensorium.random import draw_words, exp_f32, uniform_f32
from sensorium.trace import packet as pk
from sensorium.trace.light import choose, resolve, rows, shade, tree, write
from sensorium.trace.light import tables as tb
from sensorium.trace.light.detect import detect_block
from sensorium.trace.light.ray_errors import jitter, numbers_of, straighten
from sensorium.trace.packet import NO_HIT
from sensorium.trace.sweep import WHOLE, aim_numbered


@jit.function
def fire(block, rays, heads, light, draws, number):
    """Aim the first rays of a block; returns its head, its first ray, and how many it has."""
    head, start, used = aim_numbered(block, rays, heads, number, WHOLE)
    if light.number[tb.N_JITTER] > np.float32(0.0):
        element, among = numbers_of(rays, heads, draws, head, start)
        jitter(block, draws, element, among, light.number[tb.N_JITTER], used)
    far = light.number[tb.N_FAR]
    for k in range(used):
        block[pk.B_T_NEAR + k], block[pk.B_T_FAR + k] = np.float32(0.0), far
    return head, start, used


@jit.function
def offer_first(block, hit, light, slot_f, slot_i, drawn, voided_before, used):
    """Open the slots with what surfaces and air send back on the first rays."""
    _first_candidates(block, hit, light, slot_f, slot_i, voided_before, used)
    if light.switch[tb.S_ATMOSPHERE] > 0:
        _offer_air(block, hit, light, slot_f, slot_i, drawn, used)


@jit.function
def offer_more(child, child_hit, light, draws, element, among, slot_f, slot_i, drawn, used):
    """Offer what surfaces and air send back on the way of children."""
    _draw_children(child, child_hit, draws, element, among, used)
    _offer_children(child, child_hit, light, slot_f, slot_i, used)
    if light.switch[tb.S_ATMOSPHERE] > 0:
        _offer_air(child, child_hit, light, slot_f, slot_i, drawn, used)


@jit.function
def send_on(block, hit, light, queue_f, queue_i, waiting, used):
    """Put the children of a batch of hits into the queue; returns how many wait now."""
    passes, depth = light.switch[tb.S_ROUND_TRIP], light.switch[tb.S_DEPTH]
    beam_tan2, floor = light.number[tb.N_BEAM_TAN2], light.number[tb.N_FLOOR]
    return tree.spawn(
        block, hit, light.material, light.medium, beam_tan2, floor, passes, depth, queue_f, queue_i, waiting, used
    )


@jit.function
def report(block, slot_f, slot_i, rays, anchor, labels, light, draws, element, among, head, world, start, used, out):
    """Settle which returns are reported, and write them with their errors; arguments as for `write.write_block`."""
    if light.number[tb.N_JITTER] > np.float32(0.0):
        straighten(block, used)
    if light.switch[tb.S_RETURNS] == tb.DUAL:
        choose.settle_dual(slot_f, slot_i, used)
    elif light.switch[tb.S_RETURNS] == tb.ALL:
        choose.sort_by_distance(slot_f, slot_i, light.switch[tb.S_SLOTS], used)
    if light.switch[tb.S_RADIOMETRIC] > 0:
        returns, key, tick = out.range_m.shape[1], draws.key, draws.tick
        detect_block(block, slot_f, slot_i, light.detector, light.number, key, tick, element, among, returns, used)
    write.write_block(
        block, slot_f, slot_i, rays, anchor, labels, light, draws, element, among, head, world, start, used, out
    )


@jit.function
def light_up(block, hit, arrays, light, world, used):
    """From hits to the strength of each surface's return."""
    resolve.resolve(block, hit, arrays, light, world, used)
    resolve.fill_materials(block, hit, light.material, used)
    if light.corner_reflectance.size > 0:
        row = world if light.reflectance_first.shape[0] > 1 else 0
        first, corners = light.reflectance_first[row], light.corner_reflectance
        resolve.fill_mesh_reflectance(block, hit, light.material, first, corners, used)
    _shade(block, hit, light, used)


@jit.function
def light_up_found(block, hit, light, found, at, base, used):
    """The same from hits that were found elsewhere, see `resolve.take_found`."""
    resolve.take_found(block, hit, light, found, at, base, used)
    resolve.fill_materials(block, hit, light.material, used)
    resolve.fill_found_reflectance(block, hit, light.material, found.reflectance, at, used)
    _shade(block, hit, light, used)


@jit.function
def _shade(block, hit, light, used):
    """From the material that each ray met to the strength of its return."""
    number = light.number
    resolve.find_incidence(block, used)
    shade.shade_surfaces(block, number[tb.N_BEAM_TAN2], light.switch[tb.S_DEPTH] > 0, used)
    if light.switch[tb.S_RETRO] > 0:
        shade.add_retroreflection(block, hit, light.material, used)
    passes = np.float32(light.switch[tb.S_ROUND_TRIP])
    shade.strength_of_surfaces(block, hit, light.medium, light.capture, number[tb.N_INVERSE_Z0], passes, used)


@jit.function
def _draw_children(block, hit, draws, element, among, used):
    """A number of its own for the atmosphere at every node."""
    for k in range(used):
        ray, node = np.int64(hit[rows.RAY + k]), np.int64(hit[rows.NODE + k])
        w0, _, _, _ = draw_words(draws.key[0], draws.key[1], element + ray, shade.STAGE_RETURN, node, draws.tick, among)
        block[rows.UNIFORM + k] = uniform_f32(w0)


@jit.inlined
def _limits(number):
    """Nearest and farthest optical path that is reported [m], each without noise and where noise helps the most."""
    n = number[tb.N_CALIBRATED_INDEX]
    return (number[tb.N_NEAR] * n, number[tb.N_EARLIEST] * n), (number[tb.N_LATE] * n, number[tb.N_LATEST] * n)


@jit.function
def _first_candidates(block, hit, light, slot_f, slot_i, voided_before, used):
    """Surfaces of the first rays open the slots; the air is offered after them."""
    returns, ranked = light.switch[tb.S_RETURNS], light.switch[tb.S_SLOTS]
    threshold = light.number[tb.N_THRESHOLD]
    near, far = _limits(light.number)
    for k in range(used):
        opl, strength = block[pk.B_T_FAR + k] * block[rows.MEDIUM_N + k], block[rows.STRENGTH + k]
        key = choose.key_of(returns, strength, opl, threshold, near, far)
        slot_f[choose.KEY + k] = key if block[pk.B_TIME + k] >= voided_before else choose.NONE
        slot_f[choose.INTENSITY + k] = strength
        slot_f[choose.OPL + k] = opl
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
    """Rays fired before a reset lose their children and their air as well."""
    for k in range(used):
        if block[pk.B_TIME + k] < voided_before:
            block[rows.GAIN + k], block[rows.UNIFORM + k] = np.float32(0.0), np.float32(2.0)
            hit[rows.COLUMN + k] = NO_HIT


@jit.function
def _offer_children(block, hit, light, slot_f, slot_i, used):
    """Surfaces met by children, offered to the ray they belong to."""
    returns, ranked = light.switch[tb.S_RETURNS], light.switch[tb.S_SLOTS]
    threshold = light.number[tb.N_THRESHOLD]
    near, far = _limits(light.number)
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
        key = choose.key_of(returns, strength, opl, threshold, near, far)
        choose.offer(slot_f, slot_i, ranked, ray, key, strength, opl, cause, depth, column, face, mirror)
        if returns == tb.DUAL and key > choose.NONE:
            choose.offer_last(slot_f, slot_i, ranked, ray, opl, strength, cause, depth, column, face, mirror)


@jit.function
def _offer_air(block, hit, light, slot_f, slot_i, drawn, used):
    """Returns from the medium on each segment, where the drawn distance falls into it."""
    media = light.medium

    # Only some rays have one: their numbers first, without a branch that could be guessed wrong
    count = 0
    for k in range(used):
        drawn[count] = k
        count += np.intp(block[rows.UNIFORM + k] < media[hit[rows.MEDIUM + k], tb.G_PROBABILITY])

    returns, ranked, first = light.switch[tb.S_RETURNS], light.switch[tb.S_SLOTS], light.switch[tb.S_PRIORITY] > 0
    passes, threshold = np.float32(light.switch[tb.S_ROUND_TRIP]), light.number[tb.N_THRESHOLD]
    capture, inverse_z0, gamma = light.capture, light.number[tb.N_INVERSE_Z0], light.gamma
    near, far = _limits(light.number)
    air, nobody = tb.BY_ATMOSPHERE, choose.NOBODY
    for i in range(count):
        k = drawn[i]
        number = hit[rows.MEDIUM + k]
        q = block[rows.UNIFORM + k] / media[number, tb.G_PROBABILITY]
        x = shade.gamma_distance(gamma, number, q, media[number, tb.G_SHAPE], media[number, tb.G_SCALE])
        if x >= block[pk.B_T_FAR + k]:
            continue
        n = media[number, tb.G_INDEX]
        z, opl = block[rows.PATH_Z + k] + x * media[number, tb.G_WIDENING], block[rows.PATH_OPL + k] + n * x
        lost = exp_f32(-passes * media[number, tb.G_ALPHA] * x)
        strength = block[rows.GAIN + k] * media[number, tb.G_ECHO] * lost * captured_from_table(capture, z, inverse_z0)
        key = choose.key_of(returns, strength, opl, threshold, near, far)
        if first and key > choose.NONE:
            key = np.float32(np.inf)
        ray, mirror = np.int32(hit[rows.RAY + k]), np.int32(hit[rows.MIRROR + k])
        depth = tree.depth_of(hit[rows.NODE + k])
        choose.offer(slot_f, slot_i, ranked, ray, key, strength, opl, air, depth, nobody, nobody, mirror)
        if returns == tb.DUAL and key > choose.NONE:
            choose.offer_last(slot_f, slot_i, ranked, ray, opl, strength, air, depth, nobody, nobody, mirror)
