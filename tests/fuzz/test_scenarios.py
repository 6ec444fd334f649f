"""Scenario files: plain data that come back, and files that are large in every way."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.promise import check
from fuzz.readers import READERS
from fuzz.strategies import attempts
from sensorium.app.scenario.document import parsed, read_document
from sensorium.app.scenario.scenario import Scenario
from sensorium.core.errors import SpecError

READER = READERS["scenario"]


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


@attempts()
@given(data=st.dictionaries(st.text(max_size=10), values, max_size=6))
def test_what_is_written_as_json_comes_back(data):
    """JSON is a part of YAML; halves of characters, as JSON escapes what is rare, become whole again."""
    assert parsed(json.dumps(data), "data.json").data == data


def refused(folder, text, says):
    assert not check(READER, text.encode(), folder)
    with pytest.raises(SpecError, match=says) as error:
        Scenario.load(folder / "input.yaml")
    return str(error.value)


def test_thousands_of_mistakes_are_told_in_short(folder):
    """Comparing each with each took minutes, and telling them a megabyte."""
    words = ",".join("a" * 2000)
    heights = f"{{kind: heightfield, size_x: 1, size_y: 1, heights: [[{words}]]}}"
    text = f"duration_s: 1\nscene: {{objects: [{{shape: {heights}}}]}}\n"
    told = refused(folder, text, r"heights\[0\]\[0\] is 'a'")
    assert told.endswith("the whole has 1950 more mistakes; mend these first")
    assert told.count("\n") == 50
    keys = "".join(f"durasion_{k}: 1\n" for k in range(2000))
    assert refused(folder, f"duration_s: 1\n{keys}", "durasion_0 is 1; did you mean duration_s").count("\n") == 50


def test_values_are_counted_while_they_are_read(folder, monkeypatch):
    monkeypatch.setattr("sensorium.app.scenario.document.MAX_VALUES", 100)
    (folder / "input.yaml").write_text(f"a: [{'1,' * 1000}\n] this is no YAML")
    with pytest.raises(SpecError, match=r"input\.yaml:1: it has more than 100 values"):
        read_document(folder / "input.yaml")


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000, "a:\n" + " - &x [*x]\n", "? " * 1000]
)
def test_nests_and_circles_end(folder, text):
    assert not check(READER, text.encode(), folder)


@pytest.mark.parametrize("text", [r'title: "\ud800"', r'"\udc00": 1', r'title: "\ude00\ud83d"'])
def test_half_a_character_is_none(folder, text):
    """It could not be written into a report, nor into a manifest."""
    refused(folder, f"duration_s: 1\n{text}\n", "has half a character")


def test_what_files_say_does_not_steer_the_terminal(folder):
    told = refused(folder, 'duration_s: 1\n"\\e[2J\\a": 1\n', "there is no such field")
    assert told == r"input.yaml:2: '\x1b[2J\x07' is 1; there is no such field"
