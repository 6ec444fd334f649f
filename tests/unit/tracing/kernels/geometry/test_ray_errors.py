import numpy as np
import pytest

from sensorium.random import Stream
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import NO_HIT
from sensorium.tracing.kernels.geometry import ray_errors, rows
from sensorium.tracing.kernels.light import tables as tb


def test_draws_are_the_stream_s_own():
    """Ray, sweep and world are the counter: the same words that a stream of the sensor's name gives."""
    stream, used = Stream(7, "top"), 300
    block, _ = rows.new_scratch()
    draws = ray_errors.BlockDraws(np.array(stream.key, np.uint32), tick=5, element=1000, world=2)
    ray_errors.draw_block(block, draws, True, used)
    where = {"elements": used, "first_element": 1000, "first_world": 2, "dtype": np.float32}
    uniform = stream.uniform(ray_errors.STAGE_RETURN, 0, 5, **where)[0]
    np.testing.assert_array_equal(block[rows.UNIFORM : rows.UNIFORM + used], uniform)
    # four words: two uniforms and a pair of normals, none of them the same
    drawn = np.stack([block[row : row + used] for row in (rows.UNIFORM, rows.NORMAL, rows.NORMAL_2, rows.DROPOUT)])
    assert np.abs(np.corrcoef(drawn) - np.eye(4)).max() < 0.2
    assert ((drawn[[0, 3]] > 0) & (drawn[[0, 3]] < 1)).all()
    # and neighboring blocks go on where the last one ended
    other, _ = rows.new_scratch()
    ray_errors.draw_block(other, draws._replace(element=1100), True, used)
    np.testing.assert_array_equal(other[rows.NORMAL : rows.NORMAL + 200], drawn[1, 100:])


def test_numbers_of_rays_are_the_first_of_those_of_light():
    own = {name: value for name, value in vars(ray_errors).items() if name.startswith("N_")}
    assert sorted(own.values()) == list(range(ray_errors.RAY_NUMBERS))
    assert {name: getattr(tb, name) for name in own} == own


@pytest.mark.parametrize("seed", range(4))
def test_errors_of_hits_are_those_of_the_formula(seed):
    rng = np.random.default_rng(seed)
    used, (block, hit) = 400, rows.new_scratch()
    distance, normal, dropout = rng.uniform(0, 60, used), rng.normal(size=used), rng.uniform(size=used)
    block[pk.B_T_FAR : pk.B_T_FAR + used] = distance
    block[rows.NORMAL : rows.NORMAL + used] = normal
    block[rows.DROPOUT : rows.DROPOUT + used] = dropout
    number = np.zeros(ray_errors.RAY_NUMBERS, np.float32)
    base, slope, square, bias, lost = 0.02, 1e-3, 1e-5, -0.05, 0.2
    number[[ray_errors.N_NOISE_BASE, ray_errors.N_NOISE_SLOPE, ray_errors.N_NOISE_SQUARE]] = base, slope, square
    number[[ray_errors.N_BIAS, ray_errors.N_DROPOUT, ray_errors.N_LEAST, ray_errors.N_MOST]] = bias, lost, 1.0, 50.0
    ray_errors.spoil_hits(block, hit, number, np.zeros((2, 0), np.float32), used)
    expected = distance + bias + (base + slope * distance + square * distance**2) * normal
    np.testing.assert_allclose(block[pk.B_T_FAR : pk.B_T_FAR + used], expected, atol=2e-5)
    kept = (dropout >= lost) & (expected >= 1.0) & (expected <= 50.0)
    np.testing.assert_array_equal(hit[pk.B_INSTANCE : pk.B_INSTANCE + used] != NO_HIT, kept)
