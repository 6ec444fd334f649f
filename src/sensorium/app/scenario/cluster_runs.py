"""Runs as tasks of a Ray cluster.

A run is a function of its scenario and its files, written into a folder that appears when it is complete. So a task
whose machine dies is given to another, which begins the run again, and a series that was cut off is continued: runs
that exist are not repeated. Before anything runs all nodes are checked (`node_check`): each must find the scenario's
files under the same paths. A node that does not see the output folder writes to its own disk, and the results are
fetched.
"""

import contextlib
import hashlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from sensorium.app.node_check import Checked, check_nodes
from sensorium.app.scenario.document import Document, Files
from sensorium.app.scenario.manifest import NAME, Manifest
from sensorium.app.scenario.run import Run, check_complete, run, run_away, standing, take_in
from sensorium.app.scenario.run_distribution import Dealt, deal
from sensorium.app.scenario.scenario import Scenario
from sensorium.app.scenario.sweep import Case, begin_series
from sensorium.core.errors import BackendError, RecordError, SensoriumError, SpecError, in_one_line
from sensorium.environment import Environment
from sensorium.files.plain_files import sha256
from sensorium.runtime import cluster, worker_pool
from sensorium.runtime.cluster import answers, nodes
from sensorium.runtime.cluster.nodes import Node
from sensorium.runtime.kernel_folders import cache_folder
from sensorium.scene import shapes
from sensorium.scene.partition.split import split_scene
from sensorium.scene.scene import SceneObject
from sensorium.tracing.partitioned.part import Part

Tell = Callable[[str], None]
"""Called for events before the runs, with a line each."""


def run_on_cluster(
    scenario: Scenario, out: Path, *, force: bool = False, skip_nodes: bool = False, tell: Tell = lambda line: None
) -> Run:
    """Run a scenario on some machine of the cluster that this process has joined.

    Args:
        scenario: The scenario to run.
        out: Folder for the results, as for `run`.
        force: Likewise.
        skip_nodes: Whether nodes that differ from this machine are left out instead of refused.
        tell: Called for excluded nodes, and before kernels are compiled.
    """
    ray = cluster.running()
    places = _checked(ray, [scenario], out, skip_nodes, tell)
    if scenario.spec.scene.parts is not None:
        _compile(ray, places, scenario, tell)
    ((_, done),) = _dealt(ray, places, {"": scenario}, out, force)
    return done


def sweep_on_cluster(
    series: Sequence[Case],
    out: Path,
    *,
    force: bool = False,
    skip_nodes: bool = False,
    tell: Tell = lambda line: None,
) -> Iterator[tuple[Case, Run]]:
    """Run a series, as many runs at once as the cluster has cores; each is handed out when it is complete.

    The folder is checked and created at once; the runs begin when the first result is requested.

    Args:
        series: The series to run.
        out: Folder for all of them, as for `sweep`.
        force: Whether existing runs are replaced.
        skip_nodes: Whether nodes that differ from this machine are left out instead of refused.
        tell: Called for excluded nodes, and before kernels are compiled.
    """
    ray = cluster.running()
    places = _checked(ray, [case.scenario for case in series], out, skip_nodes, tell)
    lock = begin_series(series, out, force=force)
    return _begun(lock, ray, places, series, out, force, tell)


def _begun(
    lock: ExitStack, ray: Any, places: list[Checked], series: Sequence[Case], out: Path, force: bool, tell: Tell
) -> Iterator[tuple[Case, Run]]:
    """Runs as they end; active ones are canceled with the loop."""
    with lock:
        _compile(ray, places, series[0].scenario, tell)
        by_folder = {case.folder: case for case in series}
        scenarios = {case.folder: case.scenario for case in series}
        for folder, done in _dealt(ray, places, scenarios, out, force):
            yield by_folder[folder], done


def _checked(ray: Any, scenarios: Sequence[Scenario], out: Path, skip: bool, tell: Tell) -> list[Checked]:
    """The nodes that can do these runs."""
    for scenario in scenarios:
        scenario.check_not_live("a run on a cluster")
    reads = sorted({path for scenario in scenarios for path in _named_files(scenario)})
    places = check_nodes(ray, reads=reads, out=out, skip=skip, tell=tell)
    apart = [place.node.name for place in places if not place.sees_out]
    if apart and any(scenario.spec.scene.parts is not None for scenario in scenarios):
        raise SpecError(
            f"--out is {str(out)!r}, which {', '.join(apart)} cannot see, and the scene is in parts, which lie beside "
            "the results; it must be on a disk that all nodes share"
        )
    if apart:
        tell(f"results are fetched from {', '.join(apart)}: --out {str(out)!r} is not shared with them")
    return places


def _named_files(scenario: Scenario) -> Iterator[Path]:
    """Files of the scenario's folder that it names."""
    pending: list[Any] = [scenario.data]
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            pending += value.values()
        elif isinstance(value, list | tuple):
            pending += value
        elif isinstance(value, str) and 0 < len(value) < 1000 and "\0" not in value:
            path = scenario.files.folder / value
            try:
                if path.is_file():
                    yield path.resolve()
            except OSError:
                continue


def _compile(ray: Any, places: Sequence[Checked], scenario: Scenario, tell: Tell) -> None:
    """Compile the kernels of a scenario, once a node."""
    task = ray.remote(_compile_there)
    asked = {
        task.options(num_cpus=0, scheduling_strategy=nodes.only_on(place.node)).remote(*_sent(scenario)): place
        for place in places
        if place.node.cpus
    }
    for each, place in asked.items():
        try:
            kernels, took_s = answers.answer(ray, each)
        except ray.exceptions.RayTaskError as error:
            raise _named(error.cause, place.node.name) from None
        except ray.exceptions.RayError:
            continue  # the runs compile any kernels that are missing
        if kernels:
            tell(f"{place.node.name} compiled {kernels} kernels in {took_s:.0f} s, before its first run")


def _dealt(
    ray: Any, places: Sequence[Checked], scenarios: Mapping[str, Scenario], out: Path, force: bool
) -> Iterator[tuple[str, Run]]:
    """Runs as they end, by the names of their folders."""
    out = out.resolve()
    at_once = sum(place.node.cpus for place in places)
    cores = max(1, min(at_once // len(scenarios), max(place.node.cpus for place in places)))
    task = ray.remote(_run)
    known: dict[Path, str] = {}

    def start(folder: str, place: Checked) -> Any:
        before = None if place.sees_out else standing(out / folder)
        arguments = (*_sent(scenarios[folder]), str(out / folder), force, cores, nodes.left_out())
        options = {"num_cpus": cores, "max_retries": 0, "scheduling_strategy": nodes.only_on(place.node)}
        return task.options(**options).remote(*arguments, place.sees_out, before)

    def finish(dealt: Dealt, done: Run) -> Run:
        target = out / dealt.key
        if not dealt.place.sees_out and done.done_before:
            check_complete(done.manifest, target)
        elif not dealt.place.sees_out:
            gather(ray, dealt.place.node, done.folder, done.manifest, target)
        elif standing(target) is None:
            raise BackendError(f"{dealt.place.node.name} says that {str(target)!r} is complete, and it is not here")
        _check_inputs(scenarios[dealt.key], done.manifest, dealt.place.node.name, known)
        return Run(target, done.manifest, done.done_before)

    def blame(error: BaseException, place: Checked) -> BaseException:
        return error if place.node.is_own else _named(error, place.node.name)

    yield from deal(ray, list(scenarios), places, cores, start=start, finish=finish, blame=blame)


def _check_inputs(scenario: Scenario, manifest: Manifest, host: str, known: dict[Path, str]) -> None:
    """Refuse a run that read other files than are here, such as one that a model includes."""
    for name, read in manifest.inputs.items():
        path = scenario.files.folder / name
        if path not in known:
            known[path] = sha256(path) if path.is_file() else ""
        if known[path] not in ("", read):
            raise BackendError(f"{host} read another {str(path)!r} than is here; copy it there, and do the run again")


def _named(error: BaseException, host: str) -> BaseException:
    """An error of ours with the machine that it happened on; others as they are."""
    return type(error)(f"on {host}: {error}") if isinstance(error, SensoriumError) else error


def _sent(scenario: Scenario) -> tuple[Document, str, bool]:
    """A scenario in the form that is sent."""
    return scenario.document, str(scenario.files.folder), scenario.files.allow_outside


def _received(document: Document, folder: str, allow_outside: bool) -> Scenario:
    return Scenario(document, Files(Path(folder), allow_outside=allow_outside))


def _compile_there(document: Document, folder: str, allow_outside: bool) -> tuple[int, float]:
    """Body of a task that compiles."""
    return compile_kernels_of(_received(document, folder, allow_outside))


def _run(
    document: Document,
    folder: str,
    allow_outside: bool,
    out: str,
    force: bool,
    cores: int,
    left_out: frozenset[str],
    sees_out: bool,
    before: Manifest | None,
) -> Run:
    """Body of a task that runs, in a process of its own."""
    worker_pool.set_threads(cores)
    nodes.leave_out(left_out)
    scenario = _received(document, folder, allow_outside)
    if sees_out:
        return run(scenario, Path(out), force=force)
    place = new_place()
    try:
        done = run_away(scenario, place, out=Path(out), before=before, force=force)
    except BaseException:
        remove_place(str(place))
        raise
    if done.done_before:
        remove_place(str(place))
    return done


# Longest wait for the first reading of a sensor, in simulated time [s]
_LONGEST_S = 1.0


class _EnoughError(Exception):
    """Everything was used once."""


def compile_kernels_of(scenario: Scenario) -> tuple[int, float]:
    """Run the beginning of a scenario, only to compile its kernels; for a partitioned scene, those of its parts.

    Returns:
        Number of compiled kernels, and the time it took [s].
    """
    reported: set[str] = set()

    def end_when_all_reported(env: Environment) -> None:
        reported.update(name for name, sensor in env.sensors.items() if sensor.readings())
        if len(reported) == len(env.sensors) or env.time_s >= _LONGEST_S:
            raise _EnoughError

    began_s, before = time.perf_counter(), _compiled()
    with tempfile.TemporaryDirectory(prefix="sensorium-compile-") as folder:
        if scenario.spec.scene.parts is None:
            with contextlib.suppress(_EnoughError):
                run(scenario, Path(folder) / "run", also=[end_when_all_reported])
        else:
            split_scene([SceneObject(shapes.box(1.0, 1.0, 1.0))], Path(folder) / "parts", parts=1)
            Part(str(Path(folder) / "parts"), 0, 1.0)
    return max(0, _compiled() - before), time.perf_counter() - began_s


def _compiled() -> int:
    return len(list(cache_folder().glob("*.nbc")))


# Size of a message [bytes]
_CHUNK = 1 << 25

_PREFIX = "sensorium-run-"


def new_place() -> Path:
    """A folder of this machine that is not there yet, for a run whose results are fetched."""
    return Path(tempfile.mkdtemp(prefix=_PREFIX)) / "run"


def gather(ray: Any, node: Node, place: Path, manifest: Manifest, out: Path) -> None:
    """Fetch a run from a node, and remove it there.

    Args:
        ray: The module, in a cluster.
        node: Where it is.
        place: Its folder there.
        manifest: Of the run, whose hashes the files must have.
        out: Folder for it here.
    """
    on_node = {"num_cpus": 0, "scheduling_strategy": nodes.only_on(node)}
    read = ray.remote(_read).options(**on_node)

    def copy(folder: Path) -> None:
        for name in (*manifest.outputs, *manifest.views, NAME):
            target, digest, at = folder / name, hashlib.sha256(), 0
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as file:
                while True:
                    try:
                        data: bytes = answers.answer(ray, read.remote(str(place / name), at))
                    except ray.exceptions.RayTaskError as error:
                        where = f"{str(place / name)!r} of {node.name}"
                        raise RecordError(f"{where} cannot be fetched: {in_one_line(error.cause)}") from None
                    file.write(data)
                    digest.update(data)
                    at += len(data)
                    if len(data) < _CHUNK:
                        break
            if digest.hexdigest() != manifest.outputs.get(name, digest.hexdigest()):
                raise RecordError(f"{str(place / name)!r} of {node.name} did not arrive as it was written")

    take_in(out, copy)
    answers.answer(ray, ray.remote(remove_place).options(**on_node).remote(str(place)))


def remove_place(place: str) -> None:
    """Remove a folder that `new_place` named, and no other."""
    made = Path(place).parent
    if made.name.startswith(_PREFIX):
        shutil.rmtree(made, ignore_errors=True)


def _read(path: str, at: int) -> bytes:
    with Path(path).open("rb") as file:
        file.seek(at)
        return file.read(_CHUNK)
