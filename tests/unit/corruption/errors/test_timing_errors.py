"""Errors of time, as data."""

import pytest

from sensorium.core.errors import SpecError
from sensorium.corruption import TimingErrors


def test_two_at_once():
    a = TimingErrors(delay_s=0.1, jitter_s=0.03, loss=0.2, clock_offset_s=-0.5, skew_ppm=20.0)
    b = TimingErrors(delay_s=0.05, jitter_s=0.04, loss=0.5, clock_offset_s=0.2, skew_ppm=-50.0)
    both = a + b
    assert both == b + a
    assert both.delay_s == pytest.approx(0.15)
    assert both.jitter_s == pytest.approx(0.05)
    assert both.loss == pytest.approx(0.6)
    assert both.clock_offset_s == pytest.approx(-0.3)
    assert both.skew_ppm == pytest.approx(-30.0)
    assert a + TimingErrors() == a


@pytest.mark.parametrize(
    ("name", "value"),
    [("delay_s", -0.1), ("jitter_s", -1.0), ("loss", 1.1), ("loss", float("nan")), ("skew_ppm", -1e6), ("dely_s", 0.1)],
)
def test_bad_data_is_refused(name, value):
    with pytest.raises(SpecError, match=name):
        TimingErrors(**{name: value})


def test_it_survives_as_data():
    errors = TimingErrors(delay_s=0.1, loss=0.25)
    assert TimingErrors.model_validate(errors.model_dump()) == errors
