"""What arrives along the rays of a beam, where there is room and where there is not."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.physics import optics
from sensorium.scene.layout import layout
from sensorium.sensors.lidar.light_tables import light_tables
from sensorium.sensors.lidar.scan import Cause
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.beams import gather
from sensorium.tracing.kernels.beams.gather import merge_beams
from sensorium.tracing.kernels.geometry.ray_errors import BlockDraws
from sensorium.tracing.kernels.light import choose, rows
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.waveform.histograms import sender_of


def test_without_room_the_strongest_stay():
    rng = np.random.default_rng(0)
    for _ in range(50):
        light, kept, filled = rng.permutation(40).astype(np.float32) + 1.0, np.zeros(12, np.float32), 0
        for value in light:
            at = gather._place(kept, filled, value)
            if at >= 0:
                kept[at], filled = value, max(filled, at + 1)
        assert sorted(kept.tolist()) == sorted(light.tolist())[-12:]


def test_air_arrives_with_its_share_of_the_beam_and_no_object():
    arrivals = gather.new_arrivals(3, 10)
    air, _ = gather.new_air()
    for ray, strength in ((4, 2.0), (5, 6.0)):
        choose.offer(
            *air, 8, np.int32(ray), np.float32(strength), np.float32(strength), np.float32(7.5), np.int32(4),
            np.int32(1), choose.NOBODY, choose.NOBODY, np.int32(3),
        )  # fmt: skip
    weight, pulse = np.full(512, 0.25, np.float32), np.full(512, 1, np.int32)
    gather.add_air(air, arrivals, weight, pulse, np.int64(1), 6)
    assert arrivals.filled.tolist() == [0, 0, 2]
    np.testing.assert_allclose(arrivals.light[2, :2], [0.5, 1.5])
    np.testing.assert_allclose(arrivals.opl[2, :2], 7.5)
    assert gather.told_of.py_func(arrivals.sender[2, 0]) == (choose.NOBODY, 3, 1)
    assert arrivals.face[2, 0] == -1


SLOTS, ROOM, SEPARATION = 8, 24, np.float32(0.5)


def light(returns=tb.ALL, threshold=0.0, priority=0):
    """Tables of an empty scene, with returns up to 100 m."""
    pattern = sn.patterns.Spinning(elevation_deg=(0.0,), columns=4, rate_hz=10)
    spec = sn.Lidar(pattern=pattern, mode="relative", max_range_m=100.0, threshold=threshold, detection=None)
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 1, 1))
    tables = light_tables(spec, layout(scene, 1), sn.media.vacuum(), None)
    switch = tables.switch.copy()
    switch[tb.S_RETURNS], switch[tb.S_SLOTS], switch[tb.S_PRIORITY] = returns, SLOTS, priority
    return tables._replace(switch=switch)


def merged(arrivals, tables, used, voided_before=0.0):
    """Slots of all beams: floats (slots, 3, beams) and words (slots, 5, beams)."""
    slot_f, slot_i = choose.new_slots(SLOTS + 1)
    beams, order = rows.new_scratch()[0], np.zeros(ROOM, np.int64)
    beams[pk.B_TIME : pk.B_TIME + used] = np.linspace(0.0, 1.0, used)
    draws = BlockDraws(np.zeros(2, np.uint32), tick=0, element=0, world=0)
    where = (draws, SEPARATION, np.float32(voided_before))
    merge_beams(arrivals, order, beams, tables, *where, choose.ReturnSlots(slot_f, slot_i), used)
    return slot_f.reshape(-1, 3, BLOCK)[:, :, :used], slot_i.reshape(-1, 5, BLOCK)[:, :, :used], beams


def random_arrivals(seed, beams, senders=3):
    """Arrivals of surfaces straight on: no slack."""
    rng, arrivals = np.random.default_rng(seed), gather.new_arrivals(beams, ROOM)
    for beam in range(beams):
        count = rng.integers(0, ROOM + 1)
        arrivals.filled[beam] = count
        arrivals.opl[beam, :count] = rng.uniform(1.0, 9.0, count)
        arrivals.light[beam, :count] = rng.uniform(0.1, 1.0, count)
        for i in range(count):
            arrivals.sender[beam, i] = sender_of.py_func(rng.integers(0, senders), -1, 0)
        arrivals.face[beam, :count] = np.arange(count)
    return arrivals


def test_returns_are_the_sums_and_centroids_of_what_is_not_separated():
    beams = 200
    arrivals = random_arrivals(0, beams)
    floats, words, _ = merged(arrivals, light(), beams)
    seen = 0
    for beam in range(beams):
        count = arrivals.filled[beam]
        ranges, powers = optics.merged_returns(
            arrivals.opl[beam, :count], arrivals.light[beam, :count], separation_m=float(SEPARATION)
        )
        strongest = np.argsort(-powers)[:SLOTS]
        there = floats[:, 0, beam] > choose.NONE
        assert there.sum() == len(strongest)
        np.testing.assert_allclose(floats[there, 1, beam], powers[strongest], rtol=1e-6)
        np.testing.assert_allclose(floats[there, 2, beam], ranges[strongest], rtol=1e-6)

        # The face is of the sender with most light, and others make a return mixed
        for j, opl in zip(np.flatnonzero(there), ranges[strongest], strict=True):
            face = words[j, 3, beam]
            near = np.flatnonzero(_group_of(arrivals.opl[beam, :count], opl))
            of = [arrivals.light[beam, near][arrivals.sender[beam, near] == who].sum() for who in range(3)]
            assert arrivals.sender[beam, face] == np.argmax(of) == words[j, 2, beam]
            gaps = np.diff(np.sort(arrivals.opl[beam, near])).max(initial=0.0) > 0.1 * SEPARATION
            assert (words[j, 0, beam] == Cause.MIXED) == (sum(of) - max(of) > 0.01 * sum(of) or gaps)
            seen += 1
    assert seen > 500


def _group_of(opl, middle):
    """Which arrivals belong to the return around a place."""
    order = np.argsort(opl)
    number = np.concatenate([[0], np.cumsum(np.diff(opl[order]) >= SEPARATION)])
    low = [opl[order][number == n].min() for n in range(number[-1] + 1)]
    own = np.searchsorted(low, middle + 1e-5) - 1
    group = np.zeros(len(opl), bool)
    group[order[number == own]] = True
    return group


@pytest.mark.parametrize(("slack", "returns"), [(0.0, 2), (0.5, 1)])
def test_light_drawn_out_along_one_surface_is_one_return(slack, returns):
    """Two arrivals 1.04 m apart, which the slack of both fills but for 0.04 m."""
    arrivals = gather.new_arrivals(1, ROOM)
    arrivals.filled[0] = 2
    arrivals.opl[0, :2], arrivals.light[0, :2], arrivals.slack[0, :2] = (5.0, 6.04), 1.0, slack
    floats, words, _ = merged(arrivals, light(), 1)
    assert (floats[:, 0, 0] > choose.NONE).sum() == returns
    assert words[0, 0, 0] == Cause.SURFACE


def test_one_mesh_with_a_step_in_it_is_mixed():
    arrivals = gather.new_arrivals(1, ROOM)
    arrivals.filled[0] = 2
    arrivals.opl[0, :2], arrivals.light[0, :2] = (5.0, 5.2), (1.0, 3.0)
    floats, words, _ = merged(arrivals, light(), 1)
    assert words[0, 0, 0] == Cause.MIXED
    assert floats[0, 2, 0] == pytest.approx(5.15)


def test_thresholds_act_on_what_is_merged():
    """Two halves that are too weak alone are seen together."""
    arrivals = gather.new_arrivals(1, ROOM)
    arrivals.filled[0] = 2
    arrivals.opl[0, :2], arrivals.light[0, :2] = (5.0, 5.2), (0.4, 0.4)
    assert merged(arrivals, light(threshold=0.7), 1)[0][0, 0, 0] > choose.NONE
    assert merged(arrivals, light(threshold=0.9), 1)[0][0, 0, 0] == choose.NONE


def test_air_with_priority_wins_and_beams_before_a_reset_have_no_return():
    arrivals = gather.new_arrivals(4, ROOM)
    arrivals.filled[:] = 2
    arrivals.opl[:, :2], arrivals.light[:, :2] = (3.0, 8.0), (0.1, 0.9)
    arrivals.sender[:, 0] = sender_of.py_func(gather.AIR, -1, 0)
    for priority, cause in ((0, Cause.SURFACE), (1, Cause.ATMOSPHERE)):
        _, words, _ = merged(arrivals, light(tb.STRONGEST, priority=priority), 4)
        assert (words[0, 0] == cause).all()
    floats, _, beams = merged(arrivals, light(), 4, voided_before=0.5)
    assert (floats[0, 0] > choose.NONE).tolist() == [False, False, True, True]
    assert (beams[rows.UNIFORM : rows.UNIFORM + 4] >= 1.0).tolist() == [True, True, False, False]
