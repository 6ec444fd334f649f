"""Captured power against distance: the share of a widening beam on a detector, exact and approximate."""

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

ON_AXIS = sn.Beam(exit_radius_m=0.01, detector_radius_m=0.01, half_divergence_rad=1.5e-3)
BESIDE = sn.Beam(exit_radius_m=0.005, detector_radius_m=0.01, half_divergence_rad=1.5e-3, detector_offset_m=0.02)
z_m = np.geomspace(0.3, 500.0, 300)
BOARDS_M = np.geomspace(0.5, 400.0, 24)


def captured(z: np.ndarray, beam: sn.Beam, model: str) -> np.ndarray:
    """Share of the power by the library's formula."""
    return sn.optics.captured_fraction(
        z,
        detector_radius_m=beam.detector_radius_m,
        detector_offset_m=beam.detector_offset_m,
        exit_radius_m=beam.exit_radius_m,
        half_divergence_rad=beam.half_divergence_rad,
        model=model,
    )


def measured(beam: sn.Beam) -> np.ndarray:
    """The same by a lidar that looks at boards all around it, each at its own distance."""
    scene = sn.Scene()
    for k, distance in enumerate(BOARDS_M):
        azimuth = 180.0 - 360.0 / len(BOARDS_M) * k
        place = (distance * np.cos(np.radians(azimuth)), distance * np.sin(np.radians(azimuth)), 0.0)
        pose = sn.Pose.from_euler_deg(place, yaw=azimuth)
        scene.add(sn.shapes.box(1e-6, 0.1, 0.1), pose=pose, material=sn.Lambertian(reflectance=0.5))
    ring = sn.patterns.Raster(
        width=len(BOARDS_M), height=1, horizontal_fov_deg=(-180, 180), vertical_fov_deg=(0, 0), rate_hz=10
    )
    environment = sn.Environment(scene)
    lidar = environment.attach(sn.Lidar(pattern=ring, mode="relative", detection=None, beam=beam))
    for _ in environment.run(duration_s=0.1):
        pass
    return lidar.read().intensity[0] / (0.5 / np.pi)


figure, panels = draw.canvas(14.0, 7.4, 2, 2, height_ratios=(2.2, 1.0), share_x=True)
cases = (("Detector on the axis", ON_AXIS), ("Detector 2 cm beside the axis", BESIDE))
for (title, beam), upper, lower in zip(cases, panels[:2], panels[2:], strict=True):
    w = sn.optics.beam_radius(z_m, exit_radius_m=beam.exit_radius_m, half_divergence_rad=beam.half_divergence_rad)
    exact = captured(z_m, beam, "exact")
    near = -np.expm1(-2.0 * (beam.detector_radius_m / w) ** 2) * np.exp(-2.0 * (beam.detector_offset_m / w) ** 2)
    far = 2.0 * (beam.detector_radius_m / w) ** 2 * np.exp(-2.0 * (beam.detector_offset_m / w) ** 2)
    curves = (
        ("exact", exact, "-", draw.COLORS[0]),
        ("near the axis, AGX eq. 20", near, "--", draw.COLORS[2]),
        ("far field", far, "-.", draw.COLORS[4]),
        ("AGX eq. 21", captured(z_m, beam, "agx"), ":", draw.COLORS[1]),
    )
    draw.frame(upper, title, "", "share of the power", log="xy")
    draw.frame(lower, "", "distance [m]", "error [%]", log="x")
    for name, share, dashes, color in curves:
        upper.plot(z_m, share, dashes, color=color, linewidth=2.0, label=name)
        lower.plot(z_m, 100.0 * (share / exact - 1.0), dashes, color=color, linewidth=2.0)
    upper.plot(BOARDS_M, measured(beam), "o", color="white", markersize=4, label="measured by the lidar")
    upper.set_ylim(3e-5, 3.0)
    lower.set_ylim(-105.0, 60.0)
    draw.key(upper, where="lower left" if beam is ON_AXIS else "upper right")

    at = 50.0 if beam is ON_AXIS else 10.0
    print(f"{title} at {at:.0f} m: exact {captured(at, beam, 'exact'):.6f}, eq. 21 {captured(at, beam, 'agx'):.6f}")
save_figure("lidar_captured_power.png", figure)
