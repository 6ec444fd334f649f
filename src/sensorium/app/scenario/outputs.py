"""Outputs of a run, as written in a scenario file."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from sensorium.core.spec import Spec

TableFormat = Literal["csv", "parquet"]
CloudFormat = Literal["ply", "pcd", "las", "laz", "kitti", "npz"]


class Mcap(Spec):
    """Everything as ROS 2 messages, in one file."""

    clouds_every: Annotated[int, Field(ge=1)] = 1
    """Records every n-th sweep of a lidar; all other readings are recorded."""


class Signals(Spec):
    """A table for each sampled sensor, with the truth beside the measurement."""

    format: TableFormat = "csv"
    """Of the files."""
    truth: bool = True
    """Whether the truth is written beside the measurement."""


class Clouds(Spec):
    """Point clouds of lidars, a file for each sweep."""

    format: CloudFormat
    """Of the files."""
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


def _whether(value: Any) -> Any:
    return {True: {}, False: None}.get(value, value) if isinstance(value, bool) else value


def _every(value: Any) -> Any:
    return {} if value is True else value


def _format(value: Any) -> Any:
    return {"format": value} if isinstance(value, str) else value


class Outputs(Spec):
    """Files of a run."""

    mcap: Annotated[Mcap | None, BeforeValidator(_whether, json_schema_input_type=bool | Mcap | None)] = Mcap()
    """run.mcap: everything, as ROS 2 messages; false for none."""
    report: bool = True
    """report.html: the run in one page to look at."""
    signals: Annotated[Signals, BeforeValidator(_format, json_schema_input_type=TableFormat | Signals)] | None = None
    """signals/NAME.csv for each sensor that samples."""
    clouds: Annotated[Clouds, BeforeValidator(_format, json_schema_input_type=CloudFormat | Clouds)] | None = None
    """clouds/NAME/000000.ply for each sweep of each lidar."""
    images: Annotated[Images, BeforeValidator(_every, json_schema_input_type=Literal[True] | Images)] | None = None
    """images/NAME/000000.png for each image of each camera; true for all of them."""
