"""The limit of detection as a specification: what it takes, what it makes of a receiver, what is refused."""

import math

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.sensors.lidar.limit_tables import limit_numbers, relative_limit

PATTERN = sn.patterns.Spinning(elevation_deg=(0.0,), columns=8, rate_hz=10)


def lidar(**options):
    return sn.Lidar(**{"pattern": PATTERN, "mode": "relative"} | options)


def test_every_statement_is_detected_as_often_as_stated():
    rng = np.random.default_rng(1)
    for _ in range(50):
        near, far = rng.uniform(20.0, 100.0), rng.uniform(1.7, 2.8)
        second = {"reflectance": 0.8, "range_m": near * far, "probability": 0.9}
        limit = sn.DetectionLimit(range_m=near, second=second, ratio=rng.uniform(3.0, 8.0))
        found = limit_numbers(limit, lambda range_m: 2.0 / range_m**2)
        for rho, range_m in ((0.1, near), (0.8, near * far)):
            intensity = rho / math.pi * 2.0 / range_m**2
            p = sn.optics.detection_probability(intensity, noise=found.noise(rho), ratio=found.ratio)
            assert p == pytest.approx(0.9, abs=1e-9)


def test_a_second_probability_tells_the_threshold():
    limit = sn.DetectionLimit(range_m=45.0, second=sn.StatedRange(reflectance=0.1, range_m=55.0, probability=0.5))
    found = limit_numbers(limit, lambda range_m: 1.0 / range_m**2)
    assert found.ratio == pytest.approx(1.2815516 / ((55 / 45) ** 2 - 1), rel=1e-6)
    assert found.sun == 0.0


def test_what_is_hopeless_is_weaker_than_noise_or_far_below_the_threshold():
    def hopeless(ratio):
        found = limit_numbers(sn.DetectionLimit(ratio=ratio), lambda _: 1.0)
        return found.hopeless / found.noise(0.1)

    assert (hopeless(2.0), hopeless(5.0), hopeless(7.0)) == pytest.approx((1.0, 1.0, 3.0))


def test_only_a_relative_lidar_has_a_limit_unless_told():
    typical = relative_limit(lidar())
    assert typical == relative_limit(lidar(detection=sn.DetectionLimit(reflectance=0.1, range_m=100.0)))
    assert relative_limit(lidar(detection=None)) is None
    for mode in ("radiometric", "waveform"):
        assert relative_limit(lidar(mode=mode, detection={"range_m": 50.0})) is None


def test_it_survives_being_written_and_read():
    given = lidar(detection={"range_m": 90.0, "second": {"reflectance": 0.8, "range_m": 170.0}})
    assert sn.Lidar.model_validate(given.model_dump()) == given
    assert lidar().detection == "typical"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: lidar(mode="radiometric", detection=sn.DetectionLimit(), receiver={"noise_electrons": 20.0}),
            r"receiver.noise_electrons is 20\.0 and detection is given, from which that noise follows; give one of",
        ),
        (lambda: sn.DetectionLimit(reflectance=0.0), "reflectance is 0"),
        (lambda: sn.DetectionLimit(probability=1.0), "probability is 1"),
        (lambda: sn.DetectionLimit(ratio=0.5), "ratio is 0.5"),
        (
            lambda: sn.DetectionLimit(ratio=4.0, second={"reflectance": 0.1, "range_m": 120.0, "probability": 0.5}),
            r"ratio is 4\.0 with a second range of the same reflectance, 0\.1, which tells it; give one of them",
        ),
        (
            lambda: sn.DetectionLimit(second={"reflectance": 0.1, "range_m": 90.0, "probability": 0.5}),
            r"second.range_m is 90\.0 with probability 0\.5, beside 100\.0 with 0\.9; the farther target must be",
        ),
        (
            lambda: sn.Environment(sn.Scene()).attach(
                lidar(detection={"range_m": 90.0, "second": {"reflectance": 0.8, "range_m": 300.0}})
            ),
            r"detection states 90 m for 0\.1 and second.range_m 300 m for 0\.8: noise on a target of 0\.8 is",
        ),
        (
            lambda: sn.Environment(sn.Scene()).attach(
                lidar(mode="radiometric", receiver={"peak_power_W": 1e-4}, detection={"range_m": 90.0})
            ),
            r"detection states 90 m for 0\.1: signal is .* electrons; too few to be detected with 0\.9",
        ),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(SpecError, match=message):
        make()
