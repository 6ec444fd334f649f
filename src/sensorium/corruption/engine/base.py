"""Interface of corruptions: each starts for a signal of some shape, and is applied sample by sample."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BeforeValidator, SerializeAsAny

from sensorium.core import plugins
from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec
from sensorium.corruption.engine.op import Op
from sensorium.corruption.engine.parameters import per_channel

if TYPE_CHECKING:
    from sensorium.corruption.engine.program import Program
    from sensorium.corruption.engine.state import State

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Grid:
    """Codes of a quantizer, one set per channel: origin + k lsb for whole k, from `first` to `last`; each (width,)."""

    lsb: Float
    origin: Float
    first: Float
    last: Float
    rounding: str = "round"
    """Code of a value between two codes, as in `Quantize.rounding`."""

    def value(self, k: Float) -> Float:
        """The codes of numbers k, shape (..., width); the last code, if any, is exact."""
        top = np.rint((self.last - self.origin) / self.lsb)
        return np.where(k >= top, self.last, np.maximum(self.origin + self.lsb * k, self.first))


@dataclass(frozen=True)
class Layout:
    """What a corruption may know of the signal and of the others in its chain when it becomes operations.

    Attributes:
        width: Number of channels.
        period_s: Nominal time between samples [s], None if unknown.
        limits: Lower and upper limit of the chain's saturation, each (width,), infinite on a side without one; None if
            the chain has no saturation.
        limits_off: Whether the chain has a saturation that is off, and none that is on.
        codes_before: Codes that the signal arrives on: those of a quantizer with nothing but quantizers and saturations
            between; None if there is none.
        codes_after: Codes that the signal is put on next, likewise: those of the last such quantizer.
    """

    width: int
    period_s: float | None = None
    limits: tuple[Float, Float] | None = None
    limits_off: bool = False
    codes_before: Grid | None = None
    codes_after: Grid | None = None

    def __post_init__(self) -> None:
        if self.period_s is not None and not 0.0 < self.period_s < np.inf:
            raise SpecError(f"period_s is {self.period_s:g}; it must be positive and finite")

    def needed_period_s(self, model: str) -> float:
        """The nominal period [s]; SpecError, which names the model, if it is unknown."""
        if self.period_s is None:
            raise SpecError(f"{model} needs the sample rate; give period_s where the chain is started")
        return self.period_s

    def limit(self, side: Literal["min", "max"], what: str, give: str) -> Float:
        """One limit of the chain's saturation, shape (width,), for corruptions that require it.

        Args:
            side: Which of the two.
            what: Begins the error: what needs the limit, such as "mode is 'max'".
            give: What may be given instead.
        """
        if self.limits is not None:
            limit = self.limits[0 if side == "min" else 1]
            if np.isfinite(limit).all():
                return limit
            raise SpecError(f"{what} and the chain's saturation has no {side}; give it one, or give {give}")
        if self.limits_off:
            raise SpecError(f"{what} and the chain's saturation is off; switch it on, or give {give}")
        raise SpecError(f"{what} without limits; give {give}, or a saturation in the same chain")

    def assumed(self) -> Layout:
        """The same with placeholders for unknown values: enough to see which operations a corruption becomes."""
        some = -np.ones(self.width), np.ones(self.width)
        return Layout(self.width, self.period_s or 1e-9, some)


class Corruption(Spec):
    """An error or a fault of a signal, as data; `init` and `apply` put it to work on arrays.

    The last axis of a signal holds its channels, and what comes before are worlds and then sensors: (3,), (worlds, 3),
    (worlds, sensors, 3). A shape of () is one channel.
    """

    kinds: ClassVar[dict[str, type[Corruption]]] = {}
    """All kinds, by their names in data."""

    kind: str
    """Its name in data."""
    on: bool = True
    """Whether it does anything."""

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        super().__pydantic_init_subclass__(**options)
        kind = cls.model_fields["kind"].default
        known = cls.kinds.get(kind) if isinstance(kind, str) else None
        if known is not None and known.__module__.startswith("sensorium.") and known.__qualname__ != cls.__qualname__:
            raise SpecError(f"{cls.__name__}.kind is {kind!r}; that is the library's {known.__name__}, give it another")
        if isinstance(kind, str):
            cls.kinds[kind] = cls

    @abstractmethod
    def operations(self, layout: Layout) -> list[Op]:
        """Its operations for the kernel while it is on."""

    def switched(self, layout: Layout) -> list[Op]:
        """Its operations, marked as off if it is off: so switching one changes no random number of another."""
        if self.on:
            return self.operations(layout)
        return [replace(op, on=False) for op in self.operations(layout.assumed())]

    def limits(self, width: int) -> tuple[Float, Float] | None:
        """Limits it keeps the signal within, infinite on a side without one; None for most."""
        return None

    def has_limits_off(self) -> bool:
        """Whether it would keep the signal within limits, but is off; False for most."""
        return False

    def codes_behind(self, layout: Layout) -> Grid | None:
        """Codes of the signal behind it, None for none; `layout` has those of the incoming signal."""
        return None if self.acts(layout) else layout.codes_before

    def codes_ahead(self, layout: Layout) -> Grid | None:
        """Codes for the limits of a saturation right before it, None for none; `layout` has those after it."""
        return None if self.acts(layout) else layout.codes_after

    def acts(self, layout: Layout) -> bool:
        """Whether it changes a signal."""
        return self.on and any(op.on for op in self.switched(layout))

    def each(self, field: str, width: int) -> Float:
        """A field as one number per channel, shape (width,)."""
        return per_channel(f"{type(self).__name__}.{field}", getattr(self, field), width)

    def program(self, width: int, period_s: float | None = None) -> Program:
        """Itself, prepared for signals of this many channels."""
        # The kernel knows every corruption and every corruption this file, so the kernel is loaded when first needed
        from sensorium.corruption.engine.program import Program

        return Program.of(self.compiled(Layout(width, period_s)), width=width, period_s=period_s)

    def compiled(self, layout: Layout) -> list[Op]:
        """Its operations, with the layout that its parts share."""
        return self.switched(self.with_own_limits(layout))

    def with_own_limits(self, layout: Layout) -> Layout:
        """The layout with its own limits, if it is on and has any; otherwise unchanged."""
        limits = self.limits(layout.width) if self.on else None
        if limits is not None:
            return replace(layout, limits=limits, limits_off=False)
        return replace(layout, limits_off=layout.limits is None and self.has_limits_off())

    def init(
        self,
        shape: Sequence[int],
        *,
        seed: int,
        name: str = "signal",
        period_s: float | None = None,
        first_world: int = 0,
    ) -> State:
        """The state before the first sample.

        Args:
            shape: Of the signal, (*batch, channels) with the batch (), (worlds,) or (worlds, sensors).
            seed: Of everything random.
            name: Of the signal; signals of different names have independent errors.
            period_s: Nominal time between samples [s]; densities and filters need it.
            first_world: Number of the first world among all worlds of an experiment.
        """
        width = int(shape[-1]) if len(shape) else 1
        program = self.program(width, period_s)
        return program.init(tuple(int(n) for n in shape), seed=seed, name=name, first_world=first_world)

    def apply(self, signal: ArrayLike, *, time_ns: int, state: State) -> tuple[Float, State]:
        """Corrupt one sample; neither the signal nor the state given is changed.

        Args:
            signal: Values of the shape that `init` was given.
            time_ns: When it was sampled [ns]; it must increase.
            state: From `init`, or from the sample before.

        Returns:
            The corrupted sample, and the state after it.
        """
        return state.program.sample(np.asarray(signal, np.float64), time_ns, state)

    def series(self, signals: ArrayLike, *, times_ns: ArrayLike, state: State) -> tuple[Float, State]:
        """Corrupt many samples at once, as `apply` would one by one.

        Args:
            signals: Shape (samples, *shape).
            times_ns: When each was sampled [ns], increasing, shape (samples,).
            state: From `init`, or from the sample before.
        """
        return state.program.series(np.asarray(signals, np.float64), np.asarray(times_ns), state)


def layouts_in_row(parts: Sequence[Corruption], layout: Layout) -> list[Layout]:
    """The layout of each of some parts in sequence; `layout` is that of all of them."""
    before, after = [layout.codes_before], [layout.codes_after]
    for part in parts:
        before.append(_known(part.codes_behind, replace(layout, codes_before=before[-1])))
    for part in reversed(parts):
        after.append(_known(part.codes_ahead, replace(layout, codes_after=after[-1])))
    ends = zip(before[:-1], reversed(after[:-1]), strict=True)
    return [replace(layout, codes_before=behind, codes_after=ahead) for behind, ahead in ends]


def _known(codes: Callable[[Layout], Grid | None], layout: Layout) -> Grid | None:
    """Codes, or None if a part cannot become operations; it raises its own error later."""
    try:
        return codes(layout)
    except SpecError:
        return None


def _from_data(value: object) -> object:
    """A corruption from data such as {"kind": "bias", ...}."""
    if not isinstance(value, Mapping):
        return value
    kind = value.get("kind")
    others = plugins.announced("corruptions")
    if kind not in Corruption.kinds and kind in others:
        plugins.load("corruptions", str(kind))  # which makes the class, and a class registers itself
        if kind not in Corruption.kinds:
            raise ValueError(f"kind is {kind!r}; what is announced by that name must be a corruption of this kind")
    if kind not in Corruption.kinds:
        known = ", ".join(sorted({*Corruption.kinds, *others}))
        raise ValueError(f"kind is {kind!r}; it must be one of {known}")
    return Corruption.kinds[kind].as_part(value)


AnyCorruption = Annotated[SerializeAsAny[Corruption], BeforeValidator(_from_data)]
"""Field type: a corruption, or the data of one."""
