"""Cameras: radiometry by hand, shadows, lenses, time, noise, and what is refused."""

import json
import math
import re
import warnings

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SceneError, SpecError
from sensorium.physics import optics
from sensorium.physics.fields import Sun
from sensorium.physics.imaging import Band, PixelNoise, band_value, effective_wavelength, thermal_radiance
from sensorium.physics.imaging.filters import far_infrared, panchromatic
from sensorium.scene.formats.textures import Paint, painted
from sensorium.sensors.camera.camera import SIXTEEN

GREEN = Band(name="green", filter=((540e-9, 1.0), (560e-9, 1.0)))
CHIP = {
    "pupil_distance_m": 6.0001e-3,
    "width_m": 6.4e-3,
    "height_m": 4.8e-3,
    "columns": 32,
    "rows": 24,
    "focal_length_m": 6e-3,
    "pupil_radius_m": 0.5e-3,
    "exposure_s": 1e-3,
}
DOWN = sn.Pose.from_euler_deg((0.0, 0.0, 5.0), pitch=90.0)
NOON = Sun(elevation_deg=90.0)


def spec(**options):
    fields = {"bands": (GREEN,), "sample_factor": 1, "pupil_rays": 1, "bits": 16, "full_well_e": 2e7} | CHIP
    return sn.Camera(**fields | options)


def ground(material=None, mesh=None):
    scene = sn.Scene()
    material = sn.Lambertian(reflectance=0.5) if material is None else material
    scene.add(sn.shapes.plane(400.0, 400.0) if mesh is None else mesh, material=material)
    return scene


def look(camera=None, scene=None, pose=DOWN, sun=NOON, **options):
    """One image of a camera that stands still."""
    scene = ground() if scene is None else scene
    env = sn.Environment(scene, sn.worlds.Static({"mast": sn.Pose()}, step_s=0.1), sun=sun, **options)
    sensor = env.attach(spec() if camera is None else camera, body="mast", pose=pose)
    env.step()
    return sensor


def ground_radiance(sun, reflectance, band=GREEN):
    """Of a level matt surface: E_sun sin(elevation) and pi L_sky, times reflectance over pi."""
    direct = band_value(sun.spectral_irradiance, band) * math.sin(math.radians(sun.elevation_deg))
    return reflectance / math.pi * (direct + math.pi * band_value(sun.sky_radiance, band))


# --- radiometry -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("elevation_deg", [90.0, 30.0])
def test_level_ground_has_the_radiance_of_the_sun_and_sky_on_it(elevation_deg):
    sun = Sun(elevation_deg=elevation_deg, azimuth_deg=70.0)
    picture = look(sun=sun).read()
    np.testing.assert_allclose(picture.ideal, ground_radiance(sun, 0.5), rtol=1e-4)
    assert picture.distance_m[12, 16] == pytest.approx(5.0, rel=1e-3)


def test_electrons_follow_from_the_lens_by_hand():
    """E = L pi a^2 / d^2 V, and electrons = E A t lambda / h c."""
    sensor = look()
    wavelength_m = effective_wavelength(NOON.spectral_irradiance, GREEN)
    E = ground_radiance(NOON, 0.5) * np.pi * (CHIP["pupil_radius_m"] / CHIP["pupil_distance_m"]) ** 2
    V = optics.vignetting(np.hypot(0.1e-3, 0.1e-3), focal_length_m=6e-3)
    electrons = optics.photons(E * V, area_m2=4e-8, exposure_s=1e-3, wavelength_m=wavelength_m)
    assert sensor.read().image[12, 16] == pytest.approx(65535 * electrons / 2e7, abs=1.0)
    assert sensor.truth().image[0, 0] == pytest.approx(65535 * electrons / V / 2e7, abs=1.0)


def test_the_sky_fills_what_nothing_stands_in_and_fog_fills_the_rest():
    level = sn.Pose(position=(0.0, 0.0, 5.0))
    clear = look(pose=level, sun=Sun(elevation_deg=40.0)).read()
    sky = band_value(Sun(elevation_deg=40.0).sky_radiance, GREEN)
    np.testing.assert_allclose(clear.ideal[:11], sky, rtol=1e-5)
    assert np.isinf(clear.distance_m[:11]).all()
    fog = sn.media.fog(visibility_m=20.0)
    foggy = look(pose=level, sun=Sun(elevation_deg=40.0), atmosphere=fog).read()
    kept = np.exp(
        -fog.at(effective_wavelength(Sun(elevation_deg=40.0).spectral_irradiance, GREEN)).extinction_per_m
        * foggy.distance_m[20, 16]
    )
    expected = clear.ideal[20, 16, 0] * kept + sky * (1.0 - kept)
    assert foggy.ideal[20, 16, 0] == pytest.approx(expected, rel=1e-4)


def test_a_box_overhead_casts_its_shadow_and_the_sky_still_lights_it():
    scene = ground()
    scene.add(sn.shapes.box(2.0, 2.0, 0.1), pose=sn.Pose(position=(0.0, 0.0, 20.0)))
    sun = NOON
    picture = look(scene=scene, sun=sun).read()
    shade = 0.5 * band_value(sun.sky_radiance, GREEN)
    assert picture.ideal[12, 16, 0] == pytest.approx(shade, rel=1e-4)
    assert picture.ideal[0, 0, 0] == pytest.approx(ground_radiance(sun, 0.5), rel=1e-4)


def test_a_glossy_surface_adds_the_microfacet_lobe_to_its_base():
    sun = Sun(elevation_deg=60.0, diffuse_fraction=0.0)
    paint = sn.TwoLayer(refractive_index=1.5, roughness=0.3, reflectance=0.5, diffuse_roughness=0.3)
    camera = spec(ground_albedo=0.0, columns=1, rows=1, width_m=1e-4, height_m=1e-4)
    picture = look(camera, scene=ground(paint), sun=sun).read()
    f = optics.two_layer(sun.direction_W, (0.0, 0.0, 1.0), n=1.5, roughness=0.3, reflectance=0.5, diffuse_roughness=0.3)
    expected = band_value(sun.spectral_irradiance, GREEN) * f * math.sin(math.radians(60.0))
    assert picture.ideal[0, 0, 0] == pytest.approx(expected, rel=1e-3)


def test_bands_read_their_columns_of_a_mesh_property_and_interpolate_between_vertices():
    plane = sn.shapes.plane(8.0, 8.0)
    x = plane.vertices[:, 0]
    color = np.stack([(x + 4.0) / 8.0, np.full_like(x, 0.25), np.full_like(x, 0.75)], axis=-1)
    mesh = sn.Mesh(plane.vertices, plane.faces, vertex_properties={"color": color})
    bands = tuple(Band(name=n, filter=GREEN.filter) for n in "rgb")
    picture = look(spec(bands=bands), scene=ground(sn.Lambertian(reflectance="color"), mesh)).read()
    full = ground_radiance(NOON, 1.0)
    np.testing.assert_allclose(picture.ideal[..., 1] / full, 0.25, rtol=1e-4)
    np.testing.assert_allclose(picture.ideal[..., 2] / full, 0.75, rtol=1e-4)

    # The camera looks down with the top of its image towards +x
    rows = (5.0 / CHIP["pupil_distance_m"]) * (11.5 - np.arange(24)) * 0.2e-3
    np.testing.assert_allclose(picture.ideal[:, 16, 0] / full, (rows + 4.0) / 8.0, rtol=2e-3)
    one = spec(bands=(Band(name="fifth", filter=GREEN.filter, column=4),))
    with pytest.raises(SceneError, match="property 'color' has 3 bands; band 'fifth' asks for number 4"):
        look(one, scene=ground(sn.Lambertian(reflectance="color"), mesh))


def test_a_texture_is_seen_texel_by_texel_and_repeats():
    plane = sn.shapes.plane(8.0, 8.0)
    uv = (plane.vertices[:, :2] + 4.0) / 4.0  # twice across the plane
    rng = np.random.default_rng(3)
    texture = rng.uniform(0.1, 0.9, (5, 7, 3))
    mesh = sn.Mesh(plane.vertices, plane.faces, vertex_properties={"uv": uv}, texture=texture)
    bands = tuple(Band(name=n, filter=GREEN.filter) for n in "rgb")
    picture = look(spec(bands=bands), scene=ground(sn.Lambertian(reflectance="texture"), mesh)).read()
    full = ground_radiance(NOON, 1.0)

    # The camera looks down from 5 m with the top of its image towards +x and the left towards +y
    scale = 5.0 / CHIP["pupil_distance_m"] * 0.2e-3
    x, y = scale * (11.5 - np.arange(24))[:, None], scale * (15.5 - np.arange(32))[None, :]
    caster = sn.RayCaster(ground(mesh=mesh))
    origins = np.stack([*np.broadcast_arrays(x, y, 1.0)], axis=-1)
    expected = caster.cast(origins, (0.0, 0.0, -1.0)).property("texture")
    assert np.ptp(expected) > 0.5
    np.testing.assert_allclose(picture.ideal / full, expected, atol=5e-3)


@pytest.mark.parametrize("wrap", [(0, 0), (1, 2), (2, 1)], ids=["repeat", "clamp-mirror", "mirror-clamp"])
def test_images_of_files_are_seen_as_their_mesh_says(wrap):
    """Bytes that the kernel makes linear, a factor, and three kinds of edges, against the mesh's own look-up."""
    plane = sn.shapes.plane(8.0, 8.0)
    uv = (plane.vertices[:, :2] + 2.0) / 3.0  # beyond the image on every side
    pixels = np.random.default_rng(3).integers(60, 250, (5, 7, 3)).astype(np.uint8)
    texture = painted([(pixels, Paint(factor=(0.5, 0.7, 0.9), wrap=wrap)), (None, Paint(factor=(0.2,) * 3))], [1, 1])
    mesh = sn.Mesh(plane.vertices, plane.faces, vertex_properties={"uv": uv}, texture=texture)
    bands = tuple(Band(name=n, filter=GREEN.filter) for n in "rgb")
    picture = look(spec(bands=bands), scene=ground(sn.Lambertian(reflectance="texture"), mesh)).read()
    scale = 5.0 / CHIP["pupil_distance_m"] * 0.2e-3
    x, y = scale * (11.5 - np.arange(24))[:, None], scale * (15.5 - np.arange(32))[None, :]
    origins = np.stack([*np.broadcast_arrays(x, y, 1.0)], axis=-1)
    hits = sn.RayCaster(ground(mesh=mesh)).cast(origins, (0.0, 0.0, -1.0))
    assert set(np.unique(hits.face_id)) == {0, 1}
    seen = picture.ideal / ground_radiance(NOON, 1.0)
    border = np.abs(x - y) < 0.2  # the two faces meet along the diagonal of the plane
    np.testing.assert_allclose(seen[~border], hits.property("texture")[~border], atol=5e-3)


# A sun that a mirror across x leaves where it is, and a camera that looks along +x at such a mirror 10 m away
SIDEWAYS = Sun(elevation_deg=50.0, azimuth_deg=90.0)
AHEAD = sn.Pose((0.0, 0.0, 2.0))


def facing_mirror(material, *, at_m=10.0):
    """A scene with a wall across x that is a mirror, much larger than the view."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.1, 400.0, 400.0), pose=sn.Pose((at_m + 0.05, 0.0, 0.0)), material=material)
    return scene


@pytest.mark.parametrize(
    "material",
    [sn.Mirror(reflectance=0.8), sn.TwoLayer(refractive_index=1.5, roughness=1e-3, reflectance=0.0)],
    ids=["mirror", "gloss"],
)
def test_a_mirror_shows_the_mirrored_scene_times_its_reflectance(material):
    """A turned box behind the camera, in the mirror, against its mirror image seen directly through nothing."""
    box, paint = sn.shapes.box(8.0, 14.0, 11.0), sn.Lambertian(reflectance=0.6)
    scene, mirrored = facing_mirror(material), sn.Scene()
    scene.add(box, pose=sn.Pose.from_euler_deg((-9.0, 1.0, 5.0), yaw=25.0), material=paint)
    mirrored.add(box, pose=sn.Pose.from_euler_deg((29.0, 1.0, 5.0), yaw=-25.0), material=paint)
    seen = look(scene=scene, pose=AHEAD, sun=SIDEWAYS).read()
    direct = look(scene=mirrored, pose=AHEAD, sun=SIDEWAYS).read()
    assert 100 < np.isfinite(direct.distance_m).sum() < direct.distance_m.size - 100  # box, sky and ground

    share = 0.8
    if isinstance(material, sn.TwoLayer):
        cosine = spec().projection(factor=1, margin=0).rays().direction_S[..., 0]
        share = optics.fresnel(cosine, n=1.5)[..., None]
    edge = np.abs(seen.ideal / (share * direct.ideal) - 1.0) > 1e-3
    assert edge.sum() <= 4  # cells whose ray meets an edge of the box
    np.testing.assert_allclose(seen.distance_m[12, 16], 10.0, rtol=1e-3)


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_two_mirrors_show_each_other_to_the_depth_that_is_asked_for(depth):
    """Between parallel mirrors R, the last that is followed shows sky or ground: R^(depth + 1) of them."""
    scene = facing_mirror(sn.Mirror(reflectance=0.9))
    scene.add(sn.shapes.box(0.1, 400.0, 400.0), pose=sn.Pose((-10.05, 0.0, 0.0)), material=sn.Mirror(reflectance=0.9))
    seen = look(spec(mirror_depth=depth), scene=scene, pose=AHEAD, sun=SIDEWAYS).read()
    sky = band_value(SIDEWAYS.sky_radiance, GREEN)
    np.testing.assert_allclose(seen.ideal[0], 0.9 ** (depth + 1) * sky, rtol=1e-5)


def test_heat_is_seen_by_plancks_law_with_the_sky_mirrored_in_what_does_not_emit():
    plane = sn.shapes.plane(400.0, 400.0)
    mesh = sn.Mesh(plane.vertices, plane.faces, vertex_properties={"temperature": np.full(len(plane.vertices), 310.0)})
    (band,) = far_infrared()
    camera = spec(bands=(band,), emissivity=0.9)
    night = look(camera, scene=ground(sn.materials.load("asphalt"), mesh), sun=None).read()
    expected = 0.9 * thermal_radiance(band, 310.0) + 0.1 * thermal_radiance(band, 250.0)
    np.testing.assert_allclose(night.ideal, expected, rtol=1e-3)
    cold = look(camera, scene=ground(sn.materials.load("asphalt")), sun=None).read()
    expected = 0.9 * thermal_radiance(band, 288.15) + 0.1 * thermal_radiance(band, 250.0)
    np.testing.assert_allclose(cold.ideal, expected, rtol=1e-3)


@pytest.mark.parametrize("kelvin", [60.0, 120.0, 800.0, 3000.0])
def test_the_radiance_of_what_is_very_cold_or_hot_is_its_own(kelvin):
    plane = sn.shapes.plane(400.0, 400.0)
    mesh = sn.Mesh(plane.vertices, plane.faces, vertex_properties={"temperature": np.full(len(plane.vertices), kelvin)})
    (band,) = far_infrared()
    camera = spec(bands=(band,), emissivity=1.0, sky_k=2.0)
    seen = look(camera, scene=ground(sn.materials.load("asphalt"), mesh), sun=None).read()
    np.testing.assert_allclose(seen.ideal, thermal_radiance(band, kelvin), rtol=2e-4)


def test_at_night_everything_is_black():
    assert look(sun=None).read().image.max() == 0
    assert look(sun=Sun(elevation_deg=-5.0)).read().image.max() == 0


# --- lens -------------------------------------------------------------------------------------------------------------


def edge(at_m=0.5):
    """Ground that is black on one side and white on the other."""
    scene = sn.Scene()
    for x, reflectance in ((at_m + 100.0, 0.9), (at_m - 100.0, 0.1)):
        plane = sn.shapes.plane(200.0, 400.0)
        scene.add(plane, pose=sn.Pose(position=(x, 0.0, 0.0)), material=sn.Lambertian(reflectance=reflectance))
    return scene


def test_an_edge_out_of_focus_is_as_wide_as_its_blur():
    chip = {"width_m": 0.64e-3, "height_m": 0.48e-3, "sample_factor": 4, "pupil_rays": 16}

    def width(**options):
        profile = look(spec(**chip | options), scene=edge(at_m=0.0)).read().image[:, 16].astype(float)
        assert profile[0] / profile[-1] == pytest.approx(9.0, rel=0.02)
        share = (profile - profile.min()) / np.ptp(profile)
        return ((share > 0.02) & (share < 0.98)).sum()

    assert width() <= 1
    # Of a disc, 2 % lie beyond 0.87 of its radius on either side
    radius_px = optics.blur_radius(6e-3, 6.2e-3, 3e-3, 5.0) / 20e-6
    assert radius_px > 4.0
    assert width(pupil_distance_m=6.2e-3, pupil_radius_m=3e-3) == pytest.approx(1.74 * radius_px, abs=1.0)


def test_brown_and_fisheye_lenses_see_along_their_patterns():
    for lens, k in (("brown", (-0.1, 0.01, 0.0, 0.0, 0.0)), ("fisheye", (0.01, 0.0, 0.0, 0.0))):
        camera = spec(lens=lens, lens_coefficients=k)
        picture = look(camera).read()
        downwards = camera.projection().rays().direction_S[..., 0]
        np.testing.assert_allclose(picture.distance_m, 5.0 / downwards, rtol=1e-3)


# --- time -------------------------------------------------------------------------------------------------------------


def passing(camera, speed=20.0, step_s=0.01):
    """A camera that flies over the edge, looking down."""
    path = sn.paths.Line(start=(0.0, 0.0, 5.0), velocity=(speed, 0.0, 0.0))
    world = sn.worlds.Kinematic({"drone": path}, step_s=step_s)
    env = sn.Environment(edge(at_m=1.0), world, sun=NOON)
    sensor = env.attach(camera, body="drone", pose=sn.Pose.from_euler_deg(pitch=90.0))
    while not sensor.fresh:
        env.step()
    return sensor.read()


def edge_row(picture):
    """Row at which brightness is half-way, with the top towards the flight."""
    mean = picture.ideal[:, 16, 0]
    return np.interp(-(mean.max() + mean.min()) / 2, -mean, np.arange(len(mean)))


def test_rows_of_a_rolling_shutter_see_their_own_times():
    """Row r looks at t = r t_line + t_exp / 2, when the camera is v t further: there the edge stands lower."""
    line_s, speed = 1e-3, 20.0
    still = edge_row(passing(spec(exposure_s=1e-4, sample_factor=8), speed=1e-3)) / 8
    rolling = (
        edge_row(passing(spec(exposure_s=1e-4, shutter="rolling", line_time_s=line_s, sample_factor=8), speed)) / 8
    )
    px_per_m = CHIP["pupil_distance_m"] / 0.2e-3 / 5.0
    expected = (still + px_per_m * speed * 0.5e-4) / (1.0 - px_per_m * speed * line_s)
    assert rolling == pytest.approx(expected, abs=0.15)


def test_motion_blurs_an_edge_by_the_way_of_the_exposure():
    speed, exposure_s = 20.0, 0.04
    blurred = passing(spec(exposure_s=exposure_s, motion_blur=True, sample_factor=6), speed)
    mean = blurred.ideal.reshape(24, 6, 32, 6).mean(axis=(1, 2, 3))
    low, high = mean.min(), mean.max()
    between = ((mean > low + 0.02 * (high - low)) & (mean < high - 0.02 * (high - low))).sum()
    px_per_m = CHIP["pupil_distance_m"] / 0.2e-3 / 5.0
    assert between == pytest.approx(px_per_m * speed * exposure_s, abs=1.5)
    assert blurred.end_ns - blurred.start_ns == 40_000_000


def test_an_image_arrives_when_its_exposure_is_over():
    env = sn.Environment(ground(), sn.worlds.Static({"mast": sn.Pose()}, step_s=0.01), sun=NOON)
    sensor = env.attach(spec(exposure_s=0.025), body="mast", pose=DOWN)
    arrived = []
    for _ in env.run(0.3):
        arrived += [(env.time_ns, one.start_ns) for one in sensor.readings()]
    assert arrived == [(30_000_000, 0), (130_000_000, 100_000_000), (230_000_000, 200_000_000)]


# --- pixels -----------------------------------------------------------------------------------------------------------


def test_noise_differs_from_frame_to_frame_and_not_from_run_to_run():
    camera = spec(noise=PixelNoise(read_noise_e=5000.0), adc=sn.Adc(bits=16))

    def frames():
        env = sn.Environment(ground(), sn.worlds.Static({"mast": sn.Pose()}, step_s=0.1), sun=NOON, seed=3)
        sensor = env.attach(camera, body="mast", pose=DOWN)
        return [sensor.read().image.copy() for _ in env.run(0.3)]

    first, second, _ = frames()
    assert (first != second).mean() > 0.9
    np.testing.assert_array_equal(frames()[1], second)


def test_worlds_and_rows_of_cameras_have_their_axes():
    world = sn.worlds.Static({"mast": sn.Pose()}, step_s=0.1)
    env = sn.Environment(ground(), world, sun=NOON, worlds=2)
    camera = spec(noise=PixelNoise(), adc=sn.Adc())
    sensor = env.attach(camera, body="mast", pose=[DOWN, DOWN])
    env.step()
    picture = sensor.read()
    assert picture.image.shape == (2, 2, 24, 32)
    assert picture.raw.shape == (2, 2, 24, 32)
    assert picture.ideal.shape == (2, 2, 24, 32, 1)
    assert picture.distance_m.shape == (2, 2, 24, 32)
    flat = picture.image.reshape(4, -1).astype(float)
    assert len({row.tobytes() for row in flat}) == 4, "every sensor of every world has its own noise"
    assert picture.without(np.array([True, False])).image[0].max() == 0


def test_a_mosaic_sees_one_color_a_pixel_and_makes_three():
    bands = tuple(Band(name=n, filter=((5.4e-7, v), (5.6e-7, v))) for n, v in (("r", 0.2), ("g", 0.4), ("b", 0.8)))
    colors = look(spec(bands=bands, mosaic="rggb", adc=sn.Adc(bits=16), gain=(2.0, 1.0, 1.0))).read()
    assert colors.image.shape == (24, 32, 3)
    assert colors.raw.shape == (24, 32)
    red, green, blue = colors.image[11:13, 15:17].mean(axis=(0, 1))
    assert red / green == pytest.approx(1.0, rel=2e-3)
    assert blue / green == pytest.approx(2.0, rel=2e-3)
    assert look(spec(bands=bands, mosaic="rggb", demosaic=False)).read().image.shape == (24, 32)


def test_stages_end_in_the_image_and_begin_with_the_ideal_one():
    bands = tuple(Band(name=n, filter=GREEN.filter) for n in "rgb")
    sensor = look(spec(bands=bands, noise=PixelNoise(read_noise_e=100.0), adc=sn.Adc(), mosaic="rggb", gamma=0.5))
    reading = sensor.read()
    stages = dict(reading.stages())
    assert list(stages) == ["ideal", "lens", "vignetting", "noise", "codes", "gain and gamma", "colors"]
    np.testing.assert_array_equal(stages["colors"], reading.image)
    np.testing.assert_array_equal(stages["codes"], reading.raw)
    assert stages["ideal"].shape == reading.ideal.shape


# --- specification ----------------------------------------------------------------------------------------------------


def test_sixteen_numbers_in_one_file_make_a_camera(tmp_path):
    numbers = CHIP | {
        "gamma": 0.5, "vignetting_per_m": 10.0, "spherical": 1.0, "astigmatism": 2.0, "curvature": 3.0,
        "distortion": 4.0, "coma": 5.0, "gain": 1.5,
    }  # fmt: skip
    assert set(numbers) == set(SIXTEEN)
    assert len(SIXTEEN) == 16
    toml, text = tmp_path / "camera.toml", tmp_path / "camera.json"
    toml.write_text("".join(f"{name} = {value}\n" for name, value in numbers.items()))
    text.write_text(json.dumps(numbers))
    for path in (toml, text):
        camera = sn.Camera.from_file(path)
        assert {name: getattr(camera, name) for name in SIXTEEN} == numbers
    toml.write_text("coma = [")
    with pytest.raises(SpecError, match=r"camera.toml: the file is not TOML"):
        sn.Camera.from_file(toml)
    text.write_text(json.dumps(numbers | {"gama": 1.0}))
    with pytest.raises(SpecError, match=r"camera.json: Camera.gama is 1.0; did you mean gamma\?"):
        sn.Camera.from_file(text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pupil_distance_m": 6e-3}, "pupil_distance_m is 0.006 and focal_length_m 0.006; .* d > f"),
        ({"pupil_distance_m": 5e-3}, "pupil_distance_m is 0.005 and focal_length_m 0.006; .* d > f"),
        ({"sample_factor": 0}, "Camera.sample_factor is 0; it must be greater than or equal to 1"),
        ({"bands": (GREEN,) * 7}, "Camera.bands is .*; it must have at most 6 items"),
        ({"bands": ()}, "Camera.bands is .*; it must have at least 1 item"),
        ({"gain": (1.0, 2.0)}, "gain has 2 values for 1 bands"),
        ({"exposure_s": 0.11}, "exposure_s is 0.11 and timing.rate_hz 10.0; an image must end before .* after 0.1 s"),
        (
            {"shutter": "rolling", "line_time_s": 4.2e-3},
            "exposure_s is 0.001, line_time_s 0.0042 for 24 rows and timing.rate_hz 10.0; an image must end before",
        ),
        (
            {"auto_exposure": {"max_exposure_s": 0.2}},
            "auto_exposure.max_exposure_s is 0.2 and timing.rate_hz 10.0; an image must end before .* after 0.1 s",
        ),
        (
            {"auto_exposure": {"max_exposure_s": 1e-4}},
            "exposure_s is 0.001 with auto_exposure from 1e-06 to 0.0001 s; it must lie between them",
        ),
        ({"white_balance": {"kind": "gains", "gains": (1.0, 2.0)}}, "white_balance.gains has 2 values for 1 bands"),
        ({"white_balance": {"kind": "temperature", "temperature_k": 1.0}}, "a black body must shine in every band"),
        (
            {"lens": "brown", "lens_coefficients": (-20.0, 0.0, 0.0, 0.0, 0.0)},
            r"lens_coefficients is \(-20.0, .*: no ray comes to the image point",
        ),
        ({"pupil_rays": 3}, "pupil_rays is 3; it must be 1 or an even number"),
        ({"mosaic": "rggb"}, "mosaic is 'rggb' with 1 bands; it needs three"),
        ({"line_time_s": 1e-5}, "line_time_s is 1e-05 with a global shutter"),
        ({"lens": "brown", "coma": 1.0}, "lens is 'brown' with Seidel terms"),
        ({"lens": "fisheye", "lens_coefficients": (1.0,)}, "lens_coefficients has 1 values; lens 'fisheye' takes 4"),
        ({"timing": sn.Timing(rate_hz=10, jitter_s=1e-3)}, "timing.jitter_s is 0.001"),
        ({"columns": 100_000, "rows": 100_000}, "the virtual grid has 10000000000 cells"),
        ({"adc": {"bits": 8, "black_dn": 300}}, "black_dn is 300.0; it must be below the highest code, 255"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(SpecError, match=message):
        spec(**options)


@pytest.mark.parametrize("line_s", [4.1e-3, 0.099 / 24])
def test_a_readout_that_just_fits_is_not_refused(line_s):
    spec(shutter="rolling", line_time_s=line_s)


def test_an_image_that_is_saturated_through_and_through_warns_once():
    camera = spec(full_well_e=10.0)
    scene = ground()
    env = sn.Environment(scene, sn.worlds.Static({"mast": sn.Pose()}, step_s=0.1), sun=NOON)
    env.attach(camera, body="mast", pose=DOWN, name="eye")
    env.attach(spec(), body="mast", pose=DOWN, name="good")
    told = r"sensor 'eye' has an image that is saturated through and through, exposed for 0\.001 s; exposure_s, gain"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            env.step()
    (only,) = (str(one.message) for one in caught)
    assert re.match(told, only)


@pytest.mark.parametrize(
    "options",
    [
        {"full_well_e": 10.0, "gain": 0.1},  # full wells that do not reach full scale
        {"adc": sn.Adc(bits=8, gain_dn_e=1.0)},  # a converter at its end long before the wells
        {"full_well_e": 10.0, "field_stop_m": 2e-3},  # no light comes to the corners
        {"full_well_e": 10.0, "noise": PixelNoise(read_noise_e=1.0), "adc": sn.Adc(bits=12, gain_dn_e=10.0)},
    ],
)
def test_full_is_whatever_comes_to_an_end_first(options):
    with pytest.warns(UserWarning, match="saturated through and through"):
        look(spec(**options))


def test_one_pixel_that_is_not_full_is_enough():
    scene = ground()
    scene.add(sn.shapes.plane(0.6, 0.6), pose=sn.Pose((0.8, 0.8, 0.01)), material=sn.Lambertian(reflectance=0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert look(spec(full_well_e=10.0), scene=scene).read().image.min() == 0


@pytest.mark.parametrize("options", [{}, {"gain": 0.25}, {"adc": sn.Adc(bits=12, gain_dn_e=0.02)}])
def test_a_full_well_holds_no_more_with_quiet_pixels(options):
    """Full scale at gain 1 is the full well: less gain shows a full pixel at that share, and so does a converter that
    the full well does not reach the end of."""
    full = 1e5
    with pytest.warns(UserWarning, match="saturated"):
        sensor = look(spec(full_well_e=full, **options))
    gain = options.get("gain", 1.0)
    share = gain if "adc" not in options else round(0.02 * full) / 4095
    assert (sensor.read().image == round(share * 65535)).all()
    assert (sensor.truth().image == round(gain * 65535)).all()


def test_a_material_that_does_not_know_the_band_is_named_with_its_object_and_spectrum():
    missing = r"reflectance is asked for at .* nm; its spectrum covers 850 to 1550 nm"
    with pytest.raises(SpecError, match=rf"^material 'skin' of object 0: {missing}"):
        look(spec(bands=panchromatic()), scene=ground(sn.materials.load("skin")))
    own = ground(sn.Lambertian(reflectance=((850e-9, 0.5), (1550e-9, 0.5))))
    for name in "abcd":
        own.add(sn.shapes.box(1, 1, 1), material=own.objects[0].material, name=name)
    with pytest.raises(SpecError, match=rf"^a Lambertian of object 0, 'a', 'b' and 2 more: {missing}"):
        look(spec(bands=panchromatic()), scene=own)
