"""Detectors on plain arrays of waveforms."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.core.errors import SpecError
from sensorium.sensors.lidar.waveform.detectors import Detector, GaussianDecomposition


@dataclass(frozen=True, eq=False)
class Returns:
    """Returns of waveforms, the highest `most`, nearest first; NaN where there are fewer. Shape (*batch, most)."""

    time_s: NDArray[np.float64]
    """Time of arrival [s]."""
    amplitude: NDArray[np.float64]
    """Height above the background, in the unit of the samples."""
    width_s: NDArray[np.float64]
    """Full width at half maximum [s]."""

    @property
    def range_m(self) -> NDArray[np.float64]:
        """Range by the speed of light in vacuum [m]."""
        return self.time_s * (SPEED_OF_LIGHT_M_S / 2.0)


def find_returns(
    samples: ArrayLike,
    *,
    detector: Detector,
    pulse: tuple[ArrayLike, ArrayLike],
    resolution_s: float,
    start_s: float = 0.0,
    noise: float = 0.0,
    electron: float = 0.0,
    false_alarm: float = 1e-3,
    threshold: float = 0.0,
    full_scale: float | None = None,
    most: int = 8,
) -> Returns:
    """Find returns in waveforms, as `Lidar(mode="waveform")` does.

    Args:
        samples: Waveforms less their background, shape (*batch, bins).
        detector: One of `Threshold`, `LeadingEdge`, `Centroid`, `Cfar`, `GaussianDecomposition`.
        pulse: Times [s] and values of the pulse that was sent, as `sn.optics.gaussian_pulse_table` gives.
        resolution_s: Length of a bin [s].
        start_s: Start of the first bin after the pulse's time 0 [s].
        noise: Root mean square of the noise of a sample without signal; the threshold follows from it.
        electron: Height of one electron, where their number is random: a sample of the height s has the variance
            noise^2 + s electron, which keeps the photons of one pulse from being taken for several.
        false_alarm: Probability of a false alarm per waveform; `Cfar` has its own.
        threshold: Least height of a return, in the unit of the samples.
        full_scale: Value at which samples saturate.
        most: Greatest number of returns per waveform, 1 to 32.
    """
    from sensorium.runtime import worker_pool  # imported on use: compiled functions load slowly
    from sensorium.sensors.lidar.waveform.tables import detector_tables
    from sensorium.tracing.kernels.waveform.decompose import SCRATCH
    from sensorium.tracing.kernels.waveform.detect import detect_rows
    from sensorium.tracing.kernels.waveform.tables import D_SHOT, D_SIGMAS, MOST_FOUND

    waves = np.asarray(samples, np.float32)
    if waves.ndim < 1 or waves.shape[-1] < 3:
        raise SpecError(f"samples has shape {waves.shape}; a waveform must have 3 bins or more")
    if not np.isfinite(waves).all():
        raise SpecError("samples has a value that is not finite")
    if not 1 <= most <= MOST_FOUND:
        raise SpecError(f"most is {most}; it must be 1 to {MOST_FOUND}")
    for name, value in (("noise", noise), ("electron", electron), ("threshold", threshold)):
        if not 0.0 <= value < np.inf:
            raise SpecError(f"{name} is {value}; it must be finite and not negative")
    rows = np.ascontiguousarray(waves.reshape(-1, waves.shape[-1]))
    tables = detector_tables(detector, pulse, resolution_s, bins=rows.shape[1], false_alarm=false_alarm)
    tables.number[D_SHOT] = tables.number[D_SIGMAS] ** 2 * electron
    least = np.full(len(rows), max(float(tables.number[D_SIGMAS]) * noise, threshold, 1e-30), np.float32)
    found = tuple(np.full((len(rows), most), np.nan) for _ in range(3))
    decomposes = isinstance(detector, GaussianDecomposition)
    scratch = np.zeros((max(worker_pool.get_threads(), 1), SCRATCH if decomposes else 0))
    full = np.float32(np.inf if full_scale is None else full_scale)
    worker_pool.run(detect_rows, len(rows), rows, least, full, tables, scratch, *found, serial_below=64)
    shape = (*waves.shape[:-1], most)
    place, height, width = (array.reshape(shape) for array in found)
    return Returns(start_s + place * resolution_s, height, width * resolution_s)
