"""Exposure time, gain and white balance of each image, and their automatic control from the image before."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.imaging.auto_exposure import metered_level, next_exposure, region_of
from sensorium.physics.imaging.white_balance import (
    BalanceGains,
    ColorTemperature,
    GrayWorld,
    next_balance,
    temperature_gains,
)

if TYPE_CHECKING:
    from sensorium.sensors.camera.camera import Camera
    from sensorium.sensors.camera.pipeline import Pipeline


class Settings(NamedTuple):
    """Settings of one image."""

    exposure_s: float
    """Exposure time [s]."""
    gain: float
    """On top of the camera's own [1]."""
    balance: NDArray[np.float64] | None
    """Gain of each band after the converter [1]; None for a camera without white balance."""


def first_settings(spec: "Camera") -> Settings:
    """Those of a camera's first image, and of all for one without automatics."""
    balance = None
    if isinstance(spec.white_balance, BalanceGains):
        balance = np.array(spec.white_balance.gains)
    elif isinstance(spec.white_balance, ColorTemperature):
        balance = temperature_gains(spec.bands, spec.white_balance.temperature_k)
    elif isinstance(spec.white_balance, GrayWorld):
        balance = np.ones(len(spec.bands))
    return Settings(spec.exposure_s, 1.0, balance)


class Automatics:
    """Settings of every head, which follow its images."""

    def __init__(self, spec: "Camera", pipeline: "Pipeline", heads: int) -> None:
        self._spec, self._pipeline = spec, pipeline
        self.settings = [pipeline.first_settings] * heads
        """Of the next image of each head."""

    def restart(self, heads: NDArray[np.intp]) -> None:
        """Restart some heads."""
        for head in heads.tolist():
            self.settings[head] = self._pipeline.first_settings

    def follow(self, head: int, electrons: NDArray[np.float32]) -> None:
        """Set the next image of a head from the pixels of this one."""
        spec, used, pipeline = self._spec, self.settings[head], self._pipeline
        auto, gray = spec.auto_exposure, spec.white_balance
        exposure_s, gain, balance = used
        if auto is not None:
            shares = pipeline.shares(electrons, used, region_of(auto.region, spec.rows, spec.columns))
            level = metered_level(shares, auto.percentile)
            exposure_s, gain = next_exposure(auto, level, exposure_s=exposure_s, gain=gain)
        if isinstance(gray, GrayWorld):
            assert balance is not None
            where = region_of(gray.region, spec.rows, spec.columns)
            balance = next_balance(gray, pipeline.shares(electrons, used, where), pipeline.band[where], balance)
        self.settings[head] = Settings(exposure_s, gain, balance)
