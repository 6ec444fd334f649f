"""The lidar as a whole: paths, intensities, power and noise, through the sensor a user attaches."""

import numpy as np

import sensorium as sn
from sensorium.qa.validation.check import Axis, Comparison, Family
from sensorium.qa.validation.laws.shots import along_x, fire, objects, sheet, wall

LIDAR = Family("Lidar")

_ANGLES = tuple(np.arange(0.0, 85.1, 5.0))
_COS = np.cos(np.radians(_ANGLES))


@LIDAR.check(
    "mirror-path",
    "A mirror that turns the ray puts the wall behind it on the emission axis: 1 m and 2 m are 3.000 m.",
    reference="physics.md 1",
    absolute=5e-6,
)
def _mirror(quick: bool) -> Comparison:
    mirror = (sheet((1, 0, 0), (-1, 1, 0), 1.0), sn.Mirror(reflectance=0.9))
    scan = fire(objects(mirror, (sheet((0, 2, 0), (0, -1, 0)), sn.Lambertian(reflectance=0.5))), max_depth=1)
    return Comparison([scan.range_m[0, 0], *scan.points[0, 0]], [3.0, 3.0, 0.0, 0.0], y=Axis("range and point [m]"))


@LIDAR.check(
    "water-path",
    "Two meters of vacuum and three of water are 5.990 m of optical path.",
    reference="physics.md 1, E-01: n = 1.33",
    absolute=5e-6,
)
def _water(quick: bool) -> Comparison:
    water = sn.shapes.box(10.0, 20, 20).transformed(sn.Pose((7.0, 0, 0)))
    body = sn.Dielectric(medium=sn.media.uniform(refractive_index=1.33))
    bed = (sheet((5, 0, 0), (-1, 0, 0)), sn.Lambertian(reflectance=0.5))
    scan = fire(objects((water, body), bed), max_depth=1, returns="last")
    return Comparison([scan.range_m[0, 0]], [5.990], y=Axis("range [m]"))


@LIDAR.check(
    "pane-return",
    "Behind a clear pane a wall returns 0.8521 of its open value, half a thickness farther away.",
    reference="physics.md 13, ThinGlass: T squared, and (n - 1) d",
    absolute=5e-5,
)
def _pane(quick: bool) -> Comparison:
    target = (sheet((5, 0, 0), (-1, 0, 0)), sn.Lambertian(reflectance=0.5))
    pane = (sheet((2, 0, 0), (-1, 0, 0)), sn.ThinGlass(refractive_index=1.5, thickness_m=0.004))
    clear, scan = fire(objects(target)), fire(objects(target, pane), max_depth=1, returns="last")
    ratio = float(scan.intensity[0, 0]) / float(clear.intensity[0, 0])
    longer = float(scan.range_m[0, 0]) - float(clear.range_m[0, 0])
    return Comparison([ratio, longer], [0.852071, 0.5 * 0.004], y=Axis("share, and meters"))


@LIDAR.check(
    "intensity-over-angle",
    "Kernels of float32 return f cos(theta) of matt, coated and metallic walls as the equations have it.",
    reference="physics.md 3.2 to 3.5 in float64, written out here",
    relative=2e-4,
)
def _angle(quick: bool) -> Comparison:
    # Monostatic closed form of GGX with Fresnel at normal incidence, as in physics.md 3.3
    alpha2, R0 = 2 * 0.3**2, ((1.5 - 1) ** 2 + 49) / ((1.5 + 1) ** 2 + 49)
    tan2 = 1 / _COS**2 - 1
    metal = R0 * alpha2 / (4 * np.pi * _COS * ((alpha2 - 1) * _COS**2 + 1) ** 2 * np.sqrt(1 + alpha2 * tan2))
    s2, reflectance = 0.3**2, 0.5
    a = 1 - 0.5 * s2 / (s2 + 0.33) + 0.17 * reflectance * s2 / (s2 + 0.13)
    b = 0.45 * s2 / (s2 + 0.09)
    rough = reflectance / np.pi * (a * _COS + b * (1 - _COS**2))
    surfaces = (
        (sn.Lambertian(reflectance=0.5), 0.5 / np.pi * _COS),
        (sn.TwoLayer(refractive_index=1.5, extinction_coefficient=7.0, roughness=0.3, reflectance=0.0), metal),
        (sn.TwoLayer(refractive_index=1.0, roughness=0.3, reflectance=0.5, diffuse_roughness=0.3), rough),
    )
    found = [fire(wall(5.0, material), _ANGLES).intensity[0] for material, _ in surfaces]
    at = np.tile(_ANGLES, (3, 1))
    expected = [law for _, law in surfaces]
    return Comparison(found, expected, at=at, x=Axis("angle [deg]"), y=Axis("intensity [1/sr]", log=True))


@LIDAR.check(
    "intensity-over-distance",
    "The return of a wall falls with what the detector catches of the spreading beam.",
    reference="physics.md 5: 1 - exp(-2 R^2 / w^2) on the axis",
    relative=3e-4,
    absolute=1e-9,
)
def _distance(quick: bool) -> Comparison:
    distances = np.array([0.5, 2.0, 5.0, 20.0, 50.0, 200.0, 900.0])
    beam = sn.Beam(half_divergence_rad=2.25e-3, exit_radius_m=0.0042, detector_radius_m=0.0042)

    # Walls all around, each across its own ray
    azimuths = tuple(float(a) for a in 45.0 * np.arange(distances.size))
    ahead = [np.array([np.cos(a), np.sin(a), 0.0]) for a in np.radians(azimuths)]
    matt = sn.Lambertian(reflectance=0.5)
    walls = [(sheet(d * u, -u, 0.2 * d), matt) for d, u in zip(distances, ahead, strict=True)]
    found = fire(objects(*walls), azimuths, beam=beam, max_range_m=1000.0).intensity[0]
    w = 0.0042 + distances * np.tan(2.25e-3)
    expected = 0.5 / np.pi * (1.0 - np.exp(-2.0 * 0.0042**2 / w**2))
    x = Axis("distance [m]", log=True)
    return Comparison(found, expected, at=distances, x=x, y=Axis("intensity [1/sr]", log=True))


@LIDAR.check(
    "lidar-equation",
    "In watts a wall returns P f cos A / r^2: 1.5625e-9 of the power for 10 % at 100 m.",
    reference="physics.md 3.1, E-04",
    relative=3e-4,
)
def _watts(quick: bool) -> Comparison:
    distances = np.array([10.0, 50.0, 100.0, 300.0])
    receiver = sn.Receiver(peak_power_W=1e6, efficiency=1.0)
    beam = sn.Beam(detector_radius_m=0.0125)
    gray = sn.Lambertian(reflectance=0.1)
    found = [
        float(fire(wall(d, gray), mode="radiometric", receiver=receiver, beam=beam, max_range_m=400.0).intensity[0, 0])
        for d in distances
    ]
    expected = 1e6 * 1.5625e-9 * (100.0 / distances) ** 2
    return Comparison(found, expected, at=distances, x=Axis("distance [m]", log=True), y=Axis("power [W]", log=True))


@LIDAR.check(
    "range-noise",
    "Range noise has the deviation base + slope x: 0.0449 m at 100 m, and is normal (Kolmogorov-Smirnov distance).",
    reference="physics.md 5, range noise: 5e-4 + 4.44e-4 x. Tolerance: five standard errors of this many rays",
    relative=0.025,
)
def _noise(quick: bool) -> Comparison:
    distances = np.array([10.0, 50.0, 100.0])
    noise = sn.RangeNoise(base_m=5e-4, slope=4.44e-4)
    found = [along_x(wall(d), rays=20_000, noise=noise, seed=int(d)).range_m.astype(float).std() for d in distances]
    expected = 5e-4 + 4.44e-4 * distances
    return Comparison(found, expected, at=distances, x=Axis("distance [m]"), y=Axis("standard deviation [m]"))
