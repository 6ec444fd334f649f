import numpy as np
import pytest
import trimesh
from PIL import Image

import sensorium as sn
from sensorium.demo import drive, models
from sensorium.demo.yard import yard_scene, yard_world
from sensorium.errors import SpecError


@pytest.fixture(scope="module")
def result():
    return drive.drive(0.3, sensor=drive.lidar(channels=32, columns=512))


def test_the_drive_counts_what_it_cast(result):
    assert result.sweeps == 3
    assert result.rays == 3 * 32 * 512
    assert result.simulated_s == pytest.approx(0.3)
    assert sum(result.returns.values()) == len(result.points_W) == len(result.point_label)
    for name, number in result.labels.items():
        assert result.returns[name] == (result.point_label == number).sum()


def test_the_cloud_is_in_the_world_frame(result):
    ground = result.points_W[result.point_label == result.labels["ground"]]
    assert len(ground) > 1000
    assert ground[:, 2].min() > -0.15  # uneven by 4 cm, and noise of 1 cm along the ray
    assert ground[:, 2].max() < 0.05


def test_the_van_is_hidden_from_its_own_lidar(result):
    things = result.last.valid & (result.last.label != result.labels["fog"])
    assert result.last.range_m[things].min() > 2.5


def test_the_path_is_the_roof_going_round_the_circle(result):
    assert np.allclose(np.hypot(result.path_W[:, 0], result.path_W[:, 1]), 12.0, atol=1e-2)
    assert np.allclose(result.path_W[:, 2], 2.35)
    travelled = np.linalg.norm(np.diff(result.path_W, axis=0), axis=1).sum()
    assert travelled == pytest.approx(0.3 * 12.0 * 0.7, rel=0.01)


def test_the_files_open_and_hold_what_was_seen(result, tmp_path):
    files = drive.write(result, tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(file.name for file in files)
    for file in files:
        if file.suffix == ".png":
            picture = Image.open(file).convert("RGB")
            assert min(picture.size) > 500
            assert len(picture.getcolors(picture.width * picture.height)) > 100

    cloud, scan = trimesh.load(tmp_path / "cloud.ply"), result.last
    assert np.allclose(cloud.vertices, scan.points[scan.valid], atol=1e-4)
    columns = cloud.metadata["_ply_raw"]["vertex"]["data"]
    assert np.array_equal(np.ravel(columns["label"]), scan.label[scan.valid])
    assert np.array_equal(np.ravel(columns["range"]), scan.range_m[scan.valid])


def test_light_sees_fog_ghosts_and_the_room_behind_glass(result):
    assert sum(result.returns.values()) == len(result.points_W)
    assert result.returns["fog"] > 0
    cause, label = result.last.cause, result.last.label
    assert ((cause == sn.Cause.ATMOSPHERE) == (label == result.labels["fog"])).all()
    assert ((cause == sn.Cause.REFLECTION) == (label == result.labels["ghost"])).all()

    # Through glass and fog the path has passed at least one interface
    onward = cause == sn.Cause.TRANSMISSION
    assert onward.sum() > 20
    assert (result.last.depth[onward] > 0).all()


def test_a_drive_by_geometry_alone_meets_no_ghosts():
    plain = drive.drive(0.1, sensor=drive.lidar(channels=16, columns=128).model_copy(update={"mode": "geometric"}))
    assert plain.returns["ghost"] == 0
    assert plain.returns["ground"] > 0


@pytest.mark.parametrize("seconds", [0.0, 0.05, -1.0, float("nan"), float("inf")])
def test_a_drive_without_a_whole_sweep_is_refused(seconds):
    with pytest.raises(SpecError, match="seconds is"):
        drive.drive(seconds)


def test_every_body_that_carries_something_moves():
    world = yard_world()
    assert set(yard_scene().bodies) == set(world.body_names)
    world.start(1)
    before = world.state().X_WB.position
    for _ in range(50):
        world.step()
    assert (np.linalg.norm(world.state().X_WB.position - before, axis=-1) > 0.3).all()


def test_moving_things_keep_clear_of_each_other():
    world = yard_world()
    world.start(1)
    for _ in range(600):
        world.step()
        place = world.state().X_WB.position[0, :, :2]
        apart = np.linalg.norm(place[:, None] - place[None], axis=-1)
        assert apart[np.triu_indices(len(place), 1)].min() > 1.5


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
