"""Reading of an encoder."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.sensors.common.sampled import Quantity, Sample, SampledReading
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.joints.edge_counter import COUNT, POSITION, VELOCITY

Float = NDArray[np.float64]


@dataclass(frozen=True)
class EncoderLayout:
    """Meaning of an encoder's channels.

    Attributes:
        rig: Mount of the encoder, for the axes of its arrays.
        has_bins: Whether it counts.
        has_quadrature: Whether it has the tracks A, B and Z.
        index_bin: Bin in which Z is high.
        turn_bins: Bins from one such bin to the next; 0 if there is only one.
    """

    rig: Rig
    has_bins: bool
    has_quadrature: bool
    index_bin: int
    turn_bins: int


class EncoderReading(SampledReading):
    """One reading of an encoder; arrays have the axes of worlds and sensors that the environment has, or none."""

    __slots__ = ("_layout",)

    def __init__(self, sample: Sample, layout: EncoderLayout) -> None:
        self._sample, self._rig, self._layout = sample, layout.rig, layout

    @property
    def valid(self) -> NDArray[np.bool_]:
        """False if a fault left no position, or a reset voided the reading before arrival."""
        return self._shaped(self._sample.valid & np.isfinite(self._sample.x[:, POSITION]))

    @property
    def position(self) -> Float:
        """Position in the range [rad or m]: the lower edge of its bin, where there are bins."""
        return self._channel(POSITION)

    @property
    def velocity(self) -> Float:
        """Speed estimated from edges, with its sign [rad/s or m/s]; of `truth()` the joint's own."""
        return self._channel(VELOCITY)

    @property
    def count(self) -> NDArray[np.int64]:
        """Bins from position 0, unwrapped: started with the joint's own position, then by the shorter way round."""
        return self._shaped(self._bins())

    @property
    def a(self) -> NDArray[np.bool_]:
        """Track A; with positive motion A leads B by a bin: A B are 0 0, 1 0, 1 1, 0 1, and so on."""
        return self._shaped(self._track("a") % 4 // 2 != self._track("a") % 2)

    @property
    def b(self) -> NDArray[np.bool_]:
        """Track B."""
        return self._shaped(self._track("b") % 4 >= 2)

    @property
    def z(self) -> NDArray[np.bool_]:
        """Index track: true in one bin of each turn, that is of each range."""
        bins, index, turn = self._track("z"), self._layout.index_bin, self._layout.turn_bins
        return self._shaped((bins - index) % turn == 0 if turn else bins == index)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """Its quantities by name, for tables and plots."""
        found = [Quantity("position", "Position", "rad or m"), Quantity("velocity", "Speed", "rad/s or m/s")]
        if self._layout.has_bins:
            found.append(Quantity("count", "Count", kind=int, has_truth=False, is_plotted=False))
        if self._layout.has_quadrature:
            tracks = ((track, f"Track {track.upper()}") for track in "abz")
            found += [Quantity(*track, kind=bool, has_truth=False, is_plotted=False) for track in tracks]
        return tuple(found)

    def __repr__(self) -> str:
        return f"EncoderReading(time_ns={self.time_ns}, position={self.position}, velocity={self.velocity})"

    def _bins(self) -> NDArray[np.int64]:
        if not self._layout.has_bins:
            raise SpecError("count is asked for; the encoder must have a resolution or counts_per_turn")
        return self._sample.x[:, COUNT].astype(np.int64)

    def _track(self, name: str) -> NDArray[np.int64]:
        if not self._layout.has_quadrature:
            raise SpecError(f"track {name} is asked for; the encoder must have quadrature=True")
        return self._bins()
