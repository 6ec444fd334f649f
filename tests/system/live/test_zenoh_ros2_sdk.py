"""ROS 2 over Zenoh as zenoh-ros2-sdk, an implementation by others, sees it."""

import json

import pytest

import sensorium as sn
from tests.system.live.makers import python_with, receiver
from tests.system.live.ros2_runs import Running, car, eventually, free_port

pytestmark = pytest.mark.slow
pytest.importorskip("zenoh")


@pytest.fixture(scope="module")
def python(request):
    return python_with(request, "zenoh-ros2-sdk==0.1.8")


def test_its_node_receives_commands_and_pauses_the_run(python):
    env, port = car(), free_port()
    sink = sn.live.open_sink("ros2", endpoint=f"tcp/127.0.0.1:{port}", mode="listen")
    with Running(env, sink) as run:
        eventually(lambda: env.time_ns > 200_000_000)
        with receiver(python, "zenoh_ros2_sdk_receiver.py", port) as process:
            out, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors[-3000:]
        assert run.clock.paused
    told = json.loads(out.splitlines()[-1])
    counts = told["counts"]
    assert counts["/imu/data_raw"] > 50
    assert counts["/clock"] > 50
    assert counts["/flat/scan"] >= 10
    assert counts["/tf_static"] >= 1
    assert told["acceleration"] == pytest.approx(9.80665)
    assert told["rays"][:2] == [90, "flat"]
    assert 28.0 < told["rays"][2] < 30.1
    assert told["points"][0] == 90
    assert told["points"][1][:4] == ["x", "y", "z", "intensity"]
    assert told["range"] == pytest.approx(40.0, abs=3.0)
    assert told["mounts"] == ["flat", "imu", "ray"]
    assert told["x"] == pytest.approx(float(env.state.X_WB.position[0, 0, 0]))
    assert told["x"] > 1.0
    assert told["reply"] == [True, "the run pauses after this step"]
    assert told["while_paused"] == 0
    assert sink.state().dropped == 0
