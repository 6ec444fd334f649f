"""The command line."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from sensorium import __version__
from sensorium.commands.demo import demo as demo_command
from sensorium.commands.gallery import gallery as gallery_command
from sensorium.commands.run import run as run_command
from sensorium.commands.schema import schema as schema_command
from sensorium.errors import SensoriumError, SpecError

if TYPE_CHECKING:
    from sensorium.analysis import AllanFit, SignalLog
    from sensorium.devices import Device

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


app.command("demo")(demo_command)
app.command("run")(run_command)
app.command("gallery")(gallery_command)
app.command("schema")(schema_command)


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


@app.command()
def allan(
    log: Annotated[
        Path, typer.Argument(help="Log of a sensor at rest: CSV, or MCAP by its ending.", show_default=False)
    ],
    rate: Annotated[
        float | None, typer.Option(help="Samples a second [Hz]; a column of time is then not looked at.")
    ] = None,
    topic: Annotated[str | None, typer.Option(help="MCAP: topic to read, where there are several.")] = None,
    columns: Annotated[
        str | None,
        typer.Option(help="Columns of a CSV by name or number from 1, or fields of MCAP messages, between commas."),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(help="Unit of the log, one for all or one for each column between commas: deg/s, g, mg, uT, ..."),
    ] = None,
    terms: Annotated[
        str, typer.Option(help="What to fit: N white noise, B bias instability, K random walk, Q quantisation, R ramp.")
    ] = "NBK",
    fit_from: Annotated[float, typer.Option(help="Shortest averaging time of the fit [s].")] = 0.0,
    fit_to: Annotated[float | None, typer.Option(help="Longest averaging time of the fit [s]; by default all.")] = None,
    allow_gaps: Annotated[
        bool, typer.Option("--allow-gaps", help="Fill missing samples by straight lines, at most a tenth.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for the results; made if it does not exist.")] = Path(
        "sensorium-allan"
    ),
) -> None:
    """Find a sensor's noise in a log: Allan deviation, its fit with 95 % intervals, a picture and allan.json."""
    from sensorium.analysis import allan_deviation, fit_allan, read_log
    from sensorium.view import plots
    from sensorium.view.allan_plots import allan_plot

    _make_folder(out)
    console = Console()
    with Progress(TextColumn("{task.description}"), BarColumn(), console=console) as bar:
        task = bar.add_task("Reading", total=1.0)
        signals = read_log(
            log,
            rate_hz=rate,
            topic=topic,
            columns=_listed(columns),
            unit=_listed(unit),
            allow_gaps=allow_gaps,
            progress=lambda part: bar.update(task, completed=part),
        )
        bar.update(task, completed=1.0)
        task = bar.add_task("Averaging", total=None)
        deviation = allan_deviation(signals.values, signals.rate_hz)
        bar.update(task, total=1.0, completed=1.0)
        task = bar.add_task("Fitting", total=len(signals.names))
        fit = fit_allan(
            deviation,
            terms=terms,
            fit_range_s=(fit_from, float("inf") if fit_to is None else fit_to),
            channels=signals.names,
            units=signals.units,
            progress=lambda done: bar.update(task, completed=done),
        )
    with console.status("Drawing", spinner="line"):
        files = [out / "allan.png", out / "allan.json"]
        plots.save(allan_plot(fit, title=f"Allan deviation of {log.name}"), files[0])
        fit.save(files[1])
    _print_allan(console, signals, fit, files)


@app.command()
def recover(
    file: Annotated[Path, typer.Argument(help="MCAP file that was cut off; it is left as it is.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option(help="File to write; by default run.recovered.mcap beside run.mcap.")
    ] = None,
) -> None:
    """Make a proper file of a recording that was cut off by a crash: everything up to the frame under way."""
    from sensorium.record.recover import recover as recovered

    console = Console()
    with Progress(TextColumn("{task.description}"), BarColumn(), console=console) as bar:
        task = bar.add_task("Reading", total=1.0)
        result = recovered(file, out, progress=lambda part: bar.update(task, completed=part))
        bar.update(task, completed=1.0)

    figures = Table.grid(padding=(0, 2))
    for topic, count in sorted(result.messages.items()):
        figures.add_row(topic, f"{count:,} messages")
    if result.complete:
        figures.add_row("note", "the file was whole; nothing had to be recovered")
    if result.lost_bytes:
        figures.add_row("lost", f"{result.lost_bytes:,} bytes at the end, which are no whole record")
    if result.lost_chunks:
        figures.add_row("lost", f"{result.lost_chunks:,} chunks whose bytes are broken")
    figures.add_row("wrote", f"{result.path} ({result.path.stat().st_size / 1e6:.1f} MB)")
    console.print(figures, soft_wrap=True, highlight=False)


@app.command()
def view(
    file: Annotated[
        Path,
        typer.Argument(
            help="Report (.html), recording (.mcap, .rrd), cloud (.ply, .pcd), or a run's folder.", show_default=False
        ),
    ],
    save: Annotated[
        Path | None, typer.Option(help="Write what Rerun would show to this file, .rrd, instead of opening a window.")
    ] = None,
) -> None:
    """Open what a run left: its report in the browser, recordings and clouds in Rerun (the extra view)."""
    from sensorium.view.viewer import show

    console = Console()
    with Progress(TextColumn("{task.description}"), BarColumn(), console=console, transient=True) as bar:
        task = bar.add_task("Reading", total=1.0)
        done = show(file, save, progress=lambda part: bar.update(task, completed=part))
    console.print(done, soft_wrap=True, highlight=False, markup=False)


@app.command()
def devices(
    name: Annotated[
        str | None, typer.Argument(help="Device, or TOML file of one; without it all are listed.", show_default=False)
    ] = None,
    kind: Annotated[str | None, typer.Option(help="List only these: lidar, imu, magnetometer, encoder.")] = None,
    folder: Annotated[Path | None, typer.Option(help="Folder of data sheets of your own.")] = None,
    round_trip: Annotated[
        bool, typer.Option("--round-trip", help="Simulate the device and measure what its sheet states.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the picture; made if it does not exist.")] = None,
) -> None:
    """List devices by kind, or print the data sheet of one, with sources and grades, and draw it."""
    from sensorium.devices import Sheet, describe, names

    console = Console()
    if name is None:
        for one in [kind] if kind is not None else sorted(Sheet.kinds):
            console.print(one, style="bold")
            for found in names(one, folder=folder):
                sheet = describe(found, folder=folder).sheet
                line = f"  {found:<20} {sheet.maker} {sheet.model}: {sheet.description}"
                console.print(line, soft_wrap=True, highlight=False, markup=False)
        return
    device = describe(name, folder=folder)
    console.print(str(device), soft_wrap=True, highlight=False, markup=False)
    if out is not None:
        _draw_device(console, device, out)
    if round_trip:
        _print_round_trip(console, device)


def _draw_device(console: Console, device: "Device", out: Path) -> None:
    """Write the picture of a device into a folder."""
    from sensorium.sensors.imu import Imu
    from sensorium.sensors.lidar import Lidar
    from sensorium.sensors.magnetometer import Magnetometer
    from sensorium.view import device_plots, plots

    if device.kind == "encoder":
        console.print("  nothing to draw: an encoder has neither a scan nor a noise curve")
        return
    _make_folder(out)
    title = f"{device.sheet.maker} {device.sheet.model}"
    if device.kind == "lidar":
        figure = device_plots.scan_plot({device.name: Lidar.from_device(device.path).pattern}, title=title)
    else:
        sensor = (Imu if device.kind == "imu" else Magnetometer).from_device(device.path)
        figure = device_plots.predicted_allan_plot(sensor, title=f"{title}: Allan deviation that its sheet predicts")
    file = out / f"{device.name}.png"
    plots.save(figure, file)
    console.print(f"  wrote {file} ({file.stat().st_size / 1e3:.0f} kB)", soft_wrap=True, highlight=False)


def _print_round_trip(console: Console, device: "Device") -> None:
    """What the sheet states beside what its simulation shows; exit code 1 where the two disagree."""
    from sensorium.round_trip import document, measured

    rows = measured(device)
    table = Table(title="Round trip", title_justify="left", title_style="bold")
    for head in ("value", "stated", "measured", "interval", "unit", "grade"):
        table.add_column(head, justify="right" if head in ("stated", "measured", "interval") else "left")
    for row in rows:
        table.add_row(*(cell.replace("≈", "~") for cell in document.cells(row)[1:]))  # for terminals without it
    console.print(table)
    outside = [row.what for row in rows if not row.inside]
    if outside:
        console.print(f"outside of the interval: {', '.join(outside)}")
        raise typer.Exit(1)


def _listed(text: str | None) -> list[str] | None:
    """What stands between commas."""
    return None if text is None else [part.strip() for part in text.split(",")]


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


def _print_allan(console: Console, signals: "SignalLog", fit: "AllanFit", files: list[Path]) -> None:
    """Each channel's coefficients, in SI units and as data sheets give them, and where the rest is."""
    from sensorium.analysis.allan_file import unit_of
    from sensorium.analysis.units import data_sheet

    def text(words: str) -> str:
        """What this terminal can show."""
        if console.encoding.lower().startswith("utf"):
            return words
        for mark, plain in (("√h", "sqrt(h)"), ("√Hz", "sqrt(Hz)"), ("°", "deg"), ("µ", "u")):
            words = words.replace(mark, plain)
        return words.encode("ascii", "replace").decode()

    table = Table(title="Noise of each channel", title_justify="left", title_style="bold")
    for name in ("channel", "", "value", "95 % interval", "unit", "as data sheets give it"):
        table.add_column(name, justify="right" if name in ("value", "95 % interval") else "left")
    for i, (name, unit) in enumerate(zip(fit.channels, fit.units, strict=True)):
        for term in fit.terms:
            value = float(fit.coefficients[term].ravel()[i])
            low, high = fit.intervals[term].reshape(2, -1)[:, i]
            sheet = "; ".join(f"{what} {size:.3g} {of}" for what, size, of in data_sheet(unit, term, value))
            first = text(name) if term == fit.terms[0] else ""
            table.add_row(first, term, f"{value:.4g}", f"{low:.4g} to {high:.4g}", unit_of(term, unit), text(sheet))
        table.add_section()

    figures = Table.grid(padding=(0, 2))
    figures.add_row("log", f"{fit.allan.samples:,} samples at {signals.rate_hz:.6g} Hz, {fit.allan.duration_s:,.1f} s")
    if signals.filled:
        figures.add_row("filled", f"{signals.filled:,} samples that were missing")
    off = [
        f"{name} {100 * error:.0f} %" for name, error in zip(fit.channels, fit.model_error, strict=True) if error > 0.02
    ]
    if off:
        figures.add_row(
            "note", text(f"variances lie off this model ({', '.join(off)}); try --terms QNBKR or --fit-from")
        )
    for file in files:
        figures.add_row("wrote", f"{file} ({file.stat().st_size / 1e3:.0f} kB)")
    console.print()
    console.print(table)
    console.print(figures, soft_wrap=True, highlight=False)
