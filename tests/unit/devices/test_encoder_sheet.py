"""Data sheets of encoders."""

import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.devices import EncoderSheet

HEAD = {"maker": "Nobody", "model": "X", "description": "for a test", "sources": {"DS": "data sheet"}}


def value(number, unit="1", **fields):
    return {"value": number, "unit": unit, "grade": "A", "source": "DS", **fields}


def test_an_encoder_counts_four_edges_a_period():
    fields = EncoderSheet.model_validate(
        {**HEAD, "resolution": value(500, "counts/rev", means="periods"), "tracks": value("quadrature")}
    ).specification()
    assert fields == {"kind": "encoder", "counts_per_turn": 2000, "quadrature": True}


def test_noise_and_rate_are_those_of_the_specification():
    fields = EncoderSheet.model_validate(
        {
            **HEAD,
            "resolution": value(2**14, "counts/rev", means="counts"),
            "sample_rate": value(10.0, "kHz"),
            "noise": value(0.01, "deg", means="1 sigma"),
            "accuracy": value(0.5, "deg"),
        }
    ).specification()
    encoder = sn.Encoder.model_validate(fields)
    assert encoder.counts_per_turn == 2**14
    assert encoder.timing.rate_hz == 10_000.0
    assert encoder.noise.std == pytest.approx(1.745329e-4, rel=1e-6)


def test_what_is_not_told_is_named_and_accuracy_fills_nothing():
    sheet = EncoderSheet.model_validate({**HEAD, "resolution": value(500, "counts/rev", means="counts")})
    assert sheet.defaults() == ("quadrature", "timing.rate_hz", "noise.std")


def test_a_resolution_must_say_what_it_counts():
    with pytest.raises(SpecError, match=r"resolution\.means is None; it must be one of"):
        EncoderSheet.model_validate({**HEAD, "resolution": value(500, "counts/rev")})
