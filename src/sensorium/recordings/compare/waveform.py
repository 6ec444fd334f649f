"""A simulated lidar's pulses: a target for each recorded pulse, as late in its packet and as bright."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.devices import Device, LidarSheet
from sensorium.environment import Environment
from sensorium.physics.materials import Lambertian
from sensorium.recordings.compare.comparison import Comparing
from sensorium.recordings.compare.targets import Targets, target_mesh
from sensorium.recordings.fit.waveform import halves
from sensorium.recordings.measure.waveform import Pulses, aligned_pulses, largest_group, measure_waveform
from sensorium.recordings.readers.las_waveforms import WaveformRecording, Waveforms
from sensorium.scene.scene import Scene
from sensorium.sensors.lidar.lidar import Lidar
from sensorium.sensors.lidar.receiver_tables import PLANCK
from sensorium.worlds import Static

Float = NDArray[np.float64]

# The digitizer starts so long after the pulse has left [s]; targets are then 30 m away and farther
_START_S = 200e-9

# Angle from beam to beam [deg], which is wider than the targets, and beams of a row
_APART_DEG, _ROW = 0.15, 2000


def simulate_pulses(device: Device, recording: WaveformRecording, seed: int) -> tuple[WaveformRecording, Sequence[str]]:
    """Packets of a device, one for each recorded pulse that is measured.

    Peaks are as late in their packets as the recorded ones and as high: reflectances are in proportion, and the gain is
    that at which the median height is the recorded one. Noise and rounding are the recorded ones too. The spacing of
    samples is the device's own, or the recorded one where its sheet has none.
    """
    group = largest_group(recording)
    pulses, step = aligned_pulses(group), float(np.diff(np.unique(group.samples)).min(initial=np.inf))
    lidar = _lidar(device, group, len(pulses.amplitude))
    silent, resolution_s = _samples(lidar, pulses, seed), lidar.waveform.resolution_s
    gain = float(np.median(pulses.amplitude / silent.max(axis=1)))
    noise_W = math.sqrt(max(pulses.noise**2 - step**2 / 12.0, 0.0)) / gain
    # Electrons within the duration of a pulse, as the receiver states its noise
    photons_a_watt = (
        lidar.beam.wavelength_m / (PLANCK * SPEED_OF_LIGHT_M_S) * math.sqrt(resolution_s * lidar.beam.pulse_s)
    )
    noise_e = noise_W * lidar.receiver.quantum_efficiency * photons_a_watt
    noisy = lidar.model_copy(update={"receiver": lidar.receiver.model_copy(update={"noise_electrons": noise_e})})
    samples = step * np.rint(gain * _samples(noisy, pulses, seed) / step)
    returns, location_s = np.ones(len(samples), np.int64), -pulses.time_s[:, 0]
    made = Waveforms(resolution_s, group.bits, samples, returns, location_s, group.top)
    how = "targets: one facing the beam for each pulse, at the recorded place and height; noise as recorded"
    return recording._replace(software="simulation", groups=(made,)), (how,)


def _lidar(device: Device, group: Waveforms, pulses: int) -> Lidar:
    """The device with as many beams of one ray each, and the recorded length of packets."""
    sheet, number = device.sheet, np.arange(pulses)
    assert isinstance(sheet, LidarSheet)
    resolution_s = sheet.number("sample_spacing") or group.spacing_s
    pattern = {
        "kind": "table", "azimuth_deg": (_APART_DEG * (number % _ROW)).tolist(),
        "elevation_deg": (_APART_DEG * (number // _ROW)).tolist(), "time_s": [0.0] * pulses, "rate_hz": 10.0,
    }  # fmt: skip
    window: dict[str, Any] = {
        "start_s": _START_S, "stop_s": _START_S + group.samples.shape[1] * group.spacing_s,
        "resolution_s": resolution_s, "rays": {"kind": "spiral", "count": 1}, "shot_noise": False, "keep": True,
    }  # fmt: skip
    return Lidar.from_device(
        device.path, mode="waveform", pattern=pattern, waveform=window, receiver={"noise_electrons": 0.0},
        detection=None, noise={"channel_bias_m": (), "channel_bias_std_m": 0.0}, min_range_m=0.0, max_range_m=1000.0,
        errors=(), timing={},
    )  # fmt: skip


def _samples(lidar: Lidar, pulses: Pulses, seed: int) -> Float:
    """Samples of targets at the places and of the heights of pulses [W], shape (pulses, bins)."""
    range_m = 0.5 * SPEED_OF_LIGHT_M_S * (_START_S - pulses.time_s[:, 0] + 0.5 * lidar.waveform.resolution_s)
    bright = pulses.amplitude * range_m**2
    scene = Scene()
    targets = Targets(range_m[None], (bright / bright.max())[None])
    scene.add(target_mesh(lidar.pattern.rays(0), targets), material=Lambertian(reflectance="reflectance"))
    env = Environment(scene, Static(step_s=1.0 / lidar.pattern.rate_hz), seed=seed)
    sensor = env.attach(lidar)
    env.step()
    waveform = sensor.read().waveform
    assert waveform is not None
    return waveform.samples[0].astype(np.float64)


compare_waveform = Comparing(
    kind="lidar",
    measure=measure_waveform,
    halves=halves,
    samples="pulses",
    simulate=simulate_pulses,
    tolerances={
        "pulse.fwhm": 0.02,
        "pulse.fwhm.median": 0.02,
        "pulse.fwhm.by_amplitude": 0.05,
        "pulse.rise_time": 0.05,
        "pulse.fall_time": 0.05,
        "sample_spacing": 1e-6,
    },
)
"""Noise of samples is given to the simulation."""
