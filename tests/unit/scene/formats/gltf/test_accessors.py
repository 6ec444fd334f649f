"""Arrays of glTF files: as they are stored, against numbers worked out by hand or by NumPy."""

import numpy as np
import pytest

from sensorium.core.errors import SceneError
from sensorium.scene.formats.gltf.accessors import Accessors
from sensorium.scene.formats.gltf.container import Container


def opened(file):
    return Accessors(Container(file.path(), 1 << 30))


@pytest.mark.parametrize(
    ("dtype", "divisor"), [("i1", 127.0), ("u1", 255.0), ("i2", 32767.0), ("u2", 65535.0), ("f4", 1.0)]
)
def test_normalized_integers_run_from_minus_one_or_zero_to_one(file, dtype, divisor):
    """glTF 2.0, 3.11: f = max(c / (2^(b-1) - 1), -1) signed, c / (2^b - 1) unsigned."""
    rng = np.random.default_rng(0)
    if dtype == "f4":
        values = rng.normal(size=(9, 3)).astype("f4")
    else:
        info = np.iinfo(dtype)
        values = rng.integers(info.min, info.max, (9, 3), endpoint=True).astype(dtype)
        values[0], values[1] = info.min, info.max
    plain, normalized = file.array(values, dtype), file.array(values, dtype, normalized=True)
    arrays = opened(file)
    np.testing.assert_array_equal(arrays.floats(plain, "test", (3,)), values.astype(float))
    expected = np.maximum(values.astype(float) / divisor, -1.0) if dtype != "f4" else values
    np.testing.assert_allclose(arrays.floats(normalized, "test", (3,)), expected, rtol=1e-12)


def test_a_stride_leaves_out_what_lies_between(file):
    rows = np.arange(24, dtype="<f4").reshape(4, 6)
    view = file.view(rows.tobytes())
    file.tree["bufferViews"][view]["byteStride"] = 24
    for offset in (0, 12):
        file.tree["accessors"].append(
            {"bufferView": view, "byteOffset": offset, "componentType": 5126, "count": 4, "type": "VEC3"}
        )
    arrays = opened(file)
    np.testing.assert_array_equal(arrays.floats(0, "test", (3,)), rows[:, :3])
    np.testing.assert_array_equal(arrays.floats(1, "test", (3,)), rows[:, 3:])
    np.testing.assert_array_equal(arrays.floats(1, "test", (3,), np.array([0, 3])), rows[[0, 3], 3:])


@pytest.mark.parametrize("based", [True, False])
@pytest.mark.parametrize("kind", ["u1", "u2", "u4"])
def test_sparse_items_replace_others_or_zeros(file, based, kind):
    rng = np.random.default_rng(1)
    base = rng.normal(size=(20, 3)).astype("f4") if based else np.zeros((20, 3), "f4")
    at, values = np.array([2, 3, 17]), rng.normal(size=(3, 3)).astype("f4")
    number = file.array(base)
    accessor = file.tree["accessors"][number]
    if not based:
        del accessor["bufferView"]
    component = {"u1": 5121, "u2": 5123, "u4": 5125}[kind]
    accessor["sparse"] = {
        "count": 3,
        "indices": {"bufferView": file.view(at.astype(kind).tobytes()), "componentType": component},
        "values": {"bufferView": file.view(values.tobytes())},
    }
    expected = base.copy()
    expected[at] = values
    np.testing.assert_array_equal(opened(file).floats(number, "test", (3,)), expected)
    accessor["sparse"]["indices"]["bufferView"] = file.view(np.array([2, 3, 20]).astype(kind).tobytes())
    with pytest.raises(SceneError, match="sparse accessor 0 replaces item 20; there are 20"):
        opened(file).raw(number, "test")


def test_zeros_without_data_are_few(file):
    """An accessor without a view is zeros; a file of a kilobyte may not ask for a gigabyte of them."""
    file.tree["accessors"] += [{"componentType": 5126, "count": count, "type": "VEC3"} for count in (5, 10**8)]
    file.view(b"1234")
    arrays = opened(file)
    assert arrays.floats(0, "test", (3,)).tolist() == [[0.0] * 3] * 5
    with pytest.raises(
        SceneError, match=r"arrays, up to accessor 1, unpack to 1200000060 bytes; the most for a file of"
    ):
        arrays.floats(1, "test", (3,))


def test_what_does_not_fit_is_told(file):
    number = file.array(np.zeros((3, 2)))
    arrays = opened(file)
    with pytest.raises(SceneError, match=r"mesh 0 uses accessor 0 of 2 numbers an item; it takes \(3,\)"):
        arrays.floats(number, "mesh 0", (3,))
    with pytest.raises(SceneError, match="takes indices from accessor 0; they must be unsigned"):
        arrays.indices(number, "mesh 0")
    with pytest.raises(SceneError, match="mesh 0 uses number 7 of accessors; there are 1"):
        arrays.raw(7, "mesh 0")
