"""Errors and faults of detections: each quantity by itself, whole lists that are held, and what follows from them."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.corruption import Bias, DeadChannels, Dropout, Fault, FaultSchedule, Freeze, Spikes, Stuck

PLACES = [(20.2, 3.0, 0.5, 2.0, 0.0, 0.0), (34.7, -8.0, 0.0), (45.3, 0.0, 1.0, -4.0, 0.0, 0.0)]
STEP_NS = 50_000_000
COLUMNS = ("range_m", "range_rate_m_s", "azimuth_rad", "elevation_rad", "power_W", "snr_dB", "cross_section_m2")


@pytest.fixture
def lists(balls, make_radar):
    """Readings of some frames of three balls, or others, with the truth of the last."""

    def made(*faults, steps=1, env=None, **fields):
        fields = {"elevation_antennas": 8, "vertical_fov_deg": 20.0, "cfar": {"false_alarm": 1e-10}} | fields
        spec = make_radar(faults=FaultSchedule(faults=faults), **fields)
        env = balls(*PLACES) if env is None else env
        radar = env.attach(spec, body="car")
        found = []
        for _ in range(steps):
            env.step()
            found.append(radar.read())
        return found, radar

    return made


def consistent(found, spec):
    """Points, SNR and cross-section follow from range, angles and power, by the radar equation worked out here."""
    level = found.range_m * np.cos(found.elevation_rad)
    xyz = (
        level * np.cos(found.azimuth_rad),
        level * np.sin(found.azimuth_rad),
        found.range_m * np.sin(found.elevation_rad),
    )
    np.testing.assert_allclose(found.points, np.stack(xyz, axis=-1), rtol=1e-12, atol=1e-12)
    half = np.radians([spec.horizontal_fov_deg, spec.vertical_fov_deg]) / 2.0
    gain = 10.0**2.5 * 2.0 ** -((found.azimuth_rad / half[0]) ** 2 + (found.elevation_rad / half[1]) ** 2)
    wave = 299792458.0 / 77e9
    sigma = found.power_W * (4.0 * np.pi) ** 3 * np.maximum(found.range_m, 0.5) ** 4 / (0.01 * gain**2 * wave**2)
    np.testing.assert_allclose(found.cross_section_m2, sigma, rtol=1e-9)
    assert (found.valid[..., :-1] >= found.valid[..., 1:]).all()


def test_without_errors_no_byte_changes(lists):
    (plain,), _ = lists()
    (quiet,), _ = lists(Fault(Bias(1.0), start_s=10.0), range={"saturation": {"max": 1e6}})
    for name in (*COLUMNS, "valid", "object_id", "label", "cause"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(quiet, name))


@pytest.mark.parametrize(
    ("group", "name", "bias"),
    [
        ("range", "range_m", 1.5),
        ("speed", "range_rate_m_s", -2.0),
        ("azimuth", "azimuth_rad", 0.05),
        ("elevation", "elevation_rad", -0.03),
        ("power", "power_W", -3.0),
    ],
)
def test_a_bias_moves_its_quantity_and_what_follows_from_it(lists, group, name, bias):
    (plain,), _ = lists()
    (found,), radar = lists(**{group: {"noise": {"bias": bias}}})
    assert found.valid.sum() == 3
    for other in ("range_m", "range_rate_m_s", "azimuth_rad", "elevation_rad", "power_W", "snr_dB"):
        before, after = getattr(plain, other), getattr(found, other)
        if other == name == "power_W":
            np.testing.assert_allclose(after, before * 10.0 ** (bias / 10.0), rtol=1e-9)
            np.testing.assert_allclose(found.snr_dB, plain.snr_dB + bias, rtol=1e-9)
        elif other == name:
            np.testing.assert_allclose(after, before + bias, rtol=1e-12)
        elif not (other == "snr_dB" and name == "power_W"):
            np.testing.assert_array_equal(after, before)
    consistent(found, radar.spec)
    np.testing.assert_array_equal(found.object_id, plain.object_id)

    # Truth is what is there
    np.testing.assert_allclose(np.sort(radar.truth().cross_section_m2), 10.0, rtol=1e-9)
    np.testing.assert_allclose(np.sort(radar.truth().range_m), np.sort(plain.range_m), atol=0.2)


@pytest.mark.parametrize(
    ("group", "name", "std"),
    [
        ("range", "range_m", 0.2),
        ("speed", "range_rate_m_s", 0.1),
        ("azimuth", "azimuth_rad", 0.01),
        ("elevation", "elevation_rad", 0.02),
        ("power", "snr_dB", 1.5),
    ],
)
def test_noise_has_its_standard_deviation_in_every_place_and_world(balls, lists, group, name, std):
    """300 worlds of three detections: 900 numbers, independent of each other."""
    (plain,), _ = lists(env=balls(*PLACES, worlds=300))
    (found,), radar = lists(env=balls(*PLACES, worlds=300), **{group: {"noise": {"std": std}}})
    error = getattr(found, name) - getattr(plain, name)
    assert error.shape == (300, 3)
    assert error.std() == pytest.approx(std, rel=0.1)
    assert abs(error.mean()) < 4.0 * std / 30.0
    assert abs(np.corrcoef(error.T)[np.triu_indices(3, 1)]).max() < 0.25
    consistent(found, radar.spec)


def test_quantization_and_saturation_act_in_order_after_noise(lists):
    """Codes of 0.5 m up to 40 m, half a decibel down to -80 dBm, five bits of angle."""
    (found,), radar = lists(
        range={"noise": {"std": 0.2}, "quantization": {"lsb": 0.5}, "saturation": {"max": 40.0}},
        azimuth={"quantization": {"bits": 5}, "saturation": {"min": -0.775, "max": 0.775}},
        power={"quantization": {"lsb": 0.5}, "saturation": {"max": -80.0}},
    )
    np.testing.assert_allclose(found.range_m, np.rint(found.range_m / 0.5) * 0.5)
    assert found.range_m.max() == 40.0
    code = (found.azimuth_rad + 0.775) / 0.05
    np.testing.assert_allclose(code, np.rint(code), atol=1e-9)
    level_dBm = 10.0 * np.log10(found.power_W) + 30.0
    np.testing.assert_allclose(level_dBm, np.rint(level_dBm / 0.5) * 0.5, atol=1e-9)
    assert level_dBm.max() <= -80.0 + 1e-9
    consistent(found, radar.spec)


@pytest.mark.parametrize(
    ("target", "names"),
    [
        ("range", ("range_m",)),
        ("speed", ("range_rate_m_s",)),
        ("angle", ("azimuth_rad", "elevation_rad")),
        ("power", ("power_W",)),
    ],
)
@pytest.mark.parametrize("channels", [None, (1,)])
def test_a_stuck_quantity_gives_its_value_from_onset_to_end(lists, target, names, channels):
    """Of all detections, or of the second in the list; the log has it."""
    fault = Fault(Stuck(mode="value", value=0.1), start_s=0.1, end_s=0.2, target=target, channels=channels)
    plain, _ = lists(steps=5)
    found, radar = lists(fault, steps=5)
    struck = np.ones(3, np.bool_) if channels is None else np.array([False, True, False])
    value = 1e-3 * 10.0**0.01 if target == "power" else 0.1
    for number, (before, after) in enumerate(zip(plain, found, strict=True)):
        active = number in (1, 2)
        for name in COLUMNS[:5]:
            expected = (
                np.where(struck, value, getattr(before, name)) if active and name in names else getattr(before, name)
            )
            np.testing.assert_allclose(getattr(after, name), expected, rtol=1e-12)
        consistent(after, radar.spec)
    assert [(e.fault, e.start_ns, e.end_ns) for e in radar.faults.log] == [("stuck", 2 * STEP_NS, 4 * STEP_NS)]


def test_a_frozen_list_is_held_whole(balls, lists):
    """Two balls move and one goes out of range meanwhile; ids and length are those of the onset."""
    moving = [(20.2, 0.0, 0.0, -6.0, 0.0, 0.0), (35.0, -6.0, 0.0, 8.0, 0.0, 0.0), (60.0, 10.0, 0.0, 12.0, 0.0, 0.0)]
    found, radar = lists(
        Fault(Freeze(), start_s=0.1, end_s=0.4), steps=9, env=balls(*moving), range={"noise": {"std": 0.05}}
    )
    plain, _ = lists(steps=9, env=balls(*moving), range={"noise": {"std": 0.05}})
    assert [reading.valid.sum() for reading in plain][::8] == [3, 2]
    for number in range(9):
        expected = found[1] if 1 <= number < 7 else plain[number]
        for name in (*COLUMNS, "valid", "object_id", "label", "cause"):
            np.testing.assert_array_equal(getattr(found[number], name), getattr(expected, name))
        assert found[number].time_ns == plain[number].time_ns
    assert (found[1].range_m == plain[1].range_m).all()
    assert set(found[6].range_m).isdisjoint(plain[6].range_m)
    assert radar.truth().valid.sum() == 2


def test_a_list_that_is_frozen_empty_stays_empty(balls, lists):
    env = balls((70.0, 0.0, 0.0, -80.0, 0.0, 0.0))
    found, _ = lists(Fault(Freeze(), start_s=0.05, end_s=0.3), steps=8, env=env)
    assert [int(reading.valid.sum()) for reading in found[:5]] == [0] * 5
    assert found[-1].valid.sum() == 1


def test_a_quantity_that_is_held_belongs_to_a_place_of_the_list(lists):
    """Ranges of the onset, beside everything else of now."""
    plain, _ = lists(steps=6)
    found, _ = lists(Fault(Freeze(), start_s=0.1, end_s=0.25, target="range"), steps=6)
    for number in range(6):
        held = plain[1] if 1 <= number < 4 else plain[number]
        np.testing.assert_array_equal(found[number].range_m, held.range_m)
        np.testing.assert_array_equal(found[number].azimuth_rad, plain[number].azimuth_rad)
        np.testing.assert_array_equal(found[number].object_id, plain[number].object_id)


def test_dropouts_lose_detections_and_the_rest_moves_up(balls, lists):
    """Each by itself with 30 %, over 300 worlds; or the whole list at once."""
    each = Fault(Dropout(probability=0.3, fill="nan", together=False), target="range")
    (found,), _ = lists(each, env=balls(*PLACES, worlds=300))
    (plain,), _ = lists(env=balls(*PLACES, worlds=300))
    assert found.valid.sum() == pytest.approx(0.7 * 900, abs=4 * np.sqrt(0.21 * 900))
    assert (found.valid[:, :-1] >= found.valid[:, 1:]).all()
    for world in range(300):
        kept = found.valid[world]
        assert set(found.range_m[world][kept]) <= set(plain.range_m[world])
        assert (found.object_id[world][~kept] == -1).all()
        assert (found.range_m[world][~kept] == 0.0).all()
    whole = Fault(Dropout(probability=0.3, fill="nan"), target="power")
    (found,), _ = lists(whole, env=balls(*PLACES, worlds=300))
    count = found.valid.sum(axis=1)
    assert set(count.tolist()) == {0, 3}
    assert (count == 0).sum() == pytest.approx(90, abs=4 * np.sqrt(0.21 * 300))


def test_dropouts_that_hold_give_the_number_before(lists):
    found, _ = lists(Fault(Dropout(probability=0.999, fill="hold"), start_s=0.1, target="speed"), steps=4)
    plain, _ = lists(steps=4)
    np.testing.assert_array_equal(found[3].range_rate_m_s, plain[0].range_rate_m_s)
    np.testing.assert_array_equal(found[3].range_m, plain[3].range_m)


def test_a_dead_place_and_scaled_and_spiking_numbers(lists):
    plain, _ = lists(steps=3)
    dead, _ = lists(Fault(DeadChannels(channels=(0,), value="nan"), target="range"), steps=1)
    assert dead[0].object_id.tolist() == plain[0].object_id.tolist()[1:]
    scaled, _ = lists(speed={"extra": [{"kind": "scale", "error": 0.1}]})
    np.testing.assert_allclose(scaled[0].range_rate_m_s, 1.1 * plain[0].range_rate_m_s, rtol=1e-12)
    spiking, _ = lists(Fault(Spikes(probability=1.0, amplitude=3.0), target="range"), steps=1)
    np.testing.assert_allclose(np.abs(spiking[0].range_m - plain[0].range_m), 3.0, rtol=1e-9)
    off, _ = lists(Fault(Stuck(mode="off"), target="range"), steps=1)
    assert (off[0].range_m == 0.0).all()
    below, _ = lists(range={"noise": {"bias": -1000.0}})
    assert (below[0].range_m == 0.0).all()


def test_a_stuck_list_speaks_where_nothing_is(make_radar):
    """Every place of the list has every number: detections that came from nothing."""
    spec = make_radar(
        cross_sections={},
        max_detections=5,
        faults=FaultSchedule(faults=(Fault(Stuck(mode="value", value=0.25), start_s=0.1),)),
    )
    env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.05))
    radar = env.attach(spec)
    env.step()
    assert radar.read().valid.shape == (0,)
    for _ in range(2):
        env.step()
    found = radar.read()
    assert found.valid.tolist() == [True] * 5
    assert found.range_m.tolist() == [0.25] * 5
    assert found.elevation_rad.tolist() == [0.0] * 5  # one row of antennas measures none
    assert set(found.cause.tolist()) == {sn.EchoCause.FALSE_ALARM}
    assert set(found.object_id.tolist()) == {-1}
    assert radar.truth().valid.shape == (0,)


@pytest.mark.parametrize("value", [-1e4, 1e4])
def test_absurd_numbers_are_still_numbers(lists, value):
    """Every quantity stuck far outside of what a radar measures: finite, and without a warning."""
    (found,), _ = lists(Fault(Stuck(mode="value", value=value)))
    assert found.valid.sum() == 64
    for name in COLUMNS:
        assert np.isfinite(getattr(found, name)).all()


def test_worlds_and_sensors_give_what_each_alone_gives(balls, make_radar):
    """Noise, random faults and dropouts of two radars in three worlds, against each world by itself."""
    spec = make_radar(
        elevation_antennas=4,
        range={"noise": {"std": 0.1, "walk": 0.05}},
        azimuth={"noise": {"bias_std": 0.01}},
        faults=FaultSchedule(
            faults=(
                Fault(Freeze(), onsets_per_s=4.0, duration_s=0.1),
                Fault(Dropout(probability=0.2, fill="nan", together=False), target="power"),
            )
        ),
    )

    def last(**options):
        env = balls(*PLACES, **options)
        radar = env.attach(spec, body="car", pose=[sn.Pose(), sn.Pose.from_euler_deg(yaw=5.0)])
        for _ in range(6):
            env.step()
        return radar.read()

    together = last(worlds=3)
    for world in range(3):
        alone = last(worlds=1, first_world=world)
        for sensor in range(2):
            ours, theirs = together.row(world, sensor).flat(), alone.row(0, sensor).flat()
            for name in (*COLUMNS, "object_id"):
                np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    assert not np.array_equal(together.row(0, 0).flat().range_m, together.row(1, 0).flat().range_m)


def test_a_reset_ends_what_was_held_in_its_world(balls, make_radar):
    fault = Fault(Freeze(), onsets_per_s=1e6)
    env = balls((30.0, 0.0, 0.0, -5.0, 0.0, 0.0), worlds=2)
    radar = env.attach(make_radar(faults=FaultSchedule(faults=(fault,))), body="car")
    for _ in range(4):
        env.step()
    held = radar.read().range_m[:, 0].copy()
    env.reset(np.array([True, False]))
    env.step()
    now = radar.read().range_m[:, 0]
    assert now[1] == held[1]
    assert now[0] != held[0]


def test_what_is_set_later_is_checked_when_it_is_put_to_work(balls, make_radar):
    spec = make_radar()
    spec.elevation.noise.std = 0.01
    with pytest.raises(SpecError, match="elevation has errors and elevation_antennas is 1; that measures no elevation"):
        balls(*PLACES).attach(spec, body="car")
    beyond = make_radar(max_detections=4, faults=FaultSchedule(faults=(Fault(Bias(1.0), channels=(4,)),)))
    with pytest.raises(SpecError, match=r"faults.faults\[0\]: channels has 4; it must be from 0 to 3"):
        balls(*PLACES).attach(beyond, body="car")


def test_a_file_says_it_as_python_does(make_radar):
    """Data as YAML has it, and back."""
    data = {
        "range": {"noise": {"std": 0.1}, "quantization": {"lsb": 0.2}, "saturation": {"max": 150.0}},
        "power": {"noise": {"bias": -1.5}},
        "faults": {"faults": [{"corruption": {"kind": "freeze"}, "start_s": 1.0, "end_s": 2.0}]},
    }
    spec = make_radar(**data)
    assert spec.range.quantization.lsb == 0.2
    assert sn.Radar.model_validate(spec.model_dump()) == spec
    assert isinstance(spec.faults.faults[0].corruption, Freeze)
