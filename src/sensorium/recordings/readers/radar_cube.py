"""Raw samples of a radar's receivers as a NumPy array (.npy): chirps, perhaps receivers, and samples of a chirp.

Complex numbers of signed 16-bit converters; where they were stored as unsigned, values above 32767 are negative ones.
The array must be as long as the file, and nothing is unpickled.
"""

from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.files.npz_archive import ArchiveError, read_array

_LEAST, _LARGEST = 16, 65535.0
_MOST_BYTES = 1 << 30


class RadarCube(NamedTuple):
    """Samples of one frame.

    Attributes:
        path: The file.
        samples: Complex values of the converters [DN], shape (chirps, receivers, samples).
    """

    path: Path
    samples: NDArray[np.complex128]


def read_radar_cube(path: str | PathLike[str]) -> RadarCube:
    """Read a frame.

    Raises:
        SpecError: It is no array of complex numbers with two or three axes, or a value has more than 16 bits.
    """
    path = Path(path)
    try:
        values = read_array(path, max_bytes=_MOST_BYTES)
    except OSError as error:
        raise SpecError(f"{path.name!r} cannot be read: {error.strerror or error}") from None
    except ArchiveError as error:
        raise SpecError(f"{path.name!r}: {error}") from None
    shape = values.shape
    if values.dtype.kind != "c" or len(shape) not in (2, 3) or min(shape[0], shape[-1]) < _LEAST or 0 in shape:
        rule = f"it must be complex, with two or three axes and at least {_LEAST} chirps and samples"
        raise SpecError(f"{path.name!r} is an array of {values.dtype} and {shape}; {rule}")
    parts = [np.where(part > 32767.0, part - 65536.0, part) for part in (values.real, values.imag)]
    if not all((np.abs(part) <= _LARGEST).all() for part in parts):
        raise SpecError(f"{path.name!r} has a value that is no number of 16 bits")
    return RadarCube(path, (parts[0] + 1j * parts[1]).astype(np.complex128).reshape(shape[0], -1, shape[-1]))

