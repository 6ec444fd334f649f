"""A bush in front of a wall, from 6 m and from 86 m: the waveform of one pulse, and the returns found in it."""

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

# The lidar of the VANE paper: 10 mrad from an aperture of 2.5 cm, bins of 0.5 ns
vane = sn.waveform.Parameters(
    peak_power_W=70.0,
    aperture_radius_m=0.0125,
    wavelength_m=905e-9,
    pulse_duration_s=3e-9,
    divergence_rad=0.010,
    receiver_length_m=0.05,
    receiver_width_m=0.04,
    stop_s=650e-9,
)
BEHIND_M = 2.0


def bush(radius_m=0.45, leaves=700, seed=3):
    """Leaves of 5 cm at random places in a ball and in random positions."""
    rng = np.random.default_rng(seed)
    place = rng.normal(size=(leaves, 3))
    place *= (radius_m * rng.uniform(0.2, 1.0, (leaves, 1)) ** 0.5) / np.linalg.norm(place, axis=1, keepdims=True)
    side = rng.normal(size=(leaves, 3))
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    other = np.cross(side, rng.normal(size=(leaves, 3)))
    other /= np.linalg.norm(other, axis=1, keepdims=True)
    corners = [place + 0.025 * (a * side + b * other) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    first = np.arange(leaves) * 4
    faces = np.concatenate([first[:, None] + [0, 1, 2], first[:, None] + [0, 2, 3]])
    return sn.Mesh(np.stack(corners, axis=1).reshape(-1, 3), faces)


def scene_at(distance_m, *, with_bush=True):
    scene = sn.Scene()
    place = sn.Pose((distance_m + BEHIND_M + 0.1, 0, 0))
    scene.add(sn.shapes.box(0.2, 12, 12), pose=place, material=sn.Lambertian(reflectance=0.5), label="wall")
    if with_bush:
        leaf = sn.Lambertian(reflectance=0.45)
        scene.add(bush(), pose=sn.Pose((distance_m, 0, 0)), material=leaf, label="bush")
    return scene


def pulse_into(scene, **waveform):
    """One pulse along x; by default of as many rays as eq. 8 gives, 5,417."""
    pattern = sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=10)
    options = {"keep": True, "detector": {"kind": "gaussian_decomposition"}} | waveform
    environment = sn.Environment(scene)
    lidar = environment.attach(vane.lidar(pattern=pattern, waveform=options, returns="all", max_returns=6))
    for _ in environment.run(duration_s=0.1):
        pass
    return lidar.read()


figure, axes = draw.canvas(15.0, 4.8, columns=3, width_ratios=(0.8, 1.1, 1.1))
scans = {distance: pulse_into(scene_at(distance)) for distance in (6.0, 86.0)}
few = {"rays": {"kind": "spiral", "count": 19}}
for distance, axis in zip(scans, axes[1:], strict=True):
    scan = scans[distance]
    wave, range_m = scan.waveform.samples[0, 0], scan.waveform.range_m
    shown = (range_m > distance - 1.5) & (range_m < distance + BEHIND_M + 1.5)
    unit = 1e6 if distance < 10 else 1e9
    rough = pulse_into(scene_at(distance), **few).waveform.samples[0, 0]
    draw.frame(axis, f"{distance:g} m to the bush", "range [m]", "received [µW]" if unit == 1e6 else "received [nW]")
    axis.plot(range_m[shown], rough[shown] * unit, color=draw.COLORS[9], linewidth=1.0, label="19 rays")
    axis.plot(range_m[shown], wave[shown] * unit, color=draw.COLORS[0], linewidth=1.8, label="5,417 rays")
    seen = scan.valid[:, 0, 0]
    names = [scan.label[seen, 0, 0] == number for number in (1, 2)]
    for name, of_it, color in (("wall", names[0], draw.COLORS[1]), ("bush", names[1], draw.COLORS[2])):
        heights = scan.intensity[seen, 0, 0][of_it] * unit
        axis.plot(scan.range_m[seen, 0, 0][of_it], heights, "o", color=color, markersize=7, label=f"return: {name}")
    draw.key(axis, where="upper right")
    off = np.sqrt(np.mean((rough - wave)[shown] ** 2)) / wave.max()
    found = ", ".join(f"{r:.2f}" for r in scan.range_m[seen, 0, 0])
    print(f"at {distance:g} m: returns at {found} m; 19 rays are off by {100 * off:.0f} % of the peak (rms)")

# Coverage of each beam, seen from the lidar
draw.frame(axes[0], "What the beam covers", "across [m]", "up [m]", equal=True)
leaves = bush()
quads = leaves.vertices.reshape(-1, 4, 3)[..., 1:]
for quad in quads:
    axes[0].fill(*quad.T, color="#3fb950", alpha=0.35, linewidth=0)
turn = np.linspace(0.0, 2.0 * np.pi, 100)
for distance, color in ((6.0, draw.COLORS[4]), (86.0, draw.COLORS[0])):
    width = sn.optics.spot_diameter(distance, aperture_radius_m=0.0125, divergence_rad=0.010)
    draw.outline(
        axes[0], width / 2 * np.cos(turn), width / 2 * np.sin(turn), color=color, linewidth=2.0,
        label=f"{distance:g} m: {100 * width:.1f} cm",
    )  # fmt: skip
draw.key(axes[0], where="lower center", columns=2)
axes[0].set_ylim(-0.75, 0.55)

# From 6 m to 86 m the return of a wall that fills the beam falls as the receiver's solid angle
walls = [pulse_into(scene_at(d, with_bush=False)).waveform.samples.sum() for d in (6.0 - BEHIND_M, 86.0 - BEHIND_M)]
peaks = [scan.waveform.samples.max() for scan in scans.values()]
print(
    f"a wall alone answers {walls[0] / walls[1]:.1f} times weaker at 86 m than at 6 m; (86/6)^2 is {(86 / 6) ** 2:.1f}"
)
print(
    f"the highest peak of bush and wall falls by {peaks[0] / peaks[1]:.0f}; the paper's 10^4 leaves out the rays' areas"
)
save_figure("lidar_waveform.png", figure)
