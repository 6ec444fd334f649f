"""Loops that fill arrays of shape (worlds, elements), called by `Stream`; fused kernels draw in the same way."""

from typing import Any

import numpy as np
import numpy.typing as npt

from sensorium.random.philox import draw_words
from sensorium.random.quantiles import gamma_quantile, poisson_quantile
from sensorium.random.transforms import (
    exponential_f32,
    exponential_f64,
    normal_pair_f32,
    normal_pair_f64,
    uniform_f32,
    uniform_f64,
)
from sensorium.runtime import jit

Out = npt.NDArray[Any]
Parameters = npt.NDArray[np.float64]


@jit.kernel
def fill_uniform_f32(
    out: Out, k0: np.uint32, k1: np.uint32, element: int, stage: int, draw: int, tick: int, world: int
) -> None:
    """Uniform numbers; element and world are those of out[0, 0]."""
    for w in range(out.shape[0]):
        for e in range(out.shape[1]):
            w0, _, _, _ = draw_words(k0, k1, element + e, stage, draw, tick, world + w)
            out[w, e] = uniform_f32(w0)


@jit.kernel
def fill_uniform_f64(
    out: Out, k0: np.uint32, k1: np.uint32, element: int, stage: int, draw: int, tick: int, world: int
) -> None:
    """Uniform numbers in double precision."""
    for w in range(out.shape[0]):
        for e in range(out.shape[1]):
            w0, w1, _, _ = draw_words(k0, k1, element + e, stage, draw, tick, world + w)
            out[w, e] = uniform_f64(w0, w1)


@jit.kernel
def fill_normal_f32(
    out: Out, k0: np.uint32, k1: np.uint32, element: int, stage: int, draw: int, tick: int, world: int
) -> None:
    """Standard normal numbers."""
    for w in range(out.shape[0]):
        for e in range(out.shape[1]):
            w0, w1, _, _ = draw_words(k0, k1, element + e, stage, draw, tick, world + w)
            out[w, e], _ = normal_pair_f32(w0, w1)


@jit.kernel
def fill_normal_f64(
    out: Out, k0: np.uint32, k1: np.uint32, element: int, stage: int, draw: int, tick: int, world: int
) -> None:
    """Standard normal numbers in double precision."""
    for w in range(out.shape[0]):
        for e in range(out.shape[1]):
            w0, w1, w2, w3 = draw_words(k0, k1, element + e, stage, draw, tick, world + w)
            out[w, e], _ = normal_pair_f64(w0, w1, w2, w3)


@jit.kernel
def fill_normal_pair_f32(
    a: Out, b: Out, k0: np.uint32, k1: np.uint32, element: int, stage: int, draw: int, tick: int, world: int
) -> None:
    """Two independent standard normal numbers an element."""
    for w in range(a.shape[0]):
        for e in range(a.shape[1]):
            w0, w1, _, _ = draw_words(k0, k1, element + e, stage, draw, tick, world + w)
            a[w, e], b[w, e] = normal_pair_f32(w0, w1)


@jit.kernel
def fill_normal_pair_f64(
    a: Out, b: Out, k0: np.uint32, k1: np.uint32, element: int, stage: int, draw: int, tick: int, world: int
) -> None:
    """Two independent standard normal numbers an element, in double precision."""
    for w in range(a.shape[0]):
        for e in range(a.shape[1]):
            w0, w1, w2, w3 = draw_words(k0, k1, element + e, stage, draw, tick, world + w)
            a[w, e], b[w, e] = normal_pair_f64(w0, w1, w2, w3)


@jit.kernel
def fill_exponential_f32(
    out: Out, k0: np.uint32, k1: np.uint32, element: int, stage: int, draw: int, tick: int, world: int
) -> None:
    """Exponential numbers of mean 1."""
    for w in range(out.shape[0]):
        for e in range(out.shape[1]):
            w0, _, _, _ = draw_words(k0, k1, element + e, stage, draw, tick, world + w)
            out[w, e] = exponential_f32(w0)


@jit.kernel
def fill_exponential_f64(
    out: Out, k0: np.uint32, k1: np.uint32, element: int, stage: int, draw: int, tick: int, world: int
) -> None:
    """Exponential numbers of mean 1 in double precision."""
    for w in range(out.shape[0]):
        for e in range(out.shape[1]):
            w0, w1, _, _ = draw_words(k0, k1, element + e, stage, draw, tick, world + w)
            out[w, e] = exponential_f64(w0, w1)


@jit.kernel
def fill_gamma(
    out: Out,
    shape: Parameters,
    k0: np.uint32,
    k1: np.uint32,
    element: int,
    stage: int,
    draw: int,
    tick: int,
    world: int,
) -> None:
    """Gamma numbers of scale 1."""
    for w in range(out.shape[0]):
        for e in range(out.shape[1]):
            w0, w1, _, _ = draw_words(k0, k1, element + e, stage, draw, tick, world + w)
            out[w, e] = gamma_quantile(uniform_f64(w0, w1), shape[w, e])


@jit.kernel
def fill_poisson(
    out: Out,
    mean: Parameters,
    k0: np.uint32,
    k1: np.uint32,
    element: int,
    stage: int,
    draw: int,
    tick: int,
    world: int,
) -> None:
    """Poisson numbers."""
    for w in range(out.shape[0]):
        for e in range(out.shape[1]):
            w0, w1, _, _ = draw_words(k0, k1, element + e, stage, draw, tick, world + w)
            out[w, e] = poisson_quantile(uniform_f64(w0, w1), mean[w, e])
