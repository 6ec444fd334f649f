"""What runs leave: what comes back as it was saved."""

import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.promise import check
from fuzz.readers import READERS, runs
from fuzz.strategies import attempts
from sensorium.app.scenario.manifest import Manifest
from sensorium.core.errors import RecordError, SceneError, SpecError
from sensorium.record import load_npz, save_npz
from sensorium.scene.partition.part_files import FileEntry, ObjectEntry, PartEntry, PartIndex, PieceEntry

words = st.text(max_size=10)


@attempts()
@given(title=words, hashes=st.dictionaries(words, words, max_size=3), seed=st.integers(0, 2**63))
def test_manifests_come_back(folder, title, hashes, seed):
    figures = {"steps": seed, "simulated_s": 0.5, "real_s": 1.0, "readings": {title: seed}}
    manifest = Manifest({"title": title, "seed": seed}, ".", hashes, hashes, [title], hashes, title, figures)
    manifest.save(folder)
    assert Manifest.load(folder / "manifest.json") == manifest


@attempts()
@given(position=st.tuples(*[st.floats(-1e9, 1e9)] * 3), label=st.integers(0, 2**31), body=words | st.none())
def test_indexes_of_parts_come_back(folder, position, label, body):
    thing = ObjectEntry(position, (1.0, 0.0, 0.0, 0.0), body, None, label, None, 12, 1.0, 0.5, None)
    file = FileEntry("mesh-0.npz", "0" * 64, 12, 500)
    part = PartEntry("part-0", 12, (position, position), {"car": 1.5}, (PieceEntry(0, "mesh-0.npz"),), (file,))
    index = PartIndex((thing,), {"box": label}, (part,))
    index.save(folder)
    assert PartIndex.load(folder) == index


def test_scans_come_back(folder):
    scan = runs._scan()
    save_npz(folder / "scan.npz", scan)
    back = load_npz(folder / "scan.npz")
    for name in ("range_m", "points", "object_id", "offset_ns", "knot_ns"):
        np.testing.assert_array_equal(getattr(back, name), getattr(scan, name))


def refused(folder, name, data, error, says):
    reader = READERS[name]
    assert not check(reader, data, folder)
    with pytest.raises(error, match=says):
        reader.read(folder / f"input{reader.suffix}")


@pytest.mark.parametrize(("name", "error"), [("manifest", SpecError), ("parts", SceneError)])
def test_nests_end(folder, name, error):
    refused(folder, name, b"[" * 100_000, error, "nested too deep for JSON")


@pytest.mark.parametrize(
    ("place", "value", "says"),
    [
        (("parts", 0, "folder"), "..", "parts must lie in its folder, under plain names"),
        (("parts", 0, "folder"), "/etc", "under plain names"),
        (("parts", 0, "pieces", 0, "file"), "../../mesh-0.npz", "under plain names"),
        (("parts", 0, "pieces", 0, "object_id"), 7, "a piece is of object 7; there are 2"),
        (("parts", 0, "pieces", 0, "object_id"), -1, "a piece is of object -1; there are 2"),
        (("objects", 0, "position"), ["a", 0, 0], r"index.objects\[0\].position\[0\] is 'a'"),
        (("objects", 0, "quaternion"), [0, 0, 0, 0], "quaternion"),
        (("objects", 0, "body"), 3, r"index.objects\[0\].body is 3"),
        (("objects", 0, "faces"), -1, "neither is negative"),
        (("format",), 1, "its format is not 3"),
    ],
)
def test_indexes_that_no_split_wrote_are_told(folder, place, value, says):
    """Nothing was looked at: names led out of the folder, and numbers beyond the end."""
    index = json.loads(READERS["parts"].seeds(folder)[0])
    inside = index
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    refused(folder, "parts", json.dumps(index).encode(), SceneError, says)


def test_ranges_are_no_longer_than_their_archive_says(folder):
    head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 300)}".ljust(117) + b"\n"
    array = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head
    refused(folder, "scan-npz-array", array, RecordError, "claims 1200000000000 bytes")


def test_ranges_of_another_shape_are_told(folder):
    array = READERS["scan-npz-array"].seeds(folder)[0].replace(b"(2, 3)", b"(3, 2)")
    refused(folder, "scan-npz-array", array, RecordError, "has shape")


def test_broken_compression_is_told(folder):
    whole = READERS["scan-npz"].seeds(folder)[1]
    at = whole.index(b"range_m.npy") + 40
    refused(folder, "scan-npz", whole[:at] + b"\xff" * 20 + whole[at + 20 :], RecordError, "is no archive of a scan")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SIZE 4 4", "SIZE 1_000 4"),
        ("COUNT 1", "COUNT 1000000000"),
        ("POINTS 2", "POINTS -1"),
        ("POINTS 2", "POINTS 3"),
    ],
)
def test_clouds_that_claim_too_much_are_told(folder, old, new):
    for whole in READERS["pcd"].seeds(folder):
        refused(folder, "pcd", whole.replace(old.encode(), new.encode(), 1), SpecError, "is no whole PCD file")
