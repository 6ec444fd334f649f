"""Tables of a camera's kernel: light, heat, materials, and what meshes carry, against the laws they stand for."""

import math

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SceneError, SpecError
from sensorium.physics.fields import Sun
from sensorium.physics.imaging import Band, band_value, effective_wavelength, thermal_radiance
from sensorium.scene.layout import layout
from sensorium.sensors.camera.tables import corner_values, picture_tables, surfaces, wavelengths_of
from sensorium.tracing.kernels.camera import picture_light as pc
from sensorium.tracing.kernels.light import tables as tb

GREEN = Band(name="green", filter=((540e-9, 1.0), (560e-9, 1.0)))
BLUE = Band(name="blue", filter=((440e-9, 1.0), (460e-9, 1.0)))
HEAT = Band(name="heat", filter=((8e-6, 1.0), (14e-6, 1.0)), thermal=True)
SUN = Sun(elevation_deg=30.0, azimuth_deg=70.0)
PLANE, BOX = sn.shapes.plane(2.0), sn.shapes.box(1.0, 1.0, 1.0)


def camera(**options):
    chip = {"width_m": 6.4e-3, "height_m": 4.8e-3, "columns": 4, "rows": 3, "exposure_s": 1e-3}
    lens = {"focal_length_m": 6e-3, "pupil_distance_m": 6.01e-3, "pupil_radius_m": 0.5e-3}
    return sn.Camera(**chip | lens | options)


def laid_out(*objects):
    """Of (mesh, material)."""
    scene = sn.Scene()
    for mesh, material in objects:
        scene.add(mesh, material=material)
    return layout(scene, 1)


def tables(*bands, objects=(), sun=SUN, atmosphere=None, **options):
    spec = camera(bands=bands, **options)
    air = sn.media.vacuum() if atmosphere is None else atmosphere
    return picture_tables(spec, laid_out(*objects), air, sun, wavelengths_of(bands, sun, spec.ambient_k))


def carrying(mesh, *, faces=None, vertices=None, **options):
    """The same mesh with properties."""
    return sn.Mesh(mesh.vertices, mesh.faces, face_properties=faces, vertex_properties=vertices, **options)


# --- wavelengths ------------------------------------------------------------------------------------------------------


def test_a_band_is_as_long_as_the_light_that_counts_in_it_or_in_the_dark_its_own_middle():
    white, blue = wavelengths_of((GREEN, BLUE), None, 288.0)
    assert (white, blue) == pytest.approx((550e-9, 450e-9))
    for sun in (SUN, Sun(elevation_deg=5.0)):
        found = wavelengths_of((GREEN, BLUE), sun, 288.0)
        assert found == tuple(effective_wavelength(sun.spectral_irradiance, band) for band in (GREEN, BLUE))


@pytest.mark.parametrize("ambient_k", [220.0, 288.0, 600.0])
def test_a_thermal_band_is_as_long_as_what_surroundings_emit_day_and_night(ambient_k):
    """Mean wavelength under Planck's law, by itself; the hotter the shorter."""
    wavelength_m = np.linspace(8e-6, 14e-6, 4001)
    planck = wavelength_m**-5 / np.expm1(0.01438776877 / (wavelength_m * ambient_k))
    expected = np.trapezoid(planck * wavelength_m, wavelength_m) / np.trapezoid(planck, wavelength_m)
    for sun in (None, SUN):
        assert wavelengths_of((HEAT,), sun, ambient_k) == pytest.approx((expected,), rel=1e-5)


# --- light ------------------------------------------------------------------------------------------------------------


def test_light_of_a_band_is_sun_sky_and_what_level_ground_sends_back():
    air = sn.media.air()  # which takes more of blue than of green
    made = tables(GREEN, BLUE, atmosphere=air, ground_albedo=0.3)
    np.testing.assert_allclose(made.sun, SUN.direction_W, atol=1e-7)
    assert made.light.shape == (2, pc.LIGHT_COLUMNS)
    for row, band in zip(made.light, (GREEN, BLUE), strict=True):
        direct, sky = band_value(SUN.spectral_irradiance, band), band_value(SUN.sky_radiance, band)
        assert row[pc.L_SUN] == pytest.approx(direct, rel=1e-6)
        assert row[pc.L_SKY] == pytest.approx(sky, rel=1e-6)
        assert row[pc.L_GROUND] == pytest.approx(0.3 / math.pi * (0.5 * direct + math.pi * sky), rel=1e-6)

        # A cone of the half angle of the disc has 4 pi sin^2(half / 2)
        disc_sr = 4.0 * math.pi * math.sin(math.radians(0.2666) / 2.0) ** 2
        assert row[pc.L_DISC] * disc_sr == pytest.approx(direct, rel=1e-6)
        alpha = air.at(effective_wavelength(SUN.spectral_irradiance, band)).extinction_per_m
        assert row[pc.L_ALPHA] == pytest.approx(alpha, rel=1e-6)
    assert made.light[0, pc.L_SUN] != made.light[1, pc.L_SUN]


@pytest.mark.parametrize("sun", [None, Sun(elevation_deg=-5.0), Sun(elevation_deg=0.0)])
def test_without_a_sun_above_the_horizon_there_is_no_light_but_the_air_stays(sun):
    made = tables(GREEN, sun=sun, atmosphere=sn.media.uniform(extinction_per_m=0.01))
    assert made.light[0, pc.L_ALPHA] == pytest.approx(0.01)
    made.light[0, pc.L_ALPHA] = 0.0
    assert not made.light.any()
    assert np.linalg.norm(made.sun) == pytest.approx(1.0)


def test_in_a_thermal_band_sky_and_ground_glow_by_day_and_by_night():
    warm = {"sky_k": 240.0, "ambient_k": 300.0, "ground_albedo": 0.1}
    sky, ground = thermal_radiance(HEAT, 240.0), 0.9 * thermal_radiance(HEAT, 300.0)
    night = tables(HEAT, sun=None, **warm).light[0]
    np.testing.assert_allclose(night[[pc.L_SUN, pc.L_SKY, pc.L_GROUND]], [0.0, sky, ground], rtol=1e-6)
    day, direct = tables(HEAT, **warm).light[0], band_value(SUN.spectral_irradiance, HEAT)
    lit = 0.1 / math.pi * (0.5 * direct + math.pi * band_value(SUN.sky_radiance, HEAT))
    assert direct > 0.0
    np.testing.assert_allclose(
        day[[pc.L_SUN, pc.L_SKY, pc.L_GROUND]],
        [direct, sky + band_value(SUN.sky_radiance, HEAT), ground + lit],
        rtol=1e-6,
    )


# --- heat -------------------------------------------------------------------------------------------------------------


def test_emission_is_plancks_law_from_the_coldest_to_the_hottest_of_the_scene():
    flare = carrying(BOX, faces={"temperature": np.linspace(40.0, 2500.0, 12)})
    made = tables(GREEN, HEAT, objects=[(flare, None)], sun=None, ambient_k=290.0)
    ambient, first, per_step = made.thermal
    assert ambient == 290.0
    assert np.exp(made.emission[0]).max() < 1e-40  # a band that is not thermal sees none
    kelvin = np.exp(first + np.arange(made.emission.shape[1]) / per_step)
    assert kelvin[0] == pytest.approx(40.0)
    assert 2500.0 <= kelvin[-1] < 2512.0
    for number in range(0, len(kelvin), 70):
        radiance = np.exp(made.emission[1, number], dtype=np.float64)
        assert radiance == pytest.approx(thermal_radiance(HEAT, kelvin[number]), rel=2e-5)
    alone = tables(HEAT, sun=None, ambient_k=290.0)
    assert alone.emission.shape == (1, 2)


def test_without_a_thermal_band_nothing_glows():
    hot = carrying(BOX, faces={"temperature": np.full(12, -5.0)})  # which would be refused if anybody asked for it
    made = tables(GREEN, objects=[(hot, None)])
    assert made.emission.shape == (1, 0)
    assert made.temperature_first.tolist() == [[-1]]
    assert made.corner_temperature.size == 0


def test_temperatures_of_meshes_follow_each_other_corner_by_corner():
    by_face = carrying(BOX, faces={"temperature": 300.0 + np.arange(12)})
    by_vertex = carrying(PLANE, vertices={"temperature": 400.0 + np.arange(len(PLANE.vertices))})
    made = tables(HEAT, objects=[(by_face, None), (PLANE, None), (by_vertex, None), (by_face, None)])
    assert made.temperature_first.tolist() == [[0, -1, 36, 0]]
    np.testing.assert_array_equal(made.corner_temperature[:36], np.repeat(300.0 + np.arange(12), 3))
    np.testing.assert_array_equal(made.corner_temperature[36:], 400.0 + PLANE.faces.ravel())


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (
            np.full(12, 0.0),
            r"property 'temperature' has shape \(\) and least value 0.0; it must be one number above 0 K",
        ),
        (np.full((12, 3), 300.0), r"property 'temperature' has shape \(3,\) and least value 300.0; it must be one"),
    ],
)
def test_temperatures_that_are_none_are_refused(values, says):
    with pytest.raises(SceneError, match=says):
        tables(HEAT, objects=[(carrying(BOX, faces={"temperature": values}), None)])


# --- materials --------------------------------------------------------------------------------------------------------


def test_materials_have_a_row_in_every_band_at_its_own_wavelength_and_one_for_no_object():
    red = sn.Lambertian(reflectance=((400e-9, 0.1), (500e-9, 0.1), (501e-9, 0.8), (700e-9, 0.8)))
    made = tables(GREEN, BLUE, objects=[(BOX, None), (BOX, red)])
    assert made.material.shape[:2] == (2, 3)
    assert made.surfaces.object_material.tolist() == [[0, 1]]
    np.testing.assert_allclose(math.pi * made.material[:, 0, tb.M_DIFFUSE_A], [0.5, 0.5], rtol=1e-6)
    np.testing.assert_allclose(math.pi * made.material[:, 1, tb.M_DIFFUSE_A], [0.8, 0.1], rtol=1e-6)
    assert not made.material[:, 2, [tb.M_DIFFUSE_A, tb.M_DIFFUSE_B, tb.M_R0]].any()


def test_of_heat_a_gray_body_stands_in_for_materials_that_do_not_know_it():
    unknown, known = sn.Lambertian(reflectance=((400e-9, 0.9), (900e-9, 0.9))), sn.Lambertian(reflectance=0.3)
    made = tables(HEAT, objects=[(BOX, None), (BOX, unknown), (BOX, known)], emissivity=0.8)
    np.testing.assert_allclose(math.pi * made.material[0, :3, tb.M_DIFFUSE_A], [0.2, 0.2, 0.3], rtol=1e-6)
    with pytest.raises(SpecError, match="a Lambertian of object 0: reflectance is asked for at 550 nm"):
        tables(GREEN, sun=None, objects=[(BOX, sn.Lambertian(reflectance=((800e-9, 0.9), (900e-9, 0.9))))])


def test_smooth_surfaces_that_mirror_show_images_and_no_others():
    """Slopes of surfaces that show images are 2e-3 at most."""
    smooth, rough = (sn.TwoLayer(refractive_index=1.5, roughness=slope, reflectance=0.2) for slope in (1.9e-3, 2.1e-3))
    matt, mirror = sn.Lambertian(reflectance=0.5), sn.Mirror(reflectance=0.9)
    blurred, black = sn.Mirror(reflectance=0.9, roughness=0.01), sn.Mirror(reflectance=0.0)
    made = tables(GREEN, objects=[(BOX, each) for each in (None, matt, smooth, rough, mirror, blurred, black)])
    assert made.mirrors.tolist() == [False, False, True, False, True, False, False, False]


def test_where_nothing_mirrors_there_is_nothing_to_look_up():
    made = tables(GREEN, objects=[(BOX, None), (BOX, sn.Lambertian(reflectance=0.5))])
    assert (made.mirrors.shape, made.mirrors.dtype) == ((0,), np.bool_)


def test_a_mirror_in_one_band_alone_is_a_mirror():
    metal = sn.Mirror(reflectance=((400e-9, 0.0), (500e-9, 0.0), (501e-9, 0.9), (900e-9, 0.9)))
    for bands in ((GREEN, BLUE), (BLUE, GREEN), (GREEN,)):
        assert tables(*bands, objects=[(BOX, metal)]).mirrors[1]
    assert tables(BLUE, objects=[(BOX, metal)]).mirrors.size == 0


# --- what meshes carry ------------------------------------------------------------------------------------------------


def reflectances(*objects, bands=(GREEN, BLUE)):
    made = surfaces(laid_out(*objects), bands, np.zeros((2, tb.MATERIAL_COLUMNS), np.float32))
    return made["reflectance_first"], made["corner_reflectance"]


def test_values_at_corners_are_those_of_the_faces_or_of_their_vertices():
    of_faces, of_vertices = np.arange(12.0), np.arange(16.0).reshape(8, 2)
    mesh = carrying(BOX, faces={"f": of_faces}, vertices={"v": of_vertices})
    np.testing.assert_array_equal(corner_values(mesh, "f"), np.repeat(of_faces[:, None], 3, axis=1))
    np.testing.assert_array_equal(corner_values(mesh, "v"), of_vertices[mesh.faces])
    with pytest.raises(SceneError, match="the mesh has no property 'w'; it has: f, v"):
        corner_values(mesh, "w")


def test_reflectances_follow_each_other_mesh_by_mesh_and_objects_of_one_mesh_share_them():
    by_face = carrying(BOX, faces={"shade": np.arange(12) / 12})
    by_vertex = carrying(PLANE, vertices={"shade": np.arange(len(PLANE.vertices)) / 10})
    painted = sn.Lambertian(reflectance="shade")
    first, values = reflectances(
        (by_face, painted), (BOX, None), (by_vertex, painted), (by_face, painted), (by_face, None)
    )
    assert first.tolist() == [[0, -1, 36, 0, -1]]
    assert values.dtype == np.float32
    for of_band in values:  # one number a face is for all bands
        np.testing.assert_allclose(of_band[:36], np.repeat(np.arange(12) / 12, 3), rtol=1e-6)
        np.testing.assert_allclose(of_band[36:], PLANE.faces.ravel() / 10, rtol=1e-6)


def test_bands_read_the_column_of_their_place_or_the_one_that_they_name():
    mesh = carrying(BOX, faces={"color": np.broadcast_to([0.1, 0.2, 0.3], (12, 3))})
    third = GREEN.model_copy(update={"column": 2})
    _, values = reflectances((mesh, sn.Lambertian(reflectance="color")), bands=(third, BLUE))
    np.testing.assert_allclose(values, np.broadcast_to([[0.3], [0.2]], (2, 36)), rtol=1e-6)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (np.linspace(-0.5, 0.5, 12), "property 'shade' runs from -0.5 to 0.5; a reflectance is 0 to 1.0"),
        (np.linspace(0.5, 1.5, 12), "property 'shade' runs from 0.5 to 1.5; a reflectance is 0 to 1.0"),
        (np.full((12, 1), 0.5), "property 'shade' has 1 bands; band 'blue' asks for number 1 of them"),
    ],
)
def test_what_is_no_reflectance_is_refused(values, says):
    with pytest.raises(SceneError, match=says):
        reflectances((carrying(BOX, faces={"shade": values}), sn.Lambertian(reflectance="shade")))


def test_a_rough_base_sends_back_less_than_all():
    """Beyond 0.97 the model of rough surfaces would create energy."""
    paint = sn.TwoLayer(refractive_index=1.5, roughness=0.1, reflectance="shade", diffuse_roughness=0.3)
    _, values = reflectances((carrying(BOX, faces={"shade": np.full(12, 0.97)}), paint))
    assert values.max() == np.float32(0.97)
    with pytest.raises(SceneError, match=r"property 'shade' runs from 0.98 to 0.98; a reflectance is 0 to 0.97"):
        reflectances((carrying(BOX, faces={"shade": np.full(12, 0.98)}), paint))


def test_a_texture_is_laid_out_texel_by_texel_and_corners_know_their_place_in_it():
    """u runs from the left edge of the image to the right, v from the lower edge to the upper; middles of texels are
    whole numbers."""
    rng = np.random.default_rng(1)
    small, large = rng.uniform(size=(2, 3, 2)), rng.uniform(size=(4, 5, 2))
    uv = rng.uniform(size=(len(PLANE.vertices), 2))
    meshes = [carrying(PLANE, vertices={"uv": uv}, texture=texture) for texture in (small, large)]
    image = sn.Lambertian(reflectance="texture")
    objects = [(meshes[0], image), (BOX, None), (meshes[1], image), (meshes[0], None)]
    made = surfaces(laid_out(*objects), (GREEN, BLUE), np.zeros((2, tb.MATERIAL_COLUMNS), np.float32))
    assert made["texture"].tolist() == [[0, -1, 1, -1]]
    assert made["paint_place"].tolist() == [[0, 2, 3, 0, 0, 0], [6, 4, 5, 0, 0, 0]]
    assert made["face_paint"].tolist() == [0] * len(PLANE.faces) + [1] * len(PLANE.faces)
    corners = PLANE.faces.size
    assert made["uv_first"][0, [0, 2]].tolist() == [0, corners]
    for number, texture in enumerate((small, large)):
        start, rows, columns = made["paint_place"][number, :3]
        texels = made["texels"][:, start : start + rows * columns].reshape(2, rows, columns)
        np.testing.assert_allclose(texels, np.moveaxis(texture, -1, 0), rtol=1e-6)
        own = slice(number * corners, (number + 1) * corners)
        at = uv[PLANE.faces.ravel()]
        np.testing.assert_allclose(made["corner_u"][own], at[:, 0] * columns - 0.5, atol=1e-6)
        np.testing.assert_allclose(made["corner_v"][own], (1.0 - at[:, 1]) * rows - 0.5, atol=1e-6)

    # What a texture says is said nowhere else
    assert made["reflectance_first"].tolist() == [[-1] * 4]
    assert made["corner_reflectance"].shape == (2, 0)


def test_images_of_files_are_laid_out_once_as_bytes():
    """Two meshes with one image between them: its pixels stand once, after the white one of faces without an image."""
    from sensorium.scene.formats.textures import CLAMP, MIRROR, Paint, painted

    picture = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    uv = np.random.default_rng(1).uniform(size=(len(PLANE.vertices), 2))
    half = len(PLANE.faces) - 1
    pieces = [(picture, Paint(factor=(0.5, 0.25, 0.125), wrap=(CLAMP, MIRROR))), (None, Paint(factor=(0.1, 0.2, 0.3)))]
    made_of = [painted(pieces, [1, half]), painted(pieces[:1], [1 + half])]
    image = sn.Lambertian(reflectance="texture")
    meshes = [(carrying(PLANE, vertices={"uv": uv}, texture=texture), image) for texture in made_of]
    made = surfaces(laid_out(*meshes), (GREEN, BLUE), np.zeros((2, tb.MATERIAL_COLUMNS), np.float32))
    assert made["pixels"].dtype == np.uint8
    np.testing.assert_array_equal(made["pixels"], [[255] * 3, *picture.reshape(-1, 3)])
    columns = [j if band.column is None else band.column for j, band in enumerate((GREEN, BLUE))]
    assert made["pixel_column"].tolist() == columns
    on, off = [1, 2, 3, CLAMP, MIRROR, 1], [0, 1, 1, 0, 0, 1]
    assert made["paint_place"].tolist() == [on, off, on]
    assert made["face_paint"].tolist() == [0] + [1] * half + [2] * (1 + half)
    factors = np.array([[0.5, 0.25, 0.125], [0.1, 0.2, 0.3], [0.5, 0.25, 0.125]])[:, columns]
    np.testing.assert_allclose(made["paint_factor"], factors, rtol=1e-6)
    at = uv[PLANE.faces[0]]
    np.testing.assert_allclose(made["corner_u"][:3], at[:, 0] * 3 - 0.5, atol=1e-6)
    np.testing.assert_allclose(made["corner_v"][:3], (1.0 - at[:, 1]) * 2 - 0.5, atol=1e-6)


def test_a_texture_without_a_band_is_refused_and_a_property_of_its_name_is_one_like_others():
    image = sn.Lambertian(reflectance="texture")
    uv = {"uv": np.zeros((len(PLANE.vertices), 2))}
    with pytest.raises(SceneError, match="property 'texture' has 1 bands; band 'blue' asks for number 1 of them"):
        reflectances((carrying(PLANE, vertices=uv, texture=np.full((2, 2, 1), 0.5)), image))
    first, values = reflectances((carrying(BOX, faces={"texture": np.full((12, 2), 0.25)}), image))
    assert first.tolist() == [[0]]
    assert (values == 0.25).all()


def test_worlds_that_differ_have_a_row_each():
    painted = sn.Lambertian(reflectance="shade")
    meshes = [carrying(BOX, faces={"shade": np.full(12, shade)}) for shade in (0.1, 0.2)]
    shaded = [sn.SceneObject(mesh, material=painted) for mesh in meshes]
    batch = sn.SceneBatch([*shaded, sn.SceneObject(PLANE)], [[0, 1], [2, -1], [1, 1]], sn.Pose().broadcast_to((3, 2)))
    made = surfaces(layout(batch, 3), (GREEN,), np.zeros((2, tb.MATERIAL_COLUMNS), np.float32))
    assert made["reflectance_first"].tolist() == [[0, 36], [-1, -1], [36, 36]]
    assert made["texture"].shape == made["uv_first"].shape == made["temperature_first"].shape == (3, 2)
