"""ArduPilot's JSON interface, with a small ArduPilot of the test's own: packets, lines, axes, lockstep."""

import json
import socket
import struct
import threading

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.live.talkers.ardupilot import ServoOutput, attitude_ned, decode_servo_output
from tests.unit.live.talkers.rig import live_threads, vehicle

RNG = np.random.default_rng(9002)


class ArduPilotThread:
    """Sends servo outputs and waits for a line after each, as ArduPilot does."""

    def __init__(self, port, pulses=(1500,) * 16, frames=10**9):
        self.lines, self._ended = [], threading.Event()
        self._port, self._pulses, self._frames = port, pulses, frames
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
            own.settimeout(0.3)
            frame = 0
            while not self._ended.is_set() and frame < self._frames:
                magic = 18458 if len(self._pulses) == 16 else 29569
                packet = struct.pack(f"<HHI{len(self._pulses)}H", magic, 400, frame, *self._pulses)
                own.sendto(packet, ("127.0.0.1", self._port))
                try:
                    self.lines.append(own.recv(65536))
                    frame += 1
                except TimeoutError:
                    continue

    def end(self):
        self._ended.set()
        self._thread.join()


def run_with(env, sink, *, steps=40, **options):
    """Run until this many lines have come; the state at each step by time."""
    states, autopilot = {}, None
    try:
        for _ in env.run(60.0, realtime=1.0, live=[sink]):
            if autopilot is None:
                autopilot = ArduPilotThread(sink.port.port, **options)
            states[env.time_ns] = env.state, env.sensors["imu"].read()
            if len(autopilot.lines) >= steps:
                break
    finally:
        autopilot.end()
    return states, [json.loads(line) for line in autopilot.lines], autopilot.lines


def test_servo_packets():
    for channels, magic in ((16, 18458), (32, 29569)):
        pulses = tuple(RNG.integers(1000, 2001, channels).tolist())
        packet = struct.pack(f"<HHI{channels}H", magic, 400, 77, *pulses)
        assert decode_servo_output(packet) == ServoOutput(400, 77, pulses)
        assert ServoOutput(400, 77, pulses).encode() == packet
        assert decode_servo_output(packet[:-1]) is None
        assert decode_servo_output(b"\0" + packet[1:]) is None
    assert decode_servo_output(b"") is None


def test_attitude_by_axes():
    def matrix(q):
        w, x, y, z = q
        return np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )

    for _ in range(50):
        q = RNG.normal(size=4)
        q /= np.linalg.norm(q)
        R_WB, R = matrix(q), matrix(attitude_ned(q))
        for column, sign in enumerate((1, -1, -1)):
            east, north, up = sign * R_WB[:, column]
            assert R[:, column] == pytest.approx((north, east, -up), abs=1e-12)
    # facing north, level, is no rotation; facing east is a quarter turn to the right
    north = sn.Pose.from_euler_deg(yaw=90.0).quaternion
    assert attitude_ned(north) == pytest.approx((1, 0, 0, 0), abs=1e-12)
    half = np.sqrt(0.5)
    assert attitude_ned(np.array([1.0, 0, 0, 0])) == pytest.approx((half, 0, 0, half), abs=1e-12)


@pytest.mark.parametrize("lockstep", [False, True])
def test_lines_have_the_state_and_the_inertial_reading(lockstep):
    env = vehicle(sensors=("imu",), step_s=0.01)
    states, lines, raw = run_with(env, sn.live.open_sink("ardupilot", udp_port=0, lockstep=lockstep))
    assert all(line.startswith(b"\n{") and line.endswith(b"}\n") for line in raw)
    times = [line["timestamp"] for line in lines]
    assert times == sorted(set(times))
    compared = 0
    for line in lines:
        if (time_ns := round(line["timestamp"] * 1e9)) not in states:
            continue
        state, reading = states[time_ns]
        position, velocity = state.X_WB.position[0, 0], state.v_WB[0, 0]
        assert line["position"] == pytest.approx((position[1], position[0], -position[2]))
        assert line["velocity"] == pytest.approx((velocity[1], velocity[0], -velocity[2]))
        flip = np.array([1.0, -1.0, -1.0])
        assert line["imu"]["gyro"] == pytest.approx(flip * reading.angular_velocity)
        assert line["imu"]["accel_body"] == pytest.approx(flip * reading.acceleration)
        assert line["quaternion"] == pytest.approx(attitude_ned(state.X_WB.quaternion[0, 0]))
        compared += 1
    assert compared >= len(lines) - 2
    if lockstep:
        assert np.diff(times[1:-1]) == pytest.approx(0.01)  # no step without its frame
    assert not live_threads()


def test_pulses_drive_a_rover():
    world = sn.worlds.Commanded({"rover": sn.Pose()}, step_s=0.01)
    env = sn.Environment(sn.Scene(), world)
    env.attach(sn.Imu(timing=sn.Timing(rate_hz=100.0)), body="rover", name="imu")
    sink = sn.live.open_sink("ardupilot", udp_port=0, lockstep=True, control={"body": "rover", "max_speed_m_s": 4.0})
    pulses = (1600, 1500, 2000, *(0,) * 13)
    run_with(env, sink, pulses=pulses)
    assert np.linalg.norm(env.state.v_WB[0, 0]) == pytest.approx(4.0)
    assert env.state.w_WB[0, 0, 2] == pytest.approx(-0.2)
    assert sink.commands >= 40


def test_an_arduPilot_that_is_started_again_is_answered_again():
    env = vehicle(sensors=("imu",), step_s=0.01)
    sink, first, second = sn.live.open_sink("ardupilot", udp_port=0, lockstep=True), None, None
    for _ in env.run(60.0, realtime=1.0, live=[sink]):
        first = first or ArduPilotThread(sink.port.port, frames=5)
        if len(first.lines) >= 5 and second is None:
            first.end()
            second = ArduPilotThread(sink.port.port, frames=5)
        if second is not None and len(second.lines) >= 5:
            break
    second.end()
    assert not live_threads()


def test_what_is_missing_is_named():
    with pytest.raises(SpecError, match="'ardupilot' needs a sensor of kind 'imu'"):
        vehicle(sensors=("gnss",)).run(1.0, live=[sn.live.open_sink("ardupilot", udp_port=0)]).finish()
    env = sn.Environment(sn.Scene())
    env.attach(sn.Imu())
    with pytest.raises(SpecError, match="is fixed in the world; live sink 'ardupilot' needs it on a body"):
        env.run(1.0, live=[sn.live.open_sink("ardupilot", udp_port=0)]).finish()
