"""Scans as files of their own, in every format, for every world and sensor."""

import sys

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import MissingExtraError, SpecError

ENDINGS = {"pcd": "pcd", "ply": "ply", "las": "las", "laz": "laz", "kitti": "bin", "npz": "npz"}


def environment(worlds=None, poses=None, **options):
    scene = sn.Scene()
    scene.add(sn.shapes.plane(100.0), label="ground")
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.1), worlds=worlds, **options)
    pattern = sn.patterns.Spinning(elevation_deg=(-5.0, -10.0), columns=32, rate_hz=10)
    env.attach(sn.Lidar(pattern=pattern), pose=poses or sn.Pose((0, 0, 2)))
    env.attach(sn.Lidar(pattern=pattern), pose=sn.Pose((0, 0, 3)), name="other")
    env.attach(sn.Gyroscope())
    return env


def points_of(path):
    """Points by another reader, or of a format that is plain numbers."""
    if path.suffix == ".bin":
        return np.fromfile(path, "<f4").reshape(-1, 4)[:, :3]
    if path.suffix == ".npz":
        scan = sn.record.load_npz(path)
        return scan.points[scan.valid]
    if path.suffix in (".las", ".laz"):
        laspy = pytest.importorskip("laspy")
        return laspy.read(path).xyz
    if path.suffix == ".pcd":
        pypcd4 = pytest.importorskip("pypcd4")
        return pypcd4.PointCloud.from_path(path).numpy(("x", "y", "z"))
    trimesh = pytest.importorskip("trimesh")
    return trimesh.load(path).vertices


@pytest.mark.parametrize("format", ENDINGS)
def test_every_scan_is_a_file_of_its_format(tmp_path, format):
    env = environment()
    scans = []
    with sn.record.CloudRecorder(tmp_path, format=format, sensors=["lidar"]) as recorder:
        for _ in env.run(0.35):
            recorder.record(env)
            scans += env.sensors["lidar"].readings()
    files = sorted((tmp_path / "lidar").iterdir())
    assert [p.name for p in files] == [f"{k:06d}.{ENDINGS[format]}" for k in range(4)]
    assert [p.name for p in tmp_path.iterdir()] == ["lidar"]
    for path, scan in zip(files, scans, strict=True):
        assert np.allclose(points_of(path), scan.flat().points, atol=0.0 if format not in ("las", "laz") else 1e-4)


def test_every_so_manyth_scan_of_all_lidars(tmp_path):
    env = environment()
    with sn.record.CloudRecorder(tmp_path, format="kitti", every=3) as recorder:
        for _ in env.run(0.75):
            recorder.record(env)
    for name in ("lidar", "other"):
        assert [p.name for p in sorted((tmp_path / name).iterdir())] == ["000000.bin", "000003.bin", "000006.bin"]


def test_worlds_and_sensors_have_folders_of_their_own(tmp_path):
    poses = [sn.Pose((0, 0, 2.0)), sn.Pose((0, 0, 2.5)), sn.Pose((0, 0, 3.0))]
    env = environment(worlds=2, poses=poses, first_world=4)
    with sn.record.CloudRecorder(tmp_path, format="npz") as recorder:
        env.step()
        recorder.record(env)
    scan = env.sensors["lidar"].read()
    for world in range(2):
        for k in range(3):
            one = sn.record.load_npz(tmp_path / f"world_{4 + world}" / f"lidar_{k}" / "000000.npz")
            assert np.array_equal(one.points, scan.points[world, k])
            assert np.array_equal(one.label, scan.label[world, k])
            assert np.allclose(one.pose(one.start_ns).position, poses[k].position)
    assert (tmp_path / "world_5" / "other" / "000000.npz").exists()


def test_what_cannot_be_recorded_is_said_in_a_line(tmp_path, monkeypatch):
    with pytest.raises(SpecError, match="format is 'stl'; it must be one of pcd, ply, las, laz, kitti, npz"):
        sn.record.CloudRecorder(tmp_path, format="stl")
    with pytest.raises(SpecError, match="every is 0; it must be at least 1"):
        sn.record.CloudRecorder(tmp_path, every=0)
    with pytest.raises(SpecError, match="sensors is the string 'lidar'"):
        sn.record.CloudRecorder(tmp_path, sensors="lidar")
    env = environment()
    env.step()
    recorder = sn.record.CloudRecorder(tmp_path, sensors=["lydar"])
    with pytest.raises(SpecError, match="no sensor is named 'lydar'; there are lidar, other, gyroscope"):
        recorder.record(env)
    recorder.close()
    with pytest.raises(SpecError, match="is closed"):
        recorder.record(env)
    monkeypatch.setitem(sys.modules, "laspy", None)
    with pytest.raises(MissingExtraError, match=r"sensorium\[las\]"):
        sn.record.CloudRecorder(tmp_path, format="laz")
