"""Mesh files: valid ones that come back as they were written."""

import io
import json
import struct
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fuzz.promise import check
from fuzz.readers import READERS, meshes
from fuzz.strategies import attempts
from sensorium.core.errors import SceneError
from sensorium.scene.formats.loading import load_mesh


@st.composite
def shapes(draw):
    """Vertices that any format holds exactly, and faces on them."""
    count = draw(st.integers(3, 12))
    number = st.floats(-1e6, 1e6, width=32)
    vertices = draw(arrays(np.float64, (count, 3), elements=number))
    faces = draw(arrays(np.int64, (draw(st.integers(1, 8)), 3), elements=st.integers(0, count - 1)))
    return vertices, faces


def as_obj(vertices, faces):
    lines = ["v {!r} {!r} {!r}".format(*v) for v in vertices.tolist()] + ["f {} {} {}".format(*f) for f in faces + 1]
    return "\n".join(lines).encode()


def as_off(vertices, faces):
    lines = [f"OFF\n{len(vertices)} {len(faces)} 0"] + ["{!r} {!r} {!r}".format(*v) for v in vertices.tolist()]
    return "\n".join(lines + ["3 {} {} {}".format(*f) for f in faces]).encode()


def as_ply(vertices, faces):
    head = f"ply\nformat binary_big_endian 1.0\nelement vertex {len(vertices)}\n"
    head += "".join(f"property double {axis}\n" for axis in "xyz")
    head += f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    rows = b"".join(b"\3" + face.astype(">i4").tobytes() for face in faces)
    return head.encode() + vertices.astype(">f8").tobytes() + rows


def as_npz(vertices, faces):
    file = io.BytesIO()
    np.savez_compressed(file, vertices=vertices, faces=faces)
    return file.getvalue()


@pytest.mark.parametrize(
    ("suffix", "written"), [(".obj", as_obj), (".off", as_off), (".ply", as_ply), (".npz", as_npz)]
)
def test_what_is_written_comes_back(folder, suffix, written):
    @attempts()
    @given(shapes())
    def holds(shape):
        path = folder / f"mesh{suffix}"
        path.write_bytes(written(*shape))
        mesh = load_mesh(path)
        np.testing.assert_array_equal(mesh.vertices, shape[0])
        np.testing.assert_array_equal(mesh.faces, shape[1])

    holds()


# What was found, by the smallest file that shows it


def refused(folder, name, data, says):
    reader = READERS[name]
    path = folder / f"input{reader.suffix}"
    assert not check(reader, data, folder)
    with pytest.raises(SceneError, match=says):
        load_mesh(path, max_bytes=1 << 26)


def glb_json(**changes):
    tree, _ = meshes._gltf_tree()
    return json.dumps({**tree, **changes}).encode()


def test_a_further_chunk_of_a_glb_does_not_ask_for_memory(folder):
    whole = READERS["mesh-glb"].seeds(folder)[0] + struct.pack("<I4s", 2**32 - 1, b"more")
    refused(folder, "mesh-glb", whole, "a chunk claims 4294967295 bytes; there are 0")


def test_two_binary_chunks_are_not_guessed_at(folder):
    whole = READERS["mesh-glb"].seeds(folder)[0] + struct.pack("<I4s", 4, b"BIN\0") + bytes(4)
    refused(folder, "mesh-glb", whole, "it has two binary chunks")


def test_huge_scales_do_not_warn(folder):
    scaled = [{"children": [1], "scale": [1e308, 1e308, 1e308]}, {"mesh": 0, "scale": [1e308, 1e308, 1e308]}]
    refused(folder, "mesh-glb-json", glb_json(nodes=scaled), "each must be finite")
    flat = [{"children": [1], "translation": [1, 2, 3]}, {"mesh": 0, "scale": [1, 1, 1e308]}]
    assert check(READERS["mesh-glb-json"], glb_json(nodes=flat), folder)  # its colors are read again


def image_file(form, size=(5, 6)):
    from PIL import Image

    file = io.BytesIO()
    Image.new("1" if form == "PNG" else "RGB", size).save(file, form)
    return file.getvalue()


@pytest.mark.parametrize("form", ["EPS", "TIFF", "GIF"])
def test_images_of_other_formats_are_not_opened(folder, form):
    """PIL hands EPS to Ghostscript, another program."""
    refused(folder, "mesh-gltf-image", image_file(form), "image 0 is no PNG or JPEG or WEBP")


def test_images_are_measured_before_they_are_unpacked(folder):
    bomb = image_file("PNG", (12_000, 12_000))
    assert len(bomb) < 100_000
    refused(folder, "mesh-gltf-image", bomb, "12000 x 12000 pixels; unpacked, all up to it take 576000000")


def test_what_is_no_draco_mesh_is_refused_with_or_without_a_decoder(folder):
    tree, _ = meshes._gltf_tree()
    tree["meshes"][0]["primitives"][0]["extensions"] = {"KHR_draco_mesh_compression": {"bufferView": 0}}
    refused(folder, "mesh-glb-json", json.dumps(tree).encode(), "cannot be unpacked by Draco|packed by Draco, which Dr")


def test_indices_beyond_machine_words_do_not_warn(folder):
    text = READERS["mesh-ply"].seeds(folder)[1].replace(b"3 0 1 2\n", b"3 0 1 1e300\n")
    refused(folder, "mesh-ply", text, r"no whole number below 2\*\*31")


def test_a_header_of_an_array_is_told_in_one_line(folder):
    array = b"\x93NUMPY\x01\x00" + struct.pack("<H", 30_000) + b" " * 30_000
    refused(folder, "mesh-npz-array", array, "it is no archive of arrays: Header info length")
    odd = rb"{'descr': '\e', 'fortran_order': False, 'shape': (3, 3)}".ljust(117) + b"\n"
    refused(folder, "mesh-npz-array", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(odd)) + odd, "no archive of arrays")


def test_arrays_are_no_longer_than_their_archive_says(folder):
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 3)}".ljust(117) + b"\n"
    refused(
        folder, "mesh-npz-array", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head, "claims 24000000000 bytes"
    )
    path = folder / "input.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("vertices.npy", bytes(1 << 25))
    with pytest.raises(SceneError, match=r"it unpacks .* bytes to 33554432; the most is 100 times"):
        load_mesh(path)


def test_names_in_headers_do_not_reach_the_terminal(folder):
    text = b"ply\nformat ascii 1.0\nelement \x1b[2J\x07 -1\nend_header\n"
    refused(folder, "mesh-ply", text, r"items of '\\x1b\[2J\\x07'")
