"""Tables of beams of several rays."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.scene.layout import layout
from sensorium.sensors.lidar.beam_tables import beam_tables, without_limits
from sensorium.sensors.lidar.light_tables import light_tables
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.waveform import tables as wt

PATTERN = sn.patterns.Spinning(elevation_deg=(0.0,), columns=10, rate_hz=10)


def tables(atmosphere=None, **fields):
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 1, 1))
    spec = sn.Lidar(pattern=PATTERN, mode="relative", **fields)
    light = light_tables(spec, layout(scene, 1), atmosphere or sn.media.vacuum(), None)
    return beam_tables(spec, light), light


@pytest.mark.parametrize("rays", [3, 19, 512, 513, 1024])
def test_a_block_of_beams_fits_its_scratch(rays):
    beams, _ = tables(beam={"rays": rays})
    together, most = beams.switch[wt.V_BATCH], beams.switch[wt.V_PULSES]
    assert len(beams.u) == len(beams.reach) == rays
    assert together * rays <= max(BLOCK, rays)
    assert most % together == 0
    assert most <= BLOCK
    assert most * rays <= 8 * BLOCK + rays
    assert np.hypot(beams.u, beams.v).argmin() == beams.switch[wt.V_CENTER]


def test_two_angles_and_the_separation_in_optical_path():
    beam = {"rays": 7, "half_divergence_rad": (3e-3, 1e-3), "separation_m": 0.4}
    beams, _ = tables(beam=beam, calibrated_index=1.5)
    assert beams.number[wt.W_TAN_ALONG] == pytest.approx(3e-3, rel=1e-4)
    assert beams.number[wt.W_TAN_ACROSS] == pytest.approx(1e-3, rel=1e-4)
    assert beams.separation == pytest.approx(0.6)


def test_room_for_what_can_arrive():
    """One return a ray; one of the air besides in fog; eight where trees are followed."""
    fog = sn.media.fog(visibility_m=50.0)
    assert tables(beam={"rays": 7})[0].room == 7
    assert tables(fog, beam={"rays": 7})[0].room == 14
    assert tables(fog, beam={"rays": 7}, max_depth=2)[0].room == 56


def test_tables_without_limits_leave_the_others_as_they_are():
    _, light = tables(beam={"rays": 7}, threshold=0.5, min_range_m=2.0, returns="first")
    every = without_limits(light)
    assert every.number[[tb.N_THRESHOLD, tb.N_NEAR, tb.N_EARLIEST]].tolist() == [0.0, 0.0, 0.0]
    assert np.isinf(every.number[[tb.N_LATE, tb.N_LATEST]]).all()
    assert every.number[tb.N_FAR] == light.number[tb.N_FAR] == 1000.0
    assert every.switch[tb.S_RETURNS] == tb.ALL
    assert light.number[tb.N_THRESHOLD] == 0.5
    assert light.switch[tb.S_RETURNS] == tb.FIRST
