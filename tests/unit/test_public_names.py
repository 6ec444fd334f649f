"""Every public name is meant: modules show no more than `__all__`, readings agree, and spelling is American."""

import inspect
import re
import tokenize
from pathlib import Path
from types import ModuleType

import pytest

import sensorium as sn

MODULES = [name for name in sn.__all__ if isinstance(getattr(sn, name), ModuleType)]

# Written with brackets, so that a script that replaces words leaves them
BRITISH = re.compile(
    r"colo[u]r|cent[r]e|gre[y](?!hound)|(?<!para)(?<!Fra)met[r]e|mode[l]led|labe[l]led|neighbo[u]r|behavio[u]r|trave[l]led"
    r"|(normal|digit|organ|quant|polar|random|general|discret|vector|optim|initial|synchron)i[s](e|ing|ation)",
    re.IGNORECASE,
)
SOURCE = Path(sn.__file__).parent


@pytest.mark.parametrize("name", MODULES)
def test_a_public_module_shows_its_names_only(name):
    module = getattr(sn, name)
    extra = set(dir(module)) - set(module.__all__)
    folders = {each for each in extra if isinstance(getattr(module, each), ModuleType) and _is_within(module, each)}
    assert not [each for each in extra - folders if not each.startswith("_")]
    for each in module.__all__:
        value = getattr(module, each)
        assert not each.startswith("_")
        assert not isinstance(value, ModuleType) or _is_within(module, each)


def _is_within(module, name):
    return getattr(module, name).__name__.startswith(f"{module.__name__}.")


def test_every_name_of_the_package_is_there_and_known_to_type_checkers():
    known = set(re.findall(r"\w+", inspect.getsource(sn).split("if TYPE_CHECKING:")[1].split("__all__")[0]))
    assert sorted(sn.__all__) == sorted(set(dir(sn)) - {"__version__"})
    assert not [name for name in sn.__all__ if name not in known]


def test_readings_are_public():
    classes = {name for name in sn.__all__ if inspect.isclass(getattr(sn, name))}
    defined = {
        match
        for file in (SOURCE / "sensors").rglob("*.py")
        for match in re.findall(r"^class (\w+Reading)\(SampledReading\)", file.read_text(), re.MULTILINE)
    }
    assert defined <= classes
    assert {"AttachedSensor", "Scan", "CameraImage", "DepthImage", "RadarReading"} <= classes


def test_names_are_american():
    """One spelling, so that no one has to remember which name has which."""
    for file in SOURCE.rglob("*.py"):
        with file.open("rb") as source:
            names = {token.string for token in tokenize.tokenize(source.readline) if token.type == tokenize.NAME}
        assert not {name for name in names if BRITISH.search(name)}, file


def test_savers_take_the_path_first():
    savers = [name for name in sn.record.__all__ if name.startswith("save_")]
    assert len(savers) >= 7
    for saver in [*(getattr(sn.record, name) for name in savers), sn.view.save_figure]:
        assert next(iter(inspect.signature(saver).parameters)) == "path", saver


def test_threads_are_got_as_they_were_set():
    before = sn.get_threads()
    try:
        sn.set_threads(before + 2)
        assert sn.get_threads() == before + 2
    finally:
        sn.set_threads(before)


def test_a_material_may_be_named():
    concrete = sn.materials.load("concrete")
    assert sn.Scene().add(sn.shapes.box(1, 1, 1), material="concrete").material is concrete
    assert sn.SceneObject(sn.shapes.box(1, 1, 1), material="concrete").material is concrete
    assert sn.MeshFile(Path("wall.ply"), material="concrete").material is concrete


@pytest.mark.parametrize(
    ("make", "place"),
    [
        (lambda **f: sn.Barometer(**f), ""),
        (lambda **f: sn.SunSensor(**f), ""),
        (lambda **f: sn.Encoder(**f), ""),
        (lambda **f: sn.Odometer(**f), ""),
        (lambda **f: sn.Gnss(position=f), "position."),
        (lambda **f: sn.Imu(linear=f), "linear."),
        (lambda **f: sn.ConeSensor(range=f), "range."),
        (lambda **f: sn.Radar(range=f), "range."),
    ],
)
def test_old_keys_are_told_the_new_ones(make, place):
    for old, new in (("sat", "saturation"), ("discrete", "quantization")):
        with pytest.raises(sn.errors.SpecError, match=rf"{re.escape(place)}{old} .*did you mean {new}\?"):
            make(**{old: {"on": False}})
