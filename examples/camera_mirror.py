"""A camera in front of a mirror and a polished ball: with mirror images, and with sky and ground only."""

import numpy as np

import sensorium as sn
from sensorium.physics.fields import Sun
from sensorium.qa.demo import models
from sensorium.view import camera_plots, save_figure


def paint(red: float, green: float, blue: float) -> sn.Lambertian:
    """A matt paint by its reflectance in three colors."""
    return sn.Lambertian(reflectance=((4.5e-7, blue), (5.4e-7, green), (6.2e-7, red), (7e-7, red)))


# A yard paved in two grays, by an image of two by two texels that repeats
ground = sn.shapes.plane(60.0, 60.0)
gray = np.array([[0.45, 0.15], [0.15, 0.45]])
paving = sn.Mesh(
    ground.vertices,
    ground.faces,
    vertex_properties={"uv": ground.vertices[:, :2] / 2.0},
    texture=np.kron(gray, np.ones((16, 16)))[..., None].repeat(3, axis=-1),
)
scene = sn.Scene()
scene.add(paving, material=sn.Lambertian(reflectance="texture"))

# A framed mirror on a wall, a polished ball in front of it; all other objects are beside or behind the camera
silver = sn.Mirror(reflectance=0.92)
scene.add(sn.shapes.box(0.3, 14.0, 3.6), pose=sn.Pose((8.15, 0.0, 1.8)), material=paint(0.45, 0.35, 0.28))
scene.add(sn.shapes.box(0.06, 5.4, 2.6), pose=sn.Pose((7.97, 0.9, 1.55)), material=paint(0.25, 0.14, 0.06))
scene.add(sn.shapes.box(0.04, 5.2, 2.4), pose=sn.Pose((7.93, 0.9, 1.55)), material=silver)
scene.add(sn.shapes.sphere(0.75, subdivisions=7), pose=sn.Pose((5.0, -1.9, 0.75)), material=silver)
red, green = paint(0.6, 0.06, 0.05), paint(0.08, 0.45, 0.12)
scene.add(sn.shapes.box(0.9, 0.9, 1.1), pose=sn.Pose.from_euler_deg((5.6, 2.2, 0.55), yaw=30.0), material=red)
scene.add(sn.shapes.cylinder(0.4, 1.6), pose=sn.Pose((3.2, -3.4, 0.8)), material=green)
scene.add(models.car(), pose=sn.Pose.from_euler_deg((-5.0, 3.2, 0.0), yaw=65.0), material=paint(0.1, 0.2, 0.65))
scene.add(models.tree(5.0), pose=sn.Pose((-7.0, -2.5, 0.0)), material=sn.materials.load("leaf"))

world = sn.worlds.Static({"mast": sn.Pose((0.0, 0.0, 1.5))}, step_s=0.1)
env = sn.Environment(scene, world, sun=Sun(elevation_deg=40.0, azimuth_deg=205.0), seed=1)
common = {"columns": 640, "rows": 480, "exposure_s": 0.045e-3, "sample_factor": 2, "pupil_rays": 2, "mosaic": None}
eyes = {
    depth: env.attach(
        sn.Camera.from_device("pointgrey-bumblebee2", mirror_depth=depth, **common), body="mast", name=f"eye{depth}"
    )
    for depth in (0, 4)
}
env.step()

# In the middle of the ball's upper half the sky is mirrored; in the mirror, the yard
blind, followed = (eyes[depth].read() for depth in (0, 4))
changed = np.abs(blind.ideal - followed.ideal).max(axis=-1) > 1e-6
print(f"{100.0 * changed.mean():.1f} % of the image shows something by a mirror;", end=" ")
print(f"the nearest of it is {followed.distance_m[changed].min():.2f} m away, which is the mirror's own distance")
stages = [("mirror_depth 0: sky or ground alone", blind.image), ("mirror_depth 4", followed.image)]
save_figure("camera_mirror.png", camera_plots.stage_pictures(stages, columns=2))
