"""Faults of cameras: corruptions of the pixels of whole images for a limited time."""

import numpy as np
from numpy.typing import NDArray

from sensorium.corruption import FaultSchedule, Program
from sensorium.corruption.engine.base import Layout
from sensorium.sensors.common.held import Arrays, Held
from sensorium.sensors.common.spec import Rig


class ImageFaults:
    """A camera's schedule over the numbers of its images, which are its channels, row by row."""

    def __init__(self, rig: Rig, numbers: int, period_s: float, faults: FaultSchedule, *, target: str) -> None:
        """Begin healthy.

        Args:
            rig: Mount of the cameras.
            numbers: Of an image.
            period_s: Time between images [s].
            faults: Of the camera.
            target: Name of these numbers as a fault target.
        """
        self._rig = rig
        parts = faults.parts(Layout(numbers, period_s), target=target)
        self._program = Program(parts, columns=numbers, period_s=period_s)
        self._state = self._program.init(
            (rig.worlds, rig.sensors, numbers), seed=rig.seed, name=f"{rig.name}/{target}", first_world=rig.first_world
        )
        self._held = Held(self._program)

    def restart(self, mask: NDArray[np.bool_]) -> None:
        """Restart the masked worlds."""
        self._program.restart(self._state, mask)

    def apply(self, images: NDArray[np.float64], time_ns: int) -> None:
        """Apply the faults of a time, in place.

        Args:
            images: Shape (heads, numbers); finite, or NaN for missing values.
            time_ns: When they were complete [ns], later than those before.
        """
        faults = self._rig.faults
        assert faults is not None
        self._program.step(images, time_ns, self._state, faults.at(time_ns), faults.onsets_ns)

    def with_held(self, current: Arrays) -> Arrays:
        """Data that belong to the numbers that `apply` left: if a fault holds an older image, the data of that image.

        Args:
            current: Of the image that was last given to `apply`, each (heads, numbers, ...).
        """
        if not self._held.possible:
            return current
        assert self._rig.faults is not None
        return self._held.with_held(self._state, self._rig.faults.at(self._state.time_ns), current)
