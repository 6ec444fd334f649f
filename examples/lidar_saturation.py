"""Saturation: a receiver reports strong returns too weak, and their ranges too short."""

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

# A board of eight fields at 20 m, each with a sheet four times as strong as the one before, on white paper
BOARD_M, PULSE_S = 20.0, 5e-9
STRENGTHS = 0.1 * 4.0 ** np.arange(8)
scene = sn.Scene()
for number, strength in enumerate(STRENGTHS):
    place = sn.Pose((BOARD_M + 0.005, 2.1 - 0.6 * number, 0.0))
    sheet = sn.Retroreflector(coefficient=float(strength), falloff=0.0)
    scene.add(sn.shapes.box(0.01, 0.5, 1.2), pose=place, material=sheet, label=f"field {number}")
paper = sn.Lambertian(reflectance=0.9)
scene.add(sn.shapes.box(0.1, 6.0, 3.0), pose=sn.Pose((BOARD_M + 0.06, 0, 0)), material=paper, label="paper")

pattern = sn.patterns.Raster(
    height=41, width=401, horizontal_fov_deg=(-7.5, 7.5), vertical_fov_deg=(-2.0, 2.0), rate_hz=10
)


def scan_with(**fields: object) -> sn.Scan:
    """A lidar's scan of the board."""
    environment = sn.Environment(scene)
    beam = sn.Beam(pulse_s=PULSE_S)
    lidar = environment.attach(sn.Lidar(pattern=pattern, mode="relative", beam=beam, max_range_m=100.0, **fields))
    for _ in environment.run(duration_s=0.1):
        pass
    return lidar.read()


# The receiver saturates at ten times the return of white paper, and times its edges at a twentieth of that
plain = scan_with()
white = float(np.median(plain.intensity[plain.label == scene.labels["paper"]])) / 0.9
level, trigger = 10.0 * white, 0.5 * white
scan = scan_with(saturation=sn.Saturation(level=level, trigger=trigger))
walk_m = scan.range_m - plain.range_m
saturated = scan.cause == sn.Cause.SATURATED
print(f"{saturated.sum()} of {saturated.size} returns saturate; the worst range is {1e3 * walk_m.min():.0f} mm off")
law_m = sn.optics.range_walk(plain.intensity, level=level, trigger=trigger, duration_s=PULSE_S)
print(f"from the law the ranges differ by {1e3 * np.abs(walk_m - law_m).max():.3f} mm at most")

figure, (board, law) = draw.canvas(15.0, 5.2, columns=2, width_ratios=(1.35, 1.0))
draw.frame(board, "A flat board at 20 m, from above", "to the left [m]", "forward [m]")
row = 20
draw.outline(board, [-2.4, 2.4], [BOARD_M, BOARD_M], label="the board")
draw.points_by_cause(board, scan.points[row, :, 1], scan.points[row, :, 0], scan.cause[row], size=14)
for number, strength in enumerate(STRENGTHS):
    text = f"{strength * np.pi:.{1 if strength < 3.0 else 0}f}"
    draw.note(board, text, (2.1 - 0.6 * number, BOARD_M + 0.1), ha="center", fontsize=9)
draw.note(board, "strength of each field, white paper = 1", (0.0, BOARD_M + 0.135), ha="center")
board.set_xlim(2.7, -2.7)
board.set_ylim(BOARD_M - 0.66, BOARD_M + 0.17)
draw.key(board, where="lower left")

draw.frame(law, "What remains of the walk", "amplitude over white paper's", "range error [mm]", log="x")
amplitude = np.geomspace(white, 1e4 * white, 400)
curve_m = sn.optics.range_walk(amplitude, level=level, trigger=trigger, duration_s=PULSE_S)
law.plot(amplitude / white, 1e3 * curve_m, color=draw.COLORS[0], linewidth=1.8, label="c/2 σ (√2ln(L/T) - √2ln(A/T))")
draw.points_by_cause(law, plain.intensity[row] / white, 1e3 * walk_m[row], scan.cause[row], size=16)
law.axvline(level / white, color="#6e7681", linestyle=":", linewidth=1.2)
draw.note(law, "level", (1.1 * level / white, -300.0))
law.set_xlim(0.3, 2e4)
draw.key(law, where="lower left")
save_figure("lidar_saturation.png", figure)
