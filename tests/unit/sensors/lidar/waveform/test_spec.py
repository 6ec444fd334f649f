import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.sensors.lidar.waveform.tables import beam_rays, pulse_taps, window_bins
from sensorium.tracing.kernels.waveform.tables import CELLS

SINGLE = sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=10)
SCAN = sn.patterns.Spinning(elevation_deg=(0.0,), columns=100, rate_hz=10)
VANE = sn.Beam(half_divergence_rad=0.005, exit_radius_m=0.0125)


def lidar(**fields):
    return sn.Lidar(**{"pattern": SINGLE, "mode": "waveform", "beam": VANE} | fields)


def test_a_single_pulse_has_the_rays_of_eq_8_and_a_scan_19():
    assert len(beam_rays(lidar()).u) == 5417
    assert len(beam_rays(lidar(pattern=SCAN)).u) == 19
    asked = sn.waveform.Waveform(rays={"kind": "grid", "across": 5})
    assert len(beam_rays(lidar(pattern=SCAN, waveform=asked)).u) == 21
    assert sn.waveform.Grid(spacing_m=0.02).rays_across(VANE) == 42


def test_the_window_ends_when_light_from_the_farthest_range_is_back():
    bins = window_bins(lidar(max_range_m=75.0))
    assert 75.0 < bins * 0.5e-9 * 299_792_458.0 / 2 < 77.0
    assert window_bins(lidar(waveform=sn.waveform.Waveform(start_s=100e-9, stop_s=200e-9))) == 200


def test_every_cell_of_a_bin_sends_the_whole_pulse():
    taps, first = pulse_taps(sn.optics.gaussian_pulse_table(4e-9), 0.5e-9)
    assert taps.shape[0] == CELLS
    assert taps.shape[1] % 8 == 0
    np.testing.assert_allclose(taps.sum(axis=1), taps[0].sum(), rtol=1e-5)
    # its middle lies where the cell does, the middle of a bin half a bin behind its beginning
    middle = taps @ (first + np.arange(taps.shape[1]) + 0.5) / taps.sum(axis=1)
    np.testing.assert_allclose(middle, np.arange(CELLS) / CELLS, atol=1e-4)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"waveform": {"start_s": 10e-9, "stop_s": 13e-9}},
            r"waveform.start_s is 1e-08 and waveform.stop_s 1.3e-08; the time window must be no shorter than the pulse",
        ),
        (
            {"waveform": {"pulse": {"kind": "table", "time_s": (0, 1e-6), "value": (1, 1)}}, "max_range_m": 100.0},
            "the time window must be no shorter than the pulse, 1e-06 s",
        ),
        ({"waveform": {"resolution_s": 1e-12}}, "the window must have at most 131072 bins"),
        ({"atmospheric_law": (9.5, 0.5, 0.1)}, "atmospheric_law is .* with mode 'waveform'"),
        ({"waveform": {"gain": 0.0}}, "Lidar.waveform.gain is 0.0; it must be greater than 0"),
        ({"waveform": {"detector": {"kind": "cfra"}}}, "did you mean 'cfar'"),
        ({"waveform": {"detector": {"kind": "cfar", "cells": 7}}}, "cells is 7; it must be a multiple of 2"),
        ({"waveform": {"rays": {"kind": "grid", "spacing_m": 0.0}}}, "spacing_m is 0.0; it must be greater than 0"),
        ({"waveform": {"pulse": {"kind": "table", "time_s": (1, 0), "value": (1, 1)}}}, "it must increase"),
        ({"receiver": {"length_m": 0.1}}, "length_m is 0.1 and width_m None; give both or neither"),
    ],
)
def test_bad_specifications(fields, message):
    with pytest.raises(SpecError, match=message):
        lidar(**fields)


def test_it_is_plain_data():
    spec = lidar(waveform=sn.waveform.Waveform(detector=sn.waveform.Cfar(cells=16), rays=sn.waveform.Spiral(count=7)))
    assert sn.Lidar.model_validate(spec.model_dump()) == spec
    assert sn.Lidar.model_validate_json(spec.model_dump_json()) == spec


def test_samples_of_gigabytes_are_kept_only_where_that_is_stated():
    pattern = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(-15, 15, 64)), columns=1800, rate_hz=10)
    many = {"pattern": pattern, "mode": "waveform", "max_range_m": 1000.0}
    says = r"waveform.keep would hold 6.15 GB for each sweep, 115200 pulses of 13342 bins of 4 bytes; it must be"
    with pytest.raises(SpecError, match=says) as error:
        sn.Lidar(**many, waveform={"keep": True})
    assert "\n" not in str(error.value)
    assert sn.Lidar(**many, waveform={"keep": True, "keep_gb": 6.2}).waveform.keep_gb == 6.2
    assert sn.Lidar(**many, waveform={"keep": True, "stop_s": 1e-6}).waveform.keep
    assert not sn.Lidar(**many).waveform.keep

    # All worlds and sensors count, once it is known how many there are
    few = sn.patterns.Spinning(elevation_deg=(0.0,), columns=10, rate_hz=10)
    spec = sn.Lidar(pattern=few, mode="waveform", max_range_m=10.0, waveform={"keep": True, "keep_gb": 1e-5})
    for worlds in (1, 2):
        env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.1), worlds=worlds)
        if worlds == 1:
            env.attach(spec)
        else:
            with pytest.raises(SpecError, match="20 pulses of 144 bins"):
                env.attach(spec)
