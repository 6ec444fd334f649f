"""Risley prisms against Snell's law, thin-prism theory and the published figures of two devices."""

from fractions import Fraction

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.patterns import Prism, Rosette


def livox(first_wedge_deg, index, phase_deg):
    """Two 18 degree wedges back to back, 7294 and -4664 rpm, 100 kHz, 10 sweeps a second."""
    glass = {"refractive_index": index, "phase_deg": phase_deg}
    return Rosette(
        prisms=(
            Prism(wedge_deg=first_wedge_deg, rotor_rpm=7294.0, **glass),
            Prism(wedge_deg=-first_wedge_deg, rotor_rpm=-4664.0, **glass),
        ),
        point_rate_hz=100_000.0,
        rate_hz=10.0,
        first_shot_s=1e-5,
    )


MID40 = livox(-18.0, 1.5089, 180.0)
MID70 = livox(18.0, 1.8144, 0.0)


def off_axis_deg(direction):
    """Angle to the forward axis [deg]."""
    x, y, z = np.moveaxis(direction.astype(float), -1, 0)
    return np.degrees(np.arctan2(np.hypot(y, z), x))


@pytest.mark.parametrize(("pattern", "half_angle_deg"), [(MID40, 19.1728), (MID70, 35.2158)])
def test_field_of_view_of_real_devices(pattern, half_angle_deg):
    widest = max(off_axis_deg(pattern.rays(sweep).direction_S).max() for sweep in range(4))
    assert widest == pytest.approx(half_angle_deg, abs=1e-4)


@pytest.mark.parametrize(
    ("pattern", "rays"),
    [
        (MID40, [(0, 19.17241, 0.03013), (77777, -18.40269, -5.43048), (399999, 7.71213, 13.60002)]),
        (MID70, [(0, -35.21475, -0.02417), (77777, 34.05934, 9.40150), (399999, -15.04136, -22.10266)]),
    ],
)
def test_rays_of_the_published_pattern_files(pattern, rays):
    """Number, azimuth and elevation [deg] of rays in Livox's nominal patterns, kept in single precision."""
    for number, azimuth_deg, elevation_deg in rays:
        sweep, shot = divmod(number, pattern.shots)
        x, y, z = pattern.rays(sweep).direction_S[0, shot].astype(float)
        assert np.degrees(np.arctan2(y, x)) == pytest.approx(azimuth_deg, abs=2e-5)
        assert np.degrees(np.arcsin(z)) == pytest.approx(elevation_deg, abs=2e-5)


@pytest.mark.parametrize(
    ("pattern", "amplitudes", "rms_deg", "max_deg"),
    [(MID40, (0.17445, 0.17133), 0.14, 0.18), (MID70, (-0.3157, -0.3294), 1.9, 2.6)],
)
def test_two_rotating_vectors_come_as_near_as_published(pattern, amplitudes, rms_deg, max_deg):
    # Rotor time of shot k is (k + 1) 1e-5 s; the tangent-plane sum of two phasors is the usual approximation.
    direction = np.concatenate([pattern.rays(sweep).direction_S[0] for sweep in range(4)]).astype(float)
    time_s = (np.arange(len(direction)) + 1) * 1e-5
    plane = sum(
        amplitude * np.exp(2j * np.pi * rpm / 60.0 * time_s)
        for amplitude, rpm in zip(amplitudes, (7294.0, -4664.0), strict=True)
    )
    guess = np.stack([np.ones_like(time_s), plane.real, plane.imag], axis=-1)
    guess /= np.linalg.norm(guess, axis=-1, keepdims=True)
    error_deg = np.degrees(np.arccos(np.clip(np.sum(guess * direction, axis=-1), -1.0, 1.0)))
    assert np.sqrt(np.mean(error_deg**2)) == pytest.approx(rms_deg, rel=0.05)
    assert error_deg.max() == pytest.approx(max_deg, rel=0.05)


@pytest.mark.parametrize("wedge_deg", [18.0, -18.0])
def test_a_single_prism_deviates_by_snells_law(wedge_deg):
    index, wedge = 1.5, np.radians(18.0)
    pattern = Rosette(
        prisms=({"wedge_deg": wedge_deg, "refractive_index": index, "rotor_rpm": 600.0},),
        point_rate_hz=1000.0,
        rate_hz=10.0,
    )
    if wedge_deg < 0.0:
        # Square face first: undeviated inside, sin(out) = n sin(wedge) at the tilted one.
        deviation = np.arcsin(index * np.sin(wedge)) - wedge
    else:
        # Tilted face first: bent inside by wedge - asin(sin(wedge) / n), then out of the square one.
        deviation = np.arcsin(index * np.sin(wedge - np.arcsin(np.sin(wedge) / index)))
    direction = pattern.rays().direction_S[0].astype(float)
    np.testing.assert_allclose(off_axis_deg(direction), np.degrees(deviation), atol=1e-5)

    # 600 rpm is ten turns a second: one sweep draws a cone at constant speed, towards the thick edge, which
    # stands on the right (-y) at rotor angle 0.
    bearing = np.unwrap(np.arctan2(direction[:, 2], direction[:, 1]))
    np.testing.assert_allclose(np.diff(bearing), 2 * np.pi / 100, atol=2e-6)
    assert np.arctan2(direction[0, 2], -direction[0, 1]) == pytest.approx(0.0, abs=1e-6)


def test_opposite_thin_prisms_draw_a_straight_line():
    # Equal wedges turning against each other at equal speed scan a diameter: 2 (n - 1) wedge cos(angle).
    glass = {"refractive_index": 1.5, "wedge_deg": 0.5}
    pattern = Rosette(
        prisms=({**glass, "rotor_rpm": 600.0}, {**glass, "rotor_rpm": -600.0}),
        point_rate_hz=1000.0,
        rate_hz=10.0,
    )
    y, z = np.moveaxis(pattern.rays().direction_S[0, :, 1:].astype(float), -1, 0)
    amplitude = 2 * 0.5 * np.radians(0.5)
    angle = 2 * np.pi * np.arange(100) / 100
    np.testing.assert_allclose(np.abs(y), amplitude * np.abs(np.cos(angle)), atol=1e-6)
    np.testing.assert_allclose(z, 0.0, atol=1e-6)


def test_pattern_repeats_after_thirty_seconds_and_not_before():
    # The rates share 2 rpm: one turn of the difference takes 30 s, 300 sweeps.
    assert MID40.cycle == 300
    assert MID40.rays(300) is MID40.rays(0)
    assert not np.allclose(MID40.rays(150).direction_S, MID40.rays(0).direction_S, atol=1e-3)


def test_rotors_do_not_drift_over_a_day_and_join_from_sweep_to_sweep():
    # A prime-like rate never falls on a short cycle, so every sweep of the day is a new one.
    rpm, sweep = 12789.6667, 864_000
    prism = Prism(wedge_deg=0.001, refractive_index=1.5, rotor_rpm=rpm)
    pattern = Rosette(prisms=(prism,), point_rate_hz=40_000.0, rate_hz=10.0)
    turns = Fraction("12789.6667") / 60 * (Fraction(sweep, 10) + np.arange(4000).astype(object) * Fraction(1, 40_000))
    exact_rad = np.array([2 * np.pi * float(turn % 1) for turn in turns])

    from sensorium.patterns.rosette import _rotor_angle_rad

    drift = _rotor_angle_rad(pattern, prism, sweep) - exact_rad
    assert np.abs(drift - 2 * np.pi * np.rint(drift / (2 * np.pi))).max() < 1e-9

    # The last shot of a sweep and the first of the next are one step apart.
    late, early = _rotor_angle_rad(pattern, prism, sweep - 1), _rotor_angle_rad(pattern, prism, sweep)
    step = early[0] - late[-1] - (late[-1] - late[-2])
    assert abs(step - 2 * np.pi * round(step / (2 * np.pi))) < 1e-9


def test_cutting_the_scan_into_other_sweeps_changes_no_ray():
    slow = MID40.rays(3).direction_S[0]
    fast = MID40.model_copy(update={"rate_hz": 20.0})
    halves = np.concatenate([fast.rays(6).direction_S[0], fast.rays(7).direction_S[0]])
    np.testing.assert_allclose(halves, slow, atol=1e-7)
    assert fast.rays().shape == (1, 5000)


def test_times_are_the_shot_clock():
    table = MID40.rays(17)
    np.testing.assert_array_equal(table.offset_ns, [10_000 * np.arange(10_000)])
    assert table.duration_ns == 100_000_000


def test_three_prisms_and_six_beams_fill_the_published_field():
    # Avia: 77.06 x 70.5 degrees from the published prisms; its x points right, our y left.
    lasers = (-0.05216070, -0.03237635, -0.01079672, 0.01079672, 0.03237635, 0.05300785)
    wedges = ((30.8856, -7892.778), (29.7735, 2448.192), (3.1351, 12789.666))
    pattern = Rosette(
        prisms=tuple(Prism(wedge_deg=w, refractive_index=1.51, rotor_rpm=rpm) for w, rpm in wedges),
        point_rate_hz=40_000.0,
        rate_hz=10.0,
        beams_yz=tuple((-x, 0.0) for x in lasers),
    )
    assert pattern.rays().shape == (6, 4000)
    direction = np.concatenate([pattern.rays(sweep).direction_S for sweep in range(20)], axis=1)
    azimuth = np.degrees(np.arctan2(direction[..., 1], direction[..., 0]))
    elevation = np.degrees(np.arcsin(direction[..., 2]))
    assert np.ptp(azimuth) == pytest.approx(77.06, abs=0.05)
    assert np.ptp(elevation) == pytest.approx(70.5, abs=0.05)


def test_glass_without_index_bends_nothing():
    prisms = ({"wedge_deg": 40.0, "refractive_index": 1.0, "rotor_rpm": 100.0},)
    pattern = Rosette(prisms=prisms, point_rate_hz=100.0, rate_hz=10.0, beams_yz=((0.6, 0.0), (0.0, -0.28)))
    expected = np.array([[[0.8, 0.6, 0.0]], [[0.96, 0.0, -0.28]]])
    np.testing.assert_allclose(pattern.rays().direction_S, expected * np.ones((2, 10, 3)), atol=1e-7)


def test_total_reflection_is_an_error():
    prisms = ({"wedge_deg": -50.0, "refractive_index": 1.5, "rotor_rpm": 100.0},)
    with pytest.raises(SpecError, match=r"prisms\[0\]"):
        Rosette(prisms=prisms, point_rate_hz=100.0, rate_hz=10.0).rays()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prisms": ()}, "prisms"),
        ({"point_rate_hz": 105.0}, "10.5 shots"),
        ({"point_rate_hz": 5.0}, "whole number"),
        ({"point_rate_hz": 1e9, "rate_hz": 1.0}, "rays"),
        ({"beams_yz": ()}, "beams_yz"),
        ({"beams_yz": ((0.8, 0.6),)}, "forward component"),
        ({"prisms": ({"wedge_deg": 90.0, "refractive_index": 1.5, "rotor_rpm": 1.0},)}, "wedge_deg"),
        ({"prisms": ({"wedge_deg": 9.0, "refractive_index": 0.9, "rotor_rpm": 1.0},)}, "refractive_index"),
    ],
)
def test_broken_rules_name_the_field(change, message):
    good = {
        "prisms": ({"wedge_deg": 9.0, "refractive_index": 1.5, "rotor_rpm": 1.0},),
        "point_rate_hz": 100.0,
        "rate_hz": 10.0,
    }
    Rosette(**good)
    with pytest.raises(SpecError, match=message):
        Rosette(**{**good, **change})
