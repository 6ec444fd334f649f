import tracemalloc

import numpy as np
import pytest

from sensorium.errors import SceneError
from sensorium.scene.mesh import _looked_up
from sensorium.scene.textures import Paint, linear, one_texture

RED, BLUE = (np.zeros((4, 4, 3), np.uint8) for _ in range(2))
RED[..., 0], BLUE[..., 2] = 255, 255
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])


def test_srgb_becomes_linear():
    assert linear(np.array([0, 10, 128, 255], np.uint8)) == pytest.approx([0.0, 0.003035, 0.215861, 1.0], abs=1e-6)


def test_one_image_stays_as_it_is_and_may_repeat():
    texture, uv = one_texture([Paint(5.0 * CORNERS, RED, (0.5, 1.0, 1.0))], [3])
    assert texture.shape == (4, 4, 3)
    assert texture[0, 0] == pytest.approx([0.5, 0.0, 0.0])
    np.testing.assert_array_equal(uv, 5.0 * CORNERS)


def test_several_images_are_stacked_and_places_move_with_them():
    half = RED.copy()
    half[:2] = (0, 255, 0)  # the upper half is green
    paints = [Paint(CORNERS, half), Paint(2.0 * CORNERS - 1.0, BLUE), Paint(None, None, (0.25, 0.25, 0.25))]
    texture, uv = one_texture(paints, [3, 3, 2])
    seen = _looked_up(texture, uv)
    np.testing.assert_allclose(seen[:3], [[1, 0, 0], [1, 0, 0], [0, 1, 0]], atol=1e-6)
    np.testing.assert_allclose(seen[3:6], np.tile([0, 0, 1], (3, 1)), atol=1e-6)
    np.testing.assert_allclose(seen[6:], 0.25, atol=1e-6)


def test_too_many_repeats_beside_others_are_refused():
    with pytest.raises(SceneError, match=r"repeats an image 100000 x 100000 times"):
        one_texture([Paint(1e5 * CORNERS, RED), Paint(CORNERS, BLUE)], [3, 3])


def test_a_stack_that_is_too_large_is_refused_before_any_of_it_is_made():
    """Each of these repeats fits alone; made first, they would take 3 GB."""
    tracemalloc.start()
    with pytest.raises(SceneError, match=r"its images make a texture of 8194 x 32776 texels"):
        one_texture([Paint(2048.0 * CORNERS, RED)] * 4, [3] * 4)
    assert tracemalloc.get_traced_memory()[1] < 1e6
    tracemalloc.stop()


def test_a_large_image_takes_little_more_than_its_texture(tmp_path):
    """Loaded from a file into a mesh and turned: pixels, bytes of the decoder, and one texture of 4 bytes a value."""
    from PIL import Image

    from sensorium.frames import Pose
    from sensorium.scene.mesh import Mesh

    values = 1024 * 1024 * 3
    image = Image.fromarray(np.full((1024, 1024, 3), 128, np.uint8))
    image.resize((8, 8)).save(tmp_path / "grey.jpg")
    (tmp_path / "m.mtl").write_text("newmtl a\nKd 0.5\nmap_Kd grey.jpg\n")
    face = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl a\nf 1/1 2/2 3/3\n"
    (tmp_path / "m.obj").write_text("mtllib m.mtl\n" + face)
    Mesh.load(tmp_path / "m.obj").transformed(Pose())  # what has to be imported for it is no part of the image
    image.save(tmp_path / "grey.jpg")
    tracemalloc.start()
    mesh = Mesh.load(tmp_path / "m.obj")
    turned = mesh.transformed(Pose())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert turned.texture is mesh.texture
    assert mesh.texture.shape == (1024, 1024, 3)
    np.testing.assert_allclose(mesh.texture, 0.5 * 0.2159, rtol=0, atol=2e-3)
    assert 4 * values <= peak < 7.5 * values  # texture, pixels, their bytes, and one part


@pytest.mark.parametrize("pieces", [1, 2])
def test_base_colours_of_a_gltf_file_become_the_texture(tmp_path, pieces):
    """Written by trimesh: squares with a red left half and a blue right one, the second of them half as bright."""
    import trimesh
    from PIL import Image

    from sensorium.scene.mesh import Mesh

    picture = np.zeros((8, 8, 3), np.uint8)
    picture[:, :4, 0], picture[:, 4:, 2] = 255, 255
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)
    scene = trimesh.Scene()
    for k in range(pieces):
        factor = [255, 255, 255, 255] if k == 0 else [128, 128, 128, 255]
        material = trimesh.visual.material.PBRMaterial(
            baseColorTexture=Image.fromarray(picture), baseColorFactor=factor
        )
        visual = trimesh.visual.TextureVisuals(uv=square[:, :2], material=material)
        made = trimesh.Trimesh(square + [2 * k, 0, 0], [[0, 1, 2], [0, 2, 3]], visual=visual, process=False)
        scene.add_geometry(made, node_name=f"square{k}")
    (tmp_path / "painted.glb").write_bytes(scene.export(file_type="glb"))
    mesh = Mesh.load(tmp_path / "painted.glb")
    assert len(mesh.faces) == 2 * pieces
    for k in range(pieces):
        bright = 1.0 if k == 0 else 128 / 255
        faces = [f for f in range(2 * pieces) if mesh.vertices[mesh.faces[f]].mean(axis=0)[0] // 2 == k]
        for face in faces:
            corners = mesh.vertices[mesh.faces[face]]
            for weights in ((0.1, 0.1), (0.8, 0.1), (0.1, 0.8)):
                at = np.array([1 - sum(weights), *weights]) @ corners
                expected = [bright, 0, 0] if at[0] - 2 * k < 0.5 else [0, 0, bright]
                if abs(at[0] - 2 * k - 0.5) > 0.1:
                    np.testing.assert_allclose(
                        mesh.property_at("texture", face, np.array(weights)), expected, atol=1e-3
                    )
