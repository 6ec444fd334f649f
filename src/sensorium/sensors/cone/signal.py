"""Signal of a cone sensor: channels that errors act on, and speeds from two successive readings."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sensorium.core.rotations import Float
from sensorium.corruption import Program, State
from sensorium.sensors.common.held import Held
from sensorium.sensors.common.rig import Rig
from sensorium.sensors.cone.caster import ConeCaster
from sensorium.sensors.cone.channels import COLUMNS, OBJECT, RANGE, derive, measure, new_memory
from sensorium.sensors.cone.sighting import Sighting


class ConeSignal:
    """The ideal channels; NaN if nothing is in sight, which noise leaves unchanged and a fault may hold."""

    columns = COLUMNS

    def __init__(self, rig: Rig, caster: ConeCaster, period_s: float | None, rule: Float) -> None:
        """Measure where the rig says.

        Args:
            rig: Mount of the sensors.
            caster: Finds the points in sight.
            period_s: Time that speeds are divided by [s]; None takes that between the samples.
            rule: Of verdicts, see `new_rule`.
        """
        rows = rig.worlds * rig.sensors
        self._rig, self._caster, self._period_s = rig, caster, period_s
        self._memory, self._before_ns = new_memory(rows, rule), 0
        self.rule = rule
        """Rule of the verdicts."""
        self.read_before = new_memory(rows, rule)
        """State of `ConeReadout` from the readings before."""
        self.object_id = np.full((rows, 1), -1, np.int32)
        """The nearest object at the last sample, or the one reported as such; -1 for none, shape (rows, 1)."""
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
            self.interval_s,
            self.rule,
            self._memory,
            out,
        )
        self._before_ns, self.object_id, self.ideal = time_ns, nearest.object_id, out
        return found, nearest


class ConeReadout:
    """Makes points and speeds of channels that errors have changed; a range that is held keeps its object."""

    def __init__(self, signal: ConeSignal, program: Program) -> None:
        self._signal, self._held = signal, Held(program, RANGE)

    def hold(
        self, state: State, active: NDArray[np.uint8] | None, sighted: tuple[Sighting, Sighting]
    ) -> tuple[Sighting, Sighting]:
        """All that is in sight, and the nearest; where a fault holds an older range, the object that it was of."""
        if not self._held.possible:
            return sighted
        found, nearest = sighted
        seen = {"object_id": nearest.object_id, "face_id": nearest.face_id}
        of = self._held.with_held(state, active, seen)
        if of is seen:
            return sighted
        self._signal.object_id = of["object_id"]
        return found, replace(nearest, object_id=of["object_id"], face_id=of["face_id"])

    def read(self, time_ns: int, x: Float, ideal: Float) -> None:
        """Work on the sample in place."""
        signal = self._signal
        derive(signal.ideal, signal.object_id, signal.interval_s, signal.rule, signal.read_before, x)

    def restart(self, rows: NDArray[np.bool_]) -> None:
        """The masked rows have no reading before."""
        self._signal.read_before[rows, OBJECT] = -1.0
