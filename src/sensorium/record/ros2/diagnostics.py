"""diagnostic_msgs/DiagnosticArray: the log of faults."""

from sensorium.corruption.faults.log import FaultEvent
from sensorium.record.ros2.message import Message, header

_OK, _ERROR = 0, 2


def fault_status(sensor: str, event: FaultEvent, time_ns: int) -> Message:
    """A fault that set in (level ERROR) or is over (level OK), with its times [ns] as values."""
    values = {"world": str(event.world), "start_ns": str(event.start_ns)}
    if event.end_ns is not None:
        values["end_ns"] = str(event.end_ns)
    status = {
        "level": _ERROR if event.end_ns is None else _OK,
        "name": f"{sensor}: {event.fault}",
        "message": "active" if event.end_ns is None else "over",
        "hardware_id": sensor,
        "values": [{"key": key, "value": value} for key, value in values.items()],
    }
    return Message(
        "diagnostic_msgs/msg/DiagnosticArray", time_ns, {"header": header(time_ns, sensor), "status": [status]}
    )
