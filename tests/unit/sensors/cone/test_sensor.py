"""Cone sensor: what is nearest in sight, how it moves, and that nothing in sight is a reading too."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.corruption import Dropout, Fault, FaultSchedule, Freeze, LowPass, Noise, Program, Quantize, Stuck
from sensorium.sensors.cone import channels as cc
from sensorium.sensors.cone.sensor import ConeReadout, ConeSignal
from sensorium.sensors.cone.sighting import Sighting
from sensorium.sensors.cone.verdict import new_rule
from sensorium.tracing.labels import LabelTables

BOX = sn.shapes.box(1.0, 1.0, 1.0)
THIN = sn.shapes.box(2e-5, 1.0, 1.0)
FAST = sn.Timing(rate_hz=50.0)


def cone(**fields):
    return sn.ConeSensor(**({"horizontal_fov_deg": 90.0, "vertical_fov_deg": 90.0, "range_m": 20.0} | fields))


def scene_of(*placed):
    """A scene of (mesh, pose or body)."""
    scene = sn.Scene()
    for number, (mesh, where) in enumerate(placed):
        on_body = isinstance(where, str)
        scene.add(mesh, body=where if on_body else None, pose=None if on_body else where, label=f"thing {number}")
    return scene


def look(spec, *placed, pose=None, worlds=None):
    """One reading of things that stand still."""
    env = sn.Environment(scene_of(*placed), sn.worlds.Static(step_s=1.0), worlds=worlds)
    sensor = env.attach(spec, pose=pose)
    env.step()
    return sensor.read()


def moving(spec, paths, *, meshes=None, step_s=0.02, body=None, **options):
    """An environment of boxes on paths, and a sensor in it."""
    scene = scene_of(*(((meshes or {}).get(name, BOX), name) for name in paths if name != body))
    env = sn.Environment(scene, sn.worlds.Kinematic(paths, step_s=step_s), **options)
    return env, env.attach(spec, body=body)


# --- range and angles -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "range_m", "elevation_deg"),
    [(2, 1.118025, 26.56528), (3, 0.99999, 0.0), (10, 1.001532, 3.179862), (100, 1.0000028, 0.289373)],
)
def test_table_2_by_the_sensor_itself(lines, range_m, elevation_deg):
    reading = look(cone(lines=lines), (THIN, sn.Pose((1.0, 0.0, 0.0))))
    assert reading.range_m == pytest.approx(range_m, abs=5.1e-8)
    assert abs(np.degrees(reading.elevation)) == pytest.approx(elevation_deg, abs=5.1e-7)
    assert reading.azimuth == 0.0


def test_a_face_without_lines_is_met_exactly():
    reading = look(cone(), (THIN, sn.Pose((1.0, 0.0, 0.0))))
    assert reading.range_m == pytest.approx(0.99999, abs=1e-15)
    assert reading.elevation == pytest.approx(0.0, abs=1e-12)


def test_the_thesis_obstacle_at_5_0_7_is_to_our_right():
    # x right, y up, z forward there; x forward, y left, z up here. Its box is turned to face the sensor
    pose = sn.Pose.from_euler_deg((7.0, -5.0, 0.0), yaw=-math.degrees(math.atan2(5.0, 7.0)))
    exact = look(cone(), (THIN, pose))
    assert np.degrees(exact.azimuth) == pytest.approx(-35.53768, abs=5e-6)
    assert f"{exact.range_m:.5f}" == "8.60232"  # to its front; printed 8.60233 is to its middle:
    assert f"{math.sqrt(74.0):.5f}" == "8.60233"

    # With 1,000 lines: half their distance off, 0.0033336 degrees; printed 0.004096 is seen from the side (U-07)
    lines = look(cone(lines=1000), (THIN, pose))
    assert abs(np.degrees(lines.elevation)) == pytest.approx(0.0033336, abs=1e-7)
    assert abs(np.degrees(lines.projected_elevation)) == pytest.approx(0.004096, abs=1e-6)
    assert abs(np.degrees(lines.projected_elevation)) == pytest.approx(
        math.degrees(math.atan(0.5 / 999 / 7.0)), abs=1e-8
    )
    assert np.degrees(lines.azimuth) == pytest.approx(-35.53768, abs=5e-6)


def test_left_is_positive_and_both_elevations_are_told():
    reading = look(cone(), (sn.shapes.sphere(1e-3, 0), sn.Pose((2.0, 1.0, 0.5))))
    assert reading.azimuth == pytest.approx(math.atan2(1.0, 2.0), abs=1e-3)
    assert reading.projected_elevation == pytest.approx(math.atan2(0.5, 2.0), abs=1e-3)
    assert reading.elevation == pytest.approx(math.atan2(0.5, math.hypot(2.0, 1.0)), abs=1e-3)


def test_the_point_in_the_world_is_where_the_sensor_and_its_point_say():
    mount = sn.Pose.from_euler_deg((1.0, 2.0, 3.0), yaw=30.0, pitch=-10.0)
    reading = look(cone(), (BOX, mount @ sn.Pose((6.0, 0.5, 0.3))), pose=mount)
    np.testing.assert_allclose(reading.point_W, mount.apply(reading.point), atol=1e-12)
    assert np.linalg.norm(reading.point) == pytest.approx(reading.range_m)
    assert (reading.object_id, reading.label) == (0, 1)


def test_a_spherical_front_reaches_less_far_to_the_sides():
    beside = (BOX, sn.Pose((9.5, 7.0, 0.0)))
    assert look(cone(range_m=10.0), beside).in_sight
    assert not look(cone(range_m=10.0, front="spherical"), beside).in_sight


def test_the_middle_of_the_box_is_the_cheap_target():
    reading = look(cone(target="aabb_center"), (BOX, sn.Pose((4.0, 0.0, 3.0))), (BOX, sn.Pose((2.0, 2.4, 0.0))))
    assert reading.range_m == 5.0
    assert reading.object_id == 0
    assert look(cone(), (BOX, sn.Pose((2.0, 2.4, 0.0)))).in_sight  # though its middle is not


# --- nothing in sight -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lines", [5, "exact"])
@pytest.mark.parametrize("placed", [(), ((BOX, sn.Pose((-5.0, 0.0, 0.0))),), ((BOX, sn.Pose((30.0, 0.0, 0.0))),)])
def test_nothing_in_sight_is_a_reading(placed, lines):
    reading = look(cone(lines=lines, per_object=True), *placed)
    assert reading.valid
    assert not reading.in_sight
    assert reading.range_m == np.inf
    assert (reading.object_id, reading.label, reading.verdict) == (-1, -1, sn.Verdict.UNKNOWN)
    for name in ("azimuth", "elevation", "projected_elevation", "range_rate", "speed", "differenced_range_rate"):
        assert np.isnan(getattr(reading, name))
    assert np.isnan(reading.point).all()
    assert np.isnan(reading.point_W).all()
    assert "nothing in sight" in repr(reading)
    assert not reading.objects.in_sight.any()
    assert reading.objects.nearest_first.size == 0


def test_an_occlusion_check_in_an_empty_scene_finds_nothing_either():
    assert not look(cone(occlusion=True)).in_sight


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"horizontal_fov_deg": 180.0}, "horizontal_fov_deg is 180"),
        ({"vertical_fov_deg": 200.0}, "vertical_fov_deg is 200"),
        ({"horizontal_fov_deg": 0.0}, "horizontal_fov_deg is 0"),
        ({"range_m": 0.0}, "range_m is 0"),
        ({"range_m": -3.0}, "range_m is -3"),
        ({"range_m": math.nan}, "range_m is nan"),
        ({"lines": 1}, "lines"),
        ({"lines": "all"}, "lines"),
        ({"half_spacing_deg": 1.0}, "half_spacing_deg is 1 with lines 'exact'; it must go with a number of lines"),
        ({"angle_error_deg": 1.0}, "angle_error_deg is 1.0; did you mean half_spacing_deg?"),
        ({"verdict_window_s": 0.0}, "verdict_window_s is 0"),
        ({"target": "aabb_center", "lines": 10}, "lines is 10 with target 'aabb_center'"),
    ],
)
def test_bad_input_is_refused_in_one_line(fields, says):
    with pytest.raises(SpecError) as error:
        cone(**fields)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_objects_are_listed_only_where_they_are_asked_for():
    with pytest.raises(SpecError, match="per_object=True"):
        _ = look(cone(), (BOX, sn.Pose((5, 0, 0)))).objects


# --- speed ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("velocity", [0.25, 1.0, 2.0, -0.5])
def test_table_4_is_exact_in_simulated_time(velocity):
    start = 0.6 if velocity > 0.0 else 9.0
    env, sensor = moving(cone(timing=FAST), {"box": sn.paths.Line(start=(start, 0, 0), velocity=(velocity, 0, 0))})
    speeds, rates = [], []
    for _ in env.run(3.0):
        reading = sensor.read()
        speeds.append(float(reading.speed))
        rates.append((float(reading.differenced_range_rate), float(reading.range_rate)))
        expected = sn.Verdict.RECEDING if velocity > 0.0 else sn.Verdict.APPROACHING
        assert reading.verdict == (expected if len(speeds) > 2 else sn.Verdict.UNKNOWN)
    assert len(speeds) == 150
    assert np.isnan(speeds[0])
    np.testing.assert_allclose(speeds[1:], abs(velocity), rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(rates[1:], velocity, rtol=0.0, atol=1e-12)
    assert rates[0][1] == pytest.approx(velocity, abs=1e-15)


def test_wall_clock_jitter_spreads_the_speed_of_a_sensor_that_counts_periods():
    speeds = {}
    for interval in ("true", "nominal"):
        timing = sn.Timing(rate_hz=50.0, jitter_s=0.002)
        spec = cone(timing=timing, speed_interval=interval)
        env, sensor = moving(spec, {"box": sn.paths.Line(start=(0.6, 0, 0), velocity=(1.0, 0, 0))})
        speeds[interval] = [float(r.speed) for _ in env.run(8.0) for r in sensor.readings()][1:]
    np.testing.assert_allclose(speeds["true"], 1.0, atol=1e-11)

    # Differences of jitters of 0.1 periods: a spread of sqrt(2) 10 percent, and no bias
    assert np.std(speeds["nominal"]) == pytest.approx(math.sqrt(2.0) * 0.1, rel=0.15)
    assert np.mean(speeds["nominal"]) == pytest.approx(1.0, abs=1e-3)


def test_a_body_that_comes_and_goes_changes_the_sign_and_the_verdict():
    # A pendulum along x: position 6 - 2 cos(w t)
    path = sn.paths.Function(
        lambda t: sn.Pose(np.stack([6.0 - 2.0 * np.cos(t), 0.0 * t, 0.0 * t], axis=-1)), vectorized=True
    )
    env, sensor = moving(cone(timing=FAST, still_below_m_s=0.5), {"box": path})
    verdicts = []
    for _ in env.run(2.0 * math.pi):
        reading = sensor.read()
        verdicts.append(int(reading.verdict))
        assert reading.range_rate == pytest.approx(2.0 * math.sin(env.time_s), abs=2e-3)
    verdicts = np.array(verdicts)
    assert (verdicts[20:130] == sn.Verdict.RECEDING).all()
    assert (verdicts[180:290] == sn.Verdict.APPROACHING).all()
    assert (verdicts[148:166] == sn.Verdict.STILL).all()


@pytest.mark.parametrize("noise_m", [0.02, 0.1, 0.2])
@pytest.mark.parametrize("velocity", [-1.0, 1.0, -3.0, 0.0])
def test_noise_of_ranges_does_not_turn_the_verdict_over(noise_m, velocity):
    """In 100 worlds at 20 Hz, after a second: differences of such ranges are wrong in up to half of the readings."""
    path = {"box": sn.paths.Line(start=(40.0, 0, 0), velocity=(velocity, 0, 0))}
    spec = cone(range_m=100.0, range={"noise": {"std": noise_m}})
    env, sensor = moving(spec, path, step_s=0.05, worlds=100, seed=4)
    found = np.array([sensor.read().verdict for _ in env.run(5.0)])[20:]
    expected = {-1.0: sn.Verdict.APPROACHING, 1.0: sn.Verdict.RECEDING, 0.0: sn.Verdict.STILL}[np.sign(velocity)]
    opposite = {-1.0: sn.Verdict.RECEDING, 1.0: sn.Verdict.APPROACHING}.get(np.sign(velocity))
    assert (found == expected).mean() > 0.95
    assert (found == opposite).mean() < 1e-3


def test_a_wall_that_slides_by_is_still_though_its_matter_comes_near():
    # A car beside a wall: the cone cuts it always at the same distance
    paths = {"car": sn.paths.Line(start=(0, 0, 0), velocity=(5.0, 0.0, 0.0)), "wall": sn.paths.Fixed(sn.Pose())}
    meshes = {"wall": sn.shapes.box(400.0, 0.2, 20.0)}
    env = sn.Environment(
        scene_of((meshes["wall"], sn.Pose((0.0, 3.0, 0.0)))), sn.worlds.Kinematic({"car": paths["car"]}, step_s=0.02)
    )
    sensor = env.attach(cone(timing=FAST), body="car")
    for _ in env.run(0.5):
        reading = sensor.read()
    assert reading.range_rate < -3.0
    assert reading.verdict == sn.Verdict.STILL


def test_a_change_of_target_gives_no_false_speed():
    # One box stands at 10 m; another, from the side, comes into the cone at 5 m
    paths = {
        "far": sn.paths.Fixed(sn.Pose((10.0, 0.0, 0.0))),
        "near": sn.paths.Line(start=(5.0, 8.0, 0.0), velocity=(0.0, -2.0, 0.0)),
    }
    env, sensor = moving(cone(timing=FAST), paths)
    targets, speeds, verdicts = [], [], []
    for _ in env.run(3.0):
        reading = sensor.read()
        targets.append(int(reading.object_id))
        speeds.append(float(reading.speed))
        verdicts.append(int(reading.verdict))
    change = targets.index(1)
    assert change == pytest.approx(50, abs=1)
    assert set(targets[:change]) == {0}
    assert set(targets[change:]) == {1}
    assert np.isnan(speeds[change])
    assert verdicts[change : change + 2] == [sn.Verdict.UNKNOWN] * 2
    assert set(verdicts[2:change]) == {sn.Verdict.STILL}
    assert np.nanmax(speeds) < 6.0  # where the range jumps by 4 m in 20 ms, 200 m/s
    np.testing.assert_allclose(speeds[1:change], 0.0, atol=1e-12)


def test_what_leaves_and_comes_back_starts_again():
    path = sn.paths.Function(
        lambda t: sn.Pose(np.stack([3.0 + 0.0 * t, 8.0 * np.sin(t), 0.0 * t], axis=-1)), vectorized=True
    )
    env, sensor = moving(cone(timing=FAST), {"box": path})
    seen, speeds = [], []
    for _ in env.run(4.0):
        seen.append(bool(sensor.read().in_sight))
        speeds.append(float(sensor.read().speed))
    again = [k for k in range(1, len(seen)) if seen[k] and not seen[k - 1]]
    assert again
    assert all(np.isnan(speeds[k]) for k in again)
    assert np.nanmax(speeds) < 20.0


def test_the_matter_of_a_turning_body_moves_where_its_surface_does_not():
    # A cylinder that spins about its own axis, seen to one side of it: its nearest point stands, its matter does not
    scene = scene_of((sn.shapes.cylinder(1.0, 2.0, 512), "wheel"))
    world = sn.worlds.Kinematic({"wheel": sn.paths.Spin(position=(5.0, 0, 0), axis=(0, 0, 1), rate=2.0)}, step_s=0.02)
    env = sn.Environment(scene, world)
    sensor = env.attach(cone(timing=FAST))
    narrow = env.attach(
        cone(timing=FAST, horizontal_fov_deg=1.0, vertical_fov_deg=1.0),
        pose=sn.Pose((0.0, 0.5, 0.0)),
        name="beside",
    )
    for _ in env.run(0.2):
        assert sensor.read().range_rate == pytest.approx(0.0, abs=0.05)
        # Straight ahead at y = 0.5 the rim moves at w r across the radius: along x by -w y
        assert narrow.read().range_rate == pytest.approx(-2.0 * 0.5, rel=0.1)
        assert abs(float(np.nan_to_num(narrow.read().differenced_range_rate))) < 0.1


def test_the_sensors_own_motion_counts():
    paths = {
        "car": sn.paths.Line(start=(0, 0, 0), velocity=(3.0, 0.0, 0.0)),
        "box": sn.paths.Fixed(sn.Pose((15, 0, 0))),
    }
    env, sensor = moving(cone(timing=FAST), paths, body="car")
    for _ in env.run(0.5):
        assert sensor.read().range_rate == pytest.approx(-3.0, abs=1e-12)
    assert sensor.read().differenced_range_rate == pytest.approx(-3.0, abs=1e-11)
    assert sensor.read().verdict == sn.Verdict.APPROACHING


# --- every object -----------------------------------------------------------------------------------------------------


def test_every_object_in_sight_is_listed():
    behind, left, ahead = (BOX, sn.Pose((-5, 0, 0))), (BOX, sn.Pose((6, 2, 0))), (BOX, sn.Pose((4.5, 0, 0)))
    reading = look(cone(per_object=True), behind, left, ahead)
    objects = reading.objects
    assert objects.in_sight.tolist() == [False, True, True]
    assert objects.nearest_first.tolist() == [2, 1]
    assert objects.range_m.tolist() == [np.inf, pytest.approx(math.hypot(5.5, 1.5)), pytest.approx(4.0)]
    assert objects.azimuth[1] == pytest.approx(math.atan2(1.5, 5.5))
    assert objects.label.tolist() == [-1, 2, 3]
    assert np.isnan(objects.azimuth[0])
    assert np.isnan(objects.point[0]).all()
    np.testing.assert_allclose(objects.point[1], objects.point_W[1])
    assert objects.projected_elevation[2] == objects.elevation[2] == pytest.approx(0.0, abs=1e-12)
    assert objects.range_rate[1:].tolist() == [0.0, 0.0]
    assert reading.range_m == objects.range_m.min()


def test_an_object_behind_another_is_left_out_on_request():
    wall, hidden, free = (
        (sn.shapes.box(0.2, 3.0, 3.0), sn.Pose((4, 0, 0))),
        (BOX, sn.Pose((8, 0, 0))),
        (BOX, sn.Pose((8, 6, 0))),
    )
    assert look(cone(per_object=True), wall, hidden, free).objects.in_sight.tolist() == [True, True, True]
    reading = look(cone(per_object=True, occlusion=True), wall, hidden, free)
    assert reading.objects.in_sight.tolist() == [True, False, True]
    assert reading.range_m == pytest.approx(3.9)


def test_what_lines_look_past_hides_others_only_on_request():
    # A wall whose two lines are out of the cone, and a box behind it whose own are not
    wall, box = (sn.shapes.box(0.2, 20.0, 10.0), sn.Pose((4, 0, 0))), (BOX, sn.Pose((8, 0, 0)))
    narrow = {"lines": 2, "vertical_fov_deg": 30.0}
    assert look(cone(**narrow), wall, box).object_id == 1
    assert not look(cone(occlusion=True, **narrow), wall, box).in_sight


# --- worlds and sensors -----------------------------------------------------------------------------------------------


def test_worlds_and_sensors_have_axes_and_give_what_each_gives_alone():
    starts = np.array([(4.0, 0.0, 0.0), (6.0, 1.0, 0.5), (-8.0, 0.0, 0.0)])
    mounts = [sn.Pose(), sn.Pose.from_euler_deg((0.2, 0, 0), yaw=10.0)]
    spec = cone(timing=FAST, per_object=True, range={"noise": Noise(std=0.1)})

    def run(worlds, path, pose, first_world=0):
        env = sn.Environment(
            scene_of((BOX, "box"), (BOX, sn.Pose((9, 0, 0)))),
            sn.worlds.Kinematic({"box": path}, step_s=0.02),
            worlds=worlds,
            first_world=first_world,
            seed=3,
        )
        sensor = env.attach(spec, pose=pose)
        for _ in env.run(0.1):
            pass
        return sensor

    many = run(3, sn.paths.Line(start=starts, velocity=(0.3, 0.0, 0.0)), mounts)
    reading = many.read()
    assert reading.range_m.shape == reading.verdict.shape == (3, 2)
    assert reading.point.shape == reading.point_W.shape == (3, 2, 3)
    assert reading.objects.range_m.shape == (3, 2, 2)
    for world in range(3):
        path = sn.paths.Line(start=starts[world], velocity=(0.3, 0.0, 0.0))
        alone = run(1, path, mounts, first_world=world)
        assert (alone.read().range_m == reading.range_m[world]).all()
        assert (alone.truth().range_m == many.truth().range_m[world]).all()
        np.testing.assert_array_equal(alone.read().objects.point, reading.objects.point[world : world + 1])
    with pytest.raises(SpecError, match="in_sight"):
        _ = reading.objects.nearest_first


def test_batches_of_scenes_have_their_own_objects():
    slots = sn.Pose(np.array([[(5.0, 0.0, 0.0), (8.0, 0.0, 0.0)]] * 2))
    batch = sn.SceneBatch([BOX, sn.shapes.sphere(0.5, 3)], [[0, 1], [-1, 0]], slots)
    env = sn.Environment(batch, sn.worlds.Static(step_s=1.0))
    sensor = env.attach(cone())
    env.step()
    assert sensor.read().range_m == pytest.approx([4.5, 7.5])
    assert sensor.read().object_id.tolist() == [0, 1]


def test_a_reset_world_has_no_reading_before():
    env, sensor = moving(cone(timing=FAST), {"box": sn.paths.Line(start=(4.0, 0, 0), velocity=(1.0, 0, 0))}, worlds=2)
    for _ in env.run(0.2):
        pass
    assert sensor.read().speed == pytest.approx([1.0, 1.0])
    env.reset(np.array([True, False]))
    env.step()
    speed = sensor.read().speed
    assert np.isnan(speed[0])
    assert speed[1] == pytest.approx(1.0)
    assert np.isnan(sensor.truth().speed[0])


def test_labels_are_those_of_the_faces_where_the_mesh_has_them():
    labeled = sn.Mesh(BOX.vertices, BOX.faces, face_properties={"label": [f"side {k // 2}" for k in range(12)]})
    for lines in ("exact", 5):
        env = sn.Environment(scene_of((labeled, sn.Pose((5, 0, 0)))), sn.worlds.Static(step_s=1.0))
        sensor = env.attach(cone(lines=lines))
        env.step()
        assert env.scene.labels["side 0"] == sensor.read().label  # the first quad of a box faces -x


# --- errors -----------------------------------------------------------------------------------------------------------


def test_errors_act_on_what_is_measured_and_points_follow():
    spec = cone(
        timing=FAST,
        range={"noise": Noise(std=0.05, bias=0.1), "quantization": Quantize(lsb=0.01)},
        angles={"noise": Noise(std=0.01)},
        range_rate={"noise": Noise(bias=0.7)},
    )
    env, sensor = moving(spec, {"box": sn.paths.Fixed(sn.Pose((6.0, 1.0, 0.4)))})
    ranges, azimuths, points, speeds = [], [], [], []
    for _ in env.run(8.0):
        reading, truth = sensor.read(), sensor.truth()
        ranges.append(float(reading.range_m - truth.range_m))
        azimuths.append(float(reading.azimuth - truth.azimuth))
        points.append(reading.point)
        speeds.append(float(reading.speed))
        assert np.linalg.norm(reading.point) == pytest.approx(reading.range_m)
        assert np.arctan2(reading.point[1], reading.point[0]) == pytest.approx(reading.azimuth)
        assert reading.range_rate == pytest.approx(0.7)
        assert reading.range_m == pytest.approx(round(float(reading.range_m), 2))
        assert (truth.range_rate, truth.range_m) == (0.0, 5.5 if truth.azimuth == 0.0 else truth.range_m)
    assert np.mean(ranges) == pytest.approx(0.1, abs=0.02)
    assert np.std(ranges) == pytest.approx(0.05, rel=0.2)
    assert np.std(azimuths) == pytest.approx(0.01, rel=0.2)
    way = np.linalg.norm(np.diff(points, axis=0), axis=1)
    np.testing.assert_allclose(speeds[1:], way * 50.0, rtol=1e-9)


def test_a_filter_lives_through_times_with_nothing_in_sight():
    path = sn.paths.Function(
        lambda t: sn.Pose(np.stack([4.0 + 0.0 * t, 9.0 * np.sin(3.0 * t), 0.0 * t], axis=-1)), vectorized=True
    )
    env, sensor = moving(cone(timing=FAST, range={"extra": (LowPass(cutoff_hz=5.0),)}), {"box": path})
    seen = []
    for _ in env.run(2.0):
        reading = sensor.read()
        seen.append(bool(reading.in_sight))
        assert np.isfinite(reading.range_m) == reading.in_sight
    assert {True, False} == set(seen)


def test_faults_lose_or_hold_the_range():
    faults = FaultSchedule(
        faults=(
            Fault(Dropout(probability=1.0, fill="nan"), name="gone", target="range", start_s=0.5, end_s=1.0),
            Fault(Stuck(mode="present"), name="stuck", target="range", start_s=1.5, end_s=2.0),
        )
    )
    env, sensor = moving(
        cone(timing=FAST, faults=faults), {"box": sn.paths.Line(start=(4, 0, 0), velocity=(1.0, 0, 0))}
    )
    for _ in env.run(2.5):
        reading, truth = sensor.read(), sensor.truth()
        assert truth.range_m == pytest.approx(3.5 + env.time_s)
        if 0.5 <= env.time_s < 1.0:
            assert not reading.in_sight
            assert reading.range_m == np.inf
        elif 1.51 < env.time_s < 2.0:
            assert reading.range_m == pytest.approx(5.0)
            assert reading.point[0] == pytest.approx(5.0)
        else:
            assert reading.range_m == truth.range_m


def crossing(faults=(), **fields):
    """Readings and truths of a sensor before which one box leaves sight and another comes, with nothing between."""
    paths = {
        "gone": sn.paths.Line(start=(5.0, 0.0, 0.3), velocity=(0.5, 9.0, 0.0)),
        "comes": sn.paths.Line(start=(7.0, -21.0, 0.0), velocity=(0.0, 9.0, 0.0)),
    }
    env, sensor = moving(cone(timing=FAST, faults=FaultSchedule(faults=faults), **fields), paths)
    found = [(sensor.read(), sensor.truth()) for _ in env.run(3.0)]
    return [list(column) for column in zip(*found, strict=True)], sensor


MEASURED = ("range_m", "azimuth", "elevation", "range_rate", "object_id", "label", "in_sight", "point")


@pytest.mark.parametrize("model", [Freeze(), Stuck(mode="present")], ids=["freeze", "stuck"])
@pytest.mark.parametrize("onset", [0.1, 0.9], ids=["of an object", "of nothing"])
def test_a_reading_is_held_whole_whatever_comes_and_goes(model, onset):
    (healthy, _), _ = crossing()
    (read, true), sensor = crossing((Fault(model, start_s=onset, end_s=2.5),))
    first = round(onset / 0.02) - 1
    assert {int(reading.object_id) for reading in healthy} == {-1, 0, 1}
    assert bool(healthy[first].in_sight) == (onset == 0.1)
    for k, (reading, truth) in enumerate(zip(read, true, strict=True)):
        expected = healthy[first if first <= k < 124 else k]
        for name in MEASURED:
            np.testing.assert_allclose(getattr(reading, name), getattr(expected, name), atol=1e-12, err_msg=name)
            np.testing.assert_array_equal(getattr(truth, name), getattr(healthy[k], name), err_msg=name)
    assert len(sensor.faults.log) == 1

    # Points and angles of an object that is held stand still, so its speed is told as 0
    if onset == 0.1:
        assert read[first + 5].speed == 0.0
        assert read[first + 5].verdict == sn.Verdict.STILL


def test_a_stuck_value_speaks_where_nothing_is_in_sight():
    stuck = Fault(Stuck(mode="value", value=3.5), start_s=0.1, end_s=2.5, target="range")
    (read, true), _ = crossing((stuck,))
    spoke = 0
    for k, (reading, truth) in enumerate(zip(read, true, strict=True)):
        if not 4 <= k < 124:
            assert reading.range_m == truth.range_m
            continue
        assert reading.range_m == 3.5
        assert reading.in_sight
        assert reading.object_id == truth.object_id
        np.testing.assert_array_equal(reading.azimuth, truth.azimuth)
        spoke += not truth.in_sight
    assert spoke > 10


@pytest.mark.parametrize(("target", "name"), [("angles", "azimuth"), ("range_rate", "range_rate")])
def test_stuck_angles_and_rates_speak_too(target, name):
    (read, true), _ = crossing((Fault(Stuck(mode="value", value=0.25), start_s=0.1, target=target),))
    for reading, truth in list(zip(read, true, strict=True))[4:]:
        assert getattr(reading, name) == 0.25
        assert reading.range_m == truth.range_m


def test_noise_makes_nothing_of_nothing():
    (read, true), _ = crossing(range={"noise": Noise(std=0.1, bias=1.0), "saturation": {"min": 0.0, "max": 19.0}})
    assert [bool(reading.in_sight) for reading in read] == [bool(truth.in_sight) for truth in true]


def test_every_group_has_noise_discrete_and_sat():
    groups = {
        "range": {"noise": {"bias": 0.04}, "quantization": {"lsb": 0.25}, "saturation": {"max": 6.0}},
        "angles": {
            "noise": {"bias": (0.1, -0.2)},
            "quantization": {"lsb": 0.01},
            "saturation": {"min": -0.3, "max": 0.3},
        },
        "range_rate": {"extra": [{"kind": "scale", "error": 1.0}], "saturation": {"min": -1.5, "max": 1.5}},
    }
    (read, true), _ = crossing(**groups)
    for reading, truth in zip(read, true, strict=True):
        if not truth.in_sight:
            assert not reading.in_sight
            continue
        half_up = lambda x, lsb: lsb * np.where(x >= 0, np.floor(x / lsb + 0.5), np.ceil(x / lsb - 0.5))  # noqa: E731
        assert reading.range_m == pytest.approx(min(float(half_up(truth.range_m + 0.04, 0.25)), 6.0))
        for name, bias in (("azimuth", 0.1), ("elevation", -0.2)):
            expected = np.clip(half_up(getattr(truth, name) + bias, 0.01), -0.3, 0.3)
            assert getattr(reading, name) == pytest.approx(float(expected), abs=1e-12)
        assert reading.range_rate == pytest.approx(float(np.clip(2.0 * truth.range_rate, -1.5, 1.5)))


@pytest.mark.parametrize("old", ["range_noise", "angle_noise", "rate_noise", "discrete", "sat", "extra"])
def test_names_of_before_are_told_what_they_are_now(old):
    with pytest.raises(SpecError, match=f"ConeSensor.{old} is .*did you mean (range|angles|range_rate)"):
        cone(**{old: {}})


def test_a_truth_keeps_what_was_seen_when_later_readings_have_come():
    env, sensor = moving(
        cone(timing=FAST, per_object=True), {"box": sn.paths.Line(start=(4, 0, 0), velocity=(5.0, 0, 0))}
    )
    env.step()
    arrival = sensor.arrivals()[0]
    for _ in env.run(0.2):
        pass
    assert arrival.truth().range_m == arrival.reading.range_m == arrival.reading.objects.range_m[0]
    assert arrival.truth().objects.range_m[0] == arrival.reading.range_m


def test_worlds_drawn_anew_are_searched_anew():
    ball = sn.SceneObject(sn.shapes.sphere(0.5, 3))
    scattered = sn.Scatter([ball], 3, low=(3.0, -2.0, 0.0), high=(18.0, 2.0, 0.0))
    env = sn.Environment(sn.SceneBatch.scattered([scattered], worlds=4, seed=3), sn.worlds.Static(step_s=1.0), seed=3)
    sensor = env.attach(cone(horizontal_fov_deg=120.0))
    env.step()
    before = sensor.read().range_m
    env.reset(np.array([True, True, False, False]))
    env.step()
    nearest = np.linalg.norm(env.scene.pose.position, axis=-1).min(axis=1) - 0.5
    np.testing.assert_allclose(sensor.read().range_m, nearest, atol=0.01)
    assert (np.abs(sensor.read().range_m - before)[:2] > 0.05).all()
    assert (sensor.read().range_m == before)[2:].all()


def test_noise_puts_nothing_behind_the_sensor():
    env = sn.Environment(scene_of((BOX, sn.Pose((3.0, 0.0, 0.0)))), sn.worlds.Static(step_s=0.1), seed=1)
    sensor = env.attach(cone(range={"noise": Noise(std=10.0)}))
    ranges = [sensor.read().range_m for _ in env.run(4.0)]
    assert min(ranges) == 0.0
    assert max(ranges) > 10.0


def test_a_sensor_that_is_switched_on_again_has_no_reading_before():
    for interval in ("true", "nominal"):
        spec = cone(timing=sn.Timing(rate_hz=50.0), speed_interval=interval)
        env, sensor = moving(spec, {"box": sn.paths.Line(start=(2.0, 0.0, 0.0), velocity=(1.0, 0.0, 0.0))})
        for _ in env.run(0.1):
            pass
        assert sensor.read().speed == pytest.approx(1.0)
        sensor.enabled = False
        for _ in env.run(1.0):
            pass
        sensor.enabled = True
        env.step()
        assert np.isnan(sensor.read().speed)
        assert np.isnan(sensor.truth().speed)
        env.step()
        assert sensor.read().speed == pytest.approx(1.0)


def test_what_does_not_move_at_all_is_still_whatever_the_limit():
    spec = cone(timing=sn.Timing(rate_hz=50.0), still_below_m_s=0.0)
    env, sensor = moving(spec, {"box": sn.paths.Line(start=(2.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0))})
    for _ in env.run(0.1):
        pass
    assert sensor.read().verdict == sn.Verdict.STILL


MS = 1_000_000
SPEEDS = slice(cc.SPEED, cc.DIFFERENCED_RATE + 1)
WORLDS, SENSORS = 3, 2
ROWS = WORLDS * SENSORS
NO_ERRORS = Program([], columns=cc.COLUMNS)
NO_LABELS = LabelTables(np.zeros((1, 9), np.int32), np.full((1, 9), -1), np.zeros(0, np.int32))


class Told:
    """Has one object in sight of every row, where `x_m` says [m], or none where that is inf."""

    def __init__(self):
        self.x_m, self.number, self.rate_m_s, self.asked = np.full(ROWS, 4.0), np.zeros(ROWS, np.int32), 0.0, []

    def at(self, time_ns):
        self.asked.append(time_ns)
        seen = np.isfinite(self.x_m)[:, None]
        point = np.zeros((ROWS, 1, 3))
        point[:, 0, 0] = np.where(seen[:, 0], self.x_m, 0.0)
        return Sighting(
            time_ns=time_ns,
            p_WS=np.zeros((ROWS, 3)),
            q_WS=np.tile([1.0, 0.0, 0.0, 0.0], (ROWS, 1)),
            point=point,
            range_m=np.where(seen, point[..., 0], np.inf),
            range_rate=np.where(seen, self.rate_m_s, 0.0),
            object_id=np.where(seen, self.number[:, None], np.int32(-1)),
            face_id=np.where(seen, np.int32(0), np.int32(-1)),
            labels=NO_LABELS,
        )


def measuring(period_s=None, *, restarted_ns=(-1, -1, -1), newest_ns=0):
    """A signal of three worlds with two sensors each, and its caster; worlds last restarted when they are told."""
    history = SimpleNamespace(valid_from_ns=np.array(restarted_ns), newest=SimpleNamespace(time_ns=newest_ns))
    caster = Told()
    rig = SimpleNamespace(worlds=WORLDS, sensors=SENSORS, history=history)
    return ConeSignal(rig, caster, period_s, new_rule(1.0, 0.01, 0.05)), caster


def sampled(signal, time_ns):
    out = np.empty((ROWS, cc.COLUMNS))
    signal.sample(time_ns, out)
    return out


def test_a_sample_is_of_its_instant_and_comes_with_what_is_in_sight():
    signal, caster = measuring()
    caster.x_m[1], caster.number[:], caster.rate_m_s = 7.0, 5, -2.0
    out = np.empty((ROWS, cc.COLUMNS))
    found, nearest = signal.sample(30 * MS, out)
    assert caster.asked == [30 * MS] == [found.time_ns]
    assert nearest.object_id.tolist() == [[5]] * ROWS
    assert out[:, cc.RANGE].tolist() == [4.0, 7.0, 4.0, 4.0, 4.0, 4.0]
    assert (out[:, cc.RANGE_RATE] == -2.0).all()
    assert out[1, cc.POINT : cc.POINT + 3].tolist() == [7.0, 0.0, 0.0]
    assert signal.columns == cc.COLUMNS

    # What the readout asks for later
    assert signal.ideal is out
    assert signal.object_id.tolist() == [[5]] * ROWS


def test_of_several_objects_the_nearest_is_measured_and_all_are_given():
    signal, caster = measuring()
    one = caster.at(0)
    numbers, ranges = np.array([0, -1, 2], np.int32), np.array([9.0, np.inf, 6.0])
    point = np.zeros((ROWS, 3, 3))
    point[..., 1] = np.where(np.isfinite(ranges), ranges, 0.0)
    rows = {"point": point, "range_m": np.tile(ranges, (ROWS, 1)), "range_rate": np.tile([1.0, 0.0, 3.0], (ROWS, 1))}
    several = Sighting(**vars(one) | rows | {"object_id": np.tile(numbers, (ROWS, 1)), "face_id": np.zeros((ROWS, 3))})
    caster.at = lambda time_ns: several
    out = np.empty((ROWS, cc.COLUMNS))
    found, nearest = signal.sample(10 * MS, out)
    assert found is several
    assert nearest.range_m.tolist() == [[6.0]] * ROWS
    assert (out[:, cc.RANGE] == 6.0).all()
    assert out[:, cc.AZIMUTH] == pytest.approx(np.full(ROWS, np.pi / 2))
    assert (out[:, cc.RANGE_RATE] == 3.0).all()
    assert signal.object_id.tolist() == [[2]] * ROWS


def test_where_nothing_is_in_sight_the_chain_gets_no_values():
    signal, caster = measuring()
    caster.x_m[2] = np.inf
    out = sampled(signal, 10 * MS)
    assert np.isnan(np.delete(out[2], cc.VERDICT)).all()
    assert np.isfinite(np.delete(out, 2, axis=0)[:, : cc.SPEED]).all()
    assert signal.object_id.ravel().tolist() == [0, 0, -1, 0, 0, 0]


@pytest.mark.parametrize(("period_s", "speed", "interval_s"), [(None, 4.0, 0.05), (0.1, 2.0, 0.1)])
def test_speeds_are_divided_by_the_time_between_samples_or_by_the_period_that_is_told(period_s, speed, interval_s):
    signal, caster = measuring(period_s)
    assert np.isnan(sampled(signal, 70 * MS)[:, SPEEDS]).all()
    caster.x_m -= 0.2
    out = sampled(signal, 120 * MS)
    assert signal.interval_s == pytest.approx(interval_s)
    np.testing.assert_allclose(out[:, cc.SPEED], speed)
    np.testing.assert_allclose(out[:, cc.DIFFERENCED_RATE], -speed)


def test_a_beginning_has_no_reading_before():
    signal, _ = measuring()
    sampled(signal, 10 * MS)
    assert (sampled(signal, 20 * MS)[:, SPEEDS] == 0.0).all()
    signal.begin(25 * MS)
    assert np.isnan(sampled(signal, 30 * MS)[:, SPEEDS]).all()
    assert (sampled(signal, 40 * MS)[:, SPEEDS] == 0.0).all()


def test_only_worlds_that_were_reset_just_now_have_none_with_all_their_sensors():
    signal, _ = measuring(restarted_ns=(20 * MS, 10 * MS, 20 * MS), newest_ns=20 * MS)
    sampled(signal, 10 * MS)
    signal.forget()
    speeds = sampled(signal, 30 * MS)[:, SPEEDS]
    np.testing.assert_array_equal(np.isnan(speeds).all(axis=1), [True, True, False, False, True, True])
    assert (speeds[2:4] == 0.0).all()


def test_without_errors_what_is_read_out_is_the_ideal_sample_to_the_last_bit():
    signal, caster = measuring()
    readout = ConeReadout(signal, NO_ERRORS)
    for k in range(3):
        caster.x_m += np.linspace(0.1, 0.3, ROWS)
        ideal = sampled(signal, (k + 1) * 7 * MS)
        x = ideal.copy()
        readout.read((k + 1) * 7 * MS, x, ideal)
        np.testing.assert_array_equal(x, ideal)


@pytest.mark.parametrize("period_s", [None, 0.1])
def test_what_is_read_out_has_points_and_speeds_of_its_own_errors(period_s):
    """A range that is 1 m wrong at the first sample and 3 m at the next: 2 m a period too fast."""
    signal, caster = measuring(period_s)
    readout = ConeReadout(signal, NO_ERRORS)
    for k, error_m in enumerate((1.0, 3.0)):
        caster.x_m[:] = 4.0 + 0.5 * k
        ideal = sampled(signal, (k + 1) * 50 * MS)
        x = ideal.copy()
        x[:, cc.RANGE] += error_m
        readout.read((k + 1) * 50 * MS, x, ideal)
    interval_s = 0.05 if period_s is None else period_s
    np.testing.assert_allclose(x[:, cc.POINT], 7.5)
    np.testing.assert_allclose(x[:, cc.SPEED], 2.5 / interval_s)
    np.testing.assert_allclose(x[:, cc.DIFFERENCED_RATE], 2.5 / interval_s)
    np.testing.assert_allclose(ideal[:, cc.SPEED], 0.5 / interval_s)


def test_a_new_target_has_no_speed_however_its_range_is_read_out():
    signal, caster = measuring()
    readout = ConeReadout(signal, NO_ERRORS)
    for k in range(2):
        caster.number[:3] = k
        ideal = sampled(signal, (k + 1) * 10 * MS)
        x = ideal + 0.25
        readout.read((k + 1) * 10 * MS, x, ideal)
    np.testing.assert_array_equal(np.isnan(x[:, cc.SPEED]), [True] * 3 + [False] * 3)


def test_rows_that_restart_have_no_reading_before():
    signal, _ = measuring()
    readout = ConeReadout(signal, NO_ERRORS)
    rows = np.array([True, False, False, True, False, False])
    for k in range(2):
        x = sampled(signal, (k + 1) * 10 * MS)
        readout.read((k + 1) * 10 * MS, x, x.copy())
        if k == 0:
            readout.restart(rows)
    np.testing.assert_array_equal(np.isnan(x[:, cc.SPEED]), rows)
    assert (x[~rows, cc.SPEED] == 0.0).all()
