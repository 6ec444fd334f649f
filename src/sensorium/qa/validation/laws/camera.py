"""Cameras: lenses, light on pixels, and their noise (VANE's camera and EMVA 1288)."""

import math

import numpy as np

import sensorium as sn
from sensorium.physics.imaging import Band, PixelNoise, band_value, fixed_pattern, noisy_electrons
from sensorium.physics.optics.spectra import Spectrum
from sensorium.qa.validation.check import Axis, Comparison, Family

CAMERA = Family("Camera")

_GREEN = Band(name="green", filter=Spectrum(wavelength_m=(540e-9, 560e-9), value=(1.0, 1.0)))


@CAMERA.check(
    "aberrations",
    "Rays miss their image point as the slope of the wavefront says, for all five aberrations and defocus.",
    reference="physics.md 10, E-33 and E-34: (-2.728375, -3.245450); Born & Wolf 5.3",
    absolute=6e-7,
)
def _aberrations(quick: bool) -> Comparison:
    coefficients = sn.optics.Seidel(spherical=1.1, astigmatism=0.7, curvature=-0.4, distortion=0.25, coma=0.9)
    field, pupil = np.array([0.3, -0.2]), np.array([0.5, 0.7])
    given = {"defocus_per_m": 0.3}
    found = sn.optics.deviation(field, pupil, coefficients, image_distance_m=1.3, **given)
    step = 1e-5
    slope = [
        -1.3
        * (
            sn.optics.wavefront(field, pupil + d, coefficients, **given)
            - sn.optics.wavefront(field, pupil - d, coefficients, **given)
        )
        / (2 * step)
        for d in step * np.eye(2)
    ]
    values = [*found, *(float(s) for s in slope)]
    return Comparison(values, [-2.728375, -3.245450] * 2, x=Axis("by formula, by differences"), y=Axis("miss [m]"))


@CAMERA.check(
    "blur",
    "A point out of focus becomes the disc of a thin lens, and is sharp at s.",
    reference="physics.md 10, E-33: f = 6 mm, d = 6.05 mm, a = 1.5 mm: s = 0.726 m, 7.9625 um at 2 m",
    relative=1e-4,
)
def _blur(quick: bool) -> Comparison:
    depth = np.array([0.3, 0.5, 1.0, 2.0, 5.0, 20.0])
    found = sn.optics.blur_radius(6e-3, 6.05e-3, 1.5e-3, depth)
    image = 1.0 / (1.0 / 6e-3 - 1.0 / depth)
    thin = 1.5e-3 * np.abs(6.05e-3 - image) / image
    at = np.append(depth, [2.0, 0.726])
    values = np.append(found, [float(sn.optics.blur_radius(6e-3, 6.05e-3, 1.5e-3, 2.0)), 0.0]) * 1e6
    values[-1] = sn.optics.in_focus_distance(6e-3, 6.05e-3)
    expected = np.append(thin * 1e6, [7.9625, 0.726])
    return Comparison(values, expected, at=at, x=Axis("depth [m]", log=True), y=Axis("blur [um]", log=True))


@CAMERA.check(
    "round-blur",
    "A point out of focus is a round disc on the chip, whatever shape pixels have: moments r^2 / 4 along both axes.",
    reference="Second moments of an even disc, and a twelfth of a squared pixel; r = d a |1/s - 1/r|",
    relative=0.02,
)
def _round_blur(quick: bool) -> Comparison:
    lens = {"focal_length_m": 6e-3, "pupil_distance_m": 6.05e-3, "pupil_radius_m": 5e-3}
    radius_m = float(sn.optics.blur_radius(**lens, object_m=0.25))
    found, expected, at = [], [], []
    for pitch_um in ((4.65, 4.65), (4.65, 9.3), (12.0, 4.0)):
        pitch_m = (1e-6 * pitch_um[0], 1e-6 * pitch_um[1])
        table = sn.imaging.spot_table(
            columns=96, rows=96, pitch_m=pitch_m, factor=1, pupil_rays=2048, coefficients=sn.optics.Seidel(),
            nearest_m=0.2, **lens,
        )  # fmt: skip
        size = 96 + 2 * table.margin
        ideal, image = np.zeros((size, size, 1), np.float32), np.empty((96, 96, 1), np.float32)
        ideal[48 + table.margin, 48 + table.margin] = 1.0
        sn.imaging.pixel_means(ideal, np.full((size, size), 4.0, np.float32), table, image)
        y, x = np.indices((96, 96)) - 48
        for place, pitch in zip((x, y), pitch_m, strict=True):
            found.append(1e12 * float((image[..., 0] * (place * pitch) ** 2).sum()))
            expected.append(1e12 * (radius_m**2 / 4.0 + pitch**2 / 12.0))
            at.append(1e6 * pitch)
    return Comparison(found, expected, at=at, x=Axis("pitch [um]"), y=Axis("second moment [um^2]"))


@CAMERA.check(
    "folds",
    "A lens r' = r + k1 r^3 is refused from k1 = -4 / (27 corner^2) on, where its corner folds, and not before.",
    reference="dr'/dr = 0 at r = 1 / sqrt(-3 k1), where r' = 2/3 r",
    relative=1e-6,
)
def _folds(quick: bool) -> Comparison:
    found, expected = [], []
    corners = (0.2, 0.75, 2.0)
    for corner in corners:
        side = corner / math.sqrt(2.0)
        low, high = -1e3 / corner**2, 0.0
        for _ in range(60):
            k1 = 0.5 * (low + high)
            try:
                sn.optics.check_brown_field((-side, -side), (side, side), (k1, 0.0, 0.0, 0.0, 0.0))
                high = k1
            except sn.errors.SpecError:
                low = k1
        found.append(high)
        expected.append(-4.0 / 27.0 / corner**2)
    return Comparison(found, expected, at=corners, x=Axis("corner [1]"), y=Axis("k1"))


@CAMERA.check(
    "auto-exposure",
    "The error of automatic exposure, in stops, shrinks by 1 - speed from image to image.",
    reference="e_n = e_0 (1 - speed)^n",
    absolute=1e-9,
)
def _auto_exposure(quick: bool) -> Comparison:
    auto = sn.imaging.AutoExposure(speed=0.4, max_exposure_s=1.0, max_gain=2.0)
    exposure_s, gain, light = 1e-3, 1.0, 20.0
    found = []
    for _ in range(12):
        level = light * exposure_s * gain
        found.append(math.log2(level / auto.target))
        exposure_s, gain = sn.imaging.next_exposure(auto, level, exposure_s=exposure_s, gain=gain)
    frames = np.arange(12)
    return Comparison(found, found[0] * 0.6**frames, at=frames, x=Axis("image"), y=Axis("error [stops]"))


@CAMERA.check(
    "vignetting",
    "Light falls off as cos^4 times the mount's share: 0.25 at r = f, 1 on the axis.",
    reference="physics.md 10",
    absolute=1e-12,
)
def _vignetting(quick: bool) -> Comparison:
    r = np.linspace(0.0, 6e-3, 13)
    found = sn.optics.vignetting(r, focal_length_m=6e-3, falloff_per_m=50.0)
    expected = (1 - 50.0 * r) * (6e-3 / np.hypot(6e-3, r)) ** 4
    both = np.append(found, float(sn.optics.vignetting(6e-3, focal_length_m=6e-3)))
    at = np.append(r, 6e-3) * 1e3
    return Comparison(both, np.append(expected, 0.25), at=at, x=Axis("radius [mm]"), y=Axis("V"))


@CAMERA.check(
    "emva",
    "Photons, gray-value noise and signal-to-noise of the reference pixel.",
    reference="physics.md 12; EMVA 1288: 50.341 A t lambda E; sigma_y = 2.51661, SNR = 23.8416",
    relative=5e-6,
)
def _emva(quick: bool) -> Comparison:
    photons = sn.optics.photons(0.01, area_m2=1e-12, exposure_s=1e-3, wavelength_m=1e-6)
    found = [
        float(photons),
        float(sn.optics.gray_value_noise(600.0, dark_noise_e=5.0, gain_dn_e=0.1)),
        float(sn.optics.signal_to_noise(600.0, dark_noise_e=5.0, gain_dn_e=0.1)),
    ]
    return Comparison(found, [50.341, 2.51661, 23.8416], y=Axis("photons, sigma, SNR"))


@CAMERA.check(
    "photon-transfer",
    "The variance of pixels over their mean is that of Poisson's law and the read noise, from dark to bright.",
    reference="EMVA 1288: var = mean + sigma_d^2. Tolerance: five standard errors of this many pixels",
    relative=0.04,
)
def _transfer(quick: bool) -> Comparison:
    pixels = 40_000
    noise, stream = PixelNoise(read_noise_e=5.0), sn.random.Stream(3, "camera")
    pattern = fixed_pattern(noise, stream, values=pixels)
    means = np.array([0.0, 4.0, 15.9, 60.0, 1000.0, 9000.0])
    found = []
    for tick, mean in enumerate(means):
        electrons = np.full(pixels, mean, np.float32)
        noisy_electrons(electrons, noise, pattern, exposure_s=0.01, full_well_e=1e9, key=stream.key, tick=tick)
        found.append(electrons.astype(float).var())
    x, y = Axis("mean [e-]"), Axis("variance [e-^2]", log=True)
    return Comparison(found, means + 25.0, at=means, x=x, y=y)


@CAMERA.check(
    "radiance",
    "Level ground under sun and sky has the radiance (rho / pi) (E sin h + pi L), and pixels E A t lambda / h c.",
    reference="physics.md 10 and 13, by hand",
    relative=2e-4,
)
def _radiance(quick: bool) -> Comparison:
    heights = (90.0, 60.0, 30.0)
    found, expected = [], []
    for height in heights:
        sun = sn.fields.Sun(elevation_deg=height, azimuth_deg=70.0)
        scene = sn.Scene()
        scene.add(sn.shapes.plane(400.0, 400.0), material=sn.Lambertian(reflectance=0.5))
        env = sn.Environment(scene, sn.worlds.Static({"mast": sn.Pose()}, step_s=0.1), sun=sun)
        camera = sn.Camera(
            pupil_distance_m=6.0001e-3, width_m=6.4e-3, height_m=4.8e-3, columns=32, rows=24, focal_length_m=6e-3,
            pupil_radius_m=0.5e-3, exposure_s=1e-3, bands=(_GREEN,), sample_factor=1, pupil_rays=1, bits=16,
            full_well_e=2e7,
        )  # fmt: skip
        down = sn.Pose.from_euler_deg((0.0, 0.0, 5.0), pitch=90.0)
        sensor = env.attach(camera, body="mast", pose=down)
        env.step()
        found.append(float(sensor.read().ideal[12, 16, 0]))
        direct = band_value(sun.spectral_irradiance, _GREEN) * math.sin(math.radians(height))
        expected.append(0.5 / math.pi * (direct + math.pi * band_value(sun.sky_radiance, _GREEN)))
    return Comparison(found, expected, at=heights, x=Axis("height of the sun [deg]"), y=Axis("radiance"))


@CAMERA.check(
    "black-body",
    "37.6 % of the power of a body of 300 K lies between 8 and 14 um.",
    reference="Planck's integral (scipy.integrate.quad)",
    relative=1e-3,
)
def _black_body(quick: bool) -> Comparison:
    from scipy.integrate import quad

    infrared = Band(name="far infrared", filter=Spectrum(wavelength_m=(8e-6, 14e-6), value=(1.0, 1.0)))
    h, c, k = 6.62607015e-34, 299792458.0, 1.380649e-23

    def planck(um: float, T: float) -> float:
        w = um * 1e-6
        return 2 * h * c**2 / w**5 / math.expm1(h * c / (w * k * T)) * 1e-6

    temperatures = np.array([250.0, 300.0, 400.0])
    found = [sn.imaging.thermal_radiance(infrared, float(T)) for T in temperatures]
    expected = [quad(planck, 8.0, 14.0, args=(float(T),))[0] for T in temperatures]
    return Comparison(found, expected, at=temperatures, x=Axis("temperature [K]"), y=Axis("radiance [W/m^2/sr]"))
