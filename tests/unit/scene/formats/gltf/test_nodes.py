"""Where nodes show meshes, against matrices multiplied by hand."""

import time

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sensorium.core.errors import SceneError
from sensorium.scene.formats.gltf.nodes import placed
from sensorium.scene.mesh import Mesh

TRIANGLE = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0]], float)


def matrix(translation, quaternion, scale):
    made = np.eye(4)
    made[:3, :3] = Rotation.from_quat(quaternion).as_matrix() @ np.diag(scale)
    made[:3, 3] = translation
    return made


def test_places_turns_and_scales_make_matrices():
    rng = np.random.default_rng(2)
    t, q, s = rng.normal(size=(8, 3)), rng.normal(size=(8, 4)), rng.uniform(0.5, 2, (8, 3))
    np.testing.assert_allclose(placed(t, q, s), [matrix(*each) for each in zip(t, q, s, strict=True)], atol=1e-12)
    assert placed(t[:1], np.zeros((1, 4)), np.ones((1, 3)))[0, :3, :3].tolist() == np.eye(3).tolist()


def test_a_chain_of_nodes_multiplies_and_siblings_do_not(file):
    rng = np.random.default_rng(3)
    t, q, s = rng.normal(size=(3, 3)), rng.normal(size=(3, 4)), rng.uniform(0.5, 2, (3, 3))
    file.primitive(TRIANGLE, [0, 1, 2])
    file.tree["nodes"] = [
        {"translation": t[k].tolist(), "rotation": (q[k] / np.linalg.norm(q[k])).tolist(), "scale": s[k].tolist()}
        for k in range(3)
    ]
    file.tree["nodes"][0] |= {"children": [1, 2]}
    file.tree["nodes"][1] |= {"mesh": 0}
    file.tree["nodes"][2] |= {"mesh": 0}
    mesh = Mesh.load(file.path())
    one, two, three = (matrix(*each) for each in zip(t, q, s, strict=True))
    for own, at in ((one @ two, slice(0, 3)), (one @ three, slice(3, 6))):
        np.testing.assert_allclose(mesh.vertices[at], TRIANGLE @ own[:3, :3].T + own[:3, 3], atol=1e-6)


def test_instances_lie_in_their_node(file):
    rng = np.random.default_rng(4)
    t, q, s = rng.normal(size=(5, 3)), rng.normal(size=(5, 4)), rng.uniform(0.5, 2, (5, 3))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    file.primitive(TRIANGLE, [0, 1, 2])
    attributes = {"TRANSLATION": file.array(t), "ROTATION": file.array(q), "SCALE": file.array(s)}
    node = {"mesh": 0, "translation": [1, 2, 3], "extensions": {"EXT_mesh_gpu_instancing": {"attributes": attributes}}}
    file.tree |= {"nodes": [node], "extensionsRequired": ["EXT_mesh_gpu_instancing"]}
    mesh = Mesh.load(file.path())
    expected = [TRIANGLE @ m[:3, :3].T + m[:3, 3] + [1, 2, 3] for m in map(matrix, t, q, s)]
    np.testing.assert_allclose(mesh.vertices, np.concatenate(expected), atol=1e-5)
    assert mesh.faces.tolist() == [[3 * k, 3 * k + 1, 3 * k + 2] for k in range(5)]
    attributes["SCALE"] = file.array(s[:4])
    with pytest.raises(SceneError, match=r"node 0 has instances with \[4, 5\] places, turns and scales"):
        Mesh.load(file.path())


def test_hidden_nodes_and_what_hangs_on_them_are_left_out(file):
    file.primitive(TRIANGLE, [0, 1, 2])
    hidden = {"extensions": {"KHR_node_visibility": {"visible": False}}, "children": [2], "mesh": 0}
    shown = {"extensions": {"KHR_node_visibility": {"visible": True}}, "mesh": 0, "translation": [9, 0, 0]}
    file.tree |= {
        "nodes": [hidden, shown, {"mesh": 0}],
        "scenes": [{"nodes": [0, 1]}],
        "extensionsRequired": ["KHR_node_visibility"],
    }
    np.testing.assert_allclose(Mesh.load(file.path()).vertices, TRIANGLE + [9, 0, 0])


def test_long_chains_take_time_in_proportion(file):
    """Ten times as many nodes take no more than twenty times as long."""
    file.primitive(TRIANGLE, [0, 1, 2])
    taken = []
    for count in (2_000, 20_000):
        file.tree["nodes"] = [{"children": [k + 1], "translation": [0, 0, 0.001]} for k in range(count - 1)]
        file.tree["nodes"].append({"mesh": 0})
        path = file.path()
        begin = time.process_time()
        mesh = Mesh.load(path)
        taken.append(time.process_time() - begin)
        assert mesh.vertices[0, 2] == pytest.approx(0.001 * (count - 1))
    assert taken[1] < 20 * taken[0] + 0.5


@pytest.mark.parametrize(
    ("node", "says"),
    [
        ({"translation": [1, 2]}, r"node 0 has translation \[1, 2\]; it must be 3 numbers"),
        ({"rotation": [0, 0, 0, True]}, "node 0 has rotation"),
        ({"matrix": "one"}, "node 0 has matrix one; it must be 16 numbers"),
        ({"scale": [10**400, 1, 1]}, "each must be finite"),
    ],
)
def test_what_is_no_place_is_refused(file, node, says):
    file.primitive(TRIANGLE, [0, 1, 2])
    file.tree["nodes"] = [{"mesh": 0, **node}]
    with pytest.raises(SceneError, match=says):
        Mesh.load(file.path())
