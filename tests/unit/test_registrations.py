"""Everything that the library registers is complete: nothing that has a file of its own is left out of its list."""

import importlib
import pkgutil
from pathlib import Path
from typing import get_args

import pytest

import sensorium as sn
from fuzz.readers import READERS
from sensorium.app.scenario import run, worlds
from sensorium.app.scenario.basilisk import BasiliskSpec
from sensorium.app.scenario.outputs import Outputs
from sensorium.app.scenario.scenario import _WORLDS
from sensorium.corruption import errors, faults
from sensorium.corruption.engine.base import Corruption
from sensorium.scene.formats.loading import _READERS


@pytest.mark.parametrize("package", [errors, faults], ids=["errors", "faults"])
def test_every_corruption_is_exported(package):
    for found in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{found.name}")
        made = [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]
        for each in made:
            if issubclass(each, Corruption) and not each.__subclasses__() and not each.__name__.startswith("_"):
                assert getattr(sn.corruption, each.__name__, None) is each, f"{each} is not in sensorium.corruption"


def test_every_world_of_scenario_files_is_registered():
    made = {each for each in vars(worlds).values() if isinstance(each, type) and issubclass(each, worlds.WorldSpec)}
    left_out = {worlds.WorldSpec, worlds.JoinedSpec}
    assert set(_WORLDS.values()) == made - left_out | {BasiliskSpec}
    assert all(get_args(spec.model_fields["kind"].annotation) == (kind,) for kind, spec in _WORLDS.items())


def test_every_mesh_format_is_fuzzed():
    fuzzed = {reader.suffix for reader in READERS.values()}
    assert set(_READERS) <= fuzzed, "a format needs a reader in fuzz/readers/meshes.py"


def test_every_output_of_a_run_has_its_recorder():
    assert set(run._RECORDERS) == set(Outputs.model_fields) - {"report"}
    for recorder, _ in run._RECORDERS.values():
        assert issubclass(getattr(sn.record, recorder), sn.record.Recorder)


def test_a_world_that_is_none_is_refused():
    with pytest.raises(sn.SensoriumError, match="world is a object without start, step, state, reset, body_names"):
        sn.Environment(sn.Scene(), object())


def test_every_package_of_the_tests_is_tried():
    folder = Path(__file__).parents[1] / "packages"
    tried = (folder.parent / "system" / "test_third_party.py").read_text()
    assert all(package.name in tried for package in folder.iterdir() if package.is_dir())
