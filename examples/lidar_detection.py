"""Detection limit of a lidar: shares of rays over range for dark and bright walls, and a scene with weak returns."""

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

DEVICES = {"ouster-os0-128": "OS0-128", "ouster-os1-128": "OS1-128", "ouster-os2-128": "OS2-128"}
LINES = {0.1: "-", 0.8: "--"}


def sweep(scene: sn.Scene, lidar: sn.Lidar, pose: sn.Pose | None = None) -> sn.Scan:
    """One sweep of a lidar at rest."""
    environment = sn.Environment(scene, sn.worlds.Static(step_s=1.0 / lidar.pattern.rate_hz), seed=1)
    sensor = environment.attach(lidar, pose=pose)
    environment.step()
    return sensor.read()


def share(lidar: sn.Lidar, reflectance: float, range_m: float) -> float:
    """Share of the rays that return from a diffuse wall all around."""
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(range_m, 5), material=sn.Lambertian(reflectance=reflectance))
    return float(sweep(scene, lidar).valid.mean())


def law(lidar: sn.Lidar, reflectance: float, range_m: np.ndarray) -> np.ndarray:
    """Phi(I / sigma - 5), with the noise that the two stated ranges imply."""
    stated = (lidar.detection, lidar.detection.second)
    light = [one.reflectance / np.pi * lidar.beam.captured(one.range_m) for one in stated]
    noise = [
        sn.optics.noise_of_detection(weak, probability=one.probability, ratio=5.0)
        for weak, one in zip(light, stated, strict=True)
    ]
    dark, sun = sn.optics.sunlit_noise(tuple(noise), reflectance=tuple(one.reflectance for one in stated))
    intensity = reflectance / np.pi * lidar.beam.captured(range_m)
    return sn.optics.detection_probability(intensity, noise=np.sqrt(dark + sun * reflectance), ratio=5.0)


figure, (shares, place) = draw.canvas(15.0, 5.4, columns=2, width_ratios=(1.25, 1.0))
draw.frame(shares, "Rays that return from a wall", "range [m]", "share of rays")
for color, (device, name) in zip(draw.COLORS, DEVICES.items(), strict=False):
    lidar = sn.Lidar.from_device(device, max_range_m=500.0, pattern={"columns": 64})
    for (reflectance, line), stated in zip(LINES.items(), (lidar.detection, lidar.detection.second), strict=True):
        range_m = np.linspace(0.75, 1.45, 15) * stated.range_m
        found = [share(lidar, reflectance, r) for r in range_m]
        fine = np.linspace(range_m[0], range_m[-1], 200)
        label = f"{name}, {100 * reflectance:g} %"
        shares.plot(fine, law(lidar, reflectance, fine), color=color, linestyle=line, linewidth=1.6, label=label)
        shares.plot(range_m, found, color=color, marker="o", markersize=4, linestyle="none")
        shares.plot([stated.range_m], [stated.probability], color="white", marker="x", markersize=10, zorder=5)
        at = share(lidar, reflectance, stated.range_m)
        print(f"{name} at {stated.range_m:g} m, {100 * reflectance:g} %: {at:.3f} of the rays, stated are 0.9")
shares.set_xlim(20, 310)
draw.note(shares, "crosses: as stated", (222, 0.9))
draw.key(shares, where="center right")

# Still water, a mirror that shows the sky, and walls of 2 % and 50 %
scene = sn.Scene()
scene.add(sn.shapes.box(30, 30, 2), pose=sn.Pose((35, 25, -2.8)), material=sn.Dielectric(medium=sn.media.water()))
mirror = sn.Pose.from_euler_deg((30, -8, 1), pitch=-45)
scene.add(sn.shapes.plane(8.0), pose=mirror, material=sn.Mirror(reflectance=0.9))
for y, reflectance in ((-40.0, 0.02), (40.0, 0.5)):
    wall = sn.Lambertian(reflectance=reflectance)
    scene.add(sn.shapes.box(1, 60, 30), pose=sn.Pose((140, y, 0)), material=wall)
draw.frame(place, "From above: what an OS1-128 does not see", "x [m]", "y [m]", equal=True)
for color, size, name, limit in (("#ff5ca8", 6, "too weak", {"detection": None}), ("#93a4b8", 8, "detected", {})):
    scan = sweep(scene, sn.Lidar.from_device("ouster-os1-128", max_depth=2, **limit)).flat()
    place.scatter(scan.points[:, 0], scan.points[:, 1], s=size, color=color, linewidths=0, label=name)
    print(f"{name}: {len(scan.points)} returns")
for text, at in (
    ("still water", (22, 45)),
    ("sky in a mirror", (18, -22)),
    ("wall, 2 %", (108, -42)),
    ("wall, 50 %", (106, 40)),
):
    draw.note(place, text, at)
draw.sensor(place, 0.0, 0.0)
place.set_xlim(-8, 160)
place.set_ylim(-78, 78)
draw.key(place, where="upper left")
save_figure("lidar_detection.png", figure)
