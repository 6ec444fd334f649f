""" """

import base64

import numpy as np
import pytest

from sensorium.view.report.envelope import Envelope, levels, packed


def filled(values, *, most=8, pieces=1, rate_hz=100.0):
    """An envelope of one signal, given in some pieces."""
    envelope = Envelope(1, most=most)
    time_s = np.arange(len(values)) / rate_hz
    for t, x in zip(np.array_split(time_s, pieces), np.array_split(values, pieces), strict=True):
        envelope.add(t, np.asarray(x, float)[:, None])
    return envelope


@pytest.mark.parametrize("samples", [0, 1, 7, 8, 9, 15, 16])
def test_up_to_twice_as_many_samples_as_stretches_are_kept_as_they_are(samples):
    values = np.random.default_rng(0).normal(size=samples)
    time_s, kept = filled(values).points(0)
    assert kept.tolist() == values.tolist()
    assert time_s == pytest.approx(np.arange(samples) / 100.0)


@pytest.mark.parametrize("samples", [17, 1000, 12345])
def test_memory_is_bounded_and_no_spike_is_lost(samples):
    values = np.random.default_rng(0).normal(size=samples)
    values[samples // 3], values[2 * samples // 3] = 50.0, -60.0
    time_s, kept = filled(values, pieces=7).points(0)
    assert len(kept) <= 2 * (8 + 1)
    assert (kept.min(), kept.max()) == (-60.0, 50.0)
    assert time_s[kept.argmax()] == pytest.approx(samples // 3 / 100.0)
    assert (np.diff(time_s) > 0.0).all()


def test_pieces_do_not_matter():
    values = np.random.default_rng(3).normal(size=777)
    for one, other in zip(filled(values).points(0), filled(values, pieces=50).points(0), strict=True):
        assert one.tolist() == other.tolist()


def test_every_kept_sample_is_one_of_the_signal_at_its_own_time():
    values = np.random.default_rng(3).normal(size=500)
    time_s, kept = filled(values).points(0)
    assert kept.tolist() == values[np.rint(time_s * 100.0).astype(int)].tolist()


def test_unknown_samples_show_only_where_a_whole_stretch_is_unknown():
    values = np.ones(64)
    values[5], values[32:] = np.nan, np.nan
    time_s, kept = filled(values).points(0)
    assert not np.isnan(kept[time_s < 0.32]).any()
    assert np.isnan(kept[time_s >= 0.32]).all()


def test_fewer_stretches_on_request_keep_the_extremes():
    values = np.random.default_rng(4).normal(size=300)
    time_s, kept = filled(values, most=64).points(0, most=5)
    assert len(kept) <= 10
    assert (kept.min(), kept.max()) == (values.min(), values.max())
    assert (np.diff(time_s) > 0.0).all()


def test_channels_have_extremes_of_their_own():
    envelope = Envelope(2, most=4)
    x = np.stack([np.arange(100.0), -np.arange(100.0)], axis=1)
    envelope.add(np.arange(100.0), x)
    assert envelope.points(0)[1].max() == 99.0
    assert envelope.points(1)[1].min() == -99.0


def test_bytes_are_little_endian_and_say_what_they_are():
    told = packed(np.array([1.5, -2.0], ">f4"))
    assert told["kind"] == "f4"
    assert np.frombuffer(base64.b64decode(told["data"]), "<f4").tolist() == [1.5, -2.0]
    assert packed(np.arange(3, dtype=np.uint8))["kind"] == "u1"


def test_levels_span_the_scale_and_stop_at_its_ends():
    assert levels(np.array([-9.0, 0.0, 5.0, 10.0, 99.0]), 0.0, 10.0, np.uint16).tolist() == [0, 0, 32768, 65535, 65535]


def test_a_place_is_off_by_half_a_level_at_most():
    x = np.random.default_rng(1).uniform(-30.0, 70.0, 1000)
    back = -30.0 + 100.0 * levels(x, -30.0, 70.0, np.uint16) / 65535.0
    assert np.abs(back - x).max() <= 0.5 * 100.0 / 65535.0 * 1.0001


def test_a_cloud_without_height_is_at_level_zero():
    assert levels(np.full(3, 2.0), 2.0, 2.0, np.uint16).tolist() == [0, 0, 0]
