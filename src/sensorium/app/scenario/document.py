"""Scenario files as plain data with line numbers.

YAML is read by our own hand over PyYAML's parser: the safe part of the language (mappings, lists, numbers, text, true
and false, null), anchors and aliases within a limit, no tags. Words are words: `on`, `no` and `12:30` stay text, and
1e-3 is a number, as in YAML 1.2.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from sensorium.core.errors import SensoriumError, SpecError
from sensorium.core.spec import at_key, path_of
from sensorium.files.plain_files import read_bounded, sha256

Place = tuple[str | int, ...]
"""A place in a document: keys of mappings and numbers of list items, from the outside in."""

MAX_BYTES = 1 << 20
MAX_VALUES = 100_000
"""Values of a document once its aliases are written out: an alias bomb has more."""
MAX_DEPTH = 64

_INTEGER = re.compile(r"[-+]?[0-9]+|0x[0-9a-fA-F]+|0o[0-7]+")
_LONGEST_INTEGER = 100  # longer ones are floats, and too large
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_PLAIN_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "map", "seq")}


@dataclass(frozen=True)
class Document:
    """Plain data, and where each part of it was written.

    Attributes:
        name: The file's name, for errors.
        data: Mappings, lists, numbers, text, booleans and None.
        marks: Where each place was written, as errors say it: `yard.yaml:14`, or the option that set it.
        given: Places that options set, with the option.
    """

    name: str
    data: dict[str, Any]
    marks: Mapping[Place, str]
    given: Mapping[Place, str] = field(default_factory=dict)

    def where(self, place: Place) -> str:
        """Line of a place; of a place that was not written, such as a missing key, the line of its parent."""
        while place and place not in self.marks:
            place = place[:-1]
        return self.marks.get(place, self.name)

    def around(self, place: Place) -> str:
        """Line of a place, and the options set in it: an error that names no part of it may be theirs."""
        mark = self.where(place)
        options = [said for at, said in self.given.items() if at[: len(place)] == place and said != mark]
        return " with ".join([mark, *options])

    def error(self, place: Place, sentence: str) -> "DocumentError":
        """An error about a place: file, line and message."""
        return DocumentError(f"{self.where(place)}: {sentence}")

    @contextmanager
    def blamed(self, *place: str | int) -> Iterator[None]:
        """Errors raised inside get this place."""
        path = path_of("", place)
        try:
            yield
        except DocumentError:
            raise
        except SensoriumError as error:
            problems = getattr(error, "problems", ())
            if not problems:
                raise DocumentError(f"{self.around(place)}: {path}: {error}") from None
            before = f"{path}." if path else ""
            lines = [f"{self.where(place + inner)}: {before}{sentence}" for inner, sentence in problems]
            raise DocumentError("\n".join(lines)) from None


class DocumentError(SpecError):
    """An error that says in which file and line it is already."""


def read_document(path: Path) -> Document:
    """Read a YAML file, whose outermost level must be a mapping."""
    try:
        content, size = read_bounded(path, MAX_BYTES)
        if len(content) > MAX_BYTES:
            raise SpecError(f"{path.name} has {size} bytes; a scenario may have {MAX_BYTES}")
        text = content.decode("utf-8")
    except OSError as error:
        raise SpecError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise SpecError(
            f"{path.name} is not text in UTF-8: byte {error.start} is {error.object[error.start]}"
        ) from None
    return parsed(text, path.name)


def parsed(text: str, name: str) -> Document:
    """A document from YAML text.

    Args:
        text: YAML, of which JSON is a part.
        name: Name in errors.
    """
    marks: dict[Place, str] = {}
    data = _Reader(name, marks).read(_composed(text, name), ())
    if not isinstance(data, dict):
        raise SpecError(
            f"{name}: it holds {'nothing' if data is None else 'no mapping'}; a scenario is `key: value` lines"
        )
    return Document(name, data, marks)


def value_of(text: str, name: str) -> Any:
    """The value of a command-line option: parsed as in a file, `[1, 2]` and `{a: 1}` included."""
    return _Reader(name, {}).read(_composed(text, name), ())


def _composed(text: str, name: str) -> yaml.Node | None:
    """The text as PyYAML's tree, in which an alias is the same node again."""
    try:
        loader = _Loader(text)
        loader.title = name
        return loader.get_single_node()
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise SpecError(f"{name}:{line}: this is no YAML: it has the character {chr(error.character)!a}") from None
    except yaml.MarkedYAMLError as error:
        line = 1 if error.problem_mark is None else error.problem_mark.line + 1
        raise SpecError(f"{name}:{line}: this is no YAML: {error.problem}") from None


class _Loader(yaml.SafeLoader):
    """PyYAML's reader without implicit types of YAML 1.1, and with limited depth."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - as in the base class
    title: str
    _depth = _nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Read a node and all in it."""
        self._nodes += 1
        if self._depth >= MAX_DEPTH or self._nodes > 2 * MAX_VALUES:
            line = self.peek_event().start_mark.line + 1  # type: ignore[no-untyped-call]
            if self._depth < MAX_DEPTH:
                raise SpecError(f"{self.title}:{line}: it has more than {MAX_VALUES} values; that is too many")
            raise SpecError(f"{self.title}:{line}: more than {MAX_DEPTH} levels are nested; a scenario has fewer")
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


class _Reader:
    """Turns PyYAML's tree into plain data, noting lines."""

    def __init__(self, name: str, marks: dict[Place, str]) -> None:
        self._name, self._marks = name, marks
        self._values = 0
        self._open: set[int] = set()

    def read(self, node: yaml.Node | None, place: Place) -> Any:
        """The value of a node at a place."""
        if node is None:
            return None
        line = node.start_mark.line + 1
        self._marks.setdefault(place, f"{self._name}:{line}")
        self._values += 1
        if self._values > MAX_VALUES:
            raise self._error(
                line, f"it has more than {MAX_VALUES} values once aliases are written out; that is too many"
            )
        if node.tag not in _PLAIN_TAGS:
            raise self._error(line, f"the tag {node.tag!r} is not allowed; only plain data are")
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node.value) if node.style is None else self._whole(node.value, line)
        if id(node) in self._open:
            raise self._error(line, "an alias stands inside what it stands for; that has no end")
        if len(self._open) >= MAX_DEPTH:  # by aliases of aliases
            raise self._error(line, f"more than {MAX_DEPTH} levels are nested; a scenario has fewer")
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.SequenceNode):
                return [self.read(item, (*place, number)) for number, item in enumerate(node.value)]
            return self._mapping(node, place)
        finally:
            self._open.discard(id(node))

    def _mapping(self, node: yaml.Node, place: Place) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: list[dict[str, Any]] = []
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise self._error(line, "a key is a list or a mapping; it must be a word")
            name = self._whole(key.value, line)
            if name == "<<" and key.style is None:
                merged += self._merged(value, place, line)
                continue
            if name in found:
                raise self._error(line, f"{path_of('', (*place, name))} is given twice; once must do")
            self._marks[(*place, name)] = f"{self._name}:{line}"
            found[name] = self.read(value, (*place, name))
        if not merged:
            return found

        # The least important mapping comes first, and a more important one overrides it in place
        whole: dict[str, Any] = {}
        for other in reversed(merged):
            whole.update(other)
        whole.update(found)
        return whole

    def _merged(self, node: yaml.Node, place: Place, line: int) -> list[dict[str, Any]]:
        """Mappings merged by `<<`, the more important first."""
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        found = [self.read(each, place) for each in nodes]
        if not all(isinstance(each, dict) for each in found):
            raise self._error(line, "<< takes in something that is no mapping; it must be an alias of one")
        return found

    def _whole(self, text: str, line: int) -> str:
        """Text whose escapes may have written a character in two halves, as JSON does."""
        if text.isascii():
            return text
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise self._error(line, f"{text[:40]!r} has half a character; its other half must follow") from None

    def _error(self, line: int, sentence: str) -> SpecError:
        return SpecError(f"{self._name}:{line}: {sentence}")


def _scalar(text: str) -> Any:
    """The meaning of a plain word, by the core schema of YAML 1.2."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text) and len(text) <= _LONGEST_INTEGER:
        return int(text, 0) if text[:2] in ("0x", "0o") else int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    if _NOT_FINITE.fullmatch(text):
        return float(text.replace(".", ""))
    return text


class Files:
    """The folder of a scenario, and which of its files were used."""

    def __init__(self, folder: Path, *, allow_outside: bool = False) -> None:
        """Take a folder.

        Args:
            folder: Paths in the scenario begin here.
            allow_outside: Whether they may be outside it.
        """
        self.folder = folder.resolve()
        self.allow_outside = allow_outside
        self._used: set[Path] = set()

    def path(self, name: str, key: str) -> Path:
        """The file of a name, which must exist in the folder; it is recorded as used.

        Args:
            name: Path from the folder.
            key: The key that has the name as its value, for errors.
        """
        found = self._inside(name, key)
        if not found.is_file():
            raise at_key(key, f"{key} is {name!r}; there is no such file")
        self.use(found)
        return found

    def folder_of(self, name: str, key: str) -> Path:
        """The folder of a name, which must exist in the scenario's folder; arguments as for `path`."""
        found = self._inside(name, key)
        if not found.is_dir():
            raise at_key(key, f"{key} is {name!r}; there is no such folder")
        return found

    def use(self, path: Path) -> None:
        """Record a file that is used without being named in the scenario itself, such as one that a model includes."""
        self._used.add(path.resolve())

    def hashes(self) -> dict[str, str]:
        """SHA-256 of every file used so far, by its path from the folder."""
        return {self._named(path): sha256(path) for path in sorted(self._used)}

    def _inside(self, name: str, key: str) -> Path:
        """The path of a name, if it is allowed."""
        try:
            found = (self.folder / name).resolve()
        except (OSError, ValueError) as error:
            raise at_key(key, f"{key} is {name!r}; that is no file name: {error}") from None
        if not self.allow_outside and not found.is_relative_to(self.folder):
            rule = "it must lie in the scenario's folder, or be allowed by --allow-outside"
            raise at_key(key, f"{key} is {name!r}; {rule}")
        return found

    def _named(self, path: Path) -> str:
        inside = path.is_relative_to(self.folder)
        return path.relative_to(self.folder).as_posix() if inside else path.as_posix()
