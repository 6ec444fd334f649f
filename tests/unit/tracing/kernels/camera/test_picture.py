"""The camera's kernel against the ray caster and NumPy: what is met, what is lit, and how bright it is."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.physics.fields import Sun
from sensorium.physics.imaging import Band, band_value

GREEN = Band(name="green", filter=((540e-9, 1.0), (560e-9, 1.0)))
SUN = Sun(elevation_deg=40.0, azimuth_deg=75.0)
REFLECTANCE = (0.2, 0.4, 0.6, 0.8)


def clutter():
    """Ground with boxes and balls, of four reflectances."""
    rng = np.random.default_rng(5)
    scene = sn.Scene()
    scene.add(sn.shapes.plane(300.0, 300.0), material=sn.Lambertian(reflectance=REFLECTANCE[0]))
    kinds = [sn.Lambertian(reflectance=value) for value in REFLECTANCE]
    for number in range(60):
        x, y, size = rng.uniform(4.0, 40.0), rng.uniform(-20.0, 20.0), rng.uniform(0.3, 2.0)
        mesh = sn.shapes.sphere(size) if number % 2 else sn.shapes.box(size, size, 2.0 * size)
        place = sn.Pose.from_euler_deg((x, y, size), yaw=rng.uniform(0, 90))
        scene.add(mesh, pose=place, material=kinds[number % 4])
    return scene


def picture_of(scene, worlds=None):
    world = sn.worlds.Static({"mast": sn.Pose(position=(0.0, 0.0, 3.0))}, step_s=0.1)
    env = sn.Environment(scene, world, sun=SUN, worlds=worlds)
    camera = sn.Camera(
        pupil_distance_m=6.05e-3,
        width_m=6.4e-3,
        height_m=4.8e-3,
        columns=160,
        rows=120,
        focal_length_m=6e-3,
        pupil_radius_m=0.5e-3,
        exposure_s=1e-6,
        bands=(GREEN, GREEN),
        sample_factor=1,
        pupil_rays=1,
    )
    sensor = env.attach(camera, body="mast")
    env.step()
    return sensor.read(), camera


def test_every_pixel_is_as_the_ray_caster_and_lamberts_law_have_it():
    scene = clutter()
    reading, camera = picture_of(scene)
    rays = camera.projection().rays().direction_S.astype(float)
    caster = sn.RayCaster(scene)
    hits = caster.cast((0.0, 0.0, 3.0), rays)

    # What is met
    met = hits.hit
    np.testing.assert_array_equal(np.isfinite(reading.distance_m), met)
    np.testing.assert_allclose(reading.distance_m[met], hits.range_m[met], rtol=1e-4)

    # What is lit: a second ray from a little off the surface
    towards = SUN.direction_W
    normal = hits.normal * np.where((hits.normal * rays).sum(-1) > 0.0, -1.0, 1.0)[..., None]
    cosine = (normal * towards).sum(-1)
    start = np.where(met[..., None], rays * np.where(met, hits.range_m, 0.0)[..., None], 0.0) + (0, 0, 3.0)
    lit = ~caster.cast(start + 2e-3 * normal, np.broadcast_to(towards, start.shape)).hit & (cosine > 0.0)

    # How bright: sun, sky above and ground below
    direct, sky = band_value(SUN.spectral_irradiance, GREEN), band_value(SUN.sky_radiance, GREEN)
    ground = 0.2 / np.pi * (direct * np.sin(np.radians(40.0)) + np.pi * sky)
    c = np.array([REFLECTANCE[0], *(REFLECTANCE[k % 4] for k in range(60))])[np.maximum(hits.object_id, 0)]
    around = sky * (1.0 + normal[..., 2]) / 2.0 + ground * (1.0 - normal[..., 2]) / 2.0
    expected = c / np.pi * (direct * np.maximum(cosine, 0.0) * lit + np.pi * around)
    expected = np.where(met, expected, np.where(rays[..., 2] >= 0.0, sky, ground))
    found = reading.ideal[..., 0]
    wrong = np.abs(found - expected) > 1e-3 * expected

    # Rays that graze an edge may fall on either side of it
    assert wrong.mean() < 2e-3
    assert 0.2 < lit[met].mean() < 0.95
    np.testing.assert_array_equal(reading.ideal[..., 0], reading.ideal[..., 1])


def test_bytes_do_not_depend_on_threads_or_worlds():
    scene = clutter()
    two, _ = picture_of(scene)
    two = two.ideal.copy()
    sn.set_threads(1)
    try:
        one, _ = picture_of(scene)
        np.testing.assert_array_equal(one.ideal, two)
    finally:
        sn.set_threads(2)
    several, _ = picture_of(scene, worlds=3)
    for world in range(3):
        np.testing.assert_array_equal(several.ideal[world], two)


@pytest.mark.parametrize("facing", [1.0, -1.0])
def test_both_sides_of_a_face_are_lit_by_what_is_in_front_of_them(facing):
    """A wall seen from its back: the sun on the side that is seen counts, whichever way its triangles wind."""
    wall = sn.shapes.plane(40.0, 40.0)
    turned = sn.Mesh(wall.vertices, wall.faces if facing > 0 else wall.faces[:, ::-1])
    scene = sn.Scene()
    pose = sn.Pose.from_euler_deg((10.0, 0.0, 3.0), pitch=-90.0)
    scene.add(turned, pose=pose, material=sn.Lambertian(reflectance=0.5))
    world = sn.worlds.Static({"mast": sn.Pose(position=(0.0, 0.0, 3.0))}, step_s=0.1)
    for azimuth_deg, shines in ((180.0, True), (0.0, False)):
        env = sn.Environment(scene, world, sun=Sun(elevation_deg=30.0, azimuth_deg=azimuth_deg))
        camera = sn.Camera(
            pupil_distance_m=6.05e-3,
            width_m=1e-3,
            height_m=1e-3,
            columns=2,
            rows=2,
            focal_length_m=6e-3,
            pupil_radius_m=0.5e-3,
            exposure_s=1e-6,
            bands=(GREEN,),
            sample_factor=1,
            pupil_rays=1,
        )
        sensor = env.attach(camera, body="mast")
        env.step()
        sun = Sun(elevation_deg=30.0)
        direct = 0.5 / np.pi * band_value(sun.spectral_irradiance, GREEN) * np.cos(np.radians(30.0))
        assert (sensor.read().ideal.mean() > direct) == shines
