"""A cone sensor's ideal channels and what it reads out, with a caster that tells what the test says."""

from types import SimpleNamespace

import numpy as np
import pytest

from sensorium.corruption import Program
from sensorium.sensors.cone import channels as cc
from sensorium.sensors.cone.sighting import Sighting
from sensorium.sensors.cone.signal import ConeReadout, ConeSignal
from sensorium.sensors.cone.verdict import new_rule
from sensorium.tracing.labels import LabelTables

MS = 1_000_000
SPEEDS = slice(cc.SPEED, cc.DIFFERENCED_RATE + 1)
WORLDS, SENSORS = 3, 2
ROWS = WORLDS * SENSORS
NO_ERRORS = Program([], columns=cc.COLUMNS)
NO_LABELS = LabelTables(np.zeros((1, 9), np.int32), np.full((1, 9), -1), np.zeros(0, np.int32))


class Told:
    """Has one object in sight of every row, where `x_m` says [m], or none where that is inf."""

    def __init__(self):
        self.x_m, self.number, self.rate_m_s, self.asked = np.full(ROWS, 4.0), np.zeros(ROWS, np.int32), 0.0, []

    def at(self, time_ns):
        self.asked.append(time_ns)
        seen = np.isfinite(self.x_m)[:, None]
        point = np.zeros((ROWS, 1, 3))
        point[:, 0, 0] = np.where(seen[:, 0], self.x_m, 0.0)
        return Sighting(
            time_ns=time_ns,
            p_WS=np.zeros((ROWS, 3)),
            q_WS=np.tile([1.0, 0.0, 0.0, 0.0], (ROWS, 1)),
            point=point,
            range_m=np.where(seen, point[..., 0], np.inf),
            range_rate=np.where(seen, self.rate_m_s, 0.0),
            object_id=np.where(seen, self.number[:, None], np.int32(-1)),
            face_id=np.where(seen, np.int32(0), np.int32(-1)),
            labels=NO_LABELS,
        )


def measuring(period_s=None, *, restarted_ns=(-1, -1, -1), newest_ns=0):
    """A signal of three worlds with two sensors each, and its caster; worlds last restarted when they are told."""
    history = SimpleNamespace(valid_from_ns=np.array(restarted_ns), newest=SimpleNamespace(time_ns=newest_ns))
    caster = Told()
    rig = SimpleNamespace(worlds=WORLDS, sensors=SENSORS, history=history)
    return ConeSignal(rig, caster, period_s, new_rule(1.0, 0.01, 0.05)), caster


def sampled(signal, time_ns):
    out = np.empty((ROWS, cc.COLUMNS))
    signal.sample(time_ns, out)
    return out


def test_a_sample_is_of_its_instant_and_comes_with_what_is_in_sight():
    signal, caster = measuring()
    caster.x_m[1], caster.number[:], caster.rate_m_s = 7.0, 5, -2.0
    out = np.empty((ROWS, cc.COLUMNS))
    found, nearest = signal.sample(30 * MS, out)
    assert caster.asked == [30 * MS] == [found.time_ns]
    assert nearest.object_id.tolist() == [[5]] * ROWS
    assert out[:, cc.RANGE].tolist() == [4.0, 7.0, 4.0, 4.0, 4.0, 4.0]
    assert (out[:, cc.RANGE_RATE] == -2.0).all()
    assert out[1, cc.POINT : cc.POINT + 3].tolist() == [7.0, 0.0, 0.0]
    assert signal.columns == cc.COLUMNS

    # What the readout asks for later
    assert signal.ideal is out
    assert signal.object_id.tolist() == [[5]] * ROWS


def test_of_several_objects_the_nearest_is_measured_and_all_are_given():
    signal, caster = measuring()
    one = caster.at(0)
    numbers, ranges = np.array([0, -1, 2], np.int32), np.array([9.0, np.inf, 6.0])
    point = np.zeros((ROWS, 3, 3))
    point[..., 1] = np.where(np.isfinite(ranges), ranges, 0.0)
    rows = {"point": point, "range_m": np.tile(ranges, (ROWS, 1)), "range_rate": np.tile([1.0, 0.0, 3.0], (ROWS, 1))}
    several = Sighting(**vars(one) | rows | {"object_id": np.tile(numbers, (ROWS, 1)), "face_id": np.zeros((ROWS, 3))})
    caster.at = lambda time_ns: several
    out = np.empty((ROWS, cc.COLUMNS))
    found, nearest = signal.sample(10 * MS, out)
    assert found is several
    assert nearest.range_m.tolist() == [[6.0]] * ROWS
    assert (out[:, cc.RANGE] == 6.0).all()
    assert out[:, cc.AZIMUTH] == pytest.approx(np.full(ROWS, np.pi / 2))
    assert (out[:, cc.RANGE_RATE] == 3.0).all()
    assert signal.object_id.tolist() == [[2]] * ROWS


def test_where_nothing_is_in_sight_the_chain_gets_no_values():
    signal, caster = measuring()
    caster.x_m[2] = np.inf
    out = sampled(signal, 10 * MS)
    assert np.isnan(np.delete(out[2], cc.VERDICT)).all()
    assert np.isfinite(np.delete(out, 2, axis=0)[:, : cc.SPEED]).all()
    assert signal.object_id.ravel().tolist() == [0, 0, -1, 0, 0, 0]


@pytest.mark.parametrize(("period_s", "speed", "interval_s"), [(None, 4.0, 0.05), (0.1, 2.0, 0.1)])
def test_speeds_are_divided_by_the_time_between_samples_or_by_the_period_that_is_told(period_s, speed, interval_s):
    signal, caster = measuring(period_s)
    assert np.isnan(sampled(signal, 70 * MS)[:, SPEEDS]).all()
    caster.x_m -= 0.2
    out = sampled(signal, 120 * MS)
    assert signal.interval_s == pytest.approx(interval_s)
    np.testing.assert_allclose(out[:, cc.SPEED], speed)
    np.testing.assert_allclose(out[:, cc.DIFFERENCED_RATE], -speed)


def test_a_beginning_has_no_reading_before():
    signal, _ = measuring()
    sampled(signal, 10 * MS)
    assert (sampled(signal, 20 * MS)[:, SPEEDS] == 0.0).all()
    signal.begin(25 * MS)
    assert np.isnan(sampled(signal, 30 * MS)[:, SPEEDS]).all()
    assert (sampled(signal, 40 * MS)[:, SPEEDS] == 0.0).all()


def test_only_worlds_that_were_reset_just_now_have_none_with_all_their_sensors():
    signal, _ = measuring(restarted_ns=(20 * MS, 10 * MS, 20 * MS), newest_ns=20 * MS)
    sampled(signal, 10 * MS)
    signal.forget()
    speeds = sampled(signal, 30 * MS)[:, SPEEDS]
    np.testing.assert_array_equal(np.isnan(speeds).all(axis=1), [True, True, False, False, True, True])
    assert (speeds[2:4] == 0.0).all()


def test_without_errors_what_is_read_out_is_the_ideal_sample_to_the_last_bit():
    signal, caster = measuring()
    readout = ConeReadout(signal, NO_ERRORS)
    for k in range(3):
        caster.x_m += np.linspace(0.1, 0.3, ROWS)
        ideal = sampled(signal, (k + 1) * 7 * MS)
        x = ideal.copy()
        readout.read((k + 1) * 7 * MS, x, ideal)
        np.testing.assert_array_equal(x, ideal)


@pytest.mark.parametrize("period_s", [None, 0.1])
def test_what_is_read_out_has_points_and_speeds_of_its_own_errors(period_s):
    """A range that is 1 m wrong at the first sample and 3 m at the next: 2 m a period too fast."""
    signal, caster = measuring(period_s)
    readout = ConeReadout(signal, NO_ERRORS)
    for k, error_m in enumerate((1.0, 3.0)):
        caster.x_m[:] = 4.0 + 0.5 * k
        ideal = sampled(signal, (k + 1) * 50 * MS)
        x = ideal.copy()
        x[:, cc.RANGE] += error_m
        readout.read((k + 1) * 50 * MS, x, ideal)
    interval_s = 0.05 if period_s is None else period_s
    np.testing.assert_allclose(x[:, cc.POINT], 7.5)
    np.testing.assert_allclose(x[:, cc.SPEED], 2.5 / interval_s)
    np.testing.assert_allclose(x[:, cc.DIFFERENCED_RATE], 2.5 / interval_s)
    np.testing.assert_allclose(ideal[:, cc.SPEED], 0.5 / interval_s)


def test_a_new_target_has_no_speed_however_its_range_is_read_out():
    signal, caster = measuring()
    readout = ConeReadout(signal, NO_ERRORS)
    for k in range(2):
        caster.number[:3] = k
        ideal = sampled(signal, (k + 1) * 10 * MS)
        x = ideal + 0.25
        readout.read((k + 1) * 10 * MS, x, ideal)
    np.testing.assert_array_equal(np.isnan(x[:, cc.SPEED]), [True] * 3 + [False] * 3)


def test_rows_that_restart_have_no_reading_before():
    signal, _ = measuring()
    readout = ConeReadout(signal, NO_ERRORS)
    rows = np.array([True, False, False, True, False, False])
    for k in range(2):
        x = sampled(signal, (k + 1) * 10 * MS)
        readout.read((k + 1) * 10 * MS, x, x.copy())
        if k == 0:
            readout.restart(rows)
    np.testing.assert_array_equal(np.isnan(x[:, cc.SPEED]), rows)
    assert (x[~rows, cc.SPEED] == 0.0).all()
