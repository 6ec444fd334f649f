"""What belongs to values that a program holds: current, held, or mixed row by row and channel by channel."""

import numpy as np

from sensorium.corruption import Chain, Dropout, Fault, FaultSchedule, Freeze, Program, Stuck
from sensorium.corruption.engine.base import Layout
from sensorium.sensors.common.held import Held


def test_labels_go_with_the_values_that_left_the_chain():
    """Values are the sample's number, and so are the labels: after any mixture of faults they must agree."""
    chain = Chain(
        [
            Fault(Dropout(probability=0.5, fill="hold", together=False), onsets_per_s=0.03, duration_s=20.0),
            Fault(Stuck(mode="present"), onsets_per_s=0.02, duration_s=15.0, channels=(0, 3)),
            Fault(Freeze(), onsets_per_s=0.02, duration_s=15.0),
        ]
    )
    program = chain.program(4)
    state = program.init((7, 4), seed=2, name="x")
    held, ages = Held(program), set()
    for k in range(400):
        x = np.full((7, 4), float(k))
        program.step(x, k * 1_000_000_000, state)
        current = {"label": np.full((7, 4), k), "vector": np.full((7, 4, 3), k)}
        of = held.with_held(state, None, current)
        np.testing.assert_array_equal(of["label"], x)
        np.testing.assert_array_equal(of["vector"], np.repeat(x[..., None], 3, axis=2))
        ages |= set((k - x).ravel())
        assert held.distinct("label") >= set(x.ravel().astype(int))
    assert len(ages) > 20


def test_without_anything_held_arrays_are_handed_on_as_they_are():
    program = Program(FaultSchedule(faults=(Fault(Freeze()),)).parts(Layout(2)), columns=2)
    held, state = Held(program), program.init((2,), seed=0, name="x")
    assert held.possible
    for k in range(3):
        faults = np.zeros((1, 1), np.uint8)
        program.step(np.zeros((1, 2)), k, state, faults)
        current = {"label": np.full((1, 2), k)}
        assert held.with_held(state, faults, current) is current
    assert not Held(Program([], columns=2)).possible
