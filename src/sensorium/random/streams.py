"""Named streams of random numbers: a value depends only on (seed, name, element, stage, draw, tick, world).

Streams are never advanced, so the order of calls, the number of threads, the split of a batch and other sensors cannot
change a value. A stage is one error source of a sensor; a draw numbers the values of a stage at one tick.
"""

import hashlib
import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from sensorium.core.errors import SpecError
from sensorium.random import kernels
from sensorium.random.philox import MAX_DRAWS, MAX_ELEMENTS, MAX_STAGES, MAX_TICKS, MAX_WORLDS

_SMALLEST_SHAPE = 0.05
_LARGEST_PARAMETER = 1e12

Values = npt.NDArray[Any]


def stream_key(seed: int, name: str) -> tuple[np.uint32, np.uint32]:
    """The Philox key of a stream: 64 bits of BLAKE2b over seed and name, equal on every machine.

    Args:
        seed: Any integer, of any size and sign; there is no default.
        name: Name of the consumer, such as a sensor; not empty.
    """
    if isinstance(seed, bool | np.bool_) or not hasattr(seed, "__index__"):
        raise SpecError(f"seed is {seed!r}; it must be an integer, since random numbers have no default seed")
    if not isinstance(name, str) or not name:
        raise SpecError(f"stream name is {name!r}; it must be a string that is not empty")
    digest = hashlib.blake2b(f"{operator.index(seed)}\0{name}".encode(), digest_size=8).digest()
    return np.uint32(int.from_bytes(digest[:4], "little")), np.uint32(int.from_bytes(digest[4:], "little"))


class Stream:
    """Random arrays of one seed and name, shape (worlds, elements); it has no state but its key.

    Every method takes `stage` and `draw` (below 2^16) and `tick` (below 2^40), and returns one value for each of
    `elements` elements from `first_element` (below 2^32) in each of `worlds` worlds from `first_world` (below 2^24).
    Different methods at one (stage, draw, tick) use the same words: give each quantity its own draw or stage. Fused
    kernels take `key`.
    """

    def __init__(self, seed: int, name: str) -> None:
        """See `stream_key`."""
        self.key = stream_key(seed, name)
        self.seed = operator.index(seed)
        self.name = name

    def __repr__(self) -> str:
        return f"Stream(seed={self.seed}, name={self.name!r})"

    def uniform(
        self,
        stage: int,
        draw: int,
        tick: int,
        *,
        elements: int,
        worlds: int = 1,
        first_element: int = 0,
        first_world: int = 0,
        dtype: npt.DTypeLike = np.float64,
    ) -> Values:
        """Uniform numbers in the open interval (0, 1), float64 or float32."""
        start = self._start(stage, draw, tick, elements, worlds, first_element, first_world)
        out = np.zeros((worlds, elements), _float_type(dtype))
        fill = kernels.fill_uniform_f32 if out.dtype == np.float32 else kernels.fill_uniform_f64
        fill(out, start)
        return out

    def normal(
        self,
        stage: int,
        draw: int,
        tick: int,
        *,
        elements: int,
        worlds: int = 1,
        first_element: int = 0,
        first_world: int = 0,
        dtype: npt.DTypeLike = np.float64,
    ) -> Values:
        """Standard normal numbers, float64 or float32: the first array of `normal_pair`."""
        start = self._start(stage, draw, tick, elements, worlds, first_element, first_world)
        out = np.zeros((worlds, elements), _float_type(dtype))
        fill = kernels.fill_normal_f32 if out.dtype == np.float32 else kernels.fill_normal_f64
        fill(out, start)
        return out

    def normal_pair(
        self,
        stage: int,
        draw: int,
        tick: int,
        *,
        elements: int,
        worlds: int = 1,
        first_element: int = 0,
        first_world: int = 0,
        dtype: npt.DTypeLike = np.float64,
    ) -> tuple[Values, Values]:
        """Two independent arrays of standard normal numbers for little more than the price of one."""
        start = self._start(stage, draw, tick, elements, worlds, first_element, first_world)
        out = np.zeros((2, worlds, elements), _float_type(dtype))
        fill = kernels.fill_normal_pair_f32 if out.dtype == np.float32 else kernels.fill_normal_pair_f64
        fill(out[0], out[1], start)
        return out[0], out[1]

    def exponential(
        self,
        stage: int,
        draw: int,
        tick: int,
        *,
        elements: int,
        worlds: int = 1,
        first_element: int = 0,
        first_world: int = 0,
        dtype: npt.DTypeLike = np.float64,
    ) -> Values:
        """Exponential numbers of mean 1, float64 or float32."""
        start = self._start(stage, draw, tick, elements, worlds, first_element, first_world)
        out = np.zeros((worlds, elements), _float_type(dtype))
        fill = kernels.fill_exponential_f32 if out.dtype == np.float32 else kernels.fill_exponential_f64
        fill(out, start)
        return out

    def gamma(
        self,
        stage: int,
        draw: int,
        tick: int,
        *,
        shape: npt.ArrayLike,
        scale: npt.ArrayLike = 1.0,
        elements: int,
        worlds: int = 1,
        first_element: int = 0,
        first_world: int = 0,
    ) -> npt.NDArray[np.float64]:
        """Gamma numbers of mean shape * scale, in the unit of scale.

        The shape is from 0.05 to 1e12 [1] and the scale positive; both broadcast to (worlds, elements).
        """
        start = self._start(stage, draw, tick, elements, worlds, first_element, first_world)
        shapes = _parameter("shape", shape, (worlds, elements), at_least=_SMALLEST_SHAPE)
        scales = _parameter("scale", scale, (worlds, elements), at_least=np.finfo(np.float64).tiny)
        out = np.zeros((worlds, elements))
        kernels.fill_gamma(out, shapes, start)
        return out * scales

    def poisson(
        self,
        stage: int,
        draw: int,
        tick: int,
        *,
        mean: npt.ArrayLike,
        elements: int,
        worlds: int = 1,
        first_element: int = 0,
        first_world: int = 0,
    ) -> npt.NDArray[np.int64]:
        """Poisson numbers of the given mean, from 0 to 1e12; the mean broadcasts to (worlds, elements)."""
        start = self._start(stage, draw, tick, elements, worlds, first_element, first_world)
        means = _parameter("mean", mean, (worlds, elements), at_least=0.0)
        out = np.zeros((worlds, elements), np.int64)
        kernels.fill_poisson(out, means, start)
        return out

    def _start(
        self, stage: int, draw: int, tick: int, elements: int, worlds: int, first_element: int, first_world: int
    ) -> kernels.Start:
        """Check that every field fits its place in the counter; the key and the counter of an array's first number."""
        start = _field("first_element", first_element, MAX_ELEMENTS - 1)
        _field("elements", elements, MAX_ELEMENTS - start)
        world = _field("first_world", first_world, MAX_WORLDS - 1)
        _field("worlds", worlds, MAX_WORLDS - world)
        at = _field("stage", stage, MAX_STAGES - 1), _field("draw", draw, MAX_DRAWS - 1)
        return (*self.key, start, *at, _field("tick", tick, MAX_TICKS - 1), world)


def _field(name: str, value: int, limit: int) -> int:
    """An integer from 0 to limit."""
    if isinstance(value, bool | np.bool_) or not hasattr(value, "__index__") or not 0 <= value <= limit:
        raise SpecError(f"{name} is {value!r}; it must be an integer from 0 to {limit}")
    return operator.index(value)


def _float_type(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """The two types that transforms exist for."""
    if dtype is None or np.dtype(dtype) not in (np.float32, np.float64):
        raise SpecError(f"dtype is {dtype}; it must be float32 or float64")
    return np.dtype(dtype)


def _parameter(name: str, value: npt.ArrayLike, shape: tuple[int, int], *, at_least: float) -> npt.NDArray[np.float64]:
    """A law's parameter as an array of the wanted shape, checked."""
    array = np.asarray(value, np.float64)
    wrong = ~((array >= at_least) & (array <= _LARGEST_PARAMETER))
    if wrong.any():
        value = array[wrong].flat[0]
        raise SpecError(f"{name} is {value}; it must be from {at_least:g} to {_LARGEST_PARAMETER:g}")
    try:
        return np.array(np.broadcast_to(array, shape), order="C")
    except ValueError:
        rule = f"it must broadcast to (worlds, elements) = {shape}"
        raise SpecError(f"{name} has shape {array.shape}; {rule}") from None
