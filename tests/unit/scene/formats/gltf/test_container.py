"""What a glTF file is made of: buffers in several places, and views that need a decoder."""

import json

import numpy as np
import pytest

from sensorium.core.errors import SceneError
from sensorium.scene.formats.gltf.container import Container
from sensorium.scene.mesh import Mesh

TRIANGLE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4")


@pytest.mark.parametrize(
    ("name", "uri"), [("my buffer.bin", "my%20buffer.bin"), ("a%20b.bin", "a%20b.bin"), ("ü.bin", "ü.bin")]
)
def test_buffers_by_percent_encoded_and_plain_names(file, name, uri):
    file.primitive(TRIANGLE, [0, 1, 2])
    path = file.path()
    (file.folder / name).write_bytes(file.body)
    file.tree["buffers"] = [{"byteLength": len(file.body), "uri": uri}]
    path.write_text(json.dumps(file.tree))
    np.testing.assert_array_equal(Mesh.load(path).vertices, TRIANGLE)
    assert Container(path, 1 << 20).held == path.stat().st_size + len(file.body)


@pytest.mark.parametrize("extension", ["EXT_meshopt_compression", "KHR_meshopt_compression"])
def test_views_packed_by_meshopt_are_read_from_their_fallback_or_refused(file, extension):
    """Optional, with data to fall back on: these are read. Without any, or required: one line."""
    file.primitive(TRIANGLE, [0, 1, 2])
    file.tree["bufferViews"][0]["extensions"] = {extension: {"buffer": 0}}
    np.testing.assert_array_equal(Mesh.load(file.path()).vertices, TRIANGLE)
    path = file.path()
    file.tree["buffers"].append({"byteLength": 36, "extensions": {extension: {"fallback": True}}})
    file.tree["bufferViews"][0]["buffer"] = 1
    path.write_text(json.dumps(file.tree))
    with pytest.raises(SceneError, match="bufferView 0 is packed by meshopt, for which no maintained decoder can be"):
        Mesh.load(path)
    file.tree["extensionsRequired"] = [extension]
    with pytest.raises(SceneError, match=f"it requires the extension {extension}, for which no maintained decoder"):
        Mesh.load(file.path())


@pytest.mark.parametrize("extension", ["KHR_materials_transmission", "KHR_lights_punctual", "KHR_animation_pointer"])
def test_what_changes_neither_shape_nor_color_may_be_required(file, extension):
    file.primitive(TRIANGLE, [0, 1, 2])
    file.tree["extensionsRequired"] = [extension]
    assert len(Mesh.load(file.path()).faces) == 1


def test_lists_that_are_none_are_refused(file):
    file.primitive(TRIANGLE, [0, 1, 2])
    file.tree["accessors"] = {"0": 1}
    with pytest.raises(SceneError, match=r"accessors is .* it must be a list"):
        Mesh.load(file.path())
