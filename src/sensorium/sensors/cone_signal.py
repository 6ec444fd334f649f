"""What a cone sensor measures: channels that errors act on, and what two readings in a row tell of speed."""

import numpy as np
from numpy.typing import NDArray

from sensorium.rotations import Float
from sensorium.sensors.cone_caster import ConeCaster
from sensorium.sensors.cone_channels import COLUMNS, OBJECT, derive, measure, new_memory
from sensorium.sensors.cone_sighting import Sighting
from sensorium.sensors.rig import Rig


class ConeSignal:
    """The ideal channels; where nothing is in sight the chain gets the sensor's reach and zeros to work on."""

    columns = COLUMNS

    def __init__(self, rig: Rig, caster: ConeCaster, reach_m: float, period_s: float | None, rule: Float) -> None:
        """Measure where the rig says.

        Args:
            rig: Where the sensors sit.
            caster: Finds what is in sight.
            reach_m: Length of the cone [m].
            period_s: Time that speeds are divided by [s]; None takes that between the samples.
            rule: Of verdicts, see `new_rule`.
        """
        rows = rig.worlds * rig.sensors
        self._rig, self._caster, self._reach_m, self._period_s = rig, caster, reach_m, period_s
        self._memory, self._before_ns = new_memory(rows, rule), 0
        self.rule = rule
        """How verdicts are found."""
        self.read_before = new_memory(rows, rule)
        """What `ConeReadout` remembers of the readings before."""
        self.object_id = np.full((rows, 1), -1, np.int32)
        """What was nearest at the last sample, -1 for nothing, shape (rows, 1)."""
        self.ideal = np.zeros((rows, COLUMNS))
        """The last sample."""
        self.interval_s = 0.0
        """Time that speeds were divided by at the last sample [s]."""

    def begin(self, time_ns: int) -> None:
        """Measuring starts now: there is no reading before."""
        self._memory[:, OBJECT] = self.read_before[:, OBJECT] = -1.0

    def forget(self) -> None:
        """Worlds that were reset just now have no reading before."""
        history = self._rig.history
        self._memory[np.repeat(history.valid_from_ns == history.newest.time_ns, self._rig.sensors), OBJECT] = -1.0

    def sample(self, time_ns: int, out: Float) -> tuple[Sighting, Sighting]:
        """The ideal sample at a time, shape (rows, COLUMNS), into out; gives all that is in sight, and the nearest."""
        found = self._caster.at(time_ns)
        nearest = found.nearest()
        self.interval_s = (time_ns - self._before_ns) * 1e-9 if self._period_s is None else self._period_s
        measure(
            nearest.point,
            nearest.range_m,
            nearest.range_rate,
            nearest.object_id,
            self._reach_m,
            self.interval_s,
            self.rule,
            self._memory,
            out,
        )
        self._before_ns, self.object_id, self.ideal = time_ns, nearest.object_id, out
        return found, nearest


class ConeReadout:
    """Makes points, and speeds, of channels that errors have changed."""

    def __init__(self, signal: ConeSignal) -> None:
        self._signal = signal

    def read(self, time_ns: int, x: Float, ideal: Float) -> None:
        """Work on the sample in place."""
        signal = self._signal
        derive(signal.ideal, signal.object_id, signal.interval_s, signal.rule, signal.read_before, x)

    def restart(self, rows: NDArray[np.bool_]) -> None:
        """The masked rows have no reading before."""
        self._signal.read_before[rows, OBJECT] = -1.0
