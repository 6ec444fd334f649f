"""`sensorium run`: a scenario file, into a folder of results."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column, Table
from rich.text import Text

from sensorium.app.commands.terminal import Terminal, size_of
from sensorium.core.errors import SpecError, fit_for_a_terminal
from sensorium.runtime import compile_notice

# Most files listed by name; beyond that only their number is printed
_LISTED = 12

if TYPE_CHECKING:
    from sensorium.app.scenario.run import Run
    from sensorium.app.scenario.scenario import Scenario
    from sensorium.app.scenario.sweep import Case


def run(
    file: Annotated[
        str,
        typer.Argument(
            help="Scenario file; or a manifest.json, to repeat its run; or the name of a scenario of the gallery.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results; by default NAME-run in the current one.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed instead of the scenario's.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="key=value instead of the scenario's, such as sensors.imu.enabled=false; repeatable."
        ),
    ] = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option("--sweep", help="key=a,b,c: a run for each value; several give all combinations."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what stands in the folder.")] = False,
    allow_outside: Annotated[
        bool,
        typer.Option("--allow-outside", help="The scenario may name files outside its folder, and a manifest any."),
    ] = False,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="local|ADDRESS",
            help="Run on a Ray cluster, the runs of a sweep side by side: its address, or local to start one here, "
            "which nobody else can reach.",
        ),
    ] = None,
    live: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME",
            help="Send readings to other programs while it runs, at real time: foxglove and others, see docs/live.md.",
        ),
    ] = None,
    speed: Annotated[
        str | None,
        typer.Option(metavar="X|max", help="Simulated over real time of a live run; max steps as fast as possible."),
    ] = None,
    pcap: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the packets of lidars as a capture, see docs/live.md.")
    ] = None,
    skip_nodes: Annotated[
        bool,
        typer.Option("--skip-nodes", help="Leave out nodes of the cluster that differ from this machine."),
    ] = False,
) -> None:
    """Run a scenario: step its world, let its sensors measure, and write recording, report and manifest."""
    from sensorium.app.commands.live_console import live_console, live_values, live_words
    from sensorium.app.gallery import scenario_file
    from sensorium.app.scenario.live_run import LiveRun
    from sensorium.app.scenario.override import assigned, swept
    from sensorium.app.scenario.precompile import precompile
    from sensorium.app.scenario.run import run as run_scenario
    from sensorium.app.scenario.scenario import Scenario

    console = Terminal()
    path = scenario_file(file)
    if skip_nodes and cluster is None:
        raise SpecError("--skip-nodes is given without --cluster, whose nodes it is about")
    if path.name == "manifest.json":
        if seed is not None or set_ or sweep or live or speed or pcap:
            options_ = "--seed, --set, --sweep, --live, --speed and --pcap"
            raise SpecError(f"FILE is {file!r}, a manifest; {options_} would make it another run")
        if cluster is not None:
            raise SpecError(f"FILE is {file!r}, a manifest, and --cluster is {cluster!r}; a run is repeated here only")
        _repeat(console, path, _folder(out, path.parent), force, allow_outside)
        return

    # If one key is given twice, the last counts
    values: dict[str, Any] = dict(assigned(text, "--set") for text in set_ or [])
    options: dict[str, str] = {}
    sinks = live_values(live, speed, path, pcap)
    values = sinks | values
    named = {"live.speed": "--speed", "live.pcap.path": "--pcap"}
    options |= {key: named.get(key, "--live") for key in sinks}
    if seed is not None:
        values["seed"], options["seed"] = seed, "--seed"

    def load(case: Mapping[str, Any]) -> Scenario:
        given_by = options | dict.fromkeys(case, "--sweep")
        return Scenario.load(path, {**values, **case}, options=given_by, allow_outside=allow_outside)

    target = _folder(out, path)
    if sweep:
        listed = [swept(text) for text in sweep]
        keys = dict(listed)
        if len(keys) < len(listed):
            raise SpecError(f"--sweep goes over {', '.join(key for key, _ in listed)}; each key must stand once")
        _sweep(console, load, keys, target, force, cluster, skip_nodes)
    elif cluster is not None:
        from sensorium.app.scenario.cluster_runs import run_on_cluster
        from sensorium.runtime.cluster import joined

        scenario = load({})
        with joined(cluster), console.status(f"{scenario.spec.title}, on the cluster"):
            done = run_on_cluster(scenario, target, force=force, skip_nodes=skip_nodes, tell=_told)
        print_run(console, done)
    else:
        scenario = load({})
        sending = LiveRun(scenario.spec.live)
        with progress_bar(console) as bar, precompile(scenario, path, values) as prepare:
            line = ProgressLine(bar, scenario.spec.title, scenario.spec.duration_s, lambda: live_words(sending))
            with live_console(console, sending, scenario.files.folder, line.show):
                done = run_scenario(scenario, target, force=force, progress=line, prepare=prepare, live=sending)
            print_run(console, done)


def _folder(out: Path | None, path: Path) -> Path:
    return Path(f"{path.stem if path.stem != 'scenario' else path.parent.name}-run") if out is None else out


def _repeat(console: Console, path: Path, out: Path, force: bool, allow_outside: bool) -> None:
    from sensorium.app import gallery
    from sensorium.app.scenario.manifest import Manifest, differences
    from sensorium.app.scenario.run import repeat
    from sensorium.core.versions import installed_versions

    manifest = Manifest.load(path)
    with progress_bar(console) as bar:
        line = ProgressLine(bar, "Repeating", float(manifest.run["simulated_s"]))
        known = [gallery.FOLDER]
        done, different = repeat(path, out, force=force, allow_outside=allow_outside, known=known, progress=line)
    print_run(console, done)
    if different:
        other = differences(manifest.versions, installed_versions())
        why = f" (other versions of {', '.join(other)})" if other else ""
        console.print(f"not the same: {', '.join(different)}{why}", highlight=False, markup=False)
        raise typer.Exit(1)
    console.print(
        f"the same: all {len(done.manifest.outputs)} files have the hashes of {path}", highlight=False, markup=False
    )


def _sweep(
    console: Console,
    load: "Callable[[Mapping[str, Any]], Scenario]",
    keys: Mapping[str, list[Any]],
    out: Path,
    force: bool,
    cluster: str | None,
    skip_nodes: bool,
) -> None:
    from sensorium.app.scenario.sweep import cases

    series = cases(load, keys)
    table = Table(title=f"{len(series)} runs in {out}", title_justify="left", title_style="bold")
    for heading in (*keys, "folder", "real s", ""):
        table.add_column(heading)
    if cluster:
        runs = _side_by_side(console, series, out, force, cluster, skip_nodes)
    else:
        runs = _in_turn(console, series, out, force)
    for case, done in runs:
        note = "was there" if done.done_before else ""
        table.add_row(*map(str, case.values.values()), case.folder, f"{done.manifest.run['real_s']:.2f}", note)
    console.print(table)


def _in_turn(console: Console, series: "Sequence[Case]", out: Path, force: bool) -> "Iterator[tuple[Case, Run]]":
    """Run a series here, one after the other."""
    from sensorium.app.scenario.sweep import sweep

    with progress_bar(console) as bar:
        tasks: dict[str, Callable[[float, float], None]] = {}

        def report(case: "Case", simulated_s: float, real_s: float) -> None:
            if case.folder not in tasks:
                tasks[case.folder] = ProgressLine(bar, case.folder, case.scenario.spec.duration_s)
            tasks[case.folder](simulated_s, real_s)

        yield from zip(series, sweep(series, out, force=force, progress=report), strict=True)


def _side_by_side(
    console: Console, series: "Sequence[Case]", out: Path, force: bool, cluster: str, skip_nodes: bool
) -> "Iterator[tuple[Case, Run]]":
    """Run a series on a cluster; runs are printed as they end, and listed in the order of the series."""
    from sensorium.app.scenario.cluster_runs import sweep_on_cluster
    from sensorium.runtime.cluster import joined

    found: dict[str, Run] = {}
    with joined(cluster), console.status(f"{len(series)} runs on the cluster") as status:
        for case, done in sweep_on_cluster(series, out, force=force, skip_nodes=skip_nodes, tell=_told):
            found[case.folder] = done
            status.update(f"{len(found)} of {len(series)} runs are done")
    yield from ((case, found[case.folder]) for case in series)


def _told(line: str) -> None:
    """Prints events before runs on a cluster to the place of warnings."""
    print(f"sensorium: {fit_for_a_terminal(line)}", file=sys.stderr, flush=True)


@contextmanager
def progress_bar(console: Console) -> Iterator[Progress]:
    """A bar of simulated time and its ratio to real time, in 80 columns; it says which kernel is being compiled."""
    bar = Progress(
        TextColumn("{task.description}", markup=False, table_column=Column(max_width=28, no_wrap=True)),
        BarColumn(bar_width=12),
        TextColumn("{task.fields[figures]}", table_column=Column(no_wrap=True)),
        console=console,
        transient=True,
        disable=not console.is_interactive,  # or it would leave an empty line in a file
    )

    def show(kernel: str | None, elapsed_s: float) -> None:
        for task in bar.task_ids:
            bar.update(task, figures="" if kernel is None else f"compiles {kernel:.20}, {elapsed_s:.0f} s")

    with bar, nullcontext() if bar.disable else compile_notice.shown_by(show):
        yield bar


class ProgressLine:
    """A line in a progress bar; called with simulated and real time [s], it moves on, at most 20 times a second."""

    def __init__(self, bar: Progress, title: str, duration_s: float, more: "Callable[[], str]" = str) -> None:
        """Add it; `more` gives further words."""
        self._bar, self._duration_s, self._more = bar, duration_s, more
        self._task = bar.add_task(title, start=False, total=duration_s, figures="a first run compiles")
        self._shown_s = self._simulated_s = self._real_s = 0.0

    def __call__(self, simulated_s: float, real_s: float) -> None:
        """Move on."""
        self._simulated_s, self._real_s = simulated_s, real_s
        now_s = time.perf_counter()
        if now_s - self._shown_s > 0.05 or simulated_s >= self._duration_s:
            self._shown_s = now_s
            self.show()

    def show(self) -> None:
        """Show the time now."""
        self._bar.start_task(self._task)
        factor = self._simulated_s / max(self._real_s, 1e-9)
        figures = f"{self._simulated_s:.2f} of {self._duration_s:.2f} s, {factor:.2f} x real time{self._more()}"
        self._bar.update(self._task, completed=self._simulated_s, figures=figures)


def print_run(console: Console, done: "Run") -> None:
    """Number of readings, duration, and location of the results."""
    from sensorium.app.scenario.manifest import NAME

    manifest = done.manifest
    figures = Table.grid(padding=(0, 2))
    if done.done_before:
        figures.add_row("note", "this very run stood there already; nothing was done (--force does it again)")
    for name, count in manifest.run["readings"].items():
        figures.add_row(Text(name), f"{count:,} readings")
    simulated_s, real_s = manifest.run["simulated_s"], manifest.run["real_s"]
    figures.add_row("steps", f"{manifest.run['steps']:,}")
    figures.add_row(
        "time", f"{simulated_s:g} s simulated in {real_s:.2f} s, {simulated_s / max(real_s, 1e-9):.2f} x real time"
    )
    if sent := manifest.run.get("live"):
        for name, counts in sent["sinks"].items():
            figures.add_row(Text(name), f"{counts['sent']:,} sent, {counts['dropped']:,} dropped")
        figures.add_row("pace", f"at most {sent['most_behind_s']:g} s behind")
    files = [*manifest.views, NAME, *manifest.outputs]
    for name in files[:_LISTED]:
        figures.add_row("wrote", Text(f"{done.folder / name} ({size_of(done.folder / name)})"))
    if len(files) > _LISTED:
        figures.add_row("", f"and {len(files) - _LISTED} more files")
    console.print(figures, soft_wrap=True, highlight=False)
