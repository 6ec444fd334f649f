"""Faults of depth cameras: what is wrong with the ranges of pixels for a while, and what stays right."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.corruption import (
    Bias,
    BlockedSector,
    DeadChannels,
    Dropout,
    Fault,
    FaultSchedule,
    Freeze,
    LowPass,
    Saturate,
    Scale,
    Stuck,
    TimingErrors,
    White,
)

WIDTH, HEIGHT = 32, 24
EVERYTHING = frozenset({"depth", "range", "points", "segmentation", "normals"})


def camera(*faults, **fields):
    """A camera at 10 Hz with some faults."""
    pattern = sn.patterns.Pinhole.from_fov(WIDTH, HEIGHT, 87.0, rate_hz=10.0)
    given = {"pattern": pattern, "outputs": EVERYTHING, "max_range_m": 20.0, **fields}
    return sn.DepthCamera(faults=FaultSchedule(faults=faults), **given)


def at_work(spec, *, worlds=None, seed=0, first_world=0, pose=None):
    """The camera before a panel that goes away from it, with nothing around."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(1.0, 4.0, 4.0), body="panel", label="panel")
    path = sn.paths.Line(start=(4.5, 0.0, 0.0), velocity=(2.0, 0.0, 0.0))
    world = sn.worlds.Kinematic({"panel": path}, step_s=0.1)
    env = sn.Environment(scene, world, worlds=worlds, seed=seed, first_world=first_world)
    return env, env.attach(spec, pose=pose)


def images(spec, steps, **where):
    """Images of as many steps."""
    env, sensor = at_work(spec, **where)
    made = []
    for _ in range(steps):
        env.step()
        made.append(sensor.read())
    return made


def assert_same(one, other):
    for name in EVERYTHING:
        np.testing.assert_array_equal(one.images[name], other.images[name], err_msg=name)


# ---- which pixels, and when


def test_dead_pixels_show_the_dropped_value_while_the_fault_is_active():
    middle = HEIGHT // 2 * WIDTH + WIDTH // 2
    before, during, after = images(camera(Fault(DeadChannels(channels=(0, middle)), start_s=0.15, end_s=0.25)), 3)
    healthy = images(camera(), 3)
    assert_same(before, healthy[0])
    assert_same(after, healthy[2])

    # A dead pixel has no measurement, whether it looks at the panel or at nothing
    changed = during.depth_m != healthy[1].depth_m
    assert np.flatnonzero(changed).tolist() == [0, middle]
    assert during.depth_m[changed].tolist() == [0.0, 0.0]
    assert not during.valid[changed].any()
    assert during.dropped == 0.0


def test_what_is_shown_agrees_in_every_image():
    bias_m = 0.5
    wrong, right = images(camera(Fault(Bias(bias_m))), 1)[0], images(camera(), 1)[0]
    seen = right.valid
    assert seen.any()
    np.testing.assert_allclose((wrong.range_m - right.range_m)[seen], bias_m, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(wrong.points, axis=-1)[seen], wrong.range_m[seen], rtol=1e-6)
    axial = right.depth_m[seen] / right.range_m[seen]
    np.testing.assert_allclose(wrong.depth_m[seen], wrong.range_m[seen] * axial, rtol=1e-6)

    # Nothing is made up where nothing is, and what is no distance stays as it is
    assert (wrong.depth_m[~seen] == 20.0).all()
    np.testing.assert_array_equal(wrong.segmentation, right.segmentation)
    np.testing.assert_array_equal(wrong.normals, right.normals)


def test_a_blocked_part_of_the_image_sees_nothing():
    mud = BlockedSector(shape=(HEIGHT, WIDTH), rows=(10, 14), columns=(12, 20))
    wrong, right = images(camera(Fault(mud)), 1)[0], images(camera(), 1)[0]
    lost = right.valid & ~wrong.valid
    assert right.valid[10:14, 12:20].all()
    assert lost[10:14, 12:20].all()
    assert lost.sum() == 4 * 8


def test_a_frozen_image_stays_to_the_last_pixel():
    # Noise and dropout come before the fault, so that they freeze too
    noise = sn.DepthNoise(multiplier=0.02, dropout=0.05)
    frozen = images(camera(Fault(Freeze(), start_s=0.15, end_s=0.35), noise=noise), 5)
    free = images(camera(noise=noise), 5)
    for number in (0, 1, 3, 4):
        assert_same(frozen[number], free[number])
    np.testing.assert_array_equal(frozen[2].depth_m, free[1].depth_m)
    np.testing.assert_array_equal(frozen[2].points, free[1].points)
    assert (free[2].depth_m != free[1].depth_m).any()

    # The panel is smaller from farther away: around it the frozen image still has it
    near, far = free[0], free[4]
    assert near.valid.sum() > far.valid.sum()
    held = images(camera(Fault(Freeze())), 5)
    np.testing.assert_array_equal(held[4].depth_m, held[0].depth_m)
    assert held[4].valid.sum() > images(camera(), 5)[4].valid.sum()


def test_a_held_image_keeps_its_labels_and_normals_and_its_gaps():
    """The panel goes to the side: pixels that saw nothing see it, and others lose it."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(1.0, 2.0, 2.0), body="panel", label="panel")
    path = sn.paths.Line(start=(5.0, -1.5, 0.0), velocity=(0.5, 3.0, 0.0))
    made, truths = {}, {}
    for name, faults in (("healthy", ()), ("struck", (Fault(Freeze(), start_s=0.25, end_s=0.65),))):
        env = sn.Environment(scene, sn.worlds.Kinematic({"panel": path}, step_s=0.1))
        sensor = env.attach(camera(*faults))
        found = [(env.step(), sensor.read(), sensor.truth())[1:] for _ in range(8)]
        made[name], truths[name] = zip(*found, strict=True)
    assert (made["healthy"][2].segmentation != made["healthy"][5].segmentation).sum() > 50
    for k in range(8):
        assert_same(made["struck"][k], made["healthy"][2 if 2 <= k < 6 else k])
        assert_same(truths["struck"][k], made["healthy"][k])


def test_truth_is_without_faults():
    env, sensor = at_work(camera(Fault(Stuck(mode="value", value=3.0))))
    env.step()
    right = images(camera(), 1)[0]
    np.testing.assert_allclose(sensor.read().range_m, 3.0, rtol=1e-6)
    assert_same(sensor.truth(), right)


# ---- limits, units, errors


def test_limits_and_units_come_after_faults():
    env, sensor = at_work(camera(Fault(Stuck(mode="value", value=0.1)), min_range_m=0.2, normalize=True))
    env.step()
    assert (sensor.read().images["range"] == -1.0).all()
    assert (images(camera(Fault(Stuck(mode="value", value=25.0))), 1)[0].range_m == 20.0).all()
    assert (images(camera(Fault(Stuck(mode="value", value=5.0)), normalize=True), 1)[0].images["range"] == 0.25).all()


def test_a_fault_may_bring_what_is_beyond_the_limits_inside():
    far = images(camera(max_range_m=3.0), 1)[0]
    near = images(camera(Fault(Bias(-2.0)), max_range_m=3.0), 1)[0]
    assert not far.valid.any()
    assert near.valid.any()
    assert (near.segmentation == far.segmentation).all()


def test_values_that_are_no_numbers_are_no_measurements():
    for fault in (Stuck(mode="off", off_value="nan"), Dropout(probability=1.0, fill="nan"), Stuck(mode="off")):
        image = images(camera(Fault(fault)), 1)[0]
        assert (image.depth_m == 0.0).all(), fault
        assert not image.valid.any()
        assert not image.points.any()


def test_what_faults_carry_behind_the_camera_is_too_near():
    for least_m in (0.0, 0.2):
        image = images(camera(Fault(Bias(-1e300)), min_range_m=least_m), 1)[0]
        assert (image.range_m == -20.0).all()
        assert not image.valid.any()


def test_a_saturated_camera_sees_a_wall_where_nothing_is():
    image = images(camera(Fault(Saturate(max=6.0))), 1)[0]
    assert image.range_m.max() == 6.0

    # At the greatest range, and beyond, it is as far as what is not there, in every image
    right = images(camera(), 1)[0]
    for fault in (Saturate(max=20.0), Saturate(max=21.0)):
        assert_same(images(camera(Fault(fault)), 1)[0], right)
    for far_m in (20.0, 1e300):
        stuck = images(camera(Fault(Stuck(mode="value", value=far_m))), 1)[0]
        assert (stuck.depth_m == 20.0).all()
        assert not stuck.valid.any()


def test_faults_make_no_measurement_of_pixels_that_have_none():
    noise = sn.DepthNoise(dropout=0.3)
    right = images(camera(noise=noise), 1)[0]
    dropped = right.depth_m == 0.0
    assert 0.2 < dropped.mean() < 0.4
    for fault in (Bias(0.5), White(std=1.0), LowPass(cutoff_hz=1.0), Scale(error=0.1)):
        wrong = images(camera(Fault(fault), noise=noise), 1)[0]
        np.testing.assert_array_equal(wrong.depth_m == 0.0, dropped)


def test_a_wrong_scale_is_one_factor():
    wrong, right = images(camera(Fault(Scale(error=0.1))), 1)[0], images(camera(), 1)[0]
    seen = right.valid
    np.testing.assert_allclose(wrong.range_m[seen], 1.1 * right.range_m[seen], rtol=1e-6)
    assert (wrong.range_m[~seen] == 20.0).all()


def test_faults_come_after_errors_of_the_device():
    errors = [{"kind": "quantization", "step_m": 0.5}]
    coarse = images(camera(errors=errors), 1)[0]
    both = images(camera(Fault(Bias(0.1)), errors=errors), 1)[0]
    seen = coarse.valid
    np.testing.assert_allclose((both.range_m - coarse.range_m)[seen], 0.1, atol=1e-5)


def test_noise_is_the_same_with_a_fault_that_never_comes():
    # Even where noise carries ranges behind the camera
    mild = {"noise": sn.DepthNoise(multiplier=0.05, dropout=0.1, dropped="near")}
    wild = {"noise": sn.DepthNoise(multiplier=0.8), "min_range_m": 0.0}
    for fields in (mild, mild | {"normalize": True}, wild):
        later = images(camera(Fault(White(std=1.0), start_s=99.0), **fields), 3)
        never = images(camera(**fields), 3)
        for one, other in zip(later, never, strict=True):
            assert_same(one, other)


# ---- worlds, sensors, resets


def test_worlds_are_struck_by_themselves_and_the_same_alone():
    fault = Fault(Stuck(mode="value", value=1.0), onsets_per_s=2.0, duration_s=0.3)
    env, sensor = at_work(camera(fault), worlds=6)
    alone = [at_work(camera(fault), worlds=1, first_world=world) for world in range(6)]
    struck = set()
    for step in range(8):
        env.step()
        image = sensor.read()
        for world, (one, own) in enumerate(alone):
            one.step()
            np.testing.assert_array_equal(image.depth_m[world], own.read().depth_m[0])
            if (image.range_m[world] == 1.0).all():
                struck.add((step, world))
    assert 0 < len(struck) < 48
    times = {step for step, world in struck}
    assert any((step, world) not in struck for step in times for world in range(6))
    assert {event.world for event in sensor.faults.log} == {world for _, world in struck}


def test_cameras_of_a_world_have_noise_of_their_own():
    poses = [sn.Pose(), sn.Pose()]
    image = images(camera(Fault(White(std=0.1))), 1, pose=poses)[0]
    right = images(camera(), 1, pose=poses)[0]
    np.testing.assert_array_equal(right.depth_m[0], right.depth_m[1])
    error = (image.range_m - right.range_m)[:, right.valid[0]]
    assert abs(np.corrcoef(error)[0, 1]) < 0.4
    np.testing.assert_allclose(error.std(), 0.1, rtol=0.3)


def test_a_reset_begins_anew():
    env, sensor = at_work(camera(Fault(Freeze())), worlds=2)
    env.step()
    first = sensor.read().depth_m.copy()
    env.step()
    env.reset(np.array([True, False]))
    env.step()
    image = sensor.read()
    np.testing.assert_array_equal(image.depth_m[1], first[1])

    # The first world froze once more, with the panel where it was after one step
    np.testing.assert_array_equal(image.depth_m[0], first[0])
    env.step()
    env.step()
    np.testing.assert_array_equal(sensor.read().depth_m, first)


def test_a_rolling_image_is_struck_as_a_whole():
    pattern = sn.patterns.Pinhole.from_fov(WIDTH, HEIGHT, 87.0, rate_hz=5.0, line_time_s=1e-3)
    spec = camera(Fault(Stuck(mode="value", value=2.0), start_s=0.19), pattern=pattern)
    env, sensor = at_work(spec)
    for _ in range(5):
        env.step()
    np.testing.assert_allclose(sensor.read().range_m, 2.0, rtol=1e-6)


def test_a_reset_in_the_middle_of_a_rolling_image_is_no_way_back():
    pattern = sn.patterns.Pinhole.from_fov(WIDTH, HEIGHT, 87.0, rate_hz=5.0, line_time_s=6e-3)
    for fault in (Fault(Bias(0.1)), Fault(timing=TimingErrors(clock_offset_s=0.5))):
        env, sensor = at_work(camera(fault, pattern=pattern))
        env.step()
        env.reset()
        env.step()
        assert sensor.read().end_ns == 138_000_001
        env.step(), env.step()
        assert sensor.read().valid.any()


# ---- what is left alone, and what is refused


def test_labels_alone_have_no_ranges_to_strike():
    fault = Fault(Stuck(mode="value", value=2.0))
    with pytest.raises(SpecError, match=r"outputs is \['segmentation'\]; range, depth or points must be among them"):
        camera(fault, outputs={"segmentation"})
    camera(Fault(timing=TimingErrors(delay_s=0.1)), outputs={"segmentation"})


def test_a_late_image_has_its_truth():
    # Which is asked for when the clock of faults has gone on
    slow = Fault(timing=TimingErrors(delay_s=0.25))
    env, sensor = at_work(camera(slow, noise=sn.DepthNoise(multiplier=0.1)))
    for _ in range(4):
        env.step()
    assert_same(sensor.truth(), images(camera(), 1)[0])


def test_faults_of_timing_change_no_pixel():
    late = camera(Fault(timing=TimingErrors(delay_s=0.05)))
    env, sensor = at_work(late)
    env.step()
    env.step()
    assert_same(sensor.read(), images(camera(), 1)[0])
    assert np.isnan(sensor.read().dropped)


def test_other_targets_and_channels_are_refused():
    with pytest.raises(SpecError, match="a fault's target is 'depth'; it must be one of: range"):
        camera(Fault(Bias(1.0), target="depth"))
    with pytest.raises(SpecError, match=r"faults\.faults\[0\].*768"):
        at_work(camera(Fault(Bias(1.0), channels=(WIDTH * HEIGHT,))))
    with pytest.raises(SpecError, match="its product must be the 768 channels"):
        at_work(camera(Fault(BlockedSector(shape=(WIDTH, WIDTH)))))
