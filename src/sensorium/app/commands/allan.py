"""`sensorium allan`: the noise of a sensor, from a log of it at rest."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from sensorium.app.commands.terminal import Terminal, make_folder

if TYPE_CHECKING:
    from sensorium.analysis import AllanFit, SignalLog


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
        str, typer.Option(help="What to fit: N white noise, B bias instability, K random walk, Q quantization, R ramp.")
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

    make_folder(out)
    console = Terminal()
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
        plots.save_figure(files[0], allan_plot(fit, title=f"Allan deviation of {log.name}"))
        fit.save(files[1])
    _print_allan(console, signals, fit, files)


def _listed(text: str | None) -> list[str] | None:
    """The items between commas."""
    return None if text is None else [part.strip() for part in text.split(",")]


def _print_allan(console: Console, signals: "SignalLog", fit: "AllanFit", files: list[Path]) -> None:
    """Each channel's coefficients, in SI units and as data sheets give them, and where the rest is."""
    from sensorium.analysis.allan_file import unit_of
    from sensorium.analysis.units import data_sheet

    def text(words: str) -> str:
        """Characters that this terminal can show."""
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
