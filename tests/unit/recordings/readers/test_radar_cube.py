"""Raw radar samples: values as written, wrapped or not; headers that claim too much are refused."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.recordings.readers.radar_cube import read_radar_cube


@pytest.mark.parametrize("shape", [(20, 32), (20, 4, 32)])
@pytest.mark.parametrize("kind", [np.complex64, np.complex128])
def test_signed_and_wrapped_samples_come_back(tmp_path, shape, kind):
    rng = np.random.default_rng(1)
    real, imaginary = rng.integers(-32768, 32768, (2, *shape))
    for wrap in (0, 65536):
        parts = (real % wrap, imaginary % wrap) if wrap else (real, imaginary)
        np.save(tmp_path / "a.npy", (parts[0] + 1j * parts[1]).astype(kind))
        found = read_radar_cube(tmp_path / "a.npy").samples
        np.testing.assert_array_equal(found, (real + 1j * imaginary).reshape(20, -1, 32))


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (np.zeros((20, 32)), "it must be complex"),
        (np.zeros((20, 8), complex), "at least 16 chirps and samples"),
        (np.zeros(64, complex), "two or three axes"),
        (np.zeros((20, 0, 32), complex), "it must be complex"),
        (np.full((20, 32), 1e6 + 0j), "no number of 16 bits"),
        (np.full((20, 32), np.nan + 0j), "no number of 16 bits"),
        (np.zeros((20, 32), object), "it holds Python objects"),
    ],
)
def test_other_arrays_are_refused(tmp_path, array, says):
    np.save(tmp_path / "a.npy", array, allow_pickle=True)
    with pytest.raises(SpecError, match=says):
        read_radar_cube(tmp_path / "a.npy")


def test_headers_that_do_not_fit_the_file_are_refused(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.zeros((20, 32), complex))
    data = path.read_bytes()
    for broken, says in (
        (data.replace(b"(20, 32)", b"(99, 99)"), "claims 156816 bytes; the file has 10240 for it"),
        (data[:-1], "the file has 10239 for it"),
        (b"", "it is no array"),
        (b"\x93NUMPY\x09\x00" + data[8:], "it is no array|format version"),
        (data.replace(b"'shape'", b"'shaqe'"), "it is no array"),
    ):
        path.write_bytes(broken)
        with pytest.raises(SpecError, match=says):
            read_radar_cube(path)
