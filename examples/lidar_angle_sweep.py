"""Angle sweep of materials: round columns around the lidar, each of which shows every angle of incidence."""

import numpy as np

import sensorium as sn
from sensorium.physics.materials import row as at
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

BEAM = {"detector_radius_m": 0.01, "exit_radius_m": 0.01, "half_divergence_rad": 1.5e-3}
coat = {"refractive_index": 1.5, "roughness": 0.3, "reflectance": 0.5, "diffuse_roughness": 0.3}
MODELS = {
    "Lambert, C = 0.5": sn.Lambertian(reflectance=0.5),
    "Oren-Nayar, σ = 0.3": sn.TwoLayer(refractive_index=1.0, roughness=0.3, reflectance=0.5, diffuse_roughness=0.3),
    "GGX, n = 1.5": sn.TwoLayer(refractive_index=1.5, roughness=0.3, reflectance=0.0),
    "GGX, metal 1.5 + 7i": sn.TwoLayer(
        refractive_index=1.5, extinction_coefficient=7.0, roughness=0.3, reflectance=0.0
    ),
    "two layers, two_way": sn.TwoLayer(**coat),
    "two layers, plastic": sn.TwoLayer(**coat, layering="plastic"),
    "two layers, agx": sn.TwoLayer(**coat, layering="agx"),
}
NAMES = ("asphalt", "wet_asphalt", "concrete", "grass", "white_car_paint", "black_car_paint", "aluminium", "steel")
LIBRARY = {name: sn.materials.load(name) for name in (*NAMES, "prismatic_sheeting")}
materials = list((MODELS | LIBRARY).values())

# One column for each, six meters away
scene = sn.Scene()
column = sn.shapes.cylinder(0.5, 2.0, segments=720)
for k, material in enumerate(materials):
    turn = 2.0 * np.pi * k / len(materials)
    scene.add(column, pose=sn.Pose(position=(6.0 * np.cos(turn), 6.0 * np.sin(turn), 0.0)), material=material)
environment = sn.Environment(scene)
pattern = sn.patterns.Raster(width=36000, height=1, horizontal_fov_deg=(-180, 180), vertical_fov_deg=(0, 0), rate_hz=10)
lidar = environment.attach(sn.Lidar(pattern=pattern, mode="relative", detection=None, beam=sn.Beam(**BEAM)))
for _ in environment.run(duration_s=0.1):
    pass
scan = lidar.read()

# f cos(theta) is the intensity without the beam's spreading; the faces hit say at which angle
spread = sn.optics.captured_fraction(scan.range_m, **BEAM)
corner = column.vertices[column.faces]
normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
normal /= np.linalg.norm(normal, axis=1, keepdims=True)
cosine = -np.sum(pattern.rays().direction_S * normal[scan.face_id], axis=-1)
angle_deg = np.degrees(np.arccos(np.clip(cosine, 0.0, 1.0)))


def law(material: sn.materials.AbstractMaterial, cos_theta: np.ndarray) -> np.ndarray:
    """Return f cos(theta) [1/sr] by the formulas of `sn.optics`."""
    row = material.row(905e-9)
    surface = sn.optics.two_layer_monostatic(
        cos_theta,
        n=complex(row[at.N], row[at.K]),
        roughness=np.sqrt(row[at.ALPHA2] / 2.0),
        reflectance=row[at.C],
        diffuse_roughness=getattr(material, "diffuse_roughness", 0.0),
        layering=getattr(material, "layering", "two_way"),
    )
    return surface + sn.optics.retroreflection(cos_theta, coefficient_per_sr=row[at.RETRO], exponent=row[at.RETRO_Q])


figure, (left, right) = draw.canvas(14.5, 6.2, columns=2)
draw.frame(left, "The models", "angle of incidence [°]", "return f cos θ [1/sr]", log="y")
draw.frame(right, "The library at 905 nm", "angle of incidence [°]", "return f cos θ [1/sr]", log="y")
angles_deg = np.linspace(0.0, 89.7, 500)
for k, (name, material) in enumerate((MODELS | LIBRARY).items()):
    axes, color = (left, draw.COLORS[k]) if name in MODELS else (right, draw.COLORS[k - len(MODELS)])
    hit = scan.object_id == k
    axes.plot(angles_deg, law(material, np.cos(np.radians(angles_deg))), color=color, linewidth=1.4, label=name)
    axes.plot(angle_deg[hit][::20], (scan.intensity / spread)[hit][::20], ".", color=color, markersize=5)
    if name.endswith("two_way"):
        near = np.argmin(np.where(hit, np.abs(angle_deg - 60.0), np.inf))
        measured, expected = (scan.intensity / spread).flat[near], law(material, cosine.flat[near])
        print(f"two_way at {angle_deg.flat[near]:.2f}°: measured {measured:.6f}, law {expected:.6f} (60°: 0.084980)")
left.set_ylim(1e-4, 1.0)
right.set_ylim(1e-5, 2e3)
for axes, where, columns in ((left, "lower left", 1), (right, (0.25, 0.62), 2)):
    axes.set_xlim(0.0, 90.0)
    draw.key(axes, where=where, columns=columns, title="lines: law, points: lidar")
save_figure("lidar_angle_sweep.png", figure)
