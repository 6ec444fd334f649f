"""Errors and faults of signals, one per file, and the chain that orders them.

`chain = Chain([Bias(0.1), White(std=0.02), Quantize(lsb=0.01)])` is data; `state = chain.init(shape=(3,), seed=1)` and
`noisy, state = chain.apply(signal, time_ns=t, state=state)` put it to work on arrays.
"""

from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.chain import Chain
from sensorium.corruption.engine.custom import CustomCorruption
from sensorium.corruption.engine.op import Moment, Op, operation
from sensorium.corruption.engine.process import LinearProcess
from sensorium.corruption.engine.program import Part, Program
from sensorium.corruption.engine.state import State
from sensorium.corruption.errors.bias import Bias
from sensorium.corruption.errors.bounded_walk import BoundedWalk
from sensorium.corruption.errors.couple import Coupling
from sensorium.corruption.errors.drift import Drift
from sensorium.corruption.errors.flicker import BiasInstability
from sensorium.corruption.errors.gauss_markov import GaussMarkov
from sensorium.corruption.errors.low_pass import LowPass
from sensorium.corruption.errors.noise import Noise
from sensorium.corruption.errors.nonlinearity import Nonlinearity
from sensorium.corruption.errors.overflow import Overflow
from sensorium.corruption.errors.quantize import Quantize
from sensorium.corruption.errors.random_walk import RandomWalk
from sensorium.corruption.errors.saturate import Saturate
from sensorium.corruption.errors.scale import Scale
from sensorium.corruption.errors.temperature import TemperatureDrift
from sensorium.corruption.errors.timing_errors import TimingErrors
from sensorium.corruption.errors.wave import Ramp, SquareWave, TriangleWave
from sensorium.corruption.errors.white import White
from sensorium.corruption.faults.clock import FaultClock
from sensorium.corruption.faults.dead import BlockedSector, DeadChannels
from sensorium.corruption.faults.dropout import Dropout
from sensorium.corruption.faults.fault import Fault, FaultSchedule
from sensorium.corruption.faults.freeze import Freeze
from sensorium.corruption.faults.intermittent_bias import IntermittentBias
from sensorium.corruption.faults.log import FaultEvent, FaultLog
from sensorium.corruption.faults.spikes import Spikes
from sensorium.corruption.faults.stuck import Stuck

__all__ = [
    "Bias",
    "BiasInstability",
    "BlockedSector",
    "BoundedWalk",
    "Chain",
    "Corruption",
    "Coupling",
    "CustomCorruption",
    "DeadChannels",
    "Drift",
    "Dropout",
    "Fault",
    "FaultClock",
    "FaultEvent",
    "FaultLog",
    "FaultSchedule",
    "Freeze",
    "GaussMarkov",
    "IntermittentBias",
    "Layout",
    "LinearProcess",
    "LowPass",
    "Moment",
    "Noise",
    "Nonlinearity",
    "Op",
    "Overflow",
    "Part",
    "Program",
    "Quantize",
    "Ramp",
    "RandomWalk",
    "Saturate",
    "Scale",
    "Spikes",
    "SquareWave",
    "State",
    "Stuck",
    "TemperatureDrift",
    "TimingErrors",
    "TriangleWave",
    "White",
    "operation",
]
