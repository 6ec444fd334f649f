"""`sensorium compare`: a real device beside its simulation."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from sensorium.app.commands.terminal import Terminal, size_of
from sensorium.core.errors import SpecError


def compare(
    recording: Annotated[
        Path, typer.Argument(help="Recording of a real sensor: a file, or a folder of files.", show_default=False)
    ],
    device: Annotated[str | None, typer.Option(help="Device of the library to simulate.")] = None,
    sheet: Annotated[Path | None, typer.Option(help="Data sheet to simulate, such as one of sensorium fit.")] = None,
    calibration: Annotated[
        Path | None, typer.Option(help="The unit's own angles (CSV or YAML), or an Ouster's metadata (JSON).")
    ] = None,
    stream: Annotated[
        str | None, typer.Option(help="Address, port or topic of the device, where a recording has several.")
    ] = None,
    gravity: Annotated[
        float | None, typer.Option(help="Gravity where an IMU was recorded, m/s^2; else the standard one.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Page to write.")] = Path("comparison.html"),
) -> None:
    """Measure the recorded scene again with a simulated device; without one, a sheet is fitted to half of it."""
    from sensorium.devices import describe
    from sensorium.recordings.compare.comparison import RULE
    from sensorium.recordings.compare.page import cells, save_page
    from sensorium.recordings.opening import open_recording
    from sensorium.recordings.twins import compare_recording, fit_recording

    if device is not None and sheet is not None:
        raise SpecError(f"--device is {device!r} and --sheet {str(sheet)!r}; give one of them")
    if out.suffix != ".html":
        raise SpecError(f"--out is {str(out)!r}; a page must end in .html")
    console = Terminal()
    with console.status("Comparing", spinner="line"), tempfile.TemporaryDirectory() as folder:
        read = open_recording(recording, calibration=calibration, stream=stream, gravity_m_s2=gravity)
        if device is None and sheet is None:
            sheet = Path(folder) / "fitted.toml"
            sheet.write_text(fit_recording(read).text, encoding="utf-8")
        compared = compare_recording(read, describe(device or str(sheet)))
    table = Table(
        title=f"{compared.real.device or compared.real.kind} beside {compared.device}",
        title_justify="left",
        title_style="bold",
    )
    for name in ("quantity", "where", "real", "simulated", "ratio", "verdict"):
        table.add_column(name, justify="right" if name in ("real", "simulated", "ratio") else "left")
    for row in compared.rows:
        quantity, where, real, _, simulated, _, ratio, _, verdict = cells(row)
        if verdict != "not modeled":
            table.add_row(quantity, where, real, simulated, ratio, verdict)
    console.print(table)
    for remark in (*compared.remarks, RULE):
        console.print(remark, soft_wrap=True, highlight=False)
    save_page(out, compared)
    console.print(f"wrote {out} ({size_of(out)})", soft_wrap=True, highlight=False)
