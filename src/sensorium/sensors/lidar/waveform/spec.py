"""Options of a waveform lidar beside beam and receiver: rays of a pulse, its shape, a digitizer, a detector."""

from pydantic import Field

from sensorium.core.spec import Spec
from sensorium.sensors.lidar.waveform.detectors import Detector, LeadingEdge
from sensorium.sensors.lidar.waveform.pulses import GaussianPulse, PulseShape
from sensorium.sensors.lidar.waveform.rays import SubRays

# Bins of a waveform, at most: each has a random number of its own
_MOST_BINS = 2**17


def check_bins(name: str, resolution_s: float, window_s: float) -> None:
    """Raise a ValueError if a time window would have less than one bin, or too many.

    Args:
        name: Name of the bin length in the error.
        resolution_s: Length of a bin [s].
        window_s: Length of the window [s].
    """
    if resolution_s > window_s:
        raise ValueError(f"{name} is {resolution_s}; a bin must be no longer than the window, {window_s:.4g} s")
    if window_s / resolution_s > _MOST_BINS:
        rule = f"the window must have at most {_MOST_BINS} bins, and has {window_s / resolution_s:.0f}"
        raise ValueError(f"{name} is {resolution_s}; {rule}")


def check_kept(waveform: "Waveform", pulses: int, bins: int) -> None:
    """Raise a ValueError if the samples of a sweep would take more than the allowed memory.

    Args:
        waveform: Whether samples are kept, and their memory limit.
        pulses: Per sweep, of all worlds and sensors.
        bins: Per pulse.
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
    """Start of the digitizer after the pulse has left [s]."""
    stop_s: float | None = Field(default=None, gt=0.0)
    """End of the digitizer [s]; None: when light from `max_range_m` has come back."""
    resolution_s: float = Field(default=0.5e-9, gt=0.0)
    """Length of a bin [s]."""
    gain: float = Field(default=1.0, gt=0.0)
    """Of the electronics [1]."""
    full_scale: float | None = Field(default=None, gt=0.0)
    """Value at which samples saturate, in their unit; None: no saturation."""
    shot_noise: bool = True
    """Whether photon counts are random, by `receiver.quantum_efficiency`."""
    detector: Detector = Field(default=LeadingEdge(), discriminator="kind")
    """The detector that finds returns."""
    keep: bool = False
    """Whether readings include the samples, as `scan.waveform`; recordings then have them too."""
    keep_gb: float = Field(default=1.0, gt=0.0)
    """Memory limit for the kept samples of one sweep, of all worlds and sensors together [GB of 10^9 bytes]; a greater
    need is refused when the lidar is created or attached."""
