"""rosgraph_msgs/Clock: simulated time."""

from sensorium.record.ros2.message import Message, time


def clock(time_ns: int) -> Message:
    """Simulated time [ns]."""
    return Message("rosgraph_msgs/msg/Clock", time_ns, {"clock": time(time_ns)})
