"""A real lidar beside its simulation, figure by figure, with a verdict by a stated test."""

from pathlib import PurePath
from typing import Literal, NamedTuple

from sensorium.devices import Device, LidarSheet
from sensorium.recordings.compare.simulation import simulated_recording, simulated_separation
from sensorium.recordings.fit.halves import halves
from sensorium.recordings.fit.noise_law import is_along_rings
from sensorium.recordings.measure.lidar import measure_lidar
from sensorium.recordings.measurement import Figure, Measurement
from sensorium.recordings.scans import LidarRecording

Verdict = Literal["agrees", "differs", "not modeled"]

TOLERANCES = {
    "quantum": 1e-6,
    "firing_period": 1e-4,
    "rotation_rate": 1e-3,
    "column_jitter": 0.15,
    "noise": 0.15,
    "noise.along_ring": 0.15,
    "noise.by_range": 0.15,
    "noise.by_reflectivity": 0.20,
    "noise.excess_kurtosis": 0.5,
    "separation.least": 0.10,
    "dropout": 0.5,
}
"""How far a simulated figure may be from the real one, as a share, by quantity; others are not modeled."""

RULE = (
    "A figure agrees if the 95 % intervals of both overlap, or if the simulated one is within the tolerance of the "
    "real one; it differs otherwise."
)

_TURNS = 6
_HIDDEN = ("bias.of_beam", "noise.by_range_and_reflectivity")


class Row(NamedTuple):
    """One figure of both.

    Attributes:
        real: Measured in the recording.
        simulated: Measured in the simulation in the same way; None where it has none.
        tolerance: Largest share by which they may differ; None for what is not modeled.
    """

    real: Figure
    simulated: Figure | None
    tolerance: float | None

    @property
    def ratio(self) -> float | None:
        """Simulated over real [1]."""
        return None if self.simulated is None or not self.real.value else self.simulated.value / self.real.value

    @property
    def verdict(self) -> Verdict:
        """By `RULE`."""
        if self.tolerance is None or self.simulated is None:
            return "not modeled"
        overlap = self.real.low <= self.simulated.high and self.simulated.low <= self.real.high
        near = abs(self.simulated.value - self.real.value) <= self.tolerance * abs(self.real.value)
        return "agrees" if overlap or near else "differs"


class Comparison(NamedTuple):
    """A recording beside a device.

    Attributes:
        device: Name of the device's sheet.
        real, simulated: What was measured in each.
        rows: Figures of both.
        remarks: How it was done.
    """

    device: str
    real: Measurement
    simulated: Measurement
    rows: tuple[Row, ...]
    remarks: tuple[str, ...]

    def count(self, verdict: Verdict) -> int:
        """Number of figures with a verdict."""
        return sum(row.verdict == verdict for row in self.rows)


def compare_lidar(recording: LidarRecording, device: Device, *, seed: int = 0) -> Comparison:
    """Measure the geometry of a recording again with a simulated device, and compare.

    A sheet that was fitted to the same file is held against the turns that it was not fitted to.

    Args:
        recording: Columns of a real lidar.
        device: A spinning lidar with as many channels.
        seed: Of the simulation's noise.
    """
    remarks = []
    if was_fitted_to(device, recording):
        rest = halves(recording)[1]
        if rest is not None:
            recording = rest
            remarks.append("the sheet was fitted to the other half of this recording; this one was held out")
        else:
            remarks.append("the sheet was fitted to this one turn: nothing is held out")
    real = measure_lidar(recording)
    is_still = not is_along_rings(real)
    remarks += [*real.remarks, "targets: " + ("means of turns" if is_still else "one turn") + ", smooth along rings"]
    again = simulated_recording(device, recording, turns=_TURNS, is_still=is_still, seed=seed)
    simulated = measure_lidar(again, like=real)
    least = real.of("separation.least")
    if least and (found := simulated_separation(device, least[0].value, seed=seed)) is not None:
        simulated = simulated._replace(figures=(*simulated.figures, found))
    theirs = {(each.quantity, each.where): each for each in simulated.figures}
    rows = tuple(
        Row(figure, theirs.get((figure.quantity, figure.where)), TOLERANCES.get(figure.quantity))
        for figure in real.figures
        if figure.quantity not in _HIDDEN
    )
    return Comparison(device.name, real, simulated, rows, tuple(remarks))


def was_fitted_to(device: Device, recording: LidarRecording) -> bool:
    """Whether a sheet says that it was fitted to some turns of this file."""
    sheet = device.sheet
    assert isinstance(sheet, LidarSheet)
    return sheet.sources.get("REC") == f"measured in {PurePath(recording.source).name}"
