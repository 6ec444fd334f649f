"""Radar laws: cross-sections, paths over the ground, spreading of echoes and probability of detection."""

import numpy as np

import sensorium as sn
from sensorium.physics import radio
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

WAVE_M = radio.Chirp().wavelength_m
figure, (shapes, ground, windows, law) = draw.canvas(14.0, 9.0, 2, 2)

# Cross-sections at 77 GHz, turned about z
angle = np.radians(np.linspace(-60.0, 60.0, 4001))
direction = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=-1)
bodies = {
    "corner, 0.1 m edges": radio.Corner(edge_m=0.1),
    "plate, 0.1 m x 0.1 m": radio.Plate(width_m=0.1, height_m=0.1),
    "cylinder, 0.05 m x 0.1 m": radio.Cylinder(radius_m=0.05, length_m=0.1),
    "sphere, 1 m": radio.Sphere(radius_m=1.0),
}
draw.frame(shapes, "Cross-section at 77 GHz", "turned by [°]", "[m²]", log="y")
for (name, body), color in zip(bodies.items(), draw.COLORS, strict=False):
    area = np.maximum(body.cross_section(direction, wavelength_m=WAVE_M), 1e-9)
    shapes.plot(np.degrees(angle), area, color=color, linewidth=1.0, label=name)
shapes.set_ylim(1e-3, 2e4)
draw.key(shapes, where="upper center", columns=2)

# Two ways from a radar 0.6 m above the road to a reflector 0.8 m above it
distance = np.linspace(20.0, 120.0, 4000)
straight, bent, grazing = radio.image_path(distance, 0.6, 0.8)
concrete = radio.permittivity("concrete", frequency_hz=77e9)
mirror = radio.reflection_coefficient(grazing, relative_permittivity=concrete)
draw.frame(ground, "Echo over concrete, over that in free space", "distance [m]", "[dB]")
for rough_m, color in ((0.0, draw.COLORS[0]), (0.006, draw.COLORS[1])):
    left = mirror * radio.roughness_factor(grazing, roughness_m=rough_m, wavelength_m=WAVE_M)
    factor = radio.two_ray_factor(left, bent - straight, wavelength_m=WAVE_M)
    ground.plot(
        distance, radio.in_decibels(factor), color=color, linewidth=1.0, label=f"heights of {1e3 * rough_m:g} mm"
    )
draw.key(ground, where="lower right")

# One echo over cells
cells = np.linspace(-8.0, 8.0, 1601)
draw.frame(windows, "One echo in cells around it", "cells", "[dB]")
for name, color in zip(radio.WINDOWS, draw.COLORS, strict=False):
    power = np.maximum(radio.point_spread(name, cells, count=256) ** 2, 1e-12)
    windows.plot(cells, radio.in_decibels(power), color=color, linewidth=1.0, label=name.replace("_", "-"))
windows.set_ylim(-110.0, 20.0)
draw.key(windows, where="upper center", columns=4)

# How often a body is seen: the law, and rows of cells that were drawn
snr_dB, trials = np.linspace(0.0, 30.0, 61), 4000
draw.frame(law, "How often a Swerling I body is seen, one false alarm in 10⁴", "SNR [dB]", "[1]")
snr = radio.of_decibels(snr_dB)
settings = {"cells": 16, "false_alarm": 1e-4}
law.plot(snr_dB, radio.detection_probability(snr, false_alarm=1e-4), color="#93a4b8", label="noise known")
law.plot(snr_dB, radio.cfar_detection_probability(snr, **settings), color=draw.COLORS[0], label="mean of 16 cells")
ranked = radio.ordered_detection_probability(snr, rank=0.75, **settings)
law.plot(snr_dB, ranked, color=draw.COLORS[1], label="12th of 16 cells")
worst = 0.0
for k, level_dB in enumerate(range(2, 31, 4)):
    row = sn.random.Stream(1, "rows").exponential(0, k, 0, worlds=trials, elements=21)
    row[:, 10] *= 1.0 + radio.of_decibels(level_dB)
    seen = radio.crossings(row, training=8, guard=2, false_alarm=1e-4)[:, 10].mean()
    expected = radio.cfar_detection_probability(radio.of_decibels(level_dB), **settings)
    worst = max(worst, abs(seen - expected))
    law.plot(level_dB, seen, marker="o", markersize=5, color=draw.COLORS[0], linestyle="")
draw.key(law, where="lower right")
save_figure("radar_laws.png", figure)
print(
    f"corner {float(bodies['corner, 0.1 m edges'].cross_section((1, 0, 0), wavelength_m=WAVE_M)):.3f} m² straight on;"
)
print(f"drawn rows and the law of the mean differ by {worst:.3f} at most")
