"""From ideal images that are written by hand to the numbers of a camera: each stage, their order, and the truth."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.physics.imaging import Band, PixelNoise, demosaiced, fixed_pattern, mosaic, spot_table
from sensorium.physics.optics import Seidel, in_focus_distance, vignetting
from sensorium.random import Stream
from sensorium.sensors.camera.pipeline import Frame, Pipeline

# Pixels that are not square, on a chip that is not either
COLUMNS, ROWS, WIDTH_M, HEIGHT_M = 12, 8, 2.4e-3, 2.4e-3
LENS = {"focal_length_m": 6e-3, "pupil_distance_m": 6.01e-3, "pupil_radius_m": 0.5e-3, "exposure_s": 1e-3}
WAVELENGTH_M = 450e-9, 550e-9, 650e-9
RGB = tuple(Band(name=name, filter=((540e-9, 1.0), (560e-9, 1.0))) for name in "rgb")
LETTERS = np.array([list("rg" * 6), list("gb" * 6)] * 4)
FIRST = Frame(0, 0, 0)


def pipeline(*, bands=1, seed=4, **options):
    chip = {"columns": COLUMNS, "rows": ROWS, "width_m": WIDTH_M, "height_m": HEIGHT_M}
    chip |= {"bits": 16, "full_well_e": 2e7, "sample_factor": 2, "pupil_rays": 2}
    spec = sn.Camera(**chip | LENS | {"bands": RGB[:bands]} | options)
    return Pipeline(spec, WAVELENGTH_M[:bands], Stream(seed, "camera"))


def grid(of, radiance):
    """Ideal images with their margin, all cells alike, in focus: an ideal image, and its inverse depths."""
    m, margin = of.spec.sample_factor, of.table.margin
    shape = ROWS * m + 2 * margin, COLUMNS * m + 2 * margin
    ideal = np.empty((*shape, len(of.spec.bands)), np.float32)
    ideal[...] = radiance
    in_focus_m = in_focus_distance(LENS["focal_length_m"], LENS["pupil_distance_m"])
    return ideal, np.full(shape, 1.0 / in_focus_m, np.float32)


def axis_electrons(radiance, wavelength_m=WAVELENGTH_M[0]):
    """L pi a^2 / d^2 A t lambda / (h c) of a pixel on the axis."""
    area_m2 = (WIDTH_M / COLUMNS) * (HEIGHT_M / ROWS)
    E = radiance * np.pi * (LENS["pupil_radius_m"] / LENS["pupil_distance_m"]) ** 2
    return E * area_m2 * LENS["exposure_s"] * wavelength_m / (6.62607015e-34 * 299_792_458.0)


def radius_m():
    """Of the middle of each pixel on the chip, from the axis."""
    x = (np.arange(COLUMNS) + 0.5 - COLUMNS / 2) * WIDTH_M / COLUMNS
    y = (np.arange(ROWS) + 0.5 - ROWS / 2) * HEIGHT_M / ROWS
    return np.hypot(x[None, :], y[:, None])


# --- lens -------------------------------------------------------------------------------------------------------------


def test_the_spots_are_those_of_the_cameras_lens_term_by_term():
    terms = {"spherical": 3e5, "astigmatism": -2e5, "curvature": 4e5, "distortion": 5e5, "coma": -6e5}
    found = pipeline(**terms).table
    expected = spot_table(
        columns=COLUMNS,
        rows=ROWS,
        pitch_m=(WIDTH_M / COLUMNS, HEIGHT_M / ROWS),
        factor=2,
        pupil_rays=2,
        coefficients=Seidel(**terms),
        **{name: value for name, value in LENS.items() if name != "exposure_s"},
    )
    assert np.abs(expected.shift).max() > 1e-3
    for name, array in expected._asdict().items():
        np.testing.assert_array_equal(getattr(found, name), array, err_msg=name)


def test_a_lens_that_is_told_by_its_distortion_blurs_and_needs_no_margin():
    plain = pipeline()
    assert plain.table.margin > 0
    for lens in ("brown", "fisheye"):
        bent = pipeline(lens=lens)
        assert bent.table.margin == 0
        np.testing.assert_array_equal(bent.table.blur, plain.table.blur)


def test_pixels_are_means_of_their_cells_and_of_nothing_in_the_margin():
    of = pipeline(bands=2)
    ideal, inverse_depth = grid(of, np.nan)
    cells = np.random.default_rng(1).uniform(1.0, 2.0, (ROWS * 2, COLUMNS * 2, 2)).astype(np.float32)
    margin = of.table.margin
    ideal[margin:-margin, margin:-margin] = cells
    expected = cells.reshape(ROWS, 2, COLUMNS, 2, 2).mean(axis=(1, 3))
    np.testing.assert_allclose(of.pixels(ideal, inverse_depth), expected, rtol=1e-5)


def test_an_ideal_image_without_its_margin_is_refused():
    of = pipeline()
    ideal, inverse_depth = grid(of, 1.0)
    margin = of.table.margin
    inner = slice(margin, -margin)
    with pytest.raises(SpecError, match=r"ideal has shape \(16, 24, 1\) and inverse_depth \(16, 24\); 8 x 12 pixels"):
        of.pixels(np.ascontiguousarray(ideal[inner, inner]), np.ascontiguousarray(inverse_depth[inner, inner]))


# --- electrons --------------------------------------------------------------------------------------------------------


def test_electrons_are_those_of_each_bands_wavelength_less_what_the_lens_takes_off():
    of = pipeline(bands=3, vignetting_per_m=100.0)
    radiance = np.array([2.0, 3.0, 5.0], np.float32)
    found = of.electrons(np.broadcast_to(radiance, (ROWS, COLUMNS, 3)))
    V = vignetting(radius_m(), focal_length_m=LENS["focal_length_m"], falloff_per_m=100.0)
    for band in range(3):
        expected = axis_electrons(radiance[band], WAVELENGTH_M[band]) * V
        np.testing.assert_allclose(found[..., band], expected, rtol=1e-5)


def test_behind_a_field_stop_it_is_dark_and_a_fisheye_keeps_its_edge_bright():
    ones = np.ones((ROWS, COLUMNS, 1), np.float32)
    stopped = pipeline(field_stop_m=0.8e-3).electrons(ones)[..., 0]
    assert not stopped[radius_m() > 1.0e-3].any()
    assert (stopped[radius_m() < 0.6e-3] > 0.0).all()
    np.testing.assert_allclose(pipeline(lens="fisheye").electrons(ones), axis_electrons(1.0), rtol=1e-5)
    assert pipeline(lens="brown").electrons(ones).min() < 0.95 * axis_electrons(1.0)


def test_under_a_mosaic_each_pixel_has_the_electrons_of_its_own_color():
    of = pipeline(bands=3, mosaic="rggb", lens="fisheye")
    radiance = np.array([2.0, 3.0, 5.0], np.float32)
    found = of.electrons(np.broadcast_to(radiance, (ROWS, COLUMNS, 3)))
    assert found.shape == (ROWS, COLUMNS, 1)
    for letter, value, wavelength_m in zip("rgb", radiance, WAVELENGTH_M, strict=True):
        np.testing.assert_allclose(found[letter == LETTERS], axis_electrons(value, wavelength_m), rtol=1e-5)


# --- noise ------------------------------------------------------------------------------------------------------------


def noisy(of, frame, mean_e=1000.0):
    electrons = np.full((ROWS, COLUMNS, 1), mean_e, np.float32)
    of.add_noise(electrons, frame)
    return electrons


def test_a_camera_without_noise_adds_none():
    assert (noisy(pipeline(), FIRST) == 1000.0).all()


def test_noise_belongs_to_image_camera_and_world_whatever_came_before():
    of = pipeline(noise=PixelNoise(read_noise_e=9.0))
    frames = [Frame(0, 0, 0), Frame(1, 0, 0), Frame(0, 1, 0), Frame(0, 0, 1)]
    found = [noisy(of, frame) for frame in frames]
    for number, one in enumerate(found):
        for other in found[:number]:
            assert (one != other).mean() > 0.9
    for frame, one in reversed(list(zip(frames, found, strict=True))):
        np.testing.assert_array_equal(noisy(pipeline(noise=PixelNoise(read_noise_e=9.0)), frame), one)
        np.testing.assert_array_equal(noisy(of, frame), one)
    assert (noisy(pipeline(noise=PixelNoise(read_noise_e=9.0), seed=5), FIRST) != found[0]).mean() > 0.9


def test_what_is_fixed_to_a_pixel_stays_with_it_in_its_own_camera_and_world():
    """Without shot and read noise an electron count is mean (1 + PRNU) + DSNU, of the camera's part of its world's."""
    noise = PixelNoise(prnu=0.02, dsnu_e=10.0, shot=False)
    of, count = pipeline(noise=noise), ROWS * COLUMNS
    for sensor, world in ((0, 0), (2, 0), (2, 3), (0, 3)):
        own = fixed_pattern(noise, Stream(4, "camera"), values=count, first=sensor * count, world=world)
        expected = 1000.0 * own.sensitivity + own.offset_e
        for tick in (0, 7):
            np.testing.assert_allclose(noisy(of, Frame(tick, sensor, world)).ravel(), expected, rtol=1e-6)


def test_dark_current_flows_for_the_exposure_and_a_full_well_is_full():
    of = pipeline(noise=PixelNoise(dark_current_e_s=5e4, shot=False), full_well_e=1020.0)
    np.testing.assert_allclose(noisy(of, FIRST, mean_e=0.0), 50.0, rtol=1e-6)
    assert (noisy(of, FIRST) == 1020.0).all()


# --- numbers ----------------------------------------------------------------------------------------------------------


def test_gain_is_one_for_all_or_one_for_each_band():
    electrons = np.full((ROWS, COLUMNS, 3), 1e6, np.float32)
    for gain, factors in ((2.0, (2.0, 2.0, 2.0)), ((1.0, 2.0, 4.0), (1.0, 2.0, 4.0))):
        image, codes = pipeline(bands=3, gain=gain).digitized(electrons)
        assert codes is None
        assert image.shape == (ROWS, COLUMNS, 3)
        np.testing.assert_array_equal(image, np.broadcast_to(np.rint(65535 * np.array(factors) / 20), image.shape))


def test_under_a_mosaic_each_pixel_has_the_gain_of_its_own_color():
    of = pipeline(bands=3, mosaic="rggb", gain=(1.0, 2.0, 4.0))
    image, _ = of.digitized(np.full((ROWS, COLUMNS, 1), 1e6, np.float32))
    assert image.shape == (ROWS, COLUMNS)
    for letter, gain in zip("rgb", (1.0, 2.0, 4.0), strict=True):
        assert (image[letter == LETTERS] == np.rint(65535 * gain / 20)).all()


def test_a_converter_keeps_its_codes_and_can_be_left_out():
    of = pipeline(bits=8, gamma=0.5, adc=sn.Adc(bits=10, black_dn=23.0))
    electrons = np.full((ROWS, COLUMNS, 1), 5.01e6, np.float32)  # a quarter of full scale
    image, codes = of.digitized(electrons)
    assert (image.shape, image.dtype) == (codes.shape, np.uint8)
    assert codes.dtype == np.uint16
    assert (codes == round(23 + 0.2505 * 1000)).all()
    assert (image == round(255 * np.sqrt(0.251 - 0.0005))).all()
    plain, none = of.digitized(electrons, converter=False)
    assert none is None
    assert (plain == round(255 * np.sqrt(0.2505))).all()


def test_colors_are_made_of_a_mosaic_and_of_nothing_else():
    raw = np.random.default_rng(0).integers(0, 60000, (ROWS, COLUMNS), np.uint16)
    made = pipeline(bands=3, mosaic="rggb").colors(raw)
    np.testing.assert_array_equal(made, demosaiced(raw, "rggb"))
    assert pipeline(bands=3, mosaic="rggb", demosaic=False).colors(raw) is raw
    assert pipeline(bands=3).colors(raw) is raw


# --- all of them ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"adc": sn.Adc(bits=12)}, {"gamma": 0.5, "noise": PixelNoise(shot=False)}])
def test_an_even_field_becomes_the_codes_of_the_closed_form(options):
    of = pipeline(gain=1.5, **options)
    radiance = 0.4 * 2e7 / axis_electrons(1.0)
    image, codes = of.developed(of.exposed(*grid(of, radiance), FIRST))
    share = 0.6 * vignetting(radius_m(), focal_length_m=LENS["focal_length_m"])
    if "adc" in options:
        np.testing.assert_allclose(codes, 4095 * share, atol=0.51)
        share = codes / 4095
    else:
        assert codes is None
    np.testing.assert_allclose(image, 65535 * share ** options.get("gamma", 1.0), atol=0.6)


def test_the_truth_has_a_perfect_lens_quiet_pixels_and_no_converter():
    """Means of cells, not blurred, as bright at the edge as in the middle, with gain and gamma."""
    flaws = {"field_stop_m": 0.3e-3, "vignetting_per_m": 300.0, "coma": 6e7, "noise": PixelNoise(read_noise_e=1e6)}
    of = pipeline(bands=2, gain=(1.0, 0.5), gamma=0.5, adc=sn.Adc(bits=4, black_dn=3.0), **flaws)
    cells = np.random.default_rng(1).uniform(0.1, 0.9, (ROWS * 2, COLUMNS * 2, 2)).astype(np.float32)
    per_radiance = np.array([axis_electrons(1.0, one) for one in WAVELENGTH_M[:2]])
    found = of.unspoilt((cells * 2e7 / per_radiance).astype(np.float32))
    share = cells.reshape(ROWS, 2, COLUMNS, 2, 2).mean(axis=(1, 3)) * (1.0, 0.5)
    assert found.dtype == np.uint16
    np.testing.assert_allclose(found, 65535 * np.sqrt(share), atol=0.6)


@pytest.mark.parametrize("demosaic", [True, False])
def test_the_truth_of_a_mosaic_is_seen_through_it(demosaic):
    of = pipeline(bands=3, mosaic="rggb", gain=(1.0, 1.0, 2.0), demosaic=demosaic)
    per_radiance = np.array([axis_electrons(1.0, one) for one in WAVELENGTH_M])
    shares = np.array([0.2, 0.5, 0.3])
    ideal = np.broadcast_to((shares * 2e7 / per_radiance).astype(np.float32), (ROWS * 2, COLUMNS * 2, 3))
    colors = np.broadcast_to(65535 * shares * (1.0, 1.0, 2.0), (ROWS, COLUMNS, 3))
    np.testing.assert_allclose(of.unspoilt(ideal), colors if demosaic else mosaic(colors, "rggb"), atol=0.6)


# --- stages -----------------------------------------------------------------------------------------------------------

PLAIN = ["ideal", "lens", "vignetting", "noise", "gain and gamma"]
WITH_CODES = [*PLAIN[:4], "codes", PLAIN[4]]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, PLAIN),
        ({"adc": sn.Adc(bits=12)}, WITH_CODES),
        ({"mosaic": "rggb"}, [*PLAIN, "colors"]),
        ({"mosaic": "rggb", "demosaic": False, "adc": sn.Adc(bits=12)}, WITH_CODES),
    ],
)
def test_stages_are_those_that_the_camera_has_and_the_last_is_its_image(options, names):
    of = pipeline(bands=3, noise=PixelNoise(read_noise_e=1e5), **options)
    ideal, inverse_depth = grid(of, 0.3 * 2e7 / axis_electrons(1.0))
    stages = list(of.stages(ideal, inverse_depth, Frame(3, 1, 2)))
    assert [name for name, _ in stages] == names
    image, codes = of.developed(of.exposed(ideal, inverse_depth, Frame(3, 1, 2)))
    np.testing.assert_array_equal(stages[-1][1], image)
    if codes is not None:
        np.testing.assert_array_equal(dict(stages)["codes"], codes)


def test_early_stages_are_shares_of_full_scale_and_later_ones_leave_them_alone():
    """Full scale is that of the band with the most electrons; each stage has its own effect and none of the next."""
    of = pipeline(bands=3, noise=PixelNoise(dark_current_e_s=2e9, shot=False), gain=0.5)
    ideal, inverse_depth = grid(of, 0.3 * 2e7 / axis_electrons(1.0, WAVELENGTH_M[2]))
    ideal[of.table.margin, of.table.margin] *= 2.0
    stages = dict(of.stages(ideal, inverse_depth, FIRST))
    assert stages["ideal"].shape == (ROWS * 2, COLUMNS * 2, 3)
    expected = np.full((ROWS * 2, COLUMNS * 2, 3), 0.3)
    expected[0, 0] = 0.6
    np.testing.assert_allclose(stages["ideal"], expected, rtol=1e-5)
    expected = np.full((ROWS, COLUMNS, 3), 0.3)
    expected[0, 0] = 0.375
    np.testing.assert_allclose(stages["lens"], expected, rtol=1e-5)
    V = vignetting(radius_m(), focal_length_m=LENS["focal_length_m"])
    expected *= V[..., None] * np.array(WAVELENGTH_M) / WAVELENGTH_M[2]
    np.testing.assert_allclose(stages["vignetting"], expected, rtol=1e-5)
    np.testing.assert_allclose(stages["noise"], expected + 0.1, rtol=1e-5)
    np.testing.assert_allclose(stages["gain and gamma"], 65535 * 0.5 * (expected + 0.1), atol=0.6)
