"""Detection and false alarms of the whole radar, by the law of its CFAR over 10^5 trials."""

import numpy as np
import pytest

import sensorium as sn

WORLDS, FRAMES = 1000, 100


def inside(hits, trials, chance):
    """Whether a count lies in the binomial interval of 99.9 %."""
    from scipy.stats import binom

    low, high = binom.ppf([0.0005, 0.9995], trials, chance)
    return low <= hits <= high


CHIRP = sn.radio.Chirp(bandwidth_Hz=149.896229e6, ramp_s=60e-6, samples=48, chirps=4)
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
    """One Swerling I reflector in the middle of a range cell, so that its neighbours have nothing of it."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.02, 0.02, 0.02), pose=sn.Pose((24.01, 0.0, 0.0)), name="reflector")
    found, truth = frames(scene, count=FRAMES)
    near = [r.valid & (np.abs(r.range_m - 24.0) < 0.6) & (np.abs(r.range_rate_m_s) < 10.0) for r in found]
    seen = sum(int(one.any(axis=1).sum()) for one in near)
    snr = float(sn.radio.of_decibels(truth.snr_dB[0, 0]))
    chance = float(sn.radio.cfar_detection_probability(snr, cells=16, false_alarm=SPEC.cfar.false_alarm))
    assert 0.5 < chance < 0.9
    assert inside(seen, WORLDS * FRAMES, chance)


def test_false_alarm_rate_over_as_many_cells():
    """Cells of an empty frame but the first, which is nearer than the radar reports; two in one peak count once."""
    count = 1 + 400_000 // (WORLDS * 4 * 47)
    found, _ = frames(sn.Scene(), count=count)
    alarms = sum(int((r.cause == sn.EchoCause.FALSE_ALARM).sum()) for r in found)
    assert inside(alarms, count * WORLDS * 4 * 47, SPEC.cfar.false_alarm)
