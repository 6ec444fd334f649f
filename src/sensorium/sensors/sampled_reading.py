"""What readings of sensors that sample at instants have in common."""

import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sensorium.sensors.rig import Rig
from sensorium.sensors.sampled import Sample


class SampledReading:
    """One sample of all worlds and sensors.

    Arrays have leading axes of worlds and sensors where the environment has them.
    """

    __slots__ = ("_rig", "_sample")

    def __init__(self, sample: Sample, rig: Rig) -> None:
        self._sample, self._rig = sample, rig

    @property
    def time_ns(self) -> int:
        """When it was taken, by the sensor's clock [ns]."""
        return self._sample.time_ns

    @property
    def valid(self) -> NDArray[np.bool_]:
        """False where a reset broke its interval or voided it on its way; shape () or the leading axes."""
        return self._shaped(self._sample.valid)

    def without(self, mask: NDArray[np.bool_]) -> Self:
        """The same, void in the masked worlds."""
        other = copy.copy(self)
        valid = self._sample.valid & ~np.repeat(mask, self._rig.sensors)
        other._sample = replace(self._sample, valid=valid)
        return other

    def _channels(self, first: int, last: int) -> NDArray[np.float64]:
        """Some channels of the sample, with the axes that were asked for, then the channels."""
        return self._shaped(self._sample.x[:, first:last])

    def _channel(self, column: int) -> NDArray[np.float64]:
        """One channel, with the axes that were asked for."""
        return self._shaped(self._sample.x[:, column])

    def _shaped(self, rows: NDArray[Any]) -> NDArray[Any]:
        rig = self._rig
        return np.asarray(rig.squeeze(rows.reshape(rig.worlds, rig.sensors, *rows.shape[1:])))
