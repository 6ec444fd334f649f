"""Runs as tasks of a Ray cluster.

A run is a function of its scenario and its files, written into a folder that appears when it is complete. So a task
whose machine dies is simply given to another, which begins the run again, and a series that was cut off goes on where
it was: what stands there is not done a second time. Every machine must find the scenario's folder and the folder for
results under the same path.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from sensorium import cluster, threads
from sensorium.errors import BackendError
from sensorium.scenario.document import Document
from sensorium.scenario.files import Files
from sensorium.scenario.run import Run, run
from sensorium.scenario.scenario import Scenario
from sensorium.scenario.sweep import Case, begin_series

# How often a run is given to another process when its own has died
_RETRIES = 5


def run_on_cluster(scenario: Scenario, out: Path, *, force: bool = False) -> Run:
    """Run a scenario on some machine of the cluster that this process has joined.

    Args:
        scenario: What to run.
        out: Folder for the results, as for `run`.
        force: Likewise.
    """
    ray = cluster.running()
    return _answer(ray, _asked(ray, scenario, out, force, tasks=1), out)


def sweep_on_cluster(series: Sequence[Case], out: Path, *, force: bool = False) -> Iterator[tuple[Case, Run]]:
    """Run a series, as many runs at once as the cluster has cores; each is handed out when it is complete.

    The folder is checked and made at once; the runs begin when the first is asked for.

    Args:
        series: What to run.
        out: Folder for all of them, as for `sweep`.
        force: Whether runs that stand there are replaced.
    """
    ray = cluster.running()
    lock = begin_series(series, out, force=force)
    return _begun(lock, ray, series, out, force)


def _begun(lock: ExitStack, ray: Any, series: Sequence[Case], out: Path, force: bool) -> Iterator[tuple[Case, Run]]:
    """Runs as they end; those under way are ended with the loop."""
    with lock:
        yield from _side_by_side(ray, series, out, force)


def _side_by_side(ray: Any, series: Sequence[Case], out: Path, force: bool) -> Iterator[tuple[Case, Run]]:
    under_way = {_asked(ray, case.scenario, out / case.folder, force, tasks=len(series)): case for case in series}
    try:
        while under_way:
            (answered,), _ = ray.wait(list(under_way), num_returns=1)
            case = under_way.pop(answered)
            yield case, _answer(ray, answered, out / case.folder)
    finally:
        for left in under_way:
            ray.cancel(left, force=True)


def _asked(ray: Any, scenario: Scenario, out: Path, force: bool, *, tasks: int) -> Any:
    """A task under way; cores are shared out evenly, and a task has no more than a machine has."""
    machines = [node["Resources"].get("CPU", 0.0) for node in ray.nodes() if node["Alive"]]
    cores = max(1, int(min(sum(machines) / tasks, max(machines))))
    task = ray.remote(_run).options(num_cpus=cores, max_retries=_RETRIES)
    files = scenario.files
    return task.remote(scenario.document, str(files.folder), files.allow_outside, str(out.resolve()), force, cores)


def _run(document: Document, folder: str, allow_outside: bool, out: str, force: bool, cores: int) -> Run:
    """What a task does, in a process of its own."""
    threads.set_threads(cores)
    return run(Scenario(document, Files(Path(folder), allow_outside=allow_outside)), Path(out), force=force)


def _answer(ray: Any, answered: Any, out: Path) -> Run:
    """The run of a task, or its error as our own."""
    try:
        done: Run = ray.get(answered)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[-1]
        raise BackendError(f"the run for {str(out)!r} died {_RETRIES + 1} times: {reason}") from None
    return done
