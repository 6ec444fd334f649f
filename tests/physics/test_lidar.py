"""The lidar against closed forms: paths, transmittances, reflectance over angle and range, to printed digits."""

import numpy as np
import pytest

import sensorium as sn

# The detector catches everything, so that intensities are f cos(theta) itself, and all of them are looked at
OPEN = sn.Beam(half_divergence_rad=1e-4, exit_radius_m=0.01, detector_radius_m=1.0)
VACUUM_TO_WATER = sn.media.uniform(refractive_index=1.33)


def printed(text):
    """Equality with a number to the last digit shown."""
    return pytest.approx(float(text), rel=0, abs=0.5 * 10.0 ** -len(text.partition(".")[2]))


def sheet(center, normal, size=20.0):
    """A square of two triangles, exactly where it should be."""
    normal = np.asarray(normal, float) / np.linalg.norm(normal)
    a = np.cross(normal, (0.0, 1.0, 0.0) if abs(normal[1]) < 0.9 else (1.0, 0.0, 0.0))
    a /= np.linalg.norm(a)
    b = np.cross(normal, a)
    corners = [np.asarray(center) + size / 2 * (x * a + y * b) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return sn.Mesh(np.array(corners), np.array([[0, 1, 2], [0, 2, 3]]))


def slab(near_m, far_m, size=20.0):
    """A box that begins and ends at these distances along x."""
    return sn.shapes.box(far_m - near_m, size, size).transformed(sn.Pose(((near_m + far_m) / 2, 0, 0)))


def fire(objects, azimuth_deg=(0.0,), *, atmosphere=None, **options):
    """One reading of a lidar at the origin, rays in the plane z = 0."""
    scene = sn.Scene()
    for mesh, material in objects:
        scene.add(mesh, material=material)
    pattern = sn.patterns.Table(
        azimuth_deg=tuple(azimuth_deg),
        elevation_deg=(0.0,) * len(azimuth_deg),
        time_s=(0.0,) * len(azimuth_deg),
        rate_hz=10,
    )
    env = sn.Environment(scene, atmosphere=atmosphere)
    lidar = env.attach(sn.Lidar(**{"pattern": pattern, "mode": "relative", "beam": OPEN, "detection": None} | options))
    for _ in env.run(duration_s=0.1):
        pass
    return lidar.read()


WALL = sn.Lambertian(reflectance=0.5)


# --- paths ------------------------------------------------------------------------------------------------------------


def test_a_mirror_that_turns_the_ray_puts_the_wall_on_the_emission_axis():
    objects = [(sheet((1, 0, 0), (-1, 1, 0), 1.0), sn.Mirror(reflectance=0.9)), (sheet((0, 2, 0), (0, -1, 0)), WALL)]
    scan = fire(objects, max_depth=1)
    assert scan.range_m[0, 0] == pytest.approx(3.0, abs=5e-6)
    np.testing.assert_allclose(scan.points[0, 0], (3.0, 0, 0), atol=5e-6)
    assert scan.cause[0, 0] == sn.Cause.REFLECTION
    assert (scan.object_id[0, 0], scan.mirror_id[0, 0], scan.depth[0, 0]) == (1, 0, 1)

    # Both ways the mirror leaves R t^2 / (alpha^2 cos + t^2) of the light
    kappa = 0.9 * np.tan(0.5e-4) ** 2 / (2e-8 * np.cos(np.pi / 4) + np.tan(0.5e-4) ** 2)
    assert scan.intensity[0, 0] == pytest.approx(kappa**2 * 0.5 / np.pi, rel=1e-4)
    assert not fire(objects, max_depth=0, threshold=1e-6).valid.any()


@pytest.mark.parametrize("body", [sn.Dielectric(medium=VACUUM_TO_WATER), VACUUM_TO_WATER], ids=["dielectric", "volume"])
def test_two_meters_of_vacuum_and_three_of_water_are_5_990_m(body):
    scan = fire([(slab(2, 12), body), (sheet((5, 0, 0), (-1, 0, 0)), WALL)], max_depth=1, returns="last")
    assert scan.range_m[0, 0] == pytest.approx(5.990, abs=5e-6)
    assert scan.cause[0, 0] == sn.Cause.TRANSMISSION
    assert scan.mirror_id[0, 0] == -1
    passed = 1.0 - (0.33 / 2.33) ** 2
    assert scan.intensity[0, 0] == pytest.approx(passed**2 * 0.5 / np.pi, rel=1e-4)


def test_water_is_longer_for_light_than_it_is_wide():
    """The beam spreads over d / n, light takes n d, extinction counts d."""
    beam = sn.Beam(wavelength_m=532e-9)
    body = sn.Dielectric(medium=sn.media.water())
    scan = fire([(slab(2, 12), body), (sheet((5, 0, 0), (-1, 0, 0)), WALL)], max_depth=1, returns="last", beam=beam)
    water = sn.media.water().at(532e-9)
    n = water.refractive_index
    assert scan.range_m[0, 0] == pytest.approx(2 + 3 * n, rel=1e-6)
    captured = sn.optics.captured_fraction(
        2 + 3 / n, detector_radius_m=0.01, exit_radius_m=0.01, half_divergence_rad=1.5e-3
    )
    passed = 1.0 - sn.optics.fresnel(1.0, n=n)
    expected = passed**2 * 0.5 / np.pi * captured * np.exp(-2 * water.extinction_per_m * 3)
    assert scan.intensity[0, 0] == pytest.approx(expected, rel=1e-4)


def test_range_is_optical_path_over_the_calibrated_index():
    objects = [(sheet((50, 0, 0), (-1, 0, 0)), WALL)]
    air = sn.media.air()
    # by default a sensor is calibrated in the air it works in
    assert fire(objects, atmosphere=air).range_m[0, 0] == pytest.approx(50.0, rel=1e-6)
    assert fire(objects, atmosphere=air, calibrated_index=1.0).range_m[0, 0] == pytest.approx(50 * 1.000273, rel=1e-6)
    assert fire(objects, calibrated_index=1.25).range_m[0, 0] == pytest.approx(40.0, rel=1e-6)


# --- glass ------------------------------------------------------------------------------------------------------------


def test_behind_a_clear_pane_a_wall_returns_0_852_of_its_open_value():
    wall = (sheet((5, 0, 0), (-1, 0, 0)), WALL)
    pane = (sheet((2, 0, 0), (-1, 0, 0)), sn.ThinGlass(refractive_index=1.5, thickness_m=0.004))
    open_scan, scan = fire([wall]), fire([wall, pane], max_depth=1, returns="last")
    assert float(scan.intensity[0, 0] / open_scan.intensity[0, 0]) == printed("0.8521")
    assert scan.range_m[0, 0] - open_scan.range_m[0, 0] == pytest.approx(0.5 * 0.004, abs=1e-6)
    assert scan.cause[0, 0] == sn.Cause.TRANSMISSION
    once = fire([wall, pane], max_depth=1, returns="last", round_trip=False)
    assert float(once.intensity[0, 0] / open_scan.intensity[0, 0]) == printed("0.9231")


def test_behind_a_slab_of_glass_it_returns_0_849():
    slab_m, n = 0.02, 1.5
    glass = (slab(2, 2 + slab_m), sn.Dielectric(refractive_index=n))
    # moved back, so that the beam has spread as far
    far = 5 + slab_m * (1 - 1 / n)
    for beam in (OPEN, sn.Beam()):
        open_scan = fire([(sheet((5, 0, 0), (-1, 0, 0)), WALL)], beam=beam)
        scan = fire([glass, (sheet((far, 0, 0), (-1, 0, 0)), WALL)], max_depth=2, returns="last", beam=beam)
        assert float(scan.intensity[0, 0] / open_scan.intensity[0, 0]) == printed("0.8493")
        assert scan.range_m[0, 0] == pytest.approx(far + (n - 1) * slab_m, rel=1e-6)
        assert scan.depth[0, 0] == 2


def test_a_slab_shifts_the_ray_and_a_prism_of_total_reflection_turns_it():
    # Entering at 45 degrees and leaving again, a ray goes on in its direction
    angle, n, thick = np.pi / 4, 1.5, 0.2
    inner = np.arcsin(np.sin(angle) / n)
    glass = sn.shapes.box(thick, 20, 20).transformed(sn.Pose.from_euler_deg((3, 0, 0), yaw=45))
    scan = fire([(glass, sn.Dielectric(refractive_index=n)), (sheet((9, 0, 0), (-1, 0, 0)), WALL)], max_depth=2)
    inside = thick / np.cos(inner)
    straight = inside * np.cos(angle - inner)
    assert scan.range_m[0, 0] == pytest.approx(9 - straight + n * inside, rel=1e-6)

    # A right-angled prism: in straight, out to the side, nothing lost at the long face
    corners = np.array([(0, -1, -1), (2, -1, -1), (0, 1, -1), (0, -1, 1), (2, -1, 1), (0, 1, 1)], float) + (2, 0, 0)
    faces = [(0, 2, 1), (3, 4, 5), (0, 1, 4), (0, 4, 3), (0, 3, 5), (0, 5, 2), (1, 2, 5), (1, 5, 4)]
    prism = (sn.Mesh(corners, np.array(faces)), sn.Dielectric(refractive_index=n, roughness=1e-6))
    wide = sn.Beam(detector_radius_m=2.0)
    scan = fire([prism, (sheet((3, -4, 0), (0, 1, 0)), WALL)], max_depth=3, returns="last", beam=wide)
    assert scan.object_id[0, 0] == 1
    assert scan.range_m[0, 0] == pytest.approx(2 + n * 2 + 3, rel=1e-6)
    # all but what the polish scatters out of the beam
    kept = np.tan(0.75e-3) ** 2 / (2e-12 * np.cos(np.pi / 4) + np.tan(0.75e-3) ** 2)
    assert scan.intensity[0, 0] == pytest.approx(0.96**4 * kept**2 * 0.5 / np.pi, rel=1e-4)
    assert scan.cause[0, 0] == sn.Cause.REFLECTION
    assert scan.mirror_id[0, 0] == 0


# --- surfaces ---------------------------------------------------------------------------------------------------------

ANGLES = tuple(np.arange(0.0, 86.0, 2.5))
COS = np.cos(np.deg2rad(ANGLES))
COATED = {"refractive_index": 1.5, "roughness": 0.3, "reflectance": 0.5, "diffuse_roughness": 0.3}


def coated(layering):
    """A material, and its return over the cosine of incidence."""
    material = {"roughness": 0.3, "reflectance": 0.5, "diffuse_roughness": 0.3}
    return (
        sn.TwoLayer(**COATED, layering=layering),
        lambda cos: sn.optics.two_layer_monostatic(cos, n=1.5, **material, layering=layering),
    )


SURFACES = {
    "lambertian": (sn.Lambertian(reflectance=0.5), lambda cos: 0.5 / np.pi * cos),
    "default": (None, lambda cos: 0.5 / np.pi * cos),
    "two_way": coated("two_way"),
    "agx": coated("agx"),
    "plastic": coated("plastic"),
    "metal": (
        sn.TwoLayer(refractive_index=1.5, extinction_coefficient=7.0, roughness=0.3, reflectance=0.0),
        lambda cos: sn.optics.ggx_monostatic(cos, n=1.5 + 7j, roughness=0.3),
    ),
    "retroreflector": (
        sn.Retroreflector(coefficient=200.0, falloff=3.0, reflectance=0.2),
        lambda cos: sn.optics.retroreflection(cos, coefficient_per_sr=200.0, exponent=3.0) + 0.2 / np.pi * cos,
    ),
}


@pytest.mark.parametrize("name", SURFACES)
def test_intensity_over_the_angle_of_incidence(name):
    material, expected = SURFACES[name]
    scan = fire([(sheet((5, 0, 0), (-1, 0, 0), 300.0), material)], ANGLES)
    np.testing.assert_allclose(scan.intensity[0], expected(COS), rtol=1e-4)
    np.testing.assert_allclose(scan.range_m[0], 5 / COS, rtol=1e-5)
    # a face has two sides, and both are the same
    turned = fire([(sheet((5, 0, 0), (1, 0, 0), 300.0), material)], ANGLES)
    np.testing.assert_allclose(turned.intensity[0], scan.intensity[0], rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("lambertian", ("0.15915", "0.13783", "0.07958")),
        ("two_way", ("0.15375", "0.13002", "0.08498")),
        ("agx", ("0.15942", "0.13567", "0.09811")),
        ("metal", ("0.39409", "0.09661", "0.03256")),
    ],
)
def test_printed_returns(name, values):
    material, _ = SURFACES[name]
    scan = fire([(sheet((5, 0, 0), (-1, 0, 0), 300.0), material)], (0.0, 30.0, 60.0))
    for intensity, text in zip(scan.intensity[0], values, strict=True):
        assert float(intensity) == printed(text)


@pytest.mark.parametrize("divergence", ["exact", "agx"])
@pytest.mark.parametrize(
    "beam",
    [
        sn.Beam(),
        sn.Beam(half_divergence_rad=2.25e-3, exit_radius_m=0.0042, detector_radius_m=0.0042, detector_offset_m=0.03),
    ],
    ids=["on the axis", "beside it"],
)
def test_intensity_over_the_distance(divergence, beam):
    for distance_m in (0.5, 2.0, 5.0, 20.0, 50.0, 200.0, 900.0):
        scan = fire([(sheet((distance_m, 0, 0), (-1, 0, 0)), WALL)], beam=beam, divergence=divergence)
        captured = sn.optics.captured_fraction(
            distance_m,
            detector_radius_m=beam.detector_radius_m,
            detector_offset_m=beam.detector_offset_m,
            exit_radius_m=beam.exit_radius_m,
            half_divergence_rad=beam.half_divergence_rad,
            model=divergence,
        )
        assert float(scan.intensity[0, 0]) == pytest.approx(0.5 / np.pi * captured, rel=2e-4, abs=1e-9)


def test_a_beam_of_two_widths():
    beam = sn.Beam(half_divergence_rad=(4e-3, 1e-3), detector_offset_m=0.02)
    for distance_m in (1.0, 10.0, 100.0):
        scan = fire([(sheet((distance_m, 0, 0), (-1, 0, 0)), WALL)], beam=beam)
        captured = sn.optics.captured_fraction(
            distance_m,
            detector_radius_m=0.01,
            detector_offset_m=0.02,
            exit_radius_m=0.01,
            half_divergence_rad=4e-3,
            half_divergence_y_rad=1e-3,
        )
        assert float(scan.intensity[0, 0]) == pytest.approx(0.5 / np.pi * captured, rel=1e-4)


@pytest.mark.parametrize("tilt_mrad", [0.0, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0])
def test_a_mirror_seen_head_on_sends_back_a_lobe_as_wide_as_the_beam(tilt_mrad):
    beam = sn.Beam(half_divergence_rad=1.5e-3, exit_radius_m=0.01, detector_radius_m=2.0)
    normal = (-np.cos(tilt_mrad * 1e-3), np.sin(tilt_mrad * 1e-3), 0.0)
    scan = fire([(sheet((5, 0, 0), normal, 2.0), sn.Mirror(reflectance=0.9, roughness=1e-4))], beam=beam)
    # as bright as a beam twice as long would be, and as narrow; beyond it the facets' own lobe
    wide, alpha2 = 2 * np.tan(0.75e-3) ** 2, 2e-8
    c2, s2 = np.cos(tilt_mrad * 1e-3) ** 2, np.sin(tilt_mrad * 1e-3) ** 2
    peak = 0.9 / (4 * np.pi * (alpha2 + wide))
    lobe = 0.9 * alpha2 / (4 * np.pi * (s2 + alpha2 * c2) ** 2 * np.sqrt(c2 + alpha2 * s2))
    expected = max(min(lobe, peak), peak * np.exp(-s2 / wide))
    assert float(scan.intensity[0, 0]) == pytest.approx(expected, rel=2e-3)


def test_reflectance_per_face_and_per_vertex():
    mesh = sheet((5, 0, 0), (-1, 0, 0), 40.0)
    by_face = sn.Mesh(mesh.vertices, mesh.faces, face_properties={"shade": np.array([0.2, 0.8])})
    by_vertex = sn.Mesh(
        mesh.vertices, mesh.faces, vertex_properties={"bands": np.array([[0, 0.1], [0, 0.3], [0, 0.9], [0, 0.5]])}
    )
    scan = fire([(by_face, sn.Lambertian(reflectance="shade"))], ANGLES[:28] + tuple(-a for a in ANGLES[1:28]))
    values = np.array([0.2, 0.8])[scan.face_id[0]]
    np.testing.assert_allclose(scan.intensity[0], values / np.pi * 5 / scan.range_m[0], rtol=1e-4)
    assert set(scan.face_id[0]) == {0, 1}

    # between vertices, as the property interpolates itself; through a coat it enters the coat's factors too
    for material, law in (
        (sn.Lambertian(reflectance="bands", band=1), lambda c, r: r / np.pi * c),
        (
            sn.TwoLayer(**COATED | {"reflectance": "bands"}, band=1, layering="plastic"),
            lambda c, r: sn.optics.two_layer_monostatic(
                c, n=1.5, roughness=0.3, reflectance=r, diffuse_roughness=0.3, layering="plastic"
            ),
        ),
    ):
        scan = fire([(by_vertex, material)], ANGLES[:28])
        scene = sn.Scene()
        scene.add(by_vertex)
        directions = np.stack([COS[:28], np.sin(np.deg2rad(ANGLES[:28])), 0 * COS[:28]], axis=-1)
        reflectance = sn.RayCaster(scene).cast((0, 0, 0), directions).property("bands")[:, 1]
        np.testing.assert_allclose(scan.intensity[0], law(COS[:28], reflectance), rtol=1e-4)


def test_a_spectrum_is_read_at_the_laser_s_wavelength():
    wall = (sheet((5, 0, 0), (-1, 0, 0)), sn.Lambertian(reflectance=((800e-9, 0.2), (1000e-9, 0.6))))
    for wavelength_m, reflectance in ((800e-9, 0.2), (905e-9, 0.41), (1000e-9, 0.6)):
        beam = OPEN.model_copy(update={"wavelength_m": wavelength_m})
        assert float(fire([wall], beam=beam).intensity[0, 0]) == pytest.approx(reflectance / np.pi, rel=1e-4)


# --- media ------------------------------------------------------------------------------------------------------------


def test_fog_dims_by_beer_and_lambert():
    fog = sn.media.fog(visibility_m=200.0)
    wall = [(sheet((50, 0, 0), (-1, 0, 0)), WALL)]
    clear = fire(wall).intensity[0, 0]
    dimmed = fire(wall, atmosphere=fog, atmospheric_returns="off").intensity[0, 0]
    assert float(dimmed / clear) == printed("0.2236")
    once = fire(wall, atmosphere=fog, atmospheric_returns="off", round_trip=False).intensity[0, 0]
    assert float(once / clear) == pytest.approx(np.sqrt(0.223607), rel=1e-4)


def test_a_fog_bank_dims_only_what_is_inside_or_behind_it():
    bank = sn.media.fog(visibility_m=100.0, refractive_index=1.0)
    alpha = bank.at(905e-9).extinction_per_m
    for wall_m, inside_m in ((5.0, 0.0), (15.0, 5.0), (40.0, 20.0)):
        objects = [(slab(10, 30, 200), bank), (sheet((wall_m, 0, 0), (-1, 0, 0)), WALL)]
        scan = fire(objects, max_depth=2, atmospheric_returns="off")
        assert float(scan.intensity[0, 0]) == pytest.approx(0.5 / np.pi * np.exp(-2 * alpha * inside_m), rel=1e-4)
        assert scan.range_m[0, 0] == pytest.approx(wall_m, rel=1e-6)
        assert scan.object_id[0, 0] == 1


@pytest.mark.parametrize("roughness", [1e-6, None], ids=["dielectric", "volume"])
def test_from_below_a_calm_surface_mirrors_everything_beyond_the_critical_angle(roughness):
    """Up through water at 60 degrees and back down to the ground: only what the surface scatters is lost."""
    body = VACUUM_TO_WATER if roughness is None else sn.Dielectric(medium=VACUUM_TO_WATER, roughness=roughness)
    scene, wide = sn.Scene(), sn.Beam(detector_radius_m=2.0)
    scene.add(slab(-30, 30, 60.0).transformed(sn.Pose((0, 0, -29.0))), material=body)  # its top at z = 1
    scene.add(sheet((0, 0, -1.0), (0, 0, 1), 59.0), material=WALL)
    pattern = sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(30.0,), time_s=(0.0,), rate_hz=10)
    env = sn.Environment(scene)
    lidar = env.attach(sn.Lidar(pattern=pattern, mode="relative", beam=wide, max_depth=1, calibrated_index=1.0))
    for _ in env.run(duration_s=0.1):
        pass
    scan = lidar.read()
    assert scan.cause[0, 0] == sn.Cause.REFLECTION
    assert scan.range_m[0, 0] == pytest.approx(1.33 * 6.0, rel=1e-6)
    cone2, alpha2 = np.tan(0.75e-3) ** 2, 2 * (1e-4 if roughness is None else roughness) ** 2
    kept = cone2 / (alpha2 * 0.5 + cone2)
    assert scan.intensity[0, 0] == pytest.approx(kept**2 * 0.5 / np.pi * 0.5, rel=1e-4)
