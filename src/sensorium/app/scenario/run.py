"""Runs a scenario: steps, writers, and a folder that appears when all is done."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from sensorium.app.scenario.document import Document, Files
from sensorium.app.scenario.live_run import LiveRun
from sensorium.app.scenario.manifest import NAME, Manifest, differences, hashed
from sensorium.app.scenario.outputs import Outputs
from sensorium.app.scenario.scenario import Scenario
from sensorium.core.errors import OutOfMemoryError, RecordError, SensoriumError, SpecError, StoppedError, in_one_line
from sensorium.environment import Environment
from sensorium.files.owned_folders import MARK, IsOwn, begin, check_removable, finish, held, remove
from sensorium.runtime import cluster
from sensorium.runtime.interrupts import InterruptsWait
from sensorium.scene.partition.part_files import is_part_file

REPORT = "report.html"

# Recorder and file or folder of each field of `Outputs` that has its own
_RECORDERS = {
    "mcap": ("McapRecorder", "run.mcap"),
    "signals": ("SignalRecorder", "signals"),
    "clouds": ("CloudRecorder", "clouds"),
    "images": ("ImageRecorder", "images"),
}

# Names in the folder that a run writes; everything else there belongs to the user
_OWN = {REPORT, NAME, *(name for _, name in _RECORDERS.values())}

# Place of the parts of a scene in their folder beside the results
_PARTS = "parts"

Progress = Callable[[float, float], None]
"""Called after each step with the simulated and the real time spent so far [s]."""


def _tell_nothing(simulated_s: float, real_s: float) -> None:
    pass


Observer = Callable[[Environment], None]
"""Called with the environment after each step."""


@dataclass(frozen=True)
class Run:
    """Result of a run.

    Attributes:
        folder: Where the files are.
        manifest: The scenario that was run, and the hashes.
        done_before: Whether the same run existed already, so that nothing was done.
    """

    folder: Path
    manifest: Manifest
    done_before: bool = False


def run(
    scenario: Scenario,
    out: Path,
    *,
    force: bool = False,
    progress: Progress = _tell_nothing,
    also: Sequence[Observer] = (),
    prepare: Callable[[], object] = lambda: None,
    added: Sequence[str] = (),
    live: LiveRun | None = None,
) -> Run:
    """Run a scenario into a folder.

    Everything is written into a folder beside it, `OUT.part`, which is renamed when the run is complete: a folder
    without `.part` is complete. If the same run exists already nothing is done, so that a series that was cut off
    continues; a live run is done again. Only one process writes a folder at a time; a second one is refused. Files that
    no run wrote are never removed: a run that would have to is refused.

    Args:
        scenario: The scenario to run.
        out: Folder for the results, which does not exist, is empty, or holds a run.
        force: Whether an existing run is replaced.
        progress: Called after every step.
        also: Further observers of every step; their output is not part of the run.
        prepare: Called before the first step, once it is clear that there is something to do and a place for it.
        added: Names of files that the caller adds to the folder of a complete run, which `force` replaces too.
        live: Sinks and clock of the run; None makes those of the scenario.
    """
    live = LiveRun(scenario.spec.live) if live is None else live
    out = out.resolve()
    standing(out)  # a path that cannot be an output folder is refused before anything is created
    with held(out):
        before = standing(out)
        if before is not None and force:
            check_removable(out, _written(before, added), marked=False)
            check_removable(_old(out), _own_in_old(out, added))
        with _in_parts(scenario, out) as parts_folder:
            env = scenario.environment(parts_folder)
            try:
                return _run(scenario, env, out, before, force, progress, also, prepare, added, live)
            finally:
                env.close()


def run_away(scenario: Scenario, place: Path, *, out: Path, before: Manifest | None, force: bool) -> Run:
    """Run a scenario on a machine that does not see the folder for its results.

    Args:
        scenario: The scenario to run; its scene is not partitioned.
        place: Folder of this machine that is written; it must not exist.
        out: Folder on the other machine that the files are for.
        before: The existing run.
        force: As for `run`.
    """
    env, live = scenario.environment(), LiveRun(None)
    try:
        return _run(scenario, env, place, before, force, _tell_nothing, (), lambda: None, (), live, out)
    finally:
        env.close()


def take_in(out: Path, copy: Callable[[Path], None]) -> None:
    """Put a run from elsewhere into its folder, and replace an existing run there.

    Args:
        out: The folder.
        copy: Writes all files of the run into a folder that is given.
    """
    out = out.resolve()
    with held(out):
        before = standing(out)
        if before is not None:
            check_removable(out, _written(before, ()), marked=False)
        part = out.with_name(out.name + ".part")
        begin(part, _is_own)
        copy(part)
        _put_in_place(part, out, ())


@contextmanager
def _in_parts(scenario: Scenario, out: Path) -> Iterator[Path | None]:
    """A cluster and a folder beside the results for a partitioned scene; None for other scenes."""
    if scenario.spec.scene.parts is None:
        yield None
        return
    folder = out.with_name(out.name + ".scene")
    begin(folder, _is_own_part)
    try:
        with cluster.joined():
            yield folder / _PARTS
    finally:
        remove(folder, _is_own_part)


def _is_own_part(path: PurePosixPath) -> bool:
    """Whether the parts of a run's scene, or of one that was being split, have a file of this path."""
    return path.parts[0] in (_PARTS, f"{_PARTS}.part") and is_part_file(PurePosixPath(*path.parts[1:]))


def _run(
    scenario: Scenario,
    env: Environment,
    out: Path,
    before: Manifest | None,
    force: bool,
    progress: Progress,
    also: Sequence[Observer],
    prepare: Callable[[], object],
    added: Sequence[str],
    live: LiveRun,
    out_elsewhere: Path | None = None,
) -> Run:
    """Run the environment of a scenario; see `run`."""
    world_step_ns = env.world.step_ns
    folder = os.path.relpath(scenario.files.folder, out_elsewhere or out)
    manifest = Manifest(scenario.data, Path(folder).as_posix(), scenario.files.hashes())
    is_same = before is not None and before.identity == manifest.identity
    if before is not None and is_same and not force and live.clock is None:
        if out_elsewhere is None:
            check_complete(before, out)
        return Run(out, before, done_before=True)
    if before is not None and is_same and not force:
        check_removable(out, _written(before, added), marked=False)
        check_removable(_old(out), _own_in_old(out, added))
    elif before is not None and not force:
        raise SpecError(
            f"--out is {str(out_elsewhere or out)!r}, which holds another run; name another folder, or replace it with "
            "--force"
        )

    part = out.with_name(out.name + ".part")
    begin(part, _is_own)
    try:
        prepare()
        figures = _record(scenario, env, part, progress, also, live)
    except MemoryError as error:
        raise OutOfMemoryError(
            f"out of memory at {env.time_s:g} of {scenario.spec.duration_s:g} s ({in_one_line(error)}); what there is "
            f"lies in {part.name!r}, where `sensorium recover` reads the recording"
        ) from None
    except SensoriumError:
        # Within its first step a run has no results to keep yet
        if env.time_ns <= world_step_ns:
            remove(part, _is_own)
        raise
    views = [REPORT] if scenario.spec.outputs.report else []
    manifest = replace(manifest, outputs=hashed(part, [*views, NAME]), views=views, run=figures)
    manifest.save(part)
    _put_in_place(part, out, added)
    return Run(out, manifest)


def check_complete(manifest: Manifest, out: Path) -> None:
    """Raise SpecError where a file of a complete run is gone."""
    missing = [name for name in (*manifest.views, *manifest.outputs) if not (out / name).is_file()]
    if missing:
        raise SpecError(f"--out is {str(out)!r}, whose run lacks {missing[0]!r} by now; do it again with --force")


def repeat(
    path: Path,
    out: Path,
    *,
    force: bool = False,
    allow_outside: bool = False,
    known: Sequence[Path] = (),
    progress: Progress = _tell_nothing,
) -> tuple[Run, list[str]]:
    """Repeat the run of a manifest.

    The scenario's folder, which the manifest names, must be in the current folder. Nothing is sent to other programs.

    Args:
        path: A manifest.
        out: Folder for the results, as for `run`.
        force: Likewise.
        allow_outside: Whether the scenario's folder may be anywhere, and files that it names outside of that folder.
        known: Further folders that may contain the scenario's, such as that of the gallery.
        progress: As for `run`.

    Returns:
        The run, and the names of those files that came out differently.
    """
    manifest = Manifest.load(path)
    folder = manifest.scenario_folder(path, None if allow_outside else [Path.cwd(), *known])
    files = Files(folder, allow_outside=allow_outside)
    for name in manifest.inputs:
        files.path(name, f"inputs of {path.name}")
    changed = differences(manifest.inputs, files.hashes())
    if changed:
        raise SpecError(
            f"{path.name}: {', '.join(changed)} changed since the run; to repeat it the files must be the same"
        )
    data = {key: value for key, value in manifest.scenario.items() if key != "live"}
    scenario = Scenario(Document(path.name, data, {}), Files(files.folder, allow_outside=allow_outside))
    done = run(scenario, out, force=force, progress=progress)
    return done, differences(manifest.outputs, done.manifest.outputs)


def _record(
    scenario: Scenario, env: Environment, folder: Path, progress: Progress, also: Sequence[Observer], live: LiveRun
) -> dict[str, object]:
    """Step to the end, with all requested writers; returns figures of the run."""
    spec = scenario.spec
    steps, readings = 0, Counter[str]()
    with ExitStack() as stack:
        with scenario.document.blamed("outputs"):
            recorders = [stack.enter_context(recorder) for recorder in _writers(spec.outputs, env, folder)]
        observers = [*also, *(recorder.record for recorder in recorders)]
        report = None
        if spec.outputs.report:
            from sensorium.view.report import Report

            report = stack.enter_context(Report(title=spec.title))
            observers.append(report.record)
        controllers = scenario.controllers(env)
        stop = stack.enter_context(InterruptsWait())
        began_s = time.perf_counter()
        for _ in stack.enter_context(closing(live.steps(env, spec.duration_s, stop))):
            for controller in controllers:
                controller.step(env)
            for observe in observers:
                observe(env)
            if stop.pressed:
                break
            steps += 1
            for name, sensor in env.sensors.items():
                readings[name] += len(sensor.readings())
            progress(env.time_s, time.perf_counter() - began_s)
        if stop.pressed:
            raise StoppedError(
                f"stopped at {env.time_s:g} of {spec.duration_s:g} s; what there is lies in {folder.name!r}, "
                "and the same command begins again",
                stop.pressed,
            )
        real_s = time.perf_counter() - began_s

    figures: dict[str, object] = {"steps": steps, "simulated_s": env.time_s, "real_s": round(real_s, 3)}
    figures["readings"] = {name: readings[name] for name in env.sensors}
    figures |= live.figures()
    if report is not None:
        recording = {"Recording": folder / _RECORDERS["mcap"][1]} if spec.outputs.mcap is not None else {}
        facts = {"Scenario": scenario.document.name, "Seed": spec.seed, **recording, "Manifest": folder / NAME}
        report.save(folder / REPORT, facts=facts)
    return figures


def _writers(outputs: Outputs, env: Environment, folder: Path) -> Iterator[Any]:
    """The requested recorders of sensor readings."""
    from sensorium import record

    for field, (recorder, name) in _RECORDERS.items():
        options = getattr(outputs, field)
        if options is not None:
            yield getattr(record, recorder)(folder / name, **options.model_dump())


def standing(out: Path) -> Manifest | None:
    """The run that a folder holds already, if any; a folder of anything else is refused, and what can be none."""
    try:
        out.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        shown = f"{str(out)[:60]!r}, of {len(str(out))} characters" if len(str(out)) > 200 else repr(str(out))
        raise SpecError(f"--out is {shown}, which cannot be looked at: {error.strerror}") from None
    if not out.is_dir():
        raise SpecError(f"--out is {str(out)!r}, a file; it must be a folder or a new name")
    if (out / NAME).is_file():
        return Manifest.load(out / NAME)
    if any(out.iterdir()):
        raise SpecError(f"--out is {str(out)!r}, which holds files that are no run; it must be empty or a new name")
    return None


def _is_own(path: PurePosixPath) -> bool:
    """Whether a run wrote a file of this path in its folder, or was writing it (`files.atomic`)."""
    is_partial = len(path.parts) == 1 and path.name.startswith(".") and path.name.endswith(".part")
    return path.parts[0] in _OWN or is_partial


def _written(manifest: Manifest, added: Sequence[str]) -> IsOwn:
    """Files of a complete run's folder that are the run's own: those that its manifest names, and added ones."""
    names = {NAME, *manifest.views, *manifest.outputs}
    return lambda path: str(path) in added or (_is_own(path) and str(path) in names)


def _old(out: Path) -> Path:
    """Temporary place of the old run while another replaces it."""
    return out.with_name(out.name + ".old")


def _own_in_old(out: Path, added: Sequence[str]) -> IsOwn:
    manifest = _old(out) / NAME
    return _written(Manifest.load(manifest), added) if manifest.is_file() else _is_own


def _put_in_place(part: Path, out: Path, added: Sequence[str]) -> None:
    """Move a complete folder to its name; an existing one is removed only after that."""
    old = _old(out)
    try:
        if out.exists() and not any(out.iterdir()):
            out.rmdir()
        elif out.exists():
            _remove_old(out, added)
            (out / MARK).touch()
            out.rename(old)
        finish(part, out)
        _remove_old(out, added)
    except OSError as error:
        raise RecordError(f"{str(part)!r} is complete but cannot be moved to {out.name!r}: {error.strerror}") from None


def _remove_old(out: Path, added: Sequence[str]) -> None:
    """Remove the run that another has replaced, where a run of ours put it."""
    if (_old(out) / MARK).is_file():
        remove(_old(out), _own_in_old(out, added))
