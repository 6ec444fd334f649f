"""Radar: chirps, the radar equation, cross-sections, and detections of a frame."""

from itertools import product
from typing import Literal

import numpy as np

import sensorium as sn
from sensorium.qa.validation.check import Axis, Comparison, Family
from sensorium.sensors.radar.spec import Cfar, Window

RADAR = Family("Radar")

WINDOWS: tuple[Window, ...] = ("rectangular", "hann", "hamming", "blackman_harris")


@RADAR.check(
    "chirp",
    "A chirp of 1 GHz at 77 GHz tells apart 0.149896 m and 0.304173 m/s, up to 19.4670 m/s.",
    reference="physics.md 12: c / 2B, lambda / 2 N T, lambda / 4 T",
    relative=4e-6,
)
def _chirp(quick: bool) -> Comparison:
    chirp = sn.radar.Chirp(bandwidth_hz=1e9, ramp_s=50e-6, samples=512, chirps=128)
    found = [
        chirp.range_resolution_m,
        chirp.wavelength_m * 1e3,
        chirp.unambiguous_speed_m_s,
        chirp.speed_resolution_m_s,
        float(chirp.beat_hz(chirp.unambiguous_range_m)) * 50e-6 / 512,
    ]
    return Comparison(found, [0.149896, 3.89341, 19.4670, 0.304173, 1.0], y=Axis("", log=True))


@RADAR.check(
    "radar-equation",
    "10 mW, 25 dBi and 10 m^2 at 100 m return 7.6389e-13 W, and power falls with the fourth power of range.",
    reference="physics.md 12; thermal noise k T_0 F / T",
    relative=1e-4,
)
def _equation(quick: bool) -> Comparison:
    ranges = np.array([10.0, 30.0, 100.0, 300.0])
    wave = 299792458.0 / 77e9
    found = sn.radar.received_power(10.0, ranges, power_W=0.01, gain=10**2.5, wavelength_m=wave)
    expected = 7.6389e-13 * (100.0 / ranges) ** 4
    noise = float(sn.radar.thermal_noise(noise_figure=1.0, integration_s=1.0))
    values, law = np.append(found, noise), np.append(expected, 1.380649e-23 * 290.0)
    x, y = Axis("range [m]", log=True), Axis("power [W]", log=True)
    return Comparison(values, law, at=np.append(ranges, 1.0), x=x, y=y)


@RADAR.check(
    "cross-sections",
    "A plate of 10 cm has 82.899 m^2, a corner 27.633, a sphere its disc, a turned plate the integral over its face.",
    reference="physics.md 12; physical optics by the midpoint rule",
    relative=1e-3,
)
def _cross_sections(quick: bool) -> Comparison:
    wave = {"wavelength_m": 299792458.0 / 77e9}
    found = [
        float(sn.radar.plate(0.1, 0.1, **wave)),
        float(sn.radar.corner(0.1, **wave)),
        float(sn.radar.sphere(0.5, **wave)),
    ]
    expected = [82.899, 27.633, np.pi * 0.25]
    cells = (np.arange(300) + 0.5) / 300 - 0.5
    for turn in (0.005, 0.01, 0.015, 0.025):
        n = np.array([1.0, turn, -0.6 * turn])
        n /= np.linalg.norm(n)
        phase = 4 * np.pi / wave["wavelength_m"] * (n[1] * 0.1 * cells[:, None] + n[2] * 0.06 * cells)
        total = np.mean(np.exp(1j * phase)) * 0.1 * 0.06 * n[0]
        expected.append(4 * np.pi / wave["wavelength_m"] ** 2 * abs(total) ** 2)
        found.append(float(sn.radar.plate(0.1, 0.06, n, **wave)))
    return Comparison(found, expected, y=Axis("area [m^2]", log=True))


@RADAR.check(
    "cfar-false-alarms",
    "In noise alone a cell-averaging threshold is crossed as often as asked for (binomial).",
    reference="physics.md 12: alpha = N (P^(-1/N) - 1). p below 1e-4 would mean another rate",
    side="at least",
)
def _false_alarms(quick: bool) -> Comparison:
    from scipy import stats

    power = np.random.default_rng(5).exponential(size=(400 if quick else 4000, 512))
    found, notes = [], []
    for rate in (1e-2, 1e-3):
        crossed = sn.radar.crossings(power, training=8, guard=2, false_alarm=rate)
        found.append(stats.binomtest(int(crossed.sum()), crossed.size, rate).pvalue)
        notes.append(f"{crossed.mean():.2e} of {rate:g}")
    return Comparison(found, 1e-4, x=Axis("rate"), y=Axis("p-value", log=True), note="crossed: " + ", ".join(notes))


@RADAR.check(
    "radar-detection",
    "A ball of 10 m^2 is found where it is, with its speed, power and cross-section.",
    reference="physics.md 12, through the sensor: found over set",
    absolute=0.01,
)
def _detection(quick: bool) -> Comparison:
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(0.4, subdivisions=2), body="ball", label="ball")
    paths = {
        "car": sn.paths.Fixed(sn.Pose()),
        "ball": sn.paths.Line(start=(40.4, 0.0, 0.0), velocity=(3.3, 0.0, 0.0)),
    }
    env = sn.Environment(scene, sn.worlds.Kinematic(paths, step_s=0.05), seed=1)
    spec = sn.Radar(
        chirp=sn.radar.Chirp(bandwidth_hz=149.896229e6, ramp_s=60e-6, samples=64, chirps=32),
        source="cone", fluctuation="steady", vertical_fov_deg=10.0,
        cross_sections={"ball": 10.0}, cfar=Cfar(false_alarm=1e-7),
    )  # fmt: skip
    radar = env.attach(spec, body="car")
    env.step()
    found, truth = radar.read(), radar.truth()
    distance = 40.0 + 3.3 * 0.05
    wave = 299792458.0 / 77e9
    power = 0.01 * 10**5.0 * wave**2 * 10.0 / ((4 * np.pi) ** 3 * distance**4)
    values = [
        float(found.range_m[0]) / distance,
        float(found.range_rate_m_s[0]) / 3.3,
        float(truth.power_W[0]) / power,
        float(found.cross_section_m2[0]) / 10.0,
        1.0 + float(found.azimuth_rad[0]),
        float(found.valid.sum()),
    ]
    return Comparison(values, 1.0, x=Axis("range, speed, power, area, azimuth, count"), y=Axis("found / set"))


@RADAR.check(
    "radar-angles",
    "A reflector from -60 to 60 degrees is found at its angle by 2, 3, 4, 8, 12 and 16 antennas, with every window.",
    reference="the sine of the angle, through the sensor, in cells of 1 / N d",
    absolute=0.01,
)
def _angles(quick: bool) -> Comparison:
    angles = np.arange(-60.0, 60.1, 7.5 if quick else 2.5)
    scene = sn.Scene()
    scene.add(sn.shapes.box(1e-4, 1e-4, 1e-4), pose=sn.Pose((12.3, 0.0, 0.0)), name="reflector")
    poses = [sn.Pose.from_euler_deg(yaw=-float(angle)) for angle in angles]
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.05), seed=3)
    radars = {}
    for antennas, window in product((2, 3, 4, 8, 12, 16), WINDOWS):
        spec = sn.Radar(
            chirp=sn.radar.Chirp(bandwidth_hz=149.896229e6, ramp_s=60e-6, samples=32, chirps=8),
            source="cone", fluctuation="steady", horizontal_fov_deg=150.0, antennas=antennas, window=window,
            angle_window=window, cross_sections={"reflector": 100.0}, cfar=Cfar(false_alarm=1e-8, training=8),
        )  # fmt: skip
        radars[antennas, window] = env.attach(spec, pose=poses, name=f"{window}-{antennas}")
    env.step()
    cells = [0.5 * antennas * np.sin(radar.read().azimuth_rad[:, 0]) for (antennas, _), radar in radars.items()]
    law = [0.5 * antennas * np.sin(np.radians(angles)) for antennas, _ in radars]
    return Comparison(
        cells, law, at=np.broadcast_to(angles, (len(law), len(angles))), x=Axis("angle [deg]"), y=Axis("[cells]")
    )


@RADAR.check(
    "radar-two-echoes",
    "Two equal reflectors 2, 3, 6, 12 and 16 range cells apart are both detected in 99 % of frames, with every window.",
    reference="share of frames, through the sensor: steady with Hann's window, then Swerling I at 56 dB with each",
    side="at least",
)
def _two_echoes(quick: bool) -> Comparison:
    found, apart = [], (2, 3, 6, 12, 16)
    cases: list[tuple[Literal["steady", "swerling_1"], Window]] = [("steady", "hann")]
    cases += [("swerling_1", window) for window in WINDOWS]
    for (fluctuation, window), cells in product(cases, apart):
        scene, ranges = sn.Scene(), {"near": 20.3, "far": 20.3 + cells}
        for number, (name, range_m) in enumerate(ranges.items()):
            place = sn.Pose((range_m, 1.0, 0.1 * number))
            scene.add(sn.shapes.box(1e-4, 1e-4, 1e-4), pose=place, name=name)
        spec = sn.Radar(
            chirp=sn.radar.Chirp(bandwidth_hz=149.896229e6, ramp_s=60e-6, samples=64, chirps=16),
            source="cone", fluctuation=fluctuation, window=window, angle_window=window,
            cross_sections={name: 2.0 * (range_m / 20.3) ** 4 for name, range_m in ranges.items()},
        )  # fmt: skip
        env = sn.Environment(scene, sn.worlds.Static(step_s=0.05), worlds=500 if quick else 2000, seed=1)
        radar = env.attach(spec)
        env.step()
        seen = radar.read().object_id
        found.append(float(np.mean((seen == 0).any(axis=1) & (seen == 1).any(axis=1))))
    at = np.broadcast_to(apart, (len(cases), len(apart)))
    return Comparison(
        np.reshape(found, at.shape), 0.99, at=at, x=Axis("apart [range cells]"), y=Axis("share of frames")
    )
