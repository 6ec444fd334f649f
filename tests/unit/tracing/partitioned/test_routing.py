"""Routing: where rays enter boxes, who is asked, what was met, and which of two hits stays."""

import numpy as np
import pytest

from sensorium.runtime import worker_pool
from sensorium.tracing.partitioned import routing
from sensorium.tracing.partitioned.messages import Sent
from sensorium.tracing.rays import RawHits, Rays, new_hits


def entries(origin, direction, low, high, t_max=np.inf):
    origin, direction = np.atleast_2d(np.asarray(origin, float)), np.atleast_2d(np.asarray(direction, np.float32))
    out = np.zeros((len(origin), len(low)), np.float32)
    limit = np.full(len(origin), t_max, np.float32)
    blocks = -(-len(origin) // 64)
    worker_pool.run(
        routing.enter_parts, blocks, 64, origin, direction, limit, np.asarray(low, float), np.asarray(high, float), out
    )
    return out


BOX = [[2.0, -1, -1]], [[4.0, 1, 1]]


def test_a_ray_enters_a_box_before_it():
    assert entries((0, 0, 0), (1, 0, 0), *BOX)[0, 0] == pytest.approx(2.0, abs=2e-3)
    assert entries((3, 0, 0), (1, 0, 0), *BOX)[0, 0] == 0.0
    assert entries((0, 0, 0), (-1, 0, 0), *BOX)[0, 0] == np.inf
    assert entries((0, 1.5, 0), (1, 0, 0), *BOX)[0, 0] == np.inf
    assert entries((0, 0, 0), (1, 0, 0), *BOX, t_max=1.9)[0, 0] == np.inf


def test_boxes_are_wider_than_float32_is_coarse():
    """A ray along a face of a box far away enters it, whichever way its direction was rounded."""
    far = 1e4
    for away in (0.0, 1e-4, -1e-4, 0.02):
        assert np.isfinite(entries((0, 0, 0), (1, 0, 0), [[far, away, -1]], [[far + 1, 5.0, 1]])[0, 0])
    assert entries((0, 0, 0), (1, 0, 0), [[far, 1.0, -1]], [[far + 1, 5.0, 1]])[0, 0] == np.inf


def test_no_box_is_missed_that_a_point_on_the_ray_lies_in():
    rng = np.random.default_rng(0)
    low = rng.uniform(-20, 20, (7, 3))
    high = low + rng.uniform(4, 10, (7, 3))
    origin, direction = rng.uniform(-20, 20, (3000, 3)), rng.normal(size=(3000, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    found = entries(origin, direction, low, high)
    steps = np.linspace(0, 80, 2001)
    points = origin[:, None] + steps[:, None] * direction[:, None]
    for part in range(7):
        inside = ((points >= low[part]) & (points <= high[part])).all(axis=2)
        met = inside.any(axis=1)
        assert 20 < met.sum() < 2900
        assert np.isfinite(found[met, part]).all()
        assert (found[met, part] <= steps[inside.argmax(axis=1)][met] + 1e-3).all()
        assert (~np.isfinite(found[:, part])).sum() > 0.9 * (~met).sum()


def hits(rows):
    """RawHits of (range, object, face)."""
    out = new_hits(len(rows))
    for k, (range_m, number, face) in enumerate(rows):
        out.range_m[k], out.object_id[k], out.face_id[k] = range_m, number, face
    return out


def test_rays_that_ask_the_same_part_are_copied_together_in_their_order():
    """Blocks of two rays, in a chunk that begins with ray 3; nobody looks farther than what is known."""
    inf = np.inf
    entry = np.array([[1, 5], [inf, inf], [4, 2], [inf, 3], [9, inf], [7, 8], [6, 5]], np.float32)
    known = np.array([inf] * 3 + [inf, inf, 2, 4, 5, 7, 5], np.float32)
    chosen, counts = np.empty(7, np.int32), np.empty((2, 4), np.int64)
    worker_pool.run(routing.choose_next, 4, 2, entry, known[3:], chosen, counts)
    assert chosen.tolist() == [0, -1, 1, 1, -1, 0, 1]
    assert counts.tolist() == [[1, 0, 1, 0], [0, 2, 0, 1]]
    assert entry.tolist() == [[inf, 5], [inf, inf], [4, inf], [inf, inf], [9, inf], [inf, 8], [6, inf]]

    ends = np.cumsum(counts).reshape(counts.shape)
    rays = Sent(
        np.arange(30.0).reshape(10, 3),
        np.arange(30, dtype=np.float32).reshape(10, 3) + 100,
        np.zeros(1, np.float32),
        np.full(1, 4.5, np.float32),
        np.arange(10, dtype=np.float32),
    )
    out, rows = rays.room_for(5), np.empty(5, np.int64)
    worker_pool.run(routing.sort_by_part, 4, 2, 3, chosen, ends - counts, rays, known, out, rows)
    assert rows.tolist() == [3, 8, 5, 6, 9]
    assert out.origin.tolist() == rays.origin[rows].tolist()
    assert out.direction.tolist() == rays.direction[rows].tolist()
    assert out.clear_m.tolist() == rows.tolist()
    assert out.time is rays.time
    assert out.t_max.tolist() == [
        4.5,
        4.5,
        np.nextafter(np.float32(2), np.float32(3)),
        np.nextafter(np.float32(4), np.float32(5)),
        4.5,
    ]


def test_hits_move_to_the_front_with_the_numbers_of_the_whole():
    """Object 0 is whole, object 1 was cut from object 7: its faces are the 20th and the 40th there."""
    found, rows = hits([(np.inf, -1, -1), (3, 1, 1), (np.inf, -1, -1), (4, 0, 5), (5, 1, 0)]), np.empty(5, np.int32)
    found.normal[:, 2], found.barycentric[:, 1], found.label[:] = np.arange(5), np.arange(5), np.arange(5)
    object_id, first_face, faces = np.array([2, 7], np.int32), np.array([-1, 0]), np.array([20, 40], np.int32)
    count = routing.keep_hits(object_id, first_face, faces, found, rows)
    kept = RawHits(*(column[:count] for column in found))
    assert rows[:count].tolist() == [1, 3, 4]
    assert kept.range_m.tolist() == [3, 4, 5]
    assert kept.object_id.tolist() == [7, 2, 7]
    assert kept.face_id.tolist() == [40, 5, 20]
    for column in (kept.normal[:, 2], kept.barycentric[:, 1], kept.label):
        assert column.tolist() == [1, 3, 4]


def test_the_nearer_hit_stays_and_of_equals_the_first_facet():
    first_facet = np.array([0, 10], np.int64)
    known = hits([(5, 0, 3), (5, 0, 3), (5, 1, 0), (5, 0, 3), (np.inf, -1, -1), (5, 0, 3)])
    part = np.zeros(6, np.int32)
    new = hits([(4, 1, 1), (6, 1, 1), (5, 0, 9), (5, 1, 0), (9, 1, 2)])
    new.normal[:] = 1.0
    rows, met = np.array([5, 4, 3, 2, 1, 0]), np.array([5, 4, 3, 2, 1], np.int32)  # ray 5 met nothing
    worker_pool.run(routing.take_nearer, 1, 512, rows, 7, first_facet, met, new, known, part)
    assert known.range_m.tolist() == [4, 5, 5, 5, 9, 5]
    assert known.object_id.tolist() == [1, 0, 0, 0, 1, 0]
    assert known.face_id.tolist() == [1, 3, 9, 3, 2, 3]
    assert part.tolist() == [7, 0, 7, 0, 7, 0]
    assert known.normal[:, 0].tolist() == [1, 0, 1, 0, 1, 0]


def test_the_order_of_answers_does_not_matter():
    rng = np.random.default_rng(1)
    answers = [hits([(rng.integers(1, 4), p, rng.integers(0, 10)) for _ in range(200)]) for p in range(3)]
    results = []
    for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        known = hits([(np.inf, -1, -1)] * 200)
        part = np.full(200, -1, np.int32)
        for p in order:
            met, first_facet = np.arange(200, dtype=np.int32), np.arange(3) * 10
            worker_pool.run(routing.take_nearer, 1, 512, np.arange(200), p, first_facet, met, answers[p], known, part)
        results.append((known.range_m.tolist(), known.object_id.tolist(), known.face_id.tolist(), part.tolist()))
    assert results[0] == results[1] == results[2]


def test_parts_are_asked_together_where_a_ray_ends_on_an_edge_of_several():
    low, high = np.array([[0.0, 0, 0], [1, 0, 0], [5, 0, 0]]), np.array([[1.0, 1, 1], [2, 1, 1], [6, 1, 1]])
    ends = np.array([[1.0, 0.5, 0.5], [1.0, 0.5, 0.5], [0.5, 0.5, 0.5], [1.0005, 0.5, 0.5], [1.1, 0.5, 0.5]])
    rays = Rays(
        ends + [0, 0, 3.0],
        np.tile(np.array([0, 0, -1], np.float32), (5, 1)),
        np.zeros(5, np.float32),
        np.full(5, np.inf, np.float32),
        np.zeros(5, np.int32),
    )
    found = hits([(3, 0, 1)] * 5)
    found.barycentric[:] = [[0.5, 0.0], [0.3, 0.3], [0.5, 0.0], [0.5, 0.5], [0.0, 0.5]]
    out = np.ones((5, 3), np.bool_)
    edge = np.empty(len(out), np.bool_)
    worker_pool.run(routing.end_on_edges, 1, 512, found, edge)
    rows = np.flatnonzero(edge)
    out[~edge] = False
    asked = np.empty((len(rows), 3), np.bool_)
    worker_pool.run(routing.share_edges, 1, 512, rows, rays, low, high, found, asked)
    out[rows] = asked
    nobody, both = [False, False, False], [True, True, False]
    assert out.tolist() == [both, nobody, nobody, both, nobody]
