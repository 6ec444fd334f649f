"""Options of the ROS 2 sinks: names, frames, quality of service."""

import pytest

from sensorium.core.errors import SpecError
from sensorium.live.ros2.graph_names import LATCHED, Qos
from sensorium.live.ros2.options import DdsOptions, ZenohOptions


def test_a_namespace_is_before_all_topics_but_those_that_robots_share():
    options = ZenohOptions(namespace="/fleet/robot1/")
    assert options.topic("/lidar/points") == "/fleet/robot1/lidar/points"
    for shared in ("/clock", "/tf", "/tf_static", "/diagnostics"):
        assert options.topic(shared) == shared
    assert ZenohOptions().topic("/lidar/points") == "/lidar/points"


def test_a_prefix_is_before_all_frames_but_the_root():
    options = DdsOptions(frame_prefix="robot1/")
    assert [options.frame(name) for name in ("car", "world", "")] == ["robot1/car", "world", ""]


def test_qos_is_chosen_by_topic():
    options = ZenohOptions(qos={"/lidar/points": {"reliability": "best_effort", "depth": 5}})
    assert options.qos_of("/lidar/points") == Qos(reliability="best_effort", depth=5)
    assert options.qos_of("/imu/data_raw") == Qos()
    assert options.qos_of("/tf_static") == options.qos_of("/robot_description") == LATCHED


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"domain": 233}, "domain is 233"),
        ({"namespace": "a b"}, "namespace"),
        ({"node": "a/b"}, "node"),
        ({"node": ""}, "node"),
        ({"frame_prefix": "/a"}, "frame_prefix"),
        ({"qos": {"points": {}}}, "points"),
        ({"qos": {"/points": {"depth": 0}}}, "depth is 0"),
        ({"distribution": "foxy"}, "distribution"),
        ({"wheelbase_m": 0.0}, "wheelbase_m"),
        ({"mode": "router"}, "mode"),
    ],
)
def test_what_cannot_be_is_refused(wrong, named):
    with pytest.raises(SpecError, match=named):
        ZenohOptions(**wrong)


def test_loopback_is_the_default():
    assert "127.0.0.1" in ZenohOptions().endpoint
    assert DdsOptions().interface == "127.0.0.1"
