"""`sensorium demo`: the gallery's drive round the yard, with pictures of the lidar's scans."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from sensorium.app.commands.run import ProgressLine, print_run, progress_bar
from sensorium.app.commands.terminal import Terminal, size_of
from sensorium.core.errors import SpecError

if TYPE_CHECKING:
    from sensorium.qa.demo.pictures import SweepLog

SCENARIO, LIDAR = "yard-drive", "roof"

# One sweep of the lidar [s]
_SHORTEST_S = 0.1


def demo(
    out: Annotated[
        Path, typer.Option(help="Folder for the results; a drive that stands there already is replaced.")
    ] = Path("sensorium-demo"),
    seconds: Annotated[float, typer.Option(help="Simulated time in seconds.")] = 4.0,
) -> None:
    """Drive a van with lidar, IMU and wheel encoders round a yard with fog, glass and a mirror; write what they saw."""
    from sensorium.app.gallery import path_of
    from sensorium.app.scenario.precompile import precompile
    from sensorium.app.scenario.run import run
    from sensorium.app.scenario.scenario import Scenario
    from sensorium.qa.demo import pictures

    if not _SHORTEST_S <= seconds < math.inf:
        raise SpecError(f"--seconds is {seconds}; it must be finite and at least {_SHORTEST_S}, one sweep")
    path, values = path_of(SCENARIO), {"duration_s": seconds}
    scenario = Scenario.load(path, values)
    _refuse_another_run(out, scenario.spec.title)
    log, console = pictures.SweepLog(LIDAR, seconds), Terminal()
    with progress_bar(console) as bar, precompile(scenario, path, values) as prepare:
        line = ProgressLine(bar, scenario.spec.title, seconds)
        done = run(scenario, out, force=True, progress=line, also=[log.record], prepare=prepare, added=pictures.NAMES)
    with console.status("Drawing", spinner="line"):
        files = pictures.write(log, done.folder)
    _print_seen(console, log)
    print_run(console, done)
    _print_rates(console, log, files)


def _refuse_another_run(out: Path, title: str) -> None:
    """Raise if a folder holds a run of something else, which would be lost."""
    from sensorium.app.scenario.run import standing

    before = standing(out)
    if before is not None and before.scenario.get("title") != title:
        raise SpecError(f"--out is {str(out)!r}, which holds the run of another scenario; it must be another folder")


def _print_seen(console: Console, log: "SweepLog") -> None:
    """Number of rays by label."""
    seen = Table(title="What the lidar saw", title_justify="left", title_style="bold")
    seen.add_column("label")
    seen.add_column("returns", justify="right")
    seen.add_column("share of rays", justify="right")
    rows = [*sorted(log.returns.items(), key=lambda item: -item[1])]
    rows.append(("(no return)", log.rays - sum(log.returns.values())))
    for name, count in rows:
        seen.add_row(name, f"{count:,}", f"{100.0 * count / log.rays:.2f} %")
    seen.add_section()
    seen.add_row("rays", f"{log.rays:,}", "")
    console.print()
    console.print(seen)


def _print_rates(console: Console, log: "SweepLog", files: list[Path]) -> None:
    """Location of the pictures, and the speed once everything was compiled."""
    figures = Table.grid(padding=(0, 2))
    for file in files:
        figures.add_row("wrote", f"{file} ({size_of(file)})")
    sweeps, simulated_s, real_s = log.since_first
    if sweeps:
        rays_per_s = sweeps * log.rays / log.sweeps / real_s
        figures.add_row("sweep rate", f"{sweeps / real_s:.1f} per second of real time, recording included")
        figures.add_row("ray rate", f"{rays_per_s / 1e6:.1f} million rays per second")
        figures.add_row("real-time factor", f"{simulated_s / real_s:.1f}")
    console.print(figures, soft_wrap=True, highlight=False)
