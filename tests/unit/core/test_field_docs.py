"""Fields in `help()`: each with its meaning, unit and default, and none of it at the price of importing."""

import inspect
import pydoc
import subprocess
import sys

import pytest

import sensorium as sn
from sensorium.core.field_docs import HEADING, plain_doc, sentences
from sensorium.core.spec import Spec
from sensorium.corruption import Fault


class Lamp(Spec):
    """A lamp.

    >>> 1
    1
    """

    kind: str = "lamp"
    power_W: float
    """Light it gives [W]."""
    color: str = "white"
    """Any of
    many."""
    beam: sn.Beam = sn.Beam()
    beams: tuple[sn.Beam, ...] = (sn.Beam(pulse_s=2e-9),)


class Flash(Lamp):
    """A lamp that flashes."""

    power_W: float = 3.0
    rate_hz: float = 1.0
    """How often [Hz]."""


class Bare(Lamp):
    kind: str = "bare"


def public_specifications():
    for name in sn.__all__:
        value = getattr(sn, name)
        members = (
            [getattr(value, each) for each in getattr(value, "__all__", ())] if inspect.ismodule(value) else [value]
        )
        yield from (each for each in members if inspect.isclass(each) and issubclass(each, Spec))


def test_a_list_of_fields_follows_the_docstring():
    assert Lamp.__doc__ == (
        "A lamp.\n\n>>> 1\n1\n\nFields:\n"
        "    power_W: Light it gives [W]. It must be given.\n"
        "    color: Any of many. Default 'white'.\n"
        f"    beam: Beam: {inspect.cleandoc(plain_doc(sn.Beam)).splitlines()[0]} Default\n        Beam().\n"
        f"    beams: Beam: {inspect.cleandoc(plain_doc(sn.Beam)).splitlines()[0]}"
    )


def test_fields_of_what_it_is_made_of_are_there_and_its_own_come_before():
    assert "    power_W: Light it gives [W]. Default 3.0.\n" in Flash.__doc__
    assert "    rate_hz: How often [Hz]. Default 1.0." in Flash.__doc__
    assert sentences(Flash)["color"] == "Any of\nmany."
    assert Bare.__doc__ is None
    assert plain_doc(Bare) is None


def test_help_tells_of_the_lidar():
    told = pydoc.render_doc(sn.Lidar, renderer=pydoc.plaintext)
    assert "frame: Frame of the points. Default 'sensor'." in told
    assert "pattern: Directions and firing times of the rays. It must be given." in told


@pytest.mark.parametrize("kind", sorted(set(public_specifications()), key=lambda kind: kind.__qualname__))
def test_every_field_of_what_is_public_has_a_sentence(kind):
    lines = (kind.__doc__ or "").partition(f"{HEADING}\n")[2].splitlines()
    told = {line.split(":")[0].strip(): line.split(":")[1].strip() for line in lines if not line.startswith(" " * 8)}
    assert set(told) == set(kind.model_fields) - {"kind"}
    assert not [
        name for name, sentence in told.items() if sentence.startswith(("Default", "It must be given")) or not sentence
    ]


def test_every_field_of_a_scenario_has_a_sentence():
    """In the schema, where editors look, of all that a file may hold; choices and models speak for themselves."""
    from sensorium.app.scenario.scenario import scenario_model

    definitions = scenario_model().model_json_schema()["$defs"]
    silent = [
        f"{name}.{field}"
        for name, kind in definitions.items()
        for field, told in kind.get("properties", {}).items()
        if field != "kind" and "description" not in told and not ("enum" in told or "$ref" in str(told))
    ]
    assert silent == []
    assert len(definitions) > 100
    assert definitions["SensorFault"]["properties"]["start_s"]["description"] == sentences(Fault)["start_s"]


def test_the_schema_has_the_sentences_and_not_the_list():
    schema = Flash.model_json_schema()
    assert schema["description"] == "A lamp that flashes."
    assert schema["properties"]["rate_hz"]["description"] == "How often [Hz]."


def test_importing_reads_no_sources():
    """Neither `import sensorium` nor a specification that is used; only who asks pays."""
    program = (
        "import ast, sys, sensorium as sn\n"
        "from sensorium.core import field_docs\n"
        "sn.Lidar(pattern=sn.patterns.Spinning(elevation_deg=(0,), columns=8, rate_hz=10))\n"
        "assert field_docs._classes.cache_info().currsize == 0\n"
        "sn.Lidar.__doc__\n"
        "assert field_docs._classes.cache_info().currsize > 0\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
