"""Depth cameras with the errors of real ones: rays of a second eye and of parts of pixels, against closed forms."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.physics.imaging.depth_errors import (
    FlyingPixels,
    QuadraticError,
    StereoError,
    TimeOfFlightError,
    phase_std,
    returned_power,
    signal_electrons,
    stereo_std,
)

WIDTH, HEIGHT, FOCAL_PX = 160, 40, 120.0
PATTERN = sn.patterns.Pinhole(width=WIDTH, height=HEIGHT, focal_px=(FOCAL_PX, FOCAL_PX), rate_hz=10.0)
GRAY = sn.Lambertian(reflectance=0.5)


def plate(scene, x, left, right, material=GRAY):
    """A wall across the view at depth x, from y = left down to y = right."""
    box = sn.shapes.box(0.01, left - right, 20.0)
    scene.add(box, pose=sn.Pose((x + 0.005, 0.5 * (left + right), 0.0)), material=material)


def image(scene, *errors, outputs=("depth",), steps=1, pattern=PATTERN, **options):
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.1), seed=3, **options)
    camera = env.attach(
        sn.DepthCamera(pattern=pattern, outputs=set(outputs), errors=errors, min_range_m=0.1, max_range_m=50.0)
    )
    for _ in range(steps):
        env.step()
    return camera


def wall(x, material=GRAY):
    scene = sn.Scene()
    plate(scene, x, 60.0, -60.0, material)
    return scene


@pytest.fixture(scope="module")
def step_scene():
    """A near plate before the right half of a far wall; its left edge lies on the axis."""
    scene = sn.Scene()
    plate(scene, 2.0, 0.0, -60.0)
    plate(scene, 5.0, 60.0, -60.0)
    return scene


def test_the_band_that_the_second_eye_does_not_see_is_as_wide_as_disparities_differ(step_scene):
    """B f (1/z1 - 1/z2) pixels of the far wall, left of the near plate's edge."""
    baseline = 0.5
    depth = image(step_scene, StereoError(baseline_m=baseline, disparity_std_px=0.0, subpixel_bits=None)).read().depth_m
    expected = baseline * FOCAL_PX * (1.0 / 2.0 - 1.0 / 5.0)  # 18 px
    outside = np.ceil(baseline * FOCAL_PX / 5.0 - 0.5)  # 12 columns beyond the edge of the second image
    lost = depth == 0.0
    assert (lost == lost[0]).all()
    columns = np.flatnonzero(lost[0])
    np.testing.assert_array_equal(columns[: int(outside)], np.arange(outside))
    shadow = columns[columns >= outside]
    assert len(shadow) == pytest.approx(expected, abs=1)
    np.testing.assert_array_equal(shadow, np.arange(WIDTH // 2 - len(shadow), WIDTH // 2))
    np.testing.assert_allclose(depth[:, WIDTH // 2 :], 2.0, rtol=1e-5)
    seen = image(step_scene, StereoError(baseline_m=baseline, disparity_std_px=0.0, occlusion=False)).read().depth_m
    assert ((seen == 0.0).sum(axis=1) == outside).all()


def test_stereo_noise_of_a_wall_grows_as_the_square_of_its_depth():
    error = StereoError(baseline_m=0.1, disparity_std_px=0.05, subpixel_bits=None)
    spread = {}
    for z in (2.0, 4.0):
        camera = image(wall(z), error)
        spread[z] = (camera.read().depth_m - camera.truth().depth_m)[:, 10:].std()
        law = float(stereo_std(z, focal_px=FOCAL_PX, baseline_m=0.1, disparity_std_px=0.05))
        assert spread[z] == pytest.approx(law, rel=0.05)
        np.testing.assert_allclose(camera.truth().depth_m, z, rtol=1e-5)
    assert spread[4.0] / spread[2.0] == pytest.approx(4.0, rel=0.07)


def test_phase_noise_follows_range_reflectance_and_incidence_of_each_pixel():
    figures = {"modulation_hz": 100e6, "signal_e": 2e4, "ambiguity_m": 40.0}
    scene = sn.Scene()
    plate(scene, 3.0, 60.0, 0.0, sn.Lambertian(reflectance=0.8))
    plate(scene, 3.0, 0.0, -60.0, sn.Lambertian(reflectance=0.1))
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.1), seed=3)
    camera = env.attach(
        sn.DepthCamera(pattern=PATTERN, outputs={"range"}, errors=[TimeOfFlightError(**figures)], max_range_m=50.0)
    )
    errors = []
    for _ in range(40):
        env.step()
        errors.append(camera.read().range_m - camera.truth().range_m)
    std = np.std(errors, axis=0)
    true = camera.truth().range_m.astype(np.float64)
    reflectance = np.where(np.arange(WIDTH) < WIDTH // 2, 0.8, 0.1)
    signal = signal_electrons(true, signal_e=2e4, reflectance=reflectance, cos_incidence=3.0 / true)
    law = phase_std(signal, modulation_hz=100e6)
    ratio = std / law
    assert ratio.mean() == pytest.approx(1.0, abs=0.02)
    for part in (ratio[:, :40], ratio[:, 40:80], ratio[:, 80:120], ratio[:, 120:]):
        assert part.mean() == pytest.approx(1.0, abs=0.03)


def test_flying_pixels_lie_between_the_surfaces_by_the_law_and_on_the_edge_alone():
    scene = sn.Scene()
    edge = -0.3 / FOCAL_PX * 2.0  # 0.3 of a pixel right of the middle of the image
    plate(scene, 2.0, 60.0, edge, sn.Lambertian(reflectance=0.25))
    plate(scene, 5.0, 60.0, -60.0, sn.Lambertian(reflectance=0.5))
    rays = 5
    camera = image(scene, FlyingPixels(rays=rays), outputs=("range",))
    mixed, true = camera.read().range_m, camera.truth().range_m
    changed = np.abs(mixed - true) > 0.02
    assert set(np.flatnonzero(changed.any(axis=0))) == {WIDTH // 2}
    column = mixed[:, WIDTH // 2].astype(np.float64)
    assert ((column > 2.0) & (column < 5.5)).all()

    # Column W/2 runs from the middle of the image to one pixel right of it: of five rays, at 0.1, 0.3 - 0, 0.5, ...
    covered = np.array([0.1, 0.3, 0.5, 0.7, 0.9]) < 0.3
    tilt = true[:, WIDTH // 2] / 5.0
    near, far = 2.0 * tilt, 5.0 * tilt
    w_near = covered.mean() * returned_power(near, reflectance=0.25, cos_incidence=2.0 / near)
    w_far = (1 - covered.mean()) * returned_power(far, reflectance=0.5, cos_incidence=5.0 / far)
    alternatives = [(w_near * near + w_far * far) / (w_near + w_far)]
    two = 2 * w_near, 0.75 * w_far  # the ray at 0.3 sits on the edge itself, and may fall on either side
    alternatives.append((two[0] * near + two[1] * far) / (two[0] + two[1]))
    off = np.min([np.abs(column - expected) for expected in alternatives], axis=0)
    np.testing.assert_allclose(off, 0.0, atol=5e-3)


def test_a_timed_pixel_on_an_edge_mixes_and_before_the_sky_stays_where_it_is():
    scene = sn.Scene()
    plate(scene, 2.0, 60.0, -0.25 / FOCAL_PX * 2.0)
    error = TimeOfFlightError(modulation_hz=1e8, signal_e=1e12, ambiguity_m=60.0, rays=4)
    camera = image(scene, error, outputs=("range",))
    column = WIDTH // 2
    measured = camera.read().range_m
    np.testing.assert_allclose(measured[:, column], measured[:, column - 1], rtol=2e-3)
    assert (measured[:, column + 1 :] == 0.0).all()
    assert (camera.truth().range_m[:, column + 1 :] == 50.0).all()


def test_the_law_holds_along_depth_or_range():
    for along in ("depth", "range"):
        camera = image(wall(4.0), QuadraticError(square_per_m=0.01, along=along), outputs=("depth", "range"))
        values = camera.read().images[along] - camera.truth().images[along]
        law = 0.01 * camera.truth().images[along].astype(np.float64) ** 2
        assert (values / law).std() == pytest.approx(1.0, abs=0.04)


def test_errors_of_a_batch_are_those_of_its_worlds_alone():
    error = StereoError(baseline_m=0.2, disparity_std_px=0.1)
    together = image(wall(3.0), error, worlds=3).read().depth_m
    alone = image(wall(3.0), error, worlds=1, first_world=2).read().depth_m
    np.testing.assert_array_equal(together[2], alone[0])
    assert (together[0] != together[1]).mean() > 0.5


def test_errors_follow_each_other_in_order():
    errors = (StereoError(baseline_m=0.2, disparity_std_px=0.1), {"kind": "quantization", "step_m": 0.01})
    depth = image(wall(3.0), *errors).read().depth_m.astype(np.float64)
    steps = depth[depth > 0.0] / 0.01
    np.testing.assert_allclose(steps, np.rint(steps), atol=2e-3)


@pytest.mark.parametrize(
    ("errors", "pattern", "told"),
    [
        ([{"kind": "stereo", "baseline_m": 0.1}], "fisheye", "it must look through pinholes without distortion"),
        ([{"kind": "quadratic", "slope": 0.1}], "fisheye", "along 'depth' with a fisheye"),
        ([{"kind": "sterio", "baseline_m": 0.1}], "pinhole", "did you mean 'stereo'"),
        ([{"kind": "stereo"}], "pinhole", "baseline_m is missing"),
    ],
)
def test_what_does_not_fit_is_told(errors, pattern, told):
    fisheye = sn.patterns.Fisheye(width=32, height=32, focal_px=(12.0, 12.0), rate_hz=10.0)
    with pytest.raises(SpecError, match=told):
        sn.DepthCamera(pattern=fisheye if pattern == "fisheye" else PATTERN, errors=errors)


@pytest.mark.parametrize("jitter_rad", [1e-3, 2e-2])
@pytest.mark.parametrize(
    "error",
    [
        StereoError(baseline_m=0.05, disparity_std_px=0.0, subpixel_bits=None),
        FlyingPixels(rays=3),
        TimeOfFlightError(modulation_hz=10e6, signal_e=1e12, rays=2),
    ],
    ids=lambda error: error.kind,
)
def test_rays_of_errors_are_turned_as_those_of_their_pixels(error, jitter_rad):
    """A flat wall across the axis is at one depth, however rays point beside their pixels."""
    env = sn.Environment(wall(4.0), sn.worlds.Static(step_s=0.1), worlds=2, seed=3)
    options = {"randomize": sn.Randomization(ray_jitter_rad=jitter_rad), "errors": (error,), "max_range_m": 50.0}
    camera = env.attach(sn.DepthCamera(pattern=PATTERN, **options), pose=[sn.Pose(), sn.Pose((0.0, 1.0, 0.0))])
    env.step()
    image, beyond = camera.read(), int(np.ceil(0.05 * FOCAL_PX / 4.0)) + 1  # columns that the second eye may not see
    seen = image.depth_m[..., beyond:]
    assert image.valid[..., beyond:].all()
    np.testing.assert_allclose(seen, 4.0, atol=1.5e-3)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (StereoError(baseline_m=0.1), "errors has 'stereo' with a Fisheye that bends"),
        (QuadraticError(), "errors has 'quadratic' along 'depth' with a fisheye"),
        ({"kind": "quantization", "step_m": 0.01}, "errors has 'quantization' along 'depth' with a fisheye"),
    ],
)
def test_lenses_that_may_be_drawn_must_fit_the_errors_too(error, message):
    wide = sn.patterns.Fisheye.from_fov(WIDTH, HEIGHT, 220.0, rate_hz=10.0)
    for options in ({"pattern": wide}, {"pattern": PATTERN, "randomize": {"projections": (PATTERN, wide)}}):
        with pytest.raises(SpecError, match=message):
            sn.DepthCamera(errors=(error,), **options)
