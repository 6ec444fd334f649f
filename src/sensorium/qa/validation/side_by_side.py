"""Families of checks in parallel processes.

A first run spends most time on compiling, which Numba does on one thread of a process. A family stays in one process,
since its checks share kernels; kernels compiled by one process are in the cache on disk for the others.
"""

import multiprocessing
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import groupby

from sensorium.qa.validation.check import Check, Comparison, Result, Verdict
from sensorium.qa.validation.run import run_check

# Families that compile the longest, to be begun first; the kernel of light, which lidars need too, is in the second
_BEGUN_FIRST = ("Waveforms", "Air, fog, rain and snow")

# A result without its check, which may hold functions that cannot be sent
_Outcome = tuple[Verdict, float, Comparison | None, str]


def run_side_by_side(
    checks: Sequence[Check], *, quick: bool, processes: int, report: Callable[[Result], None] = lambda result: None
) -> list[Result]:
    """Measure laws in several processes; the results come in the order of the checks.

    Args:
        checks: Which of `all_checks`.
        quick: Whether fewer samples and smaller scenes will do.
        processes: How many.
        report: Called with each result as it comes, one at a time.
    """
    grouped = [list(family) for _, family in groupby(checks, key=lambda check: check.family)]
    families = iter(sorted(grouped, key=lambda family: family[0].family not in _BEGUN_FIRST))
    results: dict[str, Result] = {}
    telling, stopped = threading.Lock(), threading.Event()

    def feed() -> None:
        """Give one process check after check, until no family is left."""
        process = _process()
        try:
            for family in families:
                for check in family:
                    if stopped.is_set():
                        return
                    try:
                        result = Result(check, *process.submit(_measure, check.name, quick).result())
                    except BrokenProcessPool:
                        process.shutdown()
                        process = _process()
                        result = Result(check, "failed", 0.0, reason="the process that measured it died")
                    with telling:
                        results[check.name] = result
                        report(result)
        finally:
            process.shutdown()

    with ThreadPoolExecutor(processes) as feeders:
        try:
            feeding: list[Future[None]] = [feeders.submit(feed) for _ in range(processes)]
            for feeder in feeding:
                feeder.result()
        finally:
            stopped.set()
    return [results[check.name] for check in checks]


def _process() -> ProcessPoolExecutor:
    """A process that inherits nothing from this one."""
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


def _measure(name: str, quick: bool) -> _Outcome:
    """In the process: measure one law."""
    from sensorium.qa.validation import all_checks

    (check,) = (check for check in all_checks() if check.name == name)
    result = run_check(check, quick=quick)
    return result.verdict, result.seconds, result.comparison, result.reason
