"""Retroreflective sheeting."""

import math

import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.materials import Lambertian, Retroreflector
from sensorium.physics.materials.row import RETRO, RETRO_Q, C
from sensorium.physics.optics import retroreflection


def test_a_sign_outshines_a_wall(monostatic):
    row = Retroreflector(coefficient=200.0).row(905e-9)
    sheet = retroreflection(1.0, coefficient_per_sr=row[RETRO], exponent=row[RETRO_Q])
    wall = monostatic(Lambertian(reflectance=0.5).row(905e-9), 0.0)
    assert sheet / wall == pytest.approx(1257.0, abs=0.5)


def test_fall_off_with_the_entrance_angle():
    row = Retroreflector(coefficient=200.0, falloff=3.0).row(905e-9)
    tilted = retroreflection(math.cos(0.5), coefficient_per_sr=row[RETRO], exponent=row[RETRO_Q])
    assert tilted == pytest.approx(200.0 * math.cos(0.5) ** 3, rel=1e-12)


def test_the_base_may_come_from_the_mesh():
    assert Retroreflector(coefficient=70.0, reflectance=0.3).row(905e-9)[C] == 0.3
    assert Retroreflector(coefficient=70.0, reflectance="paint").property_name == "paint"


def test_a_negative_coefficient_is_refused():
    with pytest.raises(SpecError, match=r"coefficient is -1.0; it must be greater than or equal to 0"):
        Retroreflector(coefficient=-1.0)
