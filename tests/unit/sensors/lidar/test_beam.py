import pytest

import sensorium as sn
from sensorium.core.errors import SpecError


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"half_divergence_rad": 0.0}, r"half_divergence_rad is 0\.0; it must be above 0 and below 0\.5"),
        ({"half_divergence_rad": 0.5}, r"half_divergence_rad is 0\.5"),
        ({"half_divergence_rad": (1e-3, -1e-3)}, r"half_divergence_rad is -0\.001"),
        ({"half_divergence_rad": float("nan")}, "finite"),
        ({"wavelength_m": 905.0}, r"wavelength_m is 905\.0; it must be less than 0\.001"),
        ({"exit_radius_m": -0.01}, r"exit_radius_m.*-0\.01"),
        ({"detector_radius_m": 0.0}, r"detector_radius_m.*greater than 0"),
        ({"pulse_s": 0.0}, r"pulse_s.*greater than 0"),
        ({"power": 3.0}, "power is 3.0; there is no such field"),
    ],
)
def test_refusals_name_value_and_rule(fields, message):
    with pytest.raises(SpecError, match=message):
        sn.Beam(**fields)


def test_edits_are_checked_too():
    beam = sn.Beam()
    beam.half_divergence_rad = 2e-3
    with pytest.raises(SpecError, match="half_divergence_rad is 3"):
        beam.half_divergence_rad = 3.0
    assert beam.half_divergence_rad == 2e-3


def test_the_wider_of_two_angles():
    assert sn.Beam(half_divergence_rad=2e-3).widest_rad == 2e-3
    assert sn.Beam(half_divergence_rad=(1e-3, 4e-3)).widest_rad == 4e-3


def test_a_beam_survives_being_written_down():
    beam = sn.Beam(half_divergence_rad=(1e-3, 4e-3), detector_offset_m=0.02, wavelength_m=1550e-9)
    assert sn.Beam.model_validate_json(beam.model_dump_json()) == beam


def test_captured_share_reference_values():
    beam = sn.Beam(half_divergence_rad=1.5e-3, exit_radius_m=0.01, detector_radius_m=0.01)
    assert beam.captured([0.0, 5.0, 50.0, 200.0]) == pytest.approx(
        [0.864665, 0.479550, 2.73020e-2, 2.07900e-3], rel=5e-6
    )
    assert beam.captured(5.0, model="agx") == pytest.approx(0.554608, abs=5e-7)
    beside = sn.Beam(half_divergence_rad=1.5e-3, exit_radius_m=0.005, detector_radius_m=0.01, detector_offset_m=0.02)
    assert beside.captured(10.0) == pytest.approx(8.18924e-2, abs=1e-7)  # printed for w = 0.02, a tangent of 1.5e-3


def test_two_angles_and_distances_that_cannot_be():
    flat = sn.Beam(half_divergence_rad=(3e-3, 1e-3))
    assert sn.Beam(half_divergence_rad=3e-3).captured(50.0) < flat.captured(50.0)
    assert flat.captured(50.0) < sn.Beam(half_divergence_rad=1e-3).captured(50.0)
    with pytest.raises(SpecError, match="round beams only"):
        flat.captured(50.0, model="agx")
    with pytest.raises(SpecError, match="z_m is -1"):
        flat.captured(-1.0)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"rays": 0}, r"rays is 0; it must be"),
        ({"rays": 2}, "rays is 2; a beam must have 1 ray, or 3 and more to span its cross-section"),
        ({"rays": 5000}, "rays is 5000"),
        ({"rays": 19, "separation_m": 0.0}, r"separation_m.*greater than 0"),
        ({"separation_m": 0.5}, r"separation_m is 0\.5 with rays 1; it is between returns of several rays"),
    ],
)
def test_beams_of_several_rays_that_cannot_be(fields, message):
    with pytest.raises(SpecError, match=message):
        sn.Beam(**fields)


def test_the_separation_is_that_of_the_pulse_unless_said():
    assert sn.Beam(pulse_s=5e-9).least_separation_m == pytest.approx(0.749481, abs=1e-6)
    assert sn.Beam(rays=19, separation_m=0.4).least_separation_m == 0.4
