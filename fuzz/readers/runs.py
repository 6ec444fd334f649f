"""What runs leave: manifests, scenes in parts, scans and clouds."""

import hashlib
import io
import json
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.reader import Reader, must_be_finite
from sensorium.app.scenario.document import Document, Files
from sensorium.app.scenario.manifest import Manifest
from sensorium.app.scenario.scenario import Scenario
from sensorium.core.errors import MissingExtraError, RecordError, SceneError, SpecError
from sensorium.record import load_npz, save_npz
from sensorium.scene import shapes
from sensorium.scene.partition.in_parts import SceneInParts
from sensorium.scene.partition.part_files import INDEX
from sensorium.scene.partition.split import split_scene
from sensorium.scene.scene import SceneObject
from sensorium.sensors.lidar.scan import Scan
from sensorium.view.viewer.pcd_file import read_pcd

_JSON_WORDS = (
    b"null",
    b"NaN",
    b"-Infinity",
    b"true",
    b"[]",
    b"{}",
    b'"../x"',
    b'"/etc/passwd"',
    b"[[1]]",
    b'""',
    b"1e400",
)


# Manifests


def _read_manifest(path: Path) -> None:
    manifest = Manifest.load(path)
    folder = manifest.scenario_folder(path, [path.parent])
    assert folder.is_relative_to(path.parent.resolve()), f"{folder} lies elsewhere"
    Scenario(Document(path.name, manifest.scenario, {}), Files(folder))


def _manifests(folder: Path) -> list[bytes]:
    scenario: dict[str, Any] = {"duration_s": 1.0, "sensors": {"imu": {"kind": "imu", "timing": {"rate_hz": 100.0}}}}
    figures = {"steps": 3, "simulated_s": 1.0, "real_s": 0.1, "readings": {"imu": 100}}
    manifest = Manifest(scenario, ".", {}, {"run.mcap": "00"}, ["report.html"], {"python": "3"}, "x", figures)
    manifest.save(folder)
    return [json.dumps(json.loads((folder / "manifest.json").read_text("utf-8"))).encode()]


def _with_identity(data: bytes) -> bytes:
    """The manifest with the hash that its content has, as whoever forges one would put it there."""
    try:
        content = json.loads(data)
        decides = {name: content[name] for name in ("scenario", "folder", "inputs", "versions")}
        content["identity"] = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()
        return json.dumps(content).encode()
    except (ValueError, KeyError, TypeError, RecursionError):
        return data


# Scenes in parts


def _read_parts(path: Path) -> None:
    folder = path.parent / "parts"
    folder.mkdir(exist_ok=True)
    (folder / INDEX).write_bytes(path.read_bytes())
    scene = SceneInParts(folder)
    scene.bodies, scene.labels, repr(scene)
    for entry in scene._index.objects:
        must_be_finite(position=entry.pose.position, quaternion=entry.pose.quaternion)
    for part in scene._index.parts:
        if part.bounds_m is not None:
            must_be_finite(bounds=part.bounds_m)
        for piece in part.pieces:
            file = folder / part.folder / piece.file
            assert file.resolve().parent.parent == folder.resolve(), f"{file} lies elsewhere"
            assert 0 <= piece.object_id < len(scene._index.objects)


def _part_indexes(folder: Path) -> list[bytes]:
    things = [
        SceneObject(shapes.box(1, 1, 1), label="box"),
        SceneObject(shapes.sphere(1.0, 2), body="car", name="ball"),
    ]
    with tempfile.TemporaryDirectory(dir=folder) as work:
        split_scene(things, Path(work) / "parts", parts=2)
        return [(Path(work) / "parts" / INDEX).read_bytes()]


# Scans and clouds


def _read_scan(path: Path) -> None:
    scan = load_npz(path)
    must_be_finite(clock_skew=scan.clock_skew, position=scan.X_WS.position, quaternion=scan.X_WS.quaternion)
    flat = scan.flat()
    assert len(flat.points) == len(flat.range_m)


def _scan() -> Scan:
    import sensorium as sn

    shape = (2, 3)
    pose = sn.Pose(np.zeros((2, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (2, 1)))
    return Scan(
        range_m=np.full(shape, 2.0, np.float32),
        points=np.ones((*shape, 3), np.float32),
        object_id=np.zeros(shape, np.int32),
        face_id=np.zeros(shape, np.int32),
        label=np.zeros(shape, np.int32),
        offset_ns=np.zeros(shape, np.int64),
        knot_ns=np.array([0, 100], np.int64),
        start_ns=0,
        end_ns=100,
        clock_offset_ns=0,
        clock_skew=0.0,
        frame="lidar",
        X_WS=pose,
    )


def _scans(folder: Path) -> list[bytes]:
    made = []
    for compress in (False, True):
        save_npz(folder / "scan.npz", _scan(), compress=compress)
        made.append((folder / "scan.npz").read_bytes())
    return made


@cache
def _whole_scan() -> bytes:
    with tempfile.TemporaryDirectory() as work:
        return _scans(Path(work))[0]


def _with_ranges(data: bytes) -> bytes:
    """A whole archive around the bytes of its ranges, with the checksums they need."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(_whole_scan())) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, data if name == "range_m.npy" else old.read(name))
    return file.getvalue()


def _ranges(folder: Path) -> list[bytes]:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.full((2, 3), 2.0, np.float32))
    return [file.getvalue()]


def _read_pcd(path: Path) -> None:
    points, label = read_pcd(path)
    assert points.shape == (len(label), 3)


def _pcds(folder: Path) -> list[bytes]:
    head = "VERSION 0.7\nFIELDS x y z label\nSIZE 4 4 4 4\nTYPE F F F U\nCOUNT 1 1 1 1\nPOINTS 2\nDATA {}\n"
    rows = np.zeros(2, np.dtype([("p", "<f4", 3), ("l", "<u4")]))
    text = head.format("ascii") + "0 0 0 1\n1 2 3 4\n"
    return [head.format("binary").encode() + rows.tobytes(), text.encode()]


_NPY_WORDS = (
    b"'descr': ",
    b"'fortran_order': True",
    b"'shape': (8, 3)",
    b"'<f8'",
    b"'|O'",
    b"'<U9'",
    b"'>c16'",
    b"(0,)",
)
_PCD_WORDS = tuple(
    f"{word} ".encode() for word in ("FIELDS", "SIZE", "TYPE", "COUNT", "POINTS", "DATA", "F", "U", "x", "8")
)
_ALL = (SpecError, SceneError, MissingExtraError)

READERS = (
    Reader(
        *("manifest", ".json", _read_manifest, _ALL, _manifests),
        *(("sensorium.app.scenario.manifest", "sensorium.core.spec"), _with_identity, _JSON_WORDS),
        says_lines=True,
    ),
    Reader(
        *("parts", ".json", _read_parts, (SceneError,), _part_indexes),
        ("sensorium.scene.partition.part_files",),
        words=_JSON_WORDS,
    ),
    Reader("scan-npz", ".npz", _read_scan, (SpecError, RecordError), _scans, ("sensorium.record.npz", "zipfile")),
    Reader(
        *("scan-npz-array", ".npz", _read_scan, (SpecError, RecordError), _ranges),
        *(("sensorium.record.npz", "numpy.lib._format_impl"), _with_ranges, _NPY_WORDS),
    ),
    Reader("pcd", ".pcd", _read_pcd, (SpecError,), _pcds, ("sensorium.view.viewer.pcd_file",), words=_PCD_WORDS),
)
