"""Refuses options that have no effect in combination with others, so that none is ignored silently."""

from collections.abc import Set
from typing import Any, NoReturn

from pydantic import BaseModel


def refuse_set(spec: BaseModel, path: str, rule: str) -> None:
    """Raise a ValueError if an option differs from its default.

    Args:
        spec: The owner of the option.
        path: Name of the option, with those of its tables before it.
        rule: The combination, and where the option would act.
    """
    found = set_option(spec, path)
    if found is not None:
        refuse(*found, rule)


def refuse(path: str, value: Any, rule: str) -> NoReturn:
    """Raise a ValueError for an option and its value."""
    shown = f"a {type(value).__name__}" if isinstance(value, BaseModel) else repr(value)
    raise ValueError(f"{path} is {shown} {rule}")


def set_option(spec: BaseModel, path: str, but: Set[str] = frozenset()) -> tuple[str, Any] | None:
    """An option that differs from its default, and its value; for a table, the first such entry.

    Args:
        spec: The owner of the option.
        path: Name of the option, with those of its tables before it.
        but: Options that do not count.
    """
    name, *entries = path.split(".")
    value, default = getattr(spec, name), type(spec).model_fields[name].default
    for entry in entries:
        value, default = getattr(value, entry), getattr(default, entry)
    return _first_set(path, value, default, but)


def _first_set(path: str, value: Any, default: Any, but: Set[str]) -> tuple[str, Any] | None:
    if path in but or value == default:
        return None
    if not isinstance(value, BaseModel) or type(value) is not type(default):
        return path, value
    inside = (
        _first_set(f"{path}.{name}", getattr(value, name), getattr(default, name), but)
        for name in type(value).model_fields
    )
    return next((found for found in inside if found is not None), None)
