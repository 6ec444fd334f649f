"""The scalars as kernels run them: float32 throughout, and close to float64."""

import re

import numba
import numpy as np
import pytest

from sensorium.physics.optics.surfaces import layers, microfacet
from sensorium.physics.optics.surfaces.diffuse import oren_nayar_back, oren_nayar_brdf
from sensorium.physics.optics.surfaces.fresnel import (
    normal_reflectance,
    polarized_reflectance,
    reflectance,
    relative_reflectance,
)
from sensorium.physics.optics.surfaces.mirror_transfer import mirror_share
from sensorium.physics.optics.surfaces.pane import cos_inside, pane_factors
from sensorium.physics.optics.surfaces.refraction import mirrored, refracted_cosine
from sensorium.physics.optics.surfaces.retroreflection import retro
from sensorium.physics.optics.surfaces.transmittance import attenuation
from sensorium.runtime import jit

COSINES = np.concatenate([[1e-3, 0.01], np.linspace(0.05, 0.95, 19), [0.99, 0.999, 0.9999, 1.0]])
ALPHA2 = 2 * np.array([0.001, 0.01, 0.1, 0.3, 0.7]) ** 2
INDICES = [(1.0, 0.0), (1.000273, 0.0), (1.1, 0.0), (1.33, 0.0), (1.5, 0.0), (2.4, 0.01), (1.5, 7.0), (0.2, 3.4)]
INNER = [(1 / 1.5, 0.0), (1 / 1.33, 0.0), (0.9, 0.0)]
BASES = [(0.5, 1.0, 0.0, 0.0), (0.9, 0.89, 0.07, 0.22), (0.0, 1.0, 0.0, 0.0)]
LAYERS = [(layers.TWO_WAY, 1.0, 0.0), (layers.AGX, 1.0, 0.0), (layers.PLASTIC, 2.25, 0.596346)]


def grid(*columns):
    """Every combination, as arrays; a column of tuples gives several arrays."""
    tables = [np.asarray(column, np.float64).reshape(len(column), -1) for column in columns]
    chosen = np.indices([len(table) for table in tables]).reshape(len(tables), -1)
    return tuple(array for table, rows in zip(tables, chosen, strict=True) for array in table[rows].T)


def normal(n, k):
    return ((n - 1) ** 2 + k**2) / ((n + 1) ** 2 + k**2)


def surfaces():
    """(cos, n, k, R0, alpha^2, C, A0, A1, B, layering, n^2, F_i)"""
    indices = [(n, k, normal(n, k)) for n, k in INDICES if k <= 0.1]
    return grid(COSINES, indices, ALPHA2, BASES, LAYERS)


def pairs_of_directions():
    """(n.l, n.v, n.h, l.h, l.v) of random pairs above the horizon, with rows of materials."""
    rng = np.random.default_rng(3)
    theta, phi = np.arccos(rng.uniform(0.02, 1, (2, 400))), rng.uniform(0, 2 * np.pi, (2, 400))
    l, v = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], -1)  # noqa: E741
    h = (l + v) / np.linalg.norm(l + v, axis=-1, keepdims=True)
    cosines = np.stack([l[:, 2], v[:, 2], h[:, 2], np.sum(l * h, -1), np.sum(l * v, -1)])
    rows = grid([(1.0, 0.0), (1.5, 0.0), (2.4, 0.01)], ALPHA2[1:], BASES, LAYERS)
    return (*np.repeat(cosines, rows[0].size, axis=1), *(np.tile(row, 400) for row in rows))


def beyond_the_critical_angle(cosines, indices):
    """Away from that angle itself, where the reflectance has a vertical tangent."""
    rows = grid(cosines, indices)
    keep = np.abs(rows[0] ** 2 - (1 - rows[1] ** 2)) > 0.01
    return tuple(column[keep] for column in rows)


@jit.inlined
def pane_transmittance(cos_theta, n, optical_depth):
    return pane_factors(cos_theta, n, optical_depth)[1]


@jit.inlined
def pane_reflectance(cos_theta, n, optical_depth):
    return pane_factors(cos_theta, n, optical_depth)[0]


PANES = grid(COSINES, [1.0, 1.33, 1.5, 2.0], [0.0, 0.01, 1.0])

CASES = [
    (relative_reflectance, grid(COSINES, INDICES)),
    (relative_reflectance, beyond_the_critical_angle(COSINES, INNER)),
    (reflectance, grid(COSINES, [1.0, 1.33], INDICES[2:])),
    (normal_reflectance, grid(INDICES)),
    (microfacet.distribution, grid(COSINES, ALPHA2)),
    (microfacet.smith, grid(COSINES, ALPHA2)),
    (microfacet.masking, grid(COSINES, COSINES, ALPHA2)),
    (microfacet.lobe, grid(COSINES, COSINES, COSINES, ALPHA2)),
    (microfacet.lobe_monostatic, grid(COSINES, ALPHA2)),
    (oren_nayar_back, grid(COSINES, BASES)),
    (mirror_share, grid(COSINES, ALPHA2, [1e-8, 5.6e-7, 1e-4])),
    (attenuation, grid([0.0, 1e-4, 0.1, 1.0, 10.0, 50.0])),
    (pane_transmittance, PANES),
    (pane_reflectance, PANES),
    (cos_inside, grid(COSINES, [1.0, 1.33, 1.5, 2.0])),
    (refracted_cosine, grid(COSINES, [1 / 1.5, 1 / 1.33, 1.0])),
    (retro, grid(COSINES, [200.0], [0.0, 1.0, 2.0, 3.5])),
    (layers.monostatic, surfaces()),
    (layers.brdf, pairs_of_directions()),
]


@pytest.mark.parametrize(("scalar", "arguments"), CASES, ids=[scalar.__name__ for scalar, _ in CASES])
def test_float32_keeps_four_digits(scalar, arguments):
    single = [np.asarray(a, np.float32) for a in arguments]
    ours = numba.vectorize()(scalar.py_func)(*single)
    assert ours.dtype == np.float32
    # The same rounded arguments in float64: what differs is the arithmetic alone
    exact = numba.vectorize()(scalar.py_func)(*(a.astype(np.float64) for a in single))
    assert np.all(np.isfinite(exact))
    np.testing.assert_allclose(ours, exact, rtol=1e-4, atol=1e-30)


PLAIN = {scalar for scalar, _ in CASES} | {
    polarized_reflectance,
    oren_nayar_brdf,
    layers.diffuse_terms,
    layers.monostatic_and_mirror,
    pane_factors,
    mirrored,
}


@pytest.mark.parametrize(
    "scalar", sorted(PLAIN, key=lambda scalar: scalar.__name__), ids=lambda scalar: scalar.__name__
)
def test_no_float64_inside(scalar):
    """One literal of Python in the text, and the kernel would compute in float64 from there on."""
    signature = (numba.float32,) * scalar.py_func.__code__.co_argcount
    scalar.from_python.compile(signature)
    code = scalar.from_python.inspect_llvm(signature)
    bodies = re.findall(r"^define[^\n]*?@([^(]+)\(.*?^}", code, flags=re.MULTILINE | re.DOTALL)
    native = [body for body in re.split(r"(?=^define )", code, flags=re.MULTILINE) if body.startswith("define")]
    native = [body for name, body in zip(bodies, native, strict=True) if "cpython" not in name and "cfunc" not in name]
    assert native
    for body in native:
        assert "double" not in body[: body.index("\n}")]


@pytest.mark.parametrize("scalar", [layers.brdf, oren_nayar_brdf, microfacet.lobe])
def test_reciprocity_in_float32(scalar):
    """To rounding: the products are those of exchanged directions."""
    l, v, h, lh, dot, n, k, alpha2, *base_and_layer = (np.asarray(a, np.float32) for a in pairs_of_directions())  # noqa: E741
    compiled = numba.vectorize()(scalar.py_func)
    if scalar is layers.brdf:
        there, back = (compiled(a, b, h, lh, dot, n, k, alpha2, *base_and_layer) for a, b in ((l, v), (v, l)))
    elif scalar is microfacet.lobe:
        there, back = (compiled(a, b, h, alpha2) for a, b in ((l, v), (v, l)))
    else:
        there, back = (compiled(a, b, dot, *base_and_layer[:4]) for a, b in ((l, v), (v, l)))
    np.testing.assert_allclose(back, there, rtol=1e-6)
