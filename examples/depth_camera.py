"""A forest in a depth camera on a drone: distances, labels, normals, flow and colors of one instant."""

import numpy as np

import sensorium as sn
from sensorium.view import save_figure
from sensorium.view.depth_pictures import depth_pictures

# A forest: forty trees, a walker among them
rng = np.random.default_rng(4)
scene = sn.Scene()
scene.add(sn.shapes.plane(80.0), material=sn.materials.load("grass"), label="ground")
bark, leaves = sn.materials.load("wood"), sn.materials.load("leaf")
places = [place for place in rng.uniform((2.0, -14.0), (30.0, 14.0), (70, 2)) if abs(place[1]) > 1.2]
for x, y in places:
    height = rng.uniform(3.0, 5.0)
    trunk = sn.shapes.cylinder(rng.uniform(0.12, 0.25), height)
    scene.add(trunk, pose=sn.Pose(position=(x, y, height / 2.0)), material=bark, label="trunk")
    crown = sn.shapes.ellipsoid(1.1, 1.1, 1.5)
    scene.add(crown, pose=sn.Pose(position=(x, y, height)), material=leaves, label="crown")
scene.add(sn.shapes.capsule(0.28, 1.2), body="walker", label="pedestrian")

# The drone flies forward and turns left; the walker crosses its way
world = sn.worlds.Kinematic(
    {
        "drone": sn.paths.Circle(center=(0.0, 8.0, 1.6), radius=8.0, rate=0.25, phase=-np.pi / 2.0),
        "walker": sn.paths.Line(start=(6.0, -1.6, 0.9), velocity=(0.0, 1.4, 0.0)),
    },
    step_s=0.05,
)
env = sn.Environment(scene, world, sun=sn.fields.Sun(elevation_deg=40.0, azimuth_deg=200.0))
names = ("depth", "segmentation", "normals", "flow", "scene_flow", "color")
camera = sn.DepthCamera(
    pattern=sn.patterns.Pinhole.from_fov(320, 240, 87.0, rate_hz=20.0), outputs=set(names), max_range_m=25.0
)
eye = env.attach(camera, body="drone")
for _ in range(14):
    env.step()

image = eye.read()
walker = image.segmentation == scene.labels["pedestrian"]
print(f"{image.valid.mean():.0%} of the pixels see something within {camera.max_range_m:g} m")
print(f"the walker is {image.depth_m[walker].mean():.2f} m away and fills {walker.sum()} pixels")
px, m_s = image.flow[walker].mean(axis=0), image.scene_flow[walker].mean(axis=0)
print(f"it moves by {px.round(1)} px an image, and as the drone sees it by {m_s.round(2)} m/s")
save_figure("depth_camera.png", depth_pictures(image, scene.labels, names))
