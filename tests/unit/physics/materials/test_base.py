"""Reflectance in its four forms."""

import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.materials import Bands, Lambertian, Mirror, Spectrum
from sensorium.physics.materials.row import C_FROM_MESH, C

RGB = Bands(limits_m=((400e-9, 500e-9), (500e-9, 600e-9), (600e-9, 700e-9)), value=(0.1, 0.2, 0.3))


def diffuse(reflectance, wavelength_m=905e-9):
    return Lambertian(reflectance=reflectance).row(wavelength_m)[C]


def test_a_number_holds_at_all_wavelengths():
    assert diffuse(0.37) == diffuse(0.37, 400e-9) == 0.37
    assert diffuse(0) == 0.0
    assert diffuse(1) == 1.0


def test_a_spectrum_is_taken_at_the_wavelength():
    pairs = ((900e-9, 0.2), (1000e-9, 0.4))
    assert diffuse(pairs, 950e-9) == pytest.approx(0.3)
    assert diffuse(Spectrum(wavelength_m=(900e-9, 1000e-9), value=(0.2, 0.4)), 975e-9) == pytest.approx(0.35)
    with pytest.raises(SpecError, match="reflectance is asked for at 1550 nm; its spectrum covers 900 to 1000 nm"):
        diffuse(pairs, 1550e-9)


def test_a_band_holds_from_its_lower_limit_up_to_the_next():
    assert diffuse(RGB, 400e-9) == diffuse(RGB, 450e-9) == 0.1
    assert diffuse(RGB, 500e-9) == 0.2
    assert diffuse(RGB, 650e-9) == 0.3
    assert Lambertian(reflectance=RGB.model_dump()) == Lambertian(reflectance=RGB)
    with pytest.raises(SpecError, match="asked for at 905 nm; its bands cover 400 to 500, 500 to 600, 600 to 700 nm"):
        diffuse(RGB)


def test_a_name_leaves_it_to_the_mesh():
    painted = Lambertian(reflectance="paint", band=2)
    assert (painted.property_name, painted.property_band) == ("paint", 2)
    assert painted.row(905e-9)[C] == C_FROM_MESH < 0.0
    plain = Lambertian(reflectance=0.5)
    assert (plain.property_name, plain.property_band) == (None, 0)


def test_a_band_without_a_mesh_property_is_refused():
    with pytest.raises(SpecError, match="band is 1; only a reflectance that names a mesh property has a band"):
        Lambertian(reflectance=0.5, band=1)


@pytest.mark.parametrize(
    ("reflectance", "rule"),
    [
        (1.2, "is 1.2; it must be less than or equal to 1"),
        (-0.1, "is -0.1; it must be greater than or equal to 0"),
        (float("nan"), "finite number"),
        (((905e-9, 1.3),), "reflectance is 1.3; it must be between 0 and 1"),
        (((905e-9, -0.3),), "a value is -0.3; it must not be negative"),
        ({"limits_m": ((4e-7, 5e-7),), "value": (1.1,)}, "is 1.1; it must be less than or equal to 1"),
        ({"limits_m": ((4e-7, 5e-7),), "value": (0.1, 0.2)}, "1 bands and 2 values"),
        ({"limits_m": ((5e-7, 4e-7),), "value": (0.1,)}, "its limits must increase"),
        ({"limits_m": ((4e-7, 6e-7), (5e-7, 7e-7)), "value": (0.1, 0.2)}, "they must not overlap"),
        ("", "at least 1 character"),
        (None, "valid number"),
    ],
)
def test_what_cannot_be_a_reflectance_is_refused_with_one_reason(reflectance, rule):
    with pytest.raises(SpecError, match=rule) as refused:
        Lambertian(reflectance=reflectance)
    assert str(refused.value).count("; ") == 1
    assert "reflectance" in str(refused.value)


def test_a_mirror_cannot_leave_it_to_the_mesh():
    with pytest.raises(SpecError, match="reflectance is 'paint'; it must be a number or spectrum or bands"):
        Mirror(reflectance="paint")
