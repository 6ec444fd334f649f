"""The base of every data sheet: values with units, sources and grades, and the specification made from them."""

import abc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import ConfigDict, Field, model_validator

from sensorium.core.spec import Spec
from sensorium.devices.units import Number, converted, scaled

Grade = Literal["A", "B", "C", "D", "M", "R"]

GRADES = {
    "A": "vendor's own text or data",
    "B": "maintained driver, database or simulator",
    "C": "third-party statement, not checked against the vendor",
    "D": "derived by calculation from graded values",
    "M": "estimate, without a source",
    "R": "measured in a recording of a real device",
}


@dataclass(frozen=True)
class Rule:
    """Rules for one value of a sheet, and its use.

    Attributes:
        unit: SI unit it is converted to, "deg" if specifications take degrees, "" for a word.
        fills: Fields of the specification that it decides; empty if it is only stated, and measured in a round trip.
        means: Possible meanings of the number, with the factor of each; empty if it is unambiguous.
    """

    unit: str = "1"
    fills: tuple[str, ...] = ()
    means: Mapping[str, float] = field(default_factory=dict)


class StatedFigure(Spec):
    """The maker's figure beside a measured value; it is shown, and fills no field."""

    model_config = ConfigDict(frozen=True)

    value: float | tuple[float, ...] | str
    """The value as printed in the source."""
    unit: str = "1"
    """As data sheets write it."""
    means: str | None = None
    """What it states, in words."""
    source: str
    """KEY, or KEY: where in it, of the sheet's `sources`."""
    grade: Grade
    """Quality of the source, a key of `GRADES`."""


class Quantity(Spec):
    """One value of a data sheet, with where it comes from."""

    model_config = ConfigDict(frozen=True)

    value: float | tuple[float, ...] | str
    """The value as printed in the source."""
    unit: str = "1"
    """As data sheets write it: mg/sqrt(Hz), deg/h, mrad, LSB/g, ..."""
    means: str | None = None
    """The meaning of the number, if data sheets differ."""
    source: str | None = None
    """KEY, or KEY: where in it, of the sheet's `sources`; None for an estimate."""
    grade: Grade
    """Quality of the source, a key of `GRADES`."""
    estimate: bool = False
    """Whether it is an assumption without a source; the model needs a value there."""
    note: str | None = None
    """Remarks on how far to trust the value."""
    interval: tuple[float, float] | tuple[tuple[float, float], ...] | None = None
    """95 % interval of a measured value, in its unit; of a list, one for each entry."""
    maker: StatedFigure | None = None
    """The maker's figure, where a recording showed another."""

    @model_validator(mode="after")
    def _interval_holds_the_value(self) -> Self:
        if self.interval is None:
            return self
        value, interval = np.array(self.value, dtype=object), np.array(self.interval, np.float64)
        if isinstance(self.value, str) or interval.shape != (*value.shape, 2):
            raise ValueError(f"interval is {self.interval}; it must be a pair of numbers, of a list one for each entry")
        if not ((interval[..., 0] <= value) & (value <= interval[..., 1])).all():
            raise ValueError(f"interval is {self.interval} and value {self.value}; the value must lie in it")
        return self

    @model_validator(mode="after")
    def _rules(self) -> Self:
        if (self.grade == "M") != self.estimate:
            raise ValueError(f"grade is {self.grade!r} and estimate is {self.estimate}; M is an estimate and marked so")
        if (self.source is None) != self.estimate:
            raise ValueError(f"source is {self.source!r}; a value needs one, an estimate has none")
        return self

    def number(self, rule: Rule) -> Number:
        """The value in the unit and with the meaning of the specification."""
        assert not isinstance(self.value, str)
        plain = converted(self.value, self.unit, rule.unit)
        return scaled(plain, rule.means[self.means]) if self.means is not None else plain


class Values(Spec):
    """A table of values, each checked against the rule of its field."""

    model_config = ConfigDict(frozen=True)

    @model_validator(mode="after")
    def _every_value_obeys_its_rule(self) -> Self:
        for name, quantity, rule in self.stated():
            if rule.means and quantity.means not in rule.means:
                raise ValueError(f"{name}.means is {quantity.means!r}; it must be one of: {', '.join(rule.means)}")
            if not rule.means and quantity.means is not None:
                raise ValueError(f"{name}.means is {quantity.means!r}; there is no doubt about it, leave it out")
            if (rule.unit == "") != isinstance(quantity.value, str):
                wanted = "number" if rule.unit else "word"
                raise ValueError(f"{name}.value is {quantity.value!r}; it must be a {wanted}")
            if rule.unit:
                quantity.number(rule)
        return self

    @classmethod
    def rules(cls) -> dict[str, Rule]:
        """The rule of every value that the table may have."""
        pairs = ((name, entry) for name, info in cls.model_fields.items() for entry in info.metadata)
        return {name: entry for name, entry in pairs if isinstance(entry, Rule)}

    def stated(self) -> Iterator[tuple[str, Quantity, Rule]]:
        """Name, value and rule of everything the table gives."""
        for name, rule in self.rules().items():
            quantity = getattr(self, name)
            if quantity is not None:
                yield name, quantity, rule

    def number(self, name: str) -> Any:
        """A value as the specification takes it, a number or several; None where it is not given."""
        quantity: Quantity | None = getattr(self, name)
        return None if quantity is None else quantity.number(self.rules()[name])

    def word(self, name: str) -> str | None:
        """A value that is a word; None where it is not given."""
        quantity: Quantity | None = getattr(self, name)
        return None if quantity is None else str(quantity.value)


class Sheet(Values, abc.ABC):
    """The data sheet of one device."""

    kinds: ClassVar[dict[str, type["Sheet"]]] = {}
    """Every kind of sheet there is, by its name in files."""

    kind: str
    """Which sensor it is."""
    maker: str
    """Manufacturer."""
    model: str
    """Product name."""
    description: str
    """Short description."""
    notes: tuple[str, ...] = ()
    """Remarks on the whole device."""
    sources: dict[str, str] = Field(default_factory=dict)
    """Sources of values, by key."""

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        super().__pydantic_init_subclass__(**options)
        kind = cls.model_fields["kind"].default
        if isinstance(kind, str):
            cls.kinds[kind] = cls

    @model_validator(mode="after")
    def _sources_are_known(self) -> Self:
        for name, quantity, _ in self.everything():
            given = {"source": quantity.source}
            if quantity.maker is not None:
                given["maker.source"] = quantity.maker.source
            for entry, source in given.items():
                if source is not None and source.partition(":")[0] not in self.sources:
                    known = ", ".join(self.sources) or "none"
                    raise ValueError(f"{name}.{entry} is {source!r}; it must begin with a key of sources: {known}")
        return self

    def everything(self) -> Iterator[tuple[str, Quantity, Rule]]:
        """Name, value and rule of everything stated, in groups too."""
        yield from self.stated()
        for name in type(self).model_fields:
            group = getattr(self, name)
            if isinstance(group, Values):
                yield from ((f"{name}.{inner}", quantity, rule) for inner, quantity, rule in group.stated())

    @abc.abstractmethod
    def specification(self) -> dict[str, Any]:
        """The fields of the sensor's specification that the sheet decides, as plain data in SI units."""

    def suited(self, fields: dict[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
        """Fields of the specification that fit the given overrides; by default all of them."""
        return fields

    @abc.abstractmethod
    def defaults(self) -> tuple[str, ...]:
        """Fields that the sheet does not give and that keep the model's default."""
