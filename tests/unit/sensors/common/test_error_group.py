"""Errors of one quantity: noise, further corruptions, faults, quantization, saturation, in this order."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.corruption import Fault, FaultSchedule, Program, Scale
from sensorium.sensors.common.error_group import ErrorGroup


def read(group, x, faults=()):
    schedule = FaultSchedule(faults=faults)
    place = {"target": "range", "column": 1, "group": 2}
    parts = group.channel_parts(width=2, period_s=0.1, faults=schedule, **place)
    program = Program(parts, columns=4, period_s=0.1)
    out = np.array([x], float)
    clock = schedule.begin(seed=0, name="x")
    program.step(out, 0, program.init((4,), seed=0, name="x"), clock.at(0) if faults else None)
    return out[0].tolist()


def test_parts_act_in_their_order_on_their_own_channels():
    """(3 + 1) 1.5 is 6; doubled by the fault 12; in steps of 5 it is 10, and at most 9 leaves 5."""
    group = ErrorGroup(
        noise={"bias": 1.0}, extra=(Scale(error=0.5),), quantization={"lsb": 5.0}, saturation={"min": -9.0, "max": 9.0}
    )
    assert read(group, [3.0, 3.0, 3.0, 3.0]) == [3.0, 5.0, 5.0, 3.0]
    assert read(group, [3.0, 3.0, -7.0, 3.0], (Fault(Scale(error=1.0)),)) == [3.0, 5.0, -5.0, 3.0]
    group.saturation.on = False
    assert read(group, [3.0, 3.0, 3.0, 3.0], (Fault(Scale(error=1.0)),)) == [3.0, 10.0, 10.0, 3.0]


def test_without_fields_nothing_is_wrong():
    assert read(ErrorGroup(), [1.0, 2.0, 3.0, 4.0]) == [1.0, 2.0, 3.0, 4.0]


def test_bits_beside_a_saturation_that_is_off_say_so():
    group = ErrorGroup(quantization={"bits": 8}, saturation={"min": -1.0, "max": 1.0, "on": False})
    with pytest.raises(
        SpecError, match="bits is 8 and the chain's saturation is off; switch it on, or give min and max"
    ):
        read(group, [0.0] * 4)
