"""Values given instead of those in the file."""

import pytest

from sensorium.app.scenario.document import parsed
from sensorium.app.scenario.override import assigned, overridden, place_of, swept
from sensorium.core.errors import SpecError

TEXT = "a: 1\nb: {c: 2, d: [10, 20]}\n"


def test_a_key_reaches_anything():
    document = overridden(parsed(TEXT, "f"), {"a": 5, "b.c": 6, "b.d[1]": 7, "b.d.0": 8, "e.f.g": 9})
    assert document.data == {"a": 5, "b": {"c": 6, "d": [8, 7]}, "e": {"f": {"g": 9}}}


def test_the_document_itself_is_left_alone():
    document = parsed(TEXT, "f")
    overridden(document, {"b.d[0]": 99})
    assert document.data["b"]["d"] == [10, 20]


def test_errors_then_name_the_option():
    document = overridden(parsed(TEXT, "f"), {"b": {"c": 5}})
    assert document.where(("b", "c")) == '--set b={"c": 5}'
    assert document.where(("a",)) == "f:1"


def test_what_an_option_makes_is_its_own_and_what_it_changes_is_named_beside_the_file():
    document = overridden(parsed(TEXT, "f"), {"b.new.key": "x", "b.c": "long" * 100})
    assert document.where(("b", "new")) == document.where(("b", "new", "missing")) == "--set b.new.key=x"
    assert document.where(("b",)) == "f:2"
    assert document.around(("b",)).startswith("f:2 with --set b.new.key=x with --set b.c=longlong")
    assert len(document.around(("b",))) < 150
    assert document.around(("b", "new", "key")) == "--set b.new.key=x"
    assert document.around(("a",)) == "f:1"


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("b.d[2]", "--set b.d[2]: b.d is a list of 2; 2 is no number of an item"),
        ("b.d.x", "b.d is a list of 2; 'x' is no number of an item"),
        ("a.x", "a is 1; nothing can be set in it"),
        ("", "it must be names between dots"),
        ("a..b", "it must be names between dots"),
        ("a.", "it must be names between dots"),
    ],
)
def test_a_key_that_leads_nowhere_is_refused(key, words):
    with pytest.raises(SpecError) as refused:
        overridden(parsed(TEXT, "f"), {key: 1})
    assert words in str(refused.value)


def test_values_are_read_as_in_a_file():
    assert assigned("a.b=1e-3", "--set") == ("a.b", 1e-3)
    assert assigned("a = [1, x=2]", "--set") == ("a", [1, "x=2"])
    assert assigned("a=", "--set") == ("a", None)
    assert swept("k=1,2.5,[3, 4],{a: 1}") == ("k", [1, 2.5, [3, 4], {"a": 1}])


@pytest.mark.parametrize("text", ["a", "a.b"])
def test_a_value_must_be_given(text):
    with pytest.raises(SpecError, match="it must be key=value"):
        assigned(text, "--set")
    with pytest.raises(SpecError, match="it must be key=a,b,c"):
        swept(text + "=")


def test_places():
    assert place_of("scene.objects[2].label", "--set") == ("scene", "objects", 2, "label")
    assert place_of("sensors.front-left.body", "--set") == ("sensors", "front-left", "body")
