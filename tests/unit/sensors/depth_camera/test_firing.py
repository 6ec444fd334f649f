"""Rays that depth cameras fire beside those of their pixels, against directions and distances by hand."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.runtime import jit
from sensorium.scene.layout import layout
from sensorium.sensors.depth_camera.firing import fire, look_from, new_rays, turned
from sensorium.sensors.depth_camera.rays import Eyes
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.kernels.depth.lens import lens_row
from sensorium.tracing.kernels.depth.ray_jitter import RayJitter
from sensorium.tracing.placement.scenes import PlacedScenes

FOCAL_PX = (20.0, 10.0), (40.0, 40.0)
CENTER_PX = (16.0, 8.0), (0.0, 2.0)
ORIGIN_M = np.array([[0.25, -0.5, 1.0], [-1.0, 0.5, -0.25]], np.float32)
LEFT, FORWARD = [0, -1, 0, 1, 0, 0, 0, 0, 1], [1, 0, 0, 0, 1, 0, 0, 0, 1]  # x forward turned to y, and not at all
WALL = sn.shapes.box(1.0, 20.0, 20.0)
WALL_M = 3.0, 7.0  # where its near side is, in each of two worlds


@jit.kernel
def scratch_of(mask):
    floats, words, active, block, hit, u, v, x, y, z = new_rays(mask)
    return floats, words.copy(), active, block, hit, u, v, x, y, z


@jit.kernel
def look(eyes, head, u, v, used):
    _, _, _, block, _, _, _, x, y, z = new_rays(eyes.mask)
    look_from(eyes, head, u, v, np.arange(used), used, block, x, y, z)
    return block, x, y, z


@jit.kernel
def shoot(eyes, world, origins, directions, t_far):
    floats, words, active, block, hit, _, _, _, _, _ = new_rays(eyes.mask)
    used = directions.shape[0]
    for k in range(used):
        for axis in range(3):
            block[axis * pk.BLOCK + k] = origins[k, axis]
            block[pk.B_DIRECTION_X + axis * pk.BLOCK + k] = directions[k, axis]
        block[pk.B_T_FAR + k] = t_far
    fire(eyes, world, floats, words, active, block, hit, used)
    return block, hit


@jit.kernel
def turn(rotation, vectors, out):
    for k in range(vectors.shape[0]):
        out[k, 0], out[k, 1], out[k, 2] = turned(rotation, vectors[k, 0], vectors[k, 1], vectors[k, 2])


def placed(scene, *, worlds=1, bodies=(), positions=None, hidden=()):
    made = PlacedScenes(layout(scene, worlds), worlds, bodies, hidden)
    quaternions = np.zeros((1, worlds, len(bodies), 4))
    quaternions[..., 0] = 1.0
    places = np.zeros((1, worlds, len(bodies), 3)) if positions is None else np.array(positions, np.float64)[None]
    made.place(places, quaternions, np.zeros((worlds, 3)))
    return made


def eyes_into(scenes, hide=()):
    lenses = [
        sn.patterns.Pinhole(width=32, height=16, focal_px=focal, center_px=center, rate_hz=1.0)
        for focal, center in zip(FOCAL_PX, CENTER_PX, strict=True)
    ]
    return Eyes(
        arrays=scenes.tables,
        mask=np.uint32(scenes.mask_without(hide, air=False)),
        arguments=pk.COHERENT_ADDRESS,
        lens=np.array([lens_row(lens) for lens in lenses]),
        rotation=np.array([LEFT, FORWARD], np.float64),
        origin=ORIGIN_M,
        jitter=RayJitter(np.float32(0.0), np.zeros(2, np.uint32), np.zeros(2, np.int64), 0, 32 * 16),
        sensors=1,
    )


@pytest.fixture(scope="module")
def yard():
    """Two worlds with a wall, each at its own distance, and a ball before it that can be hidden."""
    scene = sn.Scene()
    scene.add(WALL, body="wall")
    scene.add(sn.shapes.sphere(0.5, subdivisions=3), body="ball")
    positions = [[(distance + 0.5, 0, 0), (2.0, 0.0, 0.0)] for distance in WALL_M]
    return placed(scene, worlds=2, bodies=("wall", "ball"), positions=positions, hidden=[frozenset({"ball"})])


def cast(eyes, directions, *, world=0, origins=None, t_far=np.inf):
    """Block and words of unit rays, from the origin unless told."""
    d = np.array(directions, np.float64).reshape(-1, 3)
    d = (d / np.linalg.norm(d, axis=1, keepdims=True)).astype(np.float32)
    starts = np.zeros_like(d) if origins is None else np.array(origins, np.float32)
    return (*shoot(eyes, world, starts, d, np.float32(t_far)), d)


def some_directions(count):
    """Forward and to all sides, up to 35 degrees."""
    side = np.random.default_rng(3).uniform(-0.5, 0.5, (count, 2))
    return np.column_stack([np.ones(count), side])


@pytest.mark.parametrize("mask", [0xFFFFFFFF, 0x80000005, 0])
def test_scratch_is_empty_but_for_the_mask(mask):
    floats, words, active, block, hit, *points = scratch_of(np.uint32(mask))
    expected = np.zeros(21 * pk.WIDTH, np.uint32)
    expected[pk.MASK : pk.MASK + pk.WIDTH] = mask
    np.testing.assert_array_equal(words, expected)
    np.testing.assert_array_equal(floats.view(np.uint32), expected)  # the same memory
    assert (len(active), len(block), len(hit)) == (pk.WIDTH, pk.BLOCK_FLOATS, pk.BLOCK_WORDS)
    assert [(array.dtype, array.shape) for array in points] == [(np.float32, (pk.BLOCK,))] * 5
    assert not any(array.any() for array in (active, block, hit, *points))
    assert len({array.ctypes.data for array in (floats, active, block, hit, *points)}) == 9


@pytest.mark.parametrize("head", [0, 1])
@pytest.mark.parametrize("used", [0, 1, 37, pk.BLOCK])
def test_rays_of_a_head_start_in_it_and_look_through_its_lens(yard, head, used):
    """x forward, y left, z up in its own frame, which is not turned yet; nothing is written beyond those asked for."""
    rng = np.random.default_rng(1)
    u, v = rng.uniform(-5, 40, (2, pk.BLOCK)).astype(np.float32)
    block, x, y, z = look(eyes_into(yard), head, u, v, used)
    (fx, fy), (cx, cy) = FOCAL_PX[head], CENTER_PX[head]
    expected = np.column_stack([np.ones(pk.BLOCK), (cx - u) / fx, (cy - v) / fy])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    expected[used:] = 0.0
    np.testing.assert_allclose(np.column_stack([x, y, z]), expected, atol=3e-7)
    rows = np.zeros((14, pk.BLOCK), np.float32)
    rows[:3, :used] = ORIGIN_M[head][:, None]
    np.testing.assert_array_equal(block.reshape(14, pk.BLOCK), rows)


def test_vectors_are_turned_by_the_rows_of_a_matrix():
    """In float64: (1, 2, 3) by rows of ones and tens, and of numbers that float32 has not."""
    vectors, out = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 1.0 + 2.0**-40]]), np.zeros((2, 3))
    turn(np.array([1.0, 10.0, 100.0, 2.0, 0.0, -1.0, 0.0, 0.5, 1.0]), vectors, out)
    assert out.tolist() == [[321.0, -1.0, 4.0], [100.0 * (1.0 + 2.0**-40), -1.0 - 2.0**-40, 1.0 + 2.0**-40]]
    turn(np.array(LEFT, np.float64), np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), out)
    assert out.tolist() == [[0, 1, 0], [-1, 0, 0]]


@pytest.mark.parametrize("count", [1, 7, 100, pk.BLOCK])
@pytest.mark.parametrize("world", [0, 1])
def test_rays_meet_the_wall_of_their_world_where_they_cross_its_plane(yard, world, count):
    eyes, directions = eyes_into(yard, hide=["ball"]), some_directions(count)
    origins = np.broadcast_to(ORIGIN_M[0], (count, 3))
    block, hit, d = cast(eyes, directions, world=world, origins=origins)
    rows = block.reshape(14, pk.BLOCK)
    distance = rows[7]
    np.testing.assert_allclose(distance[:count], (WALL_M[world] - 0.25) / d[:, 0], rtol=1e-5)
    assert (hit[pk.B_INSTANCE : pk.B_INSTANCE + count] != pk.NO_HIT).all()

    # Barycentric coordinates and the face tell the same point; its normal is that of the near side
    corners = WALL.vertices[WALL.faces[hit[pk.B_FACE : pk.B_FACE + count]]] + [WALL_M[world] + 0.5, 0, 0]
    u, v = rows[11, :count, None], rows[12, :count, None]
    point = (1 - u - v) * corners[:, 0] + u * corners[:, 1] + v * corners[:, 2]
    np.testing.assert_allclose(point, ORIGIN_M[0] + distance[:count, None] * d, atol=2e-5)
    normal = rows[8:11, :count] / np.linalg.norm(rows[8:11, :count], axis=0)
    np.testing.assert_allclose(np.abs(normal[0]), 1.0, atol=1e-6)


def test_a_ball_is_met_unless_it_is_hidden(yard):
    """Straight ahead it is 1.5 m away, or a little more, for its facets lie within; aside the wall is at 3 m."""
    directions = [(1.0, 0.011, 0.013), (1.0, 0.5, 0.0)]
    block, _, d = cast(eyes_into(yard), directions)
    assert 1.5 <= block[pk.B_T_FAR] < 1.51
    assert block[pk.B_T_FAR + 1] == pytest.approx(3.0 / d[1, 0], rel=1e-5)
    block, _, d = cast(eyes_into(yard, hide=["ball"]), directions)
    assert block[pk.B_T_FAR : pk.B_T_FAR + 2] == pytest.approx(3.0 / d[:, 0], rel=1e-5)


def test_rays_that_look_away_or_not_far_enough_meet_nothing(yard):
    eyes = eyes_into(yard, hide=["ball"])
    block, hit, _ = cast(eyes, -some_directions(20))
    assert (hit[pk.B_INSTANCE : pk.B_INSTANCE + 20] == pk.NO_HIT).all()
    assert np.isposinf(block[pk.B_T_FAR : pk.B_T_FAR + 20]).all()
    for reach, meets in ((2.99, False), (3.01, True)):
        _, hit, _ = cast(eyes, (1.0, 0.001, 0.002), t_far=reach)
        assert (hit[pk.B_INSTANCE] != pk.NO_HIT) == meets


@pytest.mark.parametrize("first", [0, 1])
def test_on_an_edge_the_first_face_counts(first):
    """A square of two faces, met along its diagonal, whichever of them is written first."""
    corners = np.array([[4, -1, -1], [4, 1, -1], [4, 1, 1], [4, -1, 1]], np.float64)
    faces = [[0, 1, 2], [0, 2, 3]]
    scene = sn.Scene()
    scene.add(sn.Mesh(corners, [faces[first], faces[1 - first]]))
    scenes = placed(scene)
    along = (np.arange(-30, 31) / 32)[:, None]
    ahead = np.broadcast_to(np.float32([1, 0, 0]), (61, 3))
    block, hit, _ = cast(eyes_into(scenes), ahead, origins=np.hstack([0 * along, along, along]))
    assert hit[pk.B_FACE : pk.B_FACE + 61].tolist() == [0] * 61
    assert block[pk.B_T_FAR : pk.B_T_FAR + 61] == pytest.approx(np.full(61, 4.0), rel=1e-6)
