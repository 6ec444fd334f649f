import os
from pathlib import Path

import numpy as np
import pytest
import trimesh
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sensorium.core.errors import RecordError, SpecError
from sensorium.record import save_ply_points

TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "float64"]
POINTS = np.array([[0.0, 1.0, 2.0], [-3.5, 4.25, 1e-3], [1e6 + 1e-6, 0.0, -0.0]])


def read(path: Path) -> np.ndarray:
    """Rows of a PLY file as another library reads them."""
    return trimesh.load(path).metadata["_ply_raw"]["vertex"]["data"]


@pytest.mark.parametrize("point_type", ["float32", "float64"])
def test_every_type_comes_back_bit_for_bit(tmp_path: Path, point_type: str) -> None:
    points = POINTS.astype(point_type)
    extremes = {
        name: np.array([info.min, 0, info.max], dtype=name)
        for name in TYPES
        for info in [np.iinfo(name) if "int" in name else np.finfo(name)]
    }
    save_ply_points(tmp_path / "cloud.ply", points, **extremes, hit=np.array([True, False, True]))
    rows = read(tmp_path / "cloud.ply")
    for k, axis in enumerate("xyz"):
        assert rows[axis].dtype == points.dtype
        assert np.array_equal(rows[axis], points[:, k])
    for name, values in extremes.items():
        assert rows[name].dtype == values.dtype
        assert np.array_equal(rows[name], values)
    assert rows["hit"].tolist() == [1, 0, 1]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    hnp.arrays(np.float32, st.tuples(st.integers(1, 50), st.just(3)), elements=st.floats(-1e6, 1e6, width=32)),
)
def test_any_cloud_comes_back(tmp_path: Path, points: np.ndarray) -> None:
    intensity = np.linspace(0.0, 1.0, len(points))
    save_ply_points(tmp_path / "cloud.ply", points, intensity=intensity)
    rows = read(tmp_path / "cloud.ply")
    assert np.array_equal(np.stack([rows[axis] for axis in "xyz"], axis=-1), points)
    assert np.array_equal(rows["intensity"], intensity)
    assert np.array_equal(trimesh.load(tmp_path / "cloud.ply").vertices, points)


def test_strided_and_big_endian_arrays_and_lists_are_written_by_value(tmp_path: Path) -> None:
    wide = np.asfortranarray(np.repeat(POINTS, 2, axis=0)[::2].astype(">f8"))
    save_ply_points(tmp_path / "cloud.ply", wide, ring=np.arange(6, dtype=">i2")[::2], gain=[0.5, 1.5, np.nan])
    rows = read(tmp_path / "cloud.ply")
    assert np.array_equal(rows["x"], POINTS[:, 0])
    assert rows["ring"].tolist() == [0, 2, 4]
    assert np.array_equal(rows["gain"], [0.5, 1.5, np.nan], equal_nan=True)


def test_no_points_make_an_empty_cloud(tmp_path: Path) -> None:
    save_ply_points(tmp_path / "cloud.ply", np.zeros((0, 3), dtype=np.float32), intensity=np.zeros(0))
    assert b"element vertex 0\n" in (tmp_path / "cloud.ply").read_bytes()


@pytest.mark.parametrize(
    ("points", "properties", "match"),
    [
        (np.zeros((2, 2)), {}, r"shape \(2, 2\)"),
        (np.zeros((4, 2, 3)), {}, r"shape \(4, 2, 3\)"),
        (np.array([["a", "b", "c"]]), {}, "numbers"),
        ([[0.0, 0.0, 0.0], [0.0, np.nan, 0.0]], {}, r"point 1 is \[0.0, nan, 0.0\]"),
        (np.full((1, 3), np.inf, dtype=np.float32), {}, "point 0 is .*inf"),
        (POINTS, {"intensity": np.zeros(2)}, r"'intensity' has shape \(2,\); there are 3 points"),
        (POINTS, {"normal": np.zeros((3, 3))}, r"'normal' has shape \(3, 3\)"),
        (POINTS, {"time_ns": np.zeros(3, dtype=np.int64)}, "'time_ns' has type int64, which PLY lacks"),
        (POINTS, {"name": np.array(["a", "b", "c"])}, "'name' has type <U1"),
        (POINTS, {"x": np.zeros(3)}, "name 'x' cannot be used"),
        (POINTS, {"two words": np.zeros(3)}, "name 'two words'"),
        (POINTS, {"größe": np.zeros(3)}, "name 'größe'"),
    ],
)
def test_what_does_not_fit_is_named_and_nothing_is_written(
    tmp_path: Path, points: object, properties: dict, match: str
) -> None:
    with pytest.raises(SpecError, match=match):
        save_ply_points(tmp_path / "cloud.ply", points, **properties)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="its folder does not exist"):
        save_ply_points(tmp_path / "gone" / "cloud.ply", POINTS)


def test_a_failed_write_keeps_the_old_file_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cloud.ply"
    save_ply_points(path, POINTS)
    before = path.read_bytes()

    def full_disk(_: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(RecordError, match="no space left"):
        save_ply_points(path, POINTS[:1])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    save_ply_points(path, POINTS[:1])
    assert len(read(path)) == 1


def test_points_before_the_path_are_told(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="path is a ndarray; it must be a string or a path, and come before the points"):
        save_ply_points(POINTS, tmp_path / "cloud.ply")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
