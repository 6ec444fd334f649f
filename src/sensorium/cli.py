"""The command line: `sensorium demo`, `sensorium bench`."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from sensorium import __version__
from sensorium.errors import SensoriumError, SpecError

if TYPE_CHECKING:
    from sensorium.demo.drive import Drive

app = typer.Typer(
    help="What a robot's sensors would report.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line; an error that Sensorium raises on purpose is one line and exit code 2."""
    try:
        app()
    except SensoriumError as error:
        print(f"sensorium: {error}", file=sys.stderr)
        raise SystemExit(2) from None


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"sensorium {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop."),
    ] = False,
) -> None:
    """What a robot's sensors would report."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the results; made if it does not exist.")] = Path(
        "sensorium-demo"
    ),
    seconds: Annotated[float, typer.Option(help="Simulated time in seconds.")] = 4.0,
    light: Annotated[
        bool, typer.Option("--light", help="Follow the light: fog, glass, a mirror and its ghosts, noise.")
    ] = False,
) -> None:
    """Drive a van with a 128-channel lidar round a built-in yard, and write pictures and a point cloud."""
    from sensorium.demo import drive

    _make_folder(out)
    console = Console()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("simulated {task.completed:.2f} of {task.total:.2f} s, real {task.fields[real_s]:.2f} s"),
        console=console,
    )
    with bar:
        waiting = f"Preparing (the first run compiles, about {60 if light else 15} s)"
        task = bar.add_task(waiting, total=seconds, real_s=0.0)

        def show(simulated_s: float, real_s: float) -> None:
            bar.update(task, description="Driving round the yard", completed=simulated_s, real_s=real_s)

        result = drive.drive(seconds, light=light, progress=show)
    with console.status("Drawing", spinner="line"):
        files = drive.write(result, out)
    _print_summary(console, result, files)


@app.command()
def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and smaller runs.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="JSON file for the figures; by default they are only printed.")
    ] = None,
) -> None:
    """Measure how fast this machine senses; exit code 1 says that a target was missed."""
    from sensorium.benchmarks import run

    if not run.main(quick=quick, out=out):
        raise typer.Exit(1)


def _make_folder(folder: Path) -> None:
    """Make a folder, or say why it cannot hold results before time is spent on them."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise SpecError(f"--out is {str(folder)!r}, a file; it must be a folder or a new name") from None
    except OSError as error:
        raise SpecError(f"--out is {str(folder)!r}, which cannot be made: {error.strerror}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SpecError(f"--out is {str(folder)!r}; it must be a folder that you may write to")


def _print_summary(console: Console, result: "Drive", files: list[Path]) -> None:
    """What was seen, how fast, and where it is."""
    seen = Table(title="What the lidar saw", title_justify="left", title_style="bold")
    seen.add_column("label")
    seen.add_column("returns", justify="right")
    seen.add_column("share of rays", justify="right")
    rows = [*sorted(result.returns.items(), key=lambda item: -item[1])]
    rows.append(("(no return)", result.rays - sum(result.returns.values())))
    for name, count in rows:
        seen.add_row(name, f"{count:,}", f"{100.0 * count / result.rays:.2f} %")
    seen.add_section()
    seen.add_row("rays", f"{result.rays:,}", "")

    figures = Table.grid(padding=(0, 2))
    figures.add_row("sweeps", f"{result.sweeps} in {result.simulated_s:.2f} s simulated")
    figures.add_row("sweep rate", f"{result.sweeps / result.real_s:.1f} per second of real time")
    figures.add_row("ray rate", f"{result.rays_per_s / 1e6:.1f} million rays per second")
    figures.add_row("real-time factor", f"{result.real_time_factor:.1f}")
    for file in files:
        figures.add_row("wrote", f"{file} ({file.stat().st_size / 1e6:.1f} MB)")

    console.print()
    console.print(seen)
    console.print(figures, soft_wrap=True, highlight=False)
