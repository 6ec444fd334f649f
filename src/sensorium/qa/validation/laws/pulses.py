"""Pulses: VANE's waveform lidar and the returns found in waveforms."""

from typing import Any

import numpy as np

import sensorium as sn
from sensorium.qa.validation.check import Array, Axis, Comparison, Family
from sensorium.qa.validation.laws.shots import wall

PULSES = Family("Waveforms")

_C = 299792458.0
_NS = 1e-9


def _waveform(distance_m: float, across: int = 21) -> Array:
    """Samples of VANE's lidar in front of a large matt wall."""
    parameters = sn.waveform.Parameters(
        peak_power_W=70.0, aperture_radius_m=0.0125, wavelength_m=905e-9, pulse_duration_s=4e-9, divergence_rad=0.010,
        receiver_length_m=0.05, receiver_width_m=0.04, stop_s=650e-9,
    )  # fmt: skip
    ahead = sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=10)
    spec = parameters.lidar(pattern=ahead, waveform={"keep": True, "rays": {"kind": "grid", "across": across}})
    env = sn.Environment(wall(distance_m, sn.Lambertian(reflectance=0.5)))
    lidar = env.attach(spec)
    for _ in env.run(duration_s=0.1):
        pass
    kept = lidar.read().waveform
    assert kept is not None
    return np.asarray(kept.samples, np.float64).reshape(-1)


@PULSES.check(
    "vane-wall",
    "A large wall answers by the lidar equation: 205.4 times weaker at 86 m than at 6 m, not 10^4 times.",
    reference="physics.md 10, E-40: A_r / (R^2 + A_r / pi), the receiver's own size counted",
    relative=3e-3,
)
def _wall(quick: bool) -> Comparison:
    distances = np.array([6.0, 30.0, 86.0])
    energy = np.array([_waveform(d).sum() * 0.5e-9 for d in distances])
    area = 0.05 * 0.04
    pulse = 4e-9 * np.sqrt(np.pi / np.log(16.0))
    expected = 70.0 * 0.5 / np.pi * area / (distances**2 + area / np.pi) * pulse
    ratio = energy[0] / energy[2] * (36.0 + area / np.pi) / 36.0
    x, y = Axis("distance [m]", log=True), Axis("energy [J]", log=True)
    return Comparison(energy, expected, at=distances, x=x, y=y, note=f"6 m over 86 m: {ratio:.1f}")


@PULSES.check(
    "pulse-places",
    "Pulses are found where they are, at sixteen places within a bin, by five detectors, to a twenty-fifth of a bin.",
    reference="physics.md 12: sub-bin peaks; exact for a Gaussian",
    absolute=0.04,
)
def _places(quick: bool) -> Comparison:
    places = 50.0 + np.arange(16) / 16.0
    pulse = sn.optics.gaussian_pulse_table(4 * _NS)
    window = {"start_s": 0.0, "stop_s": 200 * _NS, "resolution_s": _NS}
    waves = np.stack([sn.optics.arrivals([p * _NS * _C / 2], [1.0], pulse, **window) for p in places])
    detectors: tuple[Any, ...] = (
        sn.waveform.Threshold(),
        sn.waveform.LeadingEdge(),
        sn.waveform.Centroid(),
        sn.waveform.Cfar(),
        sn.waveform.GaussianDecomposition(),
    )
    found = [
        sn.waveform.find_returns(waves, detector=d, pulse=pulse, resolution_s=_NS, threshold=0.2, most=2).time_s[:, 0]
        for d in detectors
    ]
    at = np.tile(places, (5, 1))
    return Comparison(np.array(found) / _NS - at, 0.0, at=at, x=Axis("place [bins]"), y=Axis("error [bins]"))


@PULSES.check(
    "quiet-pulses",
    "Without noise, and with photons' alone, mean places are within a tenth of a bin, for pulses of 1.5 to 40 bins.",
    reference="the places themselves; signal-to-noise ratio of photons 20, threshold 0",
    absolute=0.1,
)
def _quiet(quick: bool) -> Comparison:
    random, widths = np.random.default_rng(2), np.array([1.5, 4.0, 40.0])
    of = sn.waveform
    detectors: tuple[Any, ...] = (of.Threshold(), of.LeadingEdge(), of.GaussianDecomposition())
    found = []
    for width in widths:
        pulse = sn.optics.gaussian_pulse_table(width * _NS)
        window = {"start_s": 0.0, "stop_s": (10 * width + 60) * _NS, "resolution_s": _NS}
        places = 5 * width + 20 + random.uniform(0.0, 1.0, 150 if quick else 1500)
        clean = np.stack([sn.optics.arrivals([p * _NS * _C / 2], [400.0], pulse, **window) for p in places])
        for samples, electron in ((clean, 0.0), (random.poisson(clean), 1.0)):
            for detector in detectors:
                returns = sn.waveform.find_returns(
                    samples, detector=detector, pulse=pulse, resolution_s=_NS, electron=electron, most=2
                )
                found.append((returns.time_s[:, 0] / _NS - places).mean())
    x, y = Axis("width [bins]", log=True), Axis("mean error [bins]")
    return Comparison(found, 0.0, at=np.repeat(widths, 6), x=x, y=y)


@PULSES.check(
    "thresholds",
    "Thresholds keep their false alarms: 12.4525 for CA-CFAR of 16 cells at 1e-4, sigma Q^-1(P) for noise.",
    reference="physics.md 12; scipy.stats.norm.isf; bins of 0.5 ns are 7.4948 cm",
    relative=5e-6,
)
def _thresholds(quick: bool) -> Comparison:
    from scipy.stats import norm

    found = [
        float(sn.optics.cfar_factor_exponential(16, false_alarm=1e-4)),
        float(sn.optics.noise_threshold(2.0, false_alarm=1e-3)),
        float(sn.optics.noise_threshold(1.0, false_alarm=1e-9)),
        100 * float(sn.optics.range_of_bin(0.5e-9)),
    ]
    expected = [12.4525, 2.0 * float(norm.isf(1e-3)), float(norm.isf(1e-9)), 7.4948]
    return Comparison(found, expected, y=Axis("factor, and cm"))
