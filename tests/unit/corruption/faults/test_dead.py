"""Dead channels and blocked sectors of scans and images."""

import numpy as np
import pytest
from scipy import stats

from sensorium.core.errors import SpecError
from sensorium.corruption import BlockedSector, Chain, DeadChannels, Fault


def run(corruption, shape, worlds=1, seed=3, **options):
    state = corruption.init((worlds, int(np.prod(shape))), seed=seed, **options)
    out, _ = corruption.apply(np.ones((worlds, int(np.prod(shape)))), time_ns=0, state=state)
    return out.reshape(worlds, *shape)


def test_known_channels_give_nothing():
    np.testing.assert_array_equal(run(DeadChannels(channels=(1, 3)), (5,))[0], [1, 0, 1, 0, 1])
    assert np.isnan(run(DeadChannels(channels=(4,), value="nan"), (5,))[0, 4])


def test_a_dead_laser_is_a_row_of_the_scan():
    out = run(DeadChannels(channels=(0, 2), shape=(4, 10)), (4, 10))[0]
    np.testing.assert_array_equal(out, np.array([0, 1, 0, 1])[:, None] * np.ones(10))


def test_a_share_is_drawn_for_each_world_and_stays_for_the_episode():
    dead = DeadChannels(share=0.2)
    state = dead.init((300, 16), seed=3)
    first, state = dead.apply(np.ones((300, 16)), time_ns=0, state=state)
    second, state = dead.apply(np.ones((300, 16)), time_ns=1, state=state)
    np.testing.assert_array_equal(first, second)
    assert stats.binomtest(int((first == 0).sum()), first.size, 0.2).pvalue > 1e-3
    counts = np.bincount((first == 0).sum(axis=1), minlength=17)
    expected = stats.binom.pmf(np.arange(17), 16, 0.2) * 300
    assert stats.chisquare(*(np.append(c[:7], c[7:].sum()) for c in (counts, expected))).pvalue > 1e-3

    # Another episode has other dead channels, in the worlds that begin anew
    mask = np.arange(300) < 150
    state.program.restart(state, mask)
    third, _ = dead.apply(np.ones((300, 16)), time_ns=2, state=state)
    np.testing.assert_array_equal(third[~mask], first[~mask])
    assert (third[mask] != first[mask]).any(axis=1).mean() > 0.9


def test_drawn_lasers_are_whole_rows_and_a_batch_equals_single_runs():
    dead = DeadChannels(share=0.3, shape=(16, 8))
    together = run(dead, (16, 8), worlds=8)
    assert (together == together[..., :1]).all()
    assert 0 < (together == 0).sum() < together.size
    for world in range(8):
        np.testing.assert_array_equal(run(dead, (16, 8), first_world=world)[0], together[world])


def test_a_block_of_an_image():
    out = run(BlockedSector(shape=(6, 8), rows=(1, 3), columns=(2, 7), value="nan"), (6, 8))[0]
    expected = np.zeros((6, 8), bool)
    expected[1:3, 2:7] = True
    np.testing.assert_array_equal(np.isnan(out), expected)
    assert (run(BlockedSector(shape=(6, 8), rows=(1, 3)), (6, 8))[0][1:3] == 0).all()


@pytest.mark.parametrize(
    ("fields", "azimuths"),
    [
        ({"azimuth_deg": (30.0, 60.0)}, {30, 40, 50, 60}),
        ({"azimuth_deg": (160.0, -160.0)}, {160, 170, 180, 190, 200}),
        ({"azimuth_deg": (-10.0, 10.0)}, {350, 0, 10}),
        ({"azimuth_deg": (-180.0, 180.0)}, set(range(0, 360, 10))),
        ({"azimuth_deg": (45.0, 45.0)}, set()),
    ],
)
@pytest.mark.parametrize("turn", [{}, {"direction": "counterclockwise", "start_azimuth_deg": 40.0}])
def test_an_azimuth_range_blocks_the_columns_that_look_there(fields, azimuths, turn):
    sector = BlockedSector(shape=(2, 36), **fields, **turn)
    out = run(sector, (2, 36))[0]
    sign = 1 if turn else -1
    column_azimuth = (turn.get("start_azimuth_deg", 0.0) + sign * 10 * np.arange(36)) % 360
    np.testing.assert_array_equal(out[0] == 0, np.isin(column_azimuth, list(azimuths)))
    np.testing.assert_array_equal(out[0], out[1])


def test_azimuths_are_those_of_the_spinning_pattern():
    from sensorium.patterns import Spinning

    pattern = Spinning(elevation_deg=(0.0, 1.0), columns=90, rate_hz=10.0, start_azimuth_deg=33.0)
    directions = pattern.rays().direction_S
    azimuth_deg = np.degrees(np.arctan2(directions[0, :, 1], directions[0, :, 0]))
    sector = BlockedSector(shape=(2, 90), azimuth_deg=(-31.0, 52.0), start_azimuth_deg=33.0)
    expected = np.flatnonzero((azimuth_deg >= -31.0 - 1e-6) & (azimuth_deg <= 52.0 + 1e-6))
    assert sector.blocked_columns() == tuple(expected)


def test_a_fault_may_block_for_a_while():
    mud = Fault(BlockedSector(shape=(2, 4), columns=(1, 3)), start_s=2e-9, end_s=4e-9)
    out, _ = mud.series(np.ones((6, 8)), times_ns=np.arange(6), state=mud.init((8,), seed=1))
    np.testing.assert_array_equal((out == 0).sum(axis=1), [0, 0, 4, 4, 0, 0])


@pytest.mark.parametrize(
    ("model", "fields", "rule"),
    [
        (DeadChannels, {}, "exactly one"),
        (DeadChannels, {"channels": (1,), "share": 0.1}, "exactly one"),
        (DeadChannels, {"share": 1.5}, "share"),
        (DeadChannels, {"share": 0.5, "shape": (0, 4)}, "shape"),
        (BlockedSector, {"shape": (4, 4), "rows": (3, 3)}, "rows is"),
        (BlockedSector, {"shape": (4, 4), "columns": (2, 5)}, "end at 4 at most"),
        (BlockedSector, {"shape": (4, 4), "columns": (2, 3), "azimuth_deg": (0, 1)}, "one or the other"),
    ],
)
def test_bad_data_is_refused(model, fields, rule):
    with pytest.raises(SpecError, match=rule):
        model(**fields)


def test_what_only_shows_with_a_signal_is_refused_then():
    with pytest.raises(SpecError, match="its product must be the 9 channels"):
        BlockedSector(shape=(2, 4)).init((9,), seed=1)
    with pytest.raises(SpecError, match="channels has 4; it must be from 0 to 1"):
        DeadChannels(channels=(4,), shape=(2, 4)).init((8,), seed=1)


def test_it_survives_as_data():
    chain = Chain([DeadChannels(share=0.1, shape=(2, 4)), BlockedSector(shape=(2, 4), azimuth_deg=(0, 9), value="nan")])
    assert Chain.model_validate(chain.model_dump()) == chain
    assert Chain.model_validate_json(chain.model_dump_json()) == chain
