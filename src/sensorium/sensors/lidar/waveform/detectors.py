"""How a waveform lidar finds returns in what it received.

All of them look for peaks: stretches that rise above a threshold and out of the valley before them by as much. They
differ in the threshold, and in what they take for the time of a peak. Height and width of a return are those of the
Gaussian through the samples above half of the peak.

Of a single pulse of 1.5 bins or more (full width at half maximum) the mean time is within a tenth of a bin above a
signal-to-noise ratio of 20, with noise of the electronics or of photons, and with none at all. Pulses that overlap draw
each other's times, but for those of a decomposition: by less than a tenth of a bin from two widths apart, by up to 0.7
bins at 1.5 widths; nearer ones are one return.
"""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from sensorium.core.spec import Spec


class Threshold(Spec):
    """The time at which the rising edge crosses the threshold, or a twentieth of its peak where that is higher.

    In a quiet receiver the threshold is far below the peaks, down to nothing; an edge so low is a few photons.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["threshold"] = "threshold"
    walk_correction: bool = True
    """Whether the crossing of a higher peak, which comes earlier, is put right by the pulse's known shape. Without, the
    time is that of the crossing of the threshold itself, however low that is."""


class LeadingEdge(Spec):
    """The time at which the rising edge crosses a share of its own peak: a constant-fraction discriminator."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["leading_edge"] = "leading_edge"
    fraction: float = Field(default=0.5, ge=0.05, le=0.95)
    """Share of the peak."""


class Centroid(Spec):
    """The center of what stands above a fifth of the peak."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["centroid"] = "centroid"


class Cfar(Spec):
    """Constant false-alarm rate: the threshold follows the noise in the cells around; the time is the peak's.

    For normal noise the threshold is mean + k deviation of the cells, with Student's k; for exponential noise, that of
    a square-law detector, it is alpha times their mean.

    Cells in which another return stands raise the threshold: returns nearer to each other than half the cells and the
    guard hide the weaker, and both where they are about as high. That is what averaging over cells does; where near
    returns matter take another detector.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["cfar"] = "cfar"
    cells: int = Field(default=32, ge=4, le=512, multiple_of=2)
    """Cells of noise, half before and half behind."""
    guard_s: float | None = Field(default=None, ge=0.0)
    """Time on either side that is left out, since the return itself reaches there [s]; None: 1.5 pulses."""
    false_alarm: float = Field(default=1e-6, gt=0.0, lt=0.5)
    """Probability that a bin of noise alone is taken for a return."""
    law: Literal["normal", "exponential"] = "normal"


class GaussianDecomposition(Spec):
    """A sum of Gaussians fitted to the waveform, one a peak: neighbors that overlap are separated without bias."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["gaussian_decomposition"] = "gaussian_decomposition"


Detector = Annotated[Threshold | LeadingEdge | Centroid | Cfar | GaussianDecomposition, Field(discriminator="kind")]
"""Any detector, distinguished by its `kind` when read from a plain dictionary."""
