"""An outdoor scene with a horizon in a camera: one picture after each stage."""

import numpy as np

import sensorium as sn
from sensorium.physics.fields import Sun
from sensorium.qa.demo import models
from sensorium.view import camera_plots, save_figure

# A road through grass, a house, trees, cars and a red ball close by
scene = sn.Scene()
load = sn.materials.load
scene.add(sn.shapes.plane(6000.0, 6000.0), material=load("grass"))
scene.add(sn.shapes.plane(900.0, 7.0), pose=sn.Pose(position=(440.0, 0.0, 0.02)), material=load("asphalt"))
for x in np.arange(6.0, 120.0, 6.0):
    line = sn.shapes.plane(3.0, 0.15)
    scene.add(line, pose=sn.Pose(position=(x, 0.0, 0.03)), material=sn.Lambertian(reflectance=0.8))
scene.add(sn.shapes.box(9.0, 7.0, 5.0), pose=sn.Pose(position=(38.0, 13.0, 2.5)), material=load("brick"))
scene.add(sn.shapes.box(9.6, 7.6, 0.5), pose=sn.Pose(position=(38.0, 13.0, 5.2)), material=load("tar_paper"))
for x, y in ((16.0, 8.0), (24.0, -9.0), (52.0, -12.0), (60.0, 9.0), (34.0, -16.0)):
    scene.add(models.tree(7.0), pose=sn.Pose(position=(x, y, 0.0)), material=load("leaf"))
paint = sn.TwoLayer(refractive_index=1.5, roughness=0.05, reflectance=((4e-7, 0.05), (5.5e-7, 0.08), (7e-7, 0.5)))
scene.add(models.car(), pose=sn.Pose.from_euler_deg((13.0, -2.0, 0.0), yaw=8.0), material=paint)
scene.add(models.van(), pose=sn.Pose.from_euler_deg((24.0, 1.9, 0.0), yaw=180.0), material=load("white_car_paint"))
ball = sn.Lambertian(reflectance=((4e-7, 0.05), (5.6e-7, 0.08), (6.2e-7, 0.6), (7e-7, 0.7)))
scene.add(sn.shapes.sphere(0.02, subdivisions=4), pose=sn.Pose(position=(0.15, 0.05, 1.36)), material=ball)

# The Bumblebee of the paper with a poor lens, focused at 8 m; the ball is far too near
camera = sn.Camera.from_device(
    "pointgrey-bumblebee2",
    columns=640,
    rows=480,
    pupil_distance_m=1.0 / (1.0 / 3.8e-3 - 1.0 / 8.0),
    vignetting_per_m=90.0,
    spherical=3e5,
    coma=3e5,
    curvature=3e5,
    distortion=1.2e6,
    exposure_s=0.06e-3,
    gain=(1.13, 1.0, 1.3),
)
world = sn.worlds.Static({"car": sn.Pose(position=(0.0, 0.0, 1.4))}, step_s=0.1)
env = sn.Environment(
    scene, world, sun=Sun(elevation_deg=38.0, azimuth_deg=135.0), atmosphere=sn.media.fog(visibility_m=8000), seed=2
)
eye = env.attach(camera, body="car")
env.step()

reading = eye.read()
names = {
    "ideal": "1  ideal image, 3 x 3 samples a pixel",
    "lens": "2  through the lens: defocus and Seidel spots",
    "vignetting": "3  vignetting, on a mosaic of color filters",
    "noise": "4  shot and read noise",
    "gain and gamma": "5  12 bits, gain and gamma",
    "colors": "6  colors from the mosaic",
}
stages = [(names[name], image) for name, image in reading.stages() if name in names]
print(f"{reading.ideal.shape[0] * reading.ideal.shape[1] / 1e6:.1f} M samples, {len(stages)} stages;", end=" ")
print(f"the ball at {reading.distance_m.min():.2f} m blurs to", end=" ")
lens = camera.focal_length_m, camera.pupil_distance_m, camera.pupil_radius_m
radius_m = sn.optics.blur_radius(*lens, float(reading.distance_m.min()))
print(f"{2 * radius_m / camera.pitch_m[0]:.1f} pixels")
save_figure("camera_stages.png", camera_plots.stage_pictures(stages, closer=(0.54, 0.74, 0.42, 0.62)))
