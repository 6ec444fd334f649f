"""Scenario files as data: what words mean, where things stand, and what is refused."""

import hashlib
import json
import math
import random

import pytest

from sensorium.app.scenario.document import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_VALUES,
    Files,
    parsed,
    read_document,
    sha256,
    value_of,
)
from sensorium.core.errors import SpecError


def test_many_merges_keep_order_and_importance():
    """As merging one after the other into what is there, which takes the square of the time."""
    rng = random.Random(3)
    for _ in range(200):
        maps = [{rng.choice("abcdefgh"): rng.randint(0, 9) for _ in range(rng.randint(0, 4))} for _ in range(5)]
        own = {rng.choice("abcdefgh"): rng.randint(0, 9) for _ in range(rng.randint(0, 3))}
        lines = [f"m{n}: &m{n} {json.dumps(each)}" for n, each in enumerate(maps)]
        chosen = [rng.randrange(5) for _ in range(rng.randint(1, 6))]
        merges = [f"  <<: *m{n}" for n in chosen]
        text = "\n".join([*lines, "x:", *merges, *(f"  {key}: {value}" for key, value in own.items())])
        expected = own
        for n in chosen:
            expected = {**maps[n], **expected}
        assert list(parsed(text, "a").data["x"].items()) == list(expected.items())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("3", 3), ("-7", -7), ("0x10", 16), ("0o17", 15), ("010", 10)),
        *(("1e-3", 1e-3), ("20e-6", 20e-6), (".5", 0.5), ("1.", 1.0), ("-2.5E+3", -2500.0)),
        *(("true", True), ("false", False), ("null", None), ("~", None), ("", None)),
        *(
            ("on", "on"),
            ("no", "no"),
            ("yes", "yes"),
            ("12:30", "12:30"),
            ("2026-11-16", "2026-11-16"),
            ("1_000", "1_000"),
        ),
        *(("'3'", "3"), ('"true"', "true"), (".inf", math.inf), ("-.inf", -math.inf)),
        *(("[1, 2.0, x]", [1, 2.0, "x"]), ("{a: 1, b: {c: []}}", {"a": 1, "b": {"c": []}})),
    ],
)
def test_words_mean_what_yaml_1_2_says(text, value):
    found = value_of(text, "x")
    assert found == value
    assert type(found) is type(value)


def test_nan_is_read_as_such_so_that_the_check_can_name_it():
    assert math.isnan(value_of(".nan", "x"))


def test_every_place_knows_its_line():
    document = parsed("a: 1\nb:\n  c: [x,\n    y]\n  d: {e: 2}\n", "file.yaml")
    assert document.data == {"a": 1, "b": {"c": ["x", "y"], "d": {"e": 2}}}
    lines = {("a",): 1, ("b",): 2, ("b", "c"): 3, ("b", "c", 0): 3, ("b", "c", 1): 4, ("b", "d", "e"): 5}
    for place, line in lines.items():
        assert document.where(place) == f"file.yaml:{line}"


def test_what_was_not_written_is_told_by_what_it_belongs_to():
    document = parsed("a: 1\nb:\n  c: 3\n", "file.yaml")
    assert document.where(("b", "missing", 3)) == "file.yaml:2"


def test_aliases_and_merges_are_taken_in():
    text = "base: &base {x: 1, y: 2}\nother: *base\nmine: {<<: *base, y: 3}\nboth: {<<: [{x: 5}, *base]}\n"
    data = parsed(text, "f").data
    assert data["other"] == {"x": 1, "y": 2}
    assert data["mine"] == {"x": 1, "y": 3}
    assert data["both"] == {"x": 5, "y": 2}


def bomb(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines)


def chain(link):
    """Values that hold the one before: deep, though no line is."""
    return "a0: &a0 {}\n" + "".join(f"a{n}: &a{n} {link.format(n - 1)}\n" for n in range(1, 3000))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (bomb(9), f"f:1: it has more than {MAX_VALUES} values once aliases are written out"),
        ("a: " + "[" * 5000, f"f:1: more than {MAX_DEPTH} levels are nested"),
        ("a: " + "{x: " * 5000, f"f:1: more than {MAX_DEPTH} levels are nested"),
        (chain("[*a{}]"), f"f:1: more than {MAX_DEPTH} levels are nested"),
        (chain("{{<<: *a{}}}"), f"f:1: more than {MAX_DEPTH} levels are nested"),
        ("a: &a [*a]", "f:1: an alias stands inside what it stands for"),
        (
            "a: 1\nb: !!python/object/apply:os.system [ls]",
            "f:2: the tag 'tag:yaml.org,2002:python/object/apply:os.system'",
        ),
        ("a: !!int 3", "f:1: the tag 'tag:yaml.org,2002:int' is not allowed"),
        ("a: 1\nb: 2\na: 3", "f:3: a is given twice"),
        ("x: {y: {z: 1, z: 2}}", "f:1: x.y.z is given twice"),
        ("a: [1, 2\nb: 3", "f:2: this is no YAML"),
        ("a: *nowhere", "f:1: this is no YAML: found undefined alias 'nowhere'"),
        ("a: 1\n---\nb: 2", "f:2: this is no YAML"),
        ("? [1, 2]\n: 3", "f:1: a key is a list or a mapping"),
        ("a: {<<: 3}", "f:1: << takes in something that is no mapping"),
        ("- 1\n- 2", "f: it holds no mapping"),
        ("", "f: it holds nothing"),
        ("a: \x07", "this is no YAML"),
    ],
)
def test_what_is_not_plain_data_is_one_line_with_its_place(text, words):
    with pytest.raises(SpecError) as refused:
        parsed(text, "f")
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_is_read_within_limits(tmp_path):
    file = tmp_path / "big.yaml"
    file.write_text("a: " + "x" * MAX_BYTES)
    with pytest.raises(SpecError, match=f"has {MAX_BYTES + 3} bytes; a scenario may have {MAX_BYTES}"):
        read_document(file)
    file.write_bytes(b"a: \xff")
    with pytest.raises(SpecError, match="is not text in UTF-8: byte 3 is 255"):
        read_document(file)
    with pytest.raises(SpecError, match="No such file"):
        read_document(tmp_path / "none.yaml")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "inside" / "deep").mkdir(parents=True)
    (tmp_path / "inside" / "deep" / "a.txt").write_text("A")
    (tmp_path / "outside.txt").write_text("B")
    (tmp_path / "inside" / "link.txt").symlink_to(tmp_path / "outside.txt")
    return tmp_path / "inside"


def test_a_file_of_the_folder_is_found_and_remembered_with_its_hash(folder):
    files = Files(folder)
    assert files.path("deep/../deep/a.txt", "mesh") == (folder / "deep" / "a.txt").resolve()
    assert files.hashes() == {"deep/a.txt": hashlib.sha256(b"A").hexdigest()}
    assert sha256(folder / "deep" / "a.txt") == hashlib.sha256(b"A").hexdigest()


@pytest.mark.parametrize("name", ["../outside.txt", "link.txt", "/etc/passwd", "deep/../../outside.txt"])
def test_nothing_leads_out_unless_it_is_allowed(folder, name):
    with pytest.raises(SpecError, match="it must lie in the scenario's folder") as refused:
        Files(folder).path(name, "mesh")
    assert refused.value.problems[0][0] == ("mesh",)
    assert Files(folder, allow_outside=True).path(name, "mesh").is_file()


@pytest.mark.parametrize(
    ("name", "words"), [("no.txt", "no such file"), ("deep", "no such file"), ("a\0b", "no file name")]
)
def test_what_is_no_file_is_said(folder, name, words):
    with pytest.raises(SpecError, match=words):
        Files(folder).path(name, "mesh")
