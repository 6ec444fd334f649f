"""Sun sensor: a cosine inside a field, and darkness in the shadow of whatever stands in the way."""

import math

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.corruption import Bias, Noise, Quantize, Saturate, Scale, White
from sensorium.physics.fields import Sun

UP = sn.Pose.from_euler_deg(pitch=-90.0)  # boresight along z
NOON = Sun(elevation_deg=90.0)
SLOW = sn.Timing(rate_hz=100.0)


def still(sun=NOON, scene=None, worlds=None, **options):
    world = sn.worlds.Static({"craft": sn.Pose()}, step_s=0.1)
    return sn.Environment(sn.Scene() if scene is None else scene, world, sun=sun, worlds=worlds, **options)


def one(spec=None, sun=NOON, pose=UP, **options):
    env = still(sun, **options)
    sensor = env.attach(sn.SunSensor() if spec is None else spec, body="craft", pose=pose)
    env.step()
    return sensor


def box_overhead(speed=1.0, start=-5.0, step_s=0.03, **options):
    """A box of 2 m x 2 m that passes 3 m above the origin."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(2.0, 2.0, 0.5), body="box")
    path = sn.paths.Line(start=(start, 0.0, 3.0), velocity=(speed, 0.0, 0.0))
    return sn.Environment(scene, sn.worlds.Kinematic({"box": path}, step_s=step_s), sun=NOON, **options)


# --- cosine and field -------------------------------------------------------------------------------------------------


def test_a_turning_cell_sees_the_cosine_above_its_horizon_and_nothing_below():
    sun = Sun(elevation_deg=30.0, azimuth_deg=40.0)
    world = sn.worlds.Kinematic({"craft": sn.paths.Spin(position=(1, 2, 3), axis=(0, 0, 1), rate=1.0)}, step_s=0.1)
    env = sn.Environment(sn.Scene(), world, sun=sun)
    sensor = env.attach(sn.SunSensor(), body="craft")
    seen = set()
    for _ in env.run(2.0 * math.pi):
        # The boresight goes round level, so the cosine is that of elevation times that of the angle in azimuth
        expected = math.cos(math.radians(30.0)) * math.cos(env.time_s - math.radians(40.0))
        reading = sensor.read()
        assert reading.cosine == pytest.approx(max(0.0, expected), abs=1e-12)
        assert reading.visible == (expected > 0.0)
        seen.add(bool(reading.visible))
    assert seen == {True, False}


def test_six_cells_on_a_cube_give_the_direction_of_the_sun():
    sun = Sun(elevation_deg=25.0, azimuth_deg=-130.0)
    axes = np.array([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)], float)
    poses = [sn.Pose.look_at((0, 0, 0), axis, up=(0.3, 0.4, 0.5)) for axis in axes]
    reading = one(sun=sun, pose=poses).read()
    assert reading.cosine.shape == reading.visible.shape == (6,)
    np.testing.assert_allclose(reading.cosine @ axes, sun.direction_W, atol=1e-12)
    assert reading.visible.sum() == 3


@pytest.mark.parametrize("half_angle_deg", [20.0, 60.0, 90.0])
def test_the_field_ends_at_its_half_angle(half_angle_deg):
    spec = sn.SunSensor(half_angle_deg=half_angle_deg)
    for inside, angle_deg in ((True, half_angle_deg - 0.01), (False, half_angle_deg + 0.01)):
        reading = one(spec, pose=sn.Pose.from_euler_deg(pitch=-90.0 + angle_deg)).read()
        assert reading.visible == inside
        assert reading.cosine == pytest.approx(math.cos(math.radians(angle_deg)) if inside else 0.0, abs=1e-12)


def test_the_sun_below_the_horizon_does_not_shine():
    reading = one(sun=Sun(elevation_deg=-10.0), pose=sn.Pose()).read()
    assert reading.cosine == 0.0
    assert not reading.visible


def test_no_sun_is_an_error():
    with pytest.raises(SpecError, match=r"'sun_sensor' looks for the Sun; the environment must be given a sun"):
        one(sun=None)


# --- shadow -----------------------------------------------------------------------------------------------------------


def test_a_box_that_passes_casts_its_shadow_while_it_is_overhead():
    # Sampled every 10 ms, between steps of 30 ms: the box stands where it is at the sample's own time
    env = box_overhead()
    sensor = env.attach(sn.SunSensor(timing=SLOW), pose=UP)
    dark, light = [], []
    for _ in env.run(7.0):
        for reading in sensor.readings():
            (light if reading.visible else dark).append(reading.time_ns)
            assert reading.cosine == pytest.approx(1.0 if reading.visible else 0.0, abs=1e-12)
    assert min(dark) == pytest.approx(4.0e9, abs=1.1e7)
    assert max(dark) == pytest.approx(6.0e9, abs=1.1e7)
    assert len(dark) == pytest.approx(200, abs=2)
    assert not [time for time in light if 4.0e9 < time < 6.0e9]


def test_the_shadow_lies_along_the_sun_s_rays():
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.2, 100.0, 4.0), pose=sn.Pose((0.0, 0.0, 2.0)))
    sun = Sun(elevation_deg=30.0, azimuth_deg=180.0)

    # A wall 4 m high, sun at 30 degrees: the shadow is 4 / tan 30 = 6.93 m long, on the far side
    env = sn.Environment(scene, sun=sun)
    edge = 0.1 + 4.0 / math.tan(math.radians(30.0))
    places = [(edge - 0.01, 0, 0), (edge + 0.01, 0, 0), (-1.0, 0, 0), (0.2, 49.9, 0), (0.2, 50.1, 0)]
    sensor = env.attach(sn.SunSensor(), pose=[sn.Pose(place, UP.quaternion) for place in places])
    env.observe(200_000_000)
    assert sensor.read().visible.tolist() == [False, True, True, False, True]


def test_what_is_hidden_casts_no_shadow():
    scene = sn.Scene()
    scene.add(sn.shapes.box(4.0, 4.0, 0.5), body="craft", pose=sn.Pose((0, 0, 1.0)))
    env = still(scene=scene)
    below = env.attach(sn.SunSensor(), body="craft", pose=UP, name="below")
    through = env.attach(sn.SunSensor(), body="craft", pose=UP, name="through", hide=("craft",))
    env.step()
    assert not below.read().visible
    assert through.read().visible
    assert through.read().cosine == pytest.approx(1.0)


def test_far_from_the_origin_the_shadow_s_edge_is_as_sharp():
    far = np.array([3.0e5, -8.0e5, 100.0])
    scene = sn.Scene()
    scene.add(sn.shapes.box(2.0, 2.0, 0.5), pose=sn.Pose(far + [0, 0, 3.0]))
    env = sn.Environment(scene, sun=NOON)
    poses = [sn.Pose(far + [x, 0, 0], UP.quaternion) for x in (0.999, 1.001)]
    sensor = env.attach(sn.SunSensor(), pose=poses)
    env.observe(200_000_000)
    assert sensor.read().visible.tolist() == [False, True]


# --- errors -----------------------------------------------------------------------------------------------------------


def test_errors_act_in_order_and_leave_truth_and_visibility_alone():
    spec = sn.SunSensor(
        scale=Scale(error=-0.2),
        extra=(Bias(0.013),),
        quantization=Quantize(lsb=0.01),
        saturation=Saturate(min=0.0, max=0.7),
    )
    pose = sn.Pose.from_euler_deg(pitch=-90.0 + 60.0)
    sensor = one(spec, pose=pose)
    assert sensor.read().cosine == pytest.approx(0.41, abs=1e-12)  # 0.5 x 0.8 + 0.013
    assert sensor.truth().cosine == pytest.approx(0.5, abs=1e-12)
    bright = one(spec)
    assert bright.read().cosine == pytest.approx(0.7, abs=1e-12)
    dark = one(spec, sun=Sun(elevation_deg=-1.0))
    assert dark.read().cosine == pytest.approx(0.01, abs=1e-12)
    assert not dark.read().visible


def test_noise_has_its_law_in_sun_and_shadow():
    from scipy import stats

    scene = sn.Scene()
    scene.add(sn.shapes.box(2.0, 2.0, 0.5), pose=sn.Pose((0, 0, 3.0)))
    env = still(scene=scene, worlds=4096, seed=2)
    poses = [UP, sn.Pose((5.0, 0, 0), UP.quaternion)]
    sensor = env.attach(sn.SunSensor(noise=Noise(density=0.02)), body="craft", pose=poses)
    env.step()
    error = sensor.read().cosine - [0.0, 1.0]
    for column in range(2):
        assert stats.kstest(error[:, column] / (0.02 * math.sqrt(5.0)), "norm").pvalue > 1e-3
    np.testing.assert_array_equal(sensor.read().visible, [[False, True]] * 4096)


# --- many worlds ------------------------------------------------------------------------------------------------------


def test_a_world_of_many_is_as_alone():
    speeds = np.array([0.5, 1.0, 2.0, -3.0, 4.0])
    poses = [UP, sn.Pose((0.5, 0.4, 0.0), UP.quaternion), sn.Pose.from_euler_deg((0, 0.9, 0), pitch=-40.0)]
    spec = sn.SunSensor(timing=SLOW, extra=(White(std=0.01),))

    def run(chosen, first):
        scene = sn.Scene()
        scene.add(sn.shapes.box(2.0, 2.0, 0.5), body="box")
        start = np.stack([-chosen, 0 * chosen, 0 * chosen + 3.0], axis=-1)
        path = sn.paths.Line(start=start, velocity=np.stack([chosen, 0 * chosen, 0 * chosen], axis=-1))
        world = sn.worlds.Kinematic({"box": path}, step_s=0.05)
        env = sn.Environment(scene, world, sun=NOON, worlds=len(chosen), first_world=first, seed=3)
        sensor = env.attach(spec, pose=poses)
        readings = []
        for _ in env.run(2.5):
            readings += sensor.readings()
        return np.array([r.cosine for r in readings]), np.array([r.visible for r in readings])

    cosine, visible = run(speeds, 0)
    assert cosine.shape == visible.shape == (250, 5, 3)

    # Overhead while |v (t - 1)| < 1, each world with its own speed
    time_s = np.arange(1, 251) * 0.01
    for world, speed in enumerate(speeds):
        reach = np.abs(speed * (time_s - 1.0))
        clear_cut = np.abs(reach - 1.0) > 0.001
        np.testing.assert_array_equal(visible[clear_cut, world, 0], reach[clear_cut] > 1.0)
    for world in range(5):
        alone = run(speeds[world : world + 1], world)
        np.testing.assert_array_equal(alone[0][:, 0], cosine[:, world])
        np.testing.assert_array_equal(alone[1][:, 0], visible[:, world])


def test_a_reset_world_begins_again():
    env = box_overhead(speed=10.0, start=-2.5, step_s=0.1, worlds=2)
    sensor = env.attach(sn.SunSensor(), pose=UP)
    env.step()
    assert sensor.read().visible.tolist() == [True, True]
    env.step()
    assert sensor.read().visible.tolist() == [False, False]

    # The box is back at -1.5 m in one world, and at 0.5 m in the other
    env.reset(np.array([True, False]))
    env.step()
    assert sensor.read().visible.tolist() == [True, False]
    env.step()
    assert sensor.read().visible.tolist() == [False, True]


def test_beside_another_ray_sensor_nothing_changes():
    def run(beside):
        env = box_overhead(start=-1.5)
        sensor = env.attach(sn.SunSensor(timing=SLOW), pose=UP)
        if beside:
            pattern = sn.patterns.Spinning(elevation_deg=(0.0, 30.0), columns=50, rate_hz=10)
            env.attach(sn.Lidar(pattern=pattern, motion="snapshot"), pose=sn.Pose((100.0, 0, 1.0)))
        return [reading.visible.tolist() for _ in env.run(3.0) for reading in sensor.readings()]

    assert run(beside=True) == run(beside=False)


# --- specifications ---------------------------------------------------------------------------------------------------


def test_a_specification_survives_as_data():
    spec = sn.SunSensor(half_angle_deg=60.0, extra=(White(std=0.01),), saturation=Saturate(min=0.0, max=1.0))
    assert sn.SunSensor.model_validate(spec.model_dump()) == spec


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"half_angle_deg": 0.0}, r"half_angle_deg is 0"),
        ({"half_angle_deg": 120.0}, r"half_angle_deg is 120"),
        ({"extra": ({"kind": "white", "std": -0.1},)}, r"std is -0.1; it must not be negative"),
        ({"fov_deg": 60.0}, r"fov_deg"),
    ],
)
def test_fields_that_cannot_be_are_refused(fields, message):
    with pytest.raises(SpecError, match=message):
        sn.SunSensor(**fields)
