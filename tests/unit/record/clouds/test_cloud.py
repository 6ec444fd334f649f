"""Clouds hold every field of a scan, from the one list that `Scan` has."""

import dataclasses
from typing import Any, ClassVar

import laspy
import numpy as np
import pytest
import trimesh
from pypcd4 import PointCloud

import sensorium as sn
from sensorium.record import save_las, save_npz, save_pcd, save_ply
from sensorium.record.clouds.cloud import columns_of
from sensorium.record.ros2.message import Source
from sensorium.record.ros2.point_cloud import point_cloud, point_kind
from sensorium.sensors.lidar.scan import Light, Scan, ScanField
from sensorium.sensors.lidar.waveform.reading import Waveforms

# Arrays and numbers of a scan that are of all rays or of the whole sweep, not of a return
OF_A_SWEEP = {"offset_ns", "start_ns", "end_ns", "frame", "knot_ns", "X_WS", "clock_offset_ns", "clock_skew"}
NOT_OF_RETURNS = OF_A_SWEEP | {"light", "waveform", "range_image"}


@dataclasses.dataclass(frozen=True, eq=False)
class Wider(Scan):
    """A scan of some lidar to come, with two fields more."""

    FIELDS: ClassVar[tuple[ScanField, ...]] = (
        *Scan.FIELDS,
        ScanField("echo", ("echo",), "u1", "1", "number of an echo", 7),
        ScanField("velocity", ("vx", "vy", "vz"), "f4", "m/s", "of the surface"),
    )

    echo: Any = None
    velocity: Any = None


def everything(random_scan, seed=0, shape=(2, 8, 50)) -> Scan:
    """A scan that has every field there is."""
    scan, rng = random_scan(seed, shape=shape), np.random.default_rng(seed + 100)
    numbers = {name: rng.random(shape).astype(np.float32) for name in ("ambient", "width_s")}
    normals = rng.normal(size=(*shape, 3)).astype(np.float32)
    return dataclasses.replace(scan, normals=normals, light=dataclasses.replace(scan.light, **numbers))


def wider(random_scan) -> Wider:
    scan, rng = everything(random_scan), np.random.default_rng(5)
    fields = {field.name: getattr(scan, field.name) for field in dataclasses.fields(scan)}
    shape = scan.range_m.shape
    echo = rng.integers(0, 200, shape).astype(np.uint8)
    return Wider(**fields, echo=echo, velocity=rng.normal(size=(*shape, 3)).astype(np.float32))


def expected(scan: Scan) -> dict[str, np.ndarray]:
    """Columns by hand: the valid entries of each array, channel by channel."""
    keep, columns = scan.valid, {}
    for field in scan.FIELDS:
        array = getattr(scan, field.name)[keep]
        for k, name in enumerate(field.columns):
            columns[name] = array[:, k] if array.ndim == 2 else array
    return columns


def from_ply(scan, path):
    save_ply(path, scan)
    rows = trimesh.load(path).metadata["_ply_raw"]["vertex"]["data"]
    renamed = {"nx": "normal_x", "ny": "normal_y", "nz": "normal_z"}
    return {renamed.get(name, name): rows[name] for name in rows.dtype.names}


def from_pcd(scan, path):
    save_pcd(path, scan)
    rows = PointCloud.from_path(path).pc_data
    return {name: rows[name] for name in rows.dtype.names}


def from_las(scan, path):
    save_las(path, scan)
    cloud = laspy.read(path)
    own = {"x": np.array(cloud.x), "y": np.array(cloud.y), "z": np.array(cloud.z)}
    renamed = {"intensity_raw": "intensity", "width_s": "width"}
    return own | {renamed.get(name, name): np.array(cloud[name]) for name in cloud.point_format.extra_dimension_names}


FILES = pytest.mark.parametrize(
    ("read_back", "name"), [(from_ply, "c.ply"), (from_pcd, "c.pcd"), (from_las, "c.las"), (from_las, "c.laz")]
)


def test_every_array_of_returns_is_in_the_list():
    """A field that is added to the reading and not to the list is found here."""
    own = [field.name for field in dataclasses.fields(Scan) if field.name not in NOT_OF_RETURNS]
    assert sorted(own) == sorted(field.name for field in Scan.FIELDS if not field.of_light)
    light = [field.name for field in dataclasses.fields(Light)]
    assert sorted(light) == sorted(field.name for field in Scan.FIELDS if field.of_light)
    columns = [name for field in Scan.FIELDS for name in field.columns]
    assert len(set(columns)) == len(columns)
    assert all(field.unit and field.doc for field in Scan.FIELDS)


@FILES
@pytest.mark.parametrize("made", [everything, wider])
def test_files_hold_every_field(tmp_path, random_scan, read_back, name, made):
    scan = made(random_scan)
    back, wanted = read_back(scan, tmp_path / name), expected(scan)
    assert wanted.keys() <= back.keys()
    for column, values in wanted.items():
        if column in "xyz" and name.startswith("c.la"):
            assert np.abs(back[column] - values).max() <= 5.1e-5  # LAS rounds to 0.1 mm
        else:
            np.testing.assert_array_equal(back[column], values, err_msg=column)


@pytest.mark.parametrize("made", [everything, wider])
def test_npz_holds_every_field(tmp_path, random_scan, made):
    scan = made(random_scan)
    save_npz(tmp_path / "c.npz", scan)
    content = np.load(tmp_path / "c.npz")
    for field in scan.FIELDS:
        key = f"light_{field.name}" if field.of_light else field.name
        np.testing.assert_array_equal(content[key], getattr(scan, field.name))


@pytest.mark.parametrize("made", [everything, wider])
def test_messages_hold_every_field_that_is_for_them(random_scan, made):
    scan = made(random_scan)
    (message,) = point_cloud(scan, Source("top", None, None, None, None, ("top",), ("world",)))
    kind = point_kind(scan)
    rows, wanted = message[2].fields["data"].materialize().view(kind), expected(scan)
    names = [name for field in scan.FIELDS if field.in_messages for name in field.columns]
    assert set(names) == set(kind.names) - {"t", "ring", "return"}
    for name in names:
        np.testing.assert_array_equal(rows[name], wanted[name], err_msg=name)


def test_las_tells_what_its_dimensions_are(tmp_path, random_scan):
    save_las(tmp_path / "c.las", everything(random_scan))
    told = {d.name: d.description for d in laspy.read(tmp_path / "c.las").point_format.extra_dimensions}
    assert told["range"] == "distance along the ray [m]"
    assert told["width_s"] == "full width at half maximum [s]"
    assert all(told[name] for name in ("label", "cause", "object_id", "mirror_id"))


@pytest.mark.parametrize("made", [everything, wider])
def test_flat_void_and_one_of_several_keep_every_field(random_scan, made):
    scan = made(random_scan)
    flat, at = scan.flat(), np.random.default_rng(2).random(scan.range_m.shape) < 0.3
    voided, one = scan.voided(at), scan.one(0)
    for field in scan.FIELDS:
        array = getattr(scan, field.name)
        np.testing.assert_array_equal(getattr(flat, field.name), array[scan.valid])
        np.testing.assert_array_equal(getattr(one, field.name), array)
        void = getattr(voided, field.name)
        np.testing.assert_array_equal(void[~at], array[~at])
        assert void.dtype == array.dtype
        np.testing.assert_array_equal(void[at], array[at] if field.void is None else field.void)
    assert type(flat) is type(voided) is type(one) is type(scan)


def test_one_of_several_worlds_and_sensors_has_its_own(random_scan):
    """Three worlds of two sensors, two returns; samples of pulses too."""
    rng, shape, rays = np.random.default_rng(1), (3, 2, 2, 4, 5), (4, 5)
    scan = everything(random_scan, shape=shape)
    samples = rng.random((3, 2, *rays, 6)).astype(np.float32)
    scan = dataclasses.replace(
        scan,
        X_WS=sn.Pose(rng.random((1, 3, 2, 3)), rng.normal(size=(1, 3, 2, 4))),
        waveform=Waveforms(samples, 0.0, 1e-9, 1.0),
    )
    for row in range(6):
        one, world, sensor = scan.one(row), row // 2, row % 2
        for field in scan.FIELDS:
            np.testing.assert_array_equal(getattr(one, field.name), getattr(scan, field.name)[world, sensor])
        np.testing.assert_array_equal(one.waveform.samples, samples[world, sensor])
        np.testing.assert_array_equal(one.X_WS.position[0, 0, 0], scan.X_WS.position[0, world, sensor])
        assert columns_of(one)["width"].size == np.count_nonzero(scan.valid[world, sensor])


def test_a_geometric_lidar_has_what_it_knows(random_scan):
    columns = columns_of(random_scan(light=False))
    told = ["x", "y", "z", "intensity", "label", "cause", "range", "object_id", "face_id", "t", "ring", "return"]
    assert list(columns) == told
