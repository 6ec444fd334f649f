"""Fog against range: a spiral of boards that all face the lidar, seen through fog of several densities."""

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

BEAM = {"detector_radius_m": 0.01, "exit_radius_m": 0.01, "half_divergence_rad": 1.5e-3}
BOARDS, ACROSS, ROWS = 60, 20, 40
LIMIT = sn.DetectionLimit()  # the default of mode="relative": 10 % at 100 m, by 90 % of the rays
distance_m = np.geomspace(3.0, 150.0, BOARDS)
azimuth_deg = -180.0 + 360.0 / BOARDS * (np.arange(BOARDS) + 0.5)

# Each board fills its own six degrees, a little farther away than the one before
scene = sn.Scene()
for distance, azimuth in zip(distance_m, azimuth_deg, strict=True):
    place = (distance * np.cos(np.radians(azimuth)), distance * np.sin(np.radians(azimuth)), 0.0)
    board = sn.shapes.box(0.02, 2.0 * distance * np.tan(np.radians(180.0 / BOARDS)), 0.1 * distance)
    scene.add(board, pose=sn.Pose.from_euler_deg(place, yaw=azimuth), material=sn.Lambertian(reflectance=0.5))
pattern = sn.patterns.Raster(
    width=BOARDS * ACROSS, height=ROWS, horizontal_fov_deg=(-180, 180), vertical_fov_deg=(-0.5, 0.5), rate_hz=10
)


def look(air: sn.media.AbstractMedium) -> sn.Scan:
    """One sweep through this air."""
    environment = sn.Environment(scene, atmosphere=air, seed=3)
    spec = sn.Lidar(pattern=pattern, mode="relative", beam=sn.Beam(**BEAM))
    half_a_column = sn.Pose.from_euler_deg((0, 0, 0), yaw=-180.0 / (BOARDS * ACROSS))
    lidar = environment.attach(spec, pose=half_a_column)
    for _ in environment.run(duration_s=0.1):
        pass
    return lidar.read()


figure, (above, middle, right) = draw.canvas(16.0, 5.0, columns=3, width_ratios=(1.25, 1.0, 1.0))
draw.frame(above, "From above, visibility 100 m", "x [m]", "y [m]", equal=True)
draw.frame(middle, "Intensity of the boards", "distance [m]", "relative intensity [1/sr]", log="xy")
draw.frame(right, "Who answers", "distance of the board [m]", "share of rays", log="x")
clear = 0.5 / np.pi * sn.optics.captured_fraction(distance_m, **BEAM)
airs = {"clear": sn.media.vacuum()} | {f"{v} m": sn.media.fog(visibility_m=v) for v in (500, 200, 100, 50)}
for color, (name, air) in zip(draw.COLORS, airs.items(), strict=False):
    scan = look(air)
    cause = scan.cause.reshape(ROWS, BOARDS, ACROSS)[:, ::-1]  # columns run from azimuth 180 degrees down
    strength = scan.intensity.reshape(ROWS, BOARDS, ACROSS)[:, ::-1]

    # Returns of the boards, and the law of Beer and Lambert: rho A(z) exp(-2 alpha d)
    alpha = air.at(905e-9).extinction_per_m
    left = sn.optics.two_way_transmittance(distance_m, extinction_per_m=alpha)
    from_board = cause == sn.Cause.SURFACE
    seen = from_board.any(axis=(0, 2))
    mean = strength.mean(axis=(0, 2), where=from_board | ~seen[:, None])
    middle.plot(distance_m, clear * left, color=color, linewidth=1.2)
    middle.plot(distance_m[seen], mean[seen], ".", color=color, markersize=5, label=name)
    right.plot(distance_m, from_board.mean(axis=(0, 2)), color=color, linewidth=1.8)
    right.plot(distance_m, (cause == sn.Cause.ATMOSPHERE).mean(axis=(0, 2)), ":", color=color, linewidth=1.8)
    if name == "100 m":
        flat = scan.flat()
        draw.points_by_cause(above, flat.points[:, 0], flat.points[:, 1], flat.cause, size=6)
        k = np.argmin(np.abs(distance_m - 50.0))
        print(
            f"fog of 100 m leaves {mean[k] / clear[k]:.4f} of the light of the board at {distance_m[k]:.1f} m;", end=" "
        )
        print(f"exp(-2 alpha d) is {left[k]:.4f}")

hidden = distance_m > 63.0
x, y = (distance_m * way(np.radians(azimuth_deg)) for way in (np.cos, np.sin))
draw.outline(above, x[hidden], y[hidden], linestyle=":", label="hidden boards")
draw.sensor(above, 0.0, 0.0)
above.set_xlim(-95.0, 32.0)
above.set_ylim(-20.0, 85.0)
draw.key(above, where="lower left")
stated = LIMIT.reflectance / np.pi * sn.optics.captured_fraction(LIMIT.range_m, **BEAM)
half = 5.0 * sn.optics.noise_of_detection(stated, probability=LIMIT.probability, ratio=5.0)
middle.axhline(half, color="white", linewidth=0.8, linestyle="--")
draw.note(middle, "detected by half of the rays", (3.1, 0.65 * half))
middle.set_ylim(1e-5, 1.0)
draw.key(middle, title="visibility (lines: Beer-Lambert)", where="upper right")
right.plot([], [], color="white", label="from the board")
right.plot([], [], ":", color="white", label="from the fog")
draw.key(right, where="center left")
save_figure("lidar_fog.png", figure)
