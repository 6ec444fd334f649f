"""Faults as diagnostic_msgs/DiagnosticArray."""

from sensorium.corruption import FaultEvent
from sensorium.record.ros2 import cdr
from sensorium.record.ros2.diagnostics import fault_status


def test_an_onset_is_an_error_and_an_end_is_ok_with_its_times():
    onset = fault_status("imu", FaultEvent("stuck", 3, 10), 20)
    end = fault_status("imu", FaultEvent("stuck", 3, 10, 30), 40)
    (active,), (over,) = onset.fields["status"], end.fields["status"]
    assert (active["level"], active["message"]) == (2, "active")
    assert (over["level"], over["message"]) == (0, "over")
    assert active["name"] == over["name"] == "imu: stuck"
    assert {each["key"]: each["value"] for each in active["values"]} == {"world": "3", "start_ns": "10"}
    assert {each["key"]: each["value"] for each in over["values"]} == {"world": "3", "start_ns": "10", "end_ns": "30"}
    assert (onset.stamp_ns, end.stamp_ns) == (20, 40)


def test_it_is_a_message_of_ros():
    from rosbags.typesys import Stores, get_typestore

    message = fault_status("imu", FaultEvent("stuck", 0, 10), 1_500_000_000)
    told = get_typestore(Stores.ROS2_HUMBLE).deserialize_cdr(cdr.encoded(message), message.kind)
    assert (told.header.stamp.sec, told.header.stamp.nanosec, told.header.frame_id) == (1, 500_000_000, "imu")
    assert told.status[0].name == "imu: stuck"
    assert int(told.status[0].level) == 2
