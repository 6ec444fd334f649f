"""What every specification is: validated data whose errors name the field, the value and the rule."""

import difflib
import inspect
import re
import reprlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NoReturn, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import from_json

from sensorium.errors import SpecError

# A value that is shown in an error, however long it is, stays on one line
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80

# What a misspelt field is guessed to be: one slip for so many letters, and no more guesses than this
_LETTERS_A_SLIP = 4
_MOST_GUESSES = 3

# that are told, before the rest is counted
_MOST_MISTAKES = 50


def by_place(init: Callable[..., None]) -> Callable[..., None]:
    """Mark an `__init__` that does no more than to let a field be given without its name.

    Validation of a whole goes on to treat its parts as data, so that an error in a part is told with its full path.
    """
    init.__pydantic_base_init__ = True  # type: ignore[attr-defined]
    return init


class Spec(BaseModel):
    """Validated data: unknown keys, NaN and out-of-range values are refused with a SpecError, also on assignment."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, validate_assignment=True)

    @by_place
    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            _refuse(type(self).__name__, error, fields, type(self))

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
    def as_part(cls, data: Any) -> Self:
        """Validate a part inside the validation of a whole, which tells pydantic's error with the part's full path."""
        return super().model_validate(data)

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
        _refuse(name, error, data, kind)


def _refuse(owner: str, error: ValidationError, data: Any, kind: Any = None) -> NoReturn:
    """Raise a SpecError with one sentence for each field that breaks a rule."""
    # A long table of words instead of numbers breaks a rule with each of them; some are enough, of each field the first
    # before the second of any
    of_field: Counter[tuple[str | int, ...]] = Counter()
    ranked = []
    for number, wrong in enumerate(error.errors(include_url=False)):
        of_field[wrong["loc"][:1]] += 1
        ranked.append((of_field[wrong["loc"][:1]], number, dict(wrong)))
    broken: dict[tuple[str | int, ...], list[dict[str, Any]]] = {}
    for _, _, told in sorted(sorted(ranked, key=itemgetter(0, 1))[:_MOST_MISTAKES], key=itemgetter(1)):
        broken.setdefault(_place(told, data), []).append(told)

    # A value that may be written in several ways breaks a rule in each; the way that got deepest is the one meant
    deepest = [
        place for place in broken if not any(other[: len(place)] == place and other != place for other in broken)
    ]

    # What is missing because it is misspelt is said once
    misspelt = [place for place in deepest if broken[place][0]["type"] == "extra_forbidden"]
    meant = {place: _meant(str(place[-1]), _models_at(kind, place[:-1], data)) for place in misspelt}
    said = {(*place[:-1], near) for place, near in meant.items()}
    deepest = [place for place in deepest if not (broken[place][0]["type"] == "missing" and place in said)]
    problems = tuple((place, _sentence(owner, place, broken[place], meant.get(place))) for place in deepest)
    rest = len(ranked) - _MOST_MISTAKES
    if rest > 0:
        problems += (((), f"{owner or 'the whole'} has {rest} more mistakes; mend these first"),)
    raise SpecError("; ".join(sentence for _, sentence in problems), problems) from None


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


def path_of(owner: str, place: Sequence[str | int]) -> str:
    """A place as one writes it: Lidar.pattern.elevation_deg[3]; without an owner it begins with the first key."""
    path = owner + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return path.removeprefix(".")


def _sentence(owner: str, place: tuple[str | int, ...], wrongs: list[dict[str, Any]], meant: str | None) -> str:
    """One sentence about one place: its name, its value and the rules it breaks; and what a misspelt one meant."""
    path = path_of(owner, place)
    wrong, kind = wrongs[0], wrongs[0]["type"]
    if kind == "value_error":
        # One of our own rules, which says value and rule itself
        rule = str(wrong["ctx"]["error"])
        if place and rule.startswith(f"{place[-1]} is "):
            return path + rule.removeprefix(str(place[-1]))
        return f"{path}: {rule}" if place else rule
    if kind == "extra_forbidden":
        hint = f"did you mean {meant}?" if meant else "there is no such field"
        return f"{path} is {_shown(wrong['input'])}; {hint}"
    if kind == "missing" and isinstance(wrong["loc"][-1], int):
        return f"{path} is {_shown(wrong['input'])}; it must have {wrong['loc'][-1] + 1} items or more"
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
        near = _nearest(wrong["ctx"]["tag"], [tag.strip(" '") for tag in tags.split(",")])
        hint = f"did you mean {near!r}?" if near else f"it must be one of {tags}"
        return f"{path}.{given.strip(chr(39))} is {wrong['ctx']['tag']!r}; {hint}"
    return f"{path} is {_shown(wrong['input'])}; it must {' or '.join(dict.fromkeys(map(_rule, wrongs)))}"


def _meant(word: str, models: list[type[BaseModel]]) -> str | None:
    """What a word that is no field may stand for: a field of a part, one or two levels down, or one spelt alike."""
    parts = _parts(models)
    deeper = {f"{name}.{within}": part for name, inner in parts.items() for within, part in _parts(inner).items()}
    for level in (parts, deeper):
        found = [f"{name}.{word}" for name, inner in level.items() if word in _parts(inner)]
        if found:
            return " or ".join(found[:_MOST_GUESSES])
    return _nearest(word, list(parts))


def _nearest(word: str, known: Sequence[str]) -> str | None:
    """The known word that is most like a given one: the beginning of it or more than it, or a few slips away."""
    for near in difflib.get_close_matches(word, known, cutoff=0.5):
        if near.startswith(word) or word.startswith(near) or _slips(word, near) <= max(1, len(word) // _LETTERS_A_SLIP):
            return near
    return None


def _slips(word: str, other: str) -> int:
    """Letters to add, leave out, replace or swap with the next to get from one word to the other."""
    rows = [list(range(len(other) + 1))]
    for i in range(1, len(word) + 1):
        row = [i]
        for j in range(1, len(other) + 1):
            least = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (word[i - 1] != other[j - 1]))
            if i > 1 and j > 1 and word[i - 2 : i] == other[j - 2 : j][::-1]:
                least = min(least, rows[-2][j - 2] + 1)
            row.append(least)
        rows.append(row)
    return rows[-1][-1]


def _models_at(kind: Any, place: tuple[str | int, ...], data: Any) -> list[type[BaseModel]]:
    """Whatever may stand at a place."""
    kinds = _models(kind)
    for part in place:
        inner = [kind.model_fields[part].annotation for kind in kinds if part in kind.model_fields]
        kinds = [model for annotation in inner for model in _models(annotation)] if inner else kinds
        data = getattr(data, str(part)) if isinstance(data, BaseModel) else data[part]

    # Of several kinds it is the one that the data name
    tag = data.get("kind") if isinstance(data, Mapping) else None
    named = [kind for kind in kinds if tag and tag in _tags(kind)]
    return named or kinds


def _tags(model: type[BaseModel]) -> tuple[Any, ...]:
    """What a model of several says of itself as `kind`."""
    field = model.model_fields.get("kind")
    return () if field is None else (field.default, *get_args(field.annotation))


def _parts(models: Sequence[type[BaseModel]]) -> dict[str, list[type[BaseModel]]]:
    """Names of all fields of some models, with the models that may stand in each; those in lists do not count."""
    parts: dict[str, list[type[BaseModel]]] = {}
    for model in models:
        for name, field in model.model_fields.items():
            is_list = get_origin(field.annotation) in (tuple, list, dict)
            parts.setdefault(field.alias or name, []).extend([] if is_list else _models(field.annotation))
    return parts


def _models(annotation: Any) -> list[type[BaseModel]]:
    """The models in an annotation, however deep in unions and containers; for an abstract one those made of it."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        below = [model for kind in annotation.__subclasses__() for model in _models(kind)]
        return below if inspect.isabstract(annotation) else [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]


def _rule(wrong: Mapping[str, Any]) -> str:
    """What pydantic asks for, to go on after "it must"."""
    if wrong["type"] in ("model_type", "model_attributes_type", "dict_type"):
        return "be a mapping of keys to values"
    message = re.sub(r"^\w+ should ", "", wrong["msg"]).replace(" after validation", "")
    return message if message != wrong["msg"] else f"obey a rule: {message}"


def _shown(value: Any) -> str:
    """A value on one line, short."""
    return " ".join(_SHORT.repr(value).split())
