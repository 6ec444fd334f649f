"""Odometers on wheels: distance is radius times angle over all turns, the radius given or seen."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.corruption import Noise

UPRIGHT = sn.Pose.from_euler_deg((0, 0, 0), roll=90.0)  # turns a cylinder's axis, z, to y


def environment(joint, scene=None, step_s=1e-2, body=None, **options):
    world = sn.worlds.Kinematic({"wheel": body or sn.paths.Fixed(sn.Pose())}, {"axle": joint}, step_s=step_s)
    return sn.Environment(scene or sn.Scene(), world, **options)


def wheel_scene(*objects):
    """A scene with meshes on the wheel, each with its pose, and the ground on nothing."""
    scene = sn.Scene()
    scene.add(sn.shapes.plane(100.0), pose=sn.Pose((0, 0, -1.0)))
    for mesh, pose in objects:
        scene.add(mesh, pose=pose, body="wheel")
    return scene


def readings(joint, spec, duration_s, **options):
    env = environment(joint, **options)
    odometer = env.attach(spec, joint="axle")
    out, truth = [], []
    for _ in env.run(duration_s):
        out += odometer.readings()
        truth.append(odometer.truth())
    return out, truth


def of(out, name):
    return np.array([getattr(reading, name) for reading in out])


# ---- distance


@given(radius_m=st.floats(0.01, 3.0), start=st.floats(-9, 9), velocity=st.floats(-80.0, 80.0))
@settings(max_examples=20, deadline=None)
def test_distance_is_radius_times_angle_over_all_turns(radius_m, start, velocity):
    out, truth = readings(sn.paths.JointLine(start, velocity), sn.Odometer(radius_m=radius_m), 1.0)
    s = radius_m * (start + velocity * np.arange(1, 101) * 0.01)
    np.testing.assert_allclose(of(out, "distance"), s, atol=1e-9)
    np.testing.assert_allclose(of(truth, "distance"), s, atol=1e-9)
    np.testing.assert_allclose(of(truth, "velocity"), radius_m * velocity, atol=1e-12)
    np.testing.assert_allclose(of(out, "velocity")[2:], radius_m * velocity, rtol=1e-6, atol=1e-7)


def test_a_rolling_wheel_measures_its_vehicles_way():
    """Without slip the rim rolls as far as the axle moves; with slip, farther."""
    radius_m, speed = 0.35, 2.8
    scene = wheel_scene((sn.shapes.cylinder(radius_m, 0.2), UPRIGHT))
    body = sn.paths.Line((0, 0, radius_m), (speed, 0, 0))
    for slip in (0.0, 0.25):
        rate = speed / radius_m / (1.0 - slip)
        env = environment(sn.paths.JointLine(0.0, rate), scene, body=body)
        odometer = env.attach(sn.Odometer(), joint="axle", body="wheel")
        for _ in env.run(5.0):
            pass
        assert odometer.read().distance * (1.0 - slip) == pytest.approx(speed * 5.0, rel=1e-9)


def test_signed_by_default_and_a_sum_on_request():
    """A wheel that swings by 4 amplitudes a period: signed it comes back to where it was."""
    radius_m, amplitude, period_s = 0.5, 0.8, 1.0
    swing = sn.paths.JointSine(amplitude, 2 * np.pi / period_s)
    timing = {"rate_hz": 1000.0}
    signed, _ = readings(swing, sn.Odometer(radius_m=radius_m, timing=timing), 3.0)
    total, truth = readings(swing, sn.Odometer(radius_m=radius_m, timing=timing, accumulate=True), 3.0)
    assert signed[-1].distance == pytest.approx(0.0, abs=1e-9)
    assert total[-1].distance == pytest.approx(3 * 4 * amplitude * radius_m, rel=1e-5)
    np.testing.assert_allclose(of(truth, "distance"), of(total, "distance")[9::10])
    assert (np.diff(of(total, "distance")) >= 0).all()
    assert (of(truth, "velocity") >= 0).all()
    assert (of(total, "velocity")[2:] >= 0).all()
    assert of(signed, "velocity").min() == pytest.approx(-2 * np.pi * amplitude * radius_m, rel=1e-2)


def test_a_sum_starts_at_zero_wherever_the_wheel_stands():
    out, _ = readings(sn.paths.JointLine(1000.0, -2.0), sn.Odometer(radius_m=0.5, accumulate=True), 1.0)
    np.testing.assert_allclose(of(out, "distance"), np.arange(1, 101) * 0.01, rtol=1e-9)


@pytest.mark.parametrize(
    ("given", "width_m"),
    [({"resolution": 0.01}, 0.003), ({"counts_per_turn": 90}, 0.3 * 2 * np.pi / 90), ({"resolution_m": 0.02}, 0.02)],
)
def test_bins_are_of_distance(given, width_m):
    out, truth = readings(sn.paths.JointSine(40.0, 2.0), sn.Odometer(radius_m=0.3, **given), 3.0)
    s = 0.3 * 40.0 * np.sin(2.0 * np.arange(1, 301) * 0.01)
    np.testing.assert_allclose(of(out, "distance"), width_m * np.floor(s / width_m), atol=1e-9)
    np.testing.assert_allclose(of(truth, "distance"), s, atol=1e-9)


def test_noise_is_of_distance_and_comes_before_bins():
    worlds, sigma_m = 20_000, 0.004
    env = environment(sn.paths.JointLine(100.0), worlds=worlds, seed=1)
    noise = Noise(density=sigma_m * math.sqrt(2 / 100.0))  # one-sided, at 100 Hz
    odometer = env.attach(sn.Odometer(radius_m=0.25, noise=noise), joint="axle")
    binned = env.attach(sn.Odometer(radius_m=0.25, noise=noise, resolution_m=0.001), joint="axle", name="binned")
    env.step()
    error_m = odometer.read().distance - 25.0
    assert error_m.mean() == pytest.approx(0.0, abs=5 * sigma_m / np.sqrt(worlds))
    assert error_m.std() == pytest.approx(sigma_m, rel=5 / np.sqrt(2 * worlds))
    steps = binned.read().distance / 0.001
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-6)
    np.testing.assert_array_equal(odometer.truth().distance, 25.0)


@pytest.mark.parametrize("edge_time", ["sample", "interpolated"])
def test_speed_is_told_from_edges_as_an_encoders(edge_time):
    spec = sn.Odometer(radius_m=0.5, resolution=0.01, edge_time=edge_time, timing={"rate_hz": 1000.0})
    out, _ = readings(sn.paths.JointLine(0.0, 0.21), spec, 3.0)
    speed = of(out, "velocity")[100:]
    if edge_time == "interpolated":
        np.testing.assert_allclose(speed, 0.105, rtol=1e-6)
    else:  # bins of 5 mm at 105 mm/s: an edge every 47.62 samples
        assert set(np.round(speed, 6)) == {round(0.005 / 0.047, 6), round(0.005 / 0.048, 6)}


def test_a_wheel_that_stops_reads_no_speed_after_the_timeout():
    stopping = sn.paths.JointFunction(lambda t: np.minimum(t, 0.5), vectorized=True)
    out, _ = readings(stopping, sn.Odometer(radius_m=1.0, resolution_m=0.01, timeout_s=0.1), 1.0)
    assert out[50].velocity == pytest.approx(1.0)
    assert out[-1].velocity == 0.0


# ---- radius from geometry


@pytest.mark.parametrize(
    ("objects", "axis", "expected"),
    [
        ([(sn.shapes.cylinder(0.31, 0.2), UPRIGHT)], (0, 1, 0), 0.31),
        ([(sn.shapes.cylinder(0.31, 0.2), sn.Pose())], (0, 0, 1), 0.31),
        ([(sn.shapes.cylinder(0.31, 0.2), sn.Pose())], (0, 0, -7), 0.31),
        ([(sn.shapes.cylinder(0.31, 0.2), sn.Pose((0.1, 0, 0.3)))], (0, 0, 1), 0.41),
        ([(sn.shapes.box(0.6, 5.0, 0.8), sn.Pose())], (0, 1, 0), 0.5),
        ([(sn.shapes.box(0.6, 5.0, 0.8), sn.Pose())], (1, 0, 0), math.hypot(2.5, 0.4)),
        ([(sn.shapes.cylinder(0.1, 0.3), UPRIGHT), (sn.shapes.cylinder(0.4, 0.1), UPRIGHT)], (0, 1, 0), 0.4),
    ],
)
def test_the_farthest_corner_from_the_axle_is_the_radius(objects, axis, expected):
    env = environment(sn.paths.JointLine(2.0), wheel_scene(*objects))
    odometer = env.attach(sn.Odometer(axis=axis), joint="axle", body="wheel")
    env.step()
    assert odometer.read().distance == pytest.approx(2.0 * expected, rel=1e-6)


def test_the_axle_passes_through_the_sensors_place():
    """A wheel drawn off its body's origin and askew, and the pose that says so."""
    X_BS = sn.Pose.from_euler_deg((0.5, -1.0, 2.0), yaw=30.0, pitch=10.0, roll=40.0)
    env = environment(sn.paths.JointLine(1.0), wheel_scene((sn.shapes.cylinder(0.3, 0.2), X_BS @ UPRIGHT)))
    odometer = env.attach(sn.Odometer(), joint="axle", body="wheel", pose=[X_BS, X_BS, sn.Pose()])
    env.step()
    distance = odometer.read().distance
    np.testing.assert_allclose(distance[:2], 0.3, rtol=1e-6)
    assert distance[2] > 2.0


def test_a_corner_that_no_face_has_is_no_rim():
    wheel = sn.shapes.cylinder(0.2, 0.1)
    stray = sn.Mesh(np.concatenate([wheel.vertices, [[9.0, 9.0, 9.0]]]), wheel.faces)
    env = environment(sn.paths.JointLine(1.0), wheel_scene((stray, UPRIGHT)))
    odometer = env.attach(sn.Odometer(), joint="axle", body="wheel")
    env.step()
    assert odometer.read().distance == pytest.approx(0.2, rel=1e-6)


def test_each_world_has_its_own_wheel():
    """Bins of an angle are then as wide as the wheel makes them."""
    radii = np.array([0.2, 0.5, 0.35])
    assets = [sn.shapes.cylinder(radius, 0.1) for radius in radii]
    batch = sn.SceneBatch(assets, [[0], [1], [2]], UPRIGHT, body=["wheel"])
    env = environment(sn.paths.JointLine(1.37), batch)
    exact = env.attach(sn.Odometer(), joint="axle", body="wheel")
    binned = env.attach(sn.Odometer(resolution=0.1), joint="axle", body="wheel", name="binned")
    env.step()
    np.testing.assert_allclose(exact.read().distance, 1.37 * radii, rtol=1e-6)
    np.testing.assert_allclose(binned.read().distance, 1.3 * radii, rtol=1e-6)


def test_a_given_radius_asks_for_no_geometry():
    env = environment(sn.paths.JointLine(2.0), wheel_scene((sn.shapes.cylinder(0.3, 0.2), UPRIGHT)))
    odometer = env.attach(sn.Odometer(radius_m=0.28), joint="axle", body="wheel")
    env.step()
    assert odometer.read().distance == pytest.approx(0.56)


def test_a_radius_that_nothing_tells_is_an_error():
    env = environment(sn.paths.JointLine(), wheel_scene())
    with pytest.raises(SpecError, match=r"radius_m of 'odometer' is None; give one, or attach the sensor with body="):
        env.attach(sn.Odometer(), joint="axle")
    with pytest.raises(SpecError, match=r"body 'wheel' has no object in the scene to take it from"):
        env.attach(sn.Odometer(), joint="axle", body="wheel")

    line = sn.Mesh([[0, 0, 0], [0, 1, 0], [0, 2, 0]], [[0, 1, 2]])
    env = environment(sn.paths.JointLine(), wheel_scene((line, sn.Pose())))
    with pytest.raises(SpecError, match="body 'wheel' has nothing around the axle"):
        env.attach(sn.Odometer(), joint="axle", body="wheel")

    batch = sn.SceneBatch([sn.shapes.cylinder(0.2, 0.1)], [[0], [-1]], UPRIGHT, body=["wheel"])
    env = environment(sn.paths.JointLine(), batch)
    with pytest.raises(SpecError, match="in world 1"):
        env.attach(sn.Odometer(), joint="axle", body="wheel")


# ---- worlds, sensors, resets


@pytest.mark.parametrize(("worlds", "poses"), [(None, None), (3, None), (None, 2), (3, 2)])
def test_arrays_have_the_axes_that_were_asked_for(worlds, poses):
    env = environment(sn.paths.JointLine(1.0, 2.0), worlds=worlds)
    pose = None if poses is None else [sn.Pose()] * poses
    odometer = env.attach(sn.Odometer(radius_m=0.2), joint="axle", pose=pose)
    env.step()
    shape = tuple(n for n in (worlds, poses) if n is not None)
    for reading in (odometer.read(), odometer.truth()):
        for name in ("distance", "velocity", "valid"):
            assert np.shape(getattr(reading, name)) == shape, name
        assert f"distance={reading.distance}" in repr(reading)
        assert reading.time_ns == 10_000_000


@pytest.mark.parametrize("accumulate", [False, True])
def test_a_reset_restarts_the_masked_worlds_alone(accumulate):
    env = environment(sn.paths.JointLine(0.5, [3.0, -3.0]), worlds=2, step_s=0.004)
    spec = sn.Odometer(radius_m=1.0, accumulate=accumulate, timing={"rate_hz": 50.0})
    odometer = env.attach(spec, joint="axle", pose=[sn.Pose(), sn.Pose()])
    for _ in env.run(0.212):  # off the ticks: what the wheel turns from the reset to the next tick counts
        pass
    env.reset(np.array([True, False]))
    for _ in env.run(0.108):
        pass
    turned = np.array([3.0 * 0.108, -3.0 * 0.32])
    expected = np.abs(turned) if accumulate else 0.5 + turned
    np.testing.assert_allclose(odometer.read().distance, np.repeat(expected[:, None], 2, axis=1), rtol=1e-9)
    np.testing.assert_allclose(odometer.truth().distance, np.repeat(expected[:, None], 2, axis=1), rtol=1e-9)


def test_a_sum_starts_again_when_it_is_switched_on():
    env = environment(sn.paths.JointLine(0.0, 3.0))
    odometer = env.attach(sn.Odometer(radius_m=1.0, accumulate=True), joint="axle")
    for _ in env.run(0.2):
        pass
    odometer.enabled = False
    for _ in env.run(0.3):
        pass
    odometer.enabled = True
    for _ in env.run(0.1):
        pass
    assert odometer.read().distance == pytest.approx(0.3)


def test_a_reading_on_its_way_is_void_where_a_world_was_reset():
    env = environment(sn.paths.JointLine(0.0, 1.0), worlds=2)
    timing = {"rate_hz": 100.0, "latency_s": 0.03}
    odometer = env.attach(sn.Odometer(radius_m=1.0, timing=timing), joint="axle")
    for _ in env.run(0.05):
        pass
    env.reset(np.array([False, True]))
    env.step()
    np.testing.assert_array_equal(odometer.read().valid, [True, False])


def test_a_batch_is_its_worlds_one_by_one():
    rates = np.array([3.0, -7.0, 0.5])
    spec = sn.Odometer(radius_m=0.3, counts_per_turn=256, noise=Noise(density=1e-3), accumulate=True)

    def run(rate, **options):
        env = environment(sn.paths.JointSine(1.0, rate), seed=9, **options)
        odometer = env.attach(spec, joint="axle")
        return np.array([[odometer.read().distance, odometer.read().velocity] for _ in env.run(0.3)])

    together = run(rates, worlds=3)
    for world, rate in enumerate(rates):
        np.testing.assert_array_equal(run(rate, first_world=world), together[:, :, world])


# ---- data and errors


def test_it_is_data():
    spec = sn.Odometer(resolution_m=0.01, accumulate=True, axis=(0, 0, 1))
    assert sn.Odometer.model_validate_json(spec.model_dump_json()) == spec


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"radius_m": 0.0}, "Odometer.radius_m is 0.0"),
        ({"radius_m": -1.0}, "Odometer.radius_m is -1.0"),
        ({"axis": (0, 0, 0)}, r"Odometer.axis is \(0.0, 0.0, 0.0\); it must have a direction"),
        ({"resolution_m": 0.0}, "Odometer.resolution_m is 0.0"),
        ({"resolution_m": 0.1, "resolution": 0.2}, "resolution_m is 0.1 and resolution is 0.2; only one"),
        ({"resolution_m": 0.1, "counts_per_turn": 9}, "resolution_m is 0.1 and counts_per_turn is 9; only one"),
        ({"resolution": 0.1, "counts_per_turn": 9}, "resolution is 0.1 and counts_per_turn is 9; only one"),
        ({"radius": 0.3}, "did you mean radius_m"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(SpecError, match=message):
        sn.Odometer(**given)


def test_a_joint_that_slides_has_no_wheel():
    world = sn.worlds.Kinematic({}, {"lift": sn.paths.JointLine()}, slide_joints=("lift",))
    with pytest.raises(SpecError, match="odometer 'odometer' measures a joint that slides; it must be one that turns"):
        sn.Environment(sn.Scene(), world).attach(sn.Odometer(radius_m=0.3), joint="lift")
