"""`sensorium bench`: speed of the sensors on this machine."""

from pathlib import Path
from typing import Annotated

import typer


def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and smaller runs.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="JSON file for the figures; by default they are only printed.")
    ] = None,
) -> None:
    """Measure how fast this machine senses; exit code 1 says that a target was missed."""
    from sensorium.qa.benchmarks import run

    if not run.main(quick=quick, out=out):
        raise typer.Exit(1)
