"""Arrays inside a page: base64 of their bytes, which a browser turns into typed arrays."""

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

_KINDS = {"u1": "u1", "u2": "u2", "f4": "f4", "f8": "f8"}


def packed(array: NDArray[Any]) -> dict[str, str]:
    """An array of bytes, 16-bit whole numbers or floats, flattened, as page.js reads it."""
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    return {"kind": _KINDS[little.dtype.str[1:]], "data": base64.b64encode(little.tobytes()).decode("ascii")}


def levels(values: NDArray[Any], low: float, high: float, kind: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """Values as steps of a scale from low to high, rounded to the nearest; values outside are clipped to its ends."""
    top = np.iinfo(kind).max
    share = (np.asarray(values, np.float64) - low) / max(high - low, 1e-12)
    return np.rint(np.clip(share, 0.0, 1.0) * top).astype(kind)
