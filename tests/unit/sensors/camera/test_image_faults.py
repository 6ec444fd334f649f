"""Faults of cameras: what is wrong with the electrons of pixels for a while, before they become numbers."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.corruption import Bias, BlockedSector, DeadChannels, Dropout, Fault, FaultSchedule, Freeze, Stuck, White
from sensorium.physics.imaging.filters import rgb

COLUMNS, ROWS = 16, 12


def camera(*faults, **fields):
    """A small camera of a data sheet, in one band unless told otherwise, with some faults."""
    given = {
        "columns": COLUMNS,
        "rows": ROWS,
        "exposure_s": 1e-8,
        "timing": sn.Timing(rate_hz=10.0),
        "faults": FaultSchedule(faults=faults),
        **fields,
    }
    return sn.Camera.from_device("sony-imx900", **given)


def at_work(spec, *, worlds=None, pose=None, first_world=0):
    """The camera before a wall that comes nearer, lit from behind the camera."""
    scene = sn.Scene()
    wall = sn.shapes.box(1.0, 4.0, 4.0)
    scene.add(wall, body="wall", material=sn.Lambertian(reflectance=0.5))
    path = sn.paths.Line(start=(9.0, 0.0, 0.0), velocity=(-3.0, 0.5, 0.0))
    sun = sn.fields.Sun(elevation_deg=20.0, azimuth_deg=180.0)
    world = sn.worlds.Kinematic({"wall": path}, step_s=0.1)
    env = sn.Environment(scene, world, sun=sun, worlds=worlds, first_world=first_world)
    return env, env.attach(spec, pose=pose)


def images(spec, steps, **where):
    """Images of as many steps after the first exposure."""
    env, sensor = at_work(spec, **where)
    env.step()
    made = []
    for _ in range(steps):
        env.step()
        made.append(sensor.read())
    return made


def test_dead_and_hot_pixels_are_dark_and_bright_while_the_fault_is_active():
    full = camera().full_well_e
    dead = Fault(DeadChannels(channels=(5,)), start_s=0.15, end_s=0.25, name="dead")
    hot = Fault(Stuck(mode="value", value=full), channels=(20,), start_s=0.15, end_s=0.25, name="hot")
    struck, healthy = images(camera(dead, hot), 3), images(camera(), 3)
    for number in (0, 2):
        np.testing.assert_array_equal(struck[number].image, healthy[number].image)
    different = np.flatnonzero(struck[1].image != healthy[1].image)
    assert different.tolist() == [5, 20]
    pixels = struck[1].image.reshape(-1)
    assert pixels[5] == pixels.min() <= healthy[1].image.min()
    assert pixels[20] == pixels.max() > healthy[1].image.max()


def test_a_frozen_image_has_its_noise_frozen():
    frozen = images(camera(Fault(Freeze(), start_s=0.15, end_s=0.35)), 4)
    free = images(camera(), 4)
    assert frozen[0].start_ns == 100_000_000
    for number in (0, 1, 3):
        np.testing.assert_array_equal(frozen[number].image, free[number].image)
    np.testing.assert_array_equal(frozen[2].image, free[1].image)
    assert (free[2].image != free[1].image).mean() > 0.5


def test_codes_show_what_the_image_shows():
    mud = BlockedSector(shape=(ROWS, COLUMNS), rows=(2, 4), columns=(3, 9))
    struck, healthy = images(camera(Fault(mud)), 1)[0], images(camera(), 1)[0]
    assert healthy.raw is not None
    for name in ("image", "raw"):
        changed = getattr(struck, name) != getattr(healthy, name)
        expected = np.zeros_like(changed)
        expected[2:4, 3:9] = True
        np.testing.assert_array_equal(changed, expected, err_msg=name)
    np.testing.assert_array_equal(struck.ideal, healthy.ideal)


def test_a_dead_pixel_of_a_mosaic_spreads_into_colors():
    fields = {"mosaic": "rggb", "bands": rgb()}
    center = 6 * COLUMNS + 8
    struck = images(camera(Fault(DeadChannels(channels=(center,))), **fields), 1)[0]
    healthy = images(camera(**fields), 1)[0]
    assert healthy.image.shape == (ROWS, COLUMNS, 3)
    changed = (struck.image != healthy.image).any(axis=-1)
    assert changed[6, 8]
    assert changed.sum() > 1
    rows, columns = np.nonzero(changed)
    assert np.abs(rows - 6).max() <= 2
    assert np.abs(columns - 8).max() <= 2


def test_truth_is_without_faults():
    env, sensor = at_work(camera(Fault(Stuck(mode="off"))))
    right_env, right = at_work(camera())
    for one in (env, right_env):
        one.step()
        one.step()
    assert sensor.read().image.max() < right.read().image.min()
    np.testing.assert_array_equal(sensor.truth().image, right.truth().image)


def test_a_pixel_without_a_value_is_dark():
    missing = images(camera(Fault(Dropout(probability=1.0, fill="nan"))), 1)[0]
    dark = images(camera(Fault(Stuck(mode="value", value=0.0))), 1)[0]
    np.testing.assert_array_equal(missing.image, dark.image)


def test_worlds_and_cameras_have_errors_of_their_own_and_the_same_alone():
    spec = camera(Fault(White(std=200.0)), noise=None)
    poses = [sn.Pose(), sn.Pose()]
    together = images(spec, 2, worlds=2, pose=poses)[1].image.astype(float)
    plain = images(camera(noise=None), 2, worlds=2, pose=poses)[1].image.astype(float)
    error = (together - plain).reshape(4, -1)
    assert (error.std(axis=1) > 0.0).all()
    assert np.abs(np.corrcoef(error) - np.eye(4)).max() < 0.4
    alone = images(spec, 2, worlds=1, first_world=1, pose=poses)[1].image
    np.testing.assert_array_equal(alone[0], together[1])


def test_a_reset_begins_anew():
    env, sensor = at_work(camera(Fault(Freeze(), start_s=0.15), noise=None), worlds=2)
    for _ in range(3):
        env.step()
    frozen = sensor.read().image.copy()
    env.step()
    np.testing.assert_array_equal(sensor.read().image, frozen)

    # The wall of the first world is back at its beginning, and the image freezes there
    env.reset(np.array([True, False]))
    env.step()
    again = sensor.read().image.copy()
    np.testing.assert_array_equal(again[1], frozen[1])
    assert (again[0] != frozen[0]).any()
    env.step()
    np.testing.assert_array_equal(sensor.read().image, again)


def test_no_pixel_holds_more_than_the_full_well():
    full = camera().full_well_e
    for gain in (0.25, 1.0):
        bright = images(camera(Fault(Stuck(mode="value", value=1e300)), gain=gain), 1)[0]
        well = images(camera(Fault(Stuck(mode="value", value=full)), gain=gain), 1)[0]
        np.testing.assert_array_equal(bright.image, well.image)


def test_resets_in_the_middle_of_images_are_no_way_back():
    rolling = {"exposure_s": 0.05, "shutter": "rolling", "line_time_s": 0.004}
    env, sensor = at_work(camera(Fault(Bias(1.0)), **rolling))
    for number in range(6):
        env.step()
        if number == 3:
            env.reset()
    assert sensor.read().start_ns == 500_000_000


def test_what_cannot_be_is_refused():
    with pytest.raises(SpecError, match="a fault's target is 'image'; it must be one of: electrons"):
        camera(Fault(Bias(1.0), target="image"))
    with pytest.raises(SpecError, match="its product must be the 192 channels"):
        at_work(camera(Fault(BlockedSector(shape=(COLUMNS, COLUMNS)))))
