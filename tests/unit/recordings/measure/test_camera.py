"""EMVA 1288 figures: closed forms, coverage of the intervals over random cameras, and a real camera."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.record.pictures import save_png
from sensorium.recordings.measure.camera import linearity_deviation, measure_camera, pair_statistics
from sensorium.recordings.readers.emva1288 import DESCRIPTOR, ImageGroup, read_emva1288, write_descriptor
from tests.unit.recordings.real import real


def write_camera(folder, rng, *, K, eta, dark, prnu, dsnu, current=0.0, black=40.0, top=4095, exposures=14, side=72):
    """A set of images by NumPy alone, independent of the library's model of pixels."""
    (folder / "images").mkdir(parents=True)
    full = (top - black) / K
    sensitivity, offset = 1.0 + prnu * rng.normal(size=(side, side)), dsnu * rng.normal(size=(side, side))
    groups = []

    def add(kind, share, count, name):
        photons, seconds, paths = (share * 1.1 * full / eta if kind == "b" else 0.0), 0.02 * share, []
        for k in range(count):
            e = rng.poisson(eta * photons * sensitivity + current * seconds) + offset
            e = e + dark * rng.normal(size=e.shape)
            paths.append(folder / "images" / f"{kind}_{name}_{k}.png")
            save_png(paths[-1], np.clip(np.rint(K * e + black), 0, top).astype(np.uint16))
        groups.append((kind, ImageGroup(seconds, photons, tuple(paths))))

    for kind in "bd":
        for number in range(exposures):
            add(kind, (number + 1) / exposures, 2, number)
        add(kind, 0.45, 10, "s")
    write_descriptor(folder / DESCRIPTOR, bits=12, width=side, height=side, groups=groups)
    return read_emva1288(folder)


def test_figures_of_random_cameras_are_covered_by_their_intervals(tmp_path):
    rng = np.random.default_rng(11)
    covered, total, worst = 0, 0, {}
    for trial in range(12):
        truth = {"K": rng.uniform(0.15, 0.5), "eta": rng.uniform(0.2, 0.8), "dark": rng.uniform(5.0, 20.0)}
        truth |= {"prnu": rng.uniform(0.004, 0.02), "dsnu": rng.uniform(3.0, 10.0), "current": rng.uniform(0.0, 2000.0)}
        images = write_camera(tmp_path / str(trial), rng, **truth)
        found = measure_camera(images)
        wanted = {
            "system_gain": truth["K"],
            "quantum_efficiency": truth["eta"],
            "dark_noise": truth["dark"],
            "dark_current.from_mean": truth["current"],
            "dark_current.from_variance": truth["current"],
            "full_well": (4095 - 40.0) / truth["K"],
            "prnu": truth["prnu"],
            "prnu.high_pass": truth["prnu"],
            "dsnu": truth["dsnu"],
            "dsnu.high_pass": truth["dsnu"],
        }
        for quantity, value in wanted.items():
            figure = found.figure(quantity)
            total += 1
            covered += figure.low <= value <= figure.high
            if not quantity.startswith("dark_current"):
                worst[quantity] = max(worst.get(quantity, 0.0), abs(figure.value / value - 1.0))
        saturation = found.figure("saturation_capacity")
        assert saturation.low <= wanted["full_well"] <= saturation.high
    assert covered / total > 0.9, f"{covered} of {total}"
    assert max(worst.values()) < 0.06, worst


def test_a_pair_has_the_mean_and_the_variance_over_time():
    rng = np.random.default_rng(3)
    pattern = rng.integers(0, 3000, (300, 300))
    a, b = (np.rint(pattern + 500 + 12.0 * rng.normal(size=pattern.shape)).astype(np.uint16) for _ in range(2))
    mean, variance = pair_statistics(a, b)
    assert mean == pytest.approx(pattern.mean() + 500, abs=0.2)
    assert variance == pytest.approx(144.0 + 1 / 12, rel=0.02)


def test_a_line_has_no_linearity_error_and_a_bent_one_has_its_own():
    photons = np.linspace(1000, 20000, 20)
    assert np.abs(linearity_deviation(photons, 3.0 + 0.2 * photons)).max() < 1e-12
    bent = linearity_deviation(photons, 0.2 * photons * (1.0 - 0.02 * photons / 20000))
    assert 0.0 < np.abs(bent).mean() < 0.01


def test_sets_with_too_little_are_refused(tmp_path):
    rng = np.random.default_rng(4)
    few = write_camera(tmp_path / "few", rng, K=0.3, eta=0.5, dark=5.0, prnu=0.01, dsnu=1.0, exposures=3, side=16)
    with pytest.raises(SpecError, match="too few exposures at 5 to 70 % of saturation"):
        measure_camera(few)
    with pytest.raises(SpecError, match="0 with two dark ones"):
        measure_camera(few._replace(dark=()))


def test_images_below_saturation_are_said(tmp_path):
    rng = np.random.default_rng(4)
    images = write_camera(tmp_path / "a", rng, K=0.3, eta=0.5, dark=5.0, prnu=0.01, dsnu=1.0, side=32)
    dim = images._replace(bright=tuple(group for group in images.bright if group.photons < 15000))
    found = measure_camera(dim)
    assert any("not saturated" in remark for remark in found.remarks)
    assert any("full_well is not measured" in remark for remark in found.remarks)


def test_the_basler_ccd_of_the_reference_set():
    found = measure_camera(read_emva1288(real("camera_emva1288")))
    for quantity, value, tolerance in (
        ("system_gain", 0.2786, 0.001),
        ("quantum_efficiency", 0.4552, 0.002),
        ("dark_noise", 10.99, 0.05),
        ("prnu", 0.00433, 0.00003),
        ("full_well", 14643, 50),
    ):
        assert found.figure(quantity).value == pytest.approx(value, abs=tolerance)
    assert "208 images of the descriptor are not there; the others were measured" in found.remarks
