"""Satellite navigation: where the antenna is, how its error wanders, and where there is no fix."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sensorium as sn
from sensorium.core.errors import NoReadingError, SpecError
from sensorium.corruption import (
    Bias,
    Drift,
    Dropout,
    Fault,
    FaultSchedule,
    Freeze,
    GaussMarkov,
    Noise,
    Overflow,
    Quantize,
    Saturate,
    Stuck,
    White,
)
from sensorium.sensors.gnss import sky_directions

ZURICH = (47.3769, 8.5417, 455.0)


def still(worlds=None, scene=None, step_s=0.2, place=(3.0, -2.0, 10.0), **options):
    world = sn.worlds.Static({"mast": sn.Pose(place)}, step_s=step_s)
    return sn.Environment(sn.Scene() if scene is None else scene, world, worlds=worlds, **options)


def circling(step_s=0.01, **options):
    path = sn.paths.Circle(center=(10.0, 20.0, 5.0), radius=4.0, rate=0.5)
    return sn.Environment(sn.Scene(), sn.worlds.Kinematic({"car": path}, step_s=step_s), **options)


def noisy(**changes):
    fields = {"hdop": 1.0, "vdop": 1.5, "uere_m": 2.0, "tau_s": 50.0, "velocity": {"noise": Noise(density=0.1)}}
    return sn.Gnss(**{**fields, "extra": (White(std=(0.3, 0.3, 0.5, 0.01, 0.01, 0.02)),), **changes})


# --- the ideal value --------------------------------------------------------------------------------------------------


def test_an_antenna_on_a_turning_car_has_the_velocity_of_its_own_place():
    env = circling()
    gnss = env.attach(sn.Gnss(), body="car", pose=sn.Pose((0.0, 1.5, 2.0)))
    for _ in env.run(3.0):
        pass
    # The car heads along the circle, so 1.5 m to the left is a circle of 2.5 m
    angle = 0.5 * 3.0
    reading = gnss.read()
    assert reading.time_ns == 3_000_000_000
    assert reading.fix.shape == ()
    assert reading.fix
    along = np.array([math.cos(angle), math.sin(angle), 0.0])
    np.testing.assert_allclose(reading.position, [10.0, 20.0, 7.0] + 2.5 * along, atol=1e-12)
    np.testing.assert_allclose(reading.velocity, 1.25 * np.array([-along[1], along[0], 0.0]), atol=1e-12)
    np.testing.assert_array_equal(gnss.truth().position, reading.position)


def test_axes_are_the_world_s_however_the_antenna_is_turned():
    env = still()
    gnss = env.attach(sn.Gnss(), body="mast", pose=sn.Pose.from_euler_deg((0, 0, 1), roll=30, pitch=20, yaw=100))
    env.step()
    np.testing.assert_allclose(gnss.read().position, [3.0, -2.0, 11.0], atol=1e-12)
    np.testing.assert_array_equal(gnss.read().velocity, np.zeros(3))


def test_five_times_a_second_and_late_by_its_latency():
    env = circling()
    gnss = env.attach(sn.Gnss(timing=sn.Timing(rate_hz=5.0, latency_s=0.15)), body="car")
    stamps = []
    for _ in env.run(1.0):
        stamps += [(reading.time_ns, gnss.arrival_ns) for reading in gnss.readings()]
    assert stamps == [(k * 200_000_000, k * 200_000_000 + 150_000_000) for k in range(1, 5)]
    assert sn.Gnss().timing.rate_hz == 5.0


def test_the_truth_stays_beside_a_corrupted_reading():
    env = circling(seed=3)
    gnss = env.attach(noisy(), body="car")
    for _ in env.run(1.0):
        pass
    assert np.abs(gnss.read().position - gnss.truth().position).max() > 0.01
    at = 0.5
    np.testing.assert_allclose(gnss.truth().position, [10 + 4 * math.cos(at), 20 + 4 * math.sin(at), 5.0], atol=1e-12)


# --- errors -----------------------------------------------------------------------------------------------------------


def test_dilution_of_precision_covers_both_horizontal_axes_together():
    gnss = sn.Gnss(hdop=1.2, vdop=2.0, uere_m=3.0)
    east, north, up = gnss.wander_std_m
    assert math.hypot(east, north) == pytest.approx(1.2 * 3.0, rel=1e-12)
    assert east == north
    assert up == pytest.approx(6.0, rel=1e-12)
    assert sn.Gnss().wander_std_m is None


def test_the_wander_has_its_deviation_and_its_correlation_time():
    worlds, tau_s = 8192, 100.0
    env = still(worlds=worlds, step_s=25.0, seed=11)
    spec = sn.Gnss(hdop=1.0, vdop=1.6, uere_m=2.0, tau_s=tau_s, timing=sn.Timing(rate_hz=0.04))
    gnss = env.attach(spec, body="mast")
    errors = []
    for _ in range(9):
        env.step()
        errors.append(gnss.read().position - gnss.truth().position)
    errors = np.array(errors)

    # Variance from the first sample on, each within 4.5 sigma of chi-square; the axes are independent
    expected = np.array(spec.wander_std_m) ** 2
    for sample in errors[[0, 4, 8]]:
        ratio = np.mean(sample**2, axis=0) / expected
        assert np.abs(ratio - 1.0).max() < 4.5 * math.sqrt(2.0 / worlds)
        correlation = np.corrcoef(sample.T)[np.triu_indices(3, 1)]
        assert np.abs(correlation).max() < 4.5 / math.sqrt(worlds)

    # Correlation exp(-lag / tau)
    for lag in (1, 4, 8):
        correlation = np.mean(errors[0] * errors[lag], axis=0) / expected
        assert np.abs(correlation - math.exp(-25.0 * lag / tau_s)).max() < 4.5 * math.sqrt(2.0 / worlds)


def test_white_noise_and_wander_add_up_and_velocity_has_its_own():
    from scipy import stats

    worlds = 4096
    env = still(worlds=worlds, seed=5)
    gnss = env.attach(noisy(), body="mast")
    env.step()
    position = gnss.read().position - gnss.truth().position
    velocity = gnss.read().velocity
    std_m = np.sqrt(np.array([2.0, 2.0, 9.0]) + np.array([0.3, 0.3, 0.5]) ** 2)
    std_m_s = np.sqrt(0.01 * 2.5 + np.array([0.01, 0.01, 0.02]) ** 2)  # 0.1 /sqrt(Hz), one-sided, at 5 Hz
    for axis in range(3):
        assert stats.kstest(position[:, axis] / std_m[axis], "norm").pvalue > 1e-3
        assert stats.kstest(velocity[:, axis] / std_m_s[axis], "norm").pvalue > 1e-3
        assert abs(np.corrcoef(position[:, axis], velocity[:, axis])[0, 1]) < 4.5 / math.sqrt(worlds)


def test_the_wander_may_be_given_as_noise_like_any_other():
    deviations = sn.Gnss(hdop=1.0, vdop=1.5, uere_m=2.0).wander_std_m
    by_noise = sn.Gnss(position={"noise": Noise(gauss_markov_std=deviations, gauss_markov_tau_s=600.0)})
    read = []
    for spec in (by_noise, sn.Gnss(hdop=1.0, vdop=1.5, uere_m=2.0, tau_s=600.0)):
        env = still(worlds=4, seed=3)
        gnss = env.attach(spec, body="mast")
        env.step()
        read.append(gnss.read().position)
    np.testing.assert_array_equal(*read)


# --- latitude, longitude, height --------------------------------------------------------------------------------------


def at(place, origin):
    env = still(place=place)
    gnss = env.attach(sn.Gnss(origin=origin), body="mast")
    env.step()
    return gnss.read()


def test_the_world_s_origin_is_the_origin_given():
    reading = at((0.0, 0.0, 0.0), ZURICH)
    assert reading.latitude_deg == pytest.approx(ZURICH[0], abs=1e-13)
    assert reading.longitude_deg == pytest.approx(ZURICH[1], abs=1e-13)
    assert reading.height_m == pytest.approx(ZURICH[2], abs=1e-8)
    np.testing.assert_array_equal(reading.geodetic, [reading.latitude_deg, reading.longitude_deg, reading.height_m])


def test_a_meter_north_and_a_meter_east_are_the_radii_of_curvature():
    # WGS 84 at 45 degrees: meridian 6367381.815620 m, prime vertical 6388838.290121 m
    reading = at((1.0, 1.0, 0.0), (45.0, 0.0, 0.0))
    assert math.radians(reading.latitude_deg - 45.0) == pytest.approx(1.0 / 6367381.815620, rel=1e-6)
    assert math.radians(reading.longitude_deg) * math.cos(math.pi / 4) == pytest.approx(1 / 6388838.290121, rel=1e-6)


@pytest.mark.parametrize("origin", [ZURICH, (-33.9, 151.2, 20.0), (0.0, -179.99, 0.0), (89.9, 10.0, 3.0)])
def test_it_agrees_with_pymap3d_to_a_micrometer(origin):
    pymap3d = pytest.importorskip("pymap3d")
    rng = np.random.default_rng(8)
    for place in rng.uniform((-5e4, -5e4, -100), (5e4, 5e4, 1e4), (5, 3)):
        reading = at(tuple(place), origin)
        latitude, longitude, height = pymap3d.enu2geodetic(*place, *origin)
        assert abs(math.radians(reading.latitude_deg - latitude)) * 6.4e6 < 1e-6
        assert abs(math.sin(math.radians(reading.longitude_deg - longitude))) * 6.4e6 < 1e-6
        assert abs(reading.height_m - height) < 1e-6


@settings(deadline=None, derandomize=True, max_examples=30)
@given(
    st.tuples(st.floats(-90, 90), st.floats(-180, 180), st.floats(-100, 9000)),
    st.tuples(st.floats(-1e5, 1e5), st.floats(-1e5, 1e5), st.floats(-100, 2e4)),
)
def test_there_and_back(origin, place):
    pymap3d = pytest.importorskip("pymap3d")
    reading = at(place, origin)
    back = pymap3d.geodetic2enu(*reading.geodetic, *origin)
    np.testing.assert_allclose(back, place, atol=1e-6)


def test_without_an_origin_there_is_no_latitude():
    env = still()
    gnss = env.attach(sn.Gnss(), body="mast")
    env.step()
    with pytest.raises(SpecError, match="origin"):
        _ = gnss.read().latitude_deg


# --- the sky ----------------------------------------------------------------------------------------------------------


def test_the_sky_is_sampled_by_equal_areas():
    directions = sky_directions(64)
    low = math.sin(math.radians(10.0))
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1.0, atol=1e-14)
    assert directions[:, 2].min() > low

    # Moments of a uniform law over the cap
    np.testing.assert_allclose(directions.mean(axis=0), [0, 0, (1 + low) / 2], atol=0.02)
    flat = (1.0 - (1 + low + low**2) / 3) / 2
    np.testing.assert_allclose(np.mean(directions[:, :2] ** 2, axis=0), flat, atol=0.01)


def sky_under(*parts, **options):
    scene = sn.Scene()
    for mesh, place in parts:
        scene.add(mesh, pose=sn.Pose(place))
    env = still(scene=scene, place=(0.0, 0.0, 1.0))
    gnss = env.attach(sn.Gnss(min_sky_fraction=0.3, **options), body="mast")
    env.step()
    return gnss.read()


def test_how_much_of_the_sky_is_seen():
    assert sky_under((sn.shapes.plane(1000.0), (0, 0, 0))).sky_fraction == 1.0

    # A wall hides half of it
    wall = sky_under((sn.shapes.box(1.0, 1e4, 1e4), (1.5, 0, 0)))
    assert wall.sky_fraction == pytest.approx(0.5, abs=0.03)
    assert wall.fix

    # A round roof hides what is higher than its edge
    roof = sky_under((sn.shapes.cylinder(2.0, 0.1), (0, 0, 3.05)))
    low, edge = math.sin(math.radians(10.0)), math.sin(math.atan2(2.0, 2.0))
    assert roof.sky_fraction == pytest.approx(1.0 - (1.0 - edge) / (1.0 - low), abs=0.02)


def test_in_a_tunnel_there_is_no_fix_but_a_truth():
    scene = sn.Scene()
    scene.add(sn.shapes.box(40.0, 20.0, 1.0), pose=sn.Pose((0, 0, 6.0)))
    scene.add(sn.shapes.box(40.0, 1.0, 8.0), pose=sn.Pose((0, 6, 3.0)))
    scene.add(sn.shapes.box(40.0, 1.0, 8.0), pose=sn.Pose((0, -6, 3.0)))
    car = sn.paths.Line(start=(-60.0, 0.0, 1.5), velocity=(20.0, 0.0, 0.0))
    env = sn.Environment(scene, sn.worlds.Kinematic({"car": car}, step_s=0.1))
    gnss = env.attach(sn.Gnss(min_sky_fraction=0.3, origin=ZURICH), body="car")
    fixes = {}
    for _ in env.run(6.0):
        if gnss.fresh:
            reading, x = gnss.read(), gnss.truth().position[0]
            fixes[round(x)] = bool(reading.fix)
            assert x == pytest.approx(-60.0 + 20.0 * env.time_s, abs=1e-9)
            assert gnss.truth().fix
            for value in (reading.position, reading.velocity, reading.geodetic):
                assert np.isfinite(value).all() == reading.fix
    assert all(fixes[x] for x in fixes if abs(x) > 30)
    assert not any(fixes[x] for x in fixes if abs(x) < 12)


def test_a_receiver_that_is_held_keeps_its_fix_in_a_tunnel_or_that_it_had_none():
    scene = sn.Scene()
    scene.add(sn.shapes.box(40.0, 40.0, 1.0), pose=sn.Pose((0, 0, 6.0)))
    car = sn.paths.Line(start=(-60.0, 0.0, 4.5), velocity=(20.0, 0.0, 0.0))
    stuck = Fault(Stuck(mode="value", value=(1.0, 2.0, 3.0)), target="position", start_s=2.5, end_s=3.5)
    found = {}
    for name, faults in {
        "outside": (Fault(Freeze(), start_s=1.0, end_s=5.0),),
        "inside": (Fault(Freeze(), start_s=3.0),),
        "stuck": (stuck,),
        "healthy": (),
    }.items():
        env = sn.Environment(scene, sn.worlds.Kinematic({"car": car}, step_s=0.1))
        spec = sn.Gnss(min_sky_fraction=0.3, timing=sn.Timing(rate_hz=10.0), faults=FaultSchedule(faults=faults))
        gnss = env.attach(spec, body="car")
        found[name] = np.array([gnss.read().position for _ in env.run(6.0)])
    lost = np.isnan(found["healthy"]).any(axis=1)
    assert lost[24:34].all()
    assert not lost[:12].any()
    np.testing.assert_array_equal(found["outside"][9:49], np.broadcast_to(found["healthy"][9], (40, 3)))
    assert np.isnan(found["inside"][29:]).all()
    np.testing.assert_array_equal(found["stuck"][24:34], np.broadcast_to((1.0, 2.0, 3.0), (10, 3)))


def test_a_hidden_body_hides_no_sky():
    scene = sn.Scene()
    scene.add(sn.shapes.box(4.0, 4.0, 0.1), pose=sn.Pose((0, 0, 1.0)), body="mast")
    env = still(scene=scene)
    seeing = env.attach(sn.Gnss(min_sky_fraction=0.0), body="mast", name="below")
    hiding = env.attach(sn.Gnss(min_sky_fraction=0.0), body="mast", name="through", hide=("mast",))
    env.step()
    assert seeing.read().sky_fraction < 0.5
    assert hiding.read().sky_fraction == 1.0


def test_the_sky_is_not_looked_at_unless_asked_for():
    env = still()
    gnss = env.attach(sn.Gnss(), body="mast")
    env.step()
    with pytest.raises(SpecError, match="min_sky_fraction"):
        _ = gnss.read().sky_fraction


# --- outages ----------------------------------------------------------------------------------------------------------


def test_an_outage_leaves_no_fix():
    env = still(worlds=2000, seed=2)
    outage = sn.corruption.Dropout(probability=0.25, fill="nan", mean_length_samples=3)
    gnss = env.attach(noisy(extra=(outage,)), body="mast")
    env.step()
    reading = gnss.read()
    assert np.mean(~reading.fix) == pytest.approx(0.25, abs=4.5 * math.sqrt(0.25 * 0.75 / 2000))
    np.testing.assert_array_equal(np.isnan(reading.position).any(axis=-1), ~reading.fix)
    np.testing.assert_array_equal(np.isnan(reading.velocity).any(axis=-1), ~reading.fix)
    assert gnss.truth().fix.all()


def test_a_fault_takes_the_fix_for_a_while():
    lost = sn.corruption.Fault(sn.corruption.Dropout(probability=1.0, fill="nan"), start_s=1.0, end_s=2.0)
    env = still(seed=2)
    gnss = env.attach(noisy(faults=sn.corruption.FaultSchedule(faults=(lost,))), body="mast")
    fixes = {}
    for _ in env.run(3.0):
        fixes[gnss.read().time_ns] = bool(gnss.read().fix)
    assert fixes == {
        time: not 1_000_000_000 <= time < 2_000_000_000 for time in range(200_000_000, 3_000_000_001, 200_000_000)
    }


# --- many worlds, several antennas ------------------------------------------------------------------------------------


def test_worlds_and_antennas_have_axes_and_errors_of_their_own():
    env = still(worlds=3, seed=1)
    poses = [sn.Pose((0, 0, 1.0)), sn.Pose((1.0, 0, 1.0))]
    gnss = env.attach(noisy(origin=ZURICH, min_sky_fraction=0.1), body="mast", pose=poses)
    env.step()
    reading = gnss.read()
    assert reading.position.shape == reading.velocity.shape == reading.geodetic.shape == (3, 2, 3)
    assert reading.fix.shape == reading.latitude_deg.shape == reading.sky_fraction.shape == (3, 2)
    np.testing.assert_allclose(gnss.truth().position[:, 1] - gnss.truth().position[:, 0], [[1, 0, 0]] * 3, atol=1e-12)
    errors = reading.position - gnss.truth().position
    assert len(np.unique(errors)) == errors.size


def test_a_world_of_many_is_as_alone():
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(2.0, subdivisions=2), pose=sn.Pose((5.0, -2.0, 12.0)))
    spec = noisy(origin=ZURICH, min_sky_fraction=0.1)
    poses = [sn.Pose((0, 0, 1.0)), sn.Pose((1.0, 0, 1.0))]

    def run(worlds, first):
        env = still(worlds=worlds, scene=scene, seed=9, first_world=first)
        gnss = env.attach(spec, body="mast", pose=poses)
        for _ in range(5):
            env.step()
        reading = gnss.read()
        return reading.position, reading.velocity, reading.geodetic, reading.sky_fraction

    together = run(5, 0)
    for world in range(5):
        for whole, alone in zip(together, run(1, world), strict=True):
            np.testing.assert_array_equal(whole[world], alone[0])


def test_a_reset_restarts_the_wander_of_its_world_alone():
    def run(resets):
        env = still(worlds=3, seed=4)
        gnss = env.attach(sn.Gnss(hdop=1.0, vdop=1.0, uere_m=2.0, tau_s=1e6), body="mast")
        env.step()
        before = gnss.read().position
        if resets:
            env.reset(np.array([False, True, False]))
        env.step()
        return before, gnss.read().position

    before, after = run(resets=True)
    unbroken = run(resets=False)[1]
    np.testing.assert_array_equal(after[[0, 2]], unbroken[[0, 2]])
    assert np.abs(unbroken - before).max() < 0.1
    assert np.abs(after[1] - before[1]).max() > 0.1


def test_a_reading_on_its_way_is_void_after_a_reset():
    env = still(worlds=2)
    gnss = env.attach(sn.Gnss(timing=sn.Timing(rate_hz=5.0, latency_s=0.3)), body="mast")
    env.step()
    env.reset(np.array([True, False]))
    with pytest.raises(NoReadingError):
        gnss.read()
    env.step()
    env.step()
    assert gnss.readings()[0].fix.tolist() == gnss.readings()[0].valid.tolist() == [False, True]


# --- specifications ---------------------------------------------------------------------------------------------------


def test_a_specification_survives_as_data():
    spec = noisy(origin=ZURICH, min_sky_fraction=0.2, extra=(GaussMarkov(std=1.0, tau_s=3.0),))
    assert sn.Gnss.model_validate(spec.model_dump()) == spec


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"origin": (95.0, 0.0, 0.0)}, r"origin.*latitude 95; it must be between -90 and 90"),
        ({"origin": (0.0, 400.0, 0.0)}, r"longitude 400; it must be between -360 and 360"),
        ({"origin": (0.0, 0.0)}, r"origin"),
        ({"origin": (math.nan, 0.0, 0.0)}, r"origin"),
        ({"hdop": 1.0, "uere_m": 2.0}, r"hdop and uere_m is given; .* must be given together"),
        ({"hdop": 1.0, "vdop": 1.0, "uere_m": -2.0}, r"uere_m is -2"),
        ({"tau_s": 0.0}, r"tau_s is 0"),
        ({"min_sky_fraction": 1.5}, r"min_sky_fraction is 1.5"),
        ({"position_std": 1.0}, r"position_std"),
    ],
)
def test_fields_that_cannot_be_are_refused(fields, message):
    with pytest.raises(SpecError, match=message):
        sn.Gnss(**fields)


def test_negative_deviations_are_refused():
    with pytest.raises(SpecError, match="must not be negative"):
        sn.Gnss(extra=({"kind": "white", "std": -1.0},))


def test_a_receiver_without_a_rate_cannot_start():
    with pytest.raises(SpecError, match="rate_hz is None"):
        still().attach(sn.Gnss(timing=sn.Timing()), body="mast")


# --- faults, and converters of both groups ----------------------------------------------------------------------------


def struck(*faults, seconds=4.0, **fields):
    """Positions and velocities, read and true, of a car on a circle, five times a second."""
    env = circling(seed=3)
    gnss = env.attach(sn.Gnss(faults=FaultSchedule(faults=faults), **fields), body="car")
    rows = []
    for _ in env.run(seconds):
        if gnss.fresh:
            read, true = gnss.read(), gnss.truth()
            rows.append((read.position, read.velocity, true.position, true.velocity))
    return [np.array(column) for column in zip(*rows, strict=True)]


def test_faults_aim_at_position_and_velocity_apart_or_at_the_whole_fix():
    times_s = 0.2 * np.arange(1, 21)
    faults = (
        Fault(Bias((1.0, 2.0, 3.0)), target="position", start_s=1.0, end_s=2.0),
        Fault(Drift(rate=0.5), target="velocity", start_s=1.5, end_s=3.0, channels=(1,)),
        Fault(Bias((0.0, 0.0, 0.0, 7.0, 0.0, 0.0)), target="fix", start_s=3.5),
        Fault(Freeze(), start_s=2.35, end_s=2.7),
    )
    position, velocity, true_position, true_velocity = struck(*faults)
    wrong_position, wrong_velocity = np.zeros((20, 3)), np.zeros((20, 3))
    wrong_position[(times_s > 0.99) & (times_s < 1.99)] = 1.0, 2.0, 3.0
    drifts = (times_s > 1.49) & (times_s < 2.99)
    wrong_velocity[drifts, 1] = 0.5 * (times_s[drifts] - 1.5)
    wrong_velocity[times_s > 3.49, 0] = 7.0
    expected_position, expected_velocity = true_position + wrong_position, true_velocity + wrong_velocity
    frozen = (times_s > 2.35) & (times_s < 2.69)
    expected_position[frozen], expected_velocity[frozen] = expected_position[11], expected_velocity[11]
    np.testing.assert_allclose(position, expected_position, atol=1e-12)
    np.testing.assert_allclose(velocity, expected_velocity, atol=1e-12)


def test_a_lost_fix_is_lost_whole_and_a_lost_velocity_leaves_the_position():
    lost = Dropout(probability=1.0, fill="nan")
    position, velocity, _, _ = struck(Fault(lost, start_s=1.0, end_s=2.0))
    assert (np.isnan(position) == np.isnan(velocity)).all()
    assert np.isnan(position[4:9]).all()
    position, velocity, true_position, _ = struck(Fault(lost, target="velocity", start_s=1.0, end_s=2.0))
    np.testing.assert_array_equal(position, true_position)
    assert np.isnan(velocity[4:9]).all()


def test_both_groups_are_quantized_and_saturate_each_by_itself():
    groups = {
        "position": {"quantization": Quantize(lsb=0.5), "saturation": Saturate(min=-100.0, max=22.3)},
        "velocity": {"quantization": Quantize(bits=3), "saturation": Saturate(min=-1.0, max=1.0)},
    }
    position, velocity, true_position, true_velocity = struck(**groups)
    np.testing.assert_allclose(position, np.minimum(0.5 * np.floor(true_position / 0.5 + 0.5), 22.0))
    lsb = 2.0 / 7.0
    codes = np.clip(-1.0 + lsb * np.rint((true_velocity + 1.0) / lsb), -1.0, 1.0)
    np.testing.assert_allclose(velocity, codes, atol=lsb * 1.001)
    assert np.isclose(np.abs(velocity)[..., None], np.abs(-1.0 + lsb * np.arange(8)), atol=1e-12).any(axis=-1).all()


def test_faults_know_the_limits_of_their_group_and_of_both():
    limits = {
        "position": {"saturation": {"min": -50.0, "max": 60.0}},
        "velocity": {"saturation": {"min": -7.0, "max": 9.0}},
    }
    position, velocity, _, _ = struck(Fault(Stuck(mode="max")), **limits)
    assert (position == 60.0).all()
    assert (velocity == 9.0).all()
    _, velocity, _, _ = struck(Fault(Stuck(mode="min"), target="velocity"), **limits)
    assert (velocity == -7.0).all()
    with pytest.raises(SpecError, match="mode is 'max' and the chain's saturation has no max"):
        struck(Fault(Stuck(mode="max")), position=limits["position"])
    with pytest.raises(SpecError, match=r"faults.faults\[0\]: mode is 'max' without limits"):
        struck(Fault(Stuck(mode="max"), target="position"), velocity=limits["velocity"])


def test_a_fault_of_one_group_knows_the_codes_of_its_converter():
    """A register of 3 bits from -2 to 2 wraps where the velocity passes it."""
    bits = {"velocity": {"quantization": Quantize(bits=3, code="twos_complement", min=-1.0, max=1.0, rounding="floor")}}
    _, velocity, _, true_velocity = struck(Fault(Overflow(), target="velocity"), **bits)
    k = np.floor(true_velocity / 0.25 + 1e-9).astype(int)
    np.testing.assert_allclose(velocity, 0.25 * ((k + 4) % 8 - 4), atol=1e-12)


def test_other_targets_and_names_of_before_are_refused():
    with pytest.raises(SpecError, match="a fault's target is 'height'; it must be one of: fix, position, velocity"):
        sn.Gnss(faults={"faults": (Fault(Bias(1.0), target="height"),)})
    with pytest.raises(SpecError, match=r"Gnss.position_noise is .*did you mean position.noise"):
        sn.Gnss(position_noise={"std": 1.0})
