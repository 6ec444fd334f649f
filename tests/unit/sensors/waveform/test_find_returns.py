import numpy as np
import pytest

from sensorium import optics
from sensorium.errors import SpecError
from sensorium.optics.waveform import SPEED_OF_LIGHT
from sensorium.sensors import waveform as wf

NS = 1e-9
WINDOW = {"start_s": 0.0, "stop_s": 200 * NS, "resolution_s": NS}
DETECTORS = [wf.Threshold(), wf.LeadingEdge(), wf.Centroid(), wf.Cfar(), wf.GaussianDecomposition()]
PLACES = 50.0 + np.arange(16) / 16.0


def waves(places, width_ns=4.0, heights=None):
    """Ideal waveforms of pulses that arrive at places [bins]; one a row, or several in a row of places."""
    pulse = optics.gaussian_pulse_table(width_ns * NS)
    rows = np.atleast_2d(np.asarray(places, float).reshape(len(places), -1))
    heights = np.ones(rows.shape[1]) if heights is None else heights
    return np.stack([optics.arrivals(row * NS * SPEED_OF_LIGHT / 2, heights, pulse, **WINDOW) for row in rows]), pulse


def find(samples, pulse, detector, **options):
    return wf.find_returns(samples, detector=detector, pulse=pulse, resolution_s=NS, **options)


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: d.kind)
@pytest.mark.parametrize("width_ns", [2.0, 4.0, 10.0])
def test_without_noise_an_ideal_pulse_is_where_it_is(detector, width_ns):
    samples, pulse = waves(PLACES, width_ns)
    found = find(samples, pulse, detector, threshold=0.2, most=2)
    np.testing.assert_allclose(found.time_s[:, 0] / NS, PLACES, atol=0.04)
    assert np.isnan(found.time_s[:, 1]).all()
    peak = optics.binned_pulse(np.array([-0.5 * NS]), NS, *pulse)[0]
    np.testing.assert_allclose(found.amplitude[:, 0], peak, rtol=0.01)
    np.testing.assert_allclose(found.width_s[:, 0] / NS, np.sqrt(width_ns**2 + 1 / 3), rtol=0.05)
    np.testing.assert_allclose(found.range_m, found.time_s * SPEED_OF_LIGHT / 2)


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: d.kind)
@pytest.mark.parametrize("snr", [20.0, 100.0])
def test_the_range_is_off_by_less_than_a_tenth_of_a_bin_above_a_signal_to_noise_of_20(detector, snr):
    """In the mean of 1,000 waveforms at each of sixteen places within a bin."""
    many = 1000
    samples, pulse = waves(PLACES)
    rng = np.random.default_rng(11)
    noisy = np.repeat(samples, many, axis=0) + rng.normal(size=(16 * many, 200)) / snr
    found = find(noisy, pulse, detector, noise=1.0 / snr, most=4)
    error = found.time_s / NS - np.repeat(PLACES, many)[:, None]
    nearest = np.take_along_axis(error, np.nanargmin(np.abs(error), axis=1)[:, None], axis=1)
    bias = nearest.reshape(16, many).mean(axis=1)
    assert np.abs(bias).max() < 0.1
    assert abs(bias.mean()) < 0.03
    # low on the edge, where a threshold crosses high peaks, the slope is small
    assert nearest.std() < (0.3 if detector.kind == "threshold" else 6.0 / snr)


def test_a_threshold_without_correction_sees_high_pulses_early():
    samples, pulse = waves([50.0])
    for correction, most in ((True, 0.01), (False, 5.0)):
        detector = wf.Threshold(walk_correction=correction)
        low, high = (find(k * samples, pulse, detector, threshold=0.2).time_s[0, 0] / NS for k in (1.0, 100.0))
        assert abs(low - high) < most
        assert correction or low - high > 1.0


def test_two_pulses_are_told_apart_from_where_a_valley_lies_between_them():
    for gap, expected in ((3.0, 1), (8.0, 2), (30.0, 2)):
        samples, pulse = waves([[50.0, 50.0 + gap]], heights=[1.0, 0.6])
        for detector in DETECTORS:
            if detector.kind != "cfar" or gap != 8.0:  # a neighbour among the cells of noise hides the weaker
                assert np.isfinite(find(samples, pulse, detector, threshold=0.05).time_s).sum() == expected


def test_a_decomposition_is_not_drawn_by_a_neighbour():
    samples, pulse = waves([[50.3, 56.1]], heights=[1.0, 0.7])
    error = {
        d.kind: np.abs(find(samples, pulse, d, threshold=0.05).time_s[0, :2] / NS - [50.3, 56.1]) for d in DETECTORS
    }
    assert error["gaussian_decomposition"].max() < 0.01
    assert error["centroid"].max() > 0.1
    fit = find(samples, pulse, wf.GaussianDecomposition(), threshold=0.05)
    peak = optics.binned_pulse(np.array([-0.5 * NS]), NS, *pulse)[0]
    np.testing.assert_allclose(fit.amplitude[0, :2], [peak, 0.7 * peak], rtol=0.01)


def test_the_width_of_a_fit_tells_the_depth_of_a_target():
    """A target spread over sigma_d widens the pulse to sqrt(sigma_p^2 + sigma_d^2)."""
    spread = 3.0 * np.linspace(-2.5, 2.5, 101)
    weights = np.exp(-0.5 * (spread / 3.0) ** 2)
    pulse = optics.gaussian_pulse_table(4 * NS)
    samples = optics.arrivals((60.0 + spread) * NS * SPEED_OF_LIGHT / 2, weights / weights.sum(), pulse, **WINDOW)
    found = find(samples, pulse, wf.GaussianDecomposition(), threshold=0.01)
    sigma = found.width_s[0] / NS / 2.35482
    excess = np.sqrt(sigma**2 - (4.0 / 2.35482) ** 2)
    assert excess == pytest.approx(3.0, rel=0.05)


@pytest.mark.parametrize("detector", [wf.LeadingEdge(), wf.Centroid(), wf.Cfar(), wf.GaussianDecomposition()])
def test_the_flanks_of_a_saturated_pulse_tell_where_it_is(detector):
    samples, pulse = waves(PLACES)
    cut = np.minimum(samples, 0.4)
    found = find(cut, pulse, detector, threshold=0.05, full_scale=0.4)
    np.testing.assert_allclose(found.time_s[:, 0] / NS, PLACES, atol=0.25)


def test_a_measured_pulse_counts_from_its_own_time_0():
    """A fast rise and a slow fall; detectors differ in what they look at, not in what they report."""
    t = np.linspace(-2.0, 14.0, 400) * NS
    s = np.where(t < 0, np.exp(-0.5 * (t / (0.8 * NS)) ** 2), np.exp(-0.5 * (t / (3.0 * NS)) ** 2))
    samples = np.stack([optics.arrivals([p * NS * SPEED_OF_LIGHT / 2], [1.0], (t, s), **WINDOW) for p in PLACES])
    for detector in DETECTORS:
        found = find(samples, (t, s), detector, threshold=0.1)
        error = found.time_s[:, 0] / NS - PLACES
        assert abs(error.mean()) < 0.15, detector.kind


def test_noise_alone_gives_false_alarms_at_the_rate_asked_for():
    rng = np.random.default_rng(3)
    noise, pulse = rng.normal(size=(20_000, 200)), optics.gaussian_pulse_table(4 * NS)
    fixed = np.isfinite(find(noise, pulse, wf.LeadingEdge(), noise=1.0, false_alarm=0.02).time_s[:, 0]).mean()
    assert fixed == pytest.approx(0.02, rel=0.2)
    # CFAR needs no noise to be told, and stays the same where noise changes; cells at the edges know less
    cfar = wf.Cfar(cells=32, false_alarm=1e-4)
    rates = [np.isfinite(find(k * noise, pulse, cfar).time_s).sum() / noise.size for k in (1.0, 50.0)]
    assert rates[0] == rates[1]
    assert rates[0] == pytest.approx(1e-4, rel=0.3)


def test_more_returns_than_fit_leave_the_highest_nearest_first():
    samples, pulse = waves([[20.0, 60.0, 100.0, 140.0]], heights=[0.3, 1.0, 0.2, 0.6])
    found = find(samples, pulse, wf.LeadingEdge(), threshold=0.05, most=2)
    np.testing.assert_allclose(found.time_s[0] / NS, [60.0, 140.0], atol=0.01)


def test_batches_keep_their_shape():
    samples, pulse = waves(PLACES)
    found = find(samples.reshape(4, 2, 2, 200), pulse, wf.Centroid(), threshold=0.1, most=3, start_s=7 * NS)
    assert found.time_s.shape == (4, 2, 2, 3)
    np.testing.assert_allclose(found.time_s[..., 0].ravel() / NS, PLACES + 7.0, atol=0.03)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": np.ones(2)}, "samples has shape .* 3 bins or more"),
        ({"samples": np.full(9, np.nan)}, "samples has a value that is not finite"),
        ({"most": 0}, "most is 0; it must be 1 to 32"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(SpecError, match=message):
        wf.find_returns(
            **{"samples": np.ones(9), "detector": wf.Centroid(), "pulse": optics.gaussian_pulse_table(NS)} | options,
            resolution_s=NS,
        )
