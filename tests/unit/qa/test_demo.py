import numpy as np
import pytest
import trimesh
from PIL import Image

import sensorium as sn
from sensorium.app.gallery import path_of
from sensorium.app.scenario import Scenario
from sensorium.qa.demo import models, pictures
from sensorium.qa.demo.yard import yard_scene

SMALL = {
    "duration_s": 0.3,
    "sensors.roof.pattern.elevation_deg.channels": 32,
    "sensors.roof.pattern.columns": 512,
    "sensors.imu.enabled": False,
}


@pytest.fixture(scope="module")
def seen():
    """Three small sweeps of the yard drive."""
    env = Scenario.load(path_of("yard-drive"), SMALL).environment()
    log = pictures.SweepLog("roof", 0.3)
    for _ in env.run(0.3):
        log.record(env)
    return log


def test_the_log_counts_what_was_cast(seen):
    assert seen.sweeps == 3
    assert seen.rays == 3 * 32 * 512
    assert seen.elevation_deg == (-25.0, 18.0)
    assert sum(seen.returns.values()) == len(seen.points_W) == len(seen.point_label)
    for name, number in seen.labels.items():
        assert seen.returns[name] == (seen.point_label == number).sum()


def test_rates_count_from_the_first_sweep_on(seen):
    sweeps, simulated_s, real_s = seen.since_first
    assert (sweeps, simulated_s) == (2, pytest.approx(0.2))
    assert real_s > 0.0


def test_the_cloud_is_in_the_world_frame(seen):
    ground = seen.points_W[seen.point_label == seen.labels["ground"]]
    assert len(ground) > 1000
    assert ground[:, 2].min() > -0.15  # uneven by 4 cm, and noise of 1 cm along the ray
    assert ground[:, 2].max() < 0.05


def test_the_van_is_hidden_from_its_own_lidar(seen):
    things = seen.last.valid & (seen.last.label != seen.labels["fog"])
    assert seen.last.range_m[things].min() > 2.5


def test_the_path_is_the_roof_going_round_the_circle(seen):
    assert np.allclose(np.hypot(seen.path_W[:, 0], seen.path_W[:, 1]), 12.0, atol=0.15)  # the van leans by 2 degrees
    assert np.allclose(seen.path_W[:, 2], 2.35, atol=0.02)
    traveled = np.linalg.norm(np.diff(seen.path_W, axis=0), axis=1).sum()
    assert traveled == pytest.approx(0.3 * 6.0, rel=0.02)


def test_the_files_open_and_hold_what_was_seen(seen, tmp_path):
    files = pictures.write(seen, tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(file.name for file in files)
    for file in files:
        if file.suffix == ".png":
            picture = Image.open(file).convert("RGB")
            assert min(picture.size) > 500
            assert len(picture.getcolors(picture.width * picture.height)) > 100

    cloud, scan = trimesh.load(tmp_path / "cloud.ply"), seen.last
    assert np.allclose(cloud.vertices, scan.points[scan.valid], atol=1e-4)
    columns = cloud.metadata["_ply_raw"]["vertex"]["data"]
    assert np.array_equal(np.ravel(columns["label"]), scan.label[scan.valid])
    assert np.array_equal(np.ravel(columns["range"]), scan.range_m[scan.valid])


def test_light_sees_fog_ghosts_and_the_room_behind_glass(seen):
    assert seen.returns["fog"] > 0
    cause, label = seen.last.cause, seen.last.label
    assert ((cause == sn.Cause.ATMOSPHERE) == (label == seen.labels["fog"])).all()
    assert ((cause == sn.Cause.REFLECTION) == (label == seen.labels["ghost"])).all()

    # Through glass and fog the path has passed at least one interface
    onward = cause == sn.Cause.TRANSMISSION
    assert onward.sum() > 20
    assert (seen.last.depth[onward] > 0).all()


def test_a_long_drive_keeps_fewer_points():
    plain = {"sensors.roof.mode": "geometric", "sensors.roof.max_depth": 0, "sensors.roof.threshold": 0.0}
    env = Scenario.load(path_of("yard-drive"), {**SMALL, **plain}).environment()
    logs = [pictures.SweepLog("roof", duration_s) for duration_s in (2.0, 6.0)]
    for _ in env.run(0.1):
        for log in logs:
            log.record(env)
    assert len(logs[1].points_W) == -(-len(logs[0].points_W) // 3)
    assert logs[0].returns == logs[1].returns
    assert logs[0].returns["ghost"] == 0  # by geometry alone there are none


def test_every_body_that_carries_something_moves_and_keeps_clear_of_the_others():
    env = Scenario.load(path_of("yard-drive"), {"sensors": {}}).environment()
    movers = [env.world.body_names.index(body) for body in yard_scene().bodies]
    before = env.state.X_WB.position[0, movers]
    for step, _ in enumerate(env.run(6.0), start=1):
        place = env.state.X_WB.position[0, movers, :2]
        apart = np.linalg.norm(place[:, None] - place[None], axis=-1)
        assert apart[np.triu_indices(len(place), 1)].min() > 1.5
        if step == 50:
            assert (np.linalg.norm(env.state.X_WB.position[0, movers] - before, axis=-1) > 0.3).all()


@pytest.mark.parametrize("model", [models.car, models.van, models.tree, models.lamp, models.pedestrian, models.cyclist])
def test_models_stand_on_the_ground(model):
    low, high = model().bounds
    assert -0.01 <= low[2] <= 0.05
    assert high[2] > 1.0


def test_a_wall_covers_what_its_openings_leave():
    # Volume of the boxes: the whole wall without the holes
    wall = models.wall(10.0, 3.0, 0.5, openings=[(1.0, 2.0, 0.0, 2.0), (4.0, 7.0, 1.0, 2.5), (8.0, 9.0, 0.0, 3.0)])
    volume = trimesh.Trimesh(wall.vertices, wall.faces, process=False).volume
    assert volume == pytest.approx(0.5 * (10.0 * 3.0 - 1.0 * 2.0 - 3.0 * 1.5 - 1.0 * 3.0))
