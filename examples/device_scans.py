"""Two lidars by name in front of the same street: a grid that repeats, and a rosette that fills its field."""

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

DEVICES = {"ouster-os1-128": "Ouster OS1-128", "livox-mid40": "Livox Mid-40"}
FIELD_DEG, SWEEPS = 20.0, 10

# A street: ground, two rows of houses, a wall across, poles and a sphere
street = sn.Scene()
street.add(sn.shapes.box(120, 60, 0.2), pose=sn.Pose((40, 0, -1.9)))
for k in range(4):
    for side in (-1, 1):
        street.add(sn.shapes.box(8, 6, 5 + k), pose=sn.Pose((14 + 11 * k, side * 9, 0)))
street.add(sn.shapes.box(1, 40, 9), pose=sn.Pose((62, 0, 1)))
for x, y in ((9, 1.7), (12, -2.4), (20, 3.0), (26, -3.5)):
    street.add(sn.shapes.cylinder(0.08, 4.0), pose=sn.Pose((x, y, 0)))
street.add(sn.shapes.sphere(0.8), pose=sn.Pose((14, 0.4, -0.4)))

# Each device by its data sheet, but without light, noise and errors: only the ray directions matter here
env = sn.Environment(street, sn.worlds.Static(step_s=0.1), seed=1)
exact = {"mode": "geometric", "errors": (), "noise": sn.RangeNoise()}
lidars = {name: env.attach(sn.Lidar.from_device(name, **exact), name=name) for name in DEVICES}
seen: dict[str, list[np.ndarray]] = {name: [] for name in DEVICES}
for _ in env.run(duration_s=SWEEPS * 0.1):
    for name, lidar in lidars.items():
        seen[name] += [scan.points[scan.valid] for scan in lidar.readings()]

figure, panels = draw.canvas(11.5, 11.0, 2, 2)
for column, (name, title) in enumerate(DEVICES.items()):
    for row, sweeps in enumerate((1, SWEEPS)):
        points = np.concatenate(seen[name][:sweeps]).astype(float)
        azimuth = np.degrees(np.arctan2(points[:, 1], points[:, 0]))
        elevation = np.degrees(np.arctan2(points[:, 2], np.hypot(points[:, 0], points[:, 1])))
        inside = (np.abs(azimuth) < FIELD_DEG) & (np.abs(elevation) < FIELD_DEG)
        distance = np.linalg.norm(points[inside], axis=1)
        axes = panels[2 * row + column]
        axes.scatter(
            azimuth[inside],
            elevation[inside],
            c=np.log(distance),
            s=1.8,
            cmap="turbo_r",
            linewidths=0.0,
            vmin=1.6,
            vmax=4.6,
        )
        axes.set_xlim(FIELD_DEG, -FIELD_DEG)
        axes.set_ylim(-FIELD_DEG, FIELD_DEG)
        places = len(np.unique(np.round(np.stack([azimuth[inside], elevation[inside]]) * 20), axis=1).T)
        heading = f"{title}, {0.1 * sweeps:g} s: {inside.sum():,} points in {places:,} places"
        draw.frame(axes, heading, "azimuth [°]", "elevation [°]", equal=True)
        print(f"{heading} of 0.05 degrees")
save_figure("device_scans.png", figure)
