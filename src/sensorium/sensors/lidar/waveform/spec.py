"""What a waveform lidar has beside beam and receiver: rays of a pulse, its shape, a digitizer, a detector."""

from pydantic import Field

from sensorium.core.spec import Spec
from sensorium.sensors.lidar.waveform.detectors import Detector, LeadingEdge
from sensorium.sensors.lidar.waveform.pulses import GaussianPulse, PulseShape
from sensorium.sensors.lidar.waveform.rays import SubRays

# Bins of a waveform, at most: each has a random number of its own
_MOST_BINS = 2**17


def check_bins(name: str, resolution_s: float, window_s: float) -> None:
    """Raise a ValueError where a time window would have less than one bin, or too many.

    Args:
        name: What the length of a bin is called.
        resolution_s: Length of a bin [s].
        window_s: Length of the window [s].
    """
    if resolution_s > window_s:
        raise ValueError(f"{name} is {resolution_s}; a bin must be no longer than the window, {window_s:.4g} s")
    if window_s / resolution_s > _MOST_BINS:
        rule = f"the window must have at most {_MOST_BINS} bins, and has {window_s / resolution_s:.0f}"
        raise ValueError(f"{name} is {resolution_s}; {rule}")


def check_kept(waveform: "Waveform", pulses: int, bins: int) -> None:
    """Raise a ValueError where the samples of a sweep would take more than is allowed.

    Args:
        waveform: Whether samples are kept, and how much they may take.
        pulses: Of a sweep, of all worlds and sensors.
        bins: Of a pulse.
    """
    size_gb = 4e-9 * pulses * bins
    if waveform.keep and size_gb > waveform.keep_gb:
        raise ValueError(
            f"waveform.keep would hold {size_gb:.3g} GB for each sweep, {pulses} pulses of {bins} bins of 4 bytes; it "
            f"must be at most waveform.keep_gb, {waveform.keep_gb:g}: state more, or a shorter window (start_s, stop_s)"
        )


class Waveform(Spec):
    """For `Lidar(mode="waveform")`; power, area, field, response and noise are those of `Lidar.receiver`.

    A sample is the mean over its bin of (signal + sunlight + noise) x gain, in watts at the detector times the gain,
    and no more than the full scale.
    """

    rays: SubRays | None = Field(default=None, discriminator="kind")
    """Rays that make up a pulse; None is a grid by eq. 8 where the pattern has a single pulse, else a spiral of 19."""
    pulse: PulseShape = Field(default=GaussianPulse(), discriminator="kind")
    """Its shape in time."""
    start_s: float = Field(default=0.0, ge=0.0)
    """When the digitizer begins after the pulse has left [s]."""
    stop_s: float | None = Field(default=None, gt=0.0)
    """When it ends [s]; None: when light from `max_range_m` has come back."""
    resolution_s: float = Field(default=0.5e-9, gt=0.0)
    """Length of a bin [s]."""
    gain: float = Field(default=1.0, gt=0.0)
    """Of the electronics [1]."""
    full_scale: float | None = Field(default=None, gt=0.0)
    """Where samples saturate, in their unit; None: nowhere."""
    shot_noise: bool = True
    """Whether photons arrive at random, as `receiver.quantum_efficiency` counts them."""
    detector: Detector = Field(default=LeadingEdge(), discriminator="kind")
    """What finds returns."""
    keep: bool = False
    """Whether readings hold the samples themselves, as `scan.waveform`; recordings then have them too."""
    keep_gb: float = Field(default=1.0, gt=0.0)
    """The most that kept samples of one sweep may take, of all worlds and sensors together [GB of 10^9 bytes]; more is
    refused when the lidar is made or attached."""
