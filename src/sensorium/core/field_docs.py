"""Lists the fields of a model in `help()`: name, meaning with unit, and default, read from the source code.

Python discards the string below a field. It is read from the source file on first access to the model's `__doc__`, so
that importing costs nothing.
"""

import ast
import functools
import inspect
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)

HEADING = "Fields:"

_WIDTH = 110
_LONGEST_DEFAULT = 60


class WithFields(ModelMetaclass):
    """Models whose `__doc__` is their docstring with a list of their fields below."""

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        doc = plain_doc(self)
        fields = _listed(self) if issubclass(self, BaseModel) else ""
        return None if doc is None else "\n\n".join(filter(None, [inspect.cleandoc(doc), fields]))


def plain_doc(model: type) -> str | None:
    """The docstring of a model as written, without the list of fields; None if it has none."""
    doc = vars(model).get("__doc__")
    return doc if isinstance(doc, str) else None


def sentences(model: type[BaseModel]) -> dict[str, str]:
    """Descriptions of the fields of a model and of its base classes, by name."""
    other = getattr(model, "inherits_field_docs_from", None)
    found: dict[str, str] = {} if other is None else sentences(other)
    for part in reversed([each for each in model.__mro__ if issubclass(each, BaseModel) and each is not BaseModel]):
        for name, sentence in _declared(part).items():
            if sentence or name not in found:
                found[name] = sentence
    return {name: sentence for name, sentence in found.items() if sentence and name in model.model_fields}


def _listed(model: type[BaseModel]) -> str:
    """The list of fields; empty if there is no field but `kind`."""
    said = sentences(model)
    lines = []
    for name, field in model.model_fields.items():
        if name == "kind":
            continue
        sentence = said.get(name) or _by_type(field)
        entry = " ".join([f"{name}:", *sentence.split(), *_default(field).split()])
        lines += textwrap.wrap(entry, _WIDTH, initial_indent="    ", subsequent_indent="        ")
    return "\n".join([HEADING, *lines]) if lines else ""


def _by_type(field: FieldInfo) -> str:
    """Description of a field without one of its own: its choices, or the first line of its model's docstring."""
    if get_origin(field.annotation) is Literal:
        return f"{' or '.join(map(repr, get_args(field.annotation)))}."
    models = [field.annotation, *get_args(field.annotation)]
    for model in models:
        if isinstance(model, type) and issubclass(model, BaseModel) and plain_doc(model):
            return f"{model.__name__}: {inspect.cleandoc(plain_doc(model) or '').splitlines()[0]}"
    return ""


def _default(field: FieldInfo) -> str:
    """The default of a field, as a sentence."""
    if field.is_required():
        return "It must be given."
    value: Any = field.get_default(call_default_factory=True, validated_data={})
    text = f"{type(value).__name__}(...)" if isinstance(value, BaseModel) else repr(value)
    if isinstance(value, BaseModel) and not value.model_fields_set - {"kind"}:
        text = f"{type(value).__name__}()"
    return f"Default {text}." if len(text) <= _LONGEST_DEFAULT else ""


def _declared(model: type) -> dict[str, str]:
    """Fields declared in the body of a class, with their descriptions."""
    file = getattr(sys.modules.get(model.__module__), "__file__", None)
    return _classes(file).get(model.__qualname__, {}) if file else {}


@functools.cache
def _classes(file: str) -> dict[str, dict[str, str]]:
    """Fields of all classes of a file, by the class's qualified name; empty if there is no source."""
    try:
        tree = ast.parse(Path(file).read_text("utf-8"))
    except (OSError, ValueError, SyntaxError):
        return {}
    found: dict[str, dict[str, str]] = {}

    def look(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                found[prefix + child.name] = _fields(child)
                look(child, f"{prefix}{child.name}.")
            elif isinstance(child, ast.FunctionDef):
                look(child, f"{prefix}{child.name}.<locals>.")

    look(tree, "")
    return found


def _fields(node: ast.ClassDef) -> dict[str, str]:
    """Annotated names of a class body, each with the string that follows it, or an empty string."""
    fields = {}
    for statement, after in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            said = ""
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                said = inspect.cleandoc(after.value.value) if isinstance(after.value.value, str) else ""
            fields[statement.target.id] = said
    return fields
