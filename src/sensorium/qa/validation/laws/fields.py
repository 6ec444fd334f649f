"""Gravity, magnetism, the sun and the Earth."""

import datetime as dt
import math

import numpy as np

import sensorium as sn
from sensorium.physics.fields.ephemeris import solar_position, sun_from_place
from sensorium.physics.fields.geodetic import geodetic_position
from sensorium.qa.validation.check import Axis, Comparison, Family

FIELDS = Family("Fields, sun and Earth")


@FIELDS.check(
    "gravity",
    "Gravity with the Earth's bulge is the gradient of its potential.",
    reference="physics.md 13: mu = 3.986004418e14, R = 6378137, J2 = 1.08262668e-3",
    absolute=2e-7,
)
def _gravity(quick: bool) -> Comparison:
    mu, radius, j2, step = 3.986004418e14, 6378137.0, 1.08262668e-3, 500.0

    def potential(p: np.ndarray) -> np.ndarray:
        r = np.linalg.norm(p, axis=-1)
        return np.asarray(mu / r * (1 - j2 * (radius / r) ** 2 * (1.5 * (p[..., 2] / r) ** 2 - 0.5)))

    p = np.random.default_rng(1).normal(size=(40, 3))
    p *= (np.linspace(6.4e6, 9e6, 40) / np.linalg.norm(p, axis=1))[:, None]
    slope = np.stack([(potential(p + d) - potential(p - d)) / (2 * step) for d in step * np.eye(3)], axis=-1)
    at = np.repeat(np.linalg.norm(p, axis=1) / 1e3, 3).reshape(40, 3)
    return Comparison(sn.fields.J2Gravity().at(p), slope, at=at, x=Axis("radius [km]"), y=Axis("gravity [m/s^2]"))


@FIELDS.check(
    "dipole",
    "A dipole of the Earth's moment: 29.773 uT at the equator, against the moment, and twice that at the pole.",
    reference="physics.md 6",
    absolute=1e-9,
)
def _dipole(quick: bool) -> Comparison:
    found = sn.fields.MagneticDipole(moment=(0, 0, 7.7e22)).at([[6371.2e3, 0, 0], [0, 0, 6371.2e3]])
    return Comparison(found, [[0, 0, -29.773e-6], [0, 0, 59.546e-6]], y=Axis("field [T]"))


@FIELDS.check(
    "world-magnetic-model",
    "The World Magnetic Model has NOAA's test values, to their last digit.",
    reference="NOAA, WMM2020testvalues.pdf",
    absolute=0.051,
    needs=("pygeomag",),
)
def _world(quick: bool) -> Comparison:
    # Year, height [km], latitude, longitude [deg], north, east, down [nT]
    rows = (
        (2020.0, 0, 80, 0, 6570.4, -146.3, 54606.0),
        (2020.0, 0, 0, 120, 39624.3, 109.9, -10932.5),
        (2020.0, 100, -80, 240, 5744.9, 14799.5, -49969.4),
        (2022.5, 0, -80, 240, 6016.5, 15776.7, -52251.6),
        (2022.5, 100, 80, 0, 6224.0, -44.5, 52527.0),
    )
    found = [
        1e9
        * sn.fields.WorldMagneticModel(latitude_deg=lat, longitude_deg=lon, height_m=km * 1e3, date=year).at((0, 0, 0))
        for year, km, lat, lon, *_ in rows
    ]
    expected = [(east, north, -down) for *_, north, east, down in rows]
    return Comparison(found, expected, y=Axis("field [nT]"))


@FIELDS.check(
    "sun-place",
    "The sun stands where the worked examples of Meeus and of NREL have it.",
    reference="Meeus, example 25.a; Reda and Andreas 2004, appendix",
    absolute=5e-3,
)
def _sun(quick: bool) -> Comparison:
    meeus = solar_position(dt.datetime(1992, 10, 13, tzinfo=dt.UTC))
    golden = dt.datetime(2003, 10, 17, 12, 30, 30, tzinfo=dt.timezone(dt.timedelta(hours=-7)))
    east, north, up = sun_from_place(solar_position(golden), math.radians(39.742476), math.radians(-105.1786))
    found = [
        math.degrees(meeus.right_ascension_rad),
        math.degrees(meeus.declination_rad),
        math.degrees(math.asin(up)),
        math.degrees(math.atan2(east, north)) % 360.0,
    ]
    return Comparison(found, [198.38083, -7.78507, 39.872046, 194.340241], y=Axis("angle [deg]"))


@FIELDS.check(
    "sun-spectrum",
    "The sun's spectrum is Planck's at 5772 K, and its integral the solar constant times the air's transmittance.",
    reference="physics.md 13: 1361 W/m^2, 0.75 (scipy.integrate of Planck's law)",
    relative=2e-3,
)
def _spectrum(quick: bool) -> Comparison:
    sun = sn.fields.Sun(elevation_deg=90.0)
    wavelength = np.array([450e-9, 550e-9, 905e-9, 1550e-9])
    h, c, k, T = 6.62607015e-34, 299792458.0, 1.380649e-23, 5772.0
    planck = 2 * math.pi * h * c**2 / wavelength**5 / np.expm1(h * c / (wavelength * k * T))
    share = planck / (5.670374419e-8 * T**4)
    total = sum(sun.spectral_irradiance(float(w)) / s for w, s in zip(wavelength, share, strict=True)) / 4
    found = [sun.spectral_irradiance(float(w)) / total for w in wavelength]
    whole = sun.band_irradiance(1e-7, 1e-4)
    at = np.append(wavelength * 1e9, 3000.0)
    return Comparison([*found, whole / total], [*share, 1.0], at=at, x=Axis("wavelength [nm]"), y=Axis("", log=True))


@FIELDS.check(
    "geodetic",
    "Latitude, longitude and height of points of the Earth are those of pymap3d.",
    reference="pymap3d, WGS 84",
    absolute=1e-6,
    needs=("pymap3d",),
)
def _geodetic(quick: bool) -> Comparison:
    import pymap3d

    rng = np.random.default_rng(2)
    p = rng.normal(size=(50, 3))
    p *= (rng.uniform(6.3e6, 7.5e6, 50) / np.linalg.norm(p, axis=1))[:, None]
    latitude, longitude, height = geodetic_position(p)
    theirs = pymap3d.ecef2geodetic(*p.T)
    found = np.stack([latitude, longitude, height])
    return Comparison(found, np.stack(theirs), x=Axis("place"), y=Axis("degrees and meters"))
