"""What every specification of a sensor checks: faults that have something to act on."""

from typing import ClassVar, Literal

import pytest

from sensorium.core.errors import SpecError
from sensorium.corruption import Bias, Fault, FaultSchedule, TimingErrors
from sensorium.sensors.common.spec import SensorSpec


class Quiet(SensorSpec[None]):
    """A sensor without channels."""

    kind: Literal["quiet_thing"] = "quiet_thing"

    def start(self, rig):
        """Not put to work here."""
        raise NotImplementedError


class Loud(Quiet):
    """One with channels."""

    targets: ClassVar[tuple[str, ...]] = ("level",)


def test_a_fault_of_a_signal_is_refused_without_channels():
    with pytest.raises(SpecError, match="a fault has a corruption; a quiet thing has no channels for it"):
        Quiet(faults=FaultSchedule(faults=(Fault(Bias(1.0)),)))
    Quiet(faults=FaultSchedule(faults=(Fault(timing=TimingErrors(loss=0.1)),)))


def test_a_fault_names_a_target_that_the_sensor_has():
    Loud(faults=FaultSchedule(faults=(Fault(Bias(1.0), target="level"),)))
    with pytest.raises(SpecError, match="a fault's target is 'sound'; it must be one of: level"):
        Loud(faults=FaultSchedule(faults=(Fault(Bias(1.0), target="sound"),)))
