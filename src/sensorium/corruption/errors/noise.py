"""Noise: bias, walks and white noise of a signal, as one object with plain fields."""

from typing import Any, Literal

from pydantic import Field, model_validator

from sensorium.core.errors import SpecError
from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.op import Op
from sensorium.corruption.engine.parameters import PerChannel, not_negative, positive
from sensorium.corruption.errors.bias import Bias
from sensorium.corruption.errors.bounded_walk import BoundedWalk, Method, check_method
from sensorium.corruption.errors.flicker import BiasInstability
from sensorium.corruption.errors.gauss_markov import GaussMarkov
from sensorium.corruption.errors.random_walk import RandomWalk
from sensorium.corruption.errors.white import White

_NEEDS = (
    ("bound", "walk"),
    ("soft_bound", "walk"),
    ("gauss_markov_std", "gauss_markov_tau_s"),
    ("gauss_markov_tau_s", "gauss_markov_std"),
    ("bandwidth_hz", "density"),
)

# Fields that say what others mean: what they are by default, and of which others one must be there
_MEANINGS: tuple[tuple[str, object, tuple[str, ...]], ...] = (
    ("sided", "one", ("density",)),
    ("type", "normal", ("std", "density")),
    ("bound_method", None, ("bound", "soft_bound")),
    ("instability_tau_min_s", 1.0, ("instability",)),
    ("instability_tau_max_s", 1e4, ("instability",)),
)

# Fields with one number for all channels or one for each; parts have other names for them
_EACH = (
    *("std", "density", "bias", "bias_std", "walk", "bound", "soft_bound"),
    *("gauss_markov_std", "gauss_markov_tau_s", "instability"),
)


class Noise(Corruption):
    """x' = x + bias + walk + Gauss-Markov + flicker + white: the error models of Basilisk's memo (R4 to R9).

    `imu.linear.noise.std = (0.1, 0.1, 0.2)`: standard deviations are given, no matrices, and no factor of 1.5 (E-29).
    Every part has a model of its own, named with its field; parts that are not given are absent. Fields may be set one
    after the other; whether they belong together is checked when the noise is put to work.

    >>> noise = sn.corruption.Noise(std=0.1, bias=1.0)
    >>> state = noise.init((100_000,), seed=3)
    >>> noisy, state = noise.apply(np.zeros(100_000), time_ns=0, state=state)
    >>> noisy.mean().round(2).item(), noisy.std().round(2).item()
    (1.0, 0.1)
    """

    kind: Literal["noise"] = "noise"
    std: PerChannel | None = None
    """White noise: standard deviation of a sample [unit]. `White`."""
    density: PerChannel | None = None
    """White noise: spectral density N [unit/sqrt(Hz)], instead."""
    sided: Literal["one", "two"] = "one"
    """Which density it is: of a data sheet, or IEEE 952's, that of an Allan plot."""
    bandwidth_hz: float | None = Field(default=None, gt=0.0)
    """Equivalent noise bandwidth of a filter of one pole that noise of this density has passed [Hz]: the density is as
    stated below the filter's corner, and samples depend on each other. None is half the sample rate."""
    type: Literal["normal", "uniform", "laplace"] = "normal"
    """Law of the white noise."""
    bias: PerChannel = 0.0
    """Known bias [unit]. `Bias`."""
    bias_std: PerChannel = 0.0
    """Standard deviation of the bias drawn for each episode [unit]."""
    walk: PerChannel | None = None
    """Random walk: K [unit/sqrt(s)]. `RandomWalk`."""
    bound: PerChannel | None = None
    """Bound that the walk never exceeds [unit]. `BoundedWalk`."""
    soft_bound: PerChannel | None = None
    """Instead, a scale that the walk exceeds at times [unit]."""
    bound_method: Method | None = None
    """Method that keeps the walk near its bound; None is `truncate`, or `ou` with a soft one."""
    gauss_markov_std: PerChannel | None = None
    """Gauss-Markov process: standard deviation [unit]. `GaussMarkov`."""
    gauss_markov_tau_s: PerChannel | None = None
    """Gauss-Markov process: correlation time [s]."""
    instability: PerChannel | None = None
    """Bias instability: B of IEEE 952 [unit], the level of an Allan plot over 0.664. `BiasInstability`."""
    instability_tau_min_s: float = 1.0
    """Shortest averaging time at which the Allan plot is flat [s]."""
    instability_tau_max_s: float = 1e4
    """Longest averaging time at which the Allan plot is flat [s]."""

    @model_validator(mode="after")
    def _rules(self) -> "Noise":
        if self.std is not None and self.density is not None:
            raise ValueError(f"std is {self.std} and density is {self.density}; only one of them can be given")
        for name in ("std", "density", "bias_std", "walk", "gauss_markov_std", "instability"):
            if getattr(self, name) is not None:
                not_negative(name, getattr(self, name))
        if self.bound is not None and self.soft_bound is not None:
            raise ValueError(
                f"bound is {self.bound} and soft_bound is {self.soft_bound}; only one of them can be given"
            )
        for name in ("bound", "soft_bound", "gauss_markov_tau_s"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name))
        return self

    def parts(self) -> tuple[Corruption, ...]:
        """Its parts, in order: bias, walks, white noise; those that are not set are off."""
        self._check()
        density = self.density is not None
        bounded = self.bound is not None or self.soft_bound is not None
        meaning: dict[str, Any] = {"sided": self.sided, "bandwidth_hz": self.bandwidth_hz} if density else {}
        return (
            Bias(self.bias, std=self.bias_std),
            RandomWalk(density=self.walk or 0.0, on=self.walk is not None and not bounded),
            BoundedWalk(
                density=self.walk or 0.0,
                bound=self.bound if bounded else 1.0,
                soft_bound=self.soft_bound,
                method=self.bound_method if bounded else None,
                on=bounded,
            ),
            GaussMarkov(
                std=self.gauss_markov_std or 0.0,
                tau_s=self.gauss_markov_tau_s or 1.0,
                on=self.gauss_markov_std is not None,
            ),
            BiasInstability(
                instability=self.instability or 0.0,
                tau_min_s=self.instability_tau_min_s,
                tau_max_s=self.instability_tau_max_s,
                on=self.instability is not None,
            ),
            White(
                std=None if density else self.std or 0.0,
                density=self.density,
                law=self.type,
                on=density or self.std is not None,
                **meaning,
            ),
        )

    def operations(self, layout: Layout) -> list[Op]:
        """Operations of its parts; a missing part keeps its place, so that adding it does not change the rest."""
        for name in _EACH:
            if getattr(self, name) is not None:
                self.each(name, layout.width)
        return [op for part in self.parts() for op in part.switched(layout)]

    def _check(self) -> None:
        """Raise if one field is given without another that it needs."""
        for name, needed in _NEEDS:
            if getattr(self, name) is not None and getattr(self, needed) is None:
                raise SpecError(f"Noise.{name} is {getattr(self, name)} without {needed}; that must be given too")
        for name, usual, owners in _MEANINGS:
            value = getattr(self, name)
            if value != usual and all(getattr(self, owner) is None for owner in owners):
                raise SpecError(f"Noise.{name} is {value!r} without {' or '.join(owners)}; that must be given too")
        for name in ("bound", "soft_bound"):
            if getattr(self, name) is not None:
                check_method(f"Noise.{name}", getattr(self, name), "bound_method", self.bound_method)
