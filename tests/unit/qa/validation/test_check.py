"""Verdicts are made in one place: what lies within a tolerance, and that nothing strange ever does."""

import numpy as np
import pytest

from sensorium.core.errors import MissingExtraError, SpecError
from sensorium.qa.validation import Comparison, Family, Tolerance, all_checks, chosen, run_check, run_checks


def family(measure, **options):
    made = Family("Laws")
    made.check("law", "It holds.", reference="a book", **options)(measure)
    return made.checks[0]


def verdict(found, expected, **options):
    return run_check(family(lambda quick: Comparison(found, expected), **options), quick=True).verdict


def test_absolute_and_relative_add_up():
    tolerance = Tolerance(absolute=0.1, relative=0.01)
    np.testing.assert_allclose(tolerance.excess(Comparison([10.2, 9.9, 0.05], [10.0, 10.0, 0.0])), [1.0, 0.5, 0.5])
    assert str(tolerance) == "± 0.1 + 1 %"


def test_bounds_have_one_side():
    assert verdict([0.2, 0.9], 1.0, side="at most") == "passed"
    assert verdict([0.2, 1.1], 1.0, side="at most") == "failed"
    assert verdict([0.2, 1.1], 0.1, side="at least") == "passed"
    assert verdict([0.05], 0.1, side="at least") == "failed"


def test_without_tolerance_it_must_be_equal():
    assert verdict([3.0], 3.0) == "passed"
    assert verdict([3.0], np.nextafter(3.0, 4.0)) == "failed"
    assert str(Tolerance()) == "equal"


@pytest.mark.parametrize("side", ["both", "at most", "at least"])
@pytest.mark.parametrize("strange", [np.nan, [1.0, np.nan]])
def test_nan_never_passes(side, strange):
    assert verdict(strange, 1.0, absolute=1e9, side=side) == "failed"
    assert verdict(1.0, np.nan, absolute=1e9, side=side) == "failed"


def test_infinity_does_not_pass_for_a_number():
    assert verdict(np.inf, 1.0, absolute=1e9, relative=0.5) == "failed"


def test_nothing_compared_is_a_failure_with_its_reason():
    result = run_check(family(lambda quick: Comparison([], 1.0)), quick=True)
    assert (result.verdict, result.comparison) == ("failed", None)
    assert "compared nothing" in result.reason


def test_what_goes_wrong_is_a_failure_and_what_is_missing_is_skipped():
    def breaks(quick):
        raise ValueError("no")

    def lacks(quick):
        raise MissingExtraError("mitsuba is not installed")

    assert run_check(family(breaks), quick=True).reason == "ValueError: no"
    assert run_check(family(lacks), quick=True).verdict == "skipped"
    missing = run_check(family(breaks, needs=("no_such_engine",)), quick=True)
    assert (missing.verdict, missing.reason) == ("skipped", "no_such_engine is not installed")


def test_the_worst_is_what_comes_nearest_to_its_bound():
    result = run_check(family(lambda quick: Comparison([0.2, 0.9, 0.5], 1.0), side="at most"), quick=True)
    assert result.worst()["found"] == 0.9
    result = run_check(family(lambda quick: Comparison([1.0, 1.3], [1.0, 1.0], at=[5, 7]), absolute=1.0), quick=True)
    assert result.worst() == {"found": 1.3, "expected": 1.0, "share": pytest.approx(0.3), "at": 7.0}


def test_names_are_unique_and_every_check_says_what_and_where():
    checks = all_checks()
    assert len({check.name for check in checks}) == len(checks)
    for check in checks:
        assert check.claim.endswith(".")
        assert check.reference


def test_some_are_chosen_by_name_or_family():
    checks = all_checks()
    assert {check.name for check in chosen(checks, "fresnel-*")} >= {"fresnel-table", "fresnel-energy"}
    assert {check.family for check in chosen(checks, "determinism")} == {"Determinism"}
    assert len(chosen(checks, None)) == len(checks)
    with pytest.raises(SpecError, match="--only is 'nothing-like-it', which names no check"):
        chosen(checks, "nothing-like-it")


def test_results_come_in_order_and_are_told():
    check = family(lambda quick: Comparison([1.0], 1.0 if quick else 2.0))
    heard = []
    results = run_checks([check, check], quick=False, report=heard.append)
    assert [result.verdict for result in results] == ["failed", "failed"]
    assert heard == results
