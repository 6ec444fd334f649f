"""`sensorium recover`: a valid file from a recording that was cut off."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from sensorium.app.commands.terminal import Terminal, size_of


def recover(
    file: Annotated[Path, typer.Argument(help="MCAP file that was cut off; it is left as it is.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write; by default run.recovered.mcap beside run.mcap, "
            "or results.recovered.mcap beside a folder results.part."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that stands there.")] = False,
) -> None:
    """Make a proper file of a recording that was cut off by a crash: everything up to the frame under way."""
    from sensorium.record.mcap.recover import recover as recovered

    console = Terminal()
    with Progress(TextColumn("{task.description}"), BarColumn(), console=console) as bar:
        task = bar.add_task("Reading", total=1.0)
        result = recovered(file, out, force=force, progress=lambda part: bar.update(task, completed=part))
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
    for what, count in sorted(result.dropped.items()):
        figures.add_row("dropped", f"{count:,} {what}")
    figures.add_row("wrote", f"{result.path} ({size_of(result.path)})")
    console.print(figures, soft_wrap=True, highlight=False)
