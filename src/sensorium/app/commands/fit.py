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
    recording: Annotated[Path, typer.Argument(help="Recording of a lidar.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Data sheet to write, such as my-device.toml.", show_default=False)],
    calibration: Annotated[
        Path | None, typer.Option(help="The unit's own angles (CSV or YAML), or an Ouster's metadata (JSON).")
    ] = None,
    stream: Annotated[
        str | None, typer.Option(help="Address, port or topic of the device, where a recording has several.")
    ] = None,
    all_turns: Annotated[
        bool, typer.Option("--all-turns", help="Fit all turns; by default every second one is held out.")
    ] = False,
) -> None:
    """Make a data sheet of a device from its recording, and hold it against turns that it was not fitted to."""
    from sensorium.files.atomic import replacing
    from sensorium.recordings.fit.lidar import fit_lidar
    from sensorium.recordings.opening import open_recording
    from sensorium.recordings.scans import LidarRecording

    if out.suffix != ".toml":
        raise SpecError(f"--out is {str(out)!r}; a data sheet must end in .toml")
    console = Terminal()
    with console.status("Fitting", spinner="line"):
        read = open_recording(recording, calibration=calibration, stream=stream)
        if not isinstance(read, LidarRecording):
            raise SpecError(f"recording is {str(recording)!r}, which is of no lidar; sheets are fitted to lidars alone")
        fitted = fit_lidar(read, hold_out=not all_turns)
    with replacing(out) as file:
        file.write(fitted.text.encode())
    for remark in fitted.remarks:
        console.print(remark, soft_wrap=True, highlight=False)
    if fitted.held_out:
        console.print(_table(fitted.held_out))
    else:
        console.print("nothing is held out", soft_wrap=True)
    console.print(f"wrote {out}; use it by sn.Lidar.from_device({str(out)!r})", soft_wrap=True, highlight=False)


def _table(rows: "tuple[HeldOut, ...]") -> Table:
    """Figures of turns that were held out, beside the sheet."""
    from sensorium.recordings.measurement import readable_unit

    table = Table(title="turns that were held out", title_justify="left", title_style="bold")
    for name in ("quantity", "where", "sheet", "measured", "95 % interval", "unit", "sheet / measured"):
        table.add_column(name, justify="left" if name in ("quantity", "where", "unit") else "right")
    for figure, fitted in rows:
        scale, unit = readable_unit(figure.value, figure.unit)
        between = f"{scale * figure.low:.5g} to {scale * figure.high:.5g}" if figure.low < figure.high else ""
        ratio = f"{fitted / figure.value:.3f}" if figure.value else ""
        sheet, measured = f"{scale * fitted:.6g}", f"{scale * figure.value:.6g}"
        table.add_row(figure.quantity, figure.where, sheet, measured, between, unit, ratio)
    return table
