"""Textures of OBJ files: known texels of painted squares, and files that are refused."""

from pathlib import Path

import numpy as np
import pytest

from sensorium.errors import SceneError
from sensorium.scene.mesh import Mesh
from sensorium.scene.textures import linear

# Two squares side by side, with the places of the second mirrored: its left edge shows the image's right one
SQUARES = """mtllib paint.mtl
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 2 0 0
v 2 1 0
vt 0 0
vt 1 0
vt 1 1
vt 0 1
usemtl checked
f 1/1 2/2 3/3 4/4
usemtl dim
f 2/2 5/1 6/4 3/3
usemtl plain
f 1 3 4
"""
PAINT = "newmtl checked\nmap_Kd checks.png\nnewmtl dim\nKd 0.5 0.25 1\nmap_Kd checks.png\nnewmtl plain\nKd 0.3\n"

# sRGB values, row 0 at the top
CHECKS = np.array([[[250, 10, 60], [20, 200, 90]], [[130, 130, 0], [40, 70, 240]]], np.uint8)


def painted(folder: Path, *, obj: str = SQUARES, mtl: str = PAINT) -> Path:
    from PIL import Image

    Image.fromarray(CHECKS).save(folder / "checks.png")
    (folder / "paint.mtl").write_text(mtl)
    (folder / "squares.obj").write_text(obj)
    return folder / "squares.obj"


def seen(mesh: Mesh, x: float, y: float) -> np.ndarray:
    """Texture of the first face over a point, by its barycentric coordinates."""
    for face, corners in enumerate(mesh.vertices[mesh.faces][:, :, :2]):
        u, v = np.linalg.solve((corners[1:] - corners[0]).T, np.array([x, y]) - corners[0])
        if min(u, v, 1.0 - u - v) >= 0.0:
            return mesh.property_at("texture", face, np.array([u, v]))
    raise AssertionError(f"no face at {x}, {y}")


def test_diffuse_images_of_an_obj_file_become_the_texture(tmp_path: Path) -> None:
    """In the middle of a texel its own value is seen, linear and times Kd; faces keep the order of the file."""
    mesh = Mesh.load(painted(tmp_path))
    assert len(mesh.faces) == 5
    assert np.allclose(mesh.vertices[mesh.faces[:2]].max(axis=(0, 1)), [1, 1, 0])
    texels = linear(CHECKS)
    for column, x in enumerate((0.25, 0.75)):
        for row, y in enumerate((0.75, 0.25)):
            np.testing.assert_allclose(seen(mesh, x, y), texels[row, column], atol=1e-6)
            mirrored = texels[row, 1 - column] * [0.5, 0.25, 1.0]
            np.testing.assert_allclose(seen(mesh, 1.0 + x, y), mirrored, atol=1e-6)
    np.testing.assert_allclose(mesh.property_at("texture", 4, np.array([0.2, 0.3])), [0.3] * 3, atol=1e-6)


def test_one_image_on_all_faces_repeats_beyond_its_edges(tmp_path: Path) -> None:
    obj = "mtllib paint.mtl\nv 0 0 0\nv 3 0 0\nv 0 3 0\nvt 0 0\nvt 3 0\nvt 0 3\nusemtl checked\nf 1/1 2/2 3/3\n"
    mesh = Mesh.load(painted(tmp_path, obj=obj))
    texels = linear(CHECKS)
    np.testing.assert_allclose(seen(mesh, 1.25, 0.25), texels[1, 0], atol=1e-5)
    np.testing.assert_allclose(seen(mesh, 0.75, 1.75), texels[0, 1], atol=1e-5)


def test_a_file_without_its_materials_is_a_plain_mesh(tmp_path: Path) -> None:
    path = painted(tmp_path)
    (tmp_path / "paint.mtl").unlink()
    mesh = Mesh.load(path)
    assert mesh.texture is None
    assert len(mesh.vertices) == 6
    assert Mesh.load(painted(tmp_path, mtl="newmtl checked\nKd 1 0 0\n")).texture is None


@pytest.mark.parametrize(
    ("obj", "mtl", "match"),
    [
        (SQUARES, "newmtl checked\nmap_Kd ../secret.png\n", "'../secret.png', which leaves its folder"),
        (SQUARES, "newmtl checked\nmap_Kd gone.png\n", "line 2 names the image 'gone.png', which is not there"),
        (SQUARES, "newmtl checked\nmap_Kd -s 2 2 checks.png\n", "maps '-s 2 2 checks.png'; it must be a file name"),
        (SQUARES, "newmtl checked\nmap_Kd paint.mtl\n", "image 'paint.mtl' cannot be read"),
        (SQUARES, "newmtl checked\nKd 2 0 0\n", "line 2 has Kd '2 0 0'; it must be 1 or 3 numbers in 0..1"),
        (SQUARES.replace("f 1/1 2/2", "f 1/9 2/2"), PAINT, "a face uses texture place 9; the file has 4"),
        (SQUARES.replace("f 1/1 2/2", "f 1/0 2/2"), PAINT, "line 13 uses texture place 0; they count from 1"),
        (SQUARES.replace("vt 0 0\n", "vt 0 x\n"), PAINT, "no number"),
    ],
)
def test_paint_that_breaks_a_rule_is_refused(tmp_path: Path, obj: str, mtl: str, match: str) -> None:
    with pytest.raises(SceneError, match=match):
        Mesh.load(painted(tmp_path, obj=obj, mtl=mtl))
