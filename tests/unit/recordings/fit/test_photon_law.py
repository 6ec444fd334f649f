"""Noise by signal: a floor and the counting of photons are found, and taken where they are the more likely law."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.recordings.fit.lidar import fit_lidar
from sensorium.recordings.fit.noise_law import NoiseLaw, NoiseSamples
from sensorium.recordings.fit.photon_law import PhotonLaw, chosen_law, photon_law
from tests.unit.recordings.measure.scenes import room

PER_ROOT_M, FLOOR_M, C = 0.18, 0.003, 20_000.0


def samples(rng, count=40_000, *, along_rings=False, variance=None, quantum_m=0.001):
    """Errors on random ranges and reflectivities, with the signal c reflectance / range^2."""
    reflectivity = rng.choice([3, 6, 12, 25, 50, 90], count).astype(float)
    range_m = rng.uniform(1.0, 12.0, count)
    signal = np.maximum(rng.poisson(C * reflectivity / 100.0 / range_m**2), 1).astype(float)
    if variance is None:
        squares = FLOOR_M**2 + PER_ROOT_M**2 * range_m**2 / (C * reflectivity / 100.0)
    else:
        squares = variance(range_m, reflectivity / 100.0)
    spread = np.sqrt(squares + quantum_m**2 / 12.0)
    error = spread * (np.sqrt(rng.chisquare(6, count) / 6.0) if along_rings else rng.standard_normal(count))
    block = rng.integers(0, 300, count)
    return NoiseSamples(error, range_m, reflectivity, along_rings, quantum_m, signal, block)


@pytest.mark.parametrize("along_rings", [False, True])
def test_floor_and_photons_are_found_and_chosen(along_rings):
    given = samples(np.random.default_rng(1), along_rings=along_rings)
    choice = chosen_law(given)
    law = choice.law
    assert isinstance(law, PhotonLaw)
    assert choice.gain > 0.0
    assert law.per_root_m == pytest.approx(PER_ROOT_M, rel=0.06)
    assert law.floor_m == pytest.approx(FLOOR_M, rel=0.35)
    for range_m in (2.0, 5.0, 10.0):
        for reflectance in (0.06, 0.25, 0.9):
            expected = np.sqrt(FLOOR_M**2 + PER_ROOT_M**2 * range_m**2 / (C * reflectance))
            found = law.sigma_m(np.array(range_m), np.array(reflectance))
            assert found == pytest.approx(expected, rel=0.08), (range_m, reflectance)


def test_another_law_than_that_of_photons_is_a_table():
    def flat(range_m, reflectance):
        return (0.01 * (reflectance / 0.2) ** -0.1) ** 2 + 0.0 * range_m

    choice = chosen_law(samples(np.random.default_rng(2), variance=flat))
    assert isinstance(choice.law, NoiseLaw)
    assert choice.gain < 0.0


def test_without_signals_there_is_a_table_and_no_choice():
    given = samples(np.random.default_rng(3))._replace(signal=np.zeros(0))
    choice = chosen_law(given)
    assert isinstance(choice.law, NoiseLaw)
    assert choice.gain is None
    assert photon_law(samples(np.random.default_rng(3), count=60)) is None


def test_a_sheet_of_photons_is_loaded_and_simulates_the_law(tmp_path):
    """A room whose signals and noise are those of counted photons."""
    rng = np.random.default_rng(4)
    silent = room(rng=rng, turns=6, noise_m=0.0, quantum_m=0.001, is_locked=True)
    range_m = silent.range_m[:, :, 0].astype(np.float64)
    mean = C * silent.reflectivity[:, :, 0] / 100.0 / range_m**2
    noise_m = np.sqrt(FLOOR_M**2 + PER_ROOT_M**2 / mean)
    noisy = np.rint((range_m + noise_m * rng.standard_normal(range_m.shape)) / 0.001) * 0.001
    recording = silent._replace(
        range_m=noisy[..., None].astype(np.float32), signal=rng.poisson(mean)[..., None].astype(np.uint16)
    )
    fitted = fit_lidar(recording)
    assert any("photons and a floor is more likely" in remark for remark in fitted.remarks)
    (tmp_path / "mine.toml").write_text(fitted.text)
    lidar = sn.Lidar.from_device("mine", folder=tmp_path)
    part = lidar.noise.by_signal
    assert part is not None
    assert lidar.noise.by_range == lidar.noise.by_reflectance == ()
    for each in fitted.held_out:
        if each.figure.quantity in ("noise.by_range", "noise.by_reflectivity"):
            assert each.ratio == pytest.approx(1.0, abs=0.12), each.figure.where
    wall = sn.Scene()
    wall.add(sn.shapes.box(0.1, 20.0, 20.0), pose=sn.Pose((5.05, 0.0, 0.0)), material=sn.Lambertian(reflectance=0.2))
    env = sn.Environment(wall, sn.worlds.Static(step_s=0.1), seed=1)
    sensor = env.attach(sn.Lidar.from_device("mine", folder=tmp_path, noise={"channel_bias_m": ()}))
    ranges = []
    for _ in range(8):
        env.step()
        ranges += [scan.range_m.astype(np.float64) for scan in sensor.readings()]
    seen = np.stack(ranges)
    near = (seen > 0.0).all(axis=0) & (seen.mean(axis=0) < 5.3)
    expected = np.sqrt(FLOOR_M**2 + PER_ROOT_M**2 * 5.1**2 / (C * 0.2) + 0.001**2 / 12.0)
    assert np.sqrt(np.mean(seen[:, near].var(axis=0, ddof=1))) == pytest.approx(expected, rel=0.12)
