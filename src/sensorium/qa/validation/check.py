"""A check: a law that the library claims, its reference, and its tolerance.

A check measures by calling the library as a user would, and returns measured and expected values; whether the two agree
is decided here, in one place for all checks. A check never decides for itself that it has passed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SpecError

Array = NDArray[np.float64]
Side = Literal["both", "at most", "at least"]


class CannotMeasureError(Exception):
    """Something that does not come with the library is missing; the check is skipped, with this reason."""


@dataclass(frozen=True)
class Axis:
    """Label of a plot's axis."""

    label: str = ""
    log: bool = False


_CASES, _UNNAMED = Axis("case"), Axis()


class Comparison:
    """Measured and expected values at any number of places, and the way to plot them."""

    def __init__(
        self,
        found: ArrayLike,
        expected: ArrayLike,
        *,
        at: ArrayLike | None = None,
        x: Axis = _CASES,
        y: Axis = _UNNAMED,
        note: str = "",
    ) -> None:
        """Put both side by side.

        Args:
            found: Values of the library.
            expected: Values of the law; broadcast to the shape of `found`.
            at: Where along the plot's x axis; by default places are numbered.
            x, y: The plot's axes.
            note: A further line for the page: counts, outliers.
        """
        values: Array = np.atleast_1d(np.asarray(found, np.float64))
        self.found: Array = values.ravel()
        self.expected: Array = np.broadcast_to(np.asarray(expected, np.float64), values.shape).ravel().copy()
        places = np.arange(1.0, values.size + 1).reshape(values.shape) if at is None else np.asarray(at, np.float64)
        self.at: Array = np.broadcast_to(places, values.shape).ravel().copy()
        self.numbered = at is None
        self.x, self.y, self.note = x, y, note
        if not self.found.size:
            raise SpecError("a check compared nothing; it must find at least one value")


@dataclass(frozen=True)
class Tolerance:
    """Allowed difference between found and expected: absolute + relative x abs(expected)."""

    absolute: float = 0.0
    relative: float = 0.0
    side: Side = "both"

    def excess(self, comparison: Comparison) -> Array:
        """Difference of each value, as a share of the allowed one; more than 1 fails, NaN never passes."""
        off = comparison.found - comparison.expected
        if self.side == "both":
            off = np.abs(off)
        elif self.side == "at least":
            off = -off
        allowed = self.absolute + self.relative * np.abs(comparison.expected)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(off <= 0.0, 0.0, off / allowed)
        return np.where(np.isnan(off), np.inf, share)

    def __str__(self) -> str:
        """Words of one line."""
        parts = []
        if self.absolute:
            parts.append(f"{self.absolute:.3g}")
        if self.relative:
            parts.append(f"{100 * self.relative:.3g} %")
        allowed = " + ".join(parts)
        if self.side == "both":
            return f"± {allowed}" if allowed else "equal"
        return f"{self.side} the reference" + (f" + {allowed}" if allowed else "")


@dataclass(frozen=True)
class Check:
    """One law, and how it is measured."""

    name: str
    family: str
    claim: str
    reference: str
    tolerance: Tolerance
    measure: Callable[[bool], Comparison]
    """Takes whether to be quick."""
    needs: tuple[str, ...] = ()
    """Packages that an independent engine comes in; without them the check is skipped."""


@dataclass
class Family:
    """Checks of one part of the library, in the order of the page."""

    title: str
    checks: list[Check] = field(default_factory=list)

    def check(
        self,
        name: str,
        claim: str,
        *,
        reference: str,
        absolute: float = 0.0,
        relative: float = 0.0,
        side: Side = "both",
        needs: tuple[str, ...] = (),
    ) -> Callable[[Callable[[bool], Comparison]], Callable[[bool], Comparison]]:
        """Make a check of the function below, which takes whether to be quick.

        Args:
            name: Words with hyphens.
            claim: The law, in a sentence.
            reference: Source of the law.
            absolute, relative, side: How far off it may be, see `Tolerance`.
            needs: Packages without which it cannot be measured.
        """

        def register(measure: Callable[[bool], Comparison]) -> Callable[[bool], Comparison]:
            tolerance = Tolerance(absolute, relative, side)
            self.checks.append(Check(name, self.title, claim, reference, tolerance, measure, needs))
            return measure

        return register


Verdict = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True)
class Result:
    """Result of a check."""

    check: Check
    verdict: Verdict
    seconds: float
    comparison: Comparison | None = None
    reason: str = ""
    """Why it was skipped, or the error that ended it."""

    def worst(self) -> dict[str, Any]:
        """The largest difference, as a share of the allowed one."""
        assert self.comparison is not None
        excess = self.check.tolerance.excess(self.comparison)
        off = self.comparison.found - self.comparison.expected
        nearest = {"both": np.abs(off), "at most": off, "at least": -off}[self.check.tolerance.side]
        i = int(np.lexsort((nearest, excess))[-1])
        found, expected = float(self.comparison.found[i]), float(self.comparison.expected[i])
        return {"found": found, "expected": expected, "share": float(excess[i]), "at": float(self.comparison.at[i])}
