"""The report's picture of a pulse, from scans made by hand: no lidar runs."""

import base64
import io

import numpy as np
import pytest

import sensorium as sn
from sensorium.sensors.lidar.scan import Light, Scan
from sensorium.sensors.lidar.waveform import Waveforms
from sensorium.view.report.waveforms import waveform_images


def scan(range_m, samples):
    """Returns (returns, 2, 3) and samples (2, 3, bins) of 0.5 ns."""
    range_m = np.asarray(range_m, np.float32)
    zero, cause = np.zeros(range_m.shape, np.int32), np.full(range_m.shape, sn.Cause.SURFACE, np.uint8)
    return Scan(
        range_m=range_m,
        points=np.zeros((*range_m.shape, 3), np.float32),
        object_id=zero,
        face_id=zero,
        label=zero,
        offset_ns=np.zeros(range_m.shape[-2:], np.int64),
        start_ns=0,
        end_ns=100,
        frame="sensor",
        knot_ns=np.zeros(1, np.int64),
        X_WS=sn.Pose.stack([sn.Pose()]).reshape((1, 1, 1)),
        light=Light(np.ones(range_m.shape, np.float32), cause, cause, zero),
        waveform=None if samples is None else Waveforms(np.asarray(samples, np.float32), 0.0, 0.5e-9),
    )


@pytest.fixture
def three():
    """Six pulses: one with two returns, of which a weaker one stands beside it in another column."""
    samples = np.full((2, 3, 400), 1e-9)
    ranges = np.zeros((2, 2, 3))
    ranges[0] = 10.0
    for column, height in ((1, 5e-8), (2, 9e-8)):
        ranges[:, 1, column] = 10.0, 14.0
        samples[1, column, 133] = height
    return scan(ranges, samples)


def test_the_pulse_with_most_returns_is_shown_and_of_those_the_highest(three):
    (image,) = waveform_images("top", [three])
    assert image["sensor"] == "top"
    assert "channel 1, column 2" in image["words"]
    assert image["words"].endswith("returns: surface at 10.00 m, surface at 14.00 m")
    from PIL import Image

    picture = Image.open(io.BytesIO(base64.b64decode(image["address"].split(",")[1])))
    assert picture.width > 600
    assert len(np.unique(np.asarray(picture.convert("RGB")).reshape(-1, 3), axis=0)) > 20


def test_without_samples_there_is_no_picture(three):
    assert waveform_images("top", [scan(np.zeros((2, 3)), None)]) == []
    (image,) = waveform_images("top", [scan(np.zeros((2, 3)), np.zeros((2, 3, 50)))])
    assert image["words"].endswith("returns: none")
