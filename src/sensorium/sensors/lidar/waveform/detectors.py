"""Detectors that find returns in a waveform.

All of them look for peaks: stretches that exceed a threshold and rise out of the preceding valley by as much. They
differ in the threshold and in the time they assign to a peak. Height and width of a return are those of the Gaussian
through the samples above half of the peak.

For a single pulse of 1.5 bins or more (full width at half maximum) the mean time is within a tenth of a bin above a
signal-to-noise ratio of 20, with electronic noise, photon noise or none. Overlapping pulses shift each other's times,
except in a decomposition: by less than a tenth of a bin from two widths apart, by up to 0.7 bins at 1.5 widths; nearer
pulses are one return.
"""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from sensorium.core.spec import Spec


class Threshold(Spec):
    """The time at which the rising edge crosses the threshold, or a twentieth of its peak where that is higher.

    In a quiet receiver the threshold is far below the peaks, possibly zero; an edge that low consists of a few photons.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["threshold"] = "threshold"
    walk_correction: bool = True
    """Whether the known pulse shape corrects the time of higher peaks, which cross earlier. Without the correction, the
    time is that of the threshold crossing itself, however low the threshold is."""


class LeadingEdge(Spec):
    """The time at which the rising edge crosses a share of its own peak: a constant-fraction discriminator."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["leading_edge"] = "leading_edge"
    fraction: float = Field(default=0.5, ge=0.05, le=0.95)
    """Share of the peak."""


class Centroid(Spec):
    """The centroid of the samples above a fifth of the peak."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["centroid"] = "centroid"


class Cfar(Spec):
    """Constant false-alarm rate: the threshold follows the noise in the cells around; the time is the peak's.

    For normal noise the threshold is mean + k deviation of the cells, with Student's k; for exponential noise, that of
    a square-law detector, it is alpha times their mean.

    Cells that contain another return raise the threshold: of two returns nearer to each other than half the cells plus
    the guard, the weaker is hidden, and both are hidden if they are about equally high. This is inherent in cell
    averaging; where near returns matter, use another detector.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["cfar"] = "cfar"
    cells: int = Field(default=32, ge=4, le=512, multiple_of=2)
    """Number of noise cells, half before and half behind."""
    guard_s: float | None = Field(default=None, ge=0.0)
    """Time on either side that is excluded because the return itself extends there [s]; None: 1.5 pulses."""
    false_alarm: float = Field(default=1e-6, gt=0.0, lt=0.5)
    """Probability of a false alarm in a bin of noise alone."""
    law: Literal["normal", "exponential"] = "normal"


class GaussianDecomposition(Spec):
    """A sum of Gaussians fitted to the waveform, one per peak: overlapping neighbors are separated without bias."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["gaussian_decomposition"] = "gaussian_decomposition"


Detector = Annotated[Threshold | LeadingEdge | Centroid | Cfar | GaussianDecomposition, Field(discriminator="kind")]
"""Any detector, distinguished by its `kind` when read from a plain dictionary."""
