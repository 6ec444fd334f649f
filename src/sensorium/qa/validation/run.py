"""Running checks, one after the other."""

import fnmatch
import importlib.util
import time
from collections.abc import Callable, Sequence

from sensorium.core.errors import MissingExtraError, SpecError
from sensorium.qa.validation.check import CannotMeasureError, Check, Result


def chosen(checks: Sequence[Check], pattern: str | None) -> list[Check]:
    """Checks whose name or family matches a pattern such as `fresnel*`, or has it as a part; all for None."""
    if pattern is None:
        return list(checks)
    wanted = pattern.lower()
    found = [
        check
        for check in checks
        if any(wanted in name or fnmatch.fnmatch(name, wanted) for name in (check.name, check.family.lower()))
    ]
    if not found:
        raise SpecError(f"--only is {pattern!r}, which names no check; `sensorium validate --list` lists them")
    return found


def run_check(check: Check, *, quick: bool) -> Result:
    """Measure one law; any error on the way is a failure with its message."""
    missing = [name for name in check.needs if importlib.util.find_spec(name) is None]
    if missing:
        return Result(check, "skipped", 0.0, reason=f"{' and '.join(missing)} is not installed")
    began = time.perf_counter()
    try:
        comparison = check.measure(quick)
    except (MissingExtraError, CannotMeasureError) as error:
        return Result(check, "skipped", time.perf_counter() - began, reason=str(error))
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        return Result(check, "failed", time.perf_counter() - began, reason=reason)
    within = bool((check.tolerance.excess(comparison) <= 1.0).all())
    return Result(check, "passed" if within else "failed", time.perf_counter() - began, comparison)


def run_checks(
    checks: Sequence[Check], *, quick: bool, report: Callable[[Result], None] = lambda result: None
) -> list[Result]:
    """Measure laws in their order.

    Args:
        checks: Which.
        quick: Whether fewer samples and smaller scenes will do.
        report: Called with each result as it comes.
    """
    results = []
    for check in checks:
        result = run_check(check, quick=quick)
        report(result)
        results.append(result)
    return results
