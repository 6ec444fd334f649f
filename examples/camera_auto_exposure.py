"""A drive out of a hall into the sun: automatic exposure and white balance follow from image to image."""

import numpy as np

import sensorium as sn
from sensorium.physics.fields import Sun
from sensorium.qa.demo import models
from sensorium.view import save_figure
from sensorium.view.plots import INK, heading, new_figure, style


def paint(red: float, green: float, blue: float) -> sn.Lambertian:
    """A matt paint by its reflectance in three colors."""
    return sn.Lambertian(reflectance=((4.5e-7, blue), (5.4e-7, green), (6.2e-7, red), (7e-7, red)))


# A hall of dark brick over a road, with a yard in the sun before it
scene = sn.Scene()
scene.add(sn.shapes.plane(400.0, 400.0), material=sn.Lambertian(reflectance=0.12))
brick = paint(0.09, 0.05, 0.03)
for y in (-4.5, 4.5):
    scene.add(sn.shapes.box(30.0, 0.4, 5.0), pose=sn.Pose((0.0, y, 2.5)), material=brick)
scene.add(sn.shapes.box(30.0, 9.4, 0.4), pose=sn.Pose((0.0, 0.0, 5.0)), material=brick)
scene.add(sn.shapes.box(0.4, 9.4, 5.0), pose=sn.Pose((-15.0, 0.0, 2.5)), material=brick)
for x, y in ((1.0, 2.6), (6.0, -2.8), (11.0, 2.6)):
    scene.add(sn.shapes.box(1.2, 1.2, 1.2), pose=sn.Pose((x, y, 0.6)), material=paint(0.5, 0.35, 0.2))
scene.add(sn.shapes.box(9.0, 22.0, 6.0), pose=sn.Pose((48.0, 6.0, 3.0)), material=paint(0.75, 0.7, 0.6))
scene.add(models.car(), pose=sn.Pose.from_euler_deg((30.0, -4.0, 0.0), yaw=30.0), material=paint(0.6, 0.08, 0.06))
for x, y in ((34.0, 9.0), (28.0, -12.0)):
    scene.add(models.tree(6.0), pose=sn.Pose((x, y, 0.0)), material=sn.materials.load("leaf"))

common = {"columns": 320, "rows": 240, "sample_factor": 2, "pupil_rays": 2, "gamma": 0.5, "exposure_s": 0.1e-3}
cameras = {
    "fixed": sn.Camera.from_device("pointgrey-bumblebee2", **common),
    "auto": sn.Camera.from_device(
        "pointgrey-bumblebee2",
        auto_exposure=sn.imaging.AutoExposure(
            max_exposure_s=10e-3, max_gain=4.0, speed=0.4, region=(0.2, 0.3, 0.8, 0.9), target=0.3
        ),
        white_balance=sn.imaging.GrayWorld(speed=0.3),
        **common,
    ),
}
world = sn.worlds.Kinematic({"car": sn.paths.Line(start=(-8.0, 0.0, 1.4), velocity=(12.0, 0.0, 0.0))}, step_s=0.1)
env = sn.Environment(scene, world, sun=Sun(elevation_deg=35.0, azimuth_deg=150.0), seed=3)
eyes = {name: env.attach(camera, body="car", name=name) for name, camera in cameras.items()}

# Thirty images of each
runs: dict[str, list[sn.CameraImage]] = {name: [] for name in eyes}
for _ in range(30):
    env.step()
    for name, eye in eyes.items():
        runs[name].append(eye.read())

exposure_ms = np.array([1e3 * float(image.exposure_s) for image in runs["auto"]])
print(f"exposure from {exposure_ms.max():.2f} ms in the hall to {exposure_ms.min():.3f} ms in the sun")

# Some images of each run in a row, and below how long each image was exposed, with its gain
shown = {"exposure_s and gain as given": runs["fixed"], "auto_exposure, gray_world": runs["auto"]}
frames, full_scale = (2, 10, 14, 18, 27), 2.0 ** cameras["auto"].bits - 1.0
figure = new_figure(3.0 * len(frames), 2.35 * len(shown) + 2.8)
grid = figure.add_gridspec(len(shown) + 1, len(frames), height_ratios=[2.3] * len(shown) + [2.6])
axes = figure.add_subplot(grid[len(shown), :])
for row, ((name, images), color) in enumerate(zip(shown.items(), ("#b48cff", "#3ad6c5"), strict=True)):
    for column, frame in enumerate(frames):
        place = figure.add_subplot(grid[row, column])
        pixels = images[frame].image.astype(np.float64) / full_scale
        place.imshow(pixels, interpolation="nearest", cmap="gray", vmin=0.0, vmax=1.0)
        place.set_axis_off()
        heading(place, name if column == 0 else f"image {frame}")
    lengthened_ms = [1e3 * float(image.exposure_s * image.gain) for image in images]
    axes.semilogy(np.arange(len(images)), lengthened_ms, color=color, lw=2.0, marker="o", ms=3.5, label=name)
for frame in frames:
    axes.axvline(frame, color=INK, lw=0.5, alpha=0.4)
style(axes, "image", "exposure time x gain [ms]")
axes.legend(frameon=False, loc="lower left", labelcolor=INK)
save_figure("camera_auto_exposure.png", figure)
