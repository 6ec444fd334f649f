"""Folding: objects beyond the unambiguous range appear nearby."""

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

RATE_HZ, REACH_M = 1.5e6, 400.0

# A place with walls on three sides that opens to a far row of houses
scene = sn.Scene()
matt = sn.Lambertian(reflectance=0.5)
for place, size in (
    ((-30.0, 0.0), (1.0, 80.0)),
    ((0.0, 40.0), (60.0, 1.0)),
    ((5.0, -40.0), (50.0, 1.0)),
    ((20.0, 8.0), (4.0, 2.0)),
):
    scene.add(sn.shapes.box(*size, 8.0), pose=sn.Pose((*place, 0.0)), material=matt, label="near")
rng = np.random.default_rng(4)
for number in range(9):
    x, y = 150.0 + 12.0 * abs(number - 4) + rng.uniform(0, 8), -92.0 + 23.0 * number
    scene.add(sn.shapes.box(10.0, 16.0, 14.0), pose=sn.Pose((x, y, 0.0)), material=matt, label="house")

pattern = sn.patterns.Spinning(elevation_deg=(0.0,), columns=2000, rate_hz=10)


def scan_with(**fields: object) -> sn.Scan:
    """A lidar's scan from the middle of the square."""
    environment = sn.Environment(scene)
    lidar = environment.attach(sn.Lidar(pattern=pattern, mode="relative", **fields))
    for _ in environment.run(duration_s=0.1):
        pass
    return lidar.read()


unambiguous_m = float(sn.optics.unambiguous_range(RATE_HZ))
far = scan_with(max_range_m=REACH_M)
scan = scan_with(max_range_m=0.98 * unambiguous_m, repetition=sn.PulseRepetition(rate_hz=RATE_HZ, reach_m=REACH_M))
folded = scan.cause == sn.Cause.FOLDED
error_m = scan.range_m[folded] - sn.optics.folded_range(far.range_m[folded], unambiguous_m=unambiguous_m)
print(f"unambiguous range {unambiguous_m:.2f} m; {folded.sum()} rays report a house from beyond")
print(f"they differ from r mod {unambiguous_m:.2f} m by {np.abs(error_m).max():.1e} m at most")

figure, (whole, near) = draw.canvas(15.0, 6.6, columns=2)
turn = np.linspace(0.0, 2.0 * np.pi, 400)
for axes, title, seen in (
    (whole, "What is there", far),
    (near, f"What a lidar of {RATE_HZ / 1e6:g} MHz reports", scan),
):
    draw.frame(axes, title, "forward [m]", "to the left [m]", equal=True)
    for zone in range(1, 7):
        at = unambiguous_m * zone
        draw.outline(axes, at * np.cos(turn), at * np.sin(turn), linestyle=":", linewidth=0.9)
    draw.points_by_cause(
        axes, seen.points[seen.valid][:, 0], seen.points[seen.valid][:, 1], seen.cause[seen.valid], size=6
    )
    draw.sensor(axes, 0.0, 0.0)
whole.set_xlim(-40.0, 250.0)
whole.set_ylim(-125.0, 125.0)
near.set_xlim(-110.0, 110.0)
near.set_ylim(-95.0, 95.0)
draw.note(whole, f"rings: every {unambiguous_m:.1f} m", (20.0, -115.0))
draw.key(near, where="upper right")
save_figure("lidar_folding.png", figure)
