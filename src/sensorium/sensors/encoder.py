"""An encoder: a joint's position in bins, within a range, and its speed from the times of edges."""

import math
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from sensorium.sensors.counting import CountingSensor
from sensorium.sensors.edge_counter import ON_EDGE, Span
from sensorium.sensors.encoder_reading import EncoderLayout, EncoderReading
from sensorium.sensors.joint_signal import JointSignal
from sensorium.sensors.rig import Rig
from sensorium.sensors.sampled import SampledModel
from sensorium.sensors.timing import Timing

# How far from a whole number of bins a range may be [bins]; the width is then made to fit
_WHOLE = 1e-6

# With fewer bins a range that wraps cannot tell which way a joint turns
_FEWEST_BINS = 3

# Bins of one period of the tracks A and B
_CYCLE = 4

_OTHER_NAMES = {"incremental": "wrap", "absolute": "clamp"}


def _renamed(mode: object) -> object:
    """The AGX paper's names as ours."""
    return _OTHER_NAMES.get(mode, mode) if isinstance(mode, str) else mode


class Encoder(CountingSensor[EncoderReading]):
    """Position u of a joint -> noise -> faults -> bins -> range, and speed from the times between edges.

    `wrap` reads u - W floor((u - min) / W) in [min, max), W = max - min; `clamp` reads the nearest of [min, max], and
    with bins the nearest bin in it. The AGX paper calls them incremental and absolute, which is accepted; real absolute
    rotary encoders wrap, and real incremental ones have no position (physics.md E-20). The floor of the bins leaves a
    mean error of -width / 2 and a variance of width^2 / 12.

    Between samples a joint must move less than W / 2, else position is right but speed and count take the shorter way
    round, as in reality: at 1 kHz and a range of one turn that is 500 turns a second.

    `truth()` has the position in the range but not in bins, and the joint's own velocity.

    >>> world = sn.worlds.Kinematic({}, {"wheel": sn.paths.JointLine(0.0, 10.0)}, step_s=0.01)
    >>> env = sn.Environment(sn.Scene(), world)
    >>> encoder = env.attach(sn.Encoder(timing=sn.Timing(rate_hz=100.0), counts_per_turn=360), joint="wheel")
    >>> for _ in env.run(duration_s=0.1):
    ...     pass
    >>> float(encoder.truth().position), np.degrees(encoder.read().position).round(6).item()  # 57.3 degrees
    (1.0, 57.0)
    """

    targets: ClassVar[tuple[str, ...]] = ("position",)

    kind: Literal["encoder"] = "encoder"
    timing: Timing = Field(default_factory=lambda: Timing(rate_hz=1000.0))
    """Clock; 1 kHz unless told otherwise."""
    mode: Annotated[Literal["wrap", "clamp"], BeforeValidator(_renamed)] = "wrap"
    """What happens at the ends of the range."""
    min: float = 0.0
    """Lower end of the range [rad or m]."""
    max: float = math.tau
    """Upper end of the range [rad or m]."""
    quadrature: bool = False
    """Whether readings have the tracks `a`, `b` and `z` as they stand at the sample; four bins are one period of A."""
    index: float | None = None
    """Position of the index mark [rad or m], once a range; None is the lower end."""

    @model_validator(mode="after")
    def _rules(self) -> "Encoder":
        if not self.min < self.max:
            raise ValueError(f"min is {self.min:g} and max is {self.max:g}; min must be below max")
        if self.index is not None and not self.min <= self.index < self.max:
            raise ValueError(f"index is {self.index:g}; it must be in [{self.min:g}, {self.max:g})")
        if self.quadrature and not self.has_bins:
            raise ValueError("quadrature is True without bins; give a resolution or counts_per_turn")
        if self.has_bins:
            self._check_bins()
        return self

    @property
    def has_bins(self) -> bool:
        """Whether positions are read in bins."""
        return self.bin_width is not None

    def start(self, rig: Rig) -> SampledModel[EncoderReading]:
        """Put it to work on the joint it is attached to."""
        width, bins = self._bins()
        top = self.max
        if self.mode == "wrap":
            top = math.nextafter(self.max, -math.inf) if width is None else self.max - width
        layout = EncoderLayout(
            rig,
            has_bins=self.has_bins,
            has_quadrature=self.quadrature,
            index_bin=0 if width is None else self._index_bin(width),
            turn_bins=bins,
        )
        return self.counting(
            rig,
            JointSignal(rig),
            lambda sample: EncoderReading(sample, layout),
            width=width,
            span=Span(self.mode, self.min, self.max, bins),
            limits=(self.min, top),
            target="position",
        )

    def _bins(self) -> tuple[float | None, int]:
        """Width of a bin, None for none, and how many of them a range that wraps has."""
        width = self.bin_width
        if width is None or self.mode == "clamp":
            return width, 0
        bins = round((self.max - self.min) / width)
        return (self.max - self.min) / bins, bins

    def _index_bin(self, width: float) -> int:
        """The bin with the index mark: that which holds it, or the first whole one of the range."""
        index = self.min if self.index is None else self.index
        return max(math.floor(index / width + ON_EDGE), math.ceil(self.min / width - ON_EDGE))

    def _check_bins(self) -> None:
        """A range that wraps holds whole bins, else the one at its seam is short."""
        assert self.bin_width is not None
        given = f"counts_per_turn is {self.counts_per_turn}"
        if self.resolution is not None:
            given = f"resolution is {self.resolution:g}"
        length = self.max - self.min
        held = length / self.bin_width
        if self.mode == "clamp":
            if held < 1.0 - _WHOLE:
                raise ValueError(f"{given}; a bin must fit into the range, which is {length:g} long")
            return
        bins = max(int(np.rint(held)), 1)
        if abs(held - bins) > _WHOLE:
            rule = f"the range of {length:g} must hold a whole number of bins, {length / bins:.10g} would make {bins}"
            raise ValueError(f"{given}, so that the range has {held:.10g} bins; {rule}")
        if bins < _FEWEST_BINS:
            raise ValueError(f"{given}, so that the range has {bins} bins; it must have {_FEWEST_BINS} at least")
        if self.quadrature and bins % _CYCLE:
            rule = f"it must have a multiple of {_CYCLE}, so that the tracks A and B close"
            raise ValueError(f"{given}, so that the range has {bins} bins; with quadrature {rule}")
