"""A real device beside its simulation, figure by figure, with a verdict by a stated test."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from sensorium.core.errors import SpecError
from sensorium.devices import Device
from sensorium.recordings.compare.simulation import simulated_recording, simulated_separation
from sensorium.recordings.fit.fitted import RECORDED, recorded_in
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
"""How far a lidar's simulated figure may be from the real one, as a share, by quantity; others are not modeled."""

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
    if was_fitted_to(device, recording.source):
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
    rows = rows_of(real, simulated, TOLERANCES, hidden=_HIDDEN)
    return Comparison(device.name, real, simulated, rows, tuple(remarks))


class Comparing(NamedTuple):
    """How recordings of one kind are compared.

    Attributes:
        kind: Of the devices, as "camera".
        measure: Measures a recording, real or simulated.
        halves: Every second sample from the first, and those between; None where they are too few.
        samples: What is held out, as "frames".
        simulate: What a device records in the scene of a recording, with a seed; and remarks on how.
        tolerances: Largest shares by which figures may differ, by quantity.
    """

    kind: str
    measure: Callable[[Any], Measurement]
    halves: Callable[[Any], tuple[Any, Any]]
    samples: str
    simulate: Callable[[Device, Any, int], tuple[Any, Sequence[str]]]
    tolerances: Mapping[str, float]

    def __call__(self, recording: Any, device: Device, *, seed: int = 0) -> Comparison:
        """Measure the scene of a recording again with a simulated device, and compare.

        A sheet that was fitted to the same file is held against the samples that it was not fitted to.

        Args:
            recording: Of a real device.
            device: Of the same kind.
            seed: Of the simulation's noise.
        """
        real, remarks = self.measure(recording), []
        if device.kind != self.kind:
            raise SpecError(f"device {device.name!r} is of kind {device.kind!r}; {real.source!r} is of a {self.kind}")
        if was_fitted_to(device, real.source):
            _, rest = self.halves(recording)
            if rest is not None:
                recording, real = rest, self.measure(rest)
                remarks.append(
                    f"the sheet was fitted to the other {self.samples} of this recording; these were held out"
                )
            else:
                remarks.append("the sheet was fitted to this recording: nothing is held out")
        elif was_fitted_to(device, real.source, is_whole=True):
            remarks.append("the sheet was fitted to all of this recording: nothing is held out")
        made, how = self.simulate(device, recording, seed)
        try:
            simulated = self.measure(made)
        except SpecError as error:
            raise SpecError(f"what {device.name!r} records in simulation cannot be measured: {error}") from None
        rows = rows_of(real, simulated, self.tolerances)
        return Comparison(device.name, real, simulated, rows, (*remarks, *real.remarks, *how))


def rows_of(
    real: Measurement, simulated: Measurement, tolerances: Mapping[str, float], *, hidden: Collection[str] = ()
) -> tuple[Row, ...]:
    """Figures of both by name and place, but for hidden quantities."""
    theirs = {(each.quantity, each.where): each for each in simulated.figures}
    return tuple(
        Row(figure, theirs.get((figure.quantity, figure.where)), tolerances.get(figure.quantity))
        for figure in real.figures
        if figure.quantity not in hidden
    )


def was_fitted_to(device: Device, source: str, *, is_whole: bool = False) -> bool:
    """Whether a sheet says that it was fitted to one half of this file, or to all of it."""
    return device.sheet.sources.get(RECORDED) == recorded_in(source, is_whole=is_whole)
