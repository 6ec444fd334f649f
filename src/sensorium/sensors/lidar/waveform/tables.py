"""Builds the tables that the waveform kernel reads from a waveform lidar's specification."""

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.physics import optics
from sensorium.physics.optics.detection.pulse import binned_pulse
from sensorium.sensors.lidar.detection_limit import DetectionLimit
from sensorium.sensors.lidar.range_limits import range_limits
from sensorium.sensors.lidar.receiver_tables import PLANCK, noise_electrons, receiver_area_m2
from sensorium.sensors.lidar.waveform.detectors import Cfar, Detector, LeadingEdge, Threshold
from sensorium.sensors.lidar.waveform.rays import Grid, Spiral
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.waveform import tables as wt
from sensorium.tracing.kernels.waveform.digitize import COUNTED_BELOW_E
from sensorium.tracing.kernels.waveform.timing import CENTROID_LEVEL

if TYPE_CHECKING:
    from sensorium.physics.optics.beam_rays import BeamRays
    from sensorium.sensors.lidar.lidar import Lidar

Pulse = tuple[ArrayLike, ArrayLike]

# subdivisions of a bin at which the pulse is sampled to calibrate detectors
_FINE = 64

# vectors of this many floats fill the pulse's taps
_VECTOR = 8

# largest number of pulses traced together, and rays that one thread processes at a time
_MOST_TOGETHER, _RAYS_A_TURN = 32, 8 * BLOCK

# the echo of air is cut off at this share of its maximum, or of the noise
_FAINT, _BELOW_NOISE = 1e-6, 1e-2

_KINDS = {
    "threshold": wt.BY_THRESHOLD,
    "leading_edge": wt.BY_LEADING_EDGE,
    "centroid": wt.BY_CENTROID,
    "cfar": wt.BY_CFAR,
    "gaussian_decomposition": wt.BY_DECOMPOSITION,
}


def waveform_tables(spec: "Lidar", light: tb.LightTables) -> wt.WaveformTables:
    """Tables of the kernel for the waveform, beside the light's tables."""
    waveform, beam, receiver = spec.waveform, spec.beam, spec.receiver
    pulse, bins = waveform.pulse.table(beam.pulse_s), window_bins(spec)
    rays = beam_rays(spec)
    angles = beam.half_divergence_rad
    along, across = angles if isinstance(angles, tuple) else (angles, angles)
    taps, first_tap = pulse_taps(pulse, waveform.resolution_s)

    number = np.zeros(wt.WAVEFORM_NUMBERS, np.float32)
    number[wt.W_START_M] = SPEED_OF_LIGHT_M_S * waveform.start_s / 2.0
    number[wt.W_BINS_A_M] = 2.0 / (SPEED_OF_LIGHT_M_S * waveform.resolution_s)
    number[wt.W_TAN_ALONG], number[wt.W_TAN_ACROSS] = math.tan(along), math.tan(across)
    number[wt.W_EXIT_RADIUS] = beam.exit_radius_m
    number[wt.W_FIELD_TAN] = math.tan(receiver.half_field_rad)
    number[wt.W_FIELD_RADIUS] = max(math.sqrt(receiver_area_m2(spec) / math.pi), beam.exit_radius_m)
    number[wt.W_FIELD_OFFSET] = beam.detector_offset_m
    number[wt.W_GAIN], number[wt.W_FULL_SCALE] = waveform.gain, waveform.full_scale or 0.0
    number[wt.W_PULSE_SUM] = taps[0].sum()
    number[wt.W_AIR_STEP_M] = SPEED_OF_LIGHT_M_S * optics.pulse_width(*pulse) / 4.0

    # Receiver noise is stated within a pulse's duration; a bin has its share of it
    electrons = waveform.resolution_s * receiver.quantum_efficiency * beam.wavelength_m / (PLANCK * SPEED_OF_LIGHT_M_S)
    detector = detector_tables(
        waveform.detector, pulse, waveform.resolution_s, bins=bins, false_alarm=receiver.false_alarm_probability
    )
    noise = receiver.noise_electrons * math.sqrt(waveform.resolution_s / beam.pulse_s)
    if isinstance(spec.detection, DetectionLimit):
        seen = float(_share_seen(number, rays, np.array([spec.detection.range_m]))[0])
        samples, sigmas = electrons * seen * taps.mean(axis=0), float(detector.number[wt.D_SIGMAS])
        in_sun = bool(light.switch[tb.S_SUN])
        noise = noise_electrons(spec, samples, sigmas, in_sun=in_sun, counted=waveform.shot_noise)
    number[wt.W_NOISE_W] = noise / electrons
    number[wt.W_ELECTRONS_A_WATT] = electrons if waveform.shot_noise else 0.0
    if waveform.shot_noise:
        detector.number[wt.D_SHOT] = detector.number[wt.D_SIGMAS] ** 2 * waveform.gain / electrons
    number[wt.W_COUNTED] = waveform.shot_noise and noise < COUNTED_BELOW_E
    noisy = waveform.shot_noise or noise > 0.0
    per_bin = receiver.false_alarm_probability / bins
    detector.number[wt.D_LEAST] = max(spec.threshold, 1e-30)
    if isinstance(waveform.detector, Cfar):
        per_bin = waveform.detector.false_alarm
    number[wt.W_FALSE_ALARM] = per_bin if noisy else 0.0

    air, air_bins, backscatter = _air_tables(spec, light, number, rays, pulse, bins, taps.shape[1])
    switch = np.zeros(wt.WAVEFORM_SWITCHES, np.int32)
    count = len(rays.u)
    together = min(max(BLOCK // count, 1), _MOST_TOGETHER)
    switch[wt.V_BINS], switch[wt.V_BATCH] = bins, together
    switch[wt.V_PULSES] = together * max(min(_RAYS_A_TURN // (count * together), BLOCK // together), 1)
    switch[wt.V_CENTER] = np.argmin(np.square(rays.u) + np.square(rays.v))
    switch[wt.V_AIR], switch[wt.V_KEEP] = air_bins.any(), waveform.keep
    reach = detector.switch[wt.E_GUARD] + detector.switch[wt.E_CELLS] // 2
    switch[wt.V_MARGIN] = reach if isinstance(waveform.detector, Cfar) else 2
    slope = np.square(rays.u * math.tan(along)) + np.square(rays.v * math.tan(across))
    return wt.WaveformTables(
        u=rays.u.astype(np.float32),
        v=rays.v.astype(np.float32),
        weight=(rays.weight / np.sqrt(1.0 + slope)).astype(np.float32),
        pulse=taps,
        air=air,
        air_bins=air_bins,
        backscatter=backscatter,
        number=number,
        switch=switch,
        detector=detector,
        first_tap=np.int32(first_tap),
    )


def beam_rays(spec: "Lidar") -> "BeamRays":
    """Rays of a pulse: as given, or by eq. 8 for a single pulse and 19 where there are many."""
    layout = spec.waveform.rays
    if layout is None:
        layout = Grid() if math.prod(spec.pattern.rays(0).shape) == 1 else Spiral()
    return layout.rays(spec.beam)


def window_bins(spec: "Lidar") -> int:
    """Bins of the digitizer's window."""
    from sensorium.physics.optics.detection.waveform import bin_count

    return bin_count(spec.waveform.start_s, window_stop_s(spec), spec.waveform.resolution_s)


def window_stop_s(spec: "Lidar") -> float:
    """End of the window [s]: as given, or a pulse after light from the greatest range in dense air is back.

    That range is the greatest that noise may bring within the limits, by the sensor's refractive index.
    """
    if spec.waveform.stop_s is not None:
        return spec.waveform.stop_s
    far_m = range_limits(spec).latest_m * (spec.calibrated_index or 1.0)
    return 2.0 * 1.001 * far_m / SPEED_OF_LIGHT_M_S + spec.beam.pulse_s


def pulse_taps(pulse: Pulse, resolution_s: float) -> tuple[NDArray[np.float32], int]:
    """The pulse in bins for an arrival in each cell of a bin, (CELLS, taps), and the bin of the first tap."""
    t = np.asarray(pulse[0], np.float64)
    first, last = math.floor(t[0] / resolution_s) - 1, math.ceil(t[-1] / resolution_s) + 1
    count = -(-(last - first + 1) // _VECTOR) * _VECTOR
    bins = first + np.arange(count)
    place = np.arange(wt.CELLS) / wt.CELLS
    return binned_pulse((bins - place[:, None]) * resolution_s, resolution_s, *pulse).astype(np.float32), first


def detector_tables(
    detector: Detector, pulse: Pulse, resolution_s: float, *, bins: int, false_alarm: float
) -> wt.DetectorTables:
    """Constants of the pulse for a detector."""
    width = optics.pulse_width(*pulse) / resolution_s
    number, switch = np.zeros(wt.DETECTOR_NUMBERS, np.float32), np.zeros(wt.DETECTOR_SWITCHES, np.int32)
    number[wt.D_SIGMAS] = optics.noise_threshold(1.0, false_alarm=min(false_alarm / bins, 0.5))
    number[wt.D_WIDTH] = math.sqrt(width**2 + 1.0 / 3.0)
    switch[wt.E_KIND] = _KINDS[detector.kind]

    # The finely sampled pulse: where its edge passes each level, and its center
    t = np.asarray(pulse[0], np.float64) / resolution_s
    x = np.arange(math.floor((t[0] - 1.0) * _FINE), math.ceil((t[-1] + 1.0) * _FINE)) / _FINE
    shape = binned_pulse((x - 0.5) * resolution_s, resolution_s, *pulse)
    peak = int(np.argmax(shape))
    rising, up = np.unique(shape[: peak + 1] / shape[peak], return_index=True)
    edge = np.interp(np.exp(-np.square(np.linspace(0.0, wt.LOWEST, wt.LEVELS + 1))), rising, x[up])
    if isinstance(detector, Threshold):
        switch[wt.E_CORRECT] = detector.walk_correction
    elif isinstance(detector, LeadingEdge):
        number[wt.D_LOG_FRACTION] = math.log(detector.fraction)
    elif isinstance(detector, Cfar):
        guard = 1.5 * width if detector.guard_s is None else detector.guard_s / resolution_s
        switch[wt.E_CELLS], switch[wt.E_GUARD] = detector.cells, math.ceil(guard)
        switch[wt.E_EXPONENTIAL] = detector.law == "exponential"
        factor = optics.cfar_factor_normal if detector.law == "normal" else optics.cfar_factor_exponential
        number[wt.D_CFAR_FACTOR] = factor(detector.cells, false_alarm=detector.false_alarm)
    middle, number[wt.D_BEND] = _parabola(x, shape)
    above = np.maximum(shape - CENTROID_LEVEL * shape[peak], 0.0)
    if detector.kind == "centroid":
        number[wt.D_OFFSET] = np.sum(above * x) / above.sum()
    elif detector.kind == "gaussian_decomposition":
        number[wt.D_OFFSET] = _middle_of_fit(x, shape, x[peak], width)
    else:
        number[wt.D_OFFSET] = middle
    return wt.DetectorTables(number, switch, edge.astype(np.float32))


def _parabola(x: NDArray[np.float64], shape: NDArray[np.float64]) -> tuple[float, float]:
    """Where the parabola through the logarithms of a pulse's upper half has its peak, and its factor of x^2.

    The means over positions of the pulse within a bin, of the parabolas through its samples as in timing.py: an
    asymmetric pulse of few bins has another peak at each position.
    """
    found = []
    for phase in range(_FINE):
        at, samples = x[phase::_FINE], shape[phase::_FINE]
        high = np.flatnonzero(samples >= 0.5 * samples.max())
        first, last = high[0], high[-1]
        if last - first < 2:
            first, last = max(first - 1, 0), min(last + 1, len(samples) - 1)
        here, top = slice(first, last + 1), at[samples.argmax()]
        used = samples[here] > 0.0
        if used.sum() > 2:
            values = samples[here][used]
            _, slope, bend = np.polynomial.polynomial.polyfit(at[here][used] - top, np.log(values), 2, w=values)
            if bend < 0.0:
                found.append((top - slope / (2.0 * bend), bend))
    if found:
        middle, bend = np.mean(found, axis=0)
        return float(middle), float(bend)
    high = x[shape >= 0.5 * shape.max()]
    return float(x[np.argmax(shape)]), -4.0 * math.log(2.0) / max(float(np.ptp(high)), 1.0) ** 2


def _middle_of_fit(x: NDArray[np.float64], shape: NDArray[np.float64], peak: float, width: float) -> float:
    """Center of the Gaussian fitted to a pulse, as decompose.py fits it."""
    from scipy.optimize import least_squares

    near = np.abs(x - peak) <= 1.5 * width

    def residual(p: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(p[0] * np.exp(-0.5 * np.square((x[near] - p[1]) / p[2])) - shape[near])

    return float(least_squares(residual, [shape.max(), peak, width / 2.355]).x[1])


def _air_tables(
    spec: "Lidar",
    light: tb.LightTables,
    number: NDArray[np.float32],
    rays: "BeamRays",
    pulse: Pulse,
    bins: int,
    taps: int,
) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.float32]]:
    """Echo of each medium alone in each bin [W], its cutoff, and its backscatter [1/m/sr].

    P(t) = integral of P_t eta beta A_r / (z^2 + R^2) o(z) exp(-2 alpha r) s(t - 2 n r / c) dr, with the share o(z) of
    the beam that the receiver sees.
    """
    media, resolution_s = light.medium, spec.waveform.resolution_s
    echo = media[:, tb.G_ECHO].astype(np.float64)
    backscatter = echo / (SPEED_OF_LIGHT_M_S * spec.beam.pulse_s / 2.0)
    if spec.atmospheric_returns == "off":
        backscatter[:] = 0.0
    length = bins + 2 * taps
    air, air_bins = (
        np.zeros((len(media), length if backscatter.any() else 0), np.float32),
        np.zeros(len(media), np.int32),
    )
    if not backscatter.any():
        return air, air_bins, backscatter.astype(np.float32)

    # Parts of a bin, from the position of the light at time 0
    parts = 8
    start = spec.waveform.start_s / resolution_s
    place = (np.arange(math.ceil((start + bins + taps) * parts)) + 0.5) / parts
    opl = place * resolution_s * SPEED_OF_LIGHT_M_S / 2.0
    t = np.asarray(pulse[0], np.float64) / resolution_s
    before, behind = math.floor((t[0] - 1.0) * parts), math.ceil((t[-1] + 1.0) * parts)
    kernel = binned_pulse((np.arange(before, behind + 1) - 0.5) / parts * resolution_s, resolution_s, *pulse)
    radius2 = receiver_area_m2(spec) / math.pi
    passes = 2.0 if spec.round_trip else 1.0
    for number_of, beta in enumerate(backscatter):
        if beta == 0.0:
            continue
        n, alpha = float(media[number_of, tb.G_INDEX]), float(media[number_of, tb.G_ALPHA])
        r, z = opl / n, opl / n**2
        density = float(light.number[tb.N_POWER]) * beta * np.exp(-passes * alpha * r) * radius2 / (z**2 + radius2)
        density *= _share_seen(number, rays, z) * (r <= float(light.number[tb.N_LATEST]))
        each = density * (opl[1] - opl[0]) / n

        # Bin b of the histogram, which starts `taps` before the window, begins at the part (start + b - taps) parts
        full = np.convolve(each, kernel)
        begin = np.rint((start + np.arange(length) - taps) * parts).astype(np.int64) - before
        inside = (begin >= 0) & (begin < len(full))
        air[number_of, inside] = full[begin[inside]]
        noise = float(number[wt.W_NOISE_W])
        matters = np.flatnonzero(air[number_of] > max(_FAINT * air[number_of].max(), _BELOW_NOISE * noise))
        air_bins[number_of] = max(int(matters[-1]) + 1 - taps, 1) if len(matters) else 0
    return air, np.minimum(air_bins, bins), backscatter.astype(np.float32)


def _share_seen(number: NDArray[np.float32], rays: "BeamRays", z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of the beam's power that the receiver sees at each reduced path, as in arrivals.is_seen."""
    chosen = slice(None, None, max(len(rays.u) // 200, 1))
    u, v, weight = rays.u[chosen], rays.v[chosen], rays.weight[chosen] / rays.weight[chosen].sum()
    coarse = np.unique(np.concatenate([[0.0], np.geomspace(1e-2, max(z[-1], 1.0), 400)]))
    x = u[:, None] * (number[wt.W_EXIT_RADIUS] + coarse * number[wt.W_TAN_ALONG]) - number[wt.W_FIELD_OFFSET]
    y = v[:, None] * (number[wt.W_EXIT_RADIUS] + coarse * number[wt.W_TAN_ACROSS])
    inside = x**2 + y**2 <= (number[wt.W_FIELD_RADIUS] + coarse * number[wt.W_FIELD_TAN]) ** 2
    return np.interp(z, coarse, weight @ inside)
