"""One registration a sensor: what follows from it, for every sensor of the library."""

import ast
from pathlib import Path
from typing import get_args

import pytest

import sensorium as sn
from sensorium.app.scenario.scenario import json_schema
from sensorium.core.errors import SpecError
from sensorium.core.spec import checked
from sensorium.sensors import registry
from sensorium.sensors.barometer import BarometerReading
from sensorium.sensors.built_in import BASES, BUILT_IN
from sensorium.sensors.common.spec import SensorSpec
from sensorium.sensors.registry import SensorKind, kind_of, loaded, public_names, specifications

KINDS = sorted(BUILT_IN)


def all_specs(base=SensorSpec):
    for kind in base.__subclasses__():
        yield kind
        yield from all_specs(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_all_that_a_registration_names_is_there(kind):
    sensor = BUILT_IN[kind]
    spec = loaded(sensor.spec)
    assert get_args(spec.model_fields["kind"].annotation) == (kind,)
    assert getattr(sn, spec.__name__) is spec
    assert isinstance(loaded(sensor.reading), type)
    assert callable(loaded(sensor.messages))
    assert sensor.table in (None, "none") or isinstance(loaded(sensor.table), type)
    for name, module in sensor.public.items():
        assert getattr(sn, name).__module__ == module
    for sample in sensor.samples.values():
        assert isinstance(checked(spec, sample.fields, ""), spec)


def test_every_sensor_of_the_library_is_registered():
    for kind in KINDS:
        loaded(BUILT_IN[kind].spec)
    ours = {kind for kind in all_specs() if kind.__module__.startswith("sensorium.sensors.")}
    assert {kind for kind in ours if "kind" in kind.model_fields} == {
        loaded(sensor.spec) for sensor in BUILT_IN.values()
    }


def test_every_sensor_has_a_determinism_sample_or_shares_the_model_of_one_that_has():
    without = {kind for kind in KINDS if not BUILT_IN[kind].samples}
    assert without == {"accelerometer", "gyroscope"}  # groups of the IMU


def test_scenario_files_know_every_kind():
    text = str(json_schema()["properties"]["sensors"])
    assert all(f"'{kind}'" in text for kind in KINDS)
    assert set(specifications()) >= set(KINDS)


def test_public_names_are_listed_for_type_checkers_too():
    tree = ast.parse(Path(sn.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imported = {alias.name: node.module for node in block.body for alias in node.names}
    for name, module in public_names().items():
        assert imported.get(name) == module, f"{name} of {module} is not imported under TYPE_CHECKING"
        assert name in sn.__all__
        assert name in dir(sn)


def test_readings_derived_from_those_of_the_library_have_their_messages():
    class Filtered(BarometerReading):
        pass

    spec = sn.Barometer()
    assert kind_of(spec, Filtered).messages == BUILT_IN["barometer"].messages
    assert kind_of(spec, int).messages is None
    assert kind_of(spec, sn.RayReading) is BASES[0]


def test_a_registration_of_another_kind_or_of_the_librarys_is_refused(monkeypatch):
    for name, given, words in (
        ("sonar", SensorKind(int), "sensor 'sonar' is <class 'int'>; it must be a subclass of SensorSpec"),
        ("sonar", sn.Barometer, r"sensor 'sonar' has the kind \('barometer',\); it must be its name"),
        ("barometer", sn.Barometer, "a package announces a sensor 'barometer'; the library has one of that name"),
    ):
        monkeypatch.setattr(registry.plugins, "announced", lambda group, name=name: {name: None})
        monkeypatch.setattr(registry.plugins, "load", lambda group, name, given=given: given)
        with pytest.raises(SpecError, match=words):
            specifications()
