"""Fresnel's and Snell's laws."""

import numpy as np

import sensorium as sn
from sensorium.qa.validation.check import Array, Axis, Comparison, Family

FRESNEL = Family("Fresnel and refraction")

# Angle [deg], complex index, R_s, R_p
_TABLE = (
    (0.0, 1.5, 0.040000, 0.040000),
    (30.0, 1.5, 0.057796, 0.025249),
    (60.0, 1.5, 0.176571, 0.001802),
    (80.0, 1.5, 0.538595, 0.236814),
    (0.0, 1.5 + 7j, 0.891403, 0.891403),
    (60.0, 1.5 + 7j, 0.944512, 0.800630),
    (60.0, 1.33, 0.113898, 0.004353),
)


@FRESNEL.check(
    "fresnel-table",
    "Reflectances of glass, water and a metal, both polarizations, have the digits of the table.",
    reference="physics.md 2 (Born & Wolf, 1.5.2)",
    absolute=6e-7,
)
def _table(quick: bool) -> Comparison:
    found, expected = [], []
    for angle, n, r_s, r_p in _TABLE:
        found += [float(r) for r in sn.optics.fresnel_polarized(np.cos(np.radians(angle)), n=n)]
        expected += [r_s, r_p]
    return Comparison(found, expected, x=Axis("row of the table, s and p"), y=Axis("R"))


@FRESNEL.check(
    "fresnel-limits",
    "R_p vanishes at Brewster's angle, R is 1 beyond the critical angle and at grazing incidence, 0 between equals.",
    reference="physics.md 2: arctan 1.5 = 56.3099 deg, arcsin(1 / 1.5) = 41.8103 deg, and 1.5 to 1 at 30 deg 0.055190",
    absolute=6e-7,
)
def _limits(quick: bool) -> Comparison:
    brewster = float(sn.optics.fresnel_polarized(np.cos(np.arctan(1.5)), n=1.5)[1])
    out = [float(sn.optics.fresnel(np.cos(np.radians(a)), n=1.0, n_outside=1.5)) for a in (30.0, 41.9, 60.0, 85.0)]
    grazing, none = float(sn.optics.fresnel(0.0, n=1.5)), float(sn.optics.fresnel(0.4, n=1.33, n_outside=1.33))
    found = [brewster, *out, grazing, none]
    return Comparison(found, [0.0, 0.055190, 1.0, 1.0, 1.0, 1.0, 0.0], y=Axis("R"))


@FRESNEL.check(
    "fresnel-energy",
    "What is not reflected is transmitted, by the amplitudes and Poynting's factors, for dielectrics and metals.",
    reference="physics.md 2, E-03: T = Re(n2 c2*) / Re(n1 c1*) |t|^2 for p",
    absolute=1e-12,
)
def _energy(quick: bool) -> Comparison:
    angle = np.linspace(0.0, 89.0, 60)
    cos1 = np.cos(np.radians(angle)).astype(complex)
    found = []
    for n in (1.33, 1.5, 2.4, 1.5 + 7j):
        cos2 = np.sqrt(1.0 - (1.0 - cos1**2) / n**2)
        t_s, t_p = 2 * cos1 / (cos1 + n * cos2), 2 * cos1 / (n * cos1 + cos2)
        through_s = (n * cos2).real / cos1.real * abs(t_s) ** 2
        through_p = (n * cos2.conj()).real / cos1.real * abs(t_p) ** 2
        found.append(sn.optics.fresnel(cos1.real, n=n) + 0.5 * (through_s + through_p))
    return Comparison(found, 1.0, at=np.tile(angle, (4, 1)), x=Axis("angle of incidence [deg]"), y=Axis("R + T"))


@FRESNEL.check(
    "snell",
    "A refracted ray keeps n sin(theta), stays in the plane of incidence, and is a unit vector.",
    reference="physics.md 1: t = eta d + (eta c1 - c2) n",
    absolute=1e-12,
)
def _snell(quick: bool) -> Comparison:
    rng = np.random.default_rng(1)
    angle = np.radians(np.linspace(0.0, 89.0, 90))
    turn = rng.uniform(0, 2 * np.pi, angle.size)
    d = np.stack([np.sin(angle) * np.cos(turn), np.sin(angle) * np.sin(turn), -np.cos(angle)], axis=-1)
    t = sn.optics.refract(d, (0.0, 0.0, 1.0), n_from=1.0, n_to=1.33)[0]
    across = np.hypot(t[:, 0], t[:, 1])
    return Comparison(
        np.concatenate([1.33 * across, np.linalg.norm(t, axis=-1)]),
        np.concatenate([np.sin(angle), np.ones(angle.size)]),
        at=np.tile(np.degrees(angle), 2),
        x=Axis("angle of incidence [deg]"),
        y=Axis("n sin, and |t|"),
    )


@FRESNEL.check(
    "pane",
    "A clear pane passes 0.923077 and reflects 0.076923, all orders of inner reflection summed.",
    reference="physics.md 13, ThinGlass: T = (1-R)^2 a / (1 - R^2 a^2)",
    absolute=6e-7,
)
def _pane(quick: bool) -> Comparison:
    passed, reflected = (float(value) for value in sn.optics.pane(1.0, n=1.5))
    return Comparison([passed, reflected, passed**2], [0.923077, 0.076923, 0.852071], y=Axis("T, R, T squared"))


def _mitsuba_fresnel(cos: Array, n: complex) -> Array:
    """Mitsuba's Fresnel reflectance of unpolarized light."""
    import mitsuba as mi

    mi.set_variant("scalar_rgb")
    if complex(n).imag:
        # Mitsuba writes a metal's index as eta - i k
        return np.array([mi.fresnel_conductor(float(c), mi.Complex2f(n.real, n.imag)) for c in cos])
    return np.array([mi.fresnel(float(c), float(complex(n).real))[0] for c in cos])


@FRESNEL.check(
    "fresnel-mitsuba",
    "Reflectances over all angles are Mitsuba's, for glass, water, from glass to air, and for a metal.",
    reference="Mitsuba 3, mi.fresnel and mi.fresnel_conductor (float32)",
    absolute=2e-6,
    needs=("mitsuba",),
)
def _mitsuba(quick: bool) -> Comparison:
    angle = np.linspace(0.0, 88.0, 45)
    cos = np.cos(np.radians(angle))
    indices = (1.5, 1.33, 1.0 / 1.5, 1.5 + 7j)
    found = [sn.optics.fresnel(cos, n=n) for n in indices]
    expected = [_mitsuba_fresnel(cos, n) for n in indices]
    at = np.tile(angle, (len(indices), 1))
    return Comparison(found, expected, at=at, x=Axis("angle of incidence [deg]"), y=Axis("R"))
