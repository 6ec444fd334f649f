"""Exposures of a camera: when each cell looks and where, whose image it is, and what is told of it."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.physics.fields import Sun
from sensorium.physics.imaging import Band, PixelNoise, band_value

GREEN = Band(name="green", filter=((540e-9, 1.0), (560e-9, 1.0)))
COLUMNS, ROWS, FACTOR = 8, 6, 3
MS = 1_000_000
SPEED_M_S, WALL_M = 20.0, 50.0
SUN = Sun(elevation_deg=40.0, azimuth_deg=180.0)  # from behind a camera that looks along x


def spec(**options):
    chip = {"width_m": 6.4e-3, "height_m": 4.8e-3, "columns": COLUMNS, "rows": ROWS, "exposure_s": 4e-3}
    lens = {"focal_length_m": 6e-3, "pupil_distance_m": 6.01e-3, "pupil_radius_m": 0.5e-3}
    grid = {"bands": (GREEN,), "sample_factor": FACTOR, "pupil_rays": 2, "bits": 16, "full_well_e": 1e9}
    return sn.Camera(**chip | lens | grid | options)


def wall():
    """Across x, much larger than the view."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(1.0, 900.0, 900.0), pose=sn.Pose((WALL_M + 0.5, 0.0, 0.0)), label="wall")
    return scene


def caster(camera=None, *, scene=None, pose=None, worlds=None, hide=(), **options):
    """Of a camera on a body that flies at the wall, with all of its first 100 ms in the history."""
    flight = sn.paths.Line(start=(0.0, 0.0, 0.0), velocity=(SPEED_M_S, 0.0, 0.0))
    world = sn.worlds.Kinematic({"eye": flight}, step_s=0.1)
    env = sn.Environment(wall() if scene is None else scene, world, sun=SUN, worlds=worlds, **options)
    sensor = env.attach(spec() if camera is None else camera, body="eye", pose=pose, hide=hide)
    made = sensor._model._caster
    env.step()
    return made


def pixel_of_cell(count, of):
    """Number of the pixel that each cell belongs to, along rows or columns; those of the margin go with the edge."""
    margin = of.pipeline.table.margin
    return np.clip((np.arange(count * FACTOR + 2 * margin) - margin) // FACTOR, 0, count - 1)


# --- when and where cells look ----------------------------------------------------------------------------------------


def test_an_image_lasts_from_the_start_of_the_first_row_to_the_end_of_the_last():
    assert caster().duration_ns == 4 * MS
    assert caster(spec(motion_blur=True)).duration_ns == 4 * MS
    assert caster(spec(shutter="rolling", line_time_s=2e-3)).duration_ns == (4 + 5 * 2) * MS
    assert caster(spec(exposure_s=1e-11)).duration_ns == 1


def test_rays_go_through_cells_of_the_finer_grid_and_of_a_margin_around_it():
    of = caster()
    margin = of.pipeline.table.margin
    assert margin > 0
    assert of.rays.shape == (ROWS * FACTOR + 2 * margin, COLUMNS * FACTOR + 2 * margin)
    inner = of.rays.direction_S[margin:-margin, margin:-margin]
    np.testing.assert_allclose(inner, spec().projection(factor=FACTOR).rays().direction_S, atol=1e-6)

    # Of a cell of the margin too: as far beyond the edge as the pitch says
    x, y, z = of.rays.direction_S[0, 0]
    pitch_m = 0.8e-3 / FACTOR
    assert y / x == pytest.approx((COLUMNS * FACTOR / 2 + margin - 0.5) * pitch_m / 6.01e-3, rel=1e-5)
    assert z / x == pytest.approx((ROWS * FACTOR / 2 + margin - 0.5) * pitch_m / 6.01e-3, rel=1e-5)


def test_a_global_shutter_has_one_time_for_all():
    assert not caster().rays.offset_ns.any()


def test_rows_of_a_rolling_shutter_look_in_the_middle_of_their_own_exposure():
    of = caster(spec(shutter="rolling", line_time_s=2e-3))
    expected = pixel_of_cell(ROWS, of) * 2 * MS + 2 * MS
    np.testing.assert_array_equal(of.rays.offset_ns, np.broadcast_to(expected[:, None], of.rays.shape))


@pytest.mark.parametrize("line_s", [0.0, 2e-3])
@pytest.mark.parametrize("factor", [1, 2, 3, 5])
def test_cells_of_a_blurred_pixel_divide_its_exposure_among_them(factor, line_s):
    """Each of m^2 even stretches has one cell of the pixel, in whichever row it is exposed."""
    shutter = {"shutter": "rolling", "line_time_s": line_s} if line_s else {}
    of = caster(spec(motion_blur=True, exposure_s=3.6e-3, sample_factor=factor, **shutter))
    margin, line_ns = of.pipeline.table.margin, round(line_s * 1e9)
    time_ns = of.rays.offset_ns[margin : margin + ROWS * factor, margin : margin + COLUMNS * factor]
    since = time_ns.reshape(ROWS, factor, COLUMNS, factor) - np.arange(ROWS)[:, None, None, None] * line_ns
    stretch = np.sort(since.transpose(0, 2, 1, 3).reshape(ROWS, COLUMNS, factor**2)) // (3_600_000 // factor**2)
    np.testing.assert_array_equal(stretch, np.broadcast_to(np.arange(factor**2), stretch.shape))
    assert of.rays.offset_ns.max() < of.duration_ns


def test_rays_of_an_exposure_of_a_nanosecond_all_start_with_it():
    of = caster(spec(motion_blur=True, exposure_s=1e-9, sample_factor=1))
    assert of.duration_ns == 1
    assert not of.rays.offset_ns.any()


def test_where_in_its_stretch_a_cell_looks_differs_from_pixel_to_pixel_and_fills_it_evenly():
    """Against the means and the largest gap of numbers spread over 0 to 1; neighbors are far apart."""
    of = caster(spec(motion_blur=True, sample_factor=1, columns=32, rows=24))
    margin = of.pipeline.table.margin
    share = of.rays.offset_ns[margin : margin + 24, margin : margin + 32] / (4 * MS)
    assert share.mean() == pytest.approx(0.5, abs=0.01)
    assert np.diff(np.sort(share.ravel())).max() < 8 / share.size
    for axis in (0, 1):
        assert np.abs(np.diff(share, axis=axis)).min() > 0.2


def test_a_cell_sees_the_wall_from_where_the_camera_is_at_its_time():
    """From x = v t a ray meets it after (wall - v t) / d_x; a still image is of the middle of the exposure."""
    start_ns = 30 * MS
    rolling = {"shutter": "rolling", "line_time_s": 2e-3}
    for options in ({}, rolling, {"motion_blur": True}, {"motion_blur": True, **rolling}):
        of = caster(spec(**options))
        image, _ = of.expose(start_ns, 0)
        margin = of.pipeline.table.margin
        inner = (slice(margin, margin + ROWS * FACTOR), slice(margin, margin + COLUMNS * FACTOR))
        time_s = 1e-9 * (start_ns + (of.rays.offset_ns[inner] if options else 2 * MS))
        expected = (WALL_M - SPEED_M_S * time_s) / of.rays.direction_S[inner][..., 0]
        np.testing.assert_allclose(image.distance_m, expected, rtol=1e-5)


# --- what is told of an image -----------------------------------------------------------------------------------------


def test_an_image_has_the_shapes_of_its_pixels_and_of_their_cells_without_the_margin():
    image, _ = caster(spec(adc=sn.Adc(bits=12))).expose(0, 0)
    cells = (ROWS * FACTOR, COLUMNS * FACTOR)
    assert image.image.shape == image.raw.shape == (ROWS, COLUMNS)
    assert image.ideal.shape == (*cells, 1)
    assert image.inverse_depth.shape == image.axial.shape == cells
    assert image.bands == ("green",)


def test_depth_is_along_the_axis_or_for_a_fisheye_along_the_ray():
    straight, _ = caster(pose=sn.Pose((-SPEED_M_S * 2e-3, 0.0, 0.0))).expose(0, 0)
    np.testing.assert_allclose(straight.inverse_depth, 1.0 / WALL_M, rtol=1e-5)
    np.testing.assert_allclose(straight.axial, spec().projection(factor=FACTOR).rays().direction_S[..., 0], rtol=1e-6)
    fisheye = spec(lens="fisheye")
    wide, _ = caster(fisheye, pose=sn.Pose((-SPEED_M_S * 2e-3, 0.0, 0.0))).expose(0, 0)
    assert (wide.axial == 1.0).all()
    forward = fisheye.projection(factor=FACTOR).rays().direction_S[..., 0]
    np.testing.assert_allclose(wide.inverse_depth, forward / WALL_M, rtol=1e-5)


def test_an_image_tells_its_times_and_the_truth_that_of_no_wrong_clock():
    image, truth = caster(spec(timing=sn.Timing(rate_hz=10.0, clock_offset_s=0.5))).expose(20 * MS, 7)
    assert (image.start_ns, image.end_ns) == (20 * MS, 24 * MS)
    assert image.time_ns == 520 * MS
    assert (truth().start_ns, truth().end_ns, truth().time_ns) == (20 * MS, 24 * MS, 20 * MS)


def test_poses_are_those_of_the_camera_while_it_looked():
    mount = sn.Pose.from_euler_deg((0.1, 0.2, 0.3), yaw=20.0)
    image, _ = caster(pose=mount).expose(30 * MS, 0)
    assert image.X_WS.shape == (1, 1, 1)
    np.testing.assert_allclose(image.X_WS.position[0, 0, 0], (0.1 + SPEED_M_S * 0.032, 0.2, 0.3), atol=1e-9)
    moving, _ = caster(spec(motion_blur=True), pose=mount).expose(30 * MS, 0)
    x = moving.X_WS.position[:, 0, 0, 0]
    np.testing.assert_allclose(x[[0, -1]], [0.1 + SPEED_M_S * 0.030, 0.1 + SPEED_M_S * 0.034], atol=1e-6)


def test_the_truth_is_the_same_light_on_quiet_pixels_behind_a_perfect_lens():
    flaws = {"noise": PixelNoise(read_noise_e=1e7), "vignetting_per_m": 200.0, "adc": sn.Adc(bits=6)}
    image, truth = caster(spec(**flaws)).expose(10 * MS, 1)
    assert truth().raw is None
    assert truth().ideal is image.ideal
    assert np.ptp(truth().image) <= 1  # an even wall under an even sky
    assert 20_000 < truth().image.max() < 50_000
    assert np.ptp(image.image) > 1000


def test_what_is_kept_of_an_image_stays_and_its_truth_can_be_asked_for_late():
    """In fog the wall changes its brightness from image to image, as the camera comes nearer."""
    of = caster(spec(noise=PixelNoise(read_noise_e=1e6)), atmosphere=sn.media.fog(visibility_m=80.0))
    image, truth = of.expose(10 * MS, 1)
    kept, early = {name: getattr(image, name).copy() for name in ("image", "ideal", "inverse_depth")}, truth().image
    others = [of.expose((20 + 10 * tick) * MS, 2 + tick) for tick in range(6)]
    assert all((other.ideal != image.ideal).all() for other, _ in others)
    for name, before in kept.items():
        np.testing.assert_array_equal(getattr(image, name), before, err_msg=name)
    np.testing.assert_array_equal(truth().image, early)


def test_stages_are_those_of_the_first_camera_of_the_first_world():
    poses = [sn.Pose(), sn.Pose.from_euler_deg(yaw=180.0)]
    camera = spec(noise=PixelNoise(read_noise_e=1e7), adc=sn.Adc(bits=12))
    image, _ = caster(camera, pose=poses, worlds=2, first_world=3).expose(10 * MS, 5)
    stages = dict(image.stages())
    np.testing.assert_array_equal(stages["gain and gamma"], image.image[0, 0])
    np.testing.assert_array_equal(stages["codes"], image.raw[0, 0])
    assert stages["ideal"].shape == image.ideal[0, 0].shape
    assert not np.array_equal(image.image[0, 0], image.image[0, 1])


# --- whose image it is ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("worlds", "axes"), [(None, (2,)), (2, (2, 2))])
def test_axes_are_worlds_and_then_cameras(worlds, axes):
    """One camera looks at the wall, the other away from it, at the sky and the ground."""
    poses = [sn.Pose(), sn.Pose.from_euler_deg((5.0, 0.0, 0.0), yaw=180.0)]
    image, truth = caster(spec(adc=sn.Adc(bits=12)), pose=poses, worlds=worlds).expose(0, 0)
    for array in (image.image, image.raw, image.ideal, image.inverse_depth, truth().image):
        assert array.shape[: len(axes)] == axes
    assert np.isfinite(image.distance_m[..., 0, :, :]).all()
    assert np.isinf(image.distance_m[..., 1, :, :]).all()
    sky = band_value(SUN.sky_radiance, GREEN)
    np.testing.assert_allclose(image.ideal[..., 1, : ROWS * FACTOR // 2, :, 0], sky, rtol=1e-5)
    assert image.X_WS.shape == (1, worlds or 1, 2)


def test_random_numbers_belong_to_the_image_the_camera_and_the_world():
    camera = spec(noise=PixelNoise(read_noise_e=1e7))
    poses = [sn.Pose(), sn.Pose()]
    batch = caster(camera, pose=poses, worlds=3, seed=2)
    image = batch.expose(10 * MS, 5)[0].image
    heads = image.reshape(6, -1)
    assert len({head.tobytes() for head in heads}) == 6

    # The same when it is taken again, in a batch of its own, and in another order; not at another tick
    batch.expose(20 * MS, 6)
    np.testing.assert_array_equal(batch.expose(10 * MS, 5)[0].image, image)
    alone = caster(camera, pose=poses, worlds=1, first_world=2, seed=2)
    np.testing.assert_array_equal(alone.expose(10 * MS, 5)[0].image[0], image[2])
    assert (batch.expose(10 * MS, 6)[0].image != image).mean() > 0.9


def test_bodies_that_are_hidden_are_not_seen():
    scene = wall()
    scene.add(sn.shapes.box(1.0, 1.0, 1.0), body="eye", label="housing")
    inside, _ = caster(scene=scene).expose(0, 0)
    clear, _ = caster(scene=scene, hide=("eye",)).expose(0, 0)
    assert inside.distance_m.max() < 1.0
    assert clear.distance_m.min() > 49.0
