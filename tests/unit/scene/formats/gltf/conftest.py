"""glTF files that tests write: arrays are added one by one, the rest is the JSON itself."""

import base64
import json

import numpy as np
import pytest

COMPONENTS = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}
TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}


class File:
    """A file in the making; `tree` is its JSON."""

    def __init__(self, folder):
        self.folder, self.body = folder, b""
        self.tree = {
            "asset": {"version": "2.0"},
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": []}],
            "bufferViews": [],
            "accessors": [],
        }

    def view(self, data):
        self.body += bytes(-len(self.body) % 4)
        self.tree["bufferViews"].append({"buffer": 0, "byteOffset": len(self.body), "byteLength": len(data)})
        self.body += data
        return len(self.tree["bufferViews"]) - 1

    def array(self, values, dtype="f4", **more):
        values = np.asarray(values, np.dtype(dtype).newbyteorder("<"))
        width = 1 if values.ndim == 1 else values.shape[1]
        accessor = {"componentType": COMPONENTS[dtype], "count": len(values), "type": TYPES[width], **more}
        self.tree["accessors"].append({"bufferView": self.view(values.tobytes()), **accessor})
        return len(self.tree["accessors"]) - 1

    def primitive(self, vertices, faces, **more):
        attributes = {"POSITION": self.array(vertices), **more.pop("attributes", {})}
        made = {"attributes": attributes, "indices": self.array(np.ravel(faces), "u2"), **more}
        self.tree["meshes"][0]["primitives"].append(made)
        return made

    def path(self, name="m.gltf"):
        body = "data:application/octet-stream;base64," + base64.b64encode(self.body).decode()
        self.tree["buffers"] = [{"byteLength": len(self.body), "uri": body}]
        path = self.folder / name
        path.write_text(json.dumps(self.tree))
        return path


@pytest.fixture
def file(tmp_path):
    return File(tmp_path)
