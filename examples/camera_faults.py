"""Temporary faults of camera pixels, one after the other.

python examples/camera_faults.py     leaves camera_faults.png
"""

import numpy as np

import sensorium as sn
from sensorium.corruption import BlockedSector, DeadChannels, Fault, FaultSchedule, Freeze, Stuck, White
from sensorium.physics.imaging.filters import rgb
from sensorium.view import depth_image_plots as draw
from sensorium.view import save_figure

ROWS, COLUMNS, RATE_HZ = 120, 160, 10.0

# A yard that a robot drives into
scene = sn.Scene()
scene.add(sn.shapes.plane(60.0), material=sn.Lambertian(reflectance=0.2), label="ground")
scene.add(sn.shapes.box(0.3, 30, 5), pose=sn.Pose((14, 0, 2.5)), material=sn.Lambertian(reflectance=0.6), label="wall")
rng = np.random.default_rng(3)
for x, y, side in zip(rng.uniform(4, 12, 9), rng.uniform(-6, 6, 9), rng.uniform(0.6, 1.8, 9), strict=True):
    pose = sn.Pose.from_euler_deg((x, y, side / 2), yaw=rng.uniform(0, 90))
    crate = sn.Lambertian(reflectance=rng.uniform(0.2, 0.7))
    scene.add(sn.shapes.box(side, side, side), pose=pose, material=crate, label="crate")
drive = sn.paths.Line(start=(0.0, 0.0, 1.2), velocity=(1.5, 0.0, 0.0))
world = sn.worlds.Kinematic({"robot": drive}, step_s=1.0 / RATE_HZ)
sun = sn.fields.Sun(elevation_deg=35.0, azimuth_deg=150.0)
env = sn.Environment(scene, world, sun=sun, seed=1)

# Pixels are channels, row by row
mud = BlockedSector(shape=(ROWS, COLUMNS), rows=(35, 80), columns=(95, 140))
dead = DeadChannels(channels=tuple(range(20, ROWS, 24)), shape=(ROWS, COLUMNS))  # whole rows
depth_faults = (
    Fault(mud, start_s=0.35, end_s=0.45),
    Fault(dead, start_s=0.55, end_s=0.65),
    Fault(White(std=0.5), start_s=0.75, end_s=0.85),
    Fault(Freeze(), start_s=1.15, end_s=2.05),
)
pinhole = sn.patterns.Pinhole.from_fov(COLUMNS, ROWS, 80.0, rate_hz=RATE_HZ)
depth_camera = sn.DepthCamera(pattern=pinhole, max_range_m=20.0, faults=FaultSchedule(faults=depth_faults))
depth = env.attach(depth_camera, body="robot")

# One pixel in two hundred of a color camera is dark or bright; the mosaic spreads each into its neighbors
pixels = rng.permutation(ROWS * COLUMNS)[: ROWS * COLUMNS // 200]
color_camera = sn.Camera.from_device(
    "sony-imx900", columns=COLUMNS, rows=ROWS, exposure_s=4e-6, bands=rgb(), mosaic="rggb", timing={"rate_hz": RATE_HZ}
)
broken = (
    Fault(Stuck(mode="value", value=0.0), channels=tuple(pixels[::2].tolist()), name="dead", start_s=0.5),
    Fault(Stuck(mode="value", value=2e4), channels=tuple(pixels[1::2].tolist()), name="hot", start_s=0.5),
)
color_camera.faults = FaultSchedule(faults=broken)
color = env.attach(color_camera, body="robot")

# The last step of each fault, and of health
panels = {}
titles = {0.2: "depth", 0.4: "mud on the window", 0.6: "dead rows", 0.8: "noise of 0.5 m", 2.0: "frozen for 0.8 s"}
for _ in env.run(2.0):
    title = titles.get(round(env.time_s, 3))
    if title is not None:
        image = depth.read()
        panels[title] = draw.depth_colors(image.depth_m, image.valid, near_m=1.0, far_m=18.0)
        print(f"{env.time_s:.1f} s: {title}, {image.valid.mean():.0%} of the pixels have a depth")
shown = color.read().image
panels["dead and hot pixels of a mosaic"] = shown / shown.max()
save_figure("camera_faults.png", draw.panels(list(panels.items())))
