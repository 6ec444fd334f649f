"""What a fit gives: a data sheet, and what other data of the same device say of it; the values sheets are made of."""

import math
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from sensorium.devices import Sheet
from sensorium.recordings.fit.sheet_text import sheet_text
from sensorium.recordings.measurement import Figure, Measurement

RECORDED = "REC"
"""Key of the recording among the sources of a sheet."""


class HeldOut(NamedTuple):
    """A figure of data that the sheet was not fitted to, beside what the sheet says.

    Attributes:
        figure: As measured in these data.
        fitted: What the sheet says, in the figure's unit.
    """

    figure: Figure
    fitted: float

    @property
    def ratio(self) -> float:
        """Fitted over measured [1]."""
        return self.fitted / self.figure.value if self.figure.value else math.inf


class Fitted(NamedTuple):
    """A sheet that was fitted to a recording.

    Attributes:
        text: The sheet, as TOML.
        sheet: The same, checked.
        measurement: What the sheet was made from.
        held_out: What other data say of it; empty where there are none.
        remarks: How it was measured.
    """

    text: str
    sheet: Sheet
    measurement: Measurement
    held_out: tuple[HeldOut, ...]
    remarks: tuple[str, ...]


def fitted(
    head: Mapping[str, Any],
    values: Mapping[str, Mapping[str, Any]],
    measurement: Measurement,
    *,
    base: Sheet | None = None,
    held_out: Sequence[HeldOut] = (),
    is_whole: bool = False,
    remarks: Sequence[str] = (),
    sources: Mapping[str, str] | None = None,
) -> Fitted:
    """A sheet from its values, with the sources that they quote.

    Args:
        head: Kind, model, description and further words of the sheet; its maker is that of `base`.
        values: Values by name, as the fields of a `Quantity`; those of a group as "linear.density".
        measurement: What it was made from.
        base: The library's sheet of the device, of which values were kept.
        held_out: Figures of other data.
        is_whole: Whether all of the recording was used, so that nothing could be held out.
        remarks: Notes of the sheet.
        sources: Further sources, by key.
    """
    texts = {
        **({} if base is None else base.sources),
        **(sources or {}),
        RECORDED: recorded_in(measurement.source, is_whole=is_whole),
    }
    quoted = [each for table in values.values() for each in (table, table.get("maker", {}))]
    keys = dict.fromkeys(str(each["source"]).partition(":")[0] for each in quoted if "source" in each)
    whole = {
        "kind": head["kind"],
        "maker": "unknown" if base is None else base.maker,
        **head,
        "notes": [f"{remark[:1].upper()}{remark[1:]}." for remark in remarks],
        "sources": {key: texts[key] for key in keys},
    }
    nested: dict[str, Any] = {}
    for name, table in values.items():
        group, _, inner = name.rpartition(".")
        (nested.setdefault(group, {}) if group else nested)[inner] = table
    sheet = Sheet.kinds[head["kind"]].model_validate({**whole, **nested})
    return Fitted(sheet_text(whole, values), sheet, measurement, tuple(held_out), tuple(remarks))


def recorded_in(source: str, *, is_whole: bool = False) -> str:
    """The source of values that were measured in one half of a file, or in all of it."""
    return f"measured in {'all of ' * is_whole}{PurePath(source).name}"


def value(number: Any, unit: str, what: str, **more: Any) -> dict[str, Any]:
    """A measured value."""
    shown = {"unit": unit} if unit != "1" else {}
    return {"value": number, **shown, "source": f"{RECORDED}: {what}", "grade": "R", **more}


def of_figure(figure: Figure, unit: str, scale: float, what: str = "", **more: Any) -> dict[str, Any]:
    """A measured value with its interval, in a unit that is `scale` times smaller."""
    interval = {"interval": [scale * figure.low, scale * figure.high]} if figure.low < figure.high else {}
    return value(scale * figure.value, unit, what or figure.quantity, **interval, **more)


def of_axes(figures: Sequence[Figure], unit: str, scale: float = 1.0, **more: Any) -> dict[str, Any]:
    """A measured value with one entry for each figure of a quantity."""
    interval = [[scale * each.low, scale * each.high] for each in figures]
    numbers = [scale * each.value for each in figures]
    return value(numbers, unit, figures[0].quantity, interval=interval, **more)


def estimate(number: Any, unit: str, note: str) -> dict[str, Any]:
    """A value that no recording shows, and that the model needs."""
    return {"value": number, **({"unit": unit} if unit != "1" else {}), "grade": "M", "estimate": True, "note": note}


def kept(base: Sheet | None, names: Sequence[str]) -> dict[str, Any]:
    """Values of the library's sheet."""
    found = {} if base is None else {name: getattr(base, name) for name in names}
    return {name: each.model_dump(exclude_none=True, exclude_defaults=True) for name, each in found.items() if each}


def maker_of(base: Sheet | None, name: str) -> dict[str, Any]:
    """The figure of the library's sheet, to stand beside a measured one; a measured one's own maker's figure."""
    quantity = None if base is None else getattr(base, name)
    if quantity is None or quantity.source is None:
        return {}
    if quantity.maker is not None:
        return {"maker": quantity.maker.model_dump(exclude_none=True, exclude_defaults=True)}
    if quantity.grade == "R":
        return {}
    return {"maker": quantity.model_dump(include={"value", "unit", "means", "source", "grade"}, exclude_none=True)}


def held_figures(mine: Measurement, other: Measurement | None, quantities: Sequence[str]) -> tuple[HeldOut, ...]:
    """Figures of other data beside those that a sheet was made from, by name and place."""
    if other is None:
        return ()
    known = {(each.quantity, each.where): each.value for each in mine.figures}
    pairs = [(each, known.get((each.quantity, each.where))) for name in quantities for each in other.of(name)]
    return tuple(HeldOut(figure, number) for figure, number in pairs if number is not None)
