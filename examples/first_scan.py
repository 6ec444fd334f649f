"""A lidar on a moving car looks at a wall and at a ball that circles in front of it."""

import numpy as np

import sensorium as sn

# The scene: objects fixed in the world, or on a moving body
scene = sn.Scene()
scene.add(sn.shapes.plane(200.0), label="ground")
scene.add(sn.shapes.box(0.2, 6.0, 3.0), pose=sn.Pose(position=(20, 0, 1.5)), label="wall")
scene.add(sn.shapes.sphere(0.5), body="ball", label="ball")

# How the bodies move
car = sn.paths.Line(start=(0, 0, 0), velocity=(10, 0, 0))
ball = sn.paths.Circle(center=(12, 3, 1), radius=1.0, rate=1.0)
world = sn.worlds.Kinematic({"car": car, "ball": ball}, step_s=0.01)

# The lidar: 64 channels by 1024 columns, ten turns a second, on the roof of the car
pattern = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(15, -25, 64)), columns=1024, rate_hz=10)
environment = sn.Environment(scene, world, seed=7)
lidar = environment.attach(sn.Lidar(pattern=pattern), body="car", pose=sn.Pose(position=(0, 0, 1.8)))

for _ in environment.run(duration_s=0.5):
    if lidar.fresh:
        scan = lidar.read()
        seen = {name: int((scan.label == number).sum()) for name, number in scene.labels.items()}
        print(f"{environment.time_s:.1f} s: nearest {scan.range_m[scan.valid].min():.2f} m, returns {seen}")

sn.record.save_ply_points("first_scan.ply", scan.flat().points, label=scan.flat().label)
