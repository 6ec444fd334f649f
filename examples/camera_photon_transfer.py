"""Photon transfer of a simulated IMX900: gain and read noise recovered from pairs of uniform images."""

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

PIXELS, BLACK_DN = 100_000, 64.0


def even_image(camera: sn.Camera, electrons: float, tick: int) -> np.ndarray:
    """Codes of one frame of an even field."""
    stream = sn.random.Stream(7, "flats")
    pattern = sn.imaging.fixed_pattern(camera.noise, stream, values=PIXELS)
    e = np.full(PIXELS, electrons, np.float32)
    options = {"exposure_s": camera.exposure_s, "full_well_e": camera.full_well_e, "key": stream.key}
    sn.imaging.noisy_electrons(e, camera.noise, pattern, tick=tick, **options)
    adc = {"bits": 12, "adc_bits": 12, "gain_dn_e": camera.adc.gain_dn_e, "black_dn": BLACK_DN}
    _, codes = sn.imaging.digitized(e[:, None], gain=(1.0,), full_well_e=camera.full_well_e, **adc)
    return codes[:, 0].astype(float)


figure, (axis,) = draw.canvas(9.0, 5.4)
draw.frame(axis, "Photon transfer curve", "mean over darkness [DN]", "variance over frames [DN²]", log="xy")
for color, name in zip(draw.COLORS, ("sony-imx900", "sony-imx900-hcg"), strict=False):
    camera = sn.Camera.from_device(name)
    set_gain, set_noise_e = camera.adc.gain_dn_e, camera.noise.read_noise_e

    # Two frames at each level: half the variance of their difference is that of the noise
    levels = np.concatenate([[0.0], np.geomspace(2.0, 1.3 * camera.full_well_e, 40)])
    pairs = [[even_image(camera, level, 2 * k + i) for i in (0, 1)] for k, level in enumerate(levels)]
    mean = np.array([(a + b).mean() / 2.0 for a, b in pairs])
    variance = np.array([np.var(a - b) / 2.0 for a, b in pairs])

    # Over the mean the variance is a line of slope K; in the dark it is that of the read noise
    signal, usable = mean - mean[0], (levels > 0.0) & (levels < 0.6 * camera.full_well_e)
    gain = (signal[usable] * (variance - variance[0])[usable]).sum() / (signal[usable] ** 2).sum()
    noise_e = np.sqrt(variance[0] - 1.0 / 12.0) / gain
    print(f"{name}: gain {gain:.4f} DN/e- (set {set_gain}), read noise {noise_e:.3f} e- (set {set_noise_e})")
    axis.plot(signal[1:], variance[1:], "o", color=color, markersize=4, label=name)
    e = np.geomspace(0.5, camera.full_well_e, 200)
    law = sn.optics.gray_value_noise(e, dark_noise_e=set_noise_e, gain_dn_e=set_gain) ** 2
    axis.plot(set_gain * e, law, color=color, linewidth=1.2)
draw.key(axis)
save_figure("camera_photon_transfer.png", figure)
