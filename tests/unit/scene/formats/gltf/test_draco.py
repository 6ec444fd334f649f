"""Meshes packed by Draco, against the arrays that were packed; and the one line where no decoder is installed."""

import sys

import numpy as np
import pytest

from sensorium.core.errors import SceneError
from sensorium.scene import shapes
from sensorium.scene.mesh import Mesh

BALL = shapes.sphere(1.0, subdivisions=2)


def packed(file, data):
    attributes = {"POSITION": 0}
    extension = {"bufferView": file.view(data), "attributes": {"POSITION": 0}}
    file.tree["accessors"] = [
        {"componentType": 5126, "count": len(BALL.vertices), "type": "VEC3"},
        {"componentType": 5125, "count": BALL.faces.size, "type": "SCALAR"},
    ]
    file.tree["meshes"][0]["primitives"] = [
        {"attributes": attributes, "indices": 1, "extensions": {"KHR_draco_mesh_compression": extension}}
    ]
    file.tree["extensionsRequired"] = ["KHR_draco_mesh_compression"]
    return file


def by_place(triangles):
    """Triangles in an order that does not depend on where they stand in a file, or on which corner comes first."""
    turned = [np.roll(t, -min(range(3), key=lambda k: tuple(t[k])), axis=0) for t in np.round(triangles, 3) + 0.0]
    return sorted(t.ravel().tolist() for t in turned)


def test_what_was_packed_comes_out(file):
    draco = pytest.importorskip("DracoPy")
    data = draco.encode(BALL.vertices.astype("f4"), BALL.faces.astype("u4"), quantization_bits=20)
    mesh = Mesh.load(packed(file, data).path())
    np.testing.assert_allclose(by_place(mesh.vertices[mesh.faces]), by_place(BALL.vertices[BALL.faces]), atol=2e-3)


def test_bytes_that_draco_does_not_know_are_told(file):
    pytest.importorskip("DracoPy")
    with pytest.raises(SceneError, match="mesh 0 cannot be unpacked by Draco"):
        Mesh.load(packed(file, b"no draco at all").path())
    draco = pytest.importorskip("DracoPy")
    data = draco.encode(BALL.vertices.astype("f4"), BALL.faces.astype("u4"))
    packed(file, data)
    extension = file.tree["meshes"][0]["primitives"][0]["extensions"]["KHR_draco_mesh_compression"]
    extension["attributes"] = {"POSITION": 7}
    with pytest.raises(SceneError, match="mesh 0 takes POSITION from number 7 of what Draco packs"):
        Mesh.load(file.path())
    file.tree["accessors"][0]["count"] = 10**9
    with pytest.raises(SceneError, match="mesh 0 claims 1000000000 vertices and 960 corners; the file is too small"):
        Mesh.load(file.path())


def test_without_a_decoder_one_line_says_what_to_install(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "DracoPy", None)
    with pytest.raises(SceneError, match=r"m\.gltf: mesh 0 is packed by Draco, .* pip install 'sensorium\[draco\]'$"):
        Mesh.load(packed(file, b"anything").path())
