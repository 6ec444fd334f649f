"""Bounded walk: a random walk that never, or rarely, exceeds a bound."""

import math
from typing import Literal

import numpy as np
from pydantic import model_validator

from sensorium.core.clock import NS_PER_S
from sensorium.core.errors import SpecError
from sensorium.corruption.engine import op
from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.draws import fill_normals
from sensorium.corruption.engine.op import Float, Int, Op, operation
from sensorium.corruption.engine.parameters import PerChannel, not_negative, positive
from sensorium.random import normal_quantile
from sensorium.runtime import jit

BOUNDED_WALK = 10

_OU, _REFLECT, _TRUNCATE, _CLAMP, _EXP_PULL = range(5)
_METHODS = {"ou": _OU, "reflect": _REFLECT, "truncate": _TRUNCATE, "clamp": _CLAMP, "exp_pull": _EXP_PULL}

# Methods that may pass their bound, which is called another name
_SOFT = ("ou", "exp_pull")

Method = Literal["ou", "reflect", "truncate", "clamp", "exp_pull"]
"""Method that keeps a walk near zero."""

_SQRT_HALF = math.sqrt(0.5)

# Deviations beyond which no normal number of the kernel's falls
_FAR = 6.7

# Steps of this many bounds are level within them up to 1e-6, and their quantiles lose digits
_WIDE = 1e3


class BoundedWalk(Corruption):
    """w' = w + s n, kept within +-b or near it; x' = x + w. n is normal, s = K sqrt(dt), and w begins at 0.

    With `bound` no sample is beyond b. With `soft_bound` b is a scale that some samples exceed.

    | method | rule | law after a long time |
    |---|---|---|
    | `truncate` | the step's law is cut where it leaves the bound | lower at the ends: s = 0.5 b has std 0.531 b |
    | `reflect` | a step over the bound is mirrored at it | uniform, std 0.577 b |
    | `clamp` | what leaves the bound is set on it | some of it at +-b: s = 0.1 b has 6.7 % there and std 0.609 b |
    | `ou`, soft | w' = phi w + sigma sqrt(1 - phi^2) n with b = 3 sigma | normal, std b / 3; 0.27 % beyond b |
    | `exp_pull`, soft | w' = w + s n - 3 s sgn(w) exp(-2 c^3), c = (2 b - abs(w)) / abs(w) | s = b / 30: std 0.556 b |

    Basilisk's memo asks for `truncate` (R3). `clamp` is what Basilisk does since December 2024, `exp_pull` what it did
    at the memo's time; that passes b by 10 to 20 % for s = b / 30, and kicks by -3 exp(-2) s at w = 0, left out here
    (physics.md E-32). All are the random walk of K until b has an effect: `ou` has tau = 2 sigma^2 / K^2. Other than
    with Basilisk, steps grow with the time since the sample before (E-32).
    """

    kind: Literal["bounded_walk"] = "bounded_walk"
    bound: PerChannel | None = None
    """b [unit], the same on both sides of zero, which the walk never exceeds."""
    soft_bound: PerChannel | None = None
    """b [unit], instead, of a walk that exceeds it at times."""
    density: PerChannel | None = None
    """K [unit/sqrt(s)]."""
    step_std: PerChannel | None = None
    """Instead of K: the standard deviation s of one step at the nominal sample rate [unit]."""
    tau_s: PerChannel | None = None
    """Instead of K, for `ou`: its correlation time [s]."""
    method: Method | None = None
    """Method; None is `truncate` for a bound, and `ou` for a soft one."""

    @model_validator(mode="after")
    def _rules(self) -> "BoundedWalk":
        if (self.bound is None) == (self.soft_bound is None):
            raise ValueError(
                f"bound is {self.bound} and soft_bound is {self.soft_bound}; exactly one of them must be given"
            )
        name = "bound" if self.soft_bound is None else "soft_bound"
        positive(name, getattr(self, name))
        check_method(name, getattr(self, name), "method", self.method)
        given = [name for name in ("density", "step_std", "tau_s") if getattr(self, name) is not None]
        if len(given) != 1:
            these = " and ".join(given) or "nothing"
            raise ValueError(f"{these} is given; exactly one of density, step_std and tau_s must be")
        if self.tau_s is not None and self._method != "ou":
            raise ValueError(f"tau_s is given with method {self._method!r}; only 'ou' has a correlation time")
        if self.tau_s is not None:
            positive("tau_s", self.tau_s)
        else:
            not_negative(given[0], getattr(self, given[0]))
        return self

    @property
    def _method(self) -> Method:
        return self.method or ("truncate" if self.soft_bound is None else "ou")

    def operations(self, layout: Layout) -> list[Op]:
        """One step of the walk a sample."""
        bound = self.each("bound" if self.soft_bound is None else "soft_bound", layout.width)
        pull = np.zeros(layout.width)
        if self.tau_s is not None:
            tau_s = self.each("tau_s", layout.width)
            density = bound / 3.0 * np.sqrt(2.0 / tau_s)
        else:
            density = self._density(layout)
        if self._method == "exp_pull":
            pull = 3.0 * density / math.sqrt(layout.needed_period_s("a walk of method 'exp_pull'"))
        parameters = np.stack([bound, density, pull])
        return [Op(BOUNDED_WALK, parameters, options=(_METHODS[self._method],), slots=1)]

    def _density(self, layout: Layout) -> Float:
        """K [unit/sqrt(s)], shape (width,)."""
        if self.density is not None:
            return self.each("density", layout.width)
        assert self.step_std is not None
        period_s = layout.needed_period_s("a walk given by step_std")
        return self.each("step_std", layout.width) / math.sqrt(period_s)


def check_method(name: str, value: object, method_name: str, method: Method | None) -> None:
    """Raise if a bound and a method do not fit."""
    if method is not None and (method in _SOFT) != name.endswith("soft_bound"):
        rule = "passes its bound, give soft_bound" if method in _SOFT else "never passes its bound, give bound"
        raise SpecError(f"{name} is {value} and {method_name} is {method!r}; that method {rule}")


@operation(BOUNDED_WALK)
@jit.function
def bounded_walk(
    ops: Int, o: int, par: Float, x: Float, state: Float, ids: Int, clock: Int, t: int, first: int, last: int
) -> None:
    """One step of the walk, by its method; x += w."""
    column, width, p, s = ops[o, op.COLUMN], ops[o, op.WIDTH], ops[o, op.PARAMETERS], ops[o, op.STATE]
    method, dt_s = ops[o, op.OPTION], clock[t, op.ELAPSED_NS] / NS_PER_S
    n = np.empty((4, last - first), np.float32)
    for begin in range(0, width, 4):
        fill_normals(ops, o, clock, t, ids, first, last, begin // 4, 0, n)
        for k in range(min(4, width - begin)):
            i = begin + k
            bound, density, pull = par[p + i], par[p + width + i], par[p + 2 * width + i] * dt_s
            step = density * math.sqrt(dt_s)

            # Of `ou`, with sigma = b / 3 and tau = 2 sigma^2 / K^2
            phi, kick = 1.0, step
            if method == _OU:
                steps = 4.5 * (step / bound) ** 2
                phi, kick = math.exp(-steps), bound / 3.0 * math.sqrt(-math.expm1(-2.0 * steps))
            for row in range(first, last):
                w, z = state[row, s + i], np.float64(n[k, row - first])
                if method == _OU:
                    w = phi * w + kick * z
                elif method == _REFLECT:
                    w = reflected(w + step * z, bound)
                elif method == _TRUNCATE:
                    w = truncated(w, step, z, bound)
                elif method == _CLAMP:
                    w = min(max(w + step * z, -bound), bound)
                else:
                    w += step * z - pull * pulled(w, bound)
                state[row, s + i] = w
                x[row, column + i] += w


@jit.function
def reflected(w: float, bound: float) -> float:
    """W mirrored at +-bound as often as needed."""
    y = w + bound
    y -= 4.0 * bound * math.floor(y / (4.0 * bound))
    return min(y, 4.0 * bound - y) - bound


@jit.function
def truncated(w: float, step: float, z: float, bound: float) -> float:
    """W + step z', z' normal but cut to what stays within the bound, and the same quantile of its law as z of its."""
    # Where the bound is far, z' = z up to 1e-11; where the step's law is level within it, that is all there is
    if bound - abs(w) >= _FAR * step:
        return w + step * z
    u = 0.5 * math.erfc(-z * _SQRT_HALF)
    if step > _WIDE * bound:
        return (2.0 * u - 1.0) * bound
    low = 0.5 * math.erfc((bound + w) / step * _SQRT_HALF)
    high = 0.5 * math.erfc((w - bound) / step * _SQRT_HALF)
    return min(max(w + step * normal_quantile(low + u * (high - low)), -bound), bound)


@jit.function
def pulled(w: float, bound: float) -> float:
    """Sgn(w) exp(-2 c^3), c = (2 b - |w|) / |w| but not below 0; 0 at w = 0, which is the limit."""
    if w == 0.0:
        return 0.0
    c = max(2.0 * bound / abs(w) - 1.0, 0.0)
    return math.copysign(math.exp(-2.0 * c * c * c), w)
