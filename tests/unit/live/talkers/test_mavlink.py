"""MAVLink for PX4, with pymavlink as the autopilot: numbers, units, axes, lockstep, and commands back."""

import threading
import time

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from tests.unit.live.talkers.rig import datagrams, live_threads, run_and_keep, vehicle

mavutil = pytest.importorskip("pymavlink.mavutil")

FLIP = np.array([1.0, -1.0, -1.0])
SENSORS = ("gnss", "imu", "barometer")


class AutopilotThread:
    """Connects by TCP as PX4 does, keeps what comes, and answers each HIL_SENSOR."""

    def __init__(self, port, *, controls=None, most_answers=10**9):
        self.messages, self._ended, self._controls, self._most = [], threading.Event(), controls, most_answers
        self._link = mavutil.mavlink_connection(f"tcp:127.0.0.1:{port}", source_system=1, retries=20)
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self):
        answers = 0
        while not self._ended.is_set():
            try:
                message = self._link.recv_match(blocking=True, timeout=0.05)
            except ConnectionError:  # the run ended
                return
            if message is None:
                continue
            self.messages.append(message)
            if message.get_type() == "HIL_SENSOR" and self._controls is not None and answers < self._most:
                self._link.mav.hil_actuator_controls_send(message.time_usec, self._controls, 128, 1)
                answers += 1

    def of(self, kind):
        return [one for one in self.messages if one.get_type() == kind]

    def end(self):
        self._ended.set()
        self._thread.join()
        self._link.close()


def opened_sink(env, clock=None, **options):
    """A sink at a free TCP port, with a step already possible."""
    sink = sn.live.open_sink("mavlink", port="tcp:0", **options)
    sink.open(env, clock or sn.live.RunClock())
    return sink


def parsed(received):
    from pymavlink.dialects.v20 import common

    mav = common.MAVLink(None)
    return [message for data in received for message in mav.parse_buffer(data)]


def test_every_reading_in_mavlinks_units_and_axes():
    env = vehicle(sensors=SENSORS)
    with datagrams() as (port, received):
        sink = sn.live.open_sink("mavlink", port=f"udp:{port}", geoid_m=47.0, temperature_C=17.0, satellites=9)
        kept = run_and_keep(env, [sink], duration_s=1.0)
    messages = parsed(received)
    assert {message.get_type() for message in messages} == {"HIL_SENSOR", "HIL_GPS"}
    inertial = [message for message in messages if message.get_type() == "HIL_SENSOR"]
    begin_ns = kept["barometer"][0].time_ns
    readings = [one for one in kept["imu"] if one.time_ns >= begin_ns]
    assert len(inertial) == len(readings)
    pressures = {one.time_ns: one for one in kept["barometer"]}
    for reading, one in zip(readings, inertial, strict=True):
        assert one.time_usec == reading.time_ns // 1000
        assert (one.xacc, one.yacc, one.zacc) == pytest.approx(FLIP * reading.acceleration, rel=1e-6, abs=1e-7)
        assert (one.xgyro, one.ygyro, one.zgyro) == pytest.approx(FLIP * reading.angular_velocity, rel=1e-6, abs=1e-7)
        assert (one.xmag, one.ymag, one.zmag) == pytest.approx(FLIP * reading.magnetic_field * 1e4, rel=1e-6)
        assert one.temperature == 17.0
        is_new = reading.time_ns in pressures
        assert one.fields_updated == 0b0001_1111_1111 | (0b1_1010_0000_0000 if is_new else 0)
        if is_new:
            measured = pressures[reading.time_ns]
            assert one.abs_pressure == pytest.approx(measured.pressure_Pa / 100.0, rel=1e-6)
            assert one.pressure_alt == pytest.approx(measured.altitude_m, rel=1e-6)
    for reading, one in zip(kept["gnss"], [m for m in messages if m.get_type() == "HIL_GPS"], strict=True):
        assert np.array([one.lat, one.lon]) / 1e7 == pytest.approx(reading.geodetic[:2], abs=5.1e-8)
        assert one.alt / 1e3 == pytest.approx(reading.geodetic[2] - 47.0, abs=5.1e-4)
        east, north, up = reading.velocity
        assert np.array([one.vn, one.ve, one.vd]) / 100 == pytest.approx((north, east, -up), abs=0.0051)
        assert one.vel / 100 == pytest.approx(np.hypot(east, north), abs=0.0051)
        course = np.degrees(np.arctan2(east, north)) % 360
        assert abs((one.cog / 100 - course + 180) % 360 - 180) < 0.0051
        assert (one.fix_type, one.eph, one.epv, one.satellites_visible) == (3, 110, 170, 9)


def test_flags_are_those_of_the_message_definition():
    from pymavlink.dialects.v20 import common

    from sensorium.live.talkers import mavlink

    def bits(*names):
        return sum(getattr(common, f"HIL_SENSOR_UPDATED_{name}") for name in names)

    assert bits("XACC", "YACC", "ZACC") == mavlink._FORCE
    assert bits("XGYRO", "YGYRO", "ZGYRO") == mavlink._RATE
    assert bits("XMAG", "YMAG", "ZMAG") == mavlink._MAGNETIC
    assert bits("ABS_PRESSURE", "PRESSURE_ALT", "TEMPERATURE") == mavlink._PRESSURE


def test_a_turned_mount_is_turned_back_to_the_body():
    env = vehicle(sensors=("barometer", "magnetometer"))
    mount = sn.Pose.from_euler_deg((0, 0, 0), roll=20.0, pitch=-30.0, yaw=100.0)
    env.attach(sn.Imu(timing=sn.Timing(rate_hz=50.0)), body="car", pose=mount, name="imu")
    with datagrams() as (port, received):
        kept = run_and_keep(env, [sn.live.open_sink("mavlink", port=f"udp:{port}")], duration_s=0.2)
    by_time = {one.time_ns // 1000: one for one in kept["imu"]}
    for one in parsed(received):
        force_B = mount.rotation @ by_time[one.time_usec].acceleration
        assert (one.xacc, one.yacc, one.zacc) == pytest.approx(FLIP * force_B, rel=1e-5, abs=1e-6)


def test_no_fix():
    env = vehicle(sensors=SENSORS, gnss={"extra": (sn.corruption.Dropout(probability=1.0, fill="nan"),)})
    with datagrams() as (port, received):
        run_and_keep(env, [sn.live.open_sink("mavlink", port=f"udp:{port}")])
    fixes = [(m.fix_type, m.eph, m.lat, m.satellites_visible) for m in parsed(received) if m.get_type() == "HIL_GPS"]
    assert fixes == [(0, 65535, 0, 0)] * 5


def test_what_drops_out_stays_and_is_not_marked_as_new():
    env = vehicle(sensors=("barometer",))
    extra = (sn.corruption.Dropout(probability=0.4, fill="nan"),)
    imu = sn.Imu(timing=sn.Timing(rate_hz=100.0), linear={"extra": extra}, magnetic={})
    env.attach(imu, body="car", name="imu")
    with datagrams() as (port, received):
        kept = run_and_keep(env, [sn.live.open_sink("mavlink", port=f"udp:{port}")])
    by_time = {one.time_ns // 1000: one for one in kept["imu"]}
    first, *later = parsed(received)
    marks, force = set(), (first.xacc, first.yacc, first.zacc)
    for one in later:
        measured = FLIP * by_time[one.time_usec].acceleration
        is_new = bool(np.isfinite(measured).all())
        assert one.fields_updated & 0b11_1111 == (0b11_1111 if is_new else 0b11_1000)
        force = measured if is_new else force
        assert (one.xacc, one.yacc, one.zacc) == pytest.approx(force, rel=1e-6, abs=1e-7)
        marks.add(is_new)
    assert marks == {True, False}


def test_commands_drive_a_rover_and_call_back():
    world = sn.worlds.Commanded({"car": sn.Pose()}, step_s=0.01)
    env = sn.Environment(sn.Scene(), world, magnetic=sn.fields.UniformMagnetic((0, 2e-5, -4e-5)))
    env.attach(sn.Imu(timing=sn.Timing(rate_hz=100.0), magnetic={}), body="car")
    env.attach(sn.Barometer(timing=sn.Timing(rate_hz=100.0)), body="car")
    sink = sn.live.open_sink(
        "mavlink",
        port="tcp:0",
        lockstep=True,
        control={"body": "car", "speed_channel": 3, "turn_channel": 1, "max_speed_m_s": 8.0, "max_turn_rad_s": 0.5},
    )
    seen = []
    sink.on_controls = lambda env, controls: seen.append((env.time_ns, controls.armed, controls.channels.tolist()))
    controls = [0.0, -0.5, 0.0, 0.75] + [0.0] * 12
    autopilot = None
    try:
        for _ in env.run(6000.0, realtime=20.0, live=[sink]):
            if autopilot is None:
                autopilot = AutopilotThread(sink.port.port, controls=controls)
            if len(seen) >= 50:
                break
    finally:
        if autopilot is not None:
            autopilot.end()
    assert seen[0][1:] == (True, pytest.approx(controls))
    state = env.state
    speed = np.linalg.norm(state.v_WB[0, 0])
    assert speed == pytest.approx(6.0)
    assert state.w_WB[0, 0, 2] == pytest.approx(0.25)
    # In lockstep each command belongs to the reading before it
    times_us = [one.time_usec for one in autopilot.of("HIL_SENSOR")]
    assert times_us == sorted(set(times_us))
    assert not live_threads()


def test_lockstep_ends_when_the_autopilot_goes_silent():
    env = vehicle(sensors=SENSORS)
    sink = opened_sink(env, lockstep=True)
    from sensorium.live.step import LiveStep
    from sensorium.record.ros2.step_messages import StepMessages

    autopilot = AutopilotThread(sink.port.port, controls=[0.0] * 16, most_answers=5)
    until_s, maker = time.monotonic() + 60.0, StepMessages()
    while time.monotonic() < until_s and (sink.commands < 5 or sink._is_locked):
        env.step()
        sink.send(LiveStep(env, maker))
    assert sink.commands == 5
    assert not sink._is_locked
    sink._await_answer = lambda: pytest.fail("it still waits")
    for _ in range(20):
        env.step()
        sink.send(LiveStep(env, maker))
    autopilot.end()
    sink.close()
    assert sink.state().error is None
    assert not live_threads()


def test_mujoco_actuators_follow_commands():
    model = """<mujoco><worldbody><body name="arm"><joint name="hinge"/><geom size="0.1"/></body></worldbody>
      <actuator><motor name="motor" joint="hinge" ctrlrange="0 4" ctrllimited="true"/>
      <position name="servo" joint="hinge" ctrlrange="-2 1" ctrllimited="true"/></actuator></mujoco>"""
    env = sn.Environment.from_mujoco(model, magnetic=sn.fields.UniformMagnetic((0, 2e-5, -4e-5)))
    env.attach(sn.Imu(timing=sn.Timing(rate_hz=100.0), magnetic={}), body="arm")
    env.attach(sn.Barometer(timing=sn.Timing(rate_hz=100.0)), body="arm")
    sink = sn.live.open_sink("mavlink", port="tcp:0", control={"actuators": ["motor", "", "servo"]})
    autopilot = None
    for _ in env.run(60.0, realtime=1.0, live=[sink]):
        if autopilot is None:
            autopilot = AutopilotThread(sink.port.port, controls=[0.25, 9.0, 0.5] + [0.0] * 13)
        if env.world.data[0].ctrl[0]:
            break
    autopilot.end()
    assert env.world.data[0].ctrl.tolist() == pytest.approx([1.0, 0.25])


@pytest.mark.parametrize(
    ("sensors", "options", "message"),
    [
        (("imu",), {}, "'mavlink' needs a sensor of kind 'barometer'; the environment has none"),
        (("barometer",), {}, "'mavlink' needs a sensor of kind 'imu'; the environment has none"),
        (SENSORS, {"port": "pty"}, "it must be tcp or udp"),
        (SENSORS, {"control": {"actuators": ("m",)}}, "the world has 0 parts of MuJoCo, and it must have one"),
        (SENSORS, {"control": {"body": "car"}}, "names the body 'car'; those of Commanded worlds are none"),
        (SENSORS, {"control": {"body": "car", "actuators": ("m",)}}, "it must have one of them"),
    ],
)
def test_what_is_missing_is_named(sensors, options, message):
    with pytest.raises(SpecError, match=message):
        vehicle(sensors=sensors).run(1.0, live=[sn.live.open_sink("mavlink", **{"port": "udp:9", **options})]).finish()


def test_a_magnetometer_is_needed():
    env = vehicle(sensors=("barometer",))
    env.attach(sn.Imu(), body="car")
    with pytest.raises(SpecError, match="needs a sensor of kind 'magnetometer'"):
        env.run(1.0, live=[sn.live.open_sink("mavlink", port="udp:9")]).finish()
