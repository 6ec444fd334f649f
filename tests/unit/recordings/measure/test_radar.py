"""Own velocity and Doppler noise: covered by their intervals among movers and ghosts; and of real radars."""

from pathlib import Path

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.recordings.measure.radar import measure_radar
from sensorium.recordings.readers.radar_lists import DetectionList, read_radar_list
from tests.unit.recordings.real import real


def simulated(rng, *, speed, direction, noise, count=250, moving=0.12, quantum=0.0):
    """Detections by NumPy: still ones with Gaussian noise, others with any range rate."""
    azimuth, elevation = rng.uniform(-1.0, 1.0, count), rng.normal(0, 0.05, count)
    rate = -speed * np.cos(azimuth - direction) * np.cos(elevation) + noise * rng.normal(size=count)
    other = rng.random(count) < moving
    rate = np.where(other, rng.uniform(-20, 20, count), rate)
    if quantum:
        rate = np.rint(rate / quantum) * quantum
    fields = {"range": rng.uniform(1, 90, count), "azimuth_angle": azimuth, "range_rate": rate}
    return DetectionList(Path("list.yaml"), "", fields | {"elevation_angle": elevation}, {}), other


def test_random_motions_are_covered_by_their_intervals():
    rng = np.random.default_rng(4)
    covered = total = 0
    for _ in range(25):
        truth = {"speed": rng.uniform(2, 30), "direction": rng.uniform(-0.6, 0.6), "noise": rng.uniform(0.01, 0.1)}
        detections, other = simulated(rng, **truth)
        found = measure_radar(detections)
        for quantity, value in (
            ("own_speed", truth["speed"]),
            ("own_speed.direction", truth["direction"]),
            ("doppler_noise", truth["noise"]),
        ):
            figure = found.figure(quantity)
            total += 1
            covered += figure.low <= value <= figure.high
        assert found.figure("own_speed").value == pytest.approx(truth["speed"], abs=4 * truth["noise"] / 10)
        assert found.figure("doppler_noise").value == pytest.approx(truth["noise"], rel=0.25)
        assert found.figure("still_share").value == pytest.approx(1.0 - other.mean(), abs=0.05)
    assert covered / total > 0.85, f"{covered} of {total}"


def test_the_quantum_of_range_rates_is_found():
    detections, _ = simulated(np.random.default_rng(5), speed=7.0, direction=0.1, noise=0.05, quantum=0.0146628)
    assert measure_radar(detections).figure("doppler_quantum").value == pytest.approx(0.0146628, rel=1e-4)


def test_invalid_detections_are_left_out():
    rng = np.random.default_rng(6)
    detections, _ = simulated(rng, speed=7.0, direction=0.1, noise=0.02)
    flags = (rng.random(250) < 0.5).astype(float)
    wrong = np.where(flags > 0, 50.0, detections.fields["range_rate"])
    flagged = detections._replace(fields=detections.fields | {"invalid_range_rate": flags, "range_rate": wrong})
    found = measure_radar(flagged)
    assert found.figure("own_speed").value == pytest.approx(7.0, abs=0.02)
    assert found.figure("own_speed").samples == int((flags == 0).sum())


def test_too_few_or_too_narrow_lists_are_refused():
    rng = np.random.default_rng(7)
    detections, _ = simulated(rng, speed=7.0, direction=0.1, noise=0.02, count=8)
    with pytest.raises(SpecError, match="has 8 valid detections; a fit takes 12"):
        measure_radar(detections)
    detections, _ = simulated(rng, speed=7.0, direction=0.1, noise=0.02, count=40)
    one = detections._replace(fields=detections.fields | {"azimuth_angle": np.zeros(40)})
    with pytest.raises(SpecError, match="all detections lie in one direction"):
        measure_radar(one)


def test_continental_radars():
    folder = real("radar_continental")
    front = measure_radar(read_radar_list(next((folder / "ars548").glob("*detection.yaml"))))
    assert front.figure("own_speed").value == pytest.approx(6.170, abs=0.005)
    assert front.figure("doppler_noise").value == pytest.approx(0.012, abs=0.003)
    assert front.figure("doppler_noise.rms").value == pytest.approx(0.028, abs=0.006)
    assert front.figure("doppler_noise.head_on").value == pytest.approx(0.009, abs=0.002)
    assert front.figure("azimuth_noise").value == pytest.approx(0.0053, abs=0.001)
    assert not front.of("doppler_quantum")
    side = measure_radar(read_radar_list(next((folder / "srr520").glob("*near_detection.yaml"))))
    # The radar's own list of objects gives 6.781 m/s for the car
    assert side.figure("own_speed").value == pytest.approx(6.781, rel=0.005)
    assert side.figure("doppler_quantum").value == pytest.approx(0.0146628, rel=1e-5)
