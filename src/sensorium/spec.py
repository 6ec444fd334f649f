"""What every specification is: validated data whose errors name the field, the value and the rule."""

import difflib
import re
import reprlib
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Self

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import from_json

from sensorium.errors import SpecError

# A value that is shown in an error, however long it is, stays on one line
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80


class Spec(BaseModel):
    """Validated data: unknown keys, NaN and out-of-range values are refused with a SpecError, also on assignment."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, validate_assignment=True)

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            _refuse(type(self).__name__, error, fields, type(self))

    # Validation of a whole goes on to treat its parts as data, so that an error in a part is told with its full path
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def __setattr__(self, name: str, value: Any) -> None:
        before = dict(self.__dict__)
        try:
            super().__setattr__(name, value)
        except ValidationError as error:
            # A rule over several fields is checked when the value is in place; what is refused must not stay
            self.__dict__.clear()
            self.__dict__.update(before)
            _refuse(type(self).__name__, error, {name: value}, type(self))

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """As pydantic's, with the library's own error."""
        try:
            return super().model_validate(obj, **options)
        except ValidationError as error:
            _refuse(cls.__name__, error, obj, cls)

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """As pydantic's, with the library's own error."""
        try:
            data = from_json(json_data)
        except ValueError as error:
            raise SpecError(f"{cls.__name__} cannot be read; the text is not JSON: {error}") from None
        return cls.model_validate(data, **options)


def checked(kind: Any, data: Any, name: str) -> Any:
    """Data as the specification that it describes, where that is one of several.

    Args:
        kind: What it may be, such as the unions `sn.patterns.Pattern`, `sn.materials.Material` or `sn.media.Medium`,
            told apart by their `kind`.
        data: A plain dictionary, or such a specification.
        name: What to call it in an error.
    """
    try:
        return TypeAdapter(kind).validate_python(data)
    except ValidationError as error:
        _refuse(name, error, data)


def _refuse(owner: str, error: ValidationError, data: Any, spec: type[BaseModel] | None = None) -> NoReturn:
    """Raise a SpecError with one sentence for each field that breaks a rule."""
    broken: dict[tuple[str | int, ...], list[dict[str, Any]]] = {}
    for wrong in error.errors(include_url=False):
        broken.setdefault(_place(wrong, data), []).append(dict(wrong))

    # A value that may be written in several ways breaks a rule in each; the way that got deepest is the one meant
    deepest = [
        place for place in broken if not any(other[: len(place)] == place and other != place for other in broken)
    ]
    raise SpecError("; ".join(_sentence(owner, place, broken[place], spec) for place in deepest)) from None


def _place(wrong: Mapping[str, Any], data: Any) -> tuple[str | int, ...]:
    """Where in the data as it was written an error is: pydantic's path without the kinds it tried on the way."""
    place: list[str | int] = []
    loc = wrong["loc"]
    for number, part in enumerate(loc):
        last = number == len(loc) - 1
        if isinstance(data, Mapping) and (part in data or (last and wrong["type"] == "missing")):
            data = data.get(part)
        elif isinstance(data, Sequence) and isinstance(part, int) and not isinstance(data, str) and part < len(data):
            data = data[part]
        elif isinstance(data, BaseModel) and part in type(data).model_fields:
            data = getattr(data, str(part))
        else:
            continue
        place.append(part)
    return tuple(place)


def _sentence(
    owner: str, place: tuple[str | int, ...], wrongs: list[dict[str, Any]], spec: type[BaseModel] | None
) -> str:
    """One sentence about one place: its name, its value and the rules it breaks."""
    path = owner + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    wrong, kind = wrongs[0], wrongs[0]["type"]
    if kind == "value_error":
        # One of our own rules, which says value and rule itself
        rule = str(wrong["ctx"]["error"])
        if place and rule.startswith(f"{place[-1]} is "):
            return path + rule.removeprefix(str(place[-1]))
        return f"{path}: {rule}" if place else rule
    if kind == "extra_forbidden":
        known = list(spec.model_fields) if spec is not None and len(place) == 1 else []
        near = difflib.get_close_matches(str(place[-1]), known, n=1)
        hint = f"did you mean {near[0]}?" if near else "there is no such field"
        return f"{path} is {_shown(wrong['input'])}; {hint}"
    if kind == "missing":
        return f"{path} is missing; it must be given"
    if kind == "frozen_instance":
        return f"{path} cannot become {_shown(wrong['input'])}; {owner} does not change once made, make another"
    if kind == "union_tag_not_found" and isinstance(wrong["input"], Mapping):
        return f"{path}.{wrong['ctx']['discriminator'].strip(chr(39))} is missing; it must be given"
    if kind == "union_tag_invalid":
        given = wrong["ctx"]["discriminator"]
        tags = wrong["ctx"]["expected_tags"]
        if given.endswith("()"):  # told apart by its form, which has no name of its own
            return f"{path} is {_shown(wrong['input'])}; it must be a {tags.replace(chr(39), '').replace(', ', ' or ')}"
        return f"{path}.{given.strip(chr(39))} is {wrong['ctx']['tag']!r}; it must be one of {tags}"
    return f"{path} is {_shown(wrong['input'])}; it must {' or '.join(dict.fromkeys(map(_rule, wrongs)))}"


def _rule(wrong: Mapping[str, Any]) -> str:
    """What pydantic asks for, to go on after "it must"."""
    message = re.sub(r"^\w+ should ", "", wrong["msg"]).replace(" after validation", "")
    return message if message != wrong["msg"] else f"obey a rule: {message}"


def _shown(value: Any) -> str:
    """A value on one line, short."""
    return " ".join(_SHORT.repr(value).split())
