"""Blooming: light of a sign in rays that pass beside it, so that the sign looks larger."""

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

EYE, SIGN_M = (0.0, 0.0, 1.6), (20.0, 1.0, 2.6)

# A sign and a vest before a wall, and open sky above
scene = sn.Scene()


def put(mesh: sn.Mesh, place: tuple[float, float, float], material: object, label: str, **turn: float) -> None:
    """One more object in the street."""
    scene.add(mesh, pose=sn.Pose.from_euler_deg(place, **turn), material=material, label=label)


put(sn.shapes.plane(80.0), (20, 0, 0), sn.materials.load("asphalt"), "road")
put(sn.shapes.box(0.3, 40, 3.0), (24.15, 0, 1.5), sn.Lambertian(reflectance=0.5), "wall")
put(sn.shapes.cylinder(0.04, 2.9), (20.05, 1.0, 1.45), sn.materials.load("galvanized_steel"), "pole")
put(sn.shapes.cylinder(0.4, 0.02, segments=64), SIGN_M, sn.Retroreflector(coefficient=300.0), "sign", pitch=90.0)
put(sn.shapes.cylinder(0.22, 1.75), (13.0, -2.2, 0.88), sn.materials.load("black_cotton"), "person")
for height in (1.0, 1.25):
    put(sn.shapes.cylinder(0.23, 0.06), (13.0, -2.2, height), sn.materials.load("high_intensity_sheeting"), "vest")

pattern = sn.patterns.Raster(
    height=141, width=301, horizontal_fov_deg=(-14.0, 14.0), vertical_fov_deg=(-5.0, 8.0), rate_hz=10
)
blooming = sn.Blooming(strength=0.01, radius_deg=0.4, slope=2.5)
THRESHOLD = 1e-3


def scan_with(**fields: object) -> sn.Scan:
    """A lidar's scan of the street."""
    environment = sn.Environment(scene)
    spec = sn.Lidar(pattern=pattern, mode="relative", max_range_m=100.0, threshold=THRESHOLD, **fields)
    lidar = environment.attach(spec, pose=sn.Pose(position=EYE))
    for _ in environment.run(duration_s=0.1):
        pass
    return lidar.read()


plain, scan = scan_with(), scan_with(blooming=blooming)
bloom, sign = scan.cause == sn.Cause.BLOOM, plain.label == scene.labels["sign"]
print(f"{sign.sum()} rays meet the sign, and {(bloom & (scan.label == scene.labels['sign'])).sum()} more report it")

figure, (before, after, law) = draw.canvas(19.0, 4.4, columns=3, width_ratios=(1.0, 1.0, 0.62))
direction = pattern.rays().direction_S
azimuth_deg = np.degrees(np.arctan2(direction[..., 1], direction[..., 0]))
elevation_deg = np.degrees(np.arcsin(direction[..., 2]))
for axes, title, seen in ((before, "Without", plain), (after, "With blooming", scan)):
    draw.frame(axes, title, "azimuth [°], positive to the left", "elevation [°]")
    axes.grid(False)
    axes.set_aspect("equal")
    draw.points_by_cause(axes, azimuth_deg[seen.valid], elevation_deg[seen.valid], seen.cause[seen.valid], size=9)
    axes.set_xlim(14.0, -14.0)
    axes.set_ylim(-5.0, 8.0)
    draw.key(axes, where="upper right")

# Light of the sign in rays around it, over the angle to the nearest ray that hits it
along, onto = direction.reshape(-1, 3).astype(np.float64), direction[sign].astype(np.float64)
angle_deg = np.degrees(np.arccos(np.clip((along @ onto.T).max(axis=1), -1, 1))).reshape(sign.shape)
alone = abs(plain.range_m - SIGN_M[0]) > 0.75  # the pole's own light is part of its rays' bloom
here = bloom & alone & (scan.label == scene.labels["sign"])
power = np.median(plain.intensity[sign])
draw.frame(law, "Stray light of the sign", "angle from the sign [°]", "share of its return", log="xy")
law.scatter(angle_deg[here], scan.intensity[here] / power, 4, color=draw.CAUSE_COLORS[sn.Cause.BLOOM], label="bloom")
at_deg = np.geomspace(0.05, 10.0, 200)
share = sn.optics.stray_light(np.radians(at_deg), strength=0.01, radius_rad=np.radians(0.4), slope=2.5)
law.plot(at_deg, share, color=draw.COLORS[1], linewidth=1.6, label="strength / (1 + (θ/radius)$^{slope}$)")
law.axhline(THRESHOLD / power, color="#6e7681", linestyle=":", linewidth=1.2, label="threshold")
law.set_xlim(0.05, 10.0)
draw.key(law, where="lower left")
ratio = (
    scan.intensity[here]
    / power
    / sn.optics.stray_light(np.radians(angle_deg[here]), strength=0.01, radius_rad=np.radians(0.4), slope=2.5)
)
print(f"their intensity is {np.median(ratio):.3f} times the law at the angle to the nearest ray on the sign")
save_figure("lidar_blooming.png", figure)
