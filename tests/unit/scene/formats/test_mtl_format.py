"""Material files: what is read of their lines, where images are looked for, and what is refused."""

import re
from pathlib import Path

import numpy as np
import pytest

from sensorium.scene.formats.mtl_format import ImageMap, MtlMaterial, read_mtl
from sensorium.scene.formats.textures import PaintError


def read(folder: Path, text: str, root: Path | None = None) -> dict[str, MtlMaterial]:
    (folder / "a.mtl").write_text(text)
    return read_mtl(folder / "a.mtl", root or folder)


def mapped(folder: Path, said: str, *, image: str = "a.png") -> ImageMap:
    """The image of a material whose second line is `map_Kd` and what is said."""
    (folder / image).touch()
    found = read(folder, f"newmtl m\nmap_Kd {said}\n")["m"].image()
    assert found is not None
    return found


def refused(rule: str) -> pytest.RaisesExc:
    return pytest.raises(PaintError, match=f"^{re.escape(rule)}")


def test_a_material_has_the_lines_below_its_name(tmp_path: Path) -> None:
    """The last of each counts; those before any name, and all other lines, are passed over."""
    found = read(
        tmp_path,
        "Kd 0.9\nmap_Kd none.png\n# paint\nNEWMTL dark  wood\nKa 1 1 1\nKd 0.1 0.2 0.3\nkd 0.25 0.5 1\nNs 7\n"
        "newmtl plain\nnewmtl\nKd 0\nmap_kd first.png\nMAP_KD -s 2 two  words.png # last\n",
    )
    assert list(found) == ["dark wood", "plain", ""]
    assert (found["dark wood"].color_line, found["dark wood"].map_line) == ((7, ["0.25", "0.5", "1"]), None)
    assert (found["plain"].color_line, found["plain"].map_line) == (None, None)
    assert (found[""].color_line, found[""].map_line) == ((11, ["0"]), (13, ["-s", "2", "two", "words.png"]))
    assert found["dark wood"].color() == (0.25, 0.5, 1.0)
    assert found["plain"].color() == (1.0, 1.0, 1.0)
    assert found["plain"].image() is None
    assert found[""].color() == (0.0, 0.0, 0.0)


def test_a_name_that_comes_again_begins_anew(tmp_path: Path) -> None:
    found = read(tmp_path, "newmtl m\nKd 0.5\nmap_Kd a.png\nnewmtl m\nKd 0.25\n")
    assert found["m"].color() == (0.25, 0.25, 0.25)
    assert found["m"].image() is None


@pytest.mark.parametrize(
    "words",
    [
        "",
        "0.1 0.2",
        "0.1 0.2 0.3 0.4",
        "0.5 2",
        "0.1 0.2 0.3 x",
        "1.01",
        "-0.01",
        "0.5 0.5 nan",
        "inf",
        "red",
        "0.5 0.5 x",
        "spectral a.rfl",
    ],
)
def test_a_color_that_is_not_1_or_3_numbers_in_0_to_1_is_refused_when_asked_for(tmp_path: Path, words: str) -> None:
    material = read(tmp_path, f"\nnewmtl m\nKd {words}\n")["m"]
    with refused(f"a.mtl line 3 has Kd {words!r}; it must be 1 or 3 numbers in 0..1"):
        material.color()


def test_a_long_line_is_told_by_its_beginning(tmp_path: Path) -> None:
    material = read(tmp_path, f"newmtl m\nKd {'9' * 500}\nmap_Kd -clamp {'9' * 500}\n")["m"]
    with refused(f"a.mtl line 2 has Kd '{'9' * 60}'; it"):
        material.color()
    with refused(f"a.mtl line 3 maps '-clamp {'9' * 53}'; it"):
        material.image()


@pytest.mark.parametrize(
    ("options", "scale", "offset", "clamped"),
    [
        ("", (1, 1), (0, 0), False),
        ("-s 2", (2, 1), (0, 0), False),
        ("-s 2 3", (2, 3), (0, 0), False),
        ("-s 2 3 4", (2, 3), (0, 0), False),
        ("-o 0.5", (1, 1), (0.5, 0), False),
        ("-o -0.5 -1e-1 9", (1, 1), (-0.5, -0.1), False),
        ("-O 1 2 -S 3 4 -s 5", (5, 1), (1, 2), False),
        ("-clamp on", (1, 1), (0, 0), True),
        ("-clamp ON", (1, 1), (0, 0), True),
        ("-clamp on -clamp off", (1, 1), (0, 0), False),
        ("-t 0 0.0 -mm 0.0 1 -blendu on -blendv off -boost 5 -cc on -imfchan l -texres 8", (1, 1), (0, 0), False),
    ],
)
@pytest.mark.parametrize("name", ["a.png", "two words.png"])
def test_options_stand_before_the_name(
    tmp_path: Path, options: str, scale: tuple, offset: tuple, clamped: bool, name: str
) -> None:
    """However few numbers they have."""
    expected = ImageMap(tmp_path.resolve() / name, "a.mtl line 2", scale, offset, clamped)
    assert mapped(tmp_path, f"{options} {name}", image=name) == expected


@pytest.mark.parametrize(
    ("said", "scale", "offset"),
    [
        ("7", (1, 1), (0, 0)),
        ("-s 2 7", (2, 1), (0, 0)),
        ("-s 2 3 7", (2, 3), (0, 0)),
        ("-s 2 3 4 7", (2, 3), (0, 0)),
        ("-s 2 3 -o 5 7", (2, 3), (5, 0)),
        ("-t 0 7", (1, 1), (0, 0)),
        ("-boost 5 7", (1, 1), (0, 0)),
    ],
)
def test_the_last_word_is_the_name_though_it_is_a_number(
    tmp_path: Path, said: str, scale: tuple, offset: tuple
) -> None:
    assert mapped(tmp_path, said, image="7") == ImageMap(tmp_path.resolve() / "7", "a.mtl line 2", scale, offset)


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("", "maps ''; it must end with the name of an image"),
        ("-s 2 3 -clamp on", "maps '-s 2 3 -clamp on'; it must end with the name of an image"),
        ("-type sphere a.png", "has the option '-type'; it must be one of -blendu, -blendv, -boost, -cc, -clamp, -imf"),
        (f"-{'Q' * 30} a.png", f"has the option '-{'q' * 19}'; it must be one of"),
        ("-s a.png", "has the option -s without numbers; it takes 1 to 3"),
        ("-o 5", "has the option -o without numbers; it takes 1 to 3"),
        ("-o nan a.png", "has the option -o without numbers; it takes 1 to 3"),
        ("-t 0 0.5 a.png", "has the option -t 0 0.5; images are not disturbed, it must be 0"),
        ("-mm 0 2 a.png", "has the option -mm 0 2; values are not changed, it must be 0 1"),
        ("-mm 0 a.png", "has the option -mm 0 a.png; values are not changed, it must be 0 1"),
        ("gone.png", "names the image 'gone.png', which is not there"),
        ("looks", "names the image 'looks', which is not there"),
    ],
)
def test_options_that_break_a_rule_are_refused(tmp_path: Path, said: str, rule: str) -> None:
    (tmp_path / "looks").mkdir()
    (tmp_path / "a.png").touch()
    material = read(tmp_path, f"newmtl m\nmap_Kd {said}\n")["m"]
    with refused(f"a.mtl line 2 {rule}"):
        material.image()


def test_an_image_beside_the_material_file_comes_before_one_beside_the_mesh(tmp_path: Path) -> None:
    looks = tmp_path / "looks"
    (looks / "deep").mkdir(parents=True)
    for name in ("both.png", "mesh.png", "looks/both.png", "looks/deep/below.png"):
        (tmp_path / name).touch()
    root = tmp_path.resolve()
    for said, path in {
        "both.png": "looks/both.png",
        "mesh.png": "mesh.png",
        "../both.png": "both.png",
        "deep\\below.png": "looks/deep/below.png",
        "C:\\their\\own\\both.png": "looks/both.png",
        "C:/their/own/mesh.png": "mesh.png",
        "\\their\\mesh.png": "mesh.png",
        "\\\\server\\share\\mesh.png": "mesh.png",
        "/their/own/both.png": "looks/both.png",
    }.items():
        found = read(looks, f"newmtl m\nmap_Kd {said}\n", tmp_path)["m"].image()
        assert found is not None
        assert found.path == root / path


@pytest.mark.parametrize("said", ["../a.png", "..\\a.png", "looks/../../a.png"])
def test_no_image_is_taken_from_outside_the_folder_of_the_mesh(tmp_path: Path, said: str) -> None:
    (tmp_path / "a.png").touch()
    inside = tmp_path / "inside"
    (inside / "looks").mkdir(parents=True)
    name = said.replace("\\", "/")
    with refused(f"a.mtl line 2: it refers to {name!r}, which leaves its folder"):
        read(inside, f"newmtl m\nmap_Kd {said}\n")["m"].image()


def test_a_whole_path_whose_image_is_nowhere_is_told_with_its_file_name(tmp_path: Path) -> None:
    rule = "a.mtl line 2 names the image 'C:\\\\x\\\\gone.png', which is not there, nor 'gone.png' beside it"
    with refused(rule):
        read(tmp_path, "newmtl m\nmap_Kd C:\\x\\gone.png\n")["m"].image()


def test_places_are_scaled_and_then_moved() -> None:
    image = ImageMap(Path("a.png"), "line", scale=(2.0, -4.0), offset=(0.5, 3.0))
    placed = image.placed(np.array([[0.0, 0.0], [1.0, 0.5], [-0.25, 2.0]]))
    np.testing.assert_array_equal(placed, [[0.5, 3.0], [2.5, 1.0], [0.0, -5.0]])


@pytest.mark.parametrize("form", ["PNG", "WEBP", "BMP", "TGA", "TIFF"])
def test_pixels_are_those_of_the_file(tmp_path: Path, form: str) -> None:
    from PIL import Image

    values = np.arange(18, dtype=np.uint8).reshape(2, 3, 3) * 14
    Image.fromarray(values).save(tmp_path / "a", form, **({"lossless": True} if form == "WEBP" else {}))
    np.testing.assert_array_equal(ImageMap(tmp_path / "a", "line").pixels(), values)


@pytest.mark.parametrize("form", ["EPS", "PPM", "PDF"])
def test_images_of_other_kinds_are_not_opened(tmp_path: Path, form: str) -> None:
    from PIL import Image

    Image.new("RGB", (3, 2)).save(tmp_path / "a.png", form)
    with refused("a.mtl line 2: image 'a.png' cannot be read: UnidentifiedImageError: "):
        mapped(tmp_path, "a.png").pixels()


def test_a_missing_image_of_the_mesh_s_folder_is_not_there(tmp_path: Path) -> None:
    """From the material file it lies inside, though the same name would leave the folder from the mesh."""
    (tmp_path / "looks").mkdir()
    (tmp_path / "looks" / "a.mtl").write_text("newmtl m\nmap_Kd ../gone.png\n")
    with refused("a.mtl line 2 names the image '../gone.png', which is not there"):
        read_mtl(tmp_path / "looks" / "a.mtl", tmp_path)["m"].image()


@pytest.mark.parametrize("word", ["0_1", "\u0661"])
def test_numbers_of_python_alone_are_none(tmp_path: Path, word: str) -> None:
    with refused(f"a.mtl line 2 has Kd {word!r}; it must be 1 or 3 numbers in 0..1"):
        read(tmp_path, f"newmtl m\nKd {word}\n")["m"].color()
