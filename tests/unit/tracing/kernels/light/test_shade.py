import numpy as np
import pytest
from scipy import stats

import sensorium as sn
from sensorium.random import Stream
from sensorium.sensors.lidar.light_tables import medium_tables
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.light import rows, shade
from sensorium.tracing.kernels.light import tables as tb


@pytest.mark.parametrize(("shape", "scale_m"), [(9.5, 0.52), (0.6, 3.0), (1.0, 1.0), (40.0, 0.1)])
def test_the_distance_of_a_return_is_the_gamma_law_s_quantile(shape, scale_m):
    medium = sn.media.uniform(gamma_shape=shape, gamma_scale_m=scale_m, gamma_probability=0.5).at(905e-9)
    _, quantiles = medium_tables([medium], 5e-9)
    tails = [1e-6, 1e-5, 1e-4, 1 - 1e-4, 1 - 1e-5, 1 - 1e-6]
    for q in np.concatenate([np.linspace(2e-4, 1 - 2e-4, 300), tails]):
        x = shade.gamma_distance(quantiles, 0, np.float32(q), np.float32(shape), np.float32(scale_m))
        # as probability: what the law makes of the distance is what it came from
        assert stats.gamma.cdf(x, shape, scale=scale_m) == pytest.approx(float(np.float32(q)), abs=2e-7, rel=1e-3)
        assert x == pytest.approx(stats.gamma.ppf(float(np.float32(q)), shape, scale=scale_m), rel=1e-3)


def test_draws_are_the_stream_s_own():
    """Ray, sweep and world are the counter: the same words that a stream of the sensor's name gives."""
    stream, used = Stream(7, "top"), 300
    block, _ = rows.new_scratch()
    shade.draw_block(block, np.array(stream.key, np.uint32), 1000, 5, 2, True, used)
    where = {"elements": used, "first_element": 1000, "first_world": 2, "dtype": np.float32}
    uniform = stream.uniform(shade.STAGE_RETURN, 0, 5, **where)[0]
    np.testing.assert_array_equal(block[rows.UNIFORM : rows.UNIFORM + used], uniform)
    # four words: two uniforms and a pair of normals, none of them the same
    drawn = np.stack([block[row : row + used] for row in (rows.UNIFORM, rows.NORMAL, rows.NORMAL_2, rows.DROPOUT)])
    assert np.abs(np.corrcoef(drawn) - np.eye(4)).max() < 0.2
    assert ((drawn[[0, 3]] > 0) & (drawn[[0, 3]] < 1)).all()
    # and neighboring blocks go on where the last one ended
    other, _ = rows.new_scratch()
    shade.draw_block(other, np.array(stream.key, np.uint32), 1100, 5, 2, True, used)
    np.testing.assert_array_equal(other[rows.NORMAL : rows.NORMAL + 200], drawn[1, 100:])


def test_surfaces_send_back_what_optics_says():
    rng = np.random.default_rng(1)
    block, _ = rows.new_scratch()
    cos = rng.uniform(0.05, 0.99, BLOCK)
    n, roughness, reflectance = rng.uniform(1.2, 2.0, BLOCK), rng.uniform(0.05, 0.5, BLOCK), rng.uniform(0, 1, BLOCK)
    half_angle = 1.5e-3
    for row, values in (
        (rows.COS, cos),
        (rows.SIN2, 1 - cos**2),
        (rows.R0, sn.optics.fresnel(1.0, n=n)),
        (rows.ALPHA2, 2 * roughness**2),
        (rows.INDEX, n),
        (rows.DIFFUSE_A, reflectance / np.pi),
        (rows.FIXED_R, -np.ones(BLOCK)),
    ):
        block[row : row + BLOCK] = values
    shade.shade_surfaces(block, np.float32(np.tan(half_angle / 2) ** 2), True, BLOCK)
    expected = sn.optics.two_layer_monostatic(cos, n=n, roughness=roughness, reflectance=reflectance)
    np.testing.assert_allclose(block[rows.RHO : rows.RHO + BLOCK], expected, rtol=5e-4)
    kappa = sn.optics.mirror_transfer(cos, n=n, roughness=roughness, half_angle_rad=half_angle)
    np.testing.assert_allclose(block[rows.SHARE : rows.SHARE + BLOCK], kappa, rtol=1e-4)

    # a mirror's reflectance does not ask for the angle
    block[rows.FIXED_R : rows.FIXED_R + BLOCK] = 0.9
    block[rows.ALPHA2 : rows.ALPHA2 + BLOCK] = 0.0
    shade.shade_surfaces(block, np.float32(1e-6), True, BLOCK)
    np.testing.assert_allclose(block[rows.SHARE : rows.SHARE + BLOCK], 0.9, rtol=1e-6)
    assert tb.GAMMA_POINTS >= 1024
