"""Three waveforms: an edge that gives two returns, fog with its hump, a mirror with its ghost."""

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

MATT = sn.Lambertian(reflectance=0.5)
pattern = sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=10)


def fire(scene, atmosphere=None, offset_m=0.0, **fields):
    """One pulse along x, with the noise of photons and electronics."""
    environment = sn.Environment(scene, seed=1, atmosphere=atmosphere or sn.media.vacuum())
    lidar = environment.attach(
        sn.Lidar(
            pattern=pattern,
            mode="waveform",
            max_range_m=60.0,
            beam=sn.Beam(half_divergence_rad=3e-3, exit_radius_m=0.01, detector_offset_m=offset_m),
            receiver=sn.Receiver(length_m=0.05, width_m=0.04, half_field_rad=5e-3),
            waveform=sn.waveform.Waveform(keep=True, detector=sn.waveform.LeadingEdge()),
            returns="all",
            **fields,
        )
    )
    for _ in environment.run(duration_s=0.1):
        pass
    return lidar.read()


def plate(scene, x, y, *, size=(0.1, 6.0, 6.0), yaw=0.0, material=MATT, label="wall"):
    scene.add(sn.shapes.box(*size), pose=sn.Pose.from_euler_deg((x, y, 0), yaw=yaw), material=material, label=label)


# The edge of a box covers a part of the beam; the wall behind gets the rest
edge = sn.Scene()
plate(edge, 18.0, -2.0, size=(1.0, 4.0, 4.0), label="box")
plate(edge, 24.05, 0.0)

# Fog of 60 m visibility in front of a wall, a receiver 12 cm beside the laser, which does not see near points
fog = sn.Scene()
plate(fog, 35.05, 0.0)

# A mirror at 10 m turns the beam to a wall 15 m away; the frame before it answers itself
mirror = sn.Scene()
plate(mirror, 10.0, 0.0, size=(0.01, 4.0, 4.0), yaw=45.0, material=sn.Mirror(reflectance=0.9), label="mirror")
plate(mirror, 10.0, -15.05, size=(20.0, 0.1, 6.0))
plate(mirror, 9.0, 2.012, size=(0.1, 4.0, 4.0), label="frame")

scans = {
    "An edge: two returns": fire(edge),
    "Fog of 60 m visibility: its hump": fire(fog, sn.media.fog(visibility_m=60.0), offset_m=0.12),
    "A mirror: the wall's ghost": fire(mirror, max_depth=1),
}
figure, axes = draw.canvas(15.0, 4.6, columns=3)
for (title, scan), axis in zip(scans.items(), axes, strict=True):
    wave, range_m = scan.waveform.samples[0, 0], scan.waveform.range_m
    draw.frame(axis, title, "range [m]", "received [nW]", log="y")
    axis.plot(range_m, np.maximum(wave * 1e9, 3.0), color=draw.COLORS[0], linewidth=1.0)
    seen = scan.valid[:, 0, 0]
    ranges, heights, causes = scan.range_m[seen, 0, 0], scan.intensity[seen, 0, 0] * 1e9, scan.cause[seen, 0, 0]
    draw.points_by_cause(axis, ranges, heights, causes, size=60, layer=4.0)
    draw.key(axis)
    axis.set_xlim(0.0, 40.0)
    kinds = ", ".join(f"{sn.Cause(c).name.lower()} at {r:.2f} m" for c, r in zip(causes, ranges, strict=True))
    print(f"{title}: {kinds}")
print("the ghost's path is 10 m and 15 m: 25.00 m")
save_figure("lidar_waveform_effects.png", figure)
