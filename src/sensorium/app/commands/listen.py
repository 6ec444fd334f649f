"""`sensorium listen`: what arrives on a path that a live run, or a real device, sends on."""

import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from sensorium.app.commands.terminal import Terminal, size_of
from sensorium.core.errors import SpecError


def listen(
    path: Annotated[
        str | None, typer.Argument(help="What to listen to, such as foxglove; without it they are listed.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="option=value of the path, such as port=9000 or topics=[/imu/mag]; repeatable."),
    ] = None,
    seconds: Annotated[float | None, typer.Option(min=0.0, help="End after this time; by default at Ctrl-C.")] = None,
    count: Annotated[int | None, typer.Option(min=1, help="End after this many messages or packets.")] = None,
    record: Annotated[Path | None, typer.Option(help="File to write what arrives to.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print the summary only.")] = False,
) -> None:
    """Print or record what arrives on a path: one line for each message or packet, then a summary."""
    from sensorium.app.scenario.override import assigned
    from sensorium.live.listen.opening import RECEIVERS, receiver
    from sensorium.runtime.interrupts import InterruptsWait

    console = Terminal()
    if path is None:
        table = Table.grid(padding=(0, 2))
        for name, listed in RECEIVERS.items():
            table.add_row(name, listed.title)
        console.print(table)
        return
    made = receiver(path, dict(assigned(text, "--set") for text in set_ or []))
    if record is not None and record.suffix != made.suffix:
        raise SpecError(f"--record is {str(record)!r}; of {path} it must end in {made.suffix}")
    messages, sizes = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    with ExitStack() as stack:
        opened = stack.enter_context(made)
        write = None if record is None else stack.enter_context(opened.recorder(record))
        stop = stack.enter_context(InterruptsWait())
        began_s = time.monotonic()
        while not stop.pressed and (count is None or messages.total() < count):
            if seconds is not None and time.monotonic() - began_s >= seconds:
                break
            received = opened.receive(0.1)
            if received is None:
                continue
            key = received.source, received.kind
            messages[key] += 1
            sizes[key] += len(received.payload)
            if write is not None:
                write(received)
            if not quiet:
                line = f"{received.time_ns * 1e-9:.6f} {received.source} {received.line}"
                console.print(line, soft_wrap=True, highlight=False)
        took_s = max(time.monotonic() - began_s, 1e-9)
    table = Table("source", "type", "count", "1/s", "MB/s")
    for (source, kind), number in sorted(messages.items()):
        rates = f"{number / took_s:.1f}", f"{sizes[source, kind] / took_s / 1e6:.2f}"
        table.add_row(source, kind, f"{number:,}", *rates)
    console.print(table)
    if record is not None:
        console.print(f"wrote {record} ({size_of(record)})", soft_wrap=True, highlight=False)
