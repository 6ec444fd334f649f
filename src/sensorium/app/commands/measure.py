"""`sensorium measure`: what a device does, from a recording of it."""

from pathlib import Path
from typing import Annotated

import typer

from sensorium.app.commands.terminal import Terminal, make_folder, size_of

# Figures by two quantities, and of each beam, are in the JSON file only
_LONG = ("noise.by_range_and_reflectivity", "bias.of_beam", "code_noise.by_strength")


def measure(
    recording: Annotated[
        Path, typer.Argument(help="Recording of a real sensor: a file, or a folder of files.", show_default=False)
    ],
    calibration: Annotated[
        Path | None,
        typer.Option(
            help="The unit's own calibration: angles of a lidar (CSV or YAML), or an Ouster's metadata (JSON)."
        ),
    ] = None,
    stream: Annotated[
        str | None, typer.Option(help="Address, port or topic of the device, where a recording has several.")
    ] = None,
    gravity: Annotated[
        float | None, typer.Option(help="Gravity where an IMU was recorded, m/s^2; else the standard one.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="File for all figures and curves.")] = None,
    pictures: Annotated[Path | None, typer.Option(help="Folder for a picture of each curve.")] = None,
) -> None:
    """Measure a device in a recording: noise, bias, timing, returns, each with its 95 % interval."""
    from sensorium.recordings.measurement_pictures import save_pictures
    from sensorium.recordings.opening import measure_recording

    if pictures is not None:
        make_folder(pictures)
    console = Terminal()
    with console.status("Measuring", spinner="line"):
        measured = measure_recording(recording, calibration=calibration, stream=stream, gravity_m_s2=gravity)
    figures = tuple(figure for figure in measured.figures if figure.quantity not in _LONG)
    console.print(measured._replace(figures=figures).table())
    for remark in measured.remarks:
        console.print(remark, soft_wrap=True, highlight=False)
    files = []
    if json is not None:
        measured.save(json)
        files.append(json)
    if pictures is not None:
        files += save_pictures(pictures, measured)
    for file in files:
        console.print(f"wrote {file} ({size_of(file)})", soft_wrap=True, highlight=False)
