"""Textures of OBJ files: known texels of painted squares, and files that are refused."""

from pathlib import Path

import numpy as np
import pytest

from sensorium.core.errors import SceneError
from sensorium.scene.formats.textures import linear_table
from sensorium.scene.mesh import Mesh

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
    texels = linear_table()[CHECKS]
    for column, x in enumerate((0.25, 0.75)):
        for row, y in enumerate((0.75, 0.25)):
            np.testing.assert_allclose(seen(mesh, x, y), texels[row, column], atol=1e-6)
            mirrored = texels[row, 1 - column] * [0.5, 0.25, 1.0]
            np.testing.assert_allclose(seen(mesh, 1.0 + x, y), mirrored, atol=1e-6)
    np.testing.assert_allclose(mesh.property_at("texture", 4, np.array([0.2, 0.3])), [0.3] * 3, atol=1e-6)


def test_one_image_on_all_faces_repeats_beyond_its_edges(tmp_path: Path) -> None:
    obj = "mtllib paint.mtl\nv 0 0 0\nv 3 0 0\nv 0 3 0\nvt 0 0\nvt 3 0\nvt 0 3\nusemtl checked\nf 1/1 2/2 3/3\n"
    mesh = Mesh.load(painted(tmp_path, obj=obj))
    texels = linear_table()[CHECKS]
    np.testing.assert_allclose(seen(mesh, 1.25, 0.25), texels[1, 0], atol=1e-5)
    np.testing.assert_allclose(seen(mesh, 0.75, 1.75), texels[0, 1], atol=1e-5)


def test_a_file_without_its_materials_is_a_plain_mesh(tmp_path: Path) -> None:
    path = painted(tmp_path)
    (tmp_path / "paint.mtl").unlink()
    mesh = Mesh.load(path)
    assert mesh.texture is None
    assert len(mesh.vertices) == 6


def test_colors_without_an_image_are_read_as_the_texture_is(tmp_path: Path) -> None:
    """A face has its material's Kd under the same name; no vertex is doubled for it, and white is what has none."""
    mesh = Mesh.load(painted(tmp_path, mtl="newmtl checked\nKd 1 0 0.5\nnewmtl dim\nKd 0.25\n"))
    assert mesh.texture is None
    assert len(mesh.vertices) == 6
    expected = [[1, 0, 0.5], [1, 0, 0.5], [0.25] * 3, [0.25] * 3, [1, 1, 1]]
    seen_colors = mesh.property_at("texture", np.arange(5), np.full((5, 2), 0.2))
    np.testing.assert_allclose(seen_colors, expected, atol=1e-7)
    assert Mesh.load(painted(tmp_path, mtl="newmtl checked\n")).property_names == ()


def test_material_files_and_images_are_found_where_exporters_put_them(tmp_path: Path) -> None:
    """Beside the material file, above it, beside the mesh; paths of another computer by the file name; after a BOM."""
    (tmp_path / "looks" / "images").mkdir(parents=True)
    obj = SQUARES.replace("mtllib paint.mtl", "\ufeffmtllib looks\\paint.mtl")
    path = painted(tmp_path, obj=obj)
    (expected,) = Mesh.load(painted(tmp_path, obj=SQUARES)).texture.images
    path.write_text(obj)
    for place, name in {
        "looks/checks.png": "checks.png",
        "looks/images/my checks.png": "images\\my checks.png",
        "above.png": "../above.png",
        "beside mesh.png": "beside mesh.png",
        "looks/windows.png": "C:\\Users\\me\\windows.png",
        "looks/posix.png": "/home/me/posix.png",
    }.items():
        (tmp_path / place).write_bytes((tmp_path / "checks.png").read_bytes())
        (tmp_path / "looks" / "paint.mtl").write_text("\ufeff" + PAINT.replace("checks.png", name))
        np.testing.assert_array_equal(Mesh.load(path).texture.images[0], expected)


@pytest.mark.parametrize(
    ("options", "scale", "offset"),
    [
        ("-s 1 1 1", (1, 1), (0, 0)),
        ("-s 2 3 1 -o 0.25", (2, 3), (0.25, 0)),
        ("-o 0.5 0.25 0 -s 0.5 -blendu on -texres 512 -mm 0 1 -boost 1 -clamp off", (0.5, 1), (0.5, 0.25)),
    ],
)
def test_options_move_the_image(
    tmp_path: Path, options: str, scale: tuple[float, float], offset: tuple[float, float]
) -> None:
    mtl = f"newmtl checked\nmap_Kd {options} 7\n"  # an image whose name is a number too
    obj = SQUARES[: SQUARES.index("usemtl dim")]
    path = painted(tmp_path, obj=obj, mtl=mtl)
    (tmp_path / "checks.png").rename(tmp_path / "7")
    mesh = Mesh.load(path)
    given = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * scale + offset
    np.testing.assert_allclose(mesh.vertex_properties["uv"], given[[0, 1, 2, 3]])


def test_shape_alone_is_loaded_whatever_its_paint_is(tmp_path: Path) -> None:
    whole = Mesh.load(painted(tmp_path))
    bad = ("map_Kd gone.png", "map_Kd -bad 3 checks.png", "Kd 7", "map_Kd C:\\x\\gone.png", "map_Kd ../../out.png")
    for line in bad:
        path = painted(tmp_path, mtl=f"newmtl checked\n{line}\n")
        with pytest.raises(SceneError, match=r"paint.mtl line 2.*; paint=False loads its shape alone$"):
            Mesh.load(path)
        mesh = Mesh.load(path, paint=False)
        assert mesh.property_names == ()
        assert len(mesh.vertices) == 6
        np.testing.assert_array_equal(mesh.vertices[mesh.faces], whole.vertices[whole.faces])
    assert Mesh.load(painted(tmp_path, obj=SQUARES.replace("vt 0 0", "vt"), mtl=PAINT), paint=False).texture is None


def test_a_material_that_no_face_has_breaks_nothing(tmp_path: Path) -> None:
    path = painted(tmp_path, mtl=PAINT + "newmtl unused\nKd 9 9 9\nmap_Kd gone.png\n")
    assert Mesh.load(path).texture is not None


@pytest.mark.parametrize(
    ("obj", "mtl", "match"),
    [
        (SQUARES, "newmtl checked\nmap_Kd ../secret.png\n", "mtl line 2: .*'../secret.png', which leaves its folder"),
        (SQUARES, "newmtl checked\nmap_Kd gone.png\n", "line 2 names the image 'gone.png', which is not there"),
        (
            SQUARES,
            "newmtl checked\nmap_Kd /x/gone.png\n",
            "'/x/gone.png', which is not there, nor 'gone.png' beside it",
        ),
        (SQUARES, "newmtl checked\nmap_Kd -x 2 checks.png\n", "line 2 has the option '-x'; it must be one of -blendu"),
        (SQUARES, "newmtl checked\nmap_Kd -s checks.png\n", "line 2 has the option -s without numbers"),
        (SQUARES, "newmtl checked\nmap_Kd -mm 0.1 2 checks.png\n", "line 2 has the option -mm 0.1 2; values are not"),
        (SQUARES, "newmtl checked\nmap_Kd -t 1 checks.png\n", "line 2 has the option -t 1; images are not disturbed"),
        (SQUARES, "newmtl checked\nmap_Kd\n", "line 2 maps ''; it must end with the name of an image"),
        (SQUARES, "newmtl checked\nmap_Kd paint.mtl\n", "paint.mtl line 2: image 'paint.mtl' cannot be read"),
        (SQUARES, "newmtl checked\nKd 2 0 0\n", "line 2 has Kd '2 0 0'; it must be 1 or 3 numbers in 0..1"),
        (SQUARES.replace("f 1/1 2/2", "f 1/9 2/2"), PAINT, "a face uses texture place 9; the file has 4"),
        (SQUARES.replace("f 1/1 2/2", "f 1/0 2/2"), PAINT, "line 13 uses texture place 0; they count from 1"),
        (SQUARES.replace("vt 0 0\n", "vt 0 x\n"), PAINT, "no number"),
    ],
)
def test_paint_that_breaks_a_rule_is_refused(tmp_path: Path, obj: str, mtl: str, match: str) -> None:
    with pytest.raises(SceneError, match=match):
        Mesh.load(painted(tmp_path, obj=obj, mtl=mtl))


def test_an_image_that_does_not_repeat_goes_on_with_its_edge(tmp_path: Path) -> None:
    """Scaled by 4, most of the square lies beyond the image, where its last column and its top row go on."""
    mtl = "newmtl checked\nmap_Kd -s 4 4 -clamp on checks.png\n"
    mesh = Mesh.load(painted(tmp_path, obj=SQUARES, mtl=mtl))
    texels = linear_table()[CHECKS]
    uv = mesh.vertex_properties["uv"][mesh.faces[0]]
    at = np.einsum("c,cx->x", [0.02, 0.49, 0.49], uv)
    i = min(max(int((1 - at[1]) * len(texels)), 0), len(texels) - 1)
    j = min(max(int(at[0] * texels.shape[1]), 0), texels.shape[1] - 1)
    assert at.max() > 1.5
    np.testing.assert_allclose(mesh.property_at("texture", 0, np.array([0.49, 0.49])), texels[i, j], atol=1e-6)


def test_a_material_file_that_is_named_again_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """10,000 mentions of one file take no longer than one."""
    from sensorium.scene.formats import obj_materials

    opened = []
    real = obj_materials.read_mtl
    monkeypatch.setattr(obj_materials, "read_mtl", lambda *given: (opened.append(given), real(*given))[1])
    path = painted(tmp_path, obj=SQUARES)
    path.write_text(
        "".join(line + "\n" for line in path.read_text().splitlines() if line.startswith("mtllib")) * 10_000
        + path.read_text()
    )
    Mesh.load(path)
    assert len(opened) == 1
