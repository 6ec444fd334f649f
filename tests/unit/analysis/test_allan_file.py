"""The file of a fit: what is in it, that it comes back whole, and what is refused."""

import json

import numpy as np
import pytest

from sensorium.analysis import AllanFit
from sensorium.analysis.allan import Allan
from sensorium.analysis.allan_file import load, save, unit_of
from sensorium.core.errors import SpecError

RATE, SAMPLES = 100.0, 60_000


def fit(terms="QNBKR", channels=("gyro.x", "gyro.y"), unit="rad/s"):
    """A fit of numbers of no meaning, none of which is a short decimal."""
    rng, counts, size = np.random.default_rng(3), np.array([1, 4, 20, 500]), len(channels)
    curves = {name: rng.random((len(counts), size)) for name in ("deviation", "low", "high", "degrees")}
    return AllanFit(
        coefficients={term: rng.random(size) for term in terms},
        intervals={term: rng.random((2, size)) for term in terms},
        model_error=rng.random(size),
        fit_range_s=(0.01, 5.0),
        allan=Allan(tau_s=counts / RATE, **curves, terms=SAMPLES + 1 - 2 * counts, rate_hz=RATE, samples=SAMPLES),
        channels=channels,
        units=(unit,) * size,
    )


def test_a_saved_fit_comes_back_whole(tmp_path):
    given = fit()
    save(given, tmp_path / "allan.json")
    again = load(tmp_path / "allan.json")
    assert (again.channels, again.units, again.terms) == (("gyro.x", "gyro.y"), ("rad/s", "rad/s"), "QNBKR")
    assert again.fit_range_s == given.fit_range_s
    for term in "QNBKR":
        np.testing.assert_array_equal(again.coefficients[term], given.coefficients[term])
        np.testing.assert_array_equal(again.intervals[term], given.intervals[term])
    for name in ("tau_s", "deviation", "low", "high", "degrees", "terms"):
        np.testing.assert_array_equal(getattr(again.allan, name), getattr(given.allan, name))
    np.testing.assert_array_equal(again.correlation_time_s, given.correlation_time_s)
    assert (again.allan.rate_hz, again.allan.samples) == (RATE, SAMPLES)
    assert [file.name for file in tmp_path.iterdir()] == ["allan.json"]


def test_the_file_says_what_a_specification_needs(tmp_path):
    given = fit("NBK", channels=("signal",))
    given.save(tmp_path / "allan.json")
    data = json.loads((tmp_path / "allan.json").read_text())
    assert (data["kind"], data["version"], data["rate_hz"], data["duration_s"]) == ("sensorium.allan", 1, RATE, 600.0)
    entry = data["channels"]["signal"]
    assert entry["N"] == {
        "value": float(given.N[0]),
        "low": given.intervals["N"][0, 0],
        "high": given.intervals["N"][1, 0],
        "unit": "rad/s/sqrt(Hz)",
    }
    assert (entry["B"]["unit"], entry["K"]["unit"]) == ("rad/s", "rad/s/sqrt(s)")
    assert entry["correlation_time_s"] == float(given.correlation_time_s[0])


def test_no_limit_is_null_in_the_file(tmp_path):
    given = fit("NBK")
    given.intervals["K"][1, 1] = np.inf
    given.save(tmp_path / "allan.json")
    assert json.loads((tmp_path / "allan.json").read_text())["channels"]["gyro.y"]["K"]["high"] is None
    assert AllanFit.load(tmp_path / "allan.json").intervals["K"][1, 1] == np.inf


def test_units_of_coefficients():
    assert unit_of("Q", "m/s^2") == "m/s^2 s"
    assert unit_of("R", "") == "1/s"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "is no Allan fit; it must have kind"),
        ('{"kind": "sensorium.allan", "version": 2}', "version 1"),
        ('{"kind": "sensorium.allan", "version": 1}', "is no whole Allan fit: KeyError 'shape'"),
        ('{"kind": "sensorium.allan", "version": 1, "shape": 3}', "is no whole Allan fit"),
    ],
)
def test_other_files_are_refused(tmp_path, text, message):
    file = tmp_path / "allan.json"
    file.write_text(text)
    with pytest.raises(SpecError, match=message):
        load(file)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(SpecError, match="cannot be read: No such file"):
        load(tmp_path / "allan.json")
    with pytest.raises(SpecError, match="its folder does not exist"):
        save(fit(), tmp_path / "no" / "allan.json")
