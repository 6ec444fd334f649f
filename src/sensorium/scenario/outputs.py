"""What a run leaves behind, as one writes it in a file."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from sensorium.spec import Spec

TableFormat = Literal["csv", "parquet"]
CloudFormat = Literal["ply", "pcd", "las", "laz", "kitti", "npz"]


class Signals(Spec):
    """A table for each sensor that samples, with the truth beside what it measured."""

    format: TableFormat = "csv"
    truth: bool = True


class Clouds(Spec):
    """Point clouds of lidars, a file for each sweep."""

    format: CloudFormat
    every: Annotated[int, Field(ge=1)] = 1
    """Every how many sweeps."""
    sensors: tuple[str, ...] | None = None
    """Which lidars; by default all."""


class Images(Spec):
    """Images of cameras as PNG, of depth cameras as PNG and TIFF, a file for each."""

    every: Annotated[int, Field(ge=1)] = 1
    """Every how many images."""
    sensors: tuple[str, ...] | None = None
    """Which cameras; by default all."""


def _every(value: Any) -> Any:
    return {} if value is True else value


def _format(value: Any) -> Any:
    return {"format": value} if isinstance(value, str) else value


class Outputs(Spec):
    """Files of a run."""

    mcap: bool = True
    """run.mcap: everything, as ROS 2 messages."""
    report: bool = True
    """report.html: the run in one page to look at."""
    signals: Annotated[Signals, BeforeValidator(_format, json_schema_input_type=TableFormat | Signals)] | None = None
    """signals/NAME.csv for each sensor that samples."""
    clouds: Annotated[Clouds, BeforeValidator(_format, json_schema_input_type=CloudFormat | Clouds)] | None = None
    """clouds/NAME/000000.ply for each sweep of each lidar."""
    images: Annotated[Images, BeforeValidator(_every, json_schema_input_type=Literal[True] | Images)] | None = None
    """images/NAME/000000.png for each image of each camera; true for all of them."""
