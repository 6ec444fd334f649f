"""`Spec`, the base of every specification: validated data whose errors name the field, the value and the rule."""

import inspect
import re
import reprlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, ClassVar, NoReturn, Self, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, GetJsonSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import from_json

from sensorium.core.errors import SpecError
from sensorium.core.field_docs import WithFields, plain_doc, sentences
from sensorium.core.spelling import nearest

# A long value is shortened to one line in an error
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80

# Most suggestions for a misspelt field
_MOST_GUESSES = 4

# Pydantic's error types for an unknown field, and for a value that must be a mapping
_NO_FIELD = ("extra_forbidden", "no_such_attribute")
_NO_MAPPING = ("model_type", "model_attributes_type", "dict_type")

# Pydantic's error types for a value that must be a list
_NO_LIST = ("tuple_type", "list_type", "set_type", "frozen_set_type")

# Most characters of a value in an error
_LONGEST_SHOWN = 120

# Most mistakes listed in an error; the rest is counted
_MOST_MISTAKES = 50


def positional_init(init: Callable[..., None]) -> Callable[..., None]:
    """Mark an `__init__` that only accepts a field by position.

    Pydantic then validates a nested model as data without calling `__init__`, so that an error names its full path.
    """
    init.__pydantic_base_init__ = True  # type: ignore[attr-defined]
    return init


class Spec(BaseModel, metaclass=WithFields):
    """Validated data: unknown keys, NaN and out-of-range values are refused with a SpecError, also on assignment."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, validate_assignment=True)

    hint_aliases: ClassVar[Mapping[str, str]] = {}
    """Names of a field in other software, mapped to the name to use here; used in hints."""

    inherits_field_docs_from: ClassVar[type[BaseModel] | None] = None
    """The model whose field descriptions also apply to this model's fields of the same name."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The JSON Schema, with the description of each field."""
        reference = handler(core_schema)
        schema = handler.resolve_ref_schema(reference)
        if plain := plain_doc(cls):
            schema["description"] = inspect.cleandoc(plain)
        for name, sentence in sentences(cls).items():
            entry = schema.get("properties", {}).get(cls.model_fields[name].alias or name)
            if entry is not None:
                entry.setdefault("description", sentence)
        return reference

    @positional_init
    def __init__(self, *unnamed: Any, **fields: Any) -> None:
        if unnamed:
            _refuse_unnamed(type(self), unnamed)
        try:
            super().__init__(**fields)
        except ValidationError as error:
            _refuse(type(self).__name__, error, fields, type(self))

    # The signature that `inspect` and `help` show
    __init__.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            inspect.Parameter("fields", inspect.Parameter.VAR_KEYWORD, annotation=Any),
        ]
    )

    def __setattr__(self, name: str, value: Any) -> None:
        before = dict(self.__dict__)
        try:
            super().__setattr__(name, value)
        except ValidationError as error:
            # Rules over several fields are checked after the assignment: restore the old values
            self.__dict__.clear()
            self.__dict__.update(before)
            _refuse(type(self).__name__, error, {name: value}, type(self))

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """As pydantic's method, with a SpecError."""
        try:
            return super().model_validate(obj, **options)
        except ValidationError as error:
            _refuse(cls.__name__, error, obj, cls)

    @classmethod
    def as_part(cls, data: Any) -> Self:
        """Validate a nested model; raises pydantic's error, which the outer model reports with the full path."""
        return super().model_validate(data)

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """As pydantic's method, with a SpecError."""
        try:
            data = from_json(json_data)
        except ValueError as error:
            raise SpecError(f"{cls.__name__} cannot be read; the text is not JSON: {error}") from None
        return cls.model_validate(data, **options)


def checked(kind: Any, data: Any, name: str) -> Any:
    """Data as the specification that it describes, where that is one of several.

    Args:
        kind: The expected type, such as the unions `sn.patterns.Pattern`, `sn.materials.Material` or `sn.media.Medium`,
            whose members differ by `kind`.
        data: A plain dictionary, or such a specification.
        name: Name of the value in an error.
    """
    try:
        return TypeAdapter(kind).validate_python(data)
    except ValidationError as error:
        _refuse(name, error, data, kind)


def at_key(key: str, sentence: str) -> SpecError:
    """An error about one key of a mapping, whose sentence begins with the key; a file then blames the key's line."""
    return SpecError(sentence, (((key,), sentence),))


def as_list(value: object) -> object:
    """A single item as a list of one, and a list unchanged; a `BeforeValidator` for fields that accept both."""
    return value if isinstance(value, list | tuple) else [value]


def _refuse_unnamed(kind: type[BaseModel], unnamed: Sequence[Any]) -> NoReturn:
    """Raise a SpecError that says how values without names would be written."""
    names = [name for name, field in kind.model_fields.items() if name != "kind" and field.is_required()]
    names += [name for name in kind.model_fields if name != "kind" and name not in names]
    such = ", ".join(f"{name}={_shown(value)}" for name, value in zip(names, unnamed, strict=False))
    rule = f"fields must be given by name, such as {such}" if such else "it has no fields"
    raise SpecError(f"{kind.__name__} is given {', '.join(map(_shown, unnamed))} without a name; {rule}")


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
    for _, _, mistake in sorted(sorted(ranked, key=itemgetter(0, 1))[:_MOST_MISTAKES], key=itemgetter(1)):
        broken.setdefault(_place(mistake, data), []).append(mistake)

    # A value that may be written in several ways breaks a rule in each; the way that got deepest is the one meant
    deepest = [
        place for place in broken if not any(other[: len(place)] == place and other != place for other in broken)
    ]

    # Report a misspelt name once, not also as a missing field
    misspelt = [place for place in deepest if broken[place][0]["type"] in _NO_FIELD]
    meant = {place: _meant_at(owner, kind, place, data) for place in misspelt}
    said = {(*place[:-1], near) for place, found in meant.items() for near in found}
    deepest = [place for place in deepest if not (broken[place][0]["type"] == "missing" and place in said)]
    problems = tuple(
        _problem(owner, place, broken[place], meant.get(place, []), _models_at(kind, place, data)) for place in deepest
    )
    rest = len(ranked) - _MOST_MISTAKES
    if rest > 0:
        problems += (((), f"{owner or 'the whole'} has {rest} more mistakes; mend these first"),)
    raise SpecError("; ".join(sentence for _, sentence in problems), problems) from None


def _place(wrong: Mapping[str, Any], data: Any) -> tuple[str | int, ...]:
    """Place of an error in the data as written: pydantic's path without the kinds it tried on the way."""
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
    """A place as one writes it: Lidar.pattern.elevation_deg[3]; without an owner it begins with the first key.

    A key that would break the line, or would be invisible, is quoted.
    """
    shown = [part if isinstance(part, int) or part.isprintable() else repr(part) for part in place]
    path = owner + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in shown)
    return path.removeprefix(".")


def _problem(
    owner: str,
    place: tuple[str | int, ...],
    wrongs: list[dict[str, Any]],
    meant: list[str],
    models: list[type[BaseModel]],
) -> tuple[tuple[str | int, ...], str]:
    """A place, and one sentence about it: its name, its value and the rules it breaks.

    Args:
        owner: Name of the outer model.
        place: Where it is in the data as they were written.
        wrongs: Pydantic's errors at this place.
        meant: Suggestions for a misspelt name.
        models: Models that are allowed at this place.
    """
    # If a value has several allowed forms, a mapping is meant as the form with its `kind`
    given = wrongs[0]["input"]
    told_apart = [wrong for wrong in wrongs if wrong["type"].startswith("union_tag")]
    if isinstance(given, Mapping) and told_apart:
        wrongs = told_apart
    wrong, kind = wrongs[0], wrongs[0]["type"]
    path = path_of(owner, place)
    if kind == "value_error":
        # One of our own rules, which says value and rule itself
        rule = str(wrong["ctx"]["error"])
        if place and rule.startswith(f"{place[-1]} is "):
            return place, path + rule.removeprefix(str(place[-1]))
        return place, f"{path}: {rule}" if place else rule
    if kind in _NO_FIELD:
        hint = f"did you mean {' or '.join(meant)}?" if meant else "there is no such field"
        return place, f"{path} is {_shown(given)}; {hint}"
    if kind == "missing" and isinstance(wrong["loc"][-1], int):
        return place, f"{path} is {_shown(given)}; it must have {wrong['loc'][-1] + 1} items or more"
    if kind == "missing":
        return place, f"{path} is missing; it must be given"
    if kind == "frozen_instance":
        return place, f"{path} cannot become {_shown(given)}; {owner} does not change once made, make another"
    if kind == "union_tag_not_found" and isinstance(given, Mapping):
        return _without_tag(owner, place, given, wrong["ctx"]["discriminator"].strip("'"), models)
    if kind == "union_tag_invalid":
        return _other_tag(owner, place, wrong)
    if kind in _NO_MAPPING and isinstance(given, str) and given in _all_tags(models):
        return place, f"{path} is {_shown(given)}; it must be a mapping of keys to values, such as {{kind: {given}}}"
    if kind == "literal_error" and isinstance(given, str):
        near = nearest(given, re.findall(r"'([^']+)'", wrong["ctx"]["expected"]))
        if near:
            return place, f"{path} is {_shown(given)}; did you mean {' or '.join(map(repr, near))}?"
    rules = [each for each in wrongs if each["type"] != "too_short"] or wrongs
    return place, f"{path} is {_shown(given)}; it must {' or '.join(dict.fromkeys(map(_rule, rules)))}"


def _without_tag(
    owner: str, place: tuple[str | int, ...], given: Mapping[str, Any], key: str, models: list[type[BaseModel]]
) -> tuple[tuple[str | int, ...], str]:
    """About a mapping that does not say which of several kinds it is, or says it under another name."""
    known, tags = _parts(models), _all_tags(models)
    for name, value in given.items():
        if name not in known and (value in tags or nearest(str(name), [key])):
            here = (*place, name)
            return here, f"{path_of(owner, here)} is {_shown(value)}; did you mean {key}?"
    kinds = f"one of {', '.join(map(repr, tags))}" if tags else "given"
    return place, f"{path_of(owner, (*place, key))} is missing; it must be {kinds}"


def _other_tag(owner: str, place: tuple[str | int, ...], wrong: Mapping[str, Any]) -> tuple[tuple[str | int, ...], str]:
    """About a mapping of a kind that there is not."""
    given, tags = wrong["ctx"]["discriminator"], wrong["ctx"]["expected_tags"]
    if given.endswith("()"):  # chosen by its form, without a name of its own
        forms = tags.replace("'", "").replace(", ", " or ")
        return place, f"{path_of(owner, place)} is {_shown(wrong['input'])}; it must be a {forms}"
    here = (*place, given.strip("'"))
    near = nearest(wrong["ctx"]["tag"], [tag.strip(" '") for tag in tags.split(",")])
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"it must be one of {tags}"
    return here, f"{path_of(owner, here)} is {wrong['ctx']['tag']!r}; {hint}"


def _meant_at(owner: str, kind: Any, place: tuple[str | int, ...], data: Any) -> list[str]:
    """Fields that an unknown word may mean at its place, or else further out, as full paths."""
    word = str(place[-1])
    found = _meant(word, _models_at(kind, place[:-1], data)) or nearest(
        word, _parts(_models_at(kind, place[:-1], data))
    )
    for level in range(len(place) - 2, -1, -1):
        models = _models_at(kind, place[:level], data)
        parts = _parts(models)
        if found or word == "kind" or place[level] not in parts:
            continue
        outer = [word] if word in parts else _meant(word, models)
        paths = [path_of(owner, (*place[:level], each)) for each in outer]
        found = [path for path in paths if path != path_of(owner, place)]  # which another kind of the same part has
    return found[:_MOST_GUESSES]


def _meant(word: str, models: list[type[BaseModel]]) -> list[str]:
    """Fields that a word is an alias of, or fields of that name one or two levels down."""
    parts = _parts(models)
    deeper = {f"{name}.{within}": part for name, inner in parts.items() for within, part in _parts(inner).items()}
    if own := _called(word, models):
        return own
    for level in (parts, deeper):
        found = [f"{name}.{word}" for name, inner in level.items() if word in _parts(inner)]
        if not found:
            found = [f"{name}.{each}" for name, inner in level.items() for each in _called(word, inner)]
        if found:
            return found
    return []


def _called(word: str, models: list[type[BaseModel]]) -> list[str]:
    """Fields of models that others call by a word."""
    own = [model.hint_aliases[word] for model in models if issubclass(model, Spec) and word in model.hint_aliases]
    return [*dict.fromkeys(own)]


def _models_at(kind: Any, place: tuple[str | int, ...], data: Any) -> list[type[BaseModel]]:
    """All types that are allowed at a place."""
    kinds = _models(kind)
    for part in place:
        inner = [kind.model_fields[part].annotation for kind in kinds if part in kind.model_fields]
        kinds = [model for annotation in inner for model in _models(annotation)] if inner else kinds
        if isinstance(data, BaseModel):
            data = getattr(data, str(part), None)
        elif isinstance(data, Mapping):
            data = data.get(part)
        else:
            data = data[part] if isinstance(data, Sequence) and isinstance(part, int) else None

    # Of several kinds it is the one that the data name
    tag = data.get("kind") if isinstance(data, Mapping) else None
    named = [kind for kind in kinds if tag and tag in _tags(kind)]
    return named or kinds


def _tags(model: type[BaseModel]) -> tuple[Any, ...]:
    """The `kind` of a model of a union."""
    field = model.model_fields.get("kind")
    return () if field is None else (field.default, *get_args(field.annotation))


def _all_tags(models: Sequence[type[BaseModel]]) -> list[str]:
    """The `kind` of each of several models."""
    return [*dict.fromkeys(tag for model in models for tag in _tags(model) if isinstance(tag, str))]


def _parts(models: Sequence[type[BaseModel]]) -> dict[str, list[type[BaseModel]]]:
    """Names of all fields of some models, with the models allowed in each.

    Those in lists do not count, unless one may be written without its list.
    """
    parts: dict[str, list[type[BaseModel]]] = {}
    for model in models:
        for name, field in model.model_fields.items():
            alone = any(isinstance(rule, BeforeValidator) and rule.func is as_list for rule in field.metadata)
            is_list = get_origin(field.annotation) in (tuple, list, dict) and not alone
            parts.setdefault(field.alias or name, []).extend([] if is_list else _models(field.annotation))
    return parts


def _models(annotation: Any) -> list[type[BaseModel]]:
    """The models in an annotation, at any depth of unions and containers; for an abstract model its subclasses."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        below = [model for kind in annotation.__subclasses__() for model in _models(kind)]
        return below if inspect.isabstract(annotation) else [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]


def _rule(wrong: Mapping[str, Any]) -> str:
    """Pydantic's requirement, phrased to follow "it must"."""
    if wrong["type"] in _NO_MAPPING:
        return "be a mapping of keys to values"
    if wrong["type"] in _NO_LIST:
        return "be a list of values"
    message = re.sub(r"^\w+ should ", "", wrong["msg"]).replace(" after validation", "")
    return message if message != wrong["msg"] else f"obey a rule: {message}"


def _shown(value: Any) -> str:
    """A value on one line, short."""
    text = " ".join(_SHORT.repr(value).split())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."
