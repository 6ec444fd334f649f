"""Validation: every law that the library claims, compared with its reference; `sensorium validate` runs it."""

from sensorium.qa.validation.check import Axis, Check, Comparison, Family, Result, Tolerance
from sensorium.qa.validation.run import chosen, run_check, run_checks
from sensorium.qa.validation.side_by_side import run_side_by_side

__all__ = [
    "Axis",
    "Check",
    "Comparison",
    "Family",
    "Result",
    "Tolerance",
    "all_checks",
    "chosen",
    "run_check",
    "run_checks",
    "run_side_by_side",
]


def all_checks() -> list[Check]:
    """Every check there is, in the order of the page."""
    from sensorium.qa.validation.families import FAMILIES

    return [check for family in FAMILIES for check in family.checks]
