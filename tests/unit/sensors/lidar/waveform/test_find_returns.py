import numpy as np
import pytest

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.core.errors import SpecError
from sensorium.physics import optics
from sensorium.sensors.lidar import waveform as wf

NS = 1e-9
WINDOW = {"start_s": 0.0, "stop_s": 200 * NS, "resolution_s": NS}
DETECTORS = [wf.Threshold(), wf.LeadingEdge(), wf.Centroid(), wf.Cfar(), wf.GaussianDecomposition()]
PLACES = 50.0 + np.arange(16) / 16.0


def waves(places, width_ns=4.0, heights=None):
    """Ideal waveforms of pulses that arrive at places [bins]; one a row, or several in a row of places."""
    pulse = optics.gaussian_pulse_table(width_ns * NS)
    rows = np.atleast_2d(np.asarray(places, float).reshape(len(places), -1))
    heights = np.ones(rows.shape[1]) if heights is None else heights
    ranges_m = rows * NS * SPEED_OF_LIGHT_M_S / 2
    return np.stack([optics.arrivals(row, heights, pulse, **WINDOW) for row in ranges_m]), pulse


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
    np.testing.assert_allclose(found.range_m, found.time_s * SPEED_OF_LIGHT_M_S / 2)


def strongest(found):
    """Time of the highest return of each waveform [bins]."""
    at = np.nanargmax(np.where(np.isnan(found.amplitude), -np.inf, found.amplitude), axis=-1)
    return np.take_along_axis(found.time_s, at[..., None], axis=-1)[..., 0] / NS


def noisy_waves(rng, width, snr, law, many, shape=None):
    """Pulses of a width [bins] at random places, with noise by a law, and what of it a detector is told.

    Laws: "normal" noise of the electronics, "photons" alone, "quiet": photons and one electron of the electronics.
    The ratio is that of the highest sample: peak / sqrt(own^2 + electrons at the peak).
    """
    places = 5.0 * width + 20.0 + rng.uniform(0.0, 1.0, many)
    pulse = optics.gaussian_pulse_table(width * NS) if shape is None else shape
    window = {"start_s": 0.0, "stop_s": (10 * width + 60) * NS, "resolution_s": NS}
    clean = np.stack([optics.arrivals([p * NS * SPEED_OF_LIGHT_M_S / 2], [1.0], pulse, **window) for p in places])
    peak = clean.max()
    if law == "normal":
        told = {"noise": peak / snr}
        return places, pulse, clean + rng.normal(size=clean.shape) * told["noise"], told
    own = {"photons": 0.0, "quiet": 1.0}[law]
    electrons = 0.5 * (snr**2 + np.sqrt(snr**4 + 4.0 * (snr * own) ** 2)) / peak
    samples = rng.poisson(clean * electrons) + own * rng.normal(size=clean.shape)
    return places, pulse, samples / electrons, {"noise": own / electrons, "electron": 1.0 / electrons}


EDGES = [wf.LeadingEdge(fraction=0.1), wf.LeadingEdge(fraction=0.9)]


@pytest.mark.parametrize("law", ["normal", "photons", "quiet"])
@pytest.mark.parametrize(("width", "snr"), [(1.5, 20), (1.5, 60), (4, 20), (4, 1000), (9.3, 25), (40, 20), (40, 200)])
def test_the_time_is_off_by_less_than_a_tenth_of_a_bin_above_a_signal_to_noise_of_20(law, width, snr):
    """In the mean of many waveforms, at random places within a bin; its own uncertainty is allowed for."""
    rng = np.random.default_rng(int(1000 * width + snr))
    places, pulse, samples, told = noisy_waves(rng, width, snr, law, 800)
    for detector in (*DETECTORS, *EDGES):
        found = find(samples, pulse, detector, most=4, **told)
        error = strongest(found) - places
        assert np.isfinite(error).all()
        assert abs(error.mean()) < 0.1 + 3.0 * error.std() / np.sqrt(error.size), detector
        assert np.isfinite(found.time_s).sum(axis=1).mean() < 1.05, detector  # no pulse is taken for several

        # At no place within a bin either
        for part in range(4):
            here = (places % 1.0 * 4).astype(int) == part
            assert abs(error[here].mean()) < 0.1 + 3.5 * error[here].std() / np.sqrt(here.sum()), detector


@pytest.mark.parametrize("detector", [*DETECTORS, *EDGES], ids=lambda d: f"{d.kind} {getattr(d, 'fraction', '')}")
@pytest.mark.parametrize("width", [1.5, 4.0, 40.0])
def test_without_any_noise_and_threshold_the_time_is_right_at_every_height(detector, width):
    """The threshold falls to nothing; it was crossed by the first sample of a pulse, up to 117 mm early."""
    rng = np.random.default_rng(9)
    places, pulse, samples, _ = noisy_waves(rng, width, 1e30, "normal", 40)
    for height in (1e-12, 1.0, 1e9):
        error = strongest(find(height * samples, pulse, detector)) - places
        assert np.abs(error).max() < 0.1


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: d.kind)
def test_a_pulse_of_another_shape_is_as_right(detector):
    """A fast rise and a slow fall, quiet and not; its spread is measured by the pulse as it is."""
    t = np.linspace(-4.0, 14.0, 600) * NS
    shape = t, np.where(t < 0, np.exp(-0.5 * (t / (1.2 * NS)) ** 2), np.exp(-0.5 * (t / (3.0 * NS)) ** 2))
    rng = np.random.default_rng(4)
    for law, snr in (("photons", 20.0), ("quiet", 100.0), ("normal", 25.0), ("normal", 1e9)):
        places, pulse, samples, told = noisy_waves(rng, 5.0, snr, law, 500, shape)
        error = strongest(find(samples, pulse, detector, most=4, **told)) - places
        assert abs(error.mean()) < 0.1 + 3.0 * error.std() / np.sqrt(error.size)


@pytest.mark.parametrize("heights", [(1.0, 1.0), (1.0, 0.5), (0.5, 1.0)])
def test_pulses_that_overlap_draw_each_other_from_two_widths_apart_by_less_than_a_tenth_of_a_bin(heights):
    """By their distance in pulse widths, without noise; CFAR does not see both, see `Cfar`."""
    for gap in (1.5, 2.0, 2.5, 3.0):
        samples, pulse = waves([[p, p + 4.0 * gap] for p in PLACES], heights=heights)
        for detector in (d for d in DETECTORS if d.kind != "cfar"):
            found = find(samples, pulse, detector, threshold=0.02, most=3)
            assert np.isnan(found.time_s[:, 2]).all()
            error = np.abs(found.time_s[:, :2] / NS - np.stack([PLACES, PLACES + 4.0 * gap], axis=1)).max()
            fits = detector.kind == "gaussian_decomposition"
            assert error < (0.01 if fits else 0.1 if gap > 1.5 else 0.7), (detector, gap)
            assert fits or gap > 1.5 or error > 0.09


def test_single_photons_far_from_a_pulse_are_returns_of_their_own():
    """Without noise and threshold; those of the pulse's own flanks are not."""
    samples, pulse = waves([50.0])
    counts = np.rint(1000.0 * samples)
    counts[0, 120], counts[0, 20] = 1.0, 2.0
    found = find(counts, pulse, wf.LeadingEdge(), electron=1.0)
    np.testing.assert_allclose(found.time_s[0, :3] / NS, [20.5, 50.0, 120.5], atol=2.0)  # half a pulse before an edge
    assert np.isnan(found.time_s[0, 3:]).all()


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
            if detector.kind != "cfar" or gap != 8.0:  # a neighbor among the cells of noise hides the weaker
                assert np.isfinite(find(samples, pulse, detector, threshold=0.05).time_s).sum() == expected


def test_a_decomposition_is_not_drawn_by_a_neighbor():
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
    samples = optics.arrivals((60.0 + spread) * NS * SPEED_OF_LIGHT_M_S / 2, weights / weights.sum(), pulse, **WINDOW)
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
    samples = np.stack([optics.arrivals([p * NS * SPEED_OF_LIGHT_M_S / 2], [1.0], (t, s), **WINDOW) for p in PLACES])
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
        ({"noise": -1.0}, "noise is -1.0; it must be finite and not negative"),
        ({"electron": np.nan}, "electron is nan; it must be finite and not negative"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(SpecError, match=message):
        wf.find_returns(
            **{"samples": np.ones(9), "detector": wf.Centroid(), "pulse": optics.gaussian_pulse_table(NS)} | options,
            resolution_s=NS,
        )
