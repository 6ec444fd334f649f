"""Bounded walk: an error that wanders, but not beyond a bound."""

import math
from typing import Literal

import numpy as np
from pydantic import model_validator

from sensorium import jit
from sensorium.clock import NS_PER_S
from sensorium.corruption.base import Corruption, Layout
from sensorium.corruption.draws import fill_normals
from sensorium.corruption.op import BOUNDED_WALK, COLUMN, ELAPSED_NS, OPTION, PARAMETERS, STATE, WIDTH, Float, Op
from sensorium.corruption.parameters import PerChannel, not_negative, per_channel, positive
from sensorium.random import normal_quantile

_OU, _REFLECT, _TRUNCATE, _CLAMP, _EXP_PULL = range(5)
_METHODS = {"ou": _OU, "reflect": _REFLECT, "truncate": _TRUNCATE, "clamp": _CLAMP, "exp_pull": _EXP_PULL}

_SQRT_HALF = math.sqrt(0.5)

# Deviations beyond which no normal number of the kernel's falls
_FAR = 6.7

# Steps of this many bounds are level within them up to 1e-6, and their quantiles lose digits
_WIDE = 1e3


class BoundedWalk(Corruption):
    """w' = w + s n, kept near or within +-b; x' = x + w. n is normal, s = K sqrt(dt), and w begins at 0.

    | method | rule | law after a long time |
    |---|---|---|
    | `ou` | w' = phi w + sigma sqrt(1 - phi^2) n with b = 3 sigma | normal, std b / 3; beyond the bound 0.27 % |
    | `reflect` | a step over the bound is mirrored at it | uniform, std 0.577 b |
    | `truncate` | the step's law is cut where it leaves the bound | lower at the ends: s = 0.5 b has std 0.531 b |
    | `clamp` | what leaves the bound is set on it | some of it at +-b: s = 0.1 b has 6.7 % there and std 0.609 b |
    | `exp_pull` | w' = w + s n - P sgn(w) exp(-2 c^3), c = (2 b - abs(w)) / abs(w), P = 3 s | s = b / 30: std 0.556 b |

    Basilisk's memo asks for `truncate` (R3). `clamp` is what Basilisk does since December 2024, `exp_pull` what it did
    at the memo's time; that passes its bound, by 10 to 20 % for s = b / 30, and kicks by -exp(-2) P at w = 0, which is
    left out here (physics.md E-32). All are the random walk of K until the bound is felt: `ou` has
    tau = 2 sigma^2 / K^2. Other than with Basilisk, steps grow with the time since the sample before (E-32).
    """

    kind: Literal["bounded_walk"] = "bounded_walk"
    bound: PerChannel
    """b [unit], the same on both sides of zero."""
    density: PerChannel | None = None
    """K [unit/sqrt(s)]."""
    step_std: PerChannel | None = None
    """Instead of K: the standard deviation s of one step at the nominal sample rate [unit]."""
    tau_s: PerChannel | None = None
    """Instead of K, for `ou`: its correlation time [s]."""
    method: Literal["ou", "reflect", "truncate", "clamp", "exp_pull"] = "ou"
    """What keeps it near."""

    @model_validator(mode="after")
    def _rules(self) -> "BoundedWalk":
        positive("bound", self.bound)
        given = [name for name in ("density", "step_std", "tau_s") if getattr(self, name) is not None]
        if len(given) != 1:
            these = " and ".join(given) or "nothing"
            raise ValueError(f"{these} is given; exactly one of density, step_std and tau_s must be")
        if self.tau_s is not None and self.method != "ou":
            raise ValueError(f"tau_s is given with method {self.method!r}; only 'ou' has a correlation time")
        if self.tau_s is not None:
            positive("tau_s", self.tau_s)
        else:
            not_negative(given[0], getattr(self, given[0]))
        return self

    def operations(self, layout: Layout) -> list[Op]:
        """One step of the walk a sample."""
        bound = per_channel("bound", self.bound, layout.width)
        pull = np.zeros(layout.width)
        if self.tau_s is not None:
            tau_s = per_channel("tau_s", self.tau_s, layout.width)
            density = bound / 3.0 * np.sqrt(2.0 / tau_s)
        else:
            density = self._density(layout)
        if self.method == "exp_pull":
            pull = 3.0 * density / math.sqrt(layout.needed_period_s("a walk of method 'exp_pull'"))
        parameters = np.stack([bound, density, pull])
        return [Op(BOUNDED_WALK, parameters, options=(_METHODS[self.method],), slots=1)]

    def _density(self, layout: Layout) -> Float:
        """K [unit/sqrt(s)], shape (width,)."""
        if self.density is not None:
            return per_channel("density", self.density, layout.width)
        assert self.step_std is not None
        period_s = layout.needed_period_s("a walk given by step_std")
        return per_channel("step_std", self.step_std, layout.width) / math.sqrt(period_s)


@jit.function
def bounded_walk(ops, o, par, x, state, ids, clock, t, first, last):
    """One step of the walk, by its method; x += w."""
    column, width, p, s = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS], ops[o, STATE]
    method, dt_s = ops[o, OPTION], clock[t, ELAPSED_NS] / NS_PER_S
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
def reflected(w, bound):
    """W mirrored at +-bound as often as need be."""
    y = w + bound
    y -= 4.0 * bound * math.floor(y / (4.0 * bound))
    return min(y, 4.0 * bound - y) - bound


@jit.function
def truncated(w, step, z, bound):
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
def pulled(w, bound):
    """Sgn(w) exp(-2 c^3), c = (2 b - |w|) / |w| but not below 0; 0 at w = 0, which is the limit."""
    if w == 0.0:
        return 0.0
    c = max(2.0 * bound / abs(w) - 1.0, 0.0)
    return math.copysign(math.exp(-2.0 * c * c * c), w)
