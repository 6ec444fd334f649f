"""`sensorium devices`: data sheets, their pictures, and their values measured in simulation."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from sensorium.app.commands.terminal import Terminal, make_folder
from sensorium.core.errors import SpecError

if TYPE_CHECKING:
    from sensorium.devices import Device


def devices(
    name: Annotated[
        str | None, typer.Argument(help="Device, or TOML file of one; without it all are listed.", show_default=False)
    ] = None,
    kind: Annotated[str | None, typer.Option(help="List only these: lidar, imu, camera, radar, ...")] = None,
    folder: Annotated[Path | None, typer.Option(help="Folder of data sheets of your own.")] = None,
    round_trip: Annotated[
        bool, typer.Option("--round-trip", help="Simulate the device and measure what its sheet states.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the picture; by default sensorium-devices.")] = None,
) -> None:
    """List devices by kind, or print the data sheet of one, with sources and grades, and draw it."""
    from sensorium.devices import Sheet, describe, names

    console = Terminal()
    if name is not None:
        if kind is not None:
            raise SpecError(f"--kind is {kind!r} beside the device {name!r}; it chooses what is listed, leave it out")
        device = describe(name, folder=folder)
        console.print(str(device), soft_wrap=True, highlight=False, markup=False)
        _draw_device(console, device, Path("sensorium-devices") if out is None else out)
        if round_trip:
            _print_round_trip(console, device)
        return
    if out is not None or round_trip:
        raise SpecError("--out and --round-trip are for one device; name it: sensorium devices NAME")
    for one in [kind] if kind is not None else sorted(Sheet.kinds):
        console.print(one, style="bold")
        for found in names(one, folder=folder):
            sheet = describe(found, folder=folder).sheet
            line = f"  {found:<20} {sheet.maker} {sheet.model}: {sheet.description}"
            console.print(line, soft_wrap=True, highlight=False, markup=False)


def _draw_device(console: Console, device: "Device", out: Path) -> None:
    """Write the picture of a device into a folder."""
    from sensorium.sensors.camera.camera import Camera
    from sensorium.sensors.depth_camera.depth_camera import DepthCamera
    from sensorium.sensors.inertial.imu import Imu
    from sensorium.sensors.inertial.triads import Magnetometer
    from sensorium.sensors.lidar.lidar import Lidar
    from sensorium.sensors.radar.spec import Radar
    from sensorium.view import camera_plots, depth_noise_plots, device_plots, plots, radar_plots

    if device.kind == "encoder":
        console.print("  nothing to draw: an encoder has neither a scan nor a noise curve")
        return
    if device.kind == "depth_camera" and not DepthCamera.from_device(device.path).errors:
        console.print("  nothing to draw: no figure of its errors is known")
        return
    make_folder(out)
    title = f"{device.sheet.maker} {device.sheet.model}"
    if device.kind == "lidar":
        figure = device_plots.scan_plot({device.name: Lidar.from_device(device.path).pattern}, title=title)
    elif device.kind == "camera":
        bands = Camera.from_device(device.path).bands
        figure = camera_plots.filter_curves(bands, title=f"{title}: filter and response")
    elif device.kind == "depth_camera":
        camera = DepthCamera.from_device(device.path)
        figure = depth_noise_plots.depth_noise_plot({device.name: camera}, title=f"{title}: noise of depth")
    elif device.kind == "radar":
        figure = radar_plots.coverage(Radar.from_device(device.path), title=f"{title}: what is seen how far")
    else:
        sensor = (Imu if device.kind == "imu" else Magnetometer).from_device(device.path)
        figure = device_plots.predicted_allan_plot(sensor, title=f"{title}: Allan deviation that its sheet predicts")
    file = out / f"{device.name}.png"
    plots.save_figure(file, figure)
    console.print(f"  wrote {file} ({file.stat().st_size / 1e3:.0f} kB)", soft_wrap=True, highlight=False)


def _print_round_trip(console: Console, device: "Device") -> None:
    """Stated and simulated values of a sheet; exit code 1 if they disagree."""
    from sensorium.qa.round_trip import document, measured

    rows = measured(device)
    table = Table(title="Round trip", title_justify="left", title_style="bold")
    for head in ("value", "stated", "measured", "interval", "unit", "grade"):
        table.add_column(head, justify="right" if head in ("stated", "measured", "interval") else "left")
    for row in rows:
        table.add_row(*(cell.replace("≈", "~") for cell in document.cells(row)[1:]))  # for terminals without it
    console.print(table)
    outside = [row.what for row in rows if not row.inside]
    if outside:
        console.print(f"outside of the interval: {', '.join(outside)}")
        raise typer.Exit(1)
