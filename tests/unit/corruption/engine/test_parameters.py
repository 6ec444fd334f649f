import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.corruption import Bias, White
from sensorium.corruption.engine.parameters import not_negative, ordered, per_channel, positive, square, square_root


def test_one_number_is_for_every_channel_and_several_are_one_each():
    np.testing.assert_array_equal(per_channel("std", 2.0, 3), [2, 2, 2])
    np.testing.assert_array_equal(per_channel("std", (1, 2, 3), 3), [1, 2, 3])
    with pytest.raises(SpecError, match="std has 2 values; it must be one number or 3"):
        per_channel("std", (1.0, 2.0), 3)


def test_arrays_lists_and_tuples_are_kept_as_the_same_plain_data():
    given = [Bias(np.array([1, 2, 3])), Bias([1, 2, 3]), Bias((1.0, 2.0, 3.0)), Bias([np.float32(1), 2, np.int64(3)])]
    assert all(bias == given[0] for bias in given)
    assert given[0].value == (1.0, 2.0, 3.0)
    assert all(type(number) is float for number in given[3].value)
    assert Bias(2**64).value == 2.0**64


@pytest.mark.parametrize(
    "wrong", [float("nan"), float("inf"), (1.0, float("nan")), "much", True, (), ((1.0,),), None, 10**400]
)
def test_what_is_no_finite_number_is_refused_in_one_sentence(wrong):
    with pytest.raises(SpecError, match=r"^Bias\.value is .*; it must be a finite number, or one for each channel$"):
        Bias(wrong)


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        (3.0, "must be a matrix"),
        ((1.0, 2.0), "must be a matrix"),
        (((1.0, 0.0), (0.0,)), "equally long"),
        (((),), "equally long"),
        (((1.0, float("nan")), (0.0, 1.0)), "must be finite"),
        (((1.0, "a"), (0.0, 1.0)), "must be finite"),
    ],
)
def test_what_is_no_matrix_is_refused(wrong, rule):
    with pytest.raises(SpecError, match=rule):
        White(covariance=wrong)


def test_a_matrix_must_fit_the_channels():
    np.testing.assert_array_equal(square("matrix", ((1, 2), (3, 4)), 2), [[1, 2], [3, 4]])
    with pytest.raises(SpecError, match="matrix is 2 x 2; it must be 3 x 3"):
        square("matrix", ((1, 2), (3, 4)), 3)


def test_the_square_root_of_a_covariance_squares_to_it_also_if_singular():
    rng = np.random.default_rng(1)
    for rank in (1, 2, 4):
        factor = rng.normal(size=(4, rank))
        root = square_root("covariance", factor @ factor.T, 4)
        np.testing.assert_allclose(root @ root.T, factor @ factor.T, atol=1e-12)
    for wrong in ([[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.5], [0.0, 1.0]]):
        with pytest.raises(SpecError, match="must be symmetric and have no negative eigenvalue"):
            square_root("covariance", wrong, 2)


def test_signs_and_order_are_checked_number_by_number():
    not_negative("std", (0.0, 1.0))
    positive("tau_s", 1e-9)
    ordered("min", -1.0, "max", (0.0, -1.0))
    with pytest.raises(ValueError, match="std is -1; it must not be negative"):
        not_negative("std", (0.0, -1.0))
    with pytest.raises(ValueError, match="tau_s is 0; it must be positive"):
        positive("tau_s", (1.0, 0.0))
    with pytest.raises(ValueError, match="min is 2 and max is 1; min must not be above max"):
        ordered("min", (0.0, 2.0), "max", 1.0)
    with pytest.raises(ValueError, match="min is 1 and max is 1; min must be below max"):
        ordered("min", 1.0, "max", 1.0, strictly=True)
    with pytest.raises(ValueError, match="as many values, or one"):
        ordered("min", (0.0, 2.0), "max", (1.0, 2.0, 3.0))
