"""Shared by encoders and odometers: errors of a position, bins, and a speed estimated from edges."""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import ClassVar, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from sensorium.corruption import Noise, Program, Quantize, Saturate
from sensorium.corruption.engine.base import AnyCorruption, Layout
from sensorium.sensors.common.error_group import RENAMED, channel_parts
from sensorium.sensors.common.sampled import Sample, SampledModel, Signal, Voidable, required_rate_hz
from sensorium.sensors.common.spec import Rig, SensorSpec
from sensorium.sensors.joints.edge_counter import INPUT, EdgeCounter, Span, Speed

Float = NDArray[np.float64]
R = TypeVar("R", bound=Voidable)


class CountingSensor(SensorSpec[R], Generic[R]):
    """A sensor that reads a position in bins, and estimates its speed from the times at which it enters them.

    Order: the exact position, noise, further corruptions, faults, quantization, saturation, bins
    u_b = width floor(u / width), range (physics.md 7).
    """

    hint_aliases: ClassVar[Mapping[str, str]] = RENAMED

    resolution: float | None = Field(default=None, gt=0.0)
    """Width of a bin, in the joint's unit [rad or m]; None, the default, reads without bins."""
    counts_per_turn: int | None = Field(default=None, ge=1)
    """Number of bins a turn of 2 pi rad, instead."""
    noise: Noise = Field(default_factory=Noise)
    """Bias, walks and white noise of the position, before bins."""
    extra: tuple[AnyCorruption, ...] = ()
    """Further corruptions of the position, before bins."""
    quantization: Quantize = Field(default_factory=Quantize)
    """Quantization of the position, before bins: of the converter behind a resolver or a magnetic track."""
    saturation: Saturate = Field(default_factory=Saturate)
    """Saturation of the position over all turns, before bins and range."""
    edge_time: Literal["sample", "interpolated"] = "sample"
    """When an edge is: at the sample that first shows it, or at the instant a straight line between samples crosses it,
    as if a timer were latched by the edge itself."""
    decay: bool = True
    """Whether |v| is at most one bin over the time since the last edge, so that it falls when a joint stops; without
    bins it is 0 at once. False holds it."""
    timeout_s: float | None = Field(default=1.0, gt=0.0)
    """Without an edge for longer than this [s] the speed is 0: by default below one bin a second. None disables the
    time-out. With decay=False and None the speed is held for ever, as in the AGX paper."""

    @model_validator(mode="after")
    def _bins_where_needed(self) -> "CountingSensor[R]":
        if self.resolution is not None and self.counts_per_turn is not None:
            given = f"resolution is {self.resolution:g} and counts_per_turn is {self.counts_per_turn}"
            raise ValueError(f"{given}; only one of them can be given")
        if not self.has_bins and self.edge_time == "interpolated":
            raise ValueError("edge_time is 'interpolated' without bins; give a resolution, edges are between bins")
        return self

    @property
    @abstractmethod
    def has_bins(self) -> bool:
        """Whether positions are read in bins."""

    @property
    def bin_width(self) -> float | None:
        """Width of a bin in the joint's unit [rad or m], None without bins."""
        return self.resolution if self.counts_per_turn is None else math.tau / self.counts_per_turn

    def counting(
        self,
        rig: Rig,
        signal: Signal,
        publish: Callable[[Sample], R],
        *,
        width: float | Float | None,
        span: Span,
        limits: tuple[float, float] | None,
        target: str,
    ) -> SampledModel[R]:
        """The model that measures a position.

        Args:
            rig: Mount of the sensor.
            signal: Exact position and velocity, two channels.
            publish: Makes a reading of the channels of `EdgeCounter`.
            width: Width of a bin, one or one a row, shape (rows,); None for no bins.
            span: Range of the reading.
            limits: Lowest and highest reading, for faults that go there; None where there are none.
            target: Name that faults call the position by.
        """
        period_s = 1.0 / required_rate_hz(self.timing)
        rows = rig.worlds * rig.sensors
        within = Layout(1, period_s, None if limits is None else (np.array([limits[0]]), np.array([limits[1]])))
        if isinstance(width, float):
            within = replace(within, codes_after=Quantize(lsb=width, rounding="floor").grid(within))
        parts = channel_parts(
            [self.noise, *self.extra],
            [self.quantization, self.saturation],
            width=1,
            period_s=period_s,
            faults=self.faults,
            target=target,
            column=INPUT,
            within=within,
        )
        counter = EdgeCounter(
            signal,
            width=np.array(np.broadcast_to(0.0 if width is None else width, (rows,))),
            span=span,
            speed=Speed(interpolated=self.edge_time == "interpolated", decay=self.decay, timeout_s=self.timeout_s),
            stamp_ns=rig.stamp_ns,
        )
        program = Program(parts, columns=counter.columns, period_s=period_s)
        return SampledModel(rig, self.timing, counter, program, publish, readout=counter, looks_back=False)
