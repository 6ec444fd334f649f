"""Archives of arrays: those of numpy come back, and what lies about itself is refused before it is unpacked."""

import io
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from sensorium.files.npz_archive import ArchiveError, read_array, read_arrays

MANY = 1 << 30


def npy(shape: str, descr: str = "<f8", data: bytes = b"", version: tuple[int, int] = (1, 0)) -> bytes:
    """A file by the definition of the format: magic, version, length of the header, header, data."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    length = struct.pack("<H" if version == (1, 0) else "<I", len(header) + 1)
    return b"\x93NUMPY" + bytes(version) + length + header + b"\n" + data


def archive(path, compression=zipfile.ZIP_STORED, **members: bytes):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, data in members.items():
            file.writestr(f"{name}.npy", data)
    return path


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_what_numpy_saved_comes_back(tmp_path, save):
    arrays = {
        "a": np.arange(6.0).reshape(2, 3),
        "fortran": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "text": np.array(["x", "yz"]),
        "scalar": np.array(7, np.int8),
        "none": np.zeros((0, 3), np.float32),
    }
    save(tmp_path / "a.npz", **arrays)
    found = read_arrays(tmp_path / "a.npz", max_bytes=MANY)
    assert set(found) == set(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_both_versions_of_the_format_are_read(tmp_path, version):
    path = archive(tmp_path / "a.npz", a=npy("(2,)", data=struct.pack("<2d", 1.5, -2.0), version=version))
    assert read_arrays(path, max_bytes=MANY)["a"].tolist() == [1.5, -2.0]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (npy("(1000000000000,)"), r"'a\.npy' claims 8000000000000 bytes; the archive has 0 for it"),
        (npy("(3,)", data=bytes(16)), "claims 24 bytes; the archive has 16"),
        (npy("(1,)", data=bytes(16)), "claims 8 bytes; the archive has 16"),
        (npy("(-1, -2)", data=bytes(16)), "claims 16 bytes|no archive of arrays"),
        (npy("(1,)", descr="|O", data=bytes(8)), "holds Python objects"),
        (npy("(1,)", data=bytes(8), version=(9, 9)), r"format version \(9, 9\)|no archive of arrays"),
        (b"no array at all", "no archive of arrays"),
        (npy("(1,")[:20], "no archive of arrays"),
    ],
)
def test_an_array_that_lies_is_refused(tmp_path, data, words):
    with pytest.raises(ArchiveError, match=words) as refused:
        read_arrays(archive(tmp_path / "a.npz", a=data), max_bytes=MANY)
    assert "\n" not in str(refused.value)


def test_a_bomb_is_not_unpacked(tmp_path):
    """64 MiB of zeros in some kilobytes."""
    path = archive(tmp_path / "a.npz", zipfile.ZIP_DEFLATED, a=npy("(8388608,)", data=bytes(1 << 26)))
    assert path.stat().st_size < 1 << 18
    tracemalloc.start()
    with pytest.raises(ArchiveError, match=r"it unpacks to 67108\d+ bytes; the most is 1000000"):
        read_arrays(path, max_bytes=1_000_000)
    with pytest.raises(ArchiveError, match="the most is 100 times"):
        read_arrays(path, max_bytes=MANY, max_ratio=100)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()
    assert read_arrays(path, max_bytes=MANY)["a"].size == 8388608


def test_what_is_no_archive_is_refused(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"hello")
    with pytest.raises(ArchiveError, match="no archive of arrays"):
        read_arrays(tmp_path / "a.npz", max_bytes=MANY)
    with pytest.raises(OSError, match="No such file"):
        read_arrays(tmp_path / "none.npz", max_bytes=MANY)


def test_a_broken_checksum_is_refused(tmp_path):
    buffer = io.BytesIO()
    np.savez(buffer, a=np.arange(100.0))
    broken = bytearray(buffer.getvalue())
    broken[400] ^= 0xFF
    (tmp_path / "a.npz").write_bytes(broken)
    with pytest.raises(ArchiveError, match="no archive of arrays: Bad CRC"):
        read_arrays(tmp_path / "a.npz", max_bytes=MANY)


def test_an_array_of_its_own_comes_back(tmp_path):
    given = np.random.default_rng(1).normal(size=(4, 5))
    np.save(tmp_path / "a.npy", given)
    np.testing.assert_array_equal(read_array(tmp_path / "a.npy", max_bytes=MANY), given)
    with pytest.raises(ArchiveError, match="it has 288 bytes; the most is 100"):
        read_array(tmp_path / "a.npy", max_bytes=100)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (npy("(1000000000, 1000)"), "it claims 8000000000000 bytes; the file has 0 for it"),
        (npy("(-1,)"), "it claims -8 bytes"),
        (npy("(1,)", "|O", bytes(8)), "it holds Python objects"),
        (npy("(1,", data=bytes(8)), "it is no array"),
        (b"", "it is no array"),
    ],
)
def test_an_array_that_claims_too_much_is_refused(tmp_path, content, says):
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(ArchiveError, match=says):
        read_array(tmp_path / "a.npy", max_bytes=MANY)
