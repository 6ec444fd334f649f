"""Figures of a camera by EMVA 1288, release 3.1, linear methods, from an image set.

With the mean y of a pair of images, its variance over time, and the same in the dark (index d):

    sigma_y^2 = mean (a - b)^2 / 2 - (mean a - mean b)^2 / 2            eq. 19: variance over time of a pair
    sigma_y^2 - sigma_d^2 = K (y - y_d)                                 photon transfer: system gain K [DN/e-]
    y - y_d = R mu_p,  eta = R / K                                      responsivity, quantum efficiency
    sigma_0^2 = (sigma_d^2 (t = 0) - 1/12) / K^2                        dark noise [e-]
    mu_e.sat = eta mu_p.sat                                             mu_p.sat: photons of the greatest variance
    delta = (y - y_d) / (a0 + a1 mu_p) - 1,  LE = mean |delta|          linearity error, 5 to 95 % of saturation
    s^2 = var_pixels(mean of L images) - sigma_y^2 / L                  variance over pixels
    DSNU = s_d / K,  PRNU = sqrt(s_50^2 - s_d^2) / (y_50 - y_d)

Lines pass through the origin and are fitted between 0 and 70 % of saturation; the line of the linearity error is
fitted to relative deviations. Deviations from the standard: variances of L images are divided by L - 1, without bias;
the saturation of images that are all at one code is given too (`full_well`), since mu_p.sat is known to one step of
exposure only; and DSNU and PRNU are also given above a high pass (image minus its 5 x 5 mean, which leaves 24/25 of a
white pattern's variance), without unevenness of the light. Intervals: a jackknife over exposures, and over tiles of the
chip for DSNU and PRNU. Ref: EMVA Standard 1288, release 3.1 (2016), sections 2, 6, 7 and 8.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.recordings.measure.figures import Estimates, leave_one_out
from sensorium.recordings.measurement import Curve, Figure, Measurement
from sensorium.recordings.readers.emva1288 import ImageGroup, ImageSet

Float = NDArray[np.float64]

_QUANTIZATION = 1.0 / 12.0
_LEAST_DARK_VARIANCE = 0.24
"""[DN^2]; below it the quantizer hides the noise, and the standard uses this value."""

_FIT_BELOW, _LINEAR_FROM, _LINEAR_TO = 0.7, 0.05, 0.95
_LEAST_EXPOSURES = 3
_TILES = 8
_HIGH_PASS_PIXELS, _HIGH_PASS_VARIANCE = 5, 24.0 / 25.0
_AT_ONE_CODE = 0.1
"""Images are saturated where their variance is below this share of the line's."""


class PhotonTransfer(NamedTuple):
    """Pairs of images, by rising light; arrays of shape (n,).

    Attributes:
        photons: Mean number on a pixel.
        exposure_s: Exposure time [s].
        mean: Mean of a bright pair [DN].
        variance: Variance of a bright pair over time [DN^2].
        dark_mean, dark_variance: The same in the dark, for the same exposure time.
        pixels: Number of pixels of an image.
    """

    photons: Float
    exposure_s: Float
    mean: Float
    variance: Float
    dark_mean: Float
    dark_variance: Float
    pixels: int

    @property
    def signal(self) -> Float:
        """Mean above darkness [DN]."""
        return self.mean - self.dark_mean

    @property
    def saturated(self) -> int:
        """Number of the exposure of the greatest variance."""
        return int(np.argmax(self.variance))

    def below(self, low: float, high: float) -> NDArray[np.bool_]:
        """Which exposures have a signal between two shares of saturation, 0 excluded."""
        share = self.signal / self.signal[self.saturated]
        return (share > 0.0) & (share >= low) & (share <= high) & (np.arange(len(share)) <= self.saturated)


class Nonuniformity(NamedTuple):
    """Mean over images of one exposure, by tiles of the chip; arrays of shape (tiles,).

    Attributes:
        mean: Mean of the tile's pixels [DN].
        square: Mean square of the tile's pixels [DN^2], less the mean of the whole chip squared.
        high_pass: Variance of the tile's pixels above the high pass, of a white pattern [DN^2].
        left: Variance over time that is left in the mean of the images [DN^2].
        high_pass_left: The same above the high pass.
        pixels: Number of pixels of the tile.
    """

    mean: Float
    square: Float
    high_pass: Float
    left: Float
    high_pass_left: Float
    pixels: Float


def measure_camera(images: ImageSet) -> Measurement:
    """EMVA 1288 figures of an image set.

    Raises:
        SpecError: Fewer than three exposures at 5 to 70 % of saturation have a bright pair, or no dark pair is there.
    """
    transfer = photon_transfer(images)
    fitted = leave_one_out(lambda kept: transfer_estimates(transfer, kept), len(transfer.photons))
    figures = _transfer_figures(transfer, fitted)
    remarks = []
    if images.missing:
        remarks.append(f"{images.missing} images of the descriptor are not there; the others were measured")
    if transfer.saturated == len(transfer.photons) - 1:
        remarks.append("the brightest images are not saturated: saturation_capacity is at least this")
    figures += _pattern_figures(images, transfer, fitted)
    if not any(figure.quantity == "full_well" for figure in figures):
        remarks.append("no images are at one code: full_well is not measured")
    source = images.path.parent.name or images.path.name
    return Measurement("camera", "", source, tuple(figures), _curves(transfer, fitted), tuple(remarks))


def pair_statistics(first: NDArray[np.uint16], second: NDArray[np.uint16]) -> tuple[float, float]:
    """Mean and variance over time of a pair of images of the same exposure (eq. 18 and 19) [DN, DN^2]."""
    a, b = first.astype(np.float64), second.astype(np.float64)
    difference = a - b
    return float(a.mean() + b.mean()) / 2.0, float((difference**2).mean() - difference.mean() ** 2) / 2.0


def photon_transfer(images: ImageSet) -> PhotonTransfer:
    """Means and variances of all pairs that are there, with darkness of the same exposure time."""
    bright = [group for group in images.bright if len(group.images) >= 2]
    dark = [group for group in images.dark if len(group.images) >= 2]
    if len(bright) < _LEAST_EXPOSURES or not dark:
        found = f"{len(bright)} exposures with two bright images and {len(dark)} with two dark ones"
        raise SpecError(f"{images.path.name!r} has {found}; it must have {_LEAST_EXPOSURES} and 1")
    lit = np.array([(group.photons, group.exposure_s, *_of_pair(images, group)) for group in bright])
    lit = lit[np.argsort(lit[:, 0], kind="stable")]
    unlit = np.array([(group.exposure_s, *_of_pair(images, group)) for group in dark])
    unlit = unlit[np.argsort(unlit[:, 0], kind="stable")]
    dark_mean, dark_variance = (np.interp(lit[:, 1], unlit[:, 0], unlit[:, k]) for k in (1, 2))
    photons, exposure_s, mean, variance = lit.T
    pixels = images.width * images.height
    made = PhotonTransfer(photons, exposure_s, mean, variance, dark_mean, dark_variance, pixels)
    if np.count_nonzero(made.below(_LINEAR_FROM, _FIT_BELOW)) < _LEAST_EXPOSURES:
        rule = f"it must have {_LEAST_EXPOSURES}, and brighter ones above them"
        raise SpecError(f"{images.path.name!r} has too few exposures at 5 to 70 % of saturation; {rule}")
    return made


def transfer_estimates(transfer: PhotonTransfer, kept: NDArray[np.bool_]) -> Float:
    """Figures from some of the exposures.

    Returns:
        K [DN/e-], R [DN/photon], eta [1], dark noise [e-], dark current from means and from variances
        [e-/s], linearity error [1]. Dark current is NaN where all exposure times are equal.
    """
    fit = transfer.below(0.0, _FIT_BELOW) & kept
    signal, light = transfer.signal, transfer.variance - transfer.dark_variance
    K = float(signal[fit] @ light[fit] / (signal[fit] @ signal[fit]))
    R = float(signal[fit] @ transfer.photons[fit] / (transfer.photons[fit] @ transfer.photons[fit]))
    times, dark = transfer.exposure_s[kept], transfer.dark_variance[kept]
    if np.ptp(times) > 0.0:
        slope, intercept = np.polyfit(times, dark, 1)
        by_mean, by_variance = np.polyfit(times, transfer.dark_mean[kept], 1)[0] / K, slope / K**2
    else:
        intercept, by_mean, by_variance = dark.mean(), math.nan, math.nan
    noise = math.sqrt(max(float(intercept), _LEAST_DARK_VARIANCE) - _QUANTIZATION) / K
    linear = transfer.below(_LINEAR_FROM, _LINEAR_TO) & kept
    error = float(np.abs(linearity_deviation(transfer.photons[linear], signal[linear])).mean())
    return np.array([K, R, R / K, noise, by_mean, by_variance, error])


def linearity_deviation(photons: Float, signal: Float) -> Float:
    """Relative deviations delta from the line that makes their squares least, shape (n,)."""
    design = np.stack([1.0 / signal, photons / signal], axis=1)
    (a0, a1), *_ = np.linalg.lstsq(design, np.ones(len(signal)), rcond=None)
    return np.asarray(signal / (a0 + a1 * photons) - 1.0)


def _of_pair(images: ImageSet, group: ImageGroup) -> tuple[float, float]:
    return pair_statistics(images.read(group.images[0]), images.read(group.images[1]))


def _transfer_figures(transfer: PhotonTransfer, fitted: Estimates) -> list[Figure]:
    used = int(np.count_nonzero(transfer.below(0.0, _FIT_BELOW)))
    pixels, all_used = used * transfer.pixels, len(transfer.photons) * transfer.pixels
    K, eta, noise = (float(fitted.value[k]) for k in (0, 2, 3))
    figures = [
        fitted.figure(0, "system_gain", "DN/e-", pixels),
        fitted.figure(1, "responsivity", "DN/photon", pixels),
        fitted.figure(2, "quantum_efficiency", "1", pixels),
        fitted.figure(3, "dark_noise", "e-", all_used),
    ]
    if np.isfinite(fitted.value[4:6]).all():
        figures += [
            fitted.figure(4, "dark_current.from_mean", "e-/s", all_used),
            fitted.figure(5, "dark_current.from_variance", "e-/s", all_used),
        ]
    figures += [fitted.figure(6, "linearity_error", "1", pixels), _greatest_bend(transfer, K)]

    # Clipping lowers the variance within two deviations of saturation, which lies near this exposure or the next
    at, photons = transfer.saturated, transfer.photons
    capacity = eta * float(photons[at])
    spread = 2.0 * math.sqrt(max(capacity, 0.0) + noise**2)
    low, high = capacity - spread, eta * float(photons[min(at + 1, len(photons) - 1)]) + spread
    error = 1.96 * float(fitted.error[2]) / eta
    figures.append(
        Figure("saturation_capacity", capacity, "e-", low * (1.0 - error), high * (1.0 + error), transfer.pixels)
    )
    line = K * transfer.signal + transfer.dark_variance
    if transfer.variance[-1] < _AT_ONE_CODE * line[-1]:
        full = float(transfer.signal[-1]) / K
        half = 1.96 * full * float(fitted.error[0]) / K
        figures.append(Figure("full_well", full, "e-", full - half, full + half, transfer.pixels))

    # Derived by the standard: threshold of absolute sensitivity, dynamic range, best ratio of signal to noise
    least = (math.sqrt(noise**2 + _QUANTIZATION / K**2) + 0.5) / eta
    spread = 1.96 * math.hypot(float(fitted.error[3]) / noise, float(fitted.error[2]) / eta)
    figures.append(
        Figure("threshold", least, "photon", least * (1.0 - spread), least * (1.0 + spread), all_used)
    )
    ends = (capacity, low * (1.0 - error), high * (1.0 + error))
    ratio = [20.0 * math.log10(max(e, 1.0) / eta / least) for e in ends]
    figures.append(Figure("dynamic_range", ratio[0], "dB", ratio[1], ratio[2], all_used))
    return figures


def _greatest_bend(transfer: PhotonTransfer, K: float) -> Figure:
    """Greatest relative deviation of the photon transfer from its line, with the sampling error of that exposure."""
    straight = transfer.below(_LINEAR_FROM, _FIT_BELOW)
    line = (K * transfer.signal)[straight]
    bend = (transfer.variance - transfer.dark_variance)[straight] / line - 1.0
    at = int(np.argmax(np.abs(bend)))
    both = math.hypot(float(transfer.variance[straight][at]), float(transfer.dark_variance[straight][at]))
    half, value = 1.96 * math.sqrt(2.0 / transfer.pixels) * both / float(line[at]), abs(float(bend[at]))
    return Figure("photon_transfer.deviation", value, "1", max(value - half, 0.0), value + half, transfer.pixels)


def nonuniformity(images: ImageSet, group: ImageGroup) -> Nonuniformity:
    """Statistics of the mean of a group's images, read one by one."""
    from scipy.ndimage import uniform_filter

    def high_pass(image: Float) -> Float:
        smooth = uniform_filter(image, _HIGH_PASS_PIXELS, mode="nearest")
        return np.asarray((image - smooth) / math.sqrt(_HIGH_PASS_VARIANCE))

    # Differences from one image keep all digits; noise over time need not be white over pixels, so each is filtered
    count, first = len(group.images), images.read(group.images[0]).astype(np.float64)
    total, squares, high_squares = np.zeros_like(first), np.zeros_like(first), np.zeros_like(first)
    for path in group.images:
        difference = images.read(path) - first
        total += difference
        squares += difference**2
        high_squares += high_pass(difference) ** 2
    mean = first + total / count
    centered = mean - mean.mean()
    temporal = (squares - total**2 / count) / (count - 1)
    high_temporal = (high_squares - high_pass(total) ** 2 / count) / (count - 1)
    rows = np.array_split(np.arange(images.height), min(_TILES, images.height))
    columns = np.array_split(np.arange(images.width), min(_TILES, images.width))
    tiles = [(slice(r[0], r[-1] + 1), slice(c[0], c[-1] + 1)) for r in rows for c in columns]

    def of_tiles(image: Float) -> Float:
        return np.array([image[tile].mean() for tile in tiles])

    return Nonuniformity(
        mean=of_tiles(mean),
        square=of_tiles(centered**2),
        high_pass=of_tiles(high_pass(mean) ** 2),
        left=of_tiles(temporal) / count,
        high_pass_left=of_tiles(high_temporal) / count,
        pixels=np.array([mean[tile].size for tile in tiles], np.float64),
    )


def _pattern_figures(images: ImageSet, transfer: PhotonTransfer, fitted: Estimates) -> list[Figure]:
    """DSNU from the dark group of most images, PRNU with the bright one nearest half of saturation."""
    half_lit = 0.5 * transfer.photons[transfer.saturated]
    dark_group = max(images.dark, key=lambda group: len(group.images))
    bright_group = max(images.bright, key=lambda group: (len(group.images), -abs(group.photons - half_lit)))
    dark, bright = nonuniformity(images, dark_group), nonuniformity(images, bright_group)
    K, gain_error = float(fitted.value[0]), float(fitted.error[0] / fitted.value[0])

    def variances(kept: NDArray[np.bool_]) -> Float:
        """Variances of DSNU [DN^2] and PRNU [1], all and above the high pass."""
        weight = dark.pixels * kept / (dark.pixels @ kept)
        signal = weight @ bright.mean - weight @ dark.mean

        def whole(of: Nonuniformity) -> float:
            level = weight @ (of.mean - of.mean @ of.pixels / of.pixels.sum())
            return float(weight @ of.square - level**2 - weight @ of.left)

        d, d_high = whole(dark), float(weight @ (dark.high_pass - dark.high_pass_left))
        b, b_high = whole(bright), float(weight @ (bright.high_pass - bright.high_pass_left))
        return np.array([d, d_high, (b - d) / signal**2, (b_high - d_high) / signal**2])

    found = leave_one_out(variances, len(dark.pixels))
    samples = images.width * images.height
    figures = []
    for k, (quantity, unit, scale) in enumerate(
        (
            ("dsnu", "e-", 1.0 / K),
            ("dsnu.high_pass", "e-", 1.0 / K),
            ("prnu", "1", 1.0),
            ("prnu.high_pass", "1", 1.0),
        )
    ):
        around = found.figure(k, quantity, unit, samples)
        more = 1.96 * gain_error if unit == "e-" else 0.0
        ends = (around.value, around.low, max(around.value, 0.0) + around.high - around.value)
        value, low, high = (scale * math.sqrt(max(each, 0.0)) for each in ends)
        figures.append(Figure(quantity, value, unit, low * (1.0 - more), high * (1.0 + more), samples))
    return figures


def _curves(transfer: PhotonTransfer, fitted: Estimates) -> tuple[Curve, ...]:
    """Photon transfer, and deviations from linearity."""
    signal, light = transfer.signal, transfer.variance - transfer.dark_variance
    error = 1.96 * np.hypot(transfer.variance, transfer.dark_variance) * math.sqrt(2.0 / transfer.pixels)
    labels = ("signal", "DN", "variance over time", "DN^2")
    curves = [Curve("photon_transfer", *labels, signal, light, light - error, light + error)]
    linear = transfer.below(_LINEAR_FROM, _LINEAR_TO)
    if np.count_nonzero(linear) >= _LEAST_EXPOSURES:
        x, y = transfer.photons[linear], signal[linear]
        delta = linearity_deviation(x, y)
        noise = 1.96 * np.sqrt((transfer.variance + transfer.dark_variance)[linear] / (2.0 * transfer.pixels)) / y
        labels = ("photons on a pixel", "photon", "deviation from a line", "1")
        curves.append(Curve("linearity.deviation", *labels, x, delta, delta - noise, delta + noise))
    return tuple(curves)
