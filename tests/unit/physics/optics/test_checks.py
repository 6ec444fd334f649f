"""Refusals of the NumPy functions of optics: the quantity, the first value that is wrong, the rule."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.optics import checks


def test_what_is_allowed_comes_back_as_float64():
    array = checks.checked("x", [[1, 2], [3, 4]], above=0.0, at_most=4.0)
    assert array.dtype == np.float64
    assert array.tolist() == [[1, 2], [3, 4]]
    assert checks.checked("x", 0.0, at_least=0.0) == 0.0


@pytest.mark.parametrize(
    ("value", "rules", "message"),
    [
        ([1.0, -2.0, -3.0], {"at_least": 0.0}, "x is -2; it must be finite and at least 0"),
        (0.0, {"above": 0.0}, "x is 0; it must be finite and above 0"),
        (4.5, {"above": 0.0, "at_most": 4.0}, "x is 4.5; it must be finite and above 0 and at most 4"),
        ([1.0, np.nan], {}, "x is nan; it must be finite"),
        (np.inf, {"at_least": 0.0}, "x is inf; it must be finite and at least 0"),
        (1j, {}, "x is complex; it must be real"),
        ("wide", {}, "x is 'wide'; it must be a number or an array of numbers"),
        ([[1.0], [1.0, 2.0]], {}, "it must be a number or an array of numbers"),
    ],
)
def test_refusals_name_value_and_rule(value, rules, message):
    with pytest.raises(SpecError) as refused:
        checks.checked("x", value, **rules)
    assert message in str(refused.value)


def test_cosines_are_clipped_within_rounding_and_refused_beyond():
    assert checks.checked_cosine("c", [-1e-7, 0.5, 1.0 + 1e-7]).tolist() == [0.0, 0.5, 1.0]
    for value in (-1e-3, 1.001):
        with pytest.raises(SpecError, match=f"c is {value}; the cosine of an angle of incidence lies in"):
            checks.checked_cosine("c", [0.5, value])


def test_an_index_has_a_positive_real_part_and_does_not_amplify():
    n, k = checks.checked_index("n", [1.5, 1.2 + 7j])
    assert n.tolist() == [1.5, 1.2]
    assert k.tolist() == [0.0, 7.0]
    with pytest.raises(SpecError, match=r"n is 0; it must be finite and above 0"):
        checks.checked_index("n", 0.0)
    with pytest.raises(SpecError, match=r"n \(real part\) is -1"):
        checks.checked_index("n", -1.0 + 1j)
    with pytest.raises(SpecError, match=r"n \(imaginary part\) is -2; it must be finite and at least 0"):
        checks.checked_index("n", 1.5 - 2j)


def test_unit_vectors_have_three_parts_and_length_one():
    assert checks.checked_unit("d", [0.6, 0.0, 0.8]).shape == (3,)
    with pytest.raises(SpecError, match=r"d has shape \(2,\); its last axis must hold x, y, z"):
        checks.checked_unit("d", [1.0, 0.0])
    with pytest.raises(SpecError, match=r"d has length 2; it must be a unit vector"):
        checks.checked_unit("d", [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
