"""Families of checks: every module of laws is listed, once, and no two checks share a name."""

import importlib
import pkgutil

from sensorium.qa.validation import laws
from sensorium.qa.validation.check import Family
from sensorium.qa.validation.families import FAMILIES


def test_every_family_of_a_module_of_laws_is_on_the_page_once():
    modules = [importlib.import_module(f"{laws.__name__}.{each.name}") for each in pkgutil.iter_modules(laws.__path__)]
    there = {id(value) for module in modules for value in vars(module).values() if isinstance(value, Family)}
    assert {id(family) for family in FAMILIES} == there
    assert len(FAMILIES) == len(there)


def test_names_are_different_and_no_family_is_empty():
    assert len({family.title for family in FAMILIES}) == len(FAMILIES)
    names = [check.name for family in FAMILIES for check in family.checks]
    assert len(set(names)) == len(names)
    assert all(family.checks for family in FAMILIES)
