"""On which side of its triangles a mesh has its volume, part by part."""

import numpy as np
import pytest

from sensorium.physics.cone.edges import outward_signs
from sensorium.scene import shapes

SOLIDS = (shapes.box(1, 2, 3), shapes.sphere(1.0, 1), shapes.cylinder(1.0, 2.0, 7))


def joined(*parts):
    """Parts (vertices, faces) as one mesh."""
    first = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    vertices = np.concatenate([vertices for vertices, _ in parts])
    return vertices, np.concatenate([faces + at for (_, faces), at in zip(parts, first, strict=False)])


@pytest.mark.parametrize("mesh", SOLIDS)
def test_a_closed_mesh_has_one_sign_and_an_open_one_has_none(mesh):
    assert (outward_signs(mesh.vertices, mesh.faces) == 1).all()
    assert (outward_signs(mesh.vertices, mesh.faces[:, ::-1]) == -1).all()
    assert (outward_signs(mesh.vertices, mesh.faces[1:]) == 0).all()
    flat = shapes.plane(2.0)
    assert (outward_signs(flat.vertices, flat.faces) == 0).all()


def test_corners_that_a_file_split_are_still_one():
    box = SOLIDS[0]
    split = box.vertices[box.faces].reshape(-1, 3)
    assert (outward_signs(split, np.arange(36).reshape(-1, 3)) == 1).all()


def test_every_part_of_a_mesh_has_its_own_sign():
    random = np.random.default_rng(3)
    for _ in range(30):
        parts, expected = [], []
        for _ in range(random.integers(1, 6)):
            mesh, turned, cut = SOLIDS[random.integers(0, 3)], random.random() < 0.5, random.random() < 0.3
            faces = mesh.faces[:, ::-1] if turned else mesh.faces
            faces = faces[1:] if cut else faces
            parts.append((mesh.vertices + random.uniform(-1e3, 1e3, 3), faces))
            expected += [0 if cut else -1 if turned else 1] * len(faces)
        vertices, faces = joined(*parts)
        shuffled = random.permutation(len(faces))
        np.testing.assert_array_equal(outward_signs(vertices, faces[shuffled]), np.array(expected)[shuffled])


def test_what_touches_along_an_edge_or_doubles_a_face_is_not_taken_for_closed():
    box = shapes.box(1.0, 1.0, 1.0)
    beside = joined((box.vertices, box.faces), (box.vertices + (1.0, 1.0, 0.0), box.faces))
    assert (outward_signs(*beside) == 0).all()  # four faces along one edge: which two go together is not known
    sheet = shapes.plane(1.0)
    doubled = np.concatenate([sheet.faces, sheet.faces[:, ::-1]])
    assert (outward_signs(sheet.vertices, doubled) == 0).all()

    # One face turned: its edges run the same way as those of its neighbors
    mixed = box.faces.copy()
    mixed[0] = mixed[0, ::-1]
    assert (outward_signs(box.vertices, mixed) == 0).all()
