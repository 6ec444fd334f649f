"""What installed packages bring, with a real package on the path."""

import sys
import textwrap

import pytest

import sensorium as sn
from sensorium.app.scenario import Scenario, json_schema
from sensorium.app.scenario.scenario import scenario_model
from sensorium.core import plugins
from sensorium.core.errors import SpecError
from sensorium.corruption.engine.base import Corruption
from sensorium.physics.materials import library

MODULE = """
from typing import Literal

import sensorium as sn
from sensorium.app.scenario import WorldSpec
from sensorium.sensors.inertial.triads import Gyroscope


class Sonar(Gyroscope):
    kind: Literal["sonar"] = "sonar"
    pings: int = 3


class Drizzle(sn.corruption.CustomCorruption):
    kind: Literal["acme_drizzle"] = "acme_drizzle"
    depth: float = 1.0

    def corrupted(self, x, state, moment):
        return x - self.depth


class Ship(WorldSpec):
    kind: Literal["ship"]
    speed: float = 1.0

    def make(self, files):
        return sn.worlds.Kinematic({"ship": sn.paths.Line((0, 0, 0), (self.speed, 0, 0))}, step_s=0.1)


paint = sn.Lambertian(reflectance=0.25)


def steel():
    return sn.Lambertian(reflectance=0.6)


def harbour():
    scene = sn.Scene()
    scene.add(sn.shapes.plane(50), label="water", name="water")
    return scene


def nothing():
    return 3
"""

POINTS = """
[sensorium.sensors]
sonar = acme:Sonar
[sensorium.corruptions]
acme_drizzle = acme:Drizzle
[sensorium.materials]
acme-paint = acme:paint
acme-steel = acme:steel
acme-nothing = acme:nothing
[sensorium.worlds]
ship = acme:Ship
[sensorium.scenes]
harbour = acme:harbour
broken = acme_missing:harbour
number = acme:nothing
"""


def forget():
    for cache in (plugins.announced, library._announced, scenario_model):
        cache.cache_clear()


@pytest.fixture
def acme(tmp_path, monkeypatch):
    """A package of a third party, as pip would leave it."""
    (tmp_path / "acme.py").write_text(MODULE)
    info = tmp_path / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(textwrap.dedent(POINTS))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(Corruption, "kinds", Corruption.kinds.copy())  # where a class registers itself
    monkeypatch.delitem(sys.modules, "acme", raising=False)
    forget()
    yield tmp_path
    sys.modules.pop("acme", None)
    forget()


def test_sensors_worlds_materials_and_scenes_of_others_work_by_name(acme):
    (acme / "s.yaml").write_text(
        "duration_s: 1\n"
        "scene: {include: [harbour], objects: [{shape: {kind: sphere, radius: 1}, material: acme-steel}]}\n"
        "world: {kind: ship, speed: 4}\n"
        "sensors: {ping: {kind: sonar, body: ship, pings: 5, timing: {rate_hz: 10}}}\n"
    )
    env = Scenario.load(acme / "s.yaml").environment()
    for _ in env.run(1.0):
        pass
    assert env.state.X_WB.position[0, 0].tolist() == [4.0, 0.0, 0.0]
    assert env.sensors["ping"].spec.pings == 5
    assert env.sensors["ping"].read().angular_velocity.tolist() == [0.0, 0.0, 0.0]
    assert [thing.label for thing in env.scene.objects] == ["water", None]
    assert env.scene.objects[1].material == sn.Lambertian(reflectance=0.6)


def test_corruptions_of_others_work_by_name_as_errors_and_as_faults(acme):
    (acme / "s.yaml").write_text(
        "duration_s: 1\n"
        "sensors: {air: {kind: barometer, timing: {rate_hz: 10}, extra: [{kind: acme_drizzle, depth: 5}]}}\n"
        "faults: [{sensor: air, corruption: {kind: acme_drizzle, depth: 100}, start_s: 0.5}]\n"
    )
    env = Scenario.load(acme / "s.yaml").environment()
    off = []
    for _ in env.run(1.0):
        if env.sensors["air"].fresh:
            air = env.sensors["air"]
            off.append(round(float(air.read().pressure_Pa - air.truth().pressure_Pa), 6))
    assert off == [-5.0] * 4 + [-105.0] * 6


def test_nothing_of_them_is_left_where_they_are_not_installed():
    assert not [kind for kind in Corruption.kinds if kind.startswith("acme")]
    assert "acme" not in sys.modules


def test_the_schema_for_editors_has_them_too(acme):
    text = str(json_schema())
    assert "'acme_drizzle'" in text
    assert "'sonar'" in text
    assert "'ship'" in text


def test_materials_of_others_load_like_those_of_the_library(acme):
    assert sn.materials.load("acme-paint") == sn.Lambertian(reflectance=0.25)
    assert sn.materials.load("acme-steel") is sn.materials.load("acme-steel")
    with pytest.raises(SpecError, match="material 'acme-nothing' is a int; it must be a material"):
        sn.materials.load("acme-nothing")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("harbor", "'harbor' is not among the scenes that installed packages bring; did you mean 'harbour'?"),
        ("broken", "scenes 'broken' cannot be loaded from 'acme_missing:harbour'; ModuleNotFoundError"),
        ("number", "'number' made a int; it must make a sn.Scene"),
    ],
)
def test_what_does_not_work_is_one_line_with_its_place(acme, name, words):
    (acme / "s.yaml").write_text(f"duration_s: 1\nscene:\n  include: [{name}]\n")
    with pytest.raises(SpecError) as refused:
        Scenario.load(acme / "s.yaml").environment()
    assert str(refused.value).startswith("s.yaml:3: scene.include[0]: ")
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_librarys_own_scenes_come_the_same_way():
    assert "yard" in plugins.announced("scenes")
    assert "ground" in plugins.load("scenes", "yard")().labels


def test_two_packages_must_not_announce_one_name(acme):
    other = acme / "rival-1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: rival\nVersion: 1.0\n")
    (other / "entry_points.txt").write_text("[sensorium.scenes]\nharbour = rival:harbour\n")
    plugins.announced.cache_clear()
    with pytest.raises(SpecError, match=r"both announce scenes of the name 'harbour'"):
        plugins.announced("scenes")
