"""An encoder: a joint's position in bins, within a range, and its speed from the times of edges."""

import math
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from sensorium.core.errors import SpecError
from sensorium.sensors.common.sampled import SampledModel
from sensorium.sensors.common.spec import Rig, Timing
from sensorium.sensors.joints.counting import CountingSensor
from sensorium.sensors.joints.edge_counter import ON_EDGE, Span
from sensorium.sensors.joints.encoder_reading import EncoderLayout, EncoderReading
from sensorium.sensors.joints.joint_signal import JointSignal

# Tolerance of a range's whole number of bins [bins]; the width is then adjusted
_WHOLE = 1e-6

# With fewer bins the direction of rotation is ambiguous in a range that wraps
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
    mean error of -width / 2 and a variance of width^2 / 12. A joint that slides has no turns: unless `max` is given,
    its position has no range, as on a linear scale.

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
    """Clock; 1 kHz by default."""
    mode: Annotated[Literal["wrap", "clamp"], BeforeValidator(_renamed)] = "wrap"
    """Behavior at the ends of the range."""
    min: float = 0.0
    """Lower end of the range [rad or m]."""
    max: float | None = None
    """Upper end of the range [rad or m]; None is 2 pi on a joint that turns, and no range on one that slides."""
    quadrature: bool = False
    """Whether readings have the tracks `a`, `b` and `z` at the sample; four bins are one period of A."""
    index: float | None = None
    """Position of the index mark [rad or m], once a range; None is the lower end."""

    @model_validator(mode="after")
    def _rules(self) -> "Encoder":
        if self.quadrature and not self.has_bins:
            raise ValueError("quadrature is True without bins; give a resolution or counts_per_turn")
        if self._has_range:
            self._check_range()  # else that depends on the joint, see `start`
        return self

    @property
    def has_bins(self) -> bool:
        """Whether positions are read in bins."""
        return self.bin_width is not None

    @property
    def _has_range(self) -> bool:
        """Whether positions have a range for every type of joint."""
        return bool(self.max is not None or self.counts_per_turn or self.min or self.mode == "clamp")

    def start(self, rig: Rig) -> SampledModel[EncoderReading]:
        """Put it to work on the joint it is attached to."""
        free = rig.joint_slides and self.max is None
        self._check_joint(rig, free)
        width, bins = (self.bin_width, 0) if free else self._bins()
        top = self._top
        if self.mode == "wrap":
            top = math.nextafter(top, -math.inf) if width is None else top - width
        layout = EncoderLayout(
            rig,
            has_bins=self.has_bins,
            has_quadrature=self.quadrature,
            index_bin=0 if width is None else self._index_bin(width, free),
            turn_bins=bins,
        )
        return self.counting(
            rig,
            JointSignal(rig),
            lambda sample: EncoderReading(sample, layout),
            width=width,
            span=Span("free") if free else Span(self.mode, self.min, self._top, bins),
            limits=None if free else (self.min, top),
            target="position",
        )

    @property
    def _top(self) -> float:
        """Upper end of the range of a joint that turns [rad]."""
        return math.tau if self.max is None else self.max

    def _bins(self) -> tuple[float | None, int]:
        """Width of a bin, None for none, and how many of them a range that wraps has."""
        width = self.bin_width
        if width is None or self.mode == "clamp":
            return width, 0
        bins = round((self._top - self.min) / width)
        return (self._top - self.min) / bins, bins

    def _index_bin(self, width: float, free: bool) -> int:
        """The bin with the index mark: that which holds it, or the first whole one of the range."""
        index = self.min if self.index is None else self.index
        bin_of_index = math.floor(index / width + ON_EDGE)
        return bin_of_index if free else max(bin_of_index, math.ceil(self.min / width - ON_EDGE))

    def _check_joint(self, rig: Rig, free: bool) -> None:
        """Settings that depend on the joint: a sliding joint has no turns, and a range only if one is given."""
        if rig.joint_slides and self.counts_per_turn is not None:
            given, rule = f"counts_per_turn is {self.counts_per_turn}", "it must have a resolution [m] instead"
        elif free and self._has_range:
            given = f"mode is {self.mode!r}" if self.mode == "clamp" else f"min is {self.min:g}"
            rule = "it must have a max too"
        elif not free and not self._has_range:
            try:
                self._check_range()
            except ValueError as error:
                raise SpecError(f"encoder {rig.name!r} on a joint that turns: {error}") from None
            return
        else:
            return
        raise SpecError(f"{given} for encoder {rig.name!r} on a joint that slides; {rule}")

    def _check_range(self) -> None:
        """Ends in order, the index mark between them, and bins that fit."""
        if not self.min < self._top:
            raise ValueError(f"min is {self.min:g} and max is {self._top:g}; min must be below max")
        if self.index is not None and not self.min <= self.index < self._top:
            raise ValueError(f"index is {self.index:g}; it must be in [{self.min:g}, {self._top:g})")
        if self.has_bins:
            self._check_bins()

    def _check_bins(self) -> None:
        """A range that wraps holds whole bins, else the one at its seam is short."""
        assert self.bin_width is not None
        given = f"counts_per_turn is {self.counts_per_turn}"
        if self.resolution is not None:
            given = f"resolution is {self.resolution:g}"
        length = self._top - self.min
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
