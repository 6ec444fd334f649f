"""`sensorium gallery`: the scenarios shipped with the library."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from sensorium.app.commands.terminal import Terminal


def gallery(
    copy: Annotated[
        Path | None, typer.Option(help="Folder to copy all of them into, to change them.", show_default=False)
    ] = None,
) -> None:
    """List the scenarios that come with the library; each runs by its name: sensorium run NAME."""
    from sensorium.app import gallery as scenarios

    console = Terminal()
    if copy is not None:
        for file in scenarios.copied(copy):
            console.print(f"wrote  {file}", highlight=False, soft_wrap=True)
        return
    table = Table.grid(padding=(0, 2))
    for name, title in scenarios.titles().items():
        table.add_row(f"sensorium run {name}", title)
    console.print(table, soft_wrap=True, highlight=False)
