"""Every benchmark runs, small; what is compared does the same work, whatever the time it takes."""

import gc
import json
from collections import Counter
from functools import partial

import numpy as np
import pytest

import sensorium as sn
from sensorium.qa.benchmarks import memory, peers, run, soak, timing
from sensorium.qa.benchmarks.rows import (
    accuracy,
    cone,
    depth,
    depth_errors,
    depth_warp,
    environments,
    imu,
    imu_chain,
    light,
    mujoco,
    parts,
    recording,
    scatter,
    startup,
    sweep,
    waveform,
)
from sensorium.qa.benchmarks.scenes import terrain
from sensorium.runtime import worker_pool
from sensorium.sensors.depth_camera.rays import in_tiles
from sensorium.tracing.kernels.cone.tables import face_tables

SMALL = {"worlds": 3, "samples": 2, "rounds": 1}


@pytest.fixture(scope="module")
def mesh():
    return terrain(12, spheres=1, seed=1)


# --- timing


class Clock:
    """A clock that only moves when told to."""

    def __init__(self, monkeypatch):
        self.now_s = 0.0
        monkeypatch.setattr(timing.time, "perf_counter", lambda: self.now_s)

    def taking(self, *durations_s):
        """A call that takes these times in turn."""
        left = list(durations_s)

        def call():
            self.now_s += left.pop(0)

        return call


def test_a_ratio_is_the_median_over_rounds_of_baseline_over_subject(monkeypatch):
    clock = Clock(monkeypatch)
    subject, baseline = clock.taking(9.0, 1.0, 1.0, 2.0), clock.taking(9.0, 5.0, 3.0, 2.0)
    assert timing.ratio(subject, baseline, rounds=3) == 3.0


def test_best_and_median_leave_out_the_first_call(monkeypatch):
    clock = Clock(monkeypatch)
    spread = timing.spread(clock.taking(99.0, 4.0, 2.0, 8.0), rounds=3)
    assert spread == (2.0, 4.0)
    assert spread.each(2) == (1.0, 2.0)
    assert spread.rate(8) == (4.0, 2.0)
    assert timing.best(clock.taking(3.0, 1.0), rounds=2) == 1.0


def test_the_number_of_threads_is_put_back():
    before = worker_pool.get_threads()
    with timing.thread_count(before + 1):
        assert worker_pool.get_threads() == before + 1
    assert worker_pool.get_threads() == before


def test_a_clocked_function_adds_up_its_time_and_is_put_back(monkeypatch):
    clock, before = Clock(monkeypatch), timing.seconds
    with timing.clocked(timing, "seconds") as clocked:
        assert timing.seconds(clock.taking(3.0)) == 3.0
        assert timing.best(clock.taking(2.0, 1.0), rounds=2) == 1.0
    assert clocked.seconds == 6.0
    assert timing.seconds is before


# --- lidars


def test_the_bare_trace_follows_the_lidars_own_rays(mesh):
    rig = sweep.rig(mesh, bodies=2, channels=8, columns=32)
    bare = sweep.BareSweep(rig)
    bare()
    scan = rig.lidar.read()
    hit = scan.valid.reshape(-1)
    assert 0 < hit.sum() < hit.size
    np.testing.assert_allclose(bare.range_m[hit], scan.range_m.reshape(-1)[hit], rtol=1e-5)
    assert (bare.range_m[~hit] > 1e20).all()


def test_the_bare_rays_are_those_that_pulses_are_made_of(mesh):
    rig = waveform.rig(mesh, rays=waveform.FEW, channels=4, columns=16)
    bare = waveform.BarePulses(rig)
    bare()
    scan = rig.lidar.read()
    ranges = bare.range_m.reshape(*scan.range_m.shape, waveform.FEW)
    whole = scan.valid & (ranges < 1e20).all(axis=-1) & (scan.cause == sn.Cause.SURFACE)
    assert whole.sum() > 5
    assert (scan.range_m > ranges.min(axis=-1) - 0.2)[whole].all()
    assert (scan.range_m < ranges.max(axis=-1) + 0.2)[whole].all()
    assert waveform.against_bare_trace(mesh, rays=waveform.FEW, channels=2, columns=8, rounds=1) > 0.0


def test_the_bare_trace_follows_the_depth_cameras_rays():
    rig = depth.rig(3, side=18)
    bare = depth.BareImages(rig)
    bare()
    image = rig.camera.read()
    ranges = np.zeros_like(bare.range_m)
    ranges[:, in_tiles(18, 18)] = bare.range_m
    told = image.depth_m.reshape(3, -1) / rig.pattern.rays().direction_S[..., 0].reshape(-1)
    seen = image.valid.reshape(3, -1)
    assert 0 < seen.sum() < seen.size
    np.testing.assert_allclose(told[seen], ranges[seen], rtol=1e-5)
    assert (ranges[~seen] > 50.0).all()


def test_depth_cameras_are_measured():
    assert depth.against_bare_trace(2, rounds=1) > 0.0
    assert depth.cost_of_random_placement(2, rounds=1) > -1.0
    assert depth.cost_of_reset(10, rounds=1) > 0.0
    assert list(depth.cost_a_world((1, 2), different=2, rounds=1)) == [1, 2]
    assert depth.two_threads_over_one(rounds=1) > 0.0
    assert depth.drawn_over_traced(depth.Crowd(3, 0, 16, 16), worlds=1, rounds=1) > 0.0


def test_errors_of_depth_cameras_are_timed_against_traced_images_without():
    drawn, traced = depth.rig(1, side=16), depth.rig(1, side=16, lens=depth.TRACED)
    assert drawn.camera._model._caster._all_rasterized
    assert not traced.camera._model._caster._all_rasterized
    np.testing.assert_allclose(drawn.camera.read().depth_m, traced.camera.read().depth_m, rtol=1e-5)
    costs = depth_errors.cost_of_errors(1, rounds=1)
    assert set(costs) == {"none, drawn", *depth_errors.ERRORS}
    assert min(costs.values()) > 0.0
    bad = depth.rig(1, side=16, errors=[depth_errors.ERRORS["quadratic"]]).camera
    assert not np.array_equal(bad.read().depth_m, bad.truth().depth_m)


def test_faults_of_pixels_are_compared_to_health():
    costs = depth_errors.cost_of_faults(1, side=16, rounds=1)
    assert set(costs) == set(depth_errors.FAULTS)
    assert min(costs.values()) > 0.0
    healthy, frozen = (depth.rig(1, side=16, faults=faults) for faults in ((), [depth_errors.FAULTS["a frozen image"]]))
    for subject, moves in ((healthy, True), (frozen, False)):
        before = subject.camera.read().depth_m.copy()
        subject.step()
        assert moves == (not np.array_equal(subject.camera.read().depth_m, before))


def test_sweeps_are_measured(mesh):
    assert sweep.against_bare_trace(mesh, rounds=1) > 0.0
    assert sweep.ray_rate(mesh) > 0.0
    assert sweep.two_threads_over_one(mesh, rounds=1) > 0.0
    assert sweep.two_threads_over_one(mesh, bare=True, rounds=1) > 0.0
    assert sweep.cost_of_moving(mesh, bodies=2, rounds=1) > 0.0
    assert list(sweep.over_rays(mesh, (10, 2000))) == [10, 2000]
    assert list(sweep.over_triangles((200,))) == [200]


def test_light_is_measured(mesh):
    assert light.against_bare_trace(mesh, max_depth=0, rounds=1) > 0.0
    assert light.against_bare_trace(mesh, max_depth=2, rounds=1) > 0.0
    assert light.inside_a_bank(mesh, rounds=1) > 0.0
    assert 0.0 < light.bytes_a_ray(mesh) < 150.0


def test_ranges_are_true():
    assert accuracy.plane_error() < 1e-5
    seen, predicted = accuracy.sphere_sag(2)
    assert 0.0 < seen <= predicted + 1e-6


@pytest.mark.parametrize(
    ("needs", "peer"), [("open3d", peers.open3d), ("warp", peers.warp_cpu), ("mujoco", peers.mujoco)]
)
def test_peers_hit_what_the_ray_caster_hits(mesh, needs, peer):
    pytest.importorskip(needs)
    scene = sn.Scene()
    scene.add(mesh)
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(200, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    origins = np.tile((0.0, 0.0, 2.5), (200, 1))
    ours = sn.RayCaster(scene).cast(origins, directions).range_m
    theirs = peer(mesh)(origins.astype(np.float32), directions.astype(np.float32))
    assert 50 < np.isfinite(theirs).sum() < 200
    np.testing.assert_allclose(theirs, ours, rtol=1e-4)


def test_worlds_of_the_benchmark_are_drawn_anew():
    env = scatter.scattered_worlds(4, side=16)
    before = env.scene.pose.position
    env.reset(np.array([True, False, False, False]))
    env.step()
    assert (env.scene.pose.position[0] != before[0]).any()
    np.testing.assert_array_equal(env.scene.pose.position[1:], before[1:])
    assert scatter.cost_of_redraw(4, rounds=1) > 0.0


def test_warp_sees_what_the_depth_camera_sees():
    """The same worlds, rays and limits, to a pixel on an edge."""
    pytest.importorskip("warp")
    rig = depth.rig(3, side=16)
    other = depth_warp.WarpDepth(rig)
    other()
    image = rig.camera.read()
    label, meters = other.images.label.numpy(), other.images.depth_m.numpy()
    same = label == image.segmentation
    assert same.mean() > 0.995
    assert 50 < (label >= 0).sum() < label.size
    np.testing.assert_allclose(np.where(np.isfinite(meters), meters, image.far)[same], image.depth_m[same], rtol=1e-4)
    assert depth_warp.against_warp(2, rounds=1) > 0.0


# --- inertial sensors


def test_the_chain_has_one_law_in_an_imu_on_arrays_and_in_numpy():
    """Bias, walk, Gauss-Markov, density and rounding add their variances; nine axes over many worlds."""
    worlds, steps = 4000, 20
    x = np.zeros((worlds, imu_chain.AXES))
    plain = imu_chain.NumpyChain(worlds)
    for _ in range(steps):
        numpys = plain.step(x)
    chain, times_ns = imu_chain.chain(), round(1e9 / imu_chain.RATE_HZ) * np.arange(steps + 1)
    state = chain.init((worlds, imu_chain.AXES), seed=1, period_s=1.0 / imu_chain.RATE_HZ)
    arrays = chain.series(np.broadcast_to(x, (steps + 1, *x.shape)), times_ns=times_ns, state=state)[0][-1]
    env = imu.environment(worlds, moving=False)
    imu.steps(env, steps + 1)()
    sensor = env.sensors["imu"]
    matrix = np.kron(np.eye(3), np.full((3, 3), 0.02) + 0.98 * np.eye(3))
    sensed = sensor.read().values - sensor.truth().values @ matrix

    errors = imu_chain._nine()
    time_s = steps / imu_chain.RATE_HZ
    white = errors.density**2 * imu_chain.RATE_HZ / 2
    variance = errors.bias**2 + errors.walk**2 * time_s + errors.wander**2 + white + errors.lsb**2 / 12
    for name, found in (("numpy", numpys), ("arrays", arrays), ("sensed", sensed)):
        np.testing.assert_allclose(found.var(axis=0), variance, rtol=5 * np.sqrt(2 / worlds), err_msg=name)
        off = (found.mean(axis=0) - errors.bias) / np.sqrt(variance / worlds)
        assert np.abs(off).max() < 5.0, name
        codes = (found + (0 if name != "sensed" else sensor.truth().values @ matrix)) / errors.lsb
        np.testing.assert_allclose(codes, np.rint(codes), atol=1e-6, err_msg=name)


def test_bodies_move_or_rest_and_one_sample_is_taken_a_step():
    for moving in (False, True):
        env = imu.environment(2, moving=moving)
        for _ in range(3):
            env.step()
            assert env.sensors["imu"].fresh
        rate = env.sensors["imu"].truth().angular_velocity
        np.testing.assert_allclose(rate, np.broadcast_to((0.0, 0.0, 0.5 if moving else 0.0), (2, 3)))
    assert not imu.environment(moving=True, sensing=False).sensors


# --- an engine


def test_the_cost_of_a_step_is_split():
    pytest.importorskip("mujoco")
    cost = mujoco.step_cost(bodies=3, rounds=1)
    assert 0.0 < cost.engine_s < cost.world_s
    assert 0.0 < cost.forward_s < cost.world_s
    assert min(cost.commit_s, cost.casting_s, cost.added_s) > 0.0


def test_a_step_takes_longer_than_the_engine_s_with_accelerations_or_without():
    pytest.importorskip("mujoco")
    ratio = mujoco.step_ratio(rounds=3)
    assert 0.0 < ratio.engine_s < 1e-2
    assert 1.0 < ratio.light < 5.0
    assert 1.0 < ratio.full < 5.0
    world = sn.worlds.MuJoCo(mujoco._ROBOT)
    assert len(world.joint_names) == world.model.nu == 26


def test_the_four_sensors_all_read_every_step():
    pytest.importorskip("mujoco")
    env = mujoco._environment(mujoco._swinging(3), *mujoco._four())
    for _ in range(3):
        env.step()
        assert [sensor.fresh for sensor in env.sensors.values()] == [True] * 4
    assert env.sensors["lidar"].read().valid.sum() > 50


# --- cones


def test_obstacles_stand_in_the_cone_and_every_step_has_a_reading():
    env, sensor = cone.obstacles(10, 1000, per_object=True)
    env.step()
    assert sensor.read().objects.in_sight.all()
    env, sensor = cone.obstacles(1000, "exact", per_object=True)
    env.step()
    assert sensor.fresh
    assert 200 < sensor.read().objects.in_sight.sum() < 800

    # No shortcut over the lines of keystones
    tables = face_tables((cone.keystone(),), as_quads=True)
    assert len(tables.corners) == 6
    assert not tables.is_parallel.any()
    assert face_tables((sn.shapes.box(1, 2, 3), sn.shapes.sphere(1.0, 2)), as_quads=True).is_parallel.all()


def test_cone_figures_are_measured_and_told(monkeypatch):
    monkeypatch.setattr(cone, "reading_cost", partial(cone.reading_cost, rounds=2))
    figures = list(run._cone())
    assert all(figure.measured for figure in figures)
    assert [figure.target for figure in figures] == [
        "under 1.5 ms",
        "under 1.5 ms",
        "under 1.5 ms",
        "under 0.2 ms",
        "under 0.2 ms",
        "under 5 ms",
        "under 5 ms",
        "",
    ]


# --- the command


def test_inertial_figures_are_measured_and_told(monkeypatch):
    for name in ("sensing_rate", "sensing_over_numpy", "chain_rate", "chain_over_numpy"):
        monkeypatch.setattr(imu, name, partial(getattr(imu, name), **SMALL))
    for name in ("step_cost", "sample_cost"):
        monkeypatch.setattr(imu, name, partial(getattr(imu, name), samples=2, rounds=1))
    figures = list(run._inertial())
    assert all(figure.measured for figure in figures)
    assert [figure.target for figure in figures if figure.met is not None] == [
        "at least 17 M/s on 2 cores",
        "at least 17 M/s on 2 cores",
        "about 30 us",
        "about 30 us",
    ]


def test_recording_is_measured_where_every_ray_returns(monkeypatch):
    env = recording.room(channels=8, columns=64)
    env.step()
    assert env.sensors["lidar"].read().valid.all()
    held = recording.held(env, paced=False, clouds=4)
    assert 0.0 < held.median_s <= held.worst_s
    assert recording.throughput(env, clouds=4) > 0.0

    # What the command says of it
    monkeypatch.setattr(recording, "room", lambda: env)
    monkeypatch.setattr(recording, "held", lambda env, *, paced: recording.Held(0.02 if paced else 0.004, 0.003))
    monkeypatch.setattr(recording, "throughput", lambda env: 5e8)
    paced, fast, alone = run._recording()
    assert (paced.measured, paced.met, fast.met) == ("20.0 ms at worst, 3.0 median", False, True)
    assert alone.measured == "500 MB/s"


def test_peers_that_are_not_installed_are_named(mesh, monkeypatch):
    def missing(mesh):
        raise ImportError

    def quick(mesh):
        return lambda origins, directions: origins[:, 0]

    monkeypatch.setattr(run, "PEERS", {"Open3D cast_rays": (missing, 1.0), "Warp CPU kernel": (quick, 0.125)})
    first, second = run._against_peers(mesh)
    assert (first.measured, first.met) == ("not installed", None)
    assert second.measured.endswith(" x")


@pytest.mark.parametrize(("met", "all_met"), [([True, None], True), ([True, False, None], False)])
def test_figures_are_printed_and_written(met, all_met, monkeypatch, tmp_path, capsys):
    figures = [run.Figure(f"figure {i}", "1 x", "at least 1 x", one) for i, one in enumerate(met)]
    monkeypatch.setattr(run, "_figures", lambda quick: iter(figures))
    assert run.main(out=tmp_path / "figures.json") is all_met
    written = json.loads((tmp_path / "figures.json").read_text())
    assert [figure["met"] for figure in written["figures"]] == met
    assert "packets of" in written["machine"]
    assert "figure 0" in capsys.readouterr().out


def test_starting_is_timed_in_processes_of_its_own():
    assert startup.import_s(rounds=1) > 0.0
    assert startup._run(startup._FIRST_SWEEP) > 0.0


# --- memory


def test_growth_is_that_of_the_last_fifth_over_the_second():
    assert memory.growth([50.0, 90.0, 100.0, 100.0, 100.0, 100.0, 100.0, 101.0, 102.0, 102.0]) == pytest.approx(0.02)
    assert memory.growth([1.0, 2.0, 3.0, 4.0, 5.0]) == pytest.approx(1.5)


def test_what_is_allocated_shows():
    before = memory.resident_mb()
    held = np.ones(200_000_000, np.uint8)  # too much for what was freed before; the system may take some back
    assert 50.0 < memory.resident_mb() - before < 250.0
    del held


def test_environments_leave_nothing_and_one_that_is_kept_shows(monkeypatch):
    rows = list(environments.rows(20, lines=2))
    assert [row.made for row in rows] == [10, 20]
    assert rows[-1].embree_bytes <= 20 * environments.MOST_LEFT_BYTES
    kept, original = [], environments.sn.Environment
    monkeypatch.setattr(environments.sn, "Environment", lambda *a: kept.append(original(*a)) or kept[-1])
    (row,) = environments.rows(3, lines=1)
    assert row.embree_bytes > 3 * 20 * environments.MOST_LEFT_BYTES


def test_every_sensor_of_the_soak_reports_worlds_restart_and_nothing_is_kept_but_the_log_of_faults(monkeypatch):
    monkeypatch.setattr(soak, "_STEPS_A_FILE", 10)
    with soak.soaking(worlds=2) as run_on:
        kinds = {type(sensor.spec).__name__ for sensor in run_on.env.sensors.values()}
        for _ in range(26):
            run_on.step()
        assert all(sensor.read() is not None for sensor in run_on.env.sensors.values())
        assert (run_on.steps, run_on.resets, run_on.files) == (26, 1, 3)
        assert run_on.faults > 0

        # Of three counts the first fills caches of Python's own
        counts = []
        for _ in range(3):
            for _ in range(50):
                run_on.step()
            counts.append((_objects_by_type(), run_on.faults))
        _, (before, faults_before), (more, faults) = counts
        more.subtract(before)
        assert more.pop("FaultEvent", 0) <= faults - faults_before
        assert sum(more.values()) <= 20, more.most_common(5)
    assert kinds >= {"Lidar", "DepthCamera", "Camera", "Imu", "Magnetometer", "Encoder", "ConeSensor", "Radar"}


def _objects_by_type():
    """How many objects there are that the garbage collector knows, by the name of their type."""
    gc.collect()
    return Counter(type(thing).__name__ for thing in gc.get_objects())


# --- parts


def test_parts_and_one_process_cast_the_same_rays(local_cluster):
    figures = parts.against_one_process(triangles=2_000, rays=5_000, rounds=1)
    assert figures.other_ranges == 0
    assert figures.other_faces <= 5
    assert len(figures.reports) == 2
    assert sum(report.faces for report in figures.reports) == 2 * 32**2
    assert figures.speed > 0
