"""`sensorium cluster check`: every node of a cluster, compared with this machine."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from sensorium.app.commands.terminal import Terminal

if TYPE_CHECKING:
    from sensorium.app.node_check import Checked

cluster = typer.Typer(name="cluster", help="Clusters of machines.", no_args_is_help=True)


@cluster.callback()
def _about() -> None:
    """Clusters of machines."""


@cluster.command()
def check(
    address: Annotated[str, typer.Argument(help="Of the cluster: auto, or host:port of its head.")],
    reads: Annotated[
        list[Path] | None, typer.Option(help="File that each node must have, with the bytes it has here; repeatable.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for results, to see whether the nodes share it.")] = None,
) -> None:
    """Compare every node of a cluster with this machine: software, files, cores, memory, kernels."""
    from sensorium.app.node_check import check_nodes
    from sensorium.core.errors import SpecError
    from sensorium.runtime.cluster import joined, running

    console = Terminal()
    for path in reads or []:
        if not path.is_file():
            raise SpecError(f"--reads is {str(path)!r}; there is no such file here")

    def show(every: "Sequence[Checked]") -> None:
        table = Table()
        for heading in ("node", "address", "cores", "memory", "for parts", "kernels", "--out", "state"):
            table.add_column(heading)
        for each in every:
            shared = "" if out is None else "shared" if each.sees_out else "own disk"
            memory = (f"{size / 1e9:.1f} GB" for size in (each.memory_bytes, each.node.memory_bytes))
            cores = f"{each.node.cpus} of {each.cpus}"
            wrong = f"has {each.wrong}" if each.wrong else "the same"
            table.add_row(each.node.host, each.node.address, cores, *memory, str(each.kernels), shared, wrong)
        console.print(table)

    with joined(address):
        check_nodes(running(), reads=reads or [], out=out, found=show)
