"""`sensorium view`: opens the results of a run."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn

from sensorium.app.commands.terminal import Terminal


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

    console = Terminal()
    with Progress(TextColumn("{task.description}"), BarColumn(), console=console, transient=True) as bar:
        task = bar.add_task("Reading", total=1.0)
        done = show(file, save, progress=lambda part: bar.update(task, completed=part))
    console.print(done, soft_wrap=True, highlight=False, markup=False)
