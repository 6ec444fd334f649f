"""Properties of several meshes as those of one, against arrays joined by hand."""

import re

import numpy as np
import pytest

from sensorium.core.errors import SceneError
from sensorium.scene.merging import merged_properties


def merged(*meshes, counts=None, kind="face_properties", white="paint"):
    return merged_properties(kind, meshes, counts or [2] * len(meshes), white=white)


def test_each_property_is_joined_mesh_after_mesh_in_the_order_of_the_first():
    first = {"label": np.array(["a", "bb"]), "heat": np.array([1.5, 2.5])}
    second = {"heat": np.array([3.5]), "label": np.array(["long"])}
    found = merged(first, second, first, counts=[2, 1, 2])
    assert list(found) == ["label", "heat"]
    assert found["label"].tolist() == ["a", "bb", "long", "a", "bb"]
    assert found["heat"].tolist() == [1.5, 2.5, 3.5, 1.5, 2.5]


def test_one_mesh_keeps_its_properties_and_none_have_none():
    own = {"heat": np.array([[1, 2], [3, 4]], np.int16)}
    found = merged(own)
    assert found["heat"].dtype == np.int16
    assert found["heat"].tolist() == [[1, 2], [3, 4]]
    assert merged({}, {}) == {}


@pytest.mark.parametrize("painted", [0, 1, 2])
def test_what_a_mesh_lacks_of_the_white_property_is_1(painted):
    """As many rows as it has faces, as many bands as the others have; whichever of them comes first."""
    meshes, counts = [{}, {}, {}], [3, 2, 4]
    color = np.full((counts[painted], 2), 0.25, np.float32)
    meshes[painted] = {"paint": color}
    found = merged(*meshes, counts=counts)["paint"]
    expected = np.ones((9, 2))
    start = sum(counts[:painted])
    expected[start : start + counts[painted]] = 0.25
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == np.float32
    assert meshes == [{"paint": color} if k == painted else {} for k in range(3)]  # nobody's own is changed


def test_white_has_the_shape_of_what_is_there():
    assert merged({"paint": np.zeros(2)}, {}, counts=[2, 1])["paint"].tolist() == [0, 0, 1]
    assert merged({"paint": np.zeros((2, 1, 3))}, {}, counts=[2, 0])["paint"].shape == (2, 1, 3)


def test_white_is_given_to_none_where_nobody_has_any():
    assert list(merged({"heat": np.zeros(2)}, {"heat": np.ones(2)})) == ["heat"]


def test_a_mesh_that_lacks_another_property_is_told_by_number():
    """By all names that it has, of those white counts as given."""
    heat, cold = {"heat": np.zeros(2)}, {"cold": np.zeros(2), "paint": np.zeros(2)}
    rule = "mesh 2 has vertex_properties ['cold', 'paint'] but mesh 0 has ['heat', 'paint']; they must match"
    with pytest.raises(SceneError, match=f"^{re.escape(rule)}$"):
        merged(heat, heat, cold, kind="vertex_properties")
    with pytest.raises(SceneError, match=r"^mesh 1 has face_properties \[\] but mesh 0 has \['paint'\]"):
        merged({"paint": np.zeros(2)}, {}, white="other")


def test_elements_of_other_shapes_are_not_joined():
    rule = "property 'heat' has element shapes [(), (2,), (3,)]; merged meshes must share one"
    with pytest.raises(SceneError, match=f"^{re.escape(rule)}$"):
        merged({"heat": np.zeros((2, 3))}, {"heat": np.zeros(2)}, {"heat": np.zeros((2, 2))})


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_strings_and_numbers_are_not_mixed(order):
    """NumPy would make strings of the numbers."""
    meshes = [{"label": np.array(["a", "b"])}, {"label": np.array([1, 2])}]
    with pytest.raises(SceneError, match=r"^property 'label' mixes strings and numbers; merged meshes must use one"):
        merged(*(meshes[k] for k in order))
    found = merged({"label": np.array([1, 2])}, {"label": np.array([0.5, 1.5])})["label"]
    assert found.tolist() == [1.0, 2.0, 0.5, 1.5]  # kinds of numbers are
