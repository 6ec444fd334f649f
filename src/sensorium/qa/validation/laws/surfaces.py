"""Surfaces: their returns, energy and reciprocity, and Mitsuba's evaluation of the same models."""

from typing import Any

import numpy as np

import sensorium as sn
from sensorium.physics.optics.quadrature import gauss_legendre
from sensorium.qa.validation.check import Array, Axis, Comparison, Family

SURFACES = Family("Surfaces")

_ANGLES = np.array([0.0, 30.0, 60.0])
_COS = np.cos(np.radians(_ANGLES))

# An index whose Fresnel reflectance is 1 at every angle, to 1e-11
_PERFECT = 1.0 + 1e6j


def _nodes(count: int, low: float, high: float) -> tuple[Array, Array]:
    """Nodes and weights of Gauss and Legendre."""
    node, weight = gauss_legendre(count)
    return low + 0.5 * (high - low) * (node + 1), 0.5 * (high - low) * weight


def _direction(cos: Any, turn: Any) -> Array:
    sin = np.sqrt(np.maximum(1.0 - np.square(cos), 0.0))
    vectors = np.stack(np.broadcast_arrays(sin * np.cos(turn), sin * np.sin(turn), cos), axis=-1)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def _lobe_albedo(theta: float, n: complex, roughness: float, count: int) -> float:
    """Share that the coat alone reflects, integrated over facets as GGX spreads them."""
    alpha2 = 2.0 * roughness**2
    u, du = _nodes(count, 0.0, 1.0)
    turn, dturn = _nodes(count, 0.0, np.pi)
    u, turn = np.meshgrid(u, turn, indexing="ij")
    cos_h = np.sqrt((1 - u) / (1 + (alpha2 - 1) * u))
    h, source = _direction(cos_h, turn), np.array([np.sin(theta), 0.0, np.cos(theta)])
    cos_lh = h @ source
    v = 2 * cos_lh[..., None] * h - source
    v /= np.linalg.norm(v, axis=-1, keepdims=True)
    f = sn.optics.ggx(source, v, n=n, roughness=roughness)
    density = sn.optics.ggx_distribution(cos_h, roughness=roughness) * cos_h
    value = np.where(cos_lh > 0, f * v[..., 2] * 4 * cos_lh / density, 0.0)
    return float(2 * np.einsum("ij,i,j", value, du, dturn) / (2 * np.pi))


def _base_albedo(theta: float, count: int, **material: Any) -> float:
    """Share that the base under the coat reflects: the BRDF less its lobe, integrated over directions."""
    cos, dcos = _nodes(count, 0.0, 1.0)
    turn, dturn = _nodes(count, 0.0, np.pi)
    v = _direction(*np.meshgrid(cos, turn, indexing="ij"))
    source = np.array([np.sin(theta), 0.0, np.cos(theta)])
    coat = sn.optics.ggx(source, v, n=material["n"], roughness=material["roughness"])
    f = sn.optics.two_layer(source, v, **material) - coat
    return float(2 * np.einsum("ij,i,j", f * v[..., 2], dcos, dturn))


@SURFACES.check(
    "monostatic-table",
    "Returns f cos(theta) of matt, glossy, metallic and coated surfaces have the digits of the table.",
    reference="physics.md 3.7, E-05 to E-11",
    relative=1e-5,
)
def _table(quick: bool) -> Comparison:
    optics = sn.optics
    rows = (
        optics.oren_nayar_monostatic(_COS, reflectance=0.5),
        optics.ggx_monostatic(_COS, n=1.5, roughness=0.3),
        optics.ggx_monostatic(_COS, n=1.5 + 7j, roughness=0.3),
        optics.oren_nayar_monostatic(_COS, reflectance=0.5, diffuse_roughness=0.3),
        *(
            optics.two_layer_monostatic(
                _COS, n=1.5, roughness=0.3, reflectance=0.5, diffuse_roughness=0.3, layering=layering
            )
            for layering in ("agx", "two_way")
        ),
    )
    expected = (
        (0.159155, 0.137832, 0.079577),
        (0.0176839, 0.00433528, 0.00146103),
        (0.394087, 0.0966121, 0.0325591),
        (0.147637, 0.136810, 0.100676),
        (0.159415, 0.135673, 0.098110),
        (0.153746, 0.130020, 0.084980),
    )
    at = np.tile(_ANGLES, (6, 1))
    return Comparison(rows, expected, at=at, x=Axis("angle of incidence [deg]"), y=Axis("f cos [1/sr]", log=True))


@SURFACES.check(
    "facets-normalized",
    "Facets cover the surface once, whatever the roughness: the integral of D (n.h) over the half space is 1.",
    reference="physics.md 3.3, E-07 (Walter 2007)",
    absolute=1e-6,
)
def _normalized(quick: bool) -> Comparison:
    alphas = np.array([0.1, 0.2, 0.3, 0.5, 0.7, 1.0])
    # Nodes crowd where the lobe is: tan^2 of the facet's angle is spread evenly in its logarithm
    s, ds = _nodes(400, np.log(1e-12), np.log(1e12))
    tan2 = np.exp(s)
    cos = 1.0 / np.sqrt(1.0 + tan2)
    found = []
    for alpha in alphas:
        D = sn.optics.ggx_distribution(cos, roughness=alpha / np.sqrt(2))
        # dw (n.h) = pi d(sin^2) = pi tan^2 / (1 + tan^2)^2 d(log tan^2)
        found.append(np.sum(D * np.pi * tan2 / (1.0 + tan2) ** 2 * ds))
    return Comparison(found, 1.0, at=alphas, x=Axis("alpha"), y=Axis("integral"))


@SURFACES.check(
    "white-furnace",
    "Facets that a beam sees cover its cross-section once: G_1 times their area is cos(theta).",
    reference="Heitz 2014, eq. 15; physics.md 3.3, E-05 and E-06",
    relative=3e-3,
)
def _furnace(quick: bool) -> Comparison:
    count = 200 if quick else 400
    u, du = _nodes(count, 0.0, 1.0)
    turn, dturn = _nodes(count, 0.0, np.pi)
    u, turn = np.meshgrid(u, turn, indexing="ij")
    angles = np.array([0.0, 30.0, 60.0])
    found = []
    for roughness in (0.1, 0.3, 0.7):
        cos_h = np.sqrt((1 - u) / (1 + (2 * roughness**2 - 1) * u))
        for theta in np.radians(angles):
            seen = np.maximum(_direction(cos_h, turn) @ [np.sin(theta), 0.0, np.cos(theta)], 0.0)
            area = 2 * np.einsum("ij,i,j", seen / cos_h, du, dturn) / (2 * np.pi)
            found.append(area / (1 + sn.optics.smith_lambda(np.cos(theta), roughness=roughness)))
    expected = np.tile(np.cos(np.radians(angles)), 3)
    return Comparison(found, expected, at=np.tile(angles, 3), x=Axis("angle [deg]"), y=Axis("area seen"))


@SURFACES.check(
    "lobe-albedo",
    "Light lost between facets of a perfect rough mirror: 0.763 comes back at 0 and 0.742 at 60 degrees.",
    reference="physics.md 3.7: single scattering, sigma_B = 0.3",
    absolute=6e-4,
)
def _lost(quick: bool) -> Comparison:
    angles = np.array([0.0, 60.0])
    found = [_lobe_albedo(np.radians(angle), _PERFECT, 0.3, 200 if quick else 320) for angle in angles]
    return Comparison(found, [0.763, 0.742], at=angles, x=Axis("angle of incidence [deg]"), y=Axis("albedo"))


@SURFACES.check(
    "energy",
    "No coated surface sends out more light than falls on it, up to grazing incidence and a white base.",
    reference="physics.md 3.5, E-11: two_way conserves energy, agx does not",
    absolute=1e-6,
    side="at most",
)
def _energy(quick: bool) -> Comparison:
    angles = np.array([0.0, 30.0, 60.0, 75.0, 85.0])
    found, at = [], []
    for layering in ("two_way", "plastic"):
        for roughness in (0.07, 0.7) if quick else (0.03, 0.07, 0.2, 0.7):
            for angle in angles:
                theta = np.radians(angle)
                material = {"n": 1.5, "roughness": roughness, "reflectance": 0.97, "layering": layering}
                base = _base_albedo(theta, 40, diffuse_roughness=0.25, **material)
                found.append(base + _lobe_albedo(theta, 1.5, roughness, 96 if quick else 160))
                at.append(angle)
    return Comparison(found, 1.0, at=at, x=Axis("angle of incidence [deg]"), y=Axis("albedo"))


@SURFACES.check(
    "oren-nayar-energy",
    "The rough matt base keeps energy up to a reflectance of 0.97: its largest albedo is 0.996.",
    reference="physics.md 3.4, E-09 and E-10: the published limit C <= 0.97",
    absolute=6e-4,
)
def _matt(quick: bool) -> Comparison:
    cos, dcos = _nodes(60, 0.0, 1.0)
    turn, dturn = _nodes(60, 0.0, np.pi)
    v = _direction(*np.meshgrid(cos, turn, indexing="ij"))
    angles = np.radians([0.0, 45.0, 75.0, 89.0, 89.999])

    def most(reflectance: float) -> float:
        albedos = []
        for theta in angles:
            for sigma in (0.0, 0.2, 0.24, 0.26, 0.28, 0.5):
                f = sn.optics.oren_nayar(
                    [np.sin(theta), 0.0, np.cos(theta)], v, reflectance=reflectance, diffuse_roughness=sigma
                )
                albedos.append(2 * np.einsum("ij,i,j", f * v[..., 2], dcos, dturn))
        return float(max(albedos))

    shades = np.array([0.97, 0.98, 1.0])
    found = [most(shade) for shade in shades]
    return Comparison(found, [0.996, 1.007, 1.029], at=shades, x=Axis("C"), y=Axis("largest albedo"))


@SURFACES.check(
    "reciprocity",
    "Light takes a path as well one way as the other: f(l, v) = f(v, l) for random surfaces and directions.",
    reference="Helmholtz; physics.md 3.5",
    relative=1e-9,
)
def _reciprocity(quick: bool) -> Comparison:
    rng, count = np.random.default_rng(4), 2000
    source, detector = (_direction(rng.uniform(0.01, 1, count), rng.uniform(0, 2 * np.pi, count)) for _ in range(2))
    there, back = [], []
    for layering in ("two_way", "plastic"):
        material: dict[str, Any] = {
            "n": 1.5,
            "roughness": rng.uniform(0.01, 0.7, count),
            "reflectance": rng.uniform(0, 1, count),
            "diffuse_roughness": rng.uniform(0, 1, count),
            "layering": layering,
        }
        there.append(sn.optics.two_layer(source, detector, **material))
        back.append(sn.optics.two_layer(detector, source, **material))
    return Comparison(back, there, at=there, x=Axis("f(l, v) [1/sr]", log=True), y=Axis("f(v, l)", log=True))


@SURFACES.check(
    "mirror-share",
    "A polished surface keeps in the beam the share of facets that are straight enough.",
    reference="physics.md 3.6: kappa / R at 0 deg, 1.5 mrad",
    relative=2e-6,
)
def _mirror(quick: bool) -> Comparison:
    alphas = np.array([1e-4, 1e-3, 1e-2, 0.4243])
    R = sn.optics.fresnel(1.0, n=1.5)
    found = sn.optics.mirror_transfer(1.0, n=1.5, roughness=alphas / np.sqrt(2), half_angle_rad=1.5e-3) / R
    expected = [0.982533, 0.360000, 5.59354e-3, 3.12446e-6]
    return Comparison(found, expected, at=alphas, x=Axis("alpha", log=True), y=Axis("kappa / R", log=True))


def _directions(count: int) -> tuple[Array, Array]:
    """Random directions above the surface, none of them grazing."""
    rng = np.random.default_rng(2)
    first, second = (_direction(rng.uniform(0.05, 1, count), rng.uniform(0, 2 * np.pi, count)) for _ in range(2))
    return first, second


def _mitsuba_cos_brdf(material: dict[str, Any], source: Array, detector: Array) -> Array:
    """Mitsuba's f(l, v) (n.v) of one of its surfaces, light from `source`."""
    import mitsuba as mi

    mi.set_variant("scalar_rgb")
    bsdf, context = mi.load_dict(material), mi.BSDFContext()
    values = []
    for incoming, outgoing in zip(source, detector, strict=True):
        at = mi.SurfaceInteraction3f()
        at.wi = mi.Vector3f(*map(float, outgoing))
        values.append(bsdf.eval(context, at, mi.Vector3f(*map(float, incoming)))[0])
    return np.array(values)


@SURFACES.check(
    "matt-mitsuba",
    "A matt surface is Mitsuba's diffuse surface.",
    reference="Mitsuba 3, bsdf diffuse",
    relative=2e-6,
    needs=("mitsuba",),
)
def _matt_mitsuba(quick: bool) -> Comparison:
    source, detector = _directions(200)
    found = sn.optics.oren_nayar(source, detector, reflectance=0.5) * source[:, 2]
    gray = {"type": "rgb", "value": [0.5, 0.5, 0.5]}
    expected = _mitsuba_cos_brdf({"type": "diffuse", "reflectance": gray}, source, detector)
    return Comparison(found, expected, at=source[:, 2], x=Axis("cos(theta)"), y=Axis("f cos [1/sr]"))


@SURFACES.check(
    "glossy-mitsuba",
    "The rough metal's lobe is Mitsuba's: GGX facets, masking and Fresnel, over random directions.",
    reference="Mitsuba 3, bsdf roughconductor with ggx (float32); its masking is separable, ours brought to that",
    relative=1e-5,
    needs=("mitsuba",),
)
def _glossy_mitsuba(quick: bool) -> Comparison:
    source, detector = _directions(100 if quick else 400)
    roughness, n = 0.3, 1.5 + 7j
    material = {
        "type": "roughconductor",
        "distribution": "ggx",
        "alpha": roughness * np.sqrt(2.0),
        "eta": {"type": "rgb", "value": [n.real] * 3},
        "k": {"type": "rgb", "value": [n.imag] * 3},
    }
    expected = _mitsuba_cos_brdf(material, source, detector)
    found = sn.optics.ggx(source, detector, n=n, roughness=roughness) * source[:, 2]

    # Mitsuba masks the two directions independently, G_1(l) G_1(v); ours are height-correlated (E-05)
    lambdas = [sn.optics.smith_lambda(np.clip(u[:, 2], 0, 1), roughness=roughness) for u in (source, detector)]
    found = found * (1 + lambdas[0] + lambdas[1]) / ((1 + lambdas[0]) * (1 + lambdas[1]))
    return Comparison(found, expected, at=expected, x=Axis("Mitsuba's f cos", log=True), y=Axis("ours", log=True))


@SURFACES.check(
    "coated-mitsuba",
    "The base under a smooth coat, with what goes to and fro inside, is Mitsuba's plastic.",
    reference="Mitsuba 3, bsdf plastic (nonlinear); physics.md 3.5, mode plastic, F_i = 0.596346",
    relative=2e-3,
    needs=("mitsuba",),
)
def _coated_mitsuba(quick: bool) -> Comparison:
    source, detector = _directions(200)
    gray = {"type": "rgb", "value": [0.5, 0.5, 0.5]}
    material = {"type": "plastic", "int_ior": 1.5, "ext_ior": 1.0, "nonlinear": True, "diffuse_reflectance": gray}
    expected = _mitsuba_cos_brdf(material, source, detector)
    coat = {"n": 1.5, "roughness": 1e-5, "reflectance": 0.5}
    found = sn.optics.two_layer(source, detector, layering="plastic", **coat) * source[:, 2]
    return Comparison(found, expected, at=source[:, 2], x=Axis("cos(theta)"), y=Axis("f cos [1/sr]"))
