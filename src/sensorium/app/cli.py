"""The command line: `sensorium` and its commands, each in a file of `commands`."""

import sys
import warnings
from typing import Annotated, Any

import typer

from sensorium import __version__
from sensorium.app.commands.allan import allan
from sensorium.app.commands.bench import bench
from sensorium.app.commands.cluster import cluster
from sensorium.app.commands.compare import compare
from sensorium.app.commands.compile import compile_kernels
from sensorium.app.commands.demo import demo
from sensorium.app.commands.devices import devices
from sensorium.app.commands.fit import fit
from sensorium.app.commands.gallery import gallery
from sensorium.app.commands.listen import listen
from sensorium.app.commands.measure import measure
from sensorium.app.commands.recover import recover
from sensorium.app.commands.run import run
from sensorium.app.commands.schema import schema
from sensorium.app.commands.validate import validate
from sensorium.app.commands.view import view
from sensorium.core.errors import SensoriumError, StoppedError, fit_for_a_terminal, in_one_line
from sensorium.runtime.interrupts import exit_code

app = typer.Typer(
    help="What a robot's sensors would report.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line; an error that Sensorium raises on purpose is one line and exit code 2.

    A run that was stopped has 130 after Ctrl-C and 143 after SIGTERM.
    """
    warnings.showwarning = _print_warning
    try:
        app()
    except SensoriumError as error:
        print(f"sensorium: {error}", file=sys.stderr)
        raise SystemExit(exit_code(error.signal_number) if isinstance(error, StoppedError) else 2) from None
    except MemoryError as error:
        print(f"sensorium: out of memory ({fit_for_a_terminal(in_one_line(error))})", file=sys.stderr)
        raise SystemExit(2) from None


def _print_warning(message: Warning | str, *where: Any, **more: Any) -> None:
    """One line, as for other errors; a traceback is of no use on the command line."""
    print(f"sensorium: {fit_for_a_terminal(str(message))}", file=sys.stderr)


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


_COMMANDS = (demo, run, listen, gallery, view, devices, allan, measure, fit, compare, recover, schema, validate, bench)
for _command in _COMMANDS:
    app.command()(_command)
app.command("compile")(compile_kernels)
app.add_typer(cluster)
