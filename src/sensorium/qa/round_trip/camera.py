"""Round trip of a camera: gain, noise and capacity from simulated flats, as EMVA 1288 measures them."""

import math

import numpy as np
from numpy.typing import NDArray

from sensorium.devices import CameraSheet, Device
from sensorium.physics.imaging import PixelNoise
from sensorium.qa.round_trip.row import Row, Z, seed_of, stated_row
from sensorium.random import Stream
from sensorium.sensors.camera.camera import Adc, Camera
from sensorium.sensors.camera.flat_fields import FlatFields

_PIXELS = 200_000
_LEVELS = 12
_BLACK_DN = 64.0


def camera_rows(device: Device) -> list[Row]:
    """All values that the sheet states of its pixels; empty for a sheet without."""
    sheet, spec = device.sheet, Camera.from_device(device.path)
    assert isinstance(sheet, CameraSheet)
    # A field of view is stated of a lens, not of the chip behind it
    fov = math.degrees(2.0 * math.atan(0.5 * spec.width_m / spec.focal_length_m))
    rows = stated_row(device, "horizontal_fov", (fov, 0.97 * fov, 1.03 * fov))
    if sheet.system_gain is None or sheet.dark_noise is None or sheet.saturation is None:
        return rows
    flats = _Flats(spec, device.name)

    # Photon transfer: variance over mean is a line of slope K; in the dark it is the dark noise
    top = float(sheet.number("saturation"))
    levels = np.linspace(0.0, 0.6 * top, _LEVELS)
    mean, variance = np.array([flats.mean_and_variance(level, 2 * number) for number, level in enumerate(levels)]).T
    x, y = mean - mean[0], variance - variance[0]
    gain = float((x * y).sum() / (x * x).sum())
    relative = Z * math.sqrt(2.0 / (_PIXELS * 0.5 * _LEVELS))
    dark = math.sqrt(variance[0] - 1.0 / 12.0) / gain
    noise_error = relative + Z / math.sqrt(2.0 * _PIXELS)
    rows += stated_row(device, "system_gain", _around(gain, relative))
    rows += stated_row(device, "dark_noise", _around(dark, noise_error))

    # Saturation: the largest code over the gain; half a code and the error of the gain are in the dark
    full = float(flats.codes(3.0 * top, 100).max()) / gain
    error = relative + 0.5 / (gain * full)
    rows += stated_row(device, "saturation", _around(full, error))

    # Fixed pattern: spread over pixels of a mean over frames, without the remaining noise
    spread_error = relative + Z / math.sqrt(2.0 * _PIXELS)
    if sheet.dsnu is not None:
        found = flats.fixed_spread(0.0, 200) / gain
        rows += stated_row(device, "dsnu", _around(found, 0.02))
    if sheet.prnu is not None:
        signal = float(mean[-1] - mean[0])
        whole, offset = flats.fixed_spread(float(levels[-1]), 300), flats.fixed_spread(0.0, 200)
        found = math.sqrt(max(whole**2 - offset**2, 0.0)) / signal
        rows += stated_row(device, "prnu", _around(found, 0.03))
    return [*rows, *_derived(device, sheet, gain, dark, full, spread_error)]


def _derived(device: Device, sheet: CameraSheet, gain: float, dark: float, full: float, error: float) -> list[Row]:
    """Values that EMVA 1288 derives from these: threshold, best signal to noise, dynamic range."""
    best = 10.0 * math.log10(full)
    rows = stated_row(device, "snr_max", (best, best - 10.0 * error, best + 10.0 * error), rounded=True)
    efficiency = sheet.number("quantum_efficiency")
    if efficiency is None:
        return rows
    least = (math.sqrt(dark**2 + 1.0 / (12.0 * gain**2)) + 0.5) / efficiency
    rows += stated_row(device, "threshold_photons", _around(least, error), rounded=True)
    found = 20.0 * math.log10(full / efficiency / least)
    around = (found, found - 20.0 * error, found + 20.0 * error)
    return [*rows, *stated_row(device, "dynamic_range", around, rounded=True)]


class _Flats:
    """Images of an even field, as the converter gives them."""

    def __init__(self, spec: Camera, name: str) -> None:
        assert spec.adc is not None
        # Dark frames need codes below that of darkness, as every report's offset gives them
        adc = Adc(bits=16, gain_dn_e=spec.adc.gain_dn_e, black_dn=_BLACK_DN)
        stream = Stream(seed_of(name), "flats")
        noise = spec.noise or PixelNoise()
        self._exposure_s = spec.exposure_s
        self._fields = FlatFields(noise, adc, full_well_e=spec.full_well_e, shape=(_PIXELS,), stream=stream)

    def codes(self, electrons: float, tick: int) -> NDArray[np.float64]:
        """Codes of one frame above that of darkness."""
        codes = self._fields.codes(electrons, exposure_s=self._exposure_s, tick=tick)
        return codes.astype(np.float64) - _BLACK_DN

    def mean_and_variance(self, electrons: float, tick: int) -> tuple[float, float]:
        """Mean and variance over frames, from a pair of them."""
        a, b = self.codes(electrons, tick), self.codes(electrons, tick + 1)
        return float((a + b).mean() / 2.0), float(np.var(a - b) / 2.0)

    def fixed_spread(self, electrons: float, tick: int) -> float:
        """Standard deviation over pixels of the common part of two frames: their covariance."""
        a, b = self.codes(electrons, tick), self.codes(electrons, tick + 1)
        return math.sqrt(max(float(np.cov(a, b)[0, 1]), 0.0))


def _around(value: float, relative: float) -> tuple[float, float, float]:
    """A value, and the ends of its interval."""
    return value, value * (1.0 - relative), value * (1.0 + relative)
