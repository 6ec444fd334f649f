"""Stereo: the laws of disparity, and what the kernel makes of true depths."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.imaging.depth_errors import (
    Frames,
    StereoError,
    depth_of_disparity,
    disparity_of_depth,
    match_loss,
    stereo_depth,
    stereo_std,
)
from sensorium.random import stream_key

WIDTH, HEIGHT = 400, 100

# RealSense D455 at 848 x 480 (devices.md 4.1)
FOCAL_PX, BASELINE_M = 431.657, 0.095


def frames(tick=0, **others):
    return Frames(np.array(stream_key(3, "stereo"), np.uint32), tick, **others)


def measured(depth_m, *, cosine=1.0, seen=True, tick=0, heads=1, sensors=1, focal_px=FOCAL_PX, **figures):
    depth = np.full((heads, WIDTH * HEIGHT), depth_m, np.float32)
    stereo_depth(
        depth,
        np.full_like(depth, cosine),
        np.full(depth.shape, seen),
        StereoError(**{"baseline_m": BASELINE_M, "subpixel_bits": None, **figures}),
        focal_px=focal_px,
        width=WIDTH,
        frames=frames(tick, sensors=sensors),
    )
    return depth.reshape(heads, HEIGHT, WIDTH)


def right_of_the_band(depth, true_m):
    """Columns that both eyes see."""
    return depth[..., int(np.ceil(FOCAL_PX * BASELINE_M / true_m)) :]


def test_disparity_and_depth_are_inverse():
    z = np.array([0.4, 1.0, 6.0])
    d = disparity_of_depth(z, focal_px=FOCAL_PX, baseline_m=BASELINE_M)
    np.testing.assert_allclose(d, FOCAL_PX * BASELINE_M / z, rtol=1e-15)
    np.testing.assert_allclose(depth_of_disparity(d, focal_px=FOCAL_PX, baseline_m=BASELINE_M), z, rtol=1e-15)


@pytest.mark.parametrize(("focal_px", "least_mm"), [(651.558, 491), (431.657, 325), (390.935, 294)])
def test_the_search_of_126_pixels_gives_the_least_distances_of_the_d455(focal_px, least_mm):
    """MinZ = f B / 126 (devices.md 4.1), as a law and as what the kernel loses."""
    least = float(depth_of_disparity(126.0, focal_px=focal_px, baseline_m=0.095))
    assert round(least * 1e3) == pytest.approx(least_mm, abs=1)
    figures = {"disparity_std_px": 0.0, "max_disparity_px": 126.0, "focal_px": focal_px}
    assert (measured(least * 1.001, **figures)[..., 130:] > 0.0).all()
    assert (measured(least * 0.999, **figures) == 0.0).all()


def test_two_percent_at_four_meters_is_a_fifth_of_a_pixel():
    """2 % at 4 m means s = 0.20 px (devices.md 4.1)."""
    std = stereo_std(4.0, focal_px=FOCAL_PX, baseline_m=BASELINE_M, disparity_std_px=0.20)
    assert std / 4.0 == pytest.approx(0.02, rel=0.03)


@pytest.mark.parametrize("z", [1.0, 2.0, 4.0])
def test_the_error_grows_as_the_square_of_depth(z):
    errors = right_of_the_band(measured(z, disparity_std_px=0.08), z) - z
    law = stereo_std(z, focal_px=FOCAL_PX, baseline_m=BASELINE_M, disparity_std_px=0.08)
    assert errors.std() == pytest.approx(float(law), rel=4.0 / np.sqrt(2 * errors.size))
    assert abs(errors.mean()) < 5 * law / np.sqrt(errors.size) + law**2 / z  # E[1/d] is above 1/E[d]


def test_disparities_are_whole_steps():
    depth = right_of_the_band(measured(2.0, disparity_std_px=0.3, subpixel_bits=5), 2.0)
    codes = 32.0 * FOCAL_PX * BASELINE_M / depth.astype(np.float64)
    np.testing.assert_allclose(codes, np.rint(codes), atol=2e-3)
    assert len(np.unique(np.rint(codes))) > 20
    whole = right_of_the_band(measured(2.0, disparity_std_px=0.0, subpixel_bits=0), 2.0)
    np.testing.assert_allclose(whole, FOCAL_PX * BASELINE_M / np.rint(FOCAL_PX * BASELINE_M / 2.0), rtol=1e-6)


def test_points_left_of_the_second_eyes_image_are_lost():
    """The band is d = f B / z pixels wide."""
    depth = measured(1.0, disparity_std_px=0.0)
    lost = (depth == 0.0).all(axis=(0, 1)).sum()
    assert lost == np.ceil(FOCAL_PX * BASELINE_M - 0.5)
    assert (depth[..., lost:] > 0.0).all()


def test_what_the_second_eye_does_not_see_and_what_is_not_there_has_no_depth():
    assert (measured(2.0, seen=False) == 0.0).all()
    assert (measured(0.0) == 0.0).all()


def test_what_is_farther_than_the_least_disparity_has_no_depth():
    far = FOCAL_PX * BASELINE_M / 4.0
    assert (right_of_the_band(measured(0.99 * far, disparity_std_px=0.0, min_disparity_px=4.0), far) > 0.0).all()
    assert (measured(1.01 * far, disparity_std_px=0.0, min_disparity_px=4.0) == 0.0).all()


def test_loss_rises_at_grazing_incidence_by_its_law():
    law = match_loss([1.0, 0.5, 0.1, 0.0], loss=0.02, grazing_cosine=0.1)
    assert law[0] == pytest.approx(0.02 + 0.98 * np.exp(-10.0))
    assert law[-1] == pytest.approx(1.0)
    assert (np.diff(law) > 0.0).all()
    for cosine, expected in zip((1.0, 0.1), law[[0, 2]], strict=True):
        depth = right_of_the_band(measured(4.0, cosine=cosine, loss=0.02, grazing_cosine=0.1), 4.0)
        share = (depth == 0.0).mean()
        assert share == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / depth.size))
    assert match_loss(0.0, loss=0.02, grazing_cosine=0.0) == 0.02


def test_numbers_belong_to_pixel_frame_world_and_sensor():
    both = measured(2.0, heads=2)
    assert abs(np.corrcoef(both[0, :, 50:].ravel(), both[1, :, 50:].ravel())[0, 1]) < 0.03
    np.testing.assert_array_equal(both[0], measured(2.0)[0])
    rig = measured(2.0, heads=2, sensors=2)
    np.testing.assert_array_equal(rig[0], both[0])
    assert (rig[1] != both[1]).mean() > 0.5
    assert (measured(2.0, tick=1) != both[:1]).mean() > 0.5


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        ({"baseline_m": 0.0}, "baseline_m is 0.0; it must be greater than 0"),
        ({"disparity_std_px": -0.1}, "disparity_std_px is -0.1"),
        ({"min_disparity_px": 5.0, "max_disparity_px": 4.0}, "max_disparity_px is 4.0; it must be above"),
        ({"loss": 1.5}, "loss is 1.5"),
        ({"disparity_std": 0.1}, "did you mean disparity_std_px"),
    ],
)
def test_bad_figures_are_told(figures, told):
    with pytest.raises(SpecError, match=told):
        StereoError(**{"baseline_m": 0.1, **figures})
    with pytest.raises(SpecError, match="depth_m is 0; it must be finite and above 0"):
        disparity_of_depth(0.0, focal_px=400.0, baseline_m=0.1)
