import numpy as np
import pytest
from scipy import stats

import sensorium as sn
from sensorium.random import stream_key
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.geometry.ray_errors import BlockDraws
from sensorium.tracing.kernels.light import choose, detect, rows
from sensorium.tracing.kernels.light import tables as tb

KEY = np.array(stream_key(1, "detector"), np.uint32)


def detected(signal, background, noise, sigmas, *, ticks=40):
    """Share of returns of so many electrons that are detected, and their shifts in units of the rise length."""
    block, _ = rows.new_scratch()
    number = np.zeros(tb.NUMBERS, np.float32)
    number[tb.N_CALIBRATED_INDEX], number[tb.N_MOST] = 1.0, 100.0
    detector = np.zeros(detect.DETECTOR_NUMBERS, np.float32)
    detector[detect.D_ELECTRONS_A_WATT], detector[detect.D_NOISE_ELECTRONS] = 1.0, noise
    detector[detect.D_SIGMAS], detector[detect.D_RISE_M] = sigmas, 1.0
    block[rows.AMBIENT : rows.AMBIENT + BLOCK] = background
    seen, shifts = [], []
    for tick in range(ticks):
        floats, words = choose.new_slots(2)
        floats[choose.KEY : choose.KEY + BLOCK] = floats[choose.INTENSITY : choose.INTENSITY + BLOCK] = signal
        floats[choose.OPL : choose.OPL + BLOCK] = 50.0
        draws = BlockDraws(KEY, tick, element=0, world=0)
        detect.detect_block(block, choose.ReturnSlots(floats, words), detector, number, draws, 1, BLOCK)
        kept = floats[choose.KEY : choose.KEY + BLOCK] > choose.NONE
        seen.append(kept)
        shifts.append(floats[choose.OPL : choose.OPL + BLOCK][kept] - 50.0)
    return np.concatenate(seen), np.concatenate(shifts)


@pytest.mark.parametrize(
    ("signal", "background", "noise"), [(20.0, 5.0, 0.5), (60.0, 0.0, 15.0), (3000.0, 1500.0, 5.0)]
)
def test_counts_are_poisson_and_the_electronics_normal(signal, background, noise):
    sigmas = signal / np.sqrt(background + noise**2) * 0.95
    seen, shifts = detected(signal, background, noise, sigmas)
    threshold = background + sigmas * np.sqrt(background + noise**2)
    mean = signal + background
    counts = np.arange(stats.poisson.ppf(1e-9, mean), stats.poisson.ppf(1 - 1e-9, mean) + 1)
    expected = (stats.poisson.pmf(counts, mean) * stats.norm.sf((threshold - counts) / noise)).sum()
    low, high = stats.binom.interval(1 - 1e-4, seen.size, expected)
    assert low <= seen.sum() <= high
    snr = signal**2 / (signal + background + noise**2)
    assert shifts.std() == pytest.approx(1 / np.sqrt(2 * snr), rel=5 / np.sqrt(2 * shifts.size))


@pytest.mark.parametrize("noise", [0.0, 1e-6, 0.05])
@pytest.mark.parametrize("signal", [0.05, 0.7, 3.0])
def test_a_receiver_without_noise_sees_one_electron_and_not_none(signal, noise):
    """Detected with the probability 1 - exp(-S); a threshold of nothing was reached by no electron at all."""
    seen, _ = detected(signal, 0.0, noise, 5.0)
    low, high = stats.binom.interval(1 - 1e-4, seen.size, -np.expm1(-signal))
    assert low <= seen.sum() <= high


@pytest.mark.parametrize("mode", ["radiometric", "waveform"])
@pytest.mark.parametrize(("noise", "threshold", "expected"), [(0.0, 0.0, 0.0), (30.0, 0.0, 0.05), (30.0, 1e3, 0.0)])
def test_noise_alone_is_a_return_as_often_as_it_is_asked_for_where_there_is_noise(mode, noise, threshold, expected):
    """None without noise, nor with a threshold of a kilowatt."""
    pattern = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(-5, 5, 16)), columns=250, rate_hz=10)
    env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.1))
    receiver = sn.Receiver(false_alarm_probability=0.05, noise_electrons=noise)
    spec = sn.Lidar(pattern=pattern, mode=mode, receiver=receiver, max_range_m=100.0, threshold=threshold)
    lidar = env.attach(spec)
    env.step()
    assert lidar.read().valid.mean() == pytest.approx(expected, abs=0.015 if expected else 0.0)


def test_rays_fired_before_a_reset_give_no_false_alarms_either():
    pattern = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(-5, 5, 16)), columns=500, rate_hz=10)
    env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.02))
    lidar = env.attach(sn.Lidar(pattern=pattern, mode="radiometric", receiver=sn.Receiver(false_alarm_probability=0.4)))
    for number, _ in enumerate(env.run(duration_s=0.1)):
        if number == 1:
            env.reset()
    scan = lidar.read()
    before = scan.ray_time_ns < 40_000_000
    assert scan.valid[~before].mean() == pytest.approx(0.4, abs=0.05)
    assert not scan.valid[before].any()
