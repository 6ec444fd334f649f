"""How many rays a pulse needs: its shape against the distance between rays at the target, 80 m away."""

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

BEAM = {"aperture_radius_m": 0.0125, "divergence_rad": 0.010}
vane = sn.waveform.Parameters(
    peak_power_W=70.0,
    wavelength_m=905e-9,
    pulse_duration_s=1e-9,
    receiver_length_m=0.05,
    receiver_width_m=0.04,
    start_s=480e-9,
    stop_s=600e-9,
    **BEAM,
)

# A hedge of twigs 80 m away: 500 boxes of a few centimeters in a layer 3 m deep, and a wall behind
rng = np.random.default_rng(8)
scene = sn.Scene()
scene.add(sn.shapes.box(0.2, 6, 6), pose=sn.Pose((84.6, 0, 0)), material=sn.Lambertian(reflectance=0.5), label="wall")
for _ in range(500):
    place = np.array([80.0 + rng.uniform(0.0, 3.0), *rng.uniform(-0.5, 0.5, 2)])
    turn = sn.Pose.from_euler_deg(place, *rng.uniform(-90.0, 90.0, 3))
    scene.add(sn.shapes.box(0.01, 0.02, rng.uniform(0.05, 0.2)), pose=turn, material=sn.Lambertian(reflectance=0.4))

environment = sn.Environment(scene)
pattern = sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=10)
spacings = {x: sn.optics.rays_across(x, range_m=80.0, **BEAM) for x in (0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005)}
finest = 0.002
spacings[finest] = sn.optics.rays_across(finest, range_m=80.0, **BEAM)
lidars = {}
for spacing, across in spacings.items():
    rays = {"kind": "grid", "across": across}
    spec = vane.lidar(pattern=pattern, waveform={"keep": True, "rays": rays})
    lidars[spacing] = environment.attach(spec, name=f"{across} across")
spiral = vane.lidar(pattern=pattern, waveform={"keep": True, "rays": {"kind": "spiral", "count": 19}})
few = environment.attach(spiral, name="spiral")
for _ in environment.run(duration_s=0.1):
    pass

waves = {spacing: lidar.read().waveform for spacing, lidar in lidars.items()}
best = waves[finest].samples[0, 0]
error = {x: np.sqrt(np.sum((w.samples[0, 0] - best) ** 2) / np.sum(best**2)) for x, w in waves.items() if x != finest}
of_few = np.sqrt(np.sum((few.read().waveform.samples[0, 0] - best) ** 2) / np.sum(best**2))
for x, off in error.items():
    print(f"{100 * x:5.1f} cm between rays, {spacings[x]:4d} across: the shape is off by {100 * off:5.1f} %")
print(f"a spiral of 19 rays: off by {100 * of_few:.0f} %")

figure, (left, right) = draw.canvas(14.0, 5.0, columns=2, width_ratios=(1.5, 1.0))
draw.frame(left, "One pulse of 1 ns into twigs before a wall", "range [m]", "received [nW]")
for number, spacing in enumerate((0.1, 0.03, 0.01, finest)):
    wave = waves[spacing]
    name = f"{100 * spacing:g} cm, {spacings[spacing]} across"
    style = {"color": "white", "linestyle": ":"} if spacing == finest else {"color": draw.COLORS[number]}
    left.plot(wave.range_m, wave.samples[0, 0] * 1e9, linewidth=1.6, label=name, **style)
left.set_xlim(79.5, 85.5)
left.set_ylim(-10.0, 260.0)
draw.note(left, "the wall, up to 1,100 nW", (83.0, 180.0), (84.4, 200.0))
draw.key(left, title="distance between rays at 80 m")
draw.frame(
    right,
    "How far the shape is from its limit",
    "distance between rays at 80 m [cm]",
    "rms, % of the waveform",
    log="xy",
)
right.plot([100 * x for x in error], [100 * e for e in error.values()], "o-", color=draw.COLORS[0], label="square grid")
right.axhline(100 * of_few, color=draw.COLORS[1], linestyle="--", label="spiral of 19 rays")
right.axvline(1.0, color=draw.COLORS[9], linewidth=1.0, label="1 cm, as the paper found")
right.yaxis.set_major_formatter("{x:g}")
draw.key(right, where="upper left")
save_figure("lidar_waveform_spacing.png", figure)
