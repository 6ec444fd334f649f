"""`sensorium fit`: a data sheet of one's own device, from a recording of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from sensorium.app.commands.terminal import Terminal
from sensorium.core.errors import SpecError

if TYPE_CHECKING:
    from sensorium.recordings.fit.fitted import HeldOut


def fit(
    recording: Annotated[
        Path, typer.Argument(help="Recording of a real sensor: a file, or a folder of files.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(help="Data sheet to write, such as my-device.toml.", show_default=False)],
    calibration: Annotated[
        Path | None, typer.Option(help="The unit's own angles (CSV or YAML), or an Ouster's metadata (JSON).")
    ] = None,
    stream: Annotated[
        str | None, typer.Option(help="Address, port or topic of the device, where a recording has several.")
    ] = None,
    gravity: Annotated[
        float | None, typer.Option(help="Gravity where an IMU was recorded, m/s^2; else the standard one.")
    ] = None,
    use_all: Annotated[
        bool,
        typer.Option(
            "--all", help="Fit all turns, frames or samples; by default every second one is held out."
        ),
    ] = False,
) -> None:
    """Make a data sheet of a device from its recording, and hold it against data that it was not fitted to."""
    from sensorium.files.atomic import replacing
    from sensorium.recordings.opening import open_recording
    from sensorium.recordings.twins import fit_recording, twin_of

    if out.suffix != ".toml":
        raise SpecError(f"--out is {str(out)!r}; a data sheet must end in .toml")
    console = Terminal()
    with console.status("Fitting", spinner="line"):
        read = open_recording(recording, calibration=calibration, stream=stream, gravity_m_s2=gravity)
        fitted = fit_recording(read, hold_out=not use_all)
    with replacing(out) as file:
        file.write(fitted.text.encode())
    for remark in fitted.remarks:
        console.print(remark, soft_wrap=True, highlight=False)
    if fitted.held_out:
        console.print(_table(fitted.held_out))
    else:
        console.print("nothing is held out", soft_wrap=True)
    sensor = twin_of(read).sensor
    console.print(f"wrote {out}; use it by sn.{sensor}.from_device({str(out)!r})", soft_wrap=True, highlight=False)


def _table(rows: "tuple[HeldOut, ...]") -> Table:
    """Figures of what was held out, beside the sheet."""
    from sensorium.recordings.measurement import readable_unit

    table = Table(title="held out", title_justify="left", title_style="bold")
    for name in ("quantity", "where", "sheet", "measured", "95 % interval", "unit", "sheet / measured"):
        table.add_column(name, justify="left" if name in ("quantity", "where", "unit") else "right")
    for figure, fitted in rows:
        scale, unit = readable_unit(figure.value, figure.unit)
        between = f"{scale * figure.low:.5g} to {scale * figure.high:.5g}" if figure.low < figure.high else ""
        ratio = f"{fitted / figure.value:.3f}" if figure.value else ""
        sheet, measured = f"{scale * fitted:.6g}", f"{scale * figure.value:.6g}"
        table.add_row(figure.quantity, figure.where, sheet, measured, between, unit, ratio)
    return table
