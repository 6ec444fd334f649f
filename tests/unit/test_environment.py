import dataclasses

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import NoReadingError, SpecError, WorldError


def small_lidar(**changes):
    pattern = sn.patterns.Spinning(elevation_deg=(5.0, 0.0, -5.0, -10.0), columns=100, rate_hz=10)
    return sn.Lidar(**{"pattern": pattern, **changes})


def street(worlds=None, step_s=0.01, start=(-5, 0, 1), **options):
    scene = sn.Scene()
    scene.add(sn.shapes.plane(100.0), label="ground")
    scene.add(sn.shapes.box(1, 20, 4), pose=sn.Pose((12, 0, 2)), label="wall")
    scene.add(sn.shapes.box(4, 2, 1.5), body="car", label="car")
    scene.add(sn.shapes.sphere(0.7, subdivisions=2), body="ball", label="ball")
    world = sn.worlds.Kinematic(
        {
            "car": sn.paths.Line(start=start, velocity=(8, 0, 0)),
            "ball": sn.paths.Circle(center=(4, 2, 1), radius=2.0, rate=3.0),
        },
        step_s=step_s,
    )
    return sn.Environment(scene, world, worlds=worlds, **options)


def attach(env, spec=None, **where):
    where = {"body": "car", "pose": sn.Pose((0, 0, 1.2)), "hide": ("car",), **where}
    return env.attach(small_lidar() if spec is None else spec, **where)


def test_the_contract_s_loop():
    env = street(seed=7)
    lidar = attach(env, name="top")
    sweeps = 0
    for _ in env.run(duration_s=0.5):
        if lidar.fresh:
            sweeps += 1
            scan = lidar.read()
            assert scan.end_ns == pytest.approx(env.time_ns, abs=10_000_000)
            assert lidar.truth().range_m.shape == scan.range_m.shape == (4, 100)
            assert lidar.readings() == [scan]
    assert sweeps == 5
    assert env.time_ns == 500_000_000
    assert env.sensors["top"] is lidar
    assert env.real_time_factor > 0


def test_reading_before_the_first_sweep_is_an_error_that_names_the_sensor():
    env = street()
    lidar = attach(env, name="roof")
    env.step()
    assert not lidar.fresh
    with pytest.raises(NoReadingError, match="'roof'"):
        lidar.read()


@pytest.mark.parametrize(("step_s", "per_step"), [(0.1, 1), (0.3, 3), (0.05, None), (0.03, None)])
def test_steps_and_sweeps_need_not_agree(step_s, per_step):
    env = street(step_s=step_s)
    lidar = attach(env)
    count = 0
    for _ in env.run(duration_s=1.2):
        count += len(lidar.readings())
        if per_step is not None:
            assert len(lidar.readings()) == per_step
    assert count == 12


def test_latency_delays_the_arrival_not_the_capture():
    env = street()
    lidar = attach(env, small_lidar(timing=sn.Timing(latency_s=0.035)))
    arrivals = []
    for _ in env.run(duration_s=0.5):
        if lidar.fresh:
            arrivals.append((env.time_ns, lidar.read().end_ns))
    assert [captured for _, captured in arrivals] == [100_000_000, 200_000_000, 300_000_000, 400_000_000]
    assert [arrived for arrived, _ in arrivals] == [140_000_000, 240_000_000, 340_000_000, 440_000_000]


def test_a_phase_shifts_the_sweeps():
    env = street()
    lidar = attach(env, small_lidar(timing=sn.Timing(phase_s=0.02)))
    for _ in env.run(duration_s=0.3):
        pass
    assert lidar.read().start_ns == 120_000_000


def test_a_loop_of_one_s_own():
    env = street()
    same = street()
    mine, theirs = attach(env), attach(same)
    for _ in range(10):
        env.step()
        same.world.step()
        same.observe()
    np.testing.assert_array_equal(mine.read().range_m, theirs.read().range_m)
    before = same.world.time_ns
    same.observe(before + 5)
    assert same.world.time_ns == before
    assert same.time_ns == before + 5
    with pytest.raises(WorldError, match="forward"):
        same.observe(before)


def test_switched_off_it_measures_nothing_and_begins_anew_with_a_whole_sweep():
    env = street()
    lidar = attach(env)
    lidar.enabled = False
    for _ in env.run(duration_s=0.25):
        assert not lidar.fresh
    lidar.enabled = True
    for _ in env.run(duration_s=0.14):
        assert not lidar.fresh  # the sweep under way was missed in part
    env.step()
    assert lidar.read().start_ns == 300_000_000


def test_later_edits_of_the_specification_change_nothing():
    spec = small_lidar()
    env = street()
    lidar = attach(env, spec)
    spec.max_range_m = 1.0
    for _ in env.run(duration_s=0.1):
        pass
    assert lidar.spec.max_range_m == 1000.0
    assert lidar.read().range_m.max() > 5.0


def test_a_batch_of_worlds_is_as_many_single_runs():
    starts = np.stack([np.linspace(-6, 0, 8), np.linspace(-1, 1, 8), np.ones(8)], axis=-1)

    def run(worlds, first_world, start):
        env = street(worlds, first_world=first_world, start=start)
        lidar = attach(env)
        for _ in env.run(duration_s=0.3):
            pass
        return lidar.read()

    batch = run(8, 0, starts)
    assert batch.range_m.shape == (8, 4, 100)
    for w in range(8):
        single = run(None, w, starts[w])
        for name in ("range_m", "points", "object_id", "face_id", "label", "ray_time_ns"):
            assert getattr(batch, name)[w].tobytes() == getattr(single, name).tobytes(), (w, name)


def test_threads_other_sensors_and_their_switches_change_no_byte():
    def run(threads, others, switched):
        sn.set_threads(threads)
        env = street()
        extra = [attach(env, name=f"other{i}", pose=sn.Pose((0, 0, 50.0 * i))) for i in range(others)]
        lidar = attach(env, name="mine")
        late = attach(env, small_lidar(motion="snapshot"), name="late") if others else None
        for i, _ in enumerate(env.run(duration_s=0.4)):
            if switched and late is not None:
                late.enabled = i % 7 < 4
                extra[0].enabled = i % 5 < 3
        scan = lidar.read()
        return b"".join(
            getattr(scan, name).tobytes() for name in ("range_m", "points", "object_id", "face_id", "label")
        )

    reference = run(1, 0, False)
    assert run(2, 0, False) == reference
    assert run(2, 2, False) == reference
    assert run(1, 2, True) == reference


def test_several_sensors_of_a_kind():
    env = street(worlds=3)
    poses = [sn.Pose((0, 0, 1.2)), sn.Pose((1, 0, 1.2))]
    pair = attach(env, pose=poses, name="pair")
    single = attach(env, pose=poses[1], name="single")
    for _ in env.run(duration_s=0.1):
        pass
    assert pair.read().range_m.shape == (3, 2, 4, 100)
    np.testing.assert_array_equal(pair.read().range_m[:, 1], single.read().range_m)


def test_reset_restarts_some_worlds_and_voids_the_rays_before():
    env = street(worlds=3)
    lidar = attach(env)
    for _ in env.run(duration_s=0.25):
        pass
    env.reset([False, True, False])
    for _ in env.run(duration_s=0.05):
        pass
    scan = lidar.read()
    assert scan.start_ns == 200_000_000
    void = scan.ray_time_ns[1] < 250_000_000
    assert not scan.valid[1][void].any()
    assert scan.valid[1][~void].any()
    np.testing.assert_array_equal(scan.range_m[0], scan.range_m[2])
    # after the reset, world 1 does what the others did from their start
    fresh = street(worlds=3, step_s=0.01)
    again = attach(fresh)
    for _ in fresh.run(duration_s=0.1):
        pass
    for _ in env.run(duration_s=0.1):
        pass
    assert env.time_ns == 400_000_000
    X_WB = env.world.state().X_WB.position
    np.testing.assert_allclose(X_WB[1, 0], [-5 + 8 * 0.15, 0, 1])
    assert again.read().valid.any()


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"body": "cart"}, "no body 'cart'.*car, ball"),
        ({"hide": ("cart",)}, "no body 'cart'"),
        ({"hide": "car"}, "sequence of body names"),
        ({"pose": sn.Pose(np.zeros((2, 2, 3)))}, r"\(2, 2\)"),
    ],
)
def test_attaching_badly(where, message):
    with pytest.raises(SpecError, match=message):
        attach(street(), **where)


def test_two_sensors_of_one_name():
    env = street()
    attach(env)
    with pytest.raises(SpecError, match="'lidar' already"):
        attach(env)


def test_an_object_on_a_body_the_world_lacks():
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 1, 1), body="ghost")
    with pytest.raises(SpecError, match="'ghost'"):
        sn.Environment(scene, sn.worlds.Static())


@pytest.mark.parametrize("options", [{"worlds": 0}, {"worlds": -3}, {"worlds": True}, {"first_world": -1}])
def test_bad_world_counts(options):
    with pytest.raises(SpecError, match="world"):
        sn.Environment(sn.Scene(), **options)


def test_a_pose_that_is_not_finite_names_the_body():
    class Broken(sn.worlds.Kinematic):
        def state(self):
            state = super().state()
            if not self.time_ns:
                return state
            position = np.array(state.X_WB.position)
            position[0, 1, 2] = np.nan
            return dataclasses.replace(state, X_WB=sn.Pose._trusted(position, np.array(state.X_WB.quaternion)))

    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 1, 1), body="b")
    fixed = sn.paths.Fixed(sn.Pose())
    env = sn.Environment(scene, Broken({"a": fixed, "b": fixed}))
    with pytest.raises(WorldError, match="'b'"):
        env.step()


def test_realtime_waits_for_the_wall_clock():
    env = street(step_s=0.01)
    for _ in env.run(duration_s=0.2, realtime=True):
        pass
    assert env.real_time_factor <= 1.01


def test_readings_on_their_way_are_void_where_a_world_restarts():
    env = street(worlds=2)
    lidar = attach(env, small_lidar(timing=sn.Timing(latency_s=0.05)))
    for _ in env.run(duration_s=0.3):
        pass
    env.reset([True, False])
    for _ in env.run(duration_s=0.05):
        pass
    scan = lidar.read()
    assert scan.end_ns == 300_000_000
    assert not scan.valid[0].any()
    assert scan.valid[1].any()
    assert not lidar.truth().valid[0].any()
    single = street()
    alone = attach(single, small_lidar(timing=sn.Timing(latency_s=0.05)))
    for _ in single.run(duration_s=0.3):
        pass
    single.reset()
    for _ in single.run(duration_s=0.05):
        pass
    assert alone.read().end_ns == 200_000_000  # the one on its way is dropped


def test_editing_the_specification_of_a_sensor_at_work_changes_nothing():
    lidar = attach(street())
    lidar.spec.max_range_m = 1.0
    assert lidar.spec.max_range_m == 1000.0


def test_what_is_no_sensor_and_what_is_no_pose():
    with pytest.raises(SpecError, match=r"Spinning.*specification"):
        street().attach(small_lidar().pattern)
    with pytest.raises(SpecError, match=r"sensor is the class Lidar; it must be a sensor's specification"):
        street().attach(sn.Lidar)
    with pytest.raises(SpecError, match=r"pose is \(0, 0, 1\)"):
        attach(street(), pose=(0, 0, 1))


def test_environments_and_sensors_say_what_they_are():
    env = street()
    assert repr(env) == "Environment(1 world, Kinematic, no sensors, at 0 s)"
    imu = env.attach(sn.Imu(), body="car", pose=[sn.Pose(), sn.Pose((1, 0, 0))], name="box")
    env.step()
    assert repr(env) == "Environment(1 world, Kinematic, box, at 0.01 s)"
    assert repr(imu) == "AttachedSensor('box', Imu, 2 of a kind)"
    imu.enabled = False
    assert repr(imu) == "AttachedSensor('box', Imu, 2 of a kind, switched off)"
    assert repr(street(worlds=3)).startswith("Environment(3 worlds, ")


def test_time_ends_after_292_years():
    env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=5e9))
    env.step()
    with pytest.raises(WorldError, match=r"the world's time is 10000000000000000000 ns; it must be within 2\^63 ns"):
        env.step()
