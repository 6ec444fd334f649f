"""Clouds as PCD, KITTI, LAS, LAZ and NPZ, read back by other libraries."""

import sys
import zipfile
from dataclasses import fields

import laspy
import numpy as np
import pytest
from pypcd4 import PointCloud

import sensorium as sn
from sensorium.core.errors import MissingExtraError, RecordError, SpecError
from sensorium.record import load_npz, save_kitti, save_las, save_npz, save_pcd, save_ply
from sensorium.sensors.lidar.scan import Light

FRAMES = pytest.mark.parametrize("frame", ["sensor", "world"])
SAVERS = pytest.mark.parametrize(
    ("save", "name"), [(save_pcd, "c.pcd"), (save_kitti, "c.bin"), (save_las, "c.las"), (save_npz, "c.npz")]
)


def numbers_of(scan: sn.Scan) -> tuple[np.ndarray, np.ndarray]:
    """Return and ring of each point."""
    returns, rings, _ = np.nonzero(scan.valid)
    return returns, rings


@FRAMES
def test_pcd_comes_back_bit_for_bit(tmp_path, frame, random_scan):
    scan = random_scan(1, frame=frame)
    save_pcd(tmp_path / "c.pcd", scan)
    cloud, flat = PointCloud.from_path(tmp_path / "c.pcd"), scan.flat()
    for k, axis in enumerate("xyz"):
        assert np.array_equal(cloud.pc_data[axis], flat.points[:, k])
        assert cloud.pc_data[axis].dtype == flat.points.dtype
    for name, expected in (("intensity", flat.intensity), ("label", flat.label), ("cause", flat.cause)):
        assert np.array_equal(cloud.pc_data[name], expected)
    assert np.array_equal(cloud.pc_data["t"], flat.offset_ns)
    returns, rings = numbers_of(scan)
    assert np.array_equal(cloud.pc_data["return"], returns)
    assert np.array_equal(cloud.pc_data["ring"], rings)
    X_WS = scan.X_WS[0, 0, 0]
    viewpoint = (*X_WS.position, *X_WS.quaternion) if frame == "world" else (0, 0, 0, 1, 0, 0, 0)
    assert np.array_equal(cloud.metadata.viewpoint, viewpoint)


def test_pcd_of_a_long_sweep_keeps_its_times(tmp_path, random_scan):
    scan = random_scan(2, offset_ns=np.arange(400).reshape(8, 50) * 10**9, end_ns=500 * 10**9)
    save_pcd(tmp_path / "c.pcd", scan)
    assert np.array_equal(PointCloud.from_path(tmp_path / "c.pcd").pc_data["t"], scan.flat().offset_ns)


def test_kitti_is_four_floats_a_point(tmp_path, random_scan):
    scan = random_scan(3)
    save_kitti(tmp_path / "c.bin", scan)
    rows = np.fromfile(tmp_path / "c.bin", np.float32).reshape(-1, 4)
    assert np.array_equal(rows[:, :3], scan.flat().points)
    assert np.array_equal(rows[:, 3], scan.flat().intensity)


@FRAMES
@pytest.mark.parametrize("name", ["c.las", "c.laz", "C.LAZ"])
def test_las_comes_back(tmp_path, name, frame, random_scan):
    scan = random_scan(4, frame=frame, far_m=2_600_000.0 if frame == "world" else 0.0)
    save_las(tmp_path / name, scan)
    cloud, flat = laspy.read(tmp_path / name), scan.flat()
    # Half of 0.1 mm, and what float64 leaves of it far from the origin
    assert np.abs(cloud.xyz - flat.points).max() <= 5.1e-5
    for key, expected in (("intensity_raw", flat.intensity), ("label", flat.label), ("cause", flat.cause)):
        assert np.array_equal(cloud[key], expected)
    assert np.array_equal(cloud.gps_time, scan.ray_time_ns[scan.valid] * 1e-9)
    returns, rings = numbers_of(scan)
    assert np.array_equal(cloud.return_number, returns + 1)
    assert np.array_equal(cloud["ring"], rings)
    both = scan.valid.all(axis=0)
    assert np.array_equal(cloud.number_of_returns, np.broadcast_to(1 + both, scan.valid.shape)[scan.valid])
    assert cloud.intensity.max() == 65535
    assert cloud.header.are_points_compressed == (name.lower() == "c.laz")


def test_las_needs_its_name_and_its_package(tmp_path, monkeypatch, random_scan):
    with pytest.raises(SpecError, match=r"it must end in \.las or \.laz"):
        save_las(tmp_path / "c.txt", random_scan())
    monkeypatch.setitem(sys.modules, "laspy", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'sensorium\[las\]'"):
        save_las(tmp_path / "c.las", random_scan())


@pytest.mark.parametrize("light", [True, False])
@pytest.mark.parametrize("compress", [True, False])
def test_npz_is_the_whole_scan(tmp_path, light, compress, random_scan):
    scan = random_scan(5, light=light, frame="world")
    save_npz(tmp_path / "c.npz", scan, compress=compress)
    back = load_npz(tmp_path / "c.npz")
    for part in fields(sn.Scan):
        if part.name == "light":
            continue
        ours, theirs = getattr(scan, part.name), getattr(back, part.name)
        assert type(ours) is type(theirs)
        assert np.array_equal(ours, theirs) if isinstance(ours, np.ndarray) else ours == theirs
    assert (back.light is None) == (not light)
    for part in fields(Light) if light else ():
        ours, theirs = getattr(scan.light, part.name), getattr(back.light, part.name)
        assert np.array_equal(ours, theirs) if ours is not None else theirs is None
    assert np.array_equal(np.load(tmp_path / "c.npz")["points"], scan.points)


def test_npz_that_is_none_is_refused_in_a_line(tmp_path):
    with pytest.raises(SpecError, match="No such file"):
        load_npz(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(RecordError, match=r"'text\.npz' is no archive of a scan"):
        load_npz(tmp_path / "text.npz")
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(RecordError, match=r"'other\.npz' is no archive of a scan"):
        load_npz(tmp_path / "other.npz")
    np.savez(tmp_path / "objects.npz", range_m=np.array([{}], dtype=object))
    with pytest.raises(RecordError, match=r"'objects\.npz' is no archive of a scan"):
        load_npz(tmp_path / "objects.npz")


def test_npz_bombs_are_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("sensorium.record.npz._LARGEST", 1000)
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("range_m.npy", bytes(100_000))
    with pytest.raises(RecordError, match="unpacks to 100000 bytes; the most is 1000"):
        load_npz(tmp_path / "bomb.npz")


@SAVERS
def test_nothing_seen_is_a_file_too(tmp_path, save, name, random_scan):
    scan = random_scan().voided(np.array(True))
    save(tmp_path / name, scan)
    assert (tmp_path / name).exists()
    if name == "c.las":
        assert len(laspy.read(tmp_path / name)) == 0
    if name == "c.pcd":
        assert PointCloud.from_path(tmp_path / name).points == 0


@SAVERS
def test_files_appear_whole_or_not_at_all(tmp_path, monkeypatch, save, name, random_scan):
    (tmp_path / name).write_text("before")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(RecordError, match="cannot be written: No space left"):
        save(tmp_path / name, random_scan())
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [(name, "before")]
    with pytest.raises(SpecError, match="folder does not exist"):
        save(tmp_path / "no" / name, random_scan())


@pytest.mark.parametrize("save", [save_pcd, save_kitti])
def test_a_cloud_is_of_one_sensor(tmp_path, save, random_scan):
    scan = random_scan(X_WS=sn.Pose().broadcast_to((1, 2, 1)), knot_ns=np.array([3_000_000_001]))
    with pytest.raises(SpecError, match=r"the scan has \(2, 1\) worlds and sensors"):
        save(tmp_path / "c", scan)


@pytest.mark.parametrize("save", [*(save for save, _ in SAVERS.args[1]), save_ply])
def test_a_scan_before_the_path_is_told(tmp_path, save, random_scan):
    path = str(tmp_path / "c.las")
    with pytest.raises(SpecError, match=r"path is a Scan; .* before the scan|scan is a str '.*'; .* after the path"):
        save(random_scan(), path)
    with pytest.raises(SpecError, match=r"scan is a ndarray; it must be a sn\.Scan, and come after the path"):
        save(path, np.zeros((3, 3)))
    with pytest.raises(SpecError, match=r"path is a int; it must be a string or a path"):
        save(3, random_scan())
    assert not list(tmp_path.iterdir())


def test_a_scan_is_not_where_one_is_read_from(random_scan):
    with pytest.raises(SpecError, match=r"path is a Scan; it must be a string or a path$"):
        load_npz(random_scan())
