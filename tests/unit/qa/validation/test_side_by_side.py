"""Families in processes: the same results as in one, in the order of the checks."""

import multiprocessing

import numpy as np
import pytest

from sensorium.qa.validation import all_checks, run_checks, run_side_by_side

# Of three families, and none of them compiles much
NAMES = ("fresnel-table", "fresnel-energy", "fresnel-mitsuba", "vane-beam", "extinction")


@pytest.fixture(scope="module")
def checks():
    return [check for check in all_checks() if check.name in NAMES]


def test_two_processes_find_what_one_does(checks):
    assert len({check.family for check in checks}) == 3
    heard = []
    together = run_side_by_side(checks, quick=True, processes=2, report=heard.append)
    assert sorted(result.check.name for result in heard) == sorted(NAMES)
    for one, other in zip(run_checks(checks, quick=True), together, strict=True):
        assert other.check is one.check
        assert (other.verdict, other.reason) == (one.verdict, one.reason)
        if one.comparison is not None:
            assert np.array_equal(other.comparison.found, one.comparison.found)
            assert other.comparison.note == one.comparison.note


def test_a_process_that_dies_fails_its_check_another_goes_on_and_who_is_told_can_stop_it(checks):
    heard = []

    def hear(result):
        heard.append(result)
        if result.check.name == "fresnel-table":
            for process in multiprocessing.active_children():
                process.kill()
                process.join()
        if result.check.name == "vane-beam":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_side_by_side(
            [check for check in checks if check.name != "extinction"], quick=True, processes=1, report=hear
        )
    assert not multiprocessing.active_children()
    before, died, _, after = heard
    assert (before.verdict, after.verdict) == ("passed", "passed")
    assert (died.verdict, died.reason) == ("failed", "the process that measured it died")
