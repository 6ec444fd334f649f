"""The radar as its user sees it: what it measures of known reflectors, in which frame and with which sign."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError

AHEAD = (30.2, 0.0, 0.0)
MEAN = {"over": "mean"}


@pytest.mark.parametrize("source", ["cone", "rays"])
def test_a_reflector_is_measured_where_it_is(balls, make_radar, read, source):
    """Within a tenth of a cell; rays see the whole ball, whose middle is a little farther."""
    env = balls((30.2, 8.0, 2.0, 3.3, 0.0, 0.0))
    found, truth = read(env, make_radar(source=source, elevation_antennas=8))
    assert found.valid.sum() == 1
    direction = np.array([30.2, 8.0, 2.0]) / np.linalg.norm([30.2, 8.0, 2.0])
    nearest = np.linalg.norm([30.2, 8.0, 2.0]) + 3.3 * 0.05 * direction[0]
    assert truth.range_m[0] == pytest.approx(nearest, abs=2e-3 if source == "cone" else 0.25)
    assert found.range_m[0] == pytest.approx(truth.range_m[0], abs=0.1)
    assert found.range_rate_m_s[0] == pytest.approx(3.3 * direction[0], abs=0.1)
    assert found.azimuth_rad[0] == pytest.approx(np.arctan2(8.0, 30.2), abs=0.02)
    assert found.elevation_rad[0] == pytest.approx(np.arcsin(direction[2]), abs=0.01)
    assert found.object_id[0] == 0
    assert found.label[0] == env.scene.labels["ball"]
    assert found.cause[0] == sn.EchoCause.OBJECT
    np.testing.assert_allclose(np.linalg.norm(found.points, axis=-1), found.range_m)


def test_power_and_cross_section_are_those_of_the_radar_equation(balls, make_radar, read):
    """The worked example of physics.md 12 at 100 m: 7.6389e-13 W; here with noise 50 dB below."""
    chirp = sn.radar.Chirp(bandwidth_hz=149.896229e6, ramp_s=50e-6, samples=128, chirps=128)
    found, truth = read(balls((100.0, 0.0, 0.0)), make_radar(chirp=chirp))
    assert truth.power_W[0] == pytest.approx(7.6389e-13, rel=2e-4)
    assert truth.cross_section_m2[0] == pytest.approx(10.0)
    assert found.power_W[0] == pytest.approx(7.6389e-13, rel=0.05)
    assert found.cross_section_m2[0] == pytest.approx(10.0, rel=0.06)
    noise_W = sn.radar.thermal_noise(noise_figure=10**1.2, integration_s=128 * 50e-6) * 1.5**2 * 1.36283
    assert truth.snr_dB[0] == pytest.approx(10 * np.log10(7.6389e-13 / noise_W), abs=0.01)


@pytest.mark.parametrize(("speed", "sign"), [(-5.0, -1), (5.0, 1)])
def test_what_recedes_has_a_positive_range_rate_and_what_is_left_a_positive_azimuth(
    balls, make_radar, read, speed, sign
):
    found, _ = read(balls((20.0, 6.0 * sign, 0.0, speed, 0.0, 0.0)), make_radar())
    assert np.sign(found.range_rate_m_s[0]) == sign
    assert np.sign(found.azimuth_rad[0]) == sign


def test_the_sensors_own_speed_counts(balls, make_radar, read):
    found, _ = read(balls((40.0, 0.0, 0.0), velocity=(7.0, 0.0, 0.0)), make_radar())
    assert found.range_rate_m_s[0] == pytest.approx(-7.0, abs=0.1)


def test_too_fast_and_too_far_folds(balls, make_radar, read):
    """+-16.22 m/s and 64 m: 20 m/s show as -12.45, and 80 m as 16 (less the error of a wrong speed's coupling)."""
    chirp = make_radar().chirp
    fast, truth = read(balls((30.0, 0.0, 0.0, 20.0, 0.0, 0.0)), make_radar())
    assert truth.range_rate_m_s[0] == pytest.approx(20.0)
    assert fast.range_rate_m_s[0] == pytest.approx(20.0 - 2.0 * chirp.unambiguous_speed_m_s, abs=0.1)
    far, truth = read(balls((80.0, 0.0, 0.0)), make_radar(max_range_m=120.0))
    assert truth.range_m[0] == pytest.approx(80.0, abs=0.01)
    assert far.range_m[0] == pytest.approx(16.0, abs=0.1)
    nothing, _ = read(balls((80.0, 0.0, 0.0)), make_radar())
    assert not nothing.valid.any()


@pytest.mark.parametrize(
    ("offset", "speed", "count"),
    [((3.0, 0.0), 0.0, 2), ((0.0, 0.0), 3.5, 2), ((0.0, 20.0), 0.0, 2), ((1.0, 0.0), 0.0, 1), ((0.0, 3.0), 0.0, 1)],
)
def test_two_reflectors_are_told_apart_by_range_speed_or_angle(balls, make_radar, read, offset, speed, count):
    """Three cells apart they are two; one cell apart they are one. An angle cell is 14 degrees ahead."""
    x, y = 30.0 + offset[0], -4.0 + offset[1]
    x = (x * x + 16.0 - y * y) ** 0.5 if offset[1] else x  # at the same range
    along = speed * np.array([x, y, 0.0]) / np.hypot(x, y)
    env = balls((30.0, -4.0, -1.2), (x, y, 1.2, *along))
    found, truth = read(env, make_radar())
    assert truth.valid.sum() == 2
    assert found.valid.sum() == count


def test_what_the_mean_hides_behind_a_strong_echo_a_rank_shows(balls, make_radar, read):
    """Six cells beyond a ball of 1000 m^2, one of 10 m^2."""
    env = balls((30.0, 0.0, -1.2), (36.0, 0.0, 1.2))
    areas = {"ball0": 1000.0, "ball1": 10.0}
    hidden, _ = read(env, make_radar(cross_sections=areas, cfar={"over": "mean", "false_alarm": 1e-7}), name="mean")
    shown, _ = read(env, make_radar(cross_sections=areas), name="rank")
    assert hidden.object_id.tolist() == [0]
    assert shown.object_id.tolist() == [0, 1]
    assert shown.range_m[1] == pytest.approx(36.0, abs=0.2)


@pytest.mark.parametrize("source", ["cone", "rays"])
@pytest.mark.parametrize("gap_m", [3.0, 4.5, 6.0])
def test_two_equal_cars_in_a_row_are_both_seen(source, gap_m):
    """In the lanes to the left and to the right, by a radar of which nothing is told; over the mean hardly ever."""
    scene = sn.Scene()
    for x, y in ((32.0, 2.0), (32.0 + gap_m, -2.0)):
        scene.add(sn.shapes.box(4.5, 1.8, 1.4), pose=sn.Pose((x, y, 0.0)), label="car")
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.05), worlds=40, seed=2)
    radars = [env.attach(sn.Radar(source=source, **fields), name=str(fields)) for fields in ({}, {"cfar": MEAN})]
    env.step()
    seen = [radar.read().object_id for radar in radars]
    rank, mean = (np.mean((found == 0).any(axis=1) & (found == 1).any(axis=1)) for found in seen)
    assert rank >= 0.97
    assert mean < 0.3


def test_rays_do_not_stick_to_walls_along_the_way(balls, make_radar):
    """A long wall to the left, seen at a grazing angle: rays of several frames meet it at many ranges."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(60.0, 0.2, 2.0), pose=sn.Pose((30.0, 4.0, 0.0)))
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.05))
    radar = env.attach(make_radar(cross_sections={}, source="rays"))
    ranges = []
    for _ in range(6):
        env.step()
        ranges.append(float(radar.truth().range_m[0]))
    assert len(set(ranges)) == 6
    assert np.ptp(ranges) < 2.0


def test_the_map_has_its_peak_at_the_reflector(balls, make_radar, read):
    found, _ = read(balls((30.0, 0.0, 0.0, 4.0, 0.0, 0.0)), make_radar(range_doppler=True))
    assert found.map_W.shape == (32, 64) == (len(found.map_range_rate_m_s), len(found.map_range_m))
    speed, distance = np.unravel_index(found.map_W.argmax(), found.map_W.shape)
    assert found.map_range_m[distance] == pytest.approx(30.2, abs=1.0)
    assert found.map_range_rate_m_s[speed] == pytest.approx(4.0, abs=1.02)
    assert (np.diff(found.map_range_rate_m_s) > 0.0).all()
    without, _ = read(balls((30.0, 0.0, 0.0)), make_radar())
    assert without.map_W is None


def test_swerling_echoes_fluctuate_about_their_mean(balls, make_radar, read):
    from scipy.stats import kstest

    env = balls((30.0, 0.0, 0.0), worlds=200)
    found, truth = read(env, make_radar(fluctuation="swerling_1", cfar={"false_alarm": 1e-2, "guard": 6}))
    assert np.ptp(truth.power_W[:, 0]) == 0.0
    seen = found.object_id == 0
    power = np.where(seen, found.power_W, 0.0).max(axis=1) / truth.power_W[:, 0]
    assert kstest(power, "expon").pvalue > 1e-3


def test_an_empty_scene_gives_an_empty_list(make_radar):
    for source in ("cone", "rays"):
        env = sn.Environment(sn.Scene())
        radar = env.attach(make_radar(cross_sections={}, source=source, timing={"rate_hz": 20.0}))
        for _ in env.run(0.1):
            pass
        assert radar.read().valid.shape == (0,)
        assert radar.truth().valid.shape == (0,)


def test_worlds_and_sensors_give_what_each_alone_gives(balls, make_radar, read):
    """Axes, and bytes: two worlds of two radars against four runs of one."""
    mounts = [sn.Pose(), sn.Pose.from_euler_deg(yaw=20.0)]
    spec = make_radar(fluctuation="swerling_1", cfar={"false_alarm": 1e-3}, elevation_antennas=2, range_doppler=True)
    whole, truth = read(balls(AHEAD, (20.0, 5.0, 0.0), worlds=2), spec, pose=mounts, steps=2)
    assert whole.valid.shape[:2] == truth.valid.shape[:2] == (2, 2)
    assert whole.map_W.shape == (2, 2, 32, 64)
    for world in range(2):
        env = balls(AHEAD, (20.0, 5.0, 0.0), worlds=1, first_world=world)
        env.attach(make_radar(), name="another", body="car")
        alone, _ = read(env, spec, pose=mounts, steps=2)
        for sensor in range(2):
            ours, theirs = whole.row(world, sensor).flat(), alone.row(0, sensor).flat()
            np.testing.assert_array_equal(ours.power_W, theirs.power_W)
            np.testing.assert_array_equal(ours.elevation_rad, theirs.elevation_rad)
            np.testing.assert_array_equal(ours.object_id, theirs.object_id)
    assert not np.array_equal(whole.map_W[0, 0], whole.map_W[1, 0])

    # Rows that are not there
    with pytest.raises(SpecError, match="world is 2; the reading has 2, it must be 0 to 1"):
        whole.row(2, 0)
    with pytest.raises(SpecError, match="sensor is -1; the reading has 2, it must be 0 to 1"):
        whole.row(0, -1)


def test_threads_change_no_byte(balls, make_radar, read):
    spec = make_radar(range_doppler=True, cfar={"false_alarm": 1e-3})
    maps = []
    try:
        for count in (1, 3):
            sn.set_threads(count)
            maps.append(read(balls(AHEAD, worlds=5), spec)[0].map_W.tobytes())
    finally:
        sn.set_threads(2)
    assert maps[0] == maps[1]


def test_readings_on_their_way_are_void_in_worlds_that_restart(balls, make_radar):
    env = balls(AHEAD, worlds=2)
    radar = env.attach(make_radar(timing={"rate_hz": 20.0, "latency_s": 0.04}), body="car")
    env.step()
    env.reset(np.array([True, False]))
    env.step()
    found = radar.read()
    assert found.valid.any(axis=1).tolist() == [False, True]
    assert (found.object_id[0] == -1).all()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"horizontal_fov_deg": 180.0}, "Radar.horizontal_fov_deg is 180"),
        ({"vertical_fov_deg": 0.0}, "Radar.vertical_fov_deg is 0"),
        ({"max_range_m": -1.0}, "Radar.max_range_m is -1"),
        ({"max_range_m": 0.1}, "min_range_m is 0.5; it must be below"),
        ({"timing": {"rate_hz": 2000.0}}, "one must fit between readings"),
        ({"timing": {"rate_hz": 10.0, "jitter_s": 1e-3}}, "timing.jitter_s is 0.001"),
        ({"chirp": {"samples": 8192, "chirps": 4096, "ramp_s": 1e-6}}, "a frame has 268435456 cells"),
        ({"chirp": {"interval_s": 1e-6}}, "chirp.interval_s is 1e-06"),
        ({"chirp": {"transmitters": 16, "chirps": 128}, "timing": {"rate_hz": 20.0}}, "chirp has frames of 0.08192 s"),
        ({"chirp": {"samples": 16}, "cfar": {"guard": 7}}, "cfar.guard is 7; beyond as many on each side"),
        ({"permittivities": {"wall": "cheese"}}, "permittivities.wall is 'cheese'"),
        ({"ground": {"material": 0.5}}, "material is 0.5"),
        ({"ray_spacing_deg": 0.001, "source": "rays"}, "ray_spacing_deg is 0.001"),
        ({"ray_spacing_deg": 1e-320}, "ray_spacing_deg is 1e-320; it must be greater than or equal to 0.0001"),
        ({"cross_sections": {"car": -2.0}}, "Radar.cross_sections.car is -2"),
        ({"antenas": 4}, "did you mean antennas"),
        (
            {"faults": {"faults": [{"corruption": {"kind": "bias", "value": 1.0}, "target": "doppler"}]}},
            "a fault's target is 'doppler'; it must be one of: range, speed, angle, power",
        ),
        ({"elevation": {"noise": {"std": 0.01}}}, "elevation has errors and elevation_antennas is 1"),
        ({"antennas": 1, "azimuth": {"quantization": {"lsb": 0.01}}}, "azimuth has errors and antennas is 1"),
        (
            {"antennas": 1, "faults": {"faults": [{"corruption": {"kind": "bias", "value": 1.0}, "target": "angle"}]}},
            "a fault's target is 'angle' with one antenna in one row",
        ),
        ({"range": {"nois": {}}}, "did you mean noise"),
    ],
)
def test_bad_input_is_refused_in_one_line(fields, words):
    with pytest.raises(SpecError, match=words) as error:
        sn.Radar(**fields)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("source", ["cone", "rays"])
def test_worlds_drawn_anew_have_other_targets(make_radar, source):
    """One thing in each world, a car or a pedestrian, drawn again for some."""
    car = sn.SceneObject(sn.shapes.box(2.0, 1.6, 1.4), label="car")
    pedestrian = sn.SceneObject(sn.shapes.box(0.4, 0.5, 1.7), label="pedestrian")
    place = (9.0, 0.0, 0.0)
    scattered = sn.Scatter([car, pedestrian], 1, low=place, high=place, yaw_deg=(0.0, 0.0))
    env = sn.Environment(sn.SceneBatch.scattered([scattered], worlds=6, seed=3), sn.worlds.Static(step_s=0.05), seed=3)
    radar = env.attach(make_radar(source=source, cross_sections={"car": 10.0, "pedestrian": 0.5}))
    env.step()
    drawn = []
    for _ in range(2):
        index = env.scene.index[:, 0]
        drawn.append(index)
        truth = radar.truth()
        np.testing.assert_array_equal(
            truth.label[:, 0], np.where(index == 0, *(env.scene.labels[n] for n in ("car", "pedestrian")))
        )
        np.testing.assert_allclose(truth.cross_section_m2[:, 0], np.where(index == 0, 10.0, 0.5), rtol=0.3)
        env.reset(np.array([True] * 5 + [False]))
        env.step()
    assert (drawn[0] != drawn[1]).any()


def test_cross_sections_of_what_is_not_there_are_refused(balls, make_radar):
    for field, value in (("cross_sections", {"bal": 10.0}), ("permittivities", {"bal": "metal"})):
        with pytest.raises(SpecError, match=f"{field} has 'bal'; it must be an object's name or label"):
            balls((20.0, 0.0, 0.0)).attach(make_radar(**{field: value}), body="car")
