"""The IMU as data and at work: groups, outputs, axes, orders, faults, and specifications from recordings."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError, WorldError
from sensorium.corruption import Fault, FaultSchedule, Noise, Quantize, Saturate, Scale, Spikes, Stuck

G = 9.80665


def readings(spec, steps=1, seed=0, worlds=None, path=None, **options):
    """Readings of an IMU on a body after each step, and its handle."""
    world = sn.worlds.Kinematic({"body": path or sn.paths.Fixed(sn.Pose())}, step_s=0.01)
    env = sn.Environment(sn.Scene(), world, seed=seed, worlds=worlds, **options)
    imu = env.attach(spec, body="body")
    out = []
    for _ in range(steps):
        env.step()
        out.append(imu.read())
    return out, imu


def reading(spec, **options):
    return readings(spec, **options)[0][-1]


# --- as data ----------------------------------------------------------------------------------------------------------


def test_groups_are_set_like_attributes_and_kept_by_value():
    spec = sn.Imu()
    spec.linear.noise.std = (0.1, 0.2, 0.3)
    spec.linear.noise.bias = [1.0, 2.0, 3.0]
    spec.angular.quantization.lsb = 0.1
    spec.angular.quantization.rounding = "floor"
    spec.linear.saturation.min, spec.linear.saturation.max = (-1.0, -1.0, -0.9), (1.0, 1.0, 1.0)
    spec.linear.noise.on = False
    again = sn.Imu.model_validate(spec.model_dump())
    assert again == spec
    assert again.linear.noise.bias == (1.0, 2.0, 3.0)

    # Attached, it keeps what it was
    env = sn.Environment(sn.Scene())
    imu = env.attach(spec)
    spec.linear.noise.on = True
    assert not imu.spec.linear.noise.on


def test_from_plain_data():
    spec = sn.Imu.model_validate(
        {
            "timing": {"rate_hz": 200.0},
            "linear": {"noise": {"density": 1e-3}, "extra": [{"kind": "dropout", "probability": 0.1}]},
            "angular": None,
            "faults": {"faults": [{"corruption": {"kind": "stuck", "mode": "off"}, "start_s": 1.0}]},
        }
    )
    assert spec.linear.extra[0].probability == 0.1
    assert spec.faults.faults[0].corruption.mode == "off"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"linear": {"axes": "xw"}}, "axes is 'xw'; it must be some of x, y and z"),
        ({"linear": {"axes": "xx"}}, "each once"),
        ({"linear": {"noise": {"std": -1.0}}}, "std is -1; it must not be negative"),
        ({"linear": {"noise": {"std": float("nan")}}}, "finite"),
        ({"linear": {"saturation": {"min": 1.0, "max": -1.0}}}, "min is 1 and max is -1; min must not be above max"),
        ({"linear": {"quantization": {"bits": 0}}}, "bits is 0"),
        ({"linear": {"quantization": {"lsb": 0.1, "bits": 4}}}, "only one of them can be given"),
        (
            {"linear": {"noise": {"gauss_markov_std": 1.0, "gauss_markov_tau_s": 0.0}}},
            "tau_s is 0; it must be positive",
        ),
        ({"angular": {"noize": {}}}, "noize"),
        ({"outputs": ("acceleration", "acceleration")}, "each output once"),
        ({"outputs": ()}, "one at least"),
        ({"outputs": ("magnetic_field",)}, "outputs has 'magnetic_field'; that needs magnetic_field"),
        ({"linear": None, "outputs": ("delta_velocity",)}, "that needs acceleration"),
        ({"linear": None, "angular": None}, "an IMU must have one of them"),
        ({"timing": {"loss": 1.5}}, "loss is 1.5"),
        ({"timing": {"jitter_s": -1.0}}, "jitter_s is -1"),
    ],
)
def test_bad_input_names_the_value_and_the_rule(fields, message):
    with pytest.raises(SpecError, match=message):
        sn.Imu(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"linear": {"noise": {"std": (0.1, 0.2)}}}, "std has 2 values; it must be one number or 3"),
        ({"linear": {"quantization": {"bits": 4}}}, "bits is 4 without limits"),
        ({"angular": {"g_sensitivity": ((1.0, 2.0, 3.0),)}}, "matrix has 1 rows; it must have 3"),
        ({"linear": {"noise": {"bound": 1.0}}}, "bound is 1.0 without walk"),
        ({"magnetic": {}}, "the environment must have a magnetic field"),
    ],
)
def test_what_does_not_fit_together_is_refused_when_it_is_attached(fields, message):
    env = sn.Environment(sn.Scene())
    with pytest.raises(SpecError, match=message):
        env.attach(sn.Imu(**fields))


# --- at work ----------------------------------------------------------------------------------------------------------


def test_outputs_come_in_the_order_asked_for():
    spin = sn.paths.Spin(position=(0, 0, 0), axis=(0, 0, 1), rate=0.5)
    spec = sn.Imu(outputs=("delta_angle", "angular_velocity", "acceleration"), linear={"axes": "zx"})
    got = reading(spec, path=spin)
    np.testing.assert_allclose(got.values, (0, 0, 0.005, 0, 0, 0.5, G, 0), atol=1e-12)
    np.testing.assert_allclose(got.acceleration, (G, 0), atol=1e-12)
    with pytest.raises(SpecError, match="delta_velocity is asked for; this sensor's outputs are delta_angle"):
        got.delta_velocity  # noqa: B018


def test_groups_sit_at_their_own_places():
    spin = sn.paths.Spin(position=(0, 0, 0), axis=(0, 0, 1), rate=2.0)
    turned = tuple(sn.Pose.from_euler_deg(yaw=90, pitch=0, roll=0).quaternion)
    spec = sn.Imu(
        linear={"position": (0.5, 0, 0), "source": "engine"}, angular={"quaternion": turned, "position": (9, 9, 9)}
    )
    got = reading(spec, path=spin)
    np.testing.assert_allclose(got.acceleration, (-2, 0, G), atol=1e-9)
    np.testing.assert_allclose(got.angular_velocity, (0, 0, 2), atol=1e-12)


def test_the_switches_switch():
    group = {
        "noise": Noise(std=1.0, on=False),
        "quantization": Quantize(lsb=0.5, on=False),
        "saturation": Saturate(max=1.0, on=False),
    }
    np.testing.assert_allclose(reading(sn.Imu(linear=group)).acceleration, (0, 0, G), atol=1e-12)


def test_noise_of_one_group_is_not_that_of_another():
    noise = {"noise": Noise(std=1.0)}
    got = reading(sn.Imu(linear=noise, angular=noise))
    assert not np.allclose(got.acceleration - (0, 0, G), got.angular_velocity)

    # Nor does taking one away change the other
    alone = reading(sn.Imu(linear=noise, angular=None))
    np.testing.assert_array_equal(alone.acceleration, got.acceleration)


def test_the_output_is_a_code_within_the_limits():
    group = {"noise": Noise(std=20.0), "quantization": Quantize(bits=4), "saturation": Saturate(min=-16.0, max=16.0)}
    many, _ = readings(sn.Imu(linear=group), steps=200)
    values = np.array([one.acceleration for one in many])
    codes = (values + 16.0) / (32.0 / 15.0)
    np.testing.assert_allclose(codes, np.rint(codes), atol=1e-9)
    assert values.min() == -16.0
    assert values.max() == 16.0


def test_the_papers_order_lets_the_output_leave_the_range():
    # Clamp 16 first, then bias 0.5: 16.5; ours saturates last
    def pushed(t):
        return sn.Pose(position=np.stack([20.0 * t * t, 0 * t, 0 * t], axis=-1))

    group = {"noise": Noise(bias=0.5), "saturation": Saturate(min=-16.0, max=16.0)}
    path = sn.paths.Function(pushed)
    ours = reading(sn.Imu(linear=group), path=path, steps=3)
    paper = reading(sn.Imu(linear={**group, "order": "agx"}), path=path, steps=3)
    assert ours.acceleration[0] == 16.0
    assert paper.acceleration[0] == 16.5


def test_cross_axis_acts_about_the_bias_in_the_papers_order_and_before_it_in_ours():
    group = {"noise": Noise(bias=(1.0, 0.0, 0.0)), "scale": Scale(cross_axis=0.1)}
    ours = reading(sn.Imu(linear=group)).acceleration
    paper = reading(sn.Imu(linear={**group, "order": "agx"})).acceleration
    np.testing.assert_allclose(ours, (1.0 + 0.1 * G, 0.1 * G, G), atol=1e-9)
    np.testing.assert_allclose(paper, (1.0 + 0.1 * G, 0.1 + 0.1 * G, 0.1 + G), atol=1e-9)


def test_truth_is_never_corrupted():
    spec = sn.Imu(
        linear={"noise": Noise(std=5.0), "saturation": Saturate(max=1.0)}, outputs=("acceleration", "delta_velocity")
    )
    _, imu = readings(spec, steps=5)
    np.testing.assert_allclose(imu.truth().acceleration, (0, 0, G), atol=1e-12)
    np.testing.assert_allclose(imu.truth().delta_velocity, (0, 0, 0.01 * G), atol=1e-12)


def test_an_average_beyond_the_limits_holds_the_increment_too():
    def pushed(t):
        return sn.Pose(position=np.stack([10.0 * t * t, 0 * t, 0 * t], axis=-1))

    spec = sn.Imu(
        linear={"saturation": Saturate(min=-16.0, max=16.0, check="average")},
        outputs=("acceleration", "delta_velocity"),
    )
    got = reading(spec, path=sn.paths.Function(pushed), steps=5)
    assert got.acceleration[0] == 16.0
    assert got.delta_velocity[0] == pytest.approx(0.16, abs=1e-12)


# --- faults -----------------------------------------------------------------------------------------------------------


def test_a_fault_strikes_its_target_for_its_time_and_is_logged():
    stuck = Fault(Stuck(mode="value", value=7.0), start_s=0.03, end_s=0.05, target="angular", channels=(2,))
    many, imu = readings(sn.Imu(faults=FaultSchedule(faults=(stuck,))), steps=8)
    rates = np.array([one.angular_velocity for one in many])
    np.testing.assert_allclose(rates[:, 2], [0, 0, 7, 7, 0, 0, 0, 0])
    assert not rates[:, :2].any()
    np.testing.assert_allclose(many[3].acceleration, (0, 0, G), atol=1e-12)
    (event,) = imu.faults.log
    assert (event.fault, event.start_ns, event.end_ns) == ("stuck", 30_000_000, 50_000_000)
    assert imu.truth().angular_velocity.tolist() == [0, 0, 0]


def test_random_faults_strike_worlds_by_themselves():
    spikes = Fault(Spikes(probability=1.0, amplitude=100.0), onsets_per_s=5.0, duration_s=0.05)
    many, imu = readings(sn.Imu(faults=FaultSchedule(faults=(spikes,))), steps=100, worlds=16)
    struck = np.array([np.abs(one.acceleration[:, 0]) > 50 for one in many])
    assert 0 < struck.mean() < 0.6
    assert len({tuple(column) for column in struck.T}) > 8

    # Every strike is in the log; what lasted less than a sample may be there alone
    assert {event.world for event in imu.faults.log} >= {w for w in range(16) if struck[:, w].any()}


def test_a_fault_of_timing_loses_messages():
    lost = Fault(timing=sn.corruption.TimingErrors(loss=1.0), start_s=0.03, end_s=0.06)
    env = sn.Environment(sn.Scene())
    imu = env.attach(sn.Imu(faults=FaultSchedule(faults=(lost,))))
    fresh = []
    for _ in range(8):
        env.step()
        fresh.append(imu.fresh)
    assert fresh == [True, True, False, False, False, True, True, True]


def test_a_nan_from_the_engine_is_told_with_the_bodys_name():
    def broken(t):
        return sn.Pose(position=np.where(np.asarray(t)[..., None] > 0.015, np.nan, np.zeros(3)))

    env = sn.Environment(
        sn.Scene(), sn.worlds.Kinematic({"good": sn.paths.Fixed(sn.Pose()), "bad": sn.paths.Function(broken)})
    )
    env.attach(sn.Imu(), body="good")
    env.step()
    with pytest.raises((WorldError, SpecError), match="bad"):
        env.step()


# --- from a recording -------------------------------------------------------------------------------------------------


def recorded(units, seed=3, channels=3):
    rng = np.random.default_rng(seed)
    signal = rng.normal(0.0, 0.02, (20_000, channels)) + np.cumsum(rng.normal(0.0, 2e-4, (20_000, channels)), axis=0)
    return sn.analysis.fit_allan(sn.analysis.allan_deviation(signal, 100.0), units=units)


def test_an_imu_from_a_recording(tmp_path):
    force, rate = recorded("m/s^2"), recorded("rad/s", seed=4)
    rate.save(tmp_path / "gyro.json")
    imu = sn.Imu.from_allan(force, tmp_path / "gyro.json")
    assert imu.timing.rate_hz == 100.0
    assert imu.linear.noise.sided == "two"
    assert imu.linear.noise.density == pytest.approx(tuple(force.N))
    assert imu.angular.noise.walk == pytest.approx(tuple(rate.K))
    assert imu.linear.noise.density == pytest.approx((2e-3,) * 3, rel=0.05)
    assert imu.magnetic is None
    assert np.isfinite(reading(imu).acceleration).all()


def test_a_recording_must_tell_its_units():
    with pytest.raises(SpecError, match="3 channels in ''; each group needs three channels"):
        sn.Imu.from_allan(recorded(""))
    with pytest.raises(SpecError, match="2 channels in 'rad/s'"):
        sn.Imu.from_allan(recorded("rad/s", channels=2))
    with pytest.raises(SpecError, match="no fit is given"):
        sn.Imu.from_allan()
    with pytest.raises(SpecError, match="two fits have channels in 'rad/s'"):
        sn.Imu.from_allan(recorded("rad/s"), recorded("rad/s"))


@pytest.mark.parametrize(
    ("spec", "target"),
    [(sn.Imu, "linaer"), (sn.Imu, "magnetic"), (sn.Gnss, "linear"), (sn.Accelerometer, "angular"), (sn.Encoder, "x")],
)
def test_a_fault_without_its_target_is_refused(spec, target):
    schedule = FaultSchedule(faults=(Fault(Stuck(mode="off"), target=target),))
    with pytest.raises(SpecError, match=f"a fault's target is '{target}'"):
        spec(faults=schedule)


def test_without_faults_the_log_is_empty():
    _, imu = readings(sn.Imu())
    assert len(imu.faults.log) == 0


@pytest.mark.parametrize(
    ("fields", "fault", "says"),
    [
        ({"outputs": ("angular_velocity",)}, {"target": "linear"}, "target is 'linear'; the sensor reads out angular"),
        ({"linear": {"axes": "xz"}}, {"target": "linear", "channels": (1,)}, r"\(1,\); the sensor reads out none"),
        (
            {"linear": {"axes": "x"}, "angular": {"axes": "x"}},
            {"channels": (1, 2)},
            r"\(1, 2\); the sensor reads out none of these axes",
        ),
    ],
)
def test_a_fault_that_strikes_nothing_that_is_read_out_is_refused(fields, fault, says):
    env = sn.Environment(sn.Scene())
    spec = sn.Imu(**fields, faults=FaultSchedule(faults=(Fault(Stuck(mode="off"), **fault),)))
    with pytest.raises(SpecError, match=says):
        env.attach(spec)


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"outputs": ("delta_velocity",)}, {"target": "linear"}),
        ({"linear": {"axes": "xz"}}, {"target": "linear", "channels": (1, 2)}),
        ({"linear": {"axes": "x"}}, {"channels": (1,)}),
        ({"outputs": ("angular_velocity",)}, {"target": "linear", "on": False}),
    ],
)
def test_a_fault_that_strikes_something_is_taken(fields, fault):
    spec = sn.Imu(**fields, faults=FaultSchedule(faults=(Fault(Stuck(mode="off"), **fault),)))
    sn.Environment(sn.Scene()).attach(spec)
