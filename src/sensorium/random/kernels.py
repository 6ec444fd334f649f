"""Loops that fill arrays of shape (worlds, elements), called by `Stream`; fused kernels draw in the same way."""

from typing import Any

import numpy as np
import numpy.typing as npt

from sensorium.random import transforms
from sensorium.random.philox import draw_words
from sensorium.random.quantiles import gamma_quantile, poisson_quantile
from sensorium.random.transforms import uniform_f64
from sensorium.runtime import jit

Out = npt.NDArray[Any]
Parameters = npt.NDArray[np.float64]
Start = tuple[np.uint32, np.uint32, int, int, int, int, int]
"""Both words of the key, then element, stage, draw, tick and world of the first number of an array."""


@jit.inlined
def words_at(start: Start, world: int, element: int) -> tuple[np.uint32, np.uint32, np.uint32, np.uint32]:
    """The words of one number of an array, by its place there."""
    k0, k1, first, stage, draw, tick, first_world = start
    return draw_words(k0, k1, first + element, stage, draw, tick, first_world + world)


@jit.kernel
def fill_uniform_f32(out: Out, start: Start) -> None:
    """Uniform numbers."""
    for w in range(out.shape[0]):
        for e in range(out.shape[1]):
            w0, _, _, _ = words_at(start, w, e)
            out[w, e] = transforms.uniform_f32(w0)


@jit.kernel
def fill_uniform_f64(out: Out, start: Start) -> None:
    """Uniform numbers in double precision."""
    for w in range(out.shape[0]):
        for e in range(out.shape[1]):
            w0, w1, _, _ = words_at(start, w, e)
            out[w, e] = uniform_f64(w0, w1)


@jit.kernel
def fill_normal_f32(out: Out, start: Start) -> None:
    """Standard normal numbers."""
    for w in range(out.shape[0]):
        for e in range(out.shape[1]):
            w0, w1, _, _ = words_at(start, w, e)
            out[w, e], _ = transforms.normal_pair_f32(w0, w1)


@jit.kernel
def fill_normal_f64(out: Out, start: Start) -> None:
    """Standard normal numbers in double precision."""
    for w in range(out.shape[0]):
        for e in range(out.shape[1]):
            w0, w1, w2, w3 = words_at(start, w, e)
            out[w, e], _ = transforms.normal_pair_f64(w0, w1, w2, w3)


@jit.kernel
def fill_normal_pair_f32(a: Out, b: Out, start: Start) -> None:
    """Two independent standard normal numbers an element."""
    for w in range(a.shape[0]):
        for e in range(a.shape[1]):
            w0, w1, _, _ = words_at(start, w, e)
            a[w, e], b[w, e] = transforms.normal_pair_f32(w0, w1)


@jit.kernel
def fill_normal_pair_f64(a: Out, b: Out, start: Start) -> None:
    """Two independent standard normal numbers an element, in double precision."""
    for w in range(a.shape[0]):
        for e in range(a.shape[1]):
            w0, w1, w2, w3 = words_at(start, w, e)
            a[w, e], b[w, e] = transforms.normal_pair_f64(w0, w1, w2, w3)


@jit.kernel
def fill_exponential_f32(out: Out, start: Start) -> None:
    """Exponential numbers of mean 1."""
    for w in range(out.shape[0]):
        for e in range(out.shape[1]):
            w0, _, _, _ = words_at(start, w, e)
            out[w, e] = transforms.exponential_f32(w0)


@jit.kernel
def fill_exponential_f64(out: Out, start: Start) -> None:
    """Exponential numbers of mean 1 in double precision."""
    for w in range(out.shape[0]):
        for e in range(out.shape[1]):
            w0, w1, _, _ = words_at(start, w, e)
            out[w, e] = transforms.exponential_f64(w0, w1)


@jit.kernel
def fill_gamma(out: Out, shape: Parameters, start: Start) -> None:
    """Gamma numbers of scale 1."""
    for w in range(out.shape[0]):
        for e in range(out.shape[1]):
            w0, w1, _, _ = words_at(start, w, e)
            out[w, e] = gamma_quantile(uniform_f64(w0, w1), shape[w, e])


@jit.kernel
def fill_poisson(out: Out, mean: Parameters, start: Start) -> None:
    """Poisson numbers."""
    for w in range(out.shape[0]):
        for e in range(out.shape[1]):
            w0, w1, _, _ = words_at(start, w, e)
            out[w, e] = poisson_quantile(uniform_f64(w0, w1), mean[w, e])
