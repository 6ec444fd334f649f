import numpy as np

import sensorium as sn
from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.light import rows
from sensorium.tracing.kernels.strong_light import sunlight


def test_what_a_sunlit_surface_sends_to_the_sensor_is_its_brdf():
    """f(s, v) cos(theta_s) against the BRDF of optics, for any sun and any view above the surface."""
    rng = np.random.default_rng(4)
    n, roughness, reflectance, diffuse_roughness = 1.5, 0.35, 0.6, 0.4
    a0, a1, b = sn.optics.oren_nayar_coefficients(diffuse_roughness)
    scale = reflectance / np.pi
    for layering in ("two_way", "agx"):
        block, _ = rows.new_scratch()
        for row, value in (
            (rows.INDEX, n),
            (rows.ALPHA2, 2 * roughness**2),
            (rows.DIFFUSE_A, scale * (a0 + a1 * reflectance)),
            (rows.DIFFUSE_B, scale * b),
            (rows.ONE_WAY, float(layering == "agx")),
        ):
            block[row : row + BLOCK] = value
        for k in range(60):
            to_sun, to_sensor = np.abs(rng.normal(size=(2, 3))) * ((rng.choice([-1, 1]), 1, 1), (1, 1, 1))
            to_sun, to_sensor = to_sun / np.linalg.norm(to_sun), to_sensor / np.linalg.norm(to_sensor)
            for axis in range(3):
                block[pk.B_DIRECTION_X + axis * BLOCK + k] = -to_sensor[axis]
            block[rows.COS + k] = to_sensor[2]
            sun = np.array([*to_sun, 1.0, 0.0], np.float32)
            found = sunlight._towards_sensor(block, k, sun, np.float32(to_sun[2]))
            f = sn.optics.two_layer(
                to_sun,
                to_sensor,
                n=n,
                roughness=roughness,
                reflectance=reflectance,
                diffuse_roughness=diffuse_roughness,
                layering=layering,
            )
            np.testing.assert_allclose(found, f * to_sun[2], rtol=1e-4)
