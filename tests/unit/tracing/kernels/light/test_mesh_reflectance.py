import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SceneError
from sensorium.scene.layout import layout
from sensorium.tracing.kernels.light.mesh_reflectance import reflectance_tables


def laid_out(*objects):
    scene = sn.Scene()
    for mesh, material in objects:
        scene.add(mesh, material=material)
    return layout(scene, 1)


def test_reflectance_from_meshes_is_kept_once_for_each_mesh_and_property():
    mesh = sn.shapes.box(1, 1, 1)
    faces, corners = len(mesh.faces), len(mesh.vertices)
    shade, tint = np.linspace(0, 1, faces), np.linspace(0, 0.9, 2 * corners).reshape(corners, 2)
    own = sn.Mesh(mesh.vertices, mesh.faces, face_properties={"shade": shade}, vertex_properties={"tint": tint})
    by_face, by_vertex = sn.Lambertian(reflectance="shade"), sn.Lambertian(reflectance="tint", band=1)
    first, values = reflectance_tables(
        laid_out((own, by_face), (mesh, None), (own, by_vertex), (own, sn.Lambertian(reflectance="shade")))
    )
    assert first[0, 1] == -1
    assert first[0, 0] == first[0, 3]
    assert len(values) == 2 * 3 * faces
    np.testing.assert_allclose(
        values[first[0, 0] :][: 3 * faces].reshape(-1, 3), np.stack(3 * [shade], axis=1), rtol=1e-6
    )
    np.testing.assert_allclose(values[first[0, 2] :][: 3 * faces].reshape(-1, 3), tint[mesh.faces, 1], rtol=1e-6)


@pytest.mark.parametrize(
    ("material", "message"),
    [
        (sn.Lambertian(reflectance="albedo"), "albedo"),
        (sn.Lambertian(reflectance="tint", band=2), "property 'tint' has 2 bands; band 2 was asked for"),
        (sn.Lambertian(reflectance="bright"), r"property 'bright' runs from 0\.5 to 1\.5; a reflectance is 0 to 1"),
        (
            sn.TwoLayer(refractive_index=1.5, roughness=0.1, reflectance="white", diffuse_roughness=0.3),
            r"runs from 1\.0 to 1\.0; a reflectance is 0 to 0\.97",
        ),
    ],
)
def test_reflectances_that_cannot_be(material, message):
    mesh = sn.shapes.box(1, 1, 1)
    n = len(mesh.vertices)
    properties = {"tint": np.zeros((n, 2)), "bright": np.linspace(0.5, 1.5, n), "white": np.ones(n)}
    with pytest.raises(SceneError, match=message):
        reflectance_tables(laid_out((sn.Mesh(mesh.vertices, mesh.faces, vertex_properties=properties), material)))
