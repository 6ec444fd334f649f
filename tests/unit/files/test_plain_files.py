"""TOML and JSON of strangers: plain data, or one error that names the file and the rule."""

import pytest

from sensorium.core.errors import SpecError
from sensorium.files import plain_files
from sensorium.files.plain_files import read_json, read_toml


def written(folder, name, data):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def test_plain_data_come_back(tmp_path):
    toml = written(tmp_path, "a.toml", 'a = 1\nb.c = [1.5, "ü"]\n[d]\ne = true\n')
    assert read_toml(toml) == {"a": 1, "b": {"c": [1.5, "ü"]}, "d": {"e": True}}
    json = written(tmp_path, "a.json", '{"a": [1, -2.5e-3, "\\u00fc", "\\ud83d\\ude00", null, false]}')
    assert read_json(str(json)) == {"a": [1, -0.0025, "ü", "😀", None, False]}
    assert read_json(written(tmp_path, "n.json", "9" * 1000)) == int("9" * 1000)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = nan", "holds the number nan; every number must be finite"),
        ("a = [1e400]", "holds the number 1e400"),
        ("a = 9223372036854775808", "an integer of 64 bits; TOML has 64"),
        ("a.b = [[0x1" + "0" * 40 + "]]", "an integer of 161 bits"),
        (".".join(["a"] * 40) + " = 1", "a key of more than 32 parts"),
        ("a = 1\na = 2", "not TOML in UTF-8"),
        ("a = [" * 5000, "not TOML|nested too deep for TOML"),
        (b"a = '\xff'", "not TOML in UTF-8"),
    ],
)
def test_what_is_no_plain_toml_is_one_line_with_the_file(tmp_path, text, words):
    path = written(tmp_path, "bad.toml", text)
    with pytest.raises(SpecError, match=words) as refused:
        read_toml(path)
    assert str(refused.value).startswith(f"{path}: the file ")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("NaN", "holds the number NaN"),
        ("[-Infinity]", "holds the number -Infinity"),
        ("1e999", "holds the number 1e999"),
        ("9" * 1001, "holds the number 9{40};"),
        ('"\\ud83d"', "half a character; its other half must follow"),
        ('"\\ud83d\\ude00 \\udc00"', "half a character"),
        ("[" * 200_000, "nested too deep for JSON"),
        ("{", "not JSON in UTF-8"),
        ("", "not JSON in UTF-8"),
        (b"\xff\xfe1", "not JSON in UTF-8"),
    ],
)
def test_what_is_no_plain_json_is_one_line_with_the_file(tmp_path, text, words):
    path = written(tmp_path, "bad.json", text)
    with pytest.raises(SpecError, match=words) as refused:
        read_json(path)
    assert str(refused.value).startswith(f"{path}: the file ")
    assert "\n" not in str(refused.value)


def test_a_mark_before_the_text_is_passed_over(tmp_path):
    """Some editors put one there."""
    assert read_toml(written(tmp_path, "a.toml", "\ufeffa = 1")) == {"a": 1}
    assert read_json(written(tmp_path, "a.json", "\ufeff[1]")) == [1]


def test_a_file_that_is_too_large_or_not_there_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(plain_files, "MAX_TOML_BYTES", 5)
    path = written(tmp_path, "a.toml", "a = 1\n")
    with pytest.raises(SpecError, match="the file has 6 bytes; as TOML it may have 5"):
        read_toml(path)
    with pytest.raises(SpecError, match=r"none\.json: the file cannot be read: No such file"):
        read_json(tmp_path / "none.json")
    with pytest.raises(SpecError, match="cannot be read"):
        read_json(tmp_path)
