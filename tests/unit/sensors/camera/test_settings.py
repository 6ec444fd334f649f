"""Automatic exposure and white balance of cameras at work: images follow the light, each world by itself."""

import itertools
import warnings

import numpy as np
import pytest

import sensorium as sn
from sensorium.physics.imaging import AutoExposure, Band, PixelNoise, metered_level, next_exposure, region_of

GREEN = Band(name="green", filter=((540e-9, 1.0), (560e-9, 1.0)))
CHIP = {
    "pupil_distance_m": 6.0001e-3,
    "width_m": 6.4e-3,
    "height_m": 4.8e-3,
    "columns": 32,
    "rows": 24,
    "focal_length_m": 6e-3,
    "pupil_radius_m": 0.5e-3,
    "exposure_s": 1e-4,
    "bits": 16,
    "full_well_e": 1e6,
    "sample_factor": 1,
    "pupil_rays": 1,
    "bands": (GREEN,),
}
AUTO = {"max_exposure_s": 0.02, "target": 0.3, "speed": 0.7, "max_gain": 8.0}
WHOLE = slice(None), slice(None)


def spec(**options):
    return sn.Camera(**CHIP | options)


def scene_of(reflectance=0.5):
    scene = sn.Scene()
    scene.add(sn.shapes.plane(400.0, 400.0), material=sn.Lambertian(reflectance=reflectance))
    scene.add(sn.shapes.box(0.5, 0.5, 0.5), pose=sn.Pose((0.7, 0.3, 0.5)), material=sn.Lambertian(reflectance=0.05))
    return scene


DOWN = sn.Pose.from_euler_deg((0.0, 0.0, 5.0), pitch=90.0)


def env_of(scene=None, *, sun_deg=60.0, world=None, **options):
    world = sn.worlds.Static({"mast": sn.Pose()}, step_s=0.1) if world is None else world
    return sn.Environment(
        scene_of() if scene is None else scene, world, sun=sn.fields.Sun(elevation_deg=sun_deg), **options
    )


def images(camera, frames, **options):
    env = env_of(**options)
    sensor = env.attach(camera, body="mast", pose=DOWN, name="eye")
    found = []
    for _ in range(frames):
        env.step()
        found.append(sensor.read())
    return found


@pytest.mark.parametrize("exposure_s", [1e-6, 1e-4, 0.02])
@pytest.mark.parametrize("adc", [None, sn.Adc(bits=12, black_dn=40.0)])
def test_images_come_to_the_target_by_the_law_of_the_loop(exposure_s, adc):
    """Each image's exposure is that which the image before asks for, by `next_exposure` of its own metered level."""
    camera = spec(auto_exposure=AUTO, exposure_s=exposure_s, adc=adc)
    auto = AutoExposure(**AUTO)
    found = images(camera, 25)
    for before, after in itertools.pairwise(found):
        share = before.image / 65535.0  # gamma is 1, and there is no white balance
        level = metered_level(share.astype(np.float32), None)
        wanted = next_exposure(auto, level, exposure_s=float(before.exposure_s), gain=float(before.gain))
        np.testing.assert_allclose((after.exposure_s, after.gain), wanted, rtol=1e-3)
    assert found[0].exposure_s == exposure_s
    assert found[-1].image.mean() / 65535.0 == pytest.approx(0.3, rel=5e-3)


def test_light_follows_the_exposure_time_and_gain_of_each_image():
    """Below full scale an image is the first one times exposure and gain."""
    first, *rest = images(spec(auto_exposure=AUTO | {"max_exposure_s": 3e-4}, full_well_e=1e7), 12)
    gained = 0
    for image in rest:
        times = float(image.exposure_s * image.gain) / float(first.exposure_s)
        unsaturated = image.image < 65535
        np.testing.assert_allclose(image.image[unsaturated], (first.image * times)[unsaturated], atol=1.0 + times)
        gained += image.gain > 1.0
    assert gained > 3


@pytest.mark.parametrize("percentile", [None, 90.0])
def test_only_the_region_is_metered(percentile):
    region = (0.6, 0.6, 1.0, 1.0)
    camera = spec(auto_exposure=AUTO | {"region": region, "percentile": percentile, "target": 0.5})
    scene = scene_of(reflectance=0.1)
    scene.add(sn.shapes.plane(1.4, 4.0), pose=sn.Pose((1.8, 0.0, 0.02)), material=sn.Lambertian(reflectance=0.9))
    last = images(camera, 30, scene=scene)[-1]
    level = metered_level((last.image / 65535.0)[region_of(region, 24, 32)], percentile)
    assert level == pytest.approx(0.5, rel=0.01)
    assert abs(metered_level(last.image / 65535.0, percentile) - 0.5) > 0.05


def test_dark_current_flows_for_the_exposure_that_was_used():
    noise = PixelNoise(dark_current_e_s=1e6, shot=False)
    night = {"world": sn.worlds.Static({"mast": sn.Pose()}, step_s=0.1), "sun_deg": -10.0}
    found = images(spec(auto_exposure=AUTO | {"max_gain": 1.0}, noise=noise), 12, **night)
    assert found[-1].exposure_s == 0.02
    for image in found:
        np.testing.assert_allclose(image.image / 65535.0, float(image.exposure_s), atol=1e-4)


def worlds_of(reflectances):
    """A ground for each world, each of its own reflectance."""
    assets = [
        sn.SceneObject(sn.shapes.plane(400.0, 400.0), material=sn.Lambertian(reflectance=r)) for r in reflectances
    ]
    return sn.SceneBatch(assets, np.arange(len(assets))[:, None], sn.Pose())


COLORS = {"bands": sn.imaging.filters.rgb(), "white_balance": {"kind": "gray_world", "speed": 0.6}}
PATH = {"mast": sn.paths.Line(start=(0, 0, 0), velocity=(1.0, 0, 0))}


def batch(reflectances, *, camera, frames=7, reset=None, first_world=0):
    env = sn.Environment(
        worlds_of(reflectances),
        sn.worlds.Kinematic(PATH, step_s=0.1),
        sun=sn.fields.Sun(elevation_deg=60.0),
        worlds=len(reflectances),
        seed=4,
        **({"first_world": first_world} if first_world else {}),
    )
    sensor = env.attach(camera, body="mast", pose=DOWN, name="eye")
    found = []
    for step in range(frames):
        if step == 4 and reset is not None:
            env.reset(np.array(reset))
        env.step()
        found.append(sensor.read())
    return found


TIMES = [{}, {"motion_blur": True, "sample_factor": 2}, {"shutter": "rolling", "line_time_s": 1e-4}]


@pytest.mark.parametrize("time", TIMES, ids=str)
def test_worlds_are_exposed_by_themselves_as_they_would_be_alone(time):
    camera = spec(auto_exposure=AUTO, noise=PixelNoise(read_noise_e=5.0), **COLORS, **time)
    both = batch((0.9, 0.05, 0.9), camera=camera)
    assert both[-1].exposure_s.shape == (3,)
    assert both[-1].balance.shape == (3, 3)
    assert both[3].exposure_s[1] > 2.0 * both[3].exposure_s[0]
    alone = batch((0.9,), camera=camera)
    for one, several in zip(alone, both, strict=True):
        for name in ("image", "exposure_s", "gain", "balance", "ideal"):
            np.testing.assert_array_equal(getattr(several, name)[0], getattr(one, name)[0], err_msg=name)
        np.testing.assert_array_equal(several.X_WS[:, 0].position, one.X_WS[:, 0].position)


def test_a_reset_begins_anew_in_its_worlds_alone():
    camera = spec(auto_exposure=AUTO, **COLORS)
    kept, restarted = (batch((0.9, 0.05), camera=camera, reset=reset) for reset in (None, (False, True)))
    for step in range(7):
        np.testing.assert_array_equal(kept[step].image[0], restarted[step].image[0])
    assert restarted[4].exposure_s[1] == 1e-4
    assert (restarted[4].balance[1] == 1.0).all()
    for name in ("exposure_s", "gain", "balance"):
        np.testing.assert_array_equal(getattr(restarted[6], name)[1], getattr(restarted[2], name)[1])


@pytest.mark.parametrize("worlds", [1, 2])
def test_an_image_that_a_reset_cuts_short_sets_nothing(worlds):
    """It was begun before the reset and is void, in part or whole; the next has the first image's settings."""
    camera = spec(
        auto_exposure=AUTO | {"max_exposure_s": 0.08}, motion_blur=True, timing=sn.Timing(rate_hz=10.0, phase_s=0.05)
    )
    env = env_of(**({"worlds": worlds} if worlds > 1 else {}))
    sensor = env.attach(camera, body="mast", pose=DOWN, name="eye")
    exposures = []
    for step in range(8):
        if step == 4:
            env.reset(np.arange(worlds) == worlds - 1)
        env.step()
        if sensor.fresh:
            exposures.append((sensor.read().start_ns, np.ravel(sensor.read().exposure_s).tolist()))
    after = dict(exposures)
    assert after[250_000_000][-1] != 1e-4
    assert after[350_000_000][-1] == after[450_000_000][-1] == 1e-4  # the first of them was under way
    assert after[550_000_000][-1] != 1e-4
    if worlds > 1:
        assert 1e-4 not in (after[350_000_000][0], after[450_000_000][0])


def test_gray_world_brings_the_bands_together():
    camera = spec(auto_exposure=AUTO, mosaic="rggb", demosaic=False, adc=sn.Adc(bits=12), full_well_e=1e7, **COLORS)
    scene = sn.Scene()
    green = sn.Lambertian(reflectance=((4e-7, 0.1), (5.5e-7, 0.5), (7e-7, 0.2)))
    scene.add(sn.shapes.plane(400.0, 400.0), material=green)
    first, *_, last = images(camera, 20, scene=scene)

    def means(image):
        return np.array([image[0::2, 0::2].mean(), image[0::2, 1::2].mean(), image[1::2, 1::2].mean()])

    before, after = means(first.image), means(last.image)
    assert before.max() / before.min() > 1.3
    np.testing.assert_allclose(after, after.mean(), rtol=5e-3)

    # The converter comes before: its codes are not balanced
    np.testing.assert_allclose(means(last.raw) * last.balance / 4095.0, after / 65535.0, rtol=2e-3)


@pytest.mark.parametrize(
    "balance", [{"kind": "gains", "gains": (1.5, 1.0, 2.0)}, {"kind": "temperature", "temperature_k": 4000.0}]
)
def test_gains_that_stay_multiply_bands(balance):
    plain = images(spec(bands=sn.imaging.filters.rgb()), 1)[0]
    found = images(spec(bands=sn.imaging.filters.rgb(), white_balance=balance), 2)[-1]
    expected = balance.get("gains") or sn.imaging.temperature_gains(sn.imaging.filters.rgb(), 4000.0)
    np.testing.assert_allclose(found.balance, expected)
    np.testing.assert_allclose(found.image, np.minimum(plain.image * found.balance, 65535), atol=2.0)


def test_without_automatics_images_say_what_they_were_taken_with():
    image = images(spec(), 1)[0]
    assert (float(image.exposure_s), float(image.gain), image.balance.tolist()) == (1e-4, 1.0, [1.0])


def test_truth_and_stages_are_taken_with_the_same_settings():
    env = env_of()
    sensor = env.attach(spec(auto_exposure=AUTO), body="mast", pose=DOWN)
    for _ in range(4):
        env.step()
    image = sensor.read()
    assert image.exposure_s != 1e-4
    np.testing.assert_array_equal(dict(image.stages())["gain and gamma"], image.image)
    np.testing.assert_allclose(sensor.truth().image[10:14, 14:18], image.image[10:14, 14:18], rtol=0.02)


@pytest.mark.parametrize("time", TIMES, ids=str)
def test_everything_moves_for_the_exposure_that_was_used(time):
    """What a camera saw with a time it chose is what one sees whose exposure is that time from the start."""
    scene = sn.Scene()
    scene.add(sn.shapes.plane(400.0, 400.0), material=sn.Lambertian(reflectance=0.05))
    for k in range(20):
        scene.add(
            sn.shapes.box(40.0, 0.7, 0.1), pose=sn.Pose((0.0, 1.3 * k, 0.0)), material=sn.Lambertian(reflectance=0.8)
        )
    path = {"mast": sn.paths.Line(start=(0, 0, 0), velocity=(3.0, 20.0, 0))}

    def third(**options):
        world = sn.worlds.Kinematic(path, step_s=0.1)
        return images(spec(full_well_e=1e8, **options, **time), 3, scene=scene, world=world)[-1]

    found = third(auto_exposure=AUTO | {"speed": 1.0})
    assert found.exposure_s > 5e-4
    fixed, other = third(exposure_s=float(found.exposure_s)), third(exposure_s=1e-4)
    alike = np.isclose(found.ideal, fixed.ideal, rtol=1e-4)
    assert alike.mean() > 0.998  # rays that graze an edge may fall to either side
    assert np.isclose(found.ideal, other.ideal, rtol=1e-4).mean() < 0.98


def test_scenario_files_have_automatics():
    found = sn.Camera.model_validate(
        CHIP
        | {"auto_exposure": {"max_exposure_s": 0.01, "region": [0.2, 0.2, 0.8, 0.8], "percentile": 95}}
        | {"white_balance": {"kind": "temperature", "temperature_k": 5600}}
    )
    assert found.auto_exposure.region == (0.2, 0.2, 0.8, 0.8)
    assert found.white_balance.temperature_k == 5600.0


def test_saturated_images_warn_only_where_automatics_can_do_no_more():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        images(spec(auto_exposure=AUTO, exposure_s=0.02), 12)
    told = r"saturated through and through, exposed for 0\.002 s; auto_exposure\.min_exposure_s, gain or"
    with pytest.warns(UserWarning, match=told) as caught:
        images(spec(auto_exposure=AUTO | {"min_exposure_s": 0.002}, exposure_s=0.02), 12)
    assert len(caught) == 1
