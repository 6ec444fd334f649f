"""Encoders on joints that follow paths: the reference values of physics.md 7 and the laws behind them."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.corruption import Noise

MS = 1_000_000
TENTHS = {"min": 0.0, "max": 1.0, "resolution": 0.1}


def environment(joint, step_s=1e-3, **options):
    world = sn.worlds.Kinematic({"base": sn.paths.Fixed(sn.Pose())}, {"hinge": joint}, step_s=step_s)
    return sn.Environment(sn.Scene(), world, **options)


def readings(joint, spec, duration_s, step_s=1e-3, **options):
    """All readings of an encoder, and their truths."""
    env = environment(joint, step_s, **options)
    encoder = env.attach(spec, joint="hinge")
    out, truth = [], []
    for _ in env.run(duration_s):
        out += encoder.readings()
        truth.append(encoder.truth())
    return out, truth


def of(out, name):
    return np.array([getattr(reading, name) for reading in out])


def through(positions):
    """A joint that is at given positions [rad] at 0, 1, 2, ... ms."""
    t_s = np.arange(len(positions)) * 1e-3
    return sn.paths.JointFunction(lambda t: np.interp(t, t_s, positions), vectorized=True)


def resting(u, spec, **options):
    """The reading of a joint at rest, and its truth."""
    env = environment(sn.paths.JointLine(u), **options)
    encoder = env.attach(spec, joint="hinge")
    env.step()
    return encoder.read(), encoder.truth()


# ---- position


@pytest.mark.parametrize(("u", "expected"), [(0.37, 0.3), (-0.01, 0.9), (2.37, 0.3)])
@pytest.mark.parametrize("mode", ["wrap", "incremental"])
def test_reference_values(u, expected, mode):
    reading, truth = resting(u, sn.Encoder(mode=mode, **TENTHS))
    assert reading.position == pytest.approx(expected, abs=1e-12)
    assert truth.position == pytest.approx(u - math.floor(u), abs=1e-12)
    assert reading.velocity == truth.velocity == 0.0
    assert reading.valid


@pytest.mark.parametrize(("u", "expected"), [(0.37, 0.3), (-0.01, 0.0), (2.37, 1.0), (1.0, 1.0), (0.999, 0.9)])
@pytest.mark.parametrize("mode", ["clamp", "absolute"])
def test_reference_values_of_a_range_that_clamps(u, expected, mode):
    reading, truth = resting(u, sn.Encoder(mode=mode, **TENTHS))
    assert reading.position == pytest.approx(expected, abs=1e-12)
    assert truth.position == np.clip(u, 0.0, 1.0)


def test_the_seeds_names_mean_the_same():
    assert sn.Encoder(mode="incremental").mode == "wrap"
    assert sn.Encoder(mode="absolute").mode == "clamp"
    with pytest.raises(SpecError, match=r"Encoder.mode is 'relative'; it must be 'wrap' or 'clamp'"):
        sn.Encoder(mode="relative")


def test_by_default_it_reads_one_turn_without_bins_at_a_kilohertz():
    out, truth = readings(sn.paths.JointLine(-1.0, 30.0), sn.Encoder(), 1.0)
    assert len(out) == 1000
    u = -1.0 + 30.0 * np.arange(1, 1001) * 1e-3
    np.testing.assert_allclose(of(out, "position"), u % (2 * np.pi), atol=1e-12)
    np.testing.assert_allclose(of(truth, "position"), u % (2 * np.pi), atol=1e-12)
    np.testing.assert_allclose(of(out, "velocity")[2:], 30.0, rtol=1e-9)
    np.testing.assert_array_equal(of(truth, "velocity"), 30.0)
    np.testing.assert_array_equal(of(out, "time_ns"), MS * np.arange(1, 1001))


@pytest.mark.parametrize("velocity", [40.0, -40.0])
@pytest.mark.parametrize("counts", [64, 4096, 1_000_003])
def test_many_turns_either_way(velocity, counts):
    width = 2 * np.pi / counts
    out, _ = readings(sn.paths.JointLine(0.1234, velocity), sn.Encoder(counts_per_turn=counts), 2.0)
    u = 0.1234 + velocity * np.arange(1, len(out) + 1) * 1e-3
    assert abs(u[-1] / (2 * np.pi)) > 12
    bins = np.floor(u / width)
    np.testing.assert_array_equal(of(out, "count"), bins)
    np.testing.assert_allclose(of(out, "position"), (bins % counts) * width, atol=1e-9)
    assert of(out, "count").dtype == np.int64


@pytest.mark.parametrize(("lo", "hi"), [(-math.pi, math.pi), (-0.35, 0.65), (12.0, 13.0)])
def test_any_range(lo, hi):
    """Readings are bins, counted from 0, in [lo, hi); the ends need not be bins."""
    width = (hi - lo) / 40
    out, truth = readings(sn.paths.JointSine(25.0, 3.0), sn.Encoder(min=lo, max=hi, resolution=width), 2.0)
    position, exact = of(out, "position"), of(truth, "position")
    assert (lo - 1e-12 <= position).all()
    assert (position < hi).all()
    bins = position / width
    np.testing.assert_allclose(bins, np.rint(bins), atol=1e-9)
    behind = (exact - position) % (hi - lo)
    assert (behind < width + 1e-9).all()


def test_a_sine_beyond_a_range_that_clamps_stays_in_it():
    out, _ = readings(sn.paths.JointSine(2.0, 5.0), sn.Encoder(mode="clamp", min=-1, max=1, resolution=0.01), 2.0)
    u = 2.0 * np.sin(5.0 * np.arange(1, 2001) * 1e-3)
    expected = np.clip(0.01 * np.floor(u / 0.01), -1.0, 1.0)
    np.testing.assert_allclose(of(out, "position"), expected, atol=1e-9)
    np.testing.assert_array_equal(of(out, "count"), np.rint(expected / 0.01))


def test_bins_err_uniformly_by_half_of_their_width():
    """Bias -width / 2 and variance width^2 / 12: the floor has no bin of double width at zero."""
    worlds, width = 200_000, 2 * np.pi / 100
    u = np.random.default_rng(1).uniform(-30.0, 30.0, worlds)
    reading, truth = resting(u, sn.Encoder(counts_per_turn=100), worlds=worlds)
    error = reading.count * width - u
    assert error.mean() == pytest.approx(-width / 2, abs=5 * width / np.sqrt(12 * worlds))
    assert error.var() == pytest.approx(width**2 / 12, rel=5 * np.sqrt(0.8 / worlds))
    assert scipy.stats.kstest(-error / width, "uniform").pvalue > 1e-3
    wrapped = (reading.position - truth.position + np.pi) % (2 * np.pi) - np.pi
    np.testing.assert_allclose(wrapped, error, atol=1e-9)


def test_noise_comes_before_bins():
    """Readings stay bins; errors are those of noise and bins together, once the noise is wider than a bin."""
    worlds, width, sigma = 100_000, 0.01, 0.02
    density = sigma * math.sqrt(2 / 1000.0)  # one-sided, at 1 kHz
    spec = sn.Encoder(min=0.0, max=1.0, resolution=width, noise=Noise(density=density))
    reading, truth = resting(0.503, spec, worlds=worlds, seed=5)
    np.testing.assert_allclose(reading.position / width, np.rint(reading.position / width), atol=1e-9)
    np.testing.assert_allclose(truth.position, 0.503, atol=1e-12)
    error = reading.position - 0.503
    variance = sigma**2 + width**2 / 12
    assert error.mean() == pytest.approx(-width / 2, abs=5 * np.sqrt(variance / worlds))
    assert error.var() == pytest.approx(variance, rel=5 * np.sqrt(2 / worlds))


def test_noise_near_the_seam_reads_either_end():
    worlds = 1000
    spec = sn.Encoder(min=0.0, max=1.0, resolution=0.01, noise=Noise(density=0.01 * math.sqrt(2 / 1000.0)))
    reading, _ = resting(1.0, spec, worlds=worlds, seed=2)
    low, high = reading.position < 0.1, reading.position > 0.9
    assert (low | high).all()
    assert 0.4 < low.mean() < 0.6


# ---- speed


def test_reference_speed_with_many_samples_between_edges():
    out, truth = readings(sn.paths.JointLine(0.0, 0.105), sn.Encoder(min=0, max=1, resolution=0.01), 10.0)
    speed = of(out, "velocity")[2000 - 1 :]
    assert set(np.round(speed, 6)) == {0.104167, 0.105263}
    assert round(speed[:8000].mean(), 5) == 0.10500
    np.testing.assert_array_equal(of(truth, "velocity"), 0.105)


def test_reference_speed_with_many_edges_between_samples():
    out, _ = readings(sn.paths.JointLine(0.0, 25.0), sn.Encoder(min=0, max=1, resolution=0.01), 1.0)
    speed = of(out, "velocity")[2:]
    assert set(np.round(speed, 9)) == {20.0, 30.0}
    assert speed[-900:].mean() == pytest.approx(25.0)


@given(
    velocity=st.one_of(st.floats(0.05, 60.0), st.floats(-60.0, -0.05)),
    start=st.floats(-5.0, 5.0),
    counts=st.integers(8, 400),
)
@settings(max_examples=25, deadline=None)
def test_interpolated_edges_give_a_constant_speed_exactly(velocity, start, counts):
    spec = sn.Encoder(counts_per_turn=counts, edge_time="interpolated")
    out, _ = readings(sn.paths.JointLine(start, velocity), spec, 0.2)
    edges = np.flatnonzero(np.diff(of(out, "count")))
    speed = of(out, "velocity")
    if len(edges) < 2:
        np.testing.assert_array_equal(speed, 0.0)
    else:
        np.testing.assert_allclose(speed[edges[1] + 1 :], velocity, rtol=1e-6)
        np.testing.assert_array_equal(speed[: edges[1] + 1], 0.0)


def test_zero_before_the_second_edge_and_held_between():
    out, _ = readings(sn.paths.JointLine(0.0, 1.0), sn.Encoder(min=0, max=1, resolution=0.01), 0.035)
    speed = of(out, "velocity")
    np.testing.assert_array_equal(speed[:19], 0.0)  # the first edge is at 10 ms, the second at 20 ms
    np.testing.assert_allclose(speed[19:], 1.0)


def stopping(t_s):
    """1 rad/s for 0.1 s, then rest."""
    return np.minimum(t_s, 0.1)


@pytest.mark.parametrize(
    ("options", "law"),
    [
        ({"decay": False, "timeout_s": None}, lambda waited_s: np.ones_like(waited_s)),
        ({"timeout_s": None}, lambda waited_s: np.minimum(1.0, 0.01 / waited_s)),
        ({"decay": False, "timeout_s": 0.0355}, lambda waited_s: np.where(waited_s > 0.0355, 0.0, 1.0)),
        ({"timeout_s": 0.1}, lambda waited_s: np.where(waited_s > 0.1, 0.0, np.minimum(1.0, 0.01 / waited_s))),
        ({}, lambda waited_s: np.where(waited_s > 1.0, 0.0, np.minimum(1.0, 0.01 / waited_s))),
    ],
)
def test_a_joint_that_stops(options, law):
    spec = sn.Encoder(min=0, max=1, resolution=0.01, **options)
    out, truth = readings(sn.paths.JointFunction(stopping, vectorized=True), spec, 1.4)
    speed = of(out, "velocity")
    waited_s = np.arange(1, 1301) * 1e-3  # since the edge at 0.1 s
    np.testing.assert_allclose(speed[99], 1.0)
    np.testing.assert_allclose(speed[100:], law(waited_s), rtol=1e-6)
    np.testing.assert_allclose(of(truth, "velocity")[-1], 0.0, atol=1e-12)


def test_without_bins_a_joint_that_stops_has_no_speed_at_the_next_sample():
    out, _ = readings(sn.paths.JointFunction(stopping, vectorized=True), sn.Encoder(), 0.2)
    speed = of(out, "velocity")
    np.testing.assert_allclose(speed[2:100], 1.0)
    np.testing.assert_array_equal(speed[100:], 0.0)


@pytest.mark.parametrize("edge_time", ["sample", "interpolated"])
def test_a_speed_never_exceeds_what_a_silent_counter_allows(edge_time):
    """A joint that stops and starts at random: without an edge for tau, less than a bin was passed in tau."""
    rng = np.random.default_rng(3)
    positions = np.cumsum(rng.uniform(-0.02, 0.03, 800) * (rng.random(800) < 0.5) * (np.arange(800) % 200 < 90))
    width = 0.05
    out, _ = readings(through(positions), sn.Encoder(min=0, max=5.0, resolution=width, edge_time=edge_time), 0.799)
    count, speed = of(out, "count"), of(out, "velocity")
    edges = np.flatnonzero(np.diff(count)) + 1
    assert len(edges) > 30
    checked = 0
    for k in range(edges[0], len(count)):
        silent = k - edges[edges <= k][-1]
        if silent:
            assert abs(speed[k]) <= width / (silent * 1e-3) * (1 + 1e-9)
            checked += 1
    assert checked > 300
    assert abs(speed[199]) < 0.55  # 109 ms of rest


def test_a_sine_is_followed():
    """Turning points included: off by what the joint's speed changes between two edges, one bin apart."""
    amplitude, rate, counts = 1.5, 4.0, 10_000
    spec = sn.Encoder(counts_per_turn=counts, edge_time="interpolated", decay=True)
    out, truth = readings(sn.paths.JointSine(amplitude, rate), spec, 2.0)
    error = of(out, "velocity")[3:] - of(truth, "velocity")[3:]
    width, acceleration = 2 * np.pi / counts, amplitude * rate**2
    worst = 2 * np.sqrt(2 * acceleration * width) + acceleration * 1e-3
    assert np.abs(error).max() < worst
    assert np.abs(error).mean() < 0.2 * worst


def test_without_bins_speed_is_the_mean_since_the_sample_before():
    out, _ = readings(sn.paths.JointSine(1.0, 5.0), sn.Encoder(), 1.0)
    u = np.sin(5.0 * np.arange(1001) * 1e-3)
    np.testing.assert_allclose(of(out, "velocity")[2:], np.diff(u)[2:] / 1e-3, rtol=1e-6, atol=1e-9)


def test_too_fast_a_joint_counts_the_shorter_way_round():
    """0.7 of the range from sample to sample cannot be told from -0.3; the position is right all the same."""
    out, _ = readings(sn.paths.JointLine(0.0, 700.0), sn.Encoder(**TENTHS), 0.02)
    np.testing.assert_allclose(of(out, "position"), np.round(0.7 * np.arange(1, 21) % 1.0, 9), atol=1e-9)
    np.testing.assert_allclose(of(out, "velocity")[2:], -300.0)


# ---- quadrature


def decoded(a, b):
    """Counts from the first sample on, as a decoder gets them from the two tracks."""
    phases = {(False, False): 0, (True, False): 1, (True, True): 2, (False, True): 3}
    phase = np.array([phases[bool(one), bool(other)] for one, other in zip(a, b, strict=True)])
    step = (np.diff(phase) + 1) % 4 - 1
    assert (step <= 1).all(), "both tracks changed at once"
    return np.concatenate([[0], np.cumsum(step)])


@given(steps=st.lists(st.floats(-0.99, 0.99), min_size=2, max_size=120), start=st.floats(-30, 30))
@settings(max_examples=30, deadline=None)
def test_the_tracks_change_one_at_a_time_and_give_the_count_back(steps, start):
    positions = start + np.cumsum([0.0, 0.0, *steps]) * 0.1
    spec = sn.Encoder(min=0.0, max=1.6, resolution=0.1, quadrature=True)
    out, _ = readings(through(positions), spec, (len(positions) - 1) * 1e-3)
    a, b, count = of(out, "a"), of(out, "b"), of(out, "count")
    np.testing.assert_array_equal(decoded(a, b), count - count[0])
    changes = (np.diff(a).astype(int) != 0) & (np.diff(b).astype(int) != 0)
    assert not changes.any()


def test_a_leads_b_when_the_joint_turns_forward():
    spec = sn.Encoder(min=0.0, max=0.8, resolution=0.1, quadrature=True)
    out, _ = readings(through(np.arange(11) * 0.1 + 0.05), spec, 0.008)
    tracks = [(int(r.a), int(r.b)) for r in out]
    assert tracks == [(1, 0), (1, 1), (0, 1), (0, 0), (1, 0), (1, 1), (0, 1), (0, 0)]


@pytest.mark.parametrize("velocity", [12.0, -12.0])
@pytest.mark.parametrize("index", [None, 0.0, 1.0, 6.2])
def test_z_is_high_in_one_bin_of_each_turn(velocity, index):
    counts = 128
    spec = sn.Encoder(counts_per_turn=counts, quadrature=True, index=index)
    out, truth = readings(sn.paths.JointLine(0.5, velocity), spec, 6.0)
    z, bins = of(out, "z"), of(out, "count") % counts
    assert set(bins) == set(range(counts))  # no bin is passed over
    np.testing.assert_array_equal(z, bins == math.floor((index or 0.0) / (2 * np.pi / counts)))

    # As many pulses as the joint passes the mark
    pulses = np.count_nonzero(np.diff(z.astype(int)) == 1)
    turns_from_mark = (0.5 + velocity * np.array([0.0, 6.0]) - (index or 0.0)) / (2 * np.pi)
    passed = abs(np.diff(np.floor(turns_from_mark))[0])
    assert pulses in (passed, passed + 1)
    np.testing.assert_array_equal(of(truth, "z"), z)


def test_a_range_that_clamps_has_one_mark():
    spec = sn.Encoder(mode="clamp", min=-1.0, max=1.0, resolution=0.1, quadrature=True, index=0.25)
    out, _ = readings(sn.paths.JointSine(3.0, 2.0), spec, 4.0)
    np.testing.assert_array_equal(of(out, "z"), of(out, "count") == 2)
    assert of(out, "z").any()


# ---- time, worlds, sensors


def test_it_samples_between_the_worlds_states():
    spec = sn.Encoder(timing={"rate_hz": 1000.0}, edge_time="interpolated", counts_per_turn=1000)
    env = environment(sn.paths.JointLine(0.0, 2.0), step_s=0.02)
    encoder = env.attach(spec, joint="hinge")
    env.step()
    env.step()
    out = encoder.readings()
    assert len(out) == 20
    np.testing.assert_array_equal(
        of(out, "count"), np.floor(2.0 * np.arange(21, 41) * 1e-3 / (2 * np.pi / 1000) + 1e-9)
    )
    np.testing.assert_allclose(of(out, "velocity"), 2.0, rtol=1e-6)


def test_speed_is_by_the_sensors_own_clock():
    timing = {"rate_hz": 1000.0, "skew_ppm": 1e5, "clock_offset_s": 3.0}
    out, truth = readings(sn.paths.JointLine(0.0, 2.2), sn.Encoder(timing=timing), 0.1)
    np.testing.assert_allclose(of(out, "velocity")[2:], 2.0, rtol=1e-9)
    np.testing.assert_array_equal(of(truth, "velocity"), 2.2)
    assert out[-1].time_ns == 3_110_000_000


def test_a_jittered_clock_tells_the_speed_all_the_same():
    """Samples move, and their times with them."""
    timing = {"rate_hz": 1000.0, "jitter_s": 2e-4}
    spec = sn.Encoder(timing=timing, counts_per_turn=1000, edge_time="interpolated")
    out, _ = readings(sn.paths.JointLine(0.0, 20.0), spec, 0.2)
    assert np.diff(of(out, "time_ns")).std() > 1e5
    np.testing.assert_allclose(of(out, "velocity")[3:], 20.0, rtol=1e-6)


@pytest.mark.parametrize(("worlds", "poses"), [(None, None), (3, None), (None, 2), (3, 2)])
def test_arrays_have_the_axes_that_were_asked_for(worlds, poses):
    env = environment(sn.paths.JointLine(1.0, 2.0), worlds=worlds)
    pose = None if poses is None else [sn.Pose()] * poses
    encoder = env.attach(sn.Encoder(counts_per_turn=100, quadrature=True), joint="hinge", pose=pose)
    env.step()
    shape = tuple(n for n in (worlds, poses) if n is not None)
    for reading in (encoder.read(), encoder.truth()):
        for name in ("position", "velocity", "count", "a", "b", "z", "valid"):
            assert np.shape(getattr(reading, name)) == shape, name
        assert f"position={reading.position}" in repr(reading)


def test_worlds_and_sensors_are_their_own():
    starts = np.array([0.0, 1.0, 2.0])
    env = environment(sn.paths.JointLine(starts, [1.0, -1.0, 0.0]), worlds=3, seed=3)
    noisy = sn.Encoder(noise=Noise(density=1e-3))
    encoder = env.attach(noisy, joint="hinge", pose=[sn.Pose(), sn.Pose()])
    env.step()
    truth, reading = encoder.truth(), encoder.read()
    np.testing.assert_allclose(truth.position, np.repeat((starts + [1e-3, -1e-3, 0.0])[:, None], 2, axis=1))
    error = reading.position - truth.position
    assert len(set(error.ravel())) == 6


def test_a_batch_is_its_worlds_one_by_one():
    speeds = np.array([3.0, -7.0, 11.0, 0.5])
    spec = sn.Encoder(counts_per_turn=256, noise=Noise(density=1e-3), edge_time="interpolated", decay=True)

    def run(velocity, **options):
        env = environment(sn.paths.JointLine(0.2, velocity), seed=9, **options)
        encoder = env.attach(spec, joint="hinge")
        out = []
        for _ in env.run(0.1):
            out.append(np.stack([encoder.read().position, encoder.read().velocity, encoder.read().count]))
        return np.array(out)

    together = run(speeds, worlds=4)
    for world, velocity in enumerate(speeds):
        np.testing.assert_array_equal(run(velocity, first_world=world), together[:, :, world])


def test_a_reset_restarts_the_masked_worlds_alone():
    env = environment(sn.paths.JointLine(0.0, [8.0, -8.0]), worlds=2)
    encoder = env.attach(sn.Encoder(counts_per_turn=1000), joint="hinge")
    for _ in env.run(0.5):
        pass
    env.reset(np.array([True, False]))
    env.step()
    after = encoder.read()
    np.testing.assert_array_equal(after.count, np.floor(8.0 * np.array([0.001, -0.501]) / (2 * np.pi / 1000)))
    assert after.velocity[0] == 0.0
    assert after.velocity[1] < -6.0

    # The jump back to the start is no edge: speeds stay those of the motion
    for _ in env.run(0.05):
        assert np.abs(encoder.read().velocity).max() < 13.0  # two bins a sample


def test_a_reading_on_its_way_is_void_where_a_world_was_reset():
    env = environment(sn.paths.JointLine(0.0, 1.0), worlds=2)
    encoder = env.attach(sn.Encoder(timing={"rate_hz": 1000.0, "latency_s": 0.005}), joint="hinge")
    for _ in env.run(0.01):
        pass
    env.reset(np.array([False, True]))
    env.step()
    np.testing.assert_array_equal(encoder.read().valid, [True, False])
    np.testing.assert_array_equal(encoder.truth().valid, [True, False])


def test_switched_on_again_it_starts_anew():
    """What turned while it was off is neither counted nor a speed."""
    env = environment(sn.paths.JointLine(0.0, 100.0))
    encoder = env.attach(sn.Encoder(counts_per_turn=1000), joint="hinge")
    for _ in env.run(0.1):
        pass
    encoder.enabled = False
    for _ in env.run(0.1):
        pass
    encoder.enabled = True
    env.step()
    assert encoder.read().velocity == 0.0
    assert encoder.read().count == encoder.truth().count
    env.step()
    env.step()
    assert encoder.read().velocity == pytest.approx(100.0, abs=7.0)


# ---- data and errors


def test_it_is_data():
    spec = sn.Encoder(mode="absolute", min=-1, max=1, resolution=0.01, noise=Noise(density=1e-4), timeout_s=0.1)
    again = sn.Encoder.model_validate_json(spec.model_dump_json())
    assert again == spec
    assert again.mode == "clamp"
    spec.decay = True
    with pytest.raises(SpecError, match="resolution is -1"):
        spec.resolution = -1.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"min": 1.0, "max": 1.0}, "min is 1 and max is 1; min must be below max"),
        ({"min": math.nan}, "Encoder.min is nan"),
        ({"resolution": 0.0}, "Encoder.resolution is 0.0"),
        ({"counts_per_turn": 0}, "Encoder.counts_per_turn is 0"),
        ({"counts_per_turn": 2.5}, "Encoder.counts_per_turn is 2.5"),
        ({"resolution": 0.1, "counts_per_turn": 8}, "resolution is 0.1 and counts_per_turn is 8; only one"),
        (
            {"max": 1.0, "resolution": 0.3},
            r"resolution is 0.3, so that the range has 3.333333333 bins; the range of 1 must",
        ),
        ({"min": 0.1, "resolution": 0.001534}, "0.00153.* would make 40"),
        ({"min": 7.0}, "min is 7 and max is 6.28319"),
        ({"max": 5.0, "counts_per_turn": 100}, "counts_per_turn is 100, so that the range has 79.57747155 bins"),
        ({"max": 1.0, "resolution": 0.5}, "it must have 3 at least"),
        ({"mode": "clamp", "max": 1.0, "resolution": 1.5}, "a bin must fit into the range, which is 1 long"),
        ({"quadrature": True}, "quadrature is True without bins"),
        (
            {"quadrature": True, "counts_per_turn": 10},
            "the range has 10 bins; with quadrature it must have a multiple of 4",
        ),
        ({"index": 7.0, "max": 6.0}, r"index is 7; it must be in \[0, 6\)"),
        ({"index": 7.0, "counts_per_turn": 8}, r"index is 7; it must be in \[0, 6.28319\)"),
        ({"edge_time": "interpolated"}, "edge_time is 'interpolated' without bins"),
        ({"edge_time": "guessed"}, "Encoder.edge_time is 'guessed'"),
        ({"timeout_s": 0.0}, "Encoder.timeout_s is 0.0"),
        ({"resolutions": 0.1}, "did you mean resolution"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(SpecError, match=message):
        sn.Encoder(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"resolution": 0.001534}, "'encoder' on a joint that turns: resolution is .* 0.001533980788 would make 4096"),
        ({"index": 7.0}, r"'encoder' on a joint that turns: index is 7; it must be in \[0, 6.28319\)"),
    ],
)
def test_what_is_refused_on_a_joint_that_turns(given, message):
    with pytest.raises(SpecError, match=message):
        resting(0.0, sn.Encoder(**given))


# ---- joints that slide


def sliding(path, spec, duration_s=0.1, **options):
    """Readings of an encoder on a joint that slides, and their truths."""
    world = sn.worlds.Kinematic({}, {"lift": path}, step_s=1e-3, slide_joints=("lift",))
    env = sn.Environment(sn.Scene(), world, **options)
    encoder = env.attach(spec, joint="lift")
    pairs = [(encoder.read(), encoder.truth()) for _ in env.run(duration_s)]
    return [reading for reading, _ in pairs], [truth for _, truth in pairs]


def test_a_joint_that_slides_does_not_wrap():
    """Random lines over tens of meters, either way, with bins of any width and without."""
    rng = np.random.default_rng(11)
    for width in (None, *rng.uniform(1e-4, 0.3, 6)):
        start, velocity = rng.uniform(-30, 30), rng.uniform(-200, 200)
        out, truth = sliding(sn.paths.JointLine(start, velocity), sn.Encoder(resolution=width))
        u = start + velocity * np.arange(1, len(out) + 1) * 1e-3
        np.testing.assert_allclose(of(truth, "position"), u, atol=1e-9)
        np.testing.assert_allclose(of(out, "velocity")[3:].mean(), velocity, atol=(width or 0.0) / 0.03 + 1e-6)
        if width is None:
            np.testing.assert_allclose(of(out, "position"), u, atol=1e-9)
        else:
            np.testing.assert_array_equal(of(out, "count"), np.floor(u / width))
            np.testing.assert_allclose(of(out, "position"), np.floor(u / width) * width, atol=1e-9)


def test_a_joint_that_turns_still_wraps_beside_one_that_slides():
    world = sn.worlds.Kinematic(
        {},
        {"lift": sn.paths.JointLine(10.0), "wheel": sn.paths.JointLine(10.0)},
        step_s=1e-3,
        slide_joints=["lift"],
    )
    env = sn.Environment(sn.Scene(), world)
    lift, wheel = (env.attach(sn.Encoder(), joint=name, name=name) for name in ("lift", "wheel"))
    env.step()
    assert lift.read().position == 10.0
    assert wheel.read().position == pytest.approx(10.0 - 2 * np.pi)


def test_a_range_that_is_given_acts_on_a_joint_that_slides():
    path = sn.paths.JointLine(7.3)
    assert sliding(path, sn.Encoder(max=1.0))[0][0].position == pytest.approx(0.3)
    assert sliding(path, sn.Encoder(mode="clamp", min=-1.0, max=1.0))[0][0].position == 1.0


def test_the_index_of_a_linear_scale_is_one_bin_anywhere_on_it():
    path = sn.paths.JointLine(-9.0, 100.0)
    out, _ = sliding(path, sn.Encoder(resolution=0.25, quadrature=True, index=-8.1), 0.05)
    u = -9.0 + 0.1 * np.arange(1, 51)
    np.testing.assert_array_equal(of(out, "z"), np.floor(u / 0.25) == np.floor(-8.1 / 0.25))
    assert of(out, "z").any()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"counts_per_turn": 100}, "counts_per_turn is 100 for encoder 'encoder' on a joint that slides; it must have"),
        ({"mode": "clamp"}, "mode is 'clamp' for encoder 'encoder' on a joint that slides; it must have a max"),
        ({"min": 1.0}, "min is 1 for encoder 'encoder' on a joint that slides; it must have a max"),
    ],
)
def test_what_is_refused_on_a_joint_that_slides(given, message):
    with pytest.raises(SpecError, match=message):
        sliding(sn.paths.JointLine(), sn.Encoder(**given))


def test_a_clamped_range_need_not_hold_whole_bins():
    reading, _ = resting(5.0, sn.Encoder(mode="clamp", min=0.0, max=1.0, resolution=0.3))
    assert reading.position == pytest.approx(0.9)


def test_a_rounded_resolution_is_made_to_fit():
    """Bins a 2e-10th too wide would be eight bins off after ten million turns."""
    width = 2 * np.pi / 4096
    reading, _ = resting(1e7 * 2 * np.pi + 1.0, sn.Encoder(resolution=width * (1 + 2e-10)))
    assert reading.position == pytest.approx(width * math.floor(1.0 / width), abs=1e-9)


def test_what_an_encoder_does_not_have_cannot_be_read():
    reading, _ = resting(0.3, sn.Encoder())
    for name in ("count", "a", "b", "z"):
        with pytest.raises(SpecError, match=f"{name} is asked for; the encoder must have"):
            getattr(reading, name)
    counting, _ = resting(0.3, sn.Encoder(counts_per_turn=8))
    assert counting.count == 0
    with pytest.raises(SpecError, match="track z is asked for; the encoder must have quadrature=True"):
        _ = counting.z


def test_without_a_rate_it_cannot_sample():
    env = environment(sn.paths.JointLine())
    with pytest.raises(SpecError, match=r"timing.rate_hz is None"):
        env.attach(sn.Encoder(timing={}), joint="hinge")
