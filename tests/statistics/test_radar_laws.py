"""Detection and false alarms of the whole radar, by the law of its CFAR over 10^5 trials."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.sensors.radar.cells import Cells

WORLDS, FRAMES = 1000, 100


def inside(hits, trials, chance):
    """Whether a count lies in the binomial interval of 99.9 %."""
    from scipy.stats import binom

    low, high = binom.ppf([0.0005, 0.9995], trials, chance)
    return low <= hits <= high


CHIRP = sn.radar.Chirp(bandwidth_hz=149.896229e6, ramp_s=60e-6, samples=48, chirps=4)
SPEC = sn.Radar(
    chirp=CHIRP,
    source="cone",
    antennas=1,
    window="rectangular",
    cfar={"over": "mean", "training": 8, "guard": 3, "false_alarm": 1e-3},
    cross_sections={"reflector": 2e-4},
)


def frames(scene, *, count):
    """Readings of so many frames in all worlds, and the truth of the last."""
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.05), worlds=WORLDS, seed=11)
    radar = env.attach(SPEC)
    found = []
    for _ in range(count):
        env.step()
        found.append(radar.read())
    return found, radar.truth()


@pytest.mark.slow
def test_detection_probability_over_a_hundred_thousand_frames():
    """One Swerling I reflector in the middle of a range cell, so that its neighbors have nothing of it."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.02, 0.02, 0.02), pose=sn.Pose((24.01, 0.0, 0.0)), name="reflector")
    found, truth = frames(scene, count=FRAMES)
    near = [r.valid & (np.abs(r.range_m - 24.0) < 0.6) & (np.abs(r.range_rate_m_s) < 10.0) for r in found]
    seen = sum(int(one.any(axis=1).sum()) for one in near)
    snr = float(sn.radar.of_decibels(truth.snr_dB[0, 0]))
    chance = float(sn.radar.cfar_detection_probability(snr, cells=16, false_alarm=SPEC.cfar.false_alarm))
    assert 0.5 < chance < 0.9
    assert inside(seen, WORLDS * FRAMES, chance)


def test_false_alarm_rate_over_as_many_cells():
    """Cells of an empty frame but the first, which is nearer than the radar reports; two in one peak count once."""
    count = 1 + 400_000 // (WORLDS * 4 * 47)
    found, _ = frames(sn.Scene(), count=count)
    alarms = sum(int((r.cause == sn.EchoCause.FALSE_ALARM).sum()) for r in found)
    assert inside(alarms, count * WORLDS * 4 * 47, SPEC.cfar.false_alarm)


@pytest.mark.parametrize("over", ["rank", "mean"])
@pytest.mark.parametrize("window", ["hann", "blackman_harris"])
def test_false_alarms_are_as_frequent_behind_a_window(over, window):
    """Windows correlate cells, which takes training cells away and puts peaks together: local maxima are counted here
    against those of a map made and searched in NumPy, which has the law's own rate of cells over the threshold."""
    chirp = sn.radar.Chirp(bandwidth_hz=149.896229e6, ramp_s=60e-6, samples=64, chirps=16)
    cfar = {"over": over, "training": 8, "guard": 6, "false_alarm": 1e-3}
    spec = sn.Radar(chirp=chirp, source="cone", antennas=1, window=window, cfar=cfar, min_range_m=1e-3, adc=True)
    env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.05), worlds=150, seed=5)
    radar = env.attach(spec)
    env.step()
    found = radar.read()
    weights = sn.radar.window_samples(window, count=64), sn.radar.window_samples(window, count=16)
    cube = np.abs(np.fft.fft2(found.adc[:, :, 0] * weights[1][:, None] * weights[0], axes=(1, 2))) ** 2
    rank = None if over == "mean" else 0.75
    factors = sn.radar.correlated_factors(window, samples=64, training=8, guard=6, false_alarm=1e-3, rank=rank)
    crossed = np.zeros(cube.shape, bool)
    for r in range(64):
        around = cube[..., [k for k in range(64) if 6 < abs(k - r) <= 14]]
        count = around.shape[2]
        level = around.mean(axis=2) if rank is None else np.sort(around, axis=2)[..., round(rank * count) - 1]
        crossed[..., r] = cube[..., r] > factors[count] * level
    assert 0.6e-3 < crossed.mean() < 1.5e-3
    peak = crossed.copy()
    for shift in np.ndindex(3, 3):
        peak &= cube >= np.roll(cube, np.array(shift) - 1, axis=(1, 2))
    assert 0.9 * peak.sum() <= found.valid.sum() <= 1.02 * peak.sum()


def both_seen(*, cells, axis, worlds, first_m=20.3, **fields):
    """Share of frames in which two equal reflectors so many cells apart along an axis are both detected."""
    chirp = sn.radar.Chirp(bandwidth_hz=149.896229e6, ramp_s=60e-6, samples=64, chirps=32)
    scene, paths, areas = sn.Scene(), {}, {}
    for number, name in enumerate(("near", "far")):
        range_m = first_m + number * cells * (axis == "range")
        speed = number * cells * chirp.speed_resolution_m_s * (axis == "speed")
        sine = 0.05 + number * cells * 0.25 * (axis == "angle")
        along = np.array([np.sqrt(1 - sine**2), sine, 0.0])
        start = range_m * along + [0.0, 0.0, 0.06 * (2 * number - 1)] - 0.05 * speed * along
        paths[name] = sn.paths.Line(start=tuple(start), velocity=tuple(speed * along))
        scene.add(sn.shapes.box(1e-4, 1e-4, 1e-4), body=name, name=name)
        loss = sn.radar.relative_gain(np.arcsin(sine), 0.0, horizontal_fov_rad=np.pi / 2, vertical_fov_rad=0.35)
        areas[name] = float(range_m**4 / 20.3**4 / loss**2)
    env = sn.Environment(scene, sn.worlds.Kinematic(paths, step_s=0.05), worlds=worlds, seed=1)
    radar = env.attach(sn.Radar(chirp=chirp, source="cone", cross_sections=areas, **fields))
    env.step()
    assert radar.truth().valid.sum() == 2 * worlds
    found = radar.read().object_id
    return float(np.mean((found == 0).any(axis=1) & (found == 1).any(axis=1)))


APART = [("range", 2), ("range", 2.5), ("range", 4), ("range", 7), ("range", 12), ("speed", 2), ("speed", 5.3)]


@pytest.mark.parametrize("window", sn.radar.WINDOWS)
@pytest.mark.parametrize(("axis", "cells"), [*APART, ("angle", 2)])
def test_two_equal_reflectors_are_both_seen_from_two_cells_on(axis, cells, window):
    """In 99 % of frames at a mean SNR of 56 dB, at which one alone is missed in a frame of 2000 at most. Where each
    fluctuates by itself, one is 23 dB weaker than the other in 1 % of frames."""
    fields = {"window": window, "angle_window": window}
    alone = Cells(sn.Radar(**fields)).detection_probability(np.array(10.0**5.6))
    assert alone > 0.9995
    assert both_seen(axis=axis, cells=cells, worlds=300, fluctuation="steady", **fields) == 1.0
    assert both_seen(axis=axis, cells=cells, worlds=2000, fluctuation="swerling_1", **fields) >= 0.99


@pytest.mark.parametrize("window", sn.radar.WINDOWS)
@pytest.mark.parametrize(("first_m", "cells"), [(2.3, 8), (4.6, 7), (52.4, 9)])
def test_they_are_at_the_ends_of_the_row_too(window, first_m, cells):
    """Where thresholds have half of the training cells, of which a main lobe fills more than the rank leaves."""
    fields = {"window": window, "angle_window": window, "fluctuation": "steady", "first_m": first_m}
    assert both_seen(axis="range", cells=cells, worlds=200, **fields) == 1.0


def test_over_the_mean_equal_reflectors_hide_each_other():
    assert both_seen(axis="range", cells=8, worlds=50, fluctuation="steady", cfar={"over": "mean"}) == 0.0


def test_nearer_than_a_cell_and_a_half_they_are_one():
    for cells in (0.5, 1.0):
        assert both_seen(axis="range", cells=cells, worlds=200, fluctuation="steady") < 0.25


@pytest.mark.parametrize("window", sn.radar.WINDOWS)
@pytest.mark.parametrize("speed_m_s", [0.0, 6.0, -17.0])
def test_false_alarms_are_as_frequent_beside_a_strong_echo(window, speed_m_s):
    """80 dB, between cells, at rest or moving by 0.05 to 0.17 of a range cell within the frame."""
    chirp = sn.radar.Chirp(bandwidth_hz=1e9, ramp_s=50e-6, samples=64, chirps=32)
    worlds, rate = 400, 1e-5
    fields = {"window": window, "angle_window": window, "cfar": {"false_alarm": rate}, "min_range_m": 1e-3}
    area_m2 = 1.0
    for _ in range(2):  # of 1 m^2 first
        scene = sn.Scene()
        scene.add(sn.shapes.box(1e-4, 1e-4, 1e-4), body="ball", name="ball")
        path = sn.paths.Line(start=(4.6 - 0.05 * speed_m_s, 0.37, 0.0), velocity=(speed_m_s, 0.0, 0.0))
        env = sn.Environment(scene, sn.worlds.Kinematic({"ball": path}, step_s=0.05), worlds=worlds, seed=3)
        areas = {"ball": area_m2}
        loud = env.attach(sn.Radar(chirp=chirp, source="cone", fluctuation="steady", cross_sections=areas, **fields))
        env.step()
        area_m2 *= float(sn.radar.of_decibels(80.0 - loud.truth().snr_dB.max()))
    assert loud.truth().snr_dB.max() == pytest.approx(80.0, abs=0.1)
    found = loud.read()
    assert ((found.object_id == 0) & found.valid).any(axis=1).all()
    cells = 64 * 32 * 8 * worlds
    from scipy.stats import binom

    assert found.valid.sum() - worlds <= binom.ppf(0.9995, cells, rate)
