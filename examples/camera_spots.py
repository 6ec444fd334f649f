"""Spots of pupil rays: defocus and each of the five Seidel terms at points over the image."""

import numpy as np

import sensorium as sn
from sensorium.physics.optics import Seidel
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

LENS = {"focal_length_m": 6e-3, "pupil_distance_m": 6.05e-3, "pupil_radius_m": 1.5e-3}
PITCH_M, SIZE, PLACES = 4.65e-6, 192, np.array([24, 96, 168])
TERMS = {
    "Defocus, 0.3 m instead of 0.73 m": (Seidel(), 0.3),
    "Spherical aberration B": (Seidel(spherical=6e5), None),
    "Coma F": (Seidel(coma=2.5e6), None),
    "Astigmatism C": (Seidel(astigmatism=1e7), None),
    "Field curvature D": (Seidel(curvature=1e7), None),
    "Distortion E": (Seidel(distortion=2.5e7), None),
}

in_focus_m = sn.optics.in_focus_distance(LENS["focal_length_m"], LENS["pupil_distance_m"])
figure, axes = draw.canvas(13.5, 9.6, rows=2, columns=3)
for axis, (title, (terms, depth_m)) in zip(axes, TERMS.items(), strict=True):
    # Nine bright points in the dark, at the middle, the edges and the corners
    table = sn.imaging.spot_table(
        columns=SIZE, rows=SIZE, pitch_m=(PITCH_M, PITCH_M), factor=1, pupil_rays=2000, coefficients=terms, **LENS
    )
    side = SIZE + 2 * table.margin
    ideal = np.zeros((side, side, 1), np.float32)
    ideal[np.ix_(table.margin + PLACES, table.margin + PLACES)] = 1.0
    if terms.distortion:  # moves points and leaves them points: a grid shows it better
        ideal[(np.arange(side) - table.margin) % 24 < 2] = ideal[:, (np.arange(side) - table.margin) % 24 < 2] = 1.0
    inverse = np.full((side, side), 1.0 / (depth_m or in_focus_m), np.float32)
    image = np.empty((SIZE, SIZE, 1), np.float32)
    sn.imaging.pixel_means(ideal, inverse, table, image)

    draw.frame(axis, title, "", "")
    axis.imshow((image[..., 0] / image.max()) ** 0.4, cmap="magma", interpolation="nearest")
    if not terms.distortion:
        axis.plot(*np.meshgrid(PLACES, PLACES), "+", color="white", markersize=5, alpha=0.4)
    axis.set_xticks([])
    axis.set_yticks([])
    if depth_m:
        radius_um = float(sn.optics.blur_radius(**LENS, object_m=depth_m)) * 1e6
        y, x = np.nonzero(image[60:132, 60:132, 0])
        drawn_um = np.hypot(x - 36, y - 36).max() * PITCH_M * 1e6
        print(f"a point out of focus is a disc of radius {radius_um:.1f} um by the lens formula, {drawn_um:.1f} drawn")
save_figure("camera_spots.png", figure)
