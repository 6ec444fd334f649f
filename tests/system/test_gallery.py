"""Every scenario of the gallery shows what its page promises, with its engine and without."""

import csv
import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import sensorium as sn
from sensorium.app import gallery
from sensorium.app.scenario import Scenario, worlds
from sensorium.app.scenario.run import run

ROOT = Path(__file__).parents[2]
SMALL = {"sensors.roof.pattern.elevation_deg.channels": 16, "sensors.roof.pattern.columns": 256}


@pytest.fixture(params=[True, False], ids=["engines", "no engines"])
def engines(request, monkeypatch):
    """With the engines that are installed, and as if none was."""
    if not request.param:
        found = worlds.find_spec
        monkeypatch.setattr(worlds, "find_spec", lambda name: None if name in ("mujoco", "Basilisk") else found(name))
    return request.param


def simulated(name, values, duration_s):
    """Run a scenario; returns the environment, and readings and truths by sensor."""
    env = Scenario.load(gallery.path_of(name), values).environment()
    readings, truths = {sensor: [] for sensor in env.sensors}, {sensor: [] for sensor in env.sensors}
    for _ in env.run(duration_s):
        for sensor, attached in env.sensors.items():
            readings[sensor] += [arrival.reading for arrival in attached.arrivals()]
            truths[sensor] += [arrival.truth() for arrival in attached.arrivals()]
    return env, readings, truths


# --- yard drive ------------------------------------------------------------------------------------------------------


def test_wheels_and_yaw_rate_agree_with_the_way_that_the_van_went(engines):
    env = Scenario.load(gallery.path_of("yard-drive"), {"sensors.roof.enabled": False}).environment()
    assert any(isinstance(part, sn.worlds.MuJoCo) for part in env.world.parts) == engines
    van = env.world.body_names.index("van")
    places, yaws, turned, rates = [], [], [], []
    for _ in env.run(4.0):
        pose = env.state.X_WB[0, van]
        places.append(pose.position)
        forward = pose.rotate(np.array([1.0, 0.0, 0.0]))
        yaws.append(np.arctan2(forward[1], forward[0]))
        turned.append([env.sensors[f"wheel_{side}"].read().position for side in ("left", "right")])
        rates.append(env.sensors["imu"].read().angular_velocity[2])

    # Round the island: on a circle of 12 m, but for what braking does
    places = np.array(places)
    assert np.allclose(np.hypot(places[:, 0], places[:, 1]), 12.0, atol=0.25)

    # The mean of the rear wheels is the way of the middle of their axle, a little less than that of the van's middle
    rear = places[:, :2] - 1.56 * np.stack([np.cos(yaws), np.sin(yaws)], axis=-1)
    driven_m = np.linalg.norm(np.diff(rear, axis=0), axis=1).sum()
    rolled_m = 0.33 * np.diff(np.unwrap(np.array(turned), axis=0), axis=0).sum(axis=0)
    assert driven_m > 18.0
    assert rolled_m.mean() == pytest.approx(driven_m, rel=0.02)

    # The outer wheel goes farther, by the turn times the track
    turn = np.unwrap(yaws)[-1] - np.unwrap(yaws)[0]
    assert rolled_m[1] - rolled_m[0] == pytest.approx(turn * 1.76, rel=0.03)
    assert np.sum(rates) * 0.01 == pytest.approx(turn, rel=0.01)


def test_the_recorded_drive_is_the_simulated_one(monkeypatch):
    pytest.importorskip("mujoco")
    tracks = []
    for without in (False, True):
        if without:
            monkeypatch.setattr(worlds, "find_spec", lambda name: None)
        env = Scenario.load(gallery.path_of("yard-drive"), {"sensors": {}}).environment()
        van = env.world.body_names.index("van")
        wheel = env.world.joint_names.index("rear_right")
        tracks.append([])
        for _ in env.run(4.0):
            state = env.state
            joint = state.joint_position[0, wheel]
            tracks[-1].append([*state.X_WB.position[0, van], *state.w_WB[0, van], joint])
    assert np.allclose(tracks[0], tracks[1], atol=2e-3)


def test_the_recorded_drive_is_made_by_its_example(tmp_path, program):
    pytest.importorskip("mujoco")
    program(ROOT / "examples" / "record_drive.py", tmp_path)
    tables = []
    for file in (tmp_path / "drive.csv", gallery.path_of("yard-drive").parent / "drive.csv"):
        rows = list(csv.reader(file.open()))
        tables.append((rows[0], np.array([[float(cell) for cell in row[2:]] for row in rows[1:]])))
    assert tables[0][0] == tables[1][0]
    assert np.allclose(tables[0][1], tables[1][1], atol=1e-3)


def test_a_run_of_the_yard_leaves_recording_report_tables_and_clouds(tmp_path):
    plain = {"sensors.roof.mode": "geometric", "sensors.roof.max_depth": 0, "sensors.roof.threshold": 0.0}
    values = {**SMALL, **plain, "duration_s": 0.2, "outputs.clouds.every": 1}
    done = run(Scenario.load(gallery.path_of("yard-drive"), values), tmp_path / "run")
    assert done.manifest.run["readings"] == {"roof": 2, "imu": 20, "wheel_left": 20, "wheel_right": 20}
    names = {file.relative_to(done.folder).as_posix() for file in done.folder.rglob("*") if file.is_file()}
    assert {"run.mcap", "report.html", "manifest.json", "signals/imu.csv", "signals/wheel_left.csv"} <= names
    assert {"clouds/roof/000000.ply", "clouds/roof/000001.ply"} <= names


# --- fog bank and mirror ---------------------------------------------------------------------------------------------


def test_mirror_window_and_fog_show_by_cause():
    values = {"sensors.lidar.pattern.elevation_deg.channels": 32, "sensors.lidar.pattern.columns": 512}
    env, readings, _ = simulated("fog-and-mirror", values, 0.1)
    (scan,) = readings["lidar"]
    labels, points = env.scene.labels, scan.points
    mirror = next(i for i, thing in enumerate(env.scene.objects) if thing.name == "mirror")

    # The pillar's ghost stands at its image in the mirror, and is told from the pillar itself
    ghost = (scan.cause == sn.Cause.REFLECTION) & (scan.mirror_id == mirror)
    pillar = ghost & (scan.label == labels["pillar"])
    assert pillar.sum() > 30
    face = env.scene.objects[mirror].pose.apply(np.array([-0.02, 0.0, 0.0]))
    normal = env.scene.objects[mirror].pose.rotate(np.array([-1.0, 0.0, 0.0]))
    axle = np.array([6.2, 9.2, 1.5])
    image = axle - 2.0 * ((axle - face) @ normal) * normal
    off = np.hypot(*(points[pillar][:, :2] - image[:2]).T)
    assert np.median(off) == pytest.approx(0.35, abs=0.03)

    # Behind the window the person and the shelf are seen; through the fog the car, since a bank has no surface
    passed, direct = scan.cause == sn.Cause.TRANSMISSION, scan.cause == sn.Cause.SURFACE
    for label, cause in (("person", passed), ("shelf", passed), ("car", direct)):
        assert (cause & (scan.label == labels[label])).sum() > 30
    assert not (passed & (scan.label == labels["car"])).any()
    assert not (scan.label == labels["fog"])[scan.cause != sn.Cause.ATMOSPHERE].any()

    # Returns from the fog lie in the bank, but for the noise of 1 cm; some of the fog is seen in the mirror too
    air = points[(scan.cause == sn.Cause.ATMOSPHERE) & (scan.mirror_id < 0)]
    assert len(air) > 100
    assert (np.abs(air - (10.5, -7.5, 1.75)) < np.array([4.0, 3.5, 1.7]) + 0.05).all()


# --- waveform scan of a building -------------------------------------------------------------------------------------


def test_pulses_at_windows_bars_and_shrubs_come_back_several_times():
    values = {"sensors.lidar.pattern.elevation_deg.channels": 24, "sensors.lidar.pattern.columns": 720}
    env, readings, _ = simulated("waveform-building", values, 0.5)
    (scan,) = readings["lidar"]
    labels, returns = env.scene.labels, scan.valid.sum(axis=0)
    assert (returns > 0).mean() > 0.6
    assert (returns >= 2).sum() > 50

    # The back of the rooms is seen through the glass, 4.2 m behind it
    room = (scan.label == labels["room"]) & (scan.cause == sn.Cause.TRANSMISSION)
    assert room.sum() > 100
    back = scan.points[room & (scan.points[..., 0] > 18.0)]
    assert np.median(back[:, 0]) == pytest.approx(18.4, abs=0.05)

    # Bars fill a part of the beam: with them the window or wall behind comes back too
    barred = ((scan.label == labels["balcony"]) & (scan.points[..., 2] > 3.5)).any(axis=0)
    assert barred.sum() > 10
    assert (returns[barred] >= 2).mean() > 0.3
    assert scan.waveform.samples.shape[:2] == returns.shape


# --- spacecraft ------------------------------------------------------------------------------------------------------


def test_faults_of_the_spacecraft_strike_when_the_log_says_so(engines):
    env, readings, truths = simulated("spacecraft-imu", {}, 60.0)
    assert isinstance(env.world, sn.worlds.Basilisk if engines else sn.worlds.Kinematic)
    log = {event.fault: (event.start_ns * 1e-9, event.end_ns * 1e-9) for event in env.sensors["imu"].faults.log}
    assert log == {"stuck": (8.0, 18.0), "bias step": (22.0, 36.0), "range loss": (40.0, 54.0)}
    time_s = np.array([reading.time_ns for reading in readings["imu"]]) * 1e-9
    rate, force = (
        np.array([getattr(r, name) for r in readings["imu"]]) for name in ("angular_velocity", "acceleration")
    )
    true_rate = np.array([truth.angular_velocity for truth in truths["imu"]])
    true_force = np.array([truth.acceleration for truth in truths["imu"]])

    def during(fault):
        start_s, end_s = log[fault]
        return (time_s >= start_s) & (time_s < end_s)

    # Stuck is one axis at one value while it truly goes on; elsewhere it turns as it should
    stuck = during("stuck")
    assert np.ptp(rate[stuck, 1]) == 0.0
    assert np.ptp(true_rate[stuck, 1]) > 0.1
    assert np.ptp(rate[stuck, 0]) > 0.2
    healthy = ~stuck & ~during("range loss")
    assert np.std((rate - true_rate)[healthy]) < 0.005

    # The bias steps up by what is given, and back
    wrong = (force - true_force)[:, 0]
    assert wrong[during("bias step")].mean() == pytest.approx(0.02, abs=0.001)
    assert wrong[~during("bias step")].mean() == pytest.approx(0.0, abs=0.001)

    # Range is lost on two axes, which the tumble leaves
    lost = during("range loss")
    assert np.abs(rate[lost][:, :2]).max() <= 0.1
    assert np.abs(true_rate[lost][:, :2]).max() > 0.2
    assert rate[lost, 2].mean() == pytest.approx(0.3, abs=0.001)

    # In free fall an accelerometer feels no gravity, only its arm: w x (w x r) + alpha x r
    assert np.linalg.norm(true_force, axis=1).max() < 0.1
    assert np.linalg.norm(true_force, axis=1).min() > 0.01

    # Then it flies into the shadow of the Earth, where no cell sees the Sun
    seen_s = [truth.time_ns * 1e-9 for name in ("sun_x", "sun_y") for truth in truths[name] if truth.visible]
    assert 35.0 < max(seen_s) < 43.0
    fields = np.array([np.linalg.norm(truth.magnetic_field) for truth in truths["magnetometer"]])
    assert ((fields > 15e-6) & (fields < 60e-6)).all()


# --- forest ----------------------------------------------------------------------------------------------------------


def test_the_forest_keeps_clear_of_the_drone_and_is_measured_as_the_sheets_say():
    env, readings, truths = simulated("forest-tof", {"sensors.imu.enabled": False}, 0.4)
    trunks = [thing.pose.position[:2] for thing in env.scene.objects if thing.mesh.face_labels is not None]
    assert len(trunks) == 240
    away = np.linalg.norm(np.array(trunks)[:, None] - np.array(trunks)[None], axis=-1)
    assert away[~np.eye(240, dtype=bool)].min() >= 1.7 - 1e-9
    ends = [(0.0, 0.0), (5.0, 1.5), (10.0, -2.5), (16.0, -1.0), (21.0, 2.0)]
    way = np.concatenate([np.linspace(a, b, 50) for a, b in itertools.pairwise(ends)])
    assert np.linalg.norm(way[:, None] - np.array(trunks)[None], axis=-1).min() >= 1.45 - 1e-9

    # Noise in proportion to distance, where a pixel sees one surface alone: on the ground before the drone
    ahead, true = readings["front"][-1], truths["front"][-1]
    ground = (true.segmentation == env.scene.labels["ground"]) & ahead.valid & true.valid
    ground &= np.roll(ground, 2, axis=0) & np.roll(ground, -2, axis=0) & np.roll(ground, 2, axis=1)
    share = ((ahead.depth_m - true.depth_m) / true.depth_m)[ground & (true.depth_m < 4.0)]
    assert len(share) > 1000
    assert np.std(share) == pytest.approx(0.02, rel=0.1)
    assert readings["around"][-1].range_m.shape == (4, 8, 8)


# --- adaptive cruise control ------------------------------------------------------------------------------------------


def test_a_car_keeps_its_distance_by_its_radar_and_a_run_leaves_detections(tmp_path):
    """A shorter drive on a coarser radar: the one ahead brakes from 25 to 12 m/s; nobody is hit, and gaps are kept."""
    values = {"sensors.radar.chirp.chirps": 32, "sensors.radar.ray_spacing_deg": 0.8, "duration_s": 16.0}
    scenario, states = Scenario.load(gallery.path_of("adaptive-cruise"), values), []

    class Gaps:
        def record(self, env):
            car, lead = (env.world.body_names.index(name) for name in ("car", "lead"))
            place, speed = env.state.X_WB.position[0, :, 0], env.state.v_WB[0, :, 0]
            states.append((place[lead] - place[car] - 4.3, speed[car], speed[lead]))

    done = run(scenario, tmp_path / "run", also=[Gaps().record])
    gap_m, own, lead = np.array(states).T
    assert lead[-1] == 12.0
    assert own[-1] == pytest.approx(12.0, abs=1.5)
    assert gap_m[-1] == pytest.approx(5.0 + 1.6 * own[-1], abs=4.0)
    assert gap_m.min() > 20.0

    # The table has what the radar saw: mostly what stands still, and the car ahead among it
    rows = list(csv.DictReader((done.folder / "signals" / "radar.csv").open()))
    ahead = [row for row in rows if row["truth_object_id"] == "1"]
    assert len(ahead) > 140
    assert done.manifest.run["readings"] == {"radar": 160}


# --- the page --------------------------------------------------------------------------------------------------------


def test_every_scenario_has_its_picture_and_its_command_on_the_page():
    page = (ROOT / "docs" / "gallery.md").read_text()
    assert set(re.findall(r"sensorium run ([\w-]+)", page)) >= set(gallery.names())
    for name in gallery.names():
        assert f"gallery/{name}.png" in page
        picture = Image.open(ROOT / "docs" / "gallery" / f"{name}.png")
        assert min(picture.size) > 800
