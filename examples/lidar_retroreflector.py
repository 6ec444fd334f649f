"""Retroreflectors: a sign, a number plate and a vest return a thousand times as much light as the wall beside them."""

import numpy as np
from matplotlib.colors import LogNorm

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

BEAM = {"detector_radius_m": 0.01, "exit_radius_m": 0.01, "half_divergence_rad": 1.5e-3}
EYE = (0.0, 0.0, 1.6)
SIGN_M = (20.0, 2.5, 2.4)

# A street that ends at a wall; the sign faces the lidar, as do a car's number plate and two stripes of a vest
scene = sn.Scene()


def put(mesh: sn.Mesh, place: tuple[float, float, float], material: object, label: str, **turn: float) -> None:
    """One more object in the street."""
    scene.add(mesh, pose=sn.Pose.from_euler_deg(place, **turn), material=material, label=label)


sheeting = sn.Retroreflector(coefficient=200.0)
put(sn.shapes.plane(80.0), (20, 0, 0), sn.materials.load("asphalt"), "road")
put(sn.shapes.box(0.3, 30, 5), (20.4, 0, 2.5), sn.Lambertian(reflectance=0.5), "wall")
put(sn.shapes.cylinder(0.04, 2.9), (20.05, 2.5, 1.45), sn.materials.load("galvanized_steel"), "pole")
put(sn.shapes.cylinder(0.4, 0.02, segments=64), SIGN_M, sheeting, "sign", pitch=90.0)
put(sn.shapes.box(3.6, 1.8, 0.8), (16.0, -1.6, 0.7), sn.materials.load("black_car_paint"), "car")
put(sn.shapes.box(2.0, 1.6, 0.6), (16.4, -1.6, 1.4), sn.materials.load("black_car_paint"), "car")
put(sn.shapes.box(0.01, 0.52, 0.11), (14.19, -1.6, 0.6), sn.materials.load("engineer_grade_sheeting"), "plate")
put(sn.shapes.cylinder(0.22, 1.75), (13.0, 0.9, 0.88), sn.materials.load("black_cotton"), "person")
for height in (1.0, 1.25):
    put(sn.shapes.cylinder(0.23, 0.06), (13.0, 0.9, height), sn.materials.load("high_intensity_sheeting"), "vest")

field_deg, height_deg = (-14.0, 14.0), (-7.0, 6.0)
pattern = sn.patterns.Raster(
    height=261, width=561, horizontal_fov_deg=field_deg, vertical_fov_deg=height_deg, rate_hz=10
)
environment = sn.Environment(scene)
lidar = environment.attach(
    sn.Lidar(pattern=pattern, mode="relative", detection=None, beam=sn.Beam(**BEAM)), pose=sn.Pose(position=EYE)
)
for _ in environment.run(duration_s=0.1):
    pass
scan = lidar.read()

# Corrected to normal incidence and for the beam's divergence, intensity is a property of the surface alone
spread = sn.optics.captured_fraction(scan.range_m, **BEAM)
cosine, of = pattern.rays().direction_S[..., 0], lambda name: scan.label == scene.labels[name]
sign = np.median((scan.intensity / spread / cosine**2)[of("sign")])
wall = np.median((scan.intensity / spread / cosine)[of("wall")])
print(f"the sign answers {sign / wall:.0f} times as loud as the wall; R_A / (C / pi) is {200.0 / (0.5 / np.pi):.0f}")

figure, (image, cut) = draw.canvas(15.0, 4.9, columns=2, width_ratios=(1.75, 1.0))
draw.frame(image, "Intensity, as the lidar sees it", "azimuth [°], positive to the left", "elevation [°]")
image.grid(False)
values = np.where(scan.valid, scan.intensity, np.nan)
seen = values[np.isfinite(values) & (values > 0.0)]
norm = LogNorm(float(seen.min()), float(seen.max()))
shown = {"cmap": "magma", "norm": norm, "extent": (14.0, -14.0, -7.0, 6.0), "interpolation": "nearest"}
picture = image.imshow(values, aspect="auto", **shown)
draw.color_scale(figure, image, picture, "relative intensity [1/sr]")

# A level cut through the sign
elevation = np.degrees(np.arctan2(SIGN_M[2] - EYE[2], SIGN_M[0]))
row = round((height_deg[1] - elevation) / (height_deg[1] - height_deg[0]) * 260)
azimuth_deg = np.linspace(14.0, -14.0, 561)
draw.frame(cut, f"Along the line at {elevation:.1f}°", "azimuth [°]", "relative intensity [1/sr]", log="y")
cut.plot(azimuth_deg, scan.intensity[row], color=draw.COLORS[0], linewidth=1.8)
image.axhline(elevation, color="white", linewidth=0.8, linestyle=":")
cut.set_xlim(14.0, -14.0)
low, high = np.median(scan.intensity[row]), scan.intensity[row].max()
cut.annotate("", xy=(3.5, high), xytext=(3.5, low), arrowprops={"arrowstyle": "<->", "color": "white"})
draw.note(cut, f"x {sign / wall:.0f}", (2.8, np.sqrt(low * high)), fontsize=13)
draw.note(cut, "wall, C = 0.5", (-4.0, 1.5 * low))
draw.note(cut, "sign, R$_A$ = 200 /sr", (2.8, 0.8 * high))
save_figure("lidar_retroreflector.png", figure)
