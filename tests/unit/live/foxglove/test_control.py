"""Parameters and services: what a client changes acts, what cannot change is refused by name."""

import threading
import time

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.live.foxglove.control import RunControl
from sensorium.record.ros2 import cdr


class LiveRun:
    """A run on a thread of its own, with a server."""

    def __init__(self, env, **options):
        self.env, self.clock = env, sn.live.RunClock(1.0)
        self.sink = sn.live.open_sink("foxglove", port=0, **options)
        self.steps = 0
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()
        self.wait(lambda: self.steps > 0)

    def _work(self):
        for _ in self.env.run(1000.0, realtime=self.clock, live=[self.sink]):
            self.steps += 1

    def wait(self, condition):
        ends_s = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < ends_s
            time.sleep(0.002)

    def end(self):
        self.clock.stop()
        self.thread.join(20)
        assert not self.thread.is_alive()


@pytest.fixture
def run(env):
    live = LiveRun(env)
    yield live
    live.end()


def rates(client):
    """Measured rates of the gyroscope about x, as received."""
    messages = [cdr.decoded("sensor_msgs/msg/Imu", data) for _, data in client.of("/gyro/data_raw")]
    return np.array([message.angular_velocity.x for message in messages])


def test_all_that_can_change_is_listed(run, client_of):
    client = client_of(run.sink.port, topics=())
    listed = client.parameters()
    assert listed == {
        "run.paused": False,
        "run.speed": 1.0,
        "run.behind_s": listed["run.behind_s"],
        "sensors.gyro.enabled": True,
        "sensors.gyro.faults.dead": False,
        "sensors.gyro.white_noise_scale": 1.0,
        "sensors.lidar.enabled": True,
    }


def test_noise_faults_and_sensors_change_while_the_run_goes_on(run, client_of):
    client = client_of(run.sink.port, topics=("/gyro/data_raw",))
    client.read(lambda: len(client.messages) > 5)
    assert rates(client).std() > 0.0

    assert client.set("sensors.gyro.white_noise_scale", 0) == 0
    run.wait(lambda: run.env.sensors["gyro"].white_noise_scale == 0.0)
    client.messages.clear()
    client.read(lambda: len(client.messages) > 60)
    assert not rates(client)[-20:].any()

    assert client.set("sensors.gyro.white_noise_scale", 3.5) == 3.5
    assert client.set("sensors.gyro.faults.dead", True) is True
    run.wait(lambda: run.env.sensors["gyro"].faults.active("dead"))
    client.set("sensors.gyro.faults.dead", False)
    run.wait(lambda: not run.env.sensors["gyro"].faults.active("dead"))
    assert len(run.env.sensors["gyro"].faults.log.of("dead")) == 1

    assert client.set("sensors.gyro.enabled", False) is False
    run.wait(lambda: not run.env.sensors["gyro"].enabled)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("sensors.lidar.noise.base_m", 0.1, "parameter 'sensors.lidar.noise.base_m' cannot change while a run goes on"),
        ("sensors.lidar.white_noise_scale", 2.0, "cannot change while a run goes on"),
        ("run.behind_s", 1.0, "parameter 'run.behind_s' cannot be set"),
        ("run.speed", -1.0, "parameter 'run.speed' is -1.0; it must be 0"),
        ("run.paused", 1.0, "parameter 'run.paused' is 1.0; it must be true or false"),
        ("sensors.gyro.white_noise_scale", "loud", "is 'loud'; it must be a number"),
        ("sensors.gyro.white_noise_scale", True, "is True; it must be a number"),
    ],
)
def test_what_cannot_change_is_refused_by_name(env, name, value, message):
    control = RunControl(env, sn.live.RunClock(), lambda problem: None)
    with pytest.raises(SpecError, match=message):
        control.set(name, value)


def test_a_refusal_reaches_the_client_and_the_value_stays(run, client_of):
    client = client_of(run.sink.port, topics=())
    assert client.set("run.speed", -4.0) == 1.0
    client.read(lambda: any(told["op"] == "status" for told in client.control))
    status = next(told for told in client.control if told["op"] == "status")
    assert "parameter 'run.speed' is -4" in status["message"]
    assert run.clock.speed == 1.0


def test_services_pause_step_reset_and_resume(run, client_of):
    client = client_of(run.sink.port, topics=())
    assert client.call("/sensorium/pause")["paused"] is True
    time.sleep(0.1)
    at = run.steps
    time.sleep(0.1)
    assert run.steps == at
    client.call("/sensorium/step")
    run.wait(lambda: run.steps == at + 1)
    client.call("/sensorium/reset")
    client.call("/sensorium/step")
    run.wait(lambda: run.steps == at + 2)
    assert run.env.state.X_WB.position[0, 0, 0] == pytest.approx(0.01)
    assert client.call("/sensorium/resume")["paused"] is False
    run.wait(lambda: run.steps > at + 10)
    assert client.set("run.paused", True) is True
    run.wait(lambda: run.clock.paused)
    assert client.set("run.speed", 4) == 4
    assert run.clock.speed == 4.0


def test_control_can_be_switched_off(env, client_of):
    live = LiveRun(env, control=False)
    client = client_of(live.sink.port, topics=())
    client.read(lambda: client.control)
    assert set(client.control[0]["capabilities"]) == {"time"}
    live.end()
