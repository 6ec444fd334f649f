"""Errors and faults of signals, one a file, and the chain that orders them.

`chain = Chain([Bias(0.1), White(std=0.02), Quantize(lsb=0.01)])` is data; `state = chain.init(shape=(3,), seed=1)` and
`noisy, state = chain.apply(signal, time_ns=t, state=state)` put it to work on arrays.
"""

from sensorium.corruption.base import Corruption
from sensorium.corruption.bias import Bias
from sensorium.corruption.bounded_walk import BoundedWalk
from sensorium.corruption.chain import Chain
from sensorium.corruption.couple import Coupling
from sensorium.corruption.custom import CustomCorruption
from sensorium.corruption.dead import BlockedSector, DeadChannels
from sensorium.corruption.drift import Drift
from sensorium.corruption.dropout import Dropout
from sensorium.corruption.fault_clock import FaultClock
from sensorium.corruption.fault_log import FaultEvent, FaultLog
from sensorium.corruption.faults import Fault, FaultSchedule
from sensorium.corruption.flicker import BiasInstability
from sensorium.corruption.freeze import Freeze
from sensorium.corruption.gauss_markov import GaussMarkov
from sensorium.corruption.intermittent_bias import IntermittentBias
from sensorium.corruption.low_pass import LowPass
from sensorium.corruption.noise import Noise
from sensorium.corruption.nonlinearity import Nonlinearity
from sensorium.corruption.op import Moment
from sensorium.corruption.overflow import Overflow
from sensorium.corruption.process import LinearProcess
from sensorium.corruption.program import Part, Program
from sensorium.corruption.quantize import Quantize
from sensorium.corruption.random_walk import RandomWalk
from sensorium.corruption.saturate import Saturate
from sensorium.corruption.scale import Scale
from sensorium.corruption.spikes import Spikes
from sensorium.corruption.state import State
from sensorium.corruption.stuck import Stuck
from sensorium.corruption.temperature import TemperatureDrift
from sensorium.corruption.timing_errors import TimingErrors
from sensorium.corruption.wave import Ramp, SquareWave, TriangleWave
from sensorium.corruption.white import White

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
    "LinearProcess",
    "LowPass",
    "Moment",
    "Noise",
    "Nonlinearity",
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
]
