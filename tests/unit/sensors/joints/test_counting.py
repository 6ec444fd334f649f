"""Errors and faults of counted positions: where in the order they act, and what encoders and odometers make of them."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.corruption import Bias, Dropout, Fault, FaultSchedule, Noise, Overflow, Scale, Stuck, TimingErrors, White

TENTHS = {"min": 0.0, "max": 1.0, "resolution": 0.1}


def environment(joint, **options):
    world = sn.worlds.Kinematic({"base": sn.paths.Fixed(sn.Pose())}, {"hinge": joint}, step_s=1e-3)
    return sn.Environment(sn.Scene(), world, **options)


def run(spec, joint, duration_s=0.1, **options):
    """Readings of a sensor, one a millisecond."""
    env = environment(joint, **options)
    sensor = env.attach(spec, joint="hinge")
    return [sensor.read() for _ in env.run(duration_s)]


def of(out, name):
    return np.array([getattr(reading, name) for reading in out])


def struck(corruption, **fields):
    """A schedule of one fault, from 20 ms to before 30 ms; readings 19 to 28 have it."""
    return FaultSchedule(faults=(Fault(corruption, start_s=0.02, end_s=0.03, **fields),))


STRUCK = slice(19, 29)


def test_corruptions_come_before_bins_and_range():
    """0.95 with a bias of 0.1 is 1.05, in the bin of 1.0, read as 0.0; of double scale it is 2.1, read as 0.1."""
    joint = sn.paths.JointLine(0.95)
    assert run(sn.Encoder(**TENTHS, noise=Noise(bias=0.1)), joint)[0].position == pytest.approx(0.0)
    doubled = sn.Encoder(**TENTHS, noise=Noise(bias=0.1), extra=(Scale(error=1.0),))
    assert run(doubled, joint)[0].position == pytest.approx(0.1)
    assert run(sn.Encoder(mode="clamp", **TENTHS, noise=Noise(bias=0.1)), joint)[0].position == pytest.approx(1.0)


def test_a_converter_and_its_limits_come_before_bins_and_range():
    """Steps of 0.25 make 0.75 of 0.8, in the bin of 0.7; limits of 0.52 move inward onto bins, to 0.5."""
    joint = sn.paths.JointLine(0.8)
    assert run(sn.Encoder(**TENTHS, quantization={"lsb": 0.25}), joint)[0].position == pytest.approx(0.7)
    assert run(sn.Encoder(**TENTHS, saturation={"max": 0.52}), joint)[0].position == pytest.approx(0.5)
    smooth = sn.Encoder(min=0.0, max=1.0, quantization={"lsb": 0.25}, saturation={"max": 0.6})
    assert run(smooth, joint)[0].position == pytest.approx(0.5)
    rolled = sn.Odometer(
        timing=sn.Timing(rate_hz=1000.0), radius_m=2.0, quantization={"bits": 4}, saturation={"min": 0.0, "max": 3.0}
    )
    assert run(rolled, joint)[0].distance == pytest.approx(1.6)


def test_bits_of_an_encoder_divide_its_range():
    out = run(sn.Encoder(min=0.0, max=1.0, mode="clamp", quantization={"bits": 2}), sn.paths.JointLine(0.0, 10.0))
    assert set(of(out, "position").round(6)) == {0.0, 0.333333, 0.666667, 1.0}


def test_an_encoder_s_register_wraps_where_it_overflows():
    """A range of -4 to 4 that a fault makes of a position without end."""
    fault = struck(Overflow(min=-4.0, max=4.0))
    out = run(sn.Odometer(timing=sn.Timing(rate_hz=1000.0), radius_m=1.0, faults=fault), sn.paths.JointLine(9.0, 1.0))
    exact = 9.0 + 1e-3 * np.arange(1, 101)
    expected = exact.copy()
    expected[STRUCK] -= 8.0
    np.testing.assert_allclose(of(out, "distance"), expected, atol=1e-12)


def test_noise_that_is_off_changes_no_number_of_another():
    joint = sn.paths.JointLine(0.3)
    off = sn.Encoder(noise=Noise(std=0.1, on=False), extra=(White(std=0.01),))
    on = sn.Encoder(noise=Noise(std=0.0), extra=(White(std=0.01),))
    np.testing.assert_array_equal(of(run(off, joint), "position"), of(run(on, joint), "position"))
    assert np.std(of(run(off, joint), "position")) == pytest.approx(0.01, rel=0.3)


def test_an_encoder_that_is_stuck_holds_its_position_and_counts_on_the_shorter_way():
    """Stuck for 10 ms while the joint turns once: by the shorter way that is no turn, and its ten bins are lost."""
    spec = sn.Encoder(**TENTHS, faults=struck(Stuck(mode="present")))
    out = run(spec, sn.paths.JointLine(0.22, 100.0))
    position, count = of(out, "position"), of(out, "count")
    assert len(set(position[STRUCK])) == 1
    assert position[29] == pytest.approx((0.22 + 3.0) // 0.1 * 0.1 % 1.0, abs=1e-9)
    assert count[29] == count[28]
    healthy = run(sn.Encoder(**TENTHS), sn.paths.JointLine(0.22, 100.0))
    assert of(healthy, "count")[29] - count[29] == 10


@pytest.mark.parametrize(
    ("mode", "spec", "expected"),
    [
        ("max", {"mode": "wrap"}, 0.9),
        ("min", {"mode": "wrap"}, 0.0),
        ("max", {"mode": "clamp"}, 1.0),
        ("on", {"mode": "clamp"}, 1.0),
    ],
)
def test_full_scale_is_the_end_of_the_range(mode, spec, expected):
    out = run(sn.Encoder(**TENTHS, **spec, faults=struck(Stuck(mode=mode))), sn.paths.JointLine(0.55))
    np.testing.assert_allclose(of(out, "position")[STRUCK], expected)
    np.testing.assert_allclose(of(out, "position")[[18, 29]], 0.5)


@pytest.mark.parametrize("sensor", ["encoder", "odometer"])
def test_lost_samples_are_not_valid_and_the_speed_is_held(sensor):
    faults = struck(Dropout(probability=1.0, fill="nan"))
    if sensor == "encoder":
        spec, name = sn.Encoder(counts_per_turn=1000, edge_time="interpolated", faults=faults), "position"
    else:
        timing = {"rate_hz": 1000.0}
        spec, name = sn.Odometer(radius_m=1.0, resolution_m=0.005, timing=timing, faults=faults), "distance"
    out = run(spec, sn.paths.JointLine(0.0, 5.0))
    lost = np.zeros(100, bool)
    lost[STRUCK] = True
    np.testing.assert_array_equal(np.isnan(of(out, name)), lost)
    np.testing.assert_array_equal(of(out, "valid"), ~lost)
    np.testing.assert_allclose(of(out, "velocity")[5:], 5.0, rtol=0.3)


def test_a_fault_strikes_the_position_by_its_name():
    joint = sn.paths.JointLine(0.55)
    struck_ = run(sn.Encoder(faults=struck(Bias(0.25), target="position")), joint)
    np.testing.assert_allclose(of(struck_, "position")[STRUCK], 0.8)
    meters = sn.Odometer(radius_m=2.0, timing={"rate_hz": 1000.0}, faults=struck(Bias(0.25), target="distance"))
    np.testing.assert_allclose(of(run(meters, joint), "distance")[STRUCK], 1.35)


@pytest.mark.parametrize("edge_time", ["sample", "interpolated"])
def test_a_clock_that_jumps_and_jumps_back_gives_no_wild_speed(edge_time):
    """While it is ahead the edges seem farther apart; set back, time seems to stand; the speed never runs away."""
    faults = FaultSchedule(faults=(Fault(timing=TimingErrors(clock_offset_s=0.5), start_s=0.02, end_s=0.03),))
    spec = sn.Encoder(counts_per_turn=1000, edge_time=edge_time, decay=True, faults=faults)
    speed = of(run(spec, sn.paths.JointLine(0.0, 20.0)), "velocity")
    assert (speed[3:] > 0.0).all()
    assert (speed < 26.0).all()
    np.testing.assert_allclose(speed[40:], 20.0, rtol=0.3 if edge_time == "sample" else 1e-6)
