"""Angle estimates of a radar: bias over the field for any array and window, noise, and two reflectors."""

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

ANTENNAS = (2, 3, 4, 8, 12, 16)
ANGLES_DEG = np.arange(-60.0, 60.01, 0.5)
CHIRP = sn.radar.Chirp(bandwidth_hz=149.896229e6, ramp_s=60e-6, samples=64, chirps=32)
RANGE_M = 20.3


def turned(angles_deg: np.ndarray, snr_dB: float, **fields: object) -> tuple[sn.RadarReading, sn.RadarReading]:
    """Reading and truth of radars turned so that a reflector is seen at these azimuths, of a mean SNR ahead."""
    area_m2 = 1.0
    for angles in (np.zeros(1), angles_deg):  # of 1 m^2 straight ahead first
        scene = sn.Scene()
        scene.add(sn.shapes.box(1e-4, 1e-4, 1e-4), pose=sn.Pose((RANGE_M, 0.0, 0.0)), name="reflector")
        env = sn.Environment(scene, sn.worlds.Static(step_s=0.05), seed=3)
        spec = sn.Radar(
            chirp=CHIRP, source="cone", fluctuation="steady", horizontal_fov_deg=170.0,
            cross_sections={"reflector": area_m2}, **fields,
        )  # fmt: skip
        radar = env.attach(spec, pose=[sn.Pose.from_euler_deg(yaw=-angle) for angle in angles.tolist()])
        env.step()
        found, truth = radar.read(), radar.truth()
        area_m2 *= float(sn.radar.of_decibels(snr_dB - truth.snr_dB.max()))
    return found, truth


def both_seen(cells: float, worlds: int, **fields: object) -> float:
    """Share of frames in which two equal reflectors, given range cells apart, 56 dB over the noise, are both seen."""
    scene, areas = sn.Scene(), {}
    for number, name in enumerate(("near", "far")):
        range_m = RANGE_M + number * cells * CHIRP.range_resolution_m
        place = sn.Pose((range_m, 1.0, 0.06 * (2 * number - 1)))
        scene.add(sn.shapes.box(1e-4, 1e-4, 1e-4), pose=place, name=name)
        areas[name] = (range_m / RANGE_M) ** 4
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.05), worlds=worlds, seed=1)
    radar = env.attach(sn.Radar(chirp=CHIRP, source="cone", cross_sections=areas, **fields))
    env.step()
    found = radar.read().object_id
    return float(np.mean((found == 0).any(axis=1) & (found == 1).any(axis=1)))


figure, panels = draw.canvas(17.0, 9.5, 2, 3)

# Bias over the field, in thousandths of a cell
print("greatest error from -60 to 60 degrees by 0.5, at 70 dB ahead [cells] (degrees)")
print("window          ", "".join(f"{n:>16} " for n in ANTENNAS))
for panel, window in zip(panels, sn.radar.WINDOWS, strict=False):
    draw.frame(panel, f"Error of the angle, {window.replace('_', '-')}", "azimuth [°]", "[cells / 1000]")
    row = []
    for antennas, color in zip(ANTENNAS, draw.COLORS, strict=False):
        found, _ = turned(ANGLES_DEG, 70.0, antennas=antennas, window=window, angle_window=window)
        assert found.valid[:, 0].all()
        cells = (np.sin(found.azimuth_rad[:, 0]) - np.sin(np.radians(ANGLES_DEG))) * 0.5 * antennas
        error_deg = np.abs(np.degrees(found.azimuth_rad[:, 0]) - ANGLES_DEG).max()
        row.append(f"{np.abs(cells).max():.5f} ({error_deg:.4f})")
        panel.plot(ANGLES_DEG, 1e3 * cells, color=color, linewidth=0.9, label=f"{antennas} antennas")
    print(f"{window:<16} ", "  ".join(row))
    panel.set_ylim(-11.0, 11.0)
    panel.axhline(10.0, color="#8b949e", linestyle=":", linewidth=1.0)
    panel.axhline(-10.0, color="#8b949e", linestyle=":", linewidth=1.0)
    draw.key(panel, where="lower center", columns=3)

# Error in noise over the bound
levels_dB = np.array([15.0, 18.0, 22.0, 26.0, 30.0, 40.0])
draw.frame(panels[4], "Angle, root of the mean square over the Cramér-Rao bound", "SNR in a cell [dB]", "[1]")
print("root mean square error over the Cramer-Rao bound at", levels_dB.tolist(), "dB")
many = np.tile(np.linspace(-15.0, 15.0, 61), 8)
for window, style in zip(sn.radar.WINDOWS, ("-", "--", "-.", ":"), strict=True):
    for antennas, color in ((2, draw.COLORS[0]), (4, draw.COLORS[2]), (16, draw.COLORS[5])):
        over = []
        for snr_dB in levels_dB:
            fields = {"antennas": antennas, "window": window, "angle_window": window, "cfar": {"false_alarm": 1e-3}}
            found, truth = turned(many, float(snr_dB), **fields)
            own = found.object_id == 0
            first = own.argmax(axis=1)
            seen = own.any(axis=1)
            sine = np.sin(np.take_along_axis(found.azimuth_rad, first[:, None], axis=1)[:, 0])
            error = (sine - np.sin(np.radians(many)))[seen]
            error -= 2.0 * np.floor(0.5 * error + 0.5)
            snr = sn.radar.of_decibels(truth.snr_dB[seen, 0])
            bound = sn.radar.least_sine_error(snr, antennas=antennas, spacing=0.5)
            over.append(float(np.sqrt(np.mean((error / bound) ** 2))))
        print(f"{window:<16} {antennas:>3} antennas", " ".join(f"{value:.2f}" for value in over))
        panels[4].plot(levels_dB, over, style, color=color, linewidth=1.1)
    panels[4].plot([], [], style, color="#93a4b8", label=window.replace("_", "-"))
for antennas, color in ((2, draw.COLORS[0]), (4, draw.COLORS[2]), (16, draw.COLORS[5])):
    panels[4].plot([], [], color=color, label=f"{antennas} antennas")
panels[4].axhline(2.0, color="#8b949e", linestyle=":", linewidth=1.0)
panels[4].set_ylim(0.0, 2.2)
draw.key(panels[4], where="lower right", columns=2)

# Two equal reflectors
apart = np.array([0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0, 20.0, 24.0])
draw.frame(panels[5], "Two equal reflectors, both seen", "apart [range cells]", "share of frames")
kinds = {
    "OS-CFAR (rank), steady": {"fluctuation": "steady"},
    "OS-CFAR, Swerling I": {},
    "OS-CFAR, Swerling I, no window": {"window": "rectangular", "angle_window": "rectangular"},
    "OS-CFAR, Swerling I, Blackman-Harris": {"window": "blackman_harris", "angle_window": "blackman_harris"},
    "CA-CFAR (mean), steady": {"fluctuation": "steady", "cfar": {"over": "mean"}},
}
print("both of two equal reflectors seen, at", apart.tolist(), "cells apart")
for (name, fields), color in zip(kinds.items(), draw.COLORS, strict=False):
    shares = [both_seen(float(cells), 1000, **fields) for cells in apart]
    print(f"{name:<36}", " ".join(f"{share:.3f}" for share in shares))
    panels[5].plot(apart, shares, "o-", color=color, markersize=3.0, linewidth=1.1, label=name)
panels[5].axhline(0.99, color="#8b949e", linestyle=":", linewidth=1.0)
draw.key(panels[5], where="center right")
save_figure("radar_angles.png", figure)
